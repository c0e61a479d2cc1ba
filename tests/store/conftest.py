"""A store in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def db(store_at: str) -> Iterator[SessionDB]:
    """An empty store, closed after the test."""
    with SessionDB.open(store_at, synchronous="NORMAL") as store:
        yield store
