"""Spans around hooks: only with the extra, and never with what was said."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from recording import Recorder

from memory.manager import tracing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memory.manager import MemoryManager

    Manage = Callable[..., MemoryManager]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """What an OpenTelemetry set-up would get."""
    seen: list[tuple[str, dict[str, Any]]] = []

    @contextmanager
    def start(name: str, *, attributes: dict[str, Any], record_exception: bool) -> Iterator[None]:
        assert record_exception is False  # the text of an error may hold what was said
        seen.append((name, attributes))
        yield

    package = ModuleType("opentelemetry")
    package.trace = SimpleNamespace(get_tracer=lambda _: SimpleNamespace(start_as_current_span=start))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "opentelemetry", package)
    monkeypatch.setattr(tracing, "find_spec", lambda _: object())
    tracing._starter.cache_clear()
    yield seen
    tracing._starter.cache_clear()


def test_every_hook_is_a_span_without_content(manage: Manage, spans: list[tuple[str, dict[str, Any]]]) -> None:
    """The provider's name, and nothing that anybody said."""
    manager = manage(Recorder("p", prefetch=lambda **_: "- 秘密"), durable=False)
    manager.prefetch("什么秘密?")
    manager.sync_turn("什么秘密?", "- 秘密")
    assert manager.flush(20)
    names = [name for name, _ in spans]
    assert {"memory.initialize", "memory.prefetch", "memory.sync_turn"} <= set(names)
    assert all(attributes == {"memory.provider": "p"} for _, attributes in spans)


def test_without_the_extra_nothing_is_imported() -> None:
    """Not even looked into."""
    code = """
import sys
sys.path.insert(0, "tests/memory_manager")
sys.modules["opentelemetry"] = None  # as if it were not installed
from recording import Recorder
from memory.manager import MemoryManager, tracing
tracing.find_spec = lambda name: None
manager = MemoryManager()
manager.add_provider(Recorder("p"))
manager.initialize("s1")
manager.prefetch("x")
manager.shutdown()
print([name for name in sys.modules if name.startswith("opentelemetry.")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
