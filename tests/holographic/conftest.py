"""A fact store in a home of its own."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from postgres_server import engines

from hermes_state.home import store_path
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


# What is about statements runs on both engines; the others are about files, processes, or no store at all.
_ON_BOTH = {f"test_holographic_{name}" for name in ("association", "conflicts", "rebuilding", "search", "store")}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "facts_at" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("sqlite_only") or metafunc.module.__name__ not in _ON_BOTH
        metafunc.parametrize("facts_at", ["sqlite"] if only else engines(), indirect=True)


@pytest.fixture
def facts_at(request: pytest.FixtureRequest, home: Path) -> str:
    """Where the facts are to be: the home's store, or one on a PostgreSQL server."""
    if request.param == "sqlite":
        return str(store_path(home))
    return f"{request.getfixturevalue('postgres')}?store={uuid.uuid4().hex}"


@pytest.fixture
def db(facts_at: str) -> Iterator[SessionDB]:
    """The store; commits that survive a crash of the process are enough here."""
    with SessionDB.open(facts_at, synchronous="NORMAL") as opened:
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
