"""Stores on PostgreSQL; without a server these tests are left out, as the header of the run says."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import postgres_server
import pytest

from hermes_state import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator

collect_ignore_glob = [] if postgres_server.is_here() else ["test_*.py"]


@pytest.fixture
def url(postgres: str) -> str:
    """A store of its own for the test."""
    return f"{postgres}?store={uuid.uuid4().hex}"


@pytest.fixture
def other_url(postgres: str) -> str:
    """Another store in the same database."""
    return f"{postgres}?store={uuid.uuid4().hex}"


@pytest.fixture
def db(url: str) -> Iterator[SessionDB]:
    with SessionDB.open(url) as store:
        yield store


@pytest.fixture
def other(other_url: str) -> Iterator[SessionDB]:
    with SessionDB.open(other_url) as store:
        yield store
