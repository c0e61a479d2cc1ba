"""A store to import into, and a Hermes home to import from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hermes_homes import Home

from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    """An empty store, closed after the test."""
    with SessionDB.open(tmp_path / "ours" / "store.db", synchronous="NORMAL") as store:
        yield store


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An empty Hermes home of schema 22, open in its agent."""
    made = Home(tmp_path / "hermes")
    yield made
    made.close()
