"""Pairs of stores on both engines."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import postgres_server
import pytest

from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ENGINES = ("sqlite", "postgresql") if postgres_server.is_here() else ("sqlite",)


@pytest.fixture(params=ENGINES)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives the place of a store that is not there yet, on either engine."""
    return _places(request, tmp_path, request.param)


@pytest.fixture(params=ENGINES)
def other_fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """The same, on either engine, whichever the first is on."""
    return _places(request, tmp_path, request.param)


def _places(request: pytest.FixtureRequest, folder: Path, engine: str) -> Callable[[], str]:
    if engine == "sqlite":
        return lambda: str(folder / f"{uuid.uuid4().hex}.db")
    url = request.getfixturevalue("postgres")
    return lambda: f"{url}?store={uuid.uuid4().hex}"


@pytest.fixture
def source(fresh: Callable[[], str]) -> Iterator[SessionDB]:
    """An empty store to copy from."""
    with SessionDB.open(fresh(), synchronous="NORMAL") as db:
        yield db


@pytest.fixture
def target(other_fresh: Callable[[], str]) -> Iterator[SessionDB]:
    """An empty store to copy into."""
    with SessionDB.open(other_fresh(), synchronous="NORMAL") as db:
        yield db
