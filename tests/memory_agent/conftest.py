"""A store, a server that plays the model, and a memory that writes down what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import Endpoint, serving

from hermes_state import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB.open(home=tmp_path / "agent-home", synchronous="NORMAL") as opened:
        yield opened


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        yield running
