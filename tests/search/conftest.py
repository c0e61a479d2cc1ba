"""A store to search in, and a short way to fill it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hermes_state import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from search_world import Say


@pytest.fixture
def db(store_at: str) -> Iterator[SessionDB]:
    with SessionDB.open(store_at) as store:
        yield store


@pytest.fixture
def say(db: SessionDB) -> Say:
    def say(*texts: Any, source: str = "cli", role: str = "user", **session: Any) -> str:
        created = db.sessions.create(source=source, **session)
        rows = [text if isinstance(text, dict) else {"role": role, "content": text} for text in texts]
        db.messages.append_many(created.id, rows)
        return created.id

    return say
