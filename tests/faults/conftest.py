"""A store in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    """An empty store, closed after the test."""
    with SessionDB.open(tmp_path / "store.db", synchronous="NORMAL") as store:
        yield store
