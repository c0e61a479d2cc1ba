"""A home with a store, and built-in memory on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builtin_harness import caller

from hermes_state import SessionDB
from memory.builtin import BuiltinMemory, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from builtin_harness import Call


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The agent home; empty."""
    return tmp_path / "agent-home"


@pytest.fixture
def db(home: Path) -> Iterator[SessionDB]:
    """The home's store."""
    with SessionDB.open(home=home, synchronous="NORMAL") as opened:
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
