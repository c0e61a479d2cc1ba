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

ENGINES = postgres_server.engines()


# Two stores of one database are only tried where a test says so: what they need, the other pairs need too.
PAIRS = [(one, other) for one in ENGINES for other in ENGINES if one == "sqlite" or other == "sqlite"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test with two stores runs from either engine to the other, and between two files."""
    marks = metafunc.definition.iter_markers("parametrize")
    chosen = {name for mark in marks for name in ([mark.args[0]] if isinstance(mark.args[0], str) else mark.args[0])}
    wanted = [name for name in ("fresh", "other_fresh") if name in metafunc.fixturenames and name not in chosen]
    if len(wanted) == 2:
        metafunc.parametrize(wanted, PAIRS, indirect=True)
    elif wanted:
        metafunc.parametrize(wanted[0], ENGINES, indirect=True)


@pytest.fixture
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives the place of a store that is not there yet, on either engine."""
    return _places(request, tmp_path, request.param)


@pytest.fixture
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
