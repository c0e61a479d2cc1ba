"""A store, managers over it that end with the test, and an event that lets hanging providers go."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state import SessionDB
from memory.manager import MemoryManager
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# What no test waits for in vain, however busy the machine is. Tests of hanging providers set shorter ones.
PATIENT: dict[str, Any] = {"prefetch_timeout_s": 20.0, "hook_timeout_s": 20.0, "shutdown_timeout_s": 20.0}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An agent home."""
    folder = tmp_path / "agent-home"
    folder.mkdir()
    return folder


@pytest.fixture
def db(home: Path) -> Iterator[SessionDB]:
    """The home's store."""
    with SessionDB.open(home=home) as opened:
        yield opened


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """What hanging providers wait for; set when the test ends."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def manage(
    home: Path, released: threading.Event, request: pytest.FixtureRequest
) -> Iterator[Callable[..., MemoryManager]]:
    """Make a manager with some providers, started for session `s1`. `durable=False`: without a store."""
    made: list[MemoryManager] = []
    stores: list[SessionDB] = []  # opened when a test first needs one, and closed after the managers
    if "db" in request.fixturenames:
        stores.append(request.getfixturevalue("db"))

    def make(
        *providers: object,
        durable: bool = True,
        start: bool = True,
        facts: dict[str, Any] | None = None,
        **settings: Any,
    ) -> MemoryManager:
        notify = settings.pop("notify", None)
        if durable and not stores:
            stores.append(SessionDB.open(home=home))
        manager = MemoryManager(
            stores[0] if durable else None, home=home, settings=MemorySettings(**(PATIENT | settings)), notify=notify
        )
        made.append(manager)
        for provider in providers:
            manager.add_provider(provider)
        if start:
            manager.initialize("s1", **(facts or {}))
        return manager

    yield make
    released.set()
    for manager in made:
        manager.shutdown(20.0)
    for store in stores:
        store.close()
