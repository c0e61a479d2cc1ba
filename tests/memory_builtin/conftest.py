"""A home with a store, and built-in memory on it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from builtin_harness import caller

from hermes_state import SessionDB
from hermes_state.home import STORE_NAME
from hermes_state.store import is_on_server
from memory.builtin import BuiltinMemory, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from builtin_harness import Call


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here loses power; the flushes of a thousand small files are most of the time the tests would take."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The agent home; empty."""
    return tmp_path / "agent-home"


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with nothing in it; making one takes longer than copying it."""
    path = tmp_path_factory.mktemp("template") / STORE_NAME
    SessionDB.open(path).close()
    return path


@pytest.fixture
def db(home: Path, empty_store: Path, store_at: str) -> Iterator[SessionDB]:
    """The home's store: the file in it, or one on a server."""
    home.mkdir(mode=0o700)
    place = store_at if is_on_server(store_at) else str(shutil.copy2(empty_store, home))
    with SessionDB.open(place, synchronous="NORMAL") as opened:
        yield opened


@pytest.fixture
def memory(home: Path, db: SessionDB) -> BuiltinMemory:
    """The home's memory, with its history."""
    return BuiltinMemory(home, db)


@pytest.fixture
def small(home: Path, db: SessionDB) -> BuiltinMemory:
    """The same with room for 200 characters."""
    return BuiltinMemory(home, db, limits=Limits(memory=200, user=200))


@pytest.fixture
def call(memory: BuiltinMemory) -> Call:
    """`call(action="add", content="…")`: the reply of the tool `memory`."""
    return caller(memory)
