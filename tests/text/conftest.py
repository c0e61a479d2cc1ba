"""Indexes for the tests of the text layer."""

from collections.abc import Callable

import pytest
from text_harness import Index


@pytest.fixture(params=["sqlite3", "pysqlite3"])
def new_index(request: pytest.FixtureRequest) -> Callable[..., Index]:
    """Makes an index of some texts, on the SQLite that Python links and on the newer one."""
    pytest.importorskip(request.param)
    return lambda *texts: Index(request.param).add(*texts)


@pytest.fixture(scope="session")
def shared_index() -> Index:
    """One index for a property test, whose examples only read."""
    return Index("sqlite3").add("deploy failed", "预算超支")
