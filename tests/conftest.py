"""Every test starts from the same world: no settings of the person who runs it, and a home that is not theirs."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

import postgres_server
import pytest
from hypothesis import HealthCheck, settings

from hermes_state import index_worker
from hermes_state.engine.driver import newest_driver
from hermes_state.index_worker import IndexWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# An example may take as long as it takes: on a busy machine any would be too slow. What a test shares between its
# examples is its own affair.
settings.register_profile(
    "ours", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("ours")

# What could change what the code under test prints or where it looks.
_SETTINGS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PAGER", "LESS", "PYTHONIOENCODING", "TERM")


def pytest_report_header() -> list[str]:
    """What everything below ran on."""
    where = os.environ.get(postgres_server.VARIABLE) or postgres_server.programs()
    missing = "no PostgreSQL server here: THE TESTS ON POSTGRESQL ARE LEFT OUT (`apt-get install postgresql`)"
    return [newest_driver().describe(), f"PostgreSQL: {where}" if where else missing]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a database for all tests; each has a store of its own in it."""
    with postgres_server.server() as url:
        yield url


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test with a store runs on both engines, unless it is about what only SQLite has."""
    if "store_at" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("sqlite_only")
        metafunc.parametrize("store_at", ("sqlite",) if only else postgres_server.engines(), indirect=True)


@pytest.fixture
def store_at(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is to be: a file, or a store of the PostgreSQL database."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return f"{request.getfixturevalue('postgres')}?store={uuid.uuid4().hex}"


@pytest.fixture(autouse=True)
def _hermetic(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    for name in [*_SETTINGS, *(name for name in os.environ if name.startswith("HERMES_"))]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    host = sys.modules.get("memory.host")  # a plug-in that was loaded leaves the import names it expects
    for home in [place for place, _ in host._installed] if host else []:
        host.uninstall(home)
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[IndexWorker]:
    """The second processes for building an index that a test starts."""
    started: list[IndexWorker] = []
    start = IndexWorker.start

    def noted() -> IndexWorker:
        started.append(start())
        return started[-1]

    monkeypatch.setattr(IndexWorker, "start", noted)
    return started


@pytest.fixture
def kill_worker_after(monkeypatch: pytest.MonkeyPatch, workers: list[IndexWorker]) -> Callable[[int], None]:
    """Have the newest of `workers` killed when it has given so many batches."""

    receive = index_worker._receive

    def prepare(batches: int) -> None:
        given = iter(range(batches))

        def receive_or_kill(pipe: Any) -> Any:
            if next(given, None) is None and workers[-1].is_usable:
                os.kill(workers[-1].pid, signal.SIGKILL)
                while pipe.read(65536):
                    pass
            return receive(pipe)

        monkeypatch.setattr(index_worker, "_receive", receive_or_kill)

    return prepare
