"""Plug-ins that hang or break while they are loaded, and faults that can't even be read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from recording import Recorder

from memory.discovery import Discovery
from memory.errors import ProviderUnavailable
from memory.manager.loading import away_because, load_in_time
from memory.raised import message_of, named
from memory.signatures import Adapted

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from memory.manager import MemoryManager

    Manage = Callable[..., MemoryManager]


class Unreadable(Exception):
    """Can't be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


def raise_unreadable(**_: Any) -> Any:
    raise Unreadable


class Hanging:
    """A source whose plug-in does not come back while it is loaded."""

    def __init__(self, released: threading.Event) -> None:
        self._released = released

    def load(self, name: str) -> object:
        self._released.wait(60)
        return Recorder(name)


def test_a_fault_whose_text_can_not_be_read_has_a_text() -> None:
    assert message_of(ValueError(" x ")) == "x"
    assert message_of(Unreadable()) == "its message can't be read: RuntimeError"
    assert named(Unreadable()) == "Unreadable: its message can't be read: RuntimeError"
    assert named(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    "hook", ["is_available", "initialize", "system_prompt_block", "on_turn_start", "prefetch", "handle_tool_call"]
)
def test_such_a_fault_costs_no_turn(manage: Manage, hook: str) -> None:
    manager = manage(Recorder("evil", **{hook: raise_unreadable}))
    assert manager.system_prompt() == ""
    manager.on_turn_start(1, "你好")
    assert manager.prefetch("where is the bicycle?") == ""
    json.loads(manager.handle_tool_call("evil_find", {}))
    assert "Unreadable" in manager.status().providers[0].last_error


@pytest.mark.parametrize("hook", ["on_pre_compress", "shutdown", "sync_turn", "on_session_end"])
def test_nor_does_it_cost_the_end_of_a_session(manage: Manage, hook: str) -> None:
    manager = manage(Recorder("evil", **{hook: raise_unreadable}), shutdown_timeout_s=1.0)
    assert manager.on_pre_compress([{"role": "user", "content": "x"}]) == ""
    manager.sync_turn("question", "answer")
    manager.on_session_end([{"role": "user", "content": "x"}])
    manager.shutdown()


def test_a_plug_in_that_hangs_while_it_is_loaded_is_not_used(manage: Manage, released: threading.Event) -> None:
    manager = manage(provider="slow", initialize_timeout_s=0.05, start=False)
    manager.add_configured(Hanging(released))
    manager.initialize("s1")
    (status,) = manager.status().providers
    assert (status.name, status.state) == ("slow", "unavailable")
    assert "more than 0.05 s" in status.reason
    assert "more than 0.05 s" in manager.notices()[0]


def test_loading_in_time_says_what_to_do(home: Path, released: threading.Event) -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        load_in_time(Hanging(released), "slow", home=home, deadline_s=0.05)
    assert "initialize_timeout_s" in caught.value.hint


def test_why_a_provider_is_away_is_asked_for_a_bounded_time(home: Path, released: threading.Event) -> None:
    def ask(**acts: Any) -> str:
        return away_because(Adapted(Recorder("p", **acts)), home=home, deadline_s=0.5)

    assert ask() == ""
    assert ask(is_available=lambda: False, unavailable_reason=lambda: "没有密钥") == "没有密钥"
    assert ask(is_available=lambda: False) == "it does not say why"
    assert "no answer within 0.5 s" in ask(is_available=lambda: released.wait(60))
    assert "Unreadable" in ask(is_available=raise_unreadable)


def test_a_named_module_that_is_not_there_is_nothing_to_install(home: Path) -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        Discovery(home).load("memory.nothing:Provider")
    assert "there is no module memory.nothing" in caught.value.hint


_PLUGIN = """
import time
from memory.provider import MemoryProvider

open({mark!r}, "w").close()
time.sleep(600)
"""

_PROGRAM = """
import sys
from memory.agent.signals import ending_on_sigterm
from memory.manager import MemoryManager
from memory.settings import MemorySettings

home = sys.argv[1]
with ending_on_sigterm(), MemoryManager(None, home=home, settings=MemorySettings(provider="slow")) as manager:
    manager.add_configured()
"""


def test_a_process_whose_plug_in_hangs_at_its_import_can_be_ended(home: Path) -> None:
    folder, mark = home / "plugins" / "slow", home / "imported"
    folder.mkdir(parents=True)
    os.mkfifo(mark)
    (folder / "__init__.py").write_text(_PLUGIN.format(mark=str(mark)))
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM, str(home)], stderr=subprocess.PIPE)
    with mark.open():  # opens when the plug-in does
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
