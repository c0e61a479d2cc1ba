"""A fact store in a home of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state.store import SessionDB
from memory.providers.holographic.association import Association
from memory.providers.holographic.retrieval import Retrieval
from memory.providers.holographic.store import FactStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent home, which is also `$HERMES_HOME`."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(path))
    return path


@pytest.fixture
def db(home: Path) -> Iterator[SessionDB]:
    """The home's store; commits that survive a crash of the process are enough here."""
    with SessionDB.open(home=home, synchronous="NORMAL") as opened:
        yield opened


@pytest.fixture
def store(db: SessionDB) -> FactStore:
    """An empty fact store."""
    made = FactStore(db.engine)
    made.index.ensure()
    return made


@pytest.fixture
def retrieval(store: FactStore) -> Retrieval:
    """Search in it."""
    return Retrieval(store)


@pytest.fixture
def association(store: FactStore) -> Association:
    """Entity queries in it."""
    return Association(store)
