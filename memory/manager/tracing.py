"""OpenTelemetry spans around the hooks of providers, where the extra `[otel]` is installed. Without it: nothing.

A span is named `memory.<hook>` and says which provider and whether it failed. What is remembered or asked is never in
a span.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAME = "hermes_state.memory"


def span(hook: str, attributes: Mapping[str, str | int | bool]) -> AbstractContextManager[Any]:
    """A span for one call of a hook, as the application's OpenTelemetry set-up takes it."""
    start = _starter()
    if start is None:
        return nullcontext()
    named = {f"memory.{name}": value for name, value in attributes.items()}
    return start(f"memory.{hook}", attributes=named, record_exception=False)


@cache
def _starter() -> Callable[..., AbstractContextManager[Any]] | None:
    if find_spec("opentelemetry") is None:
        return None
    from opentelemetry import trace

    starter: Callable[..., AbstractContextManager[Any]] = trace.get_tracer(NAME).start_as_current_span
    return starter
