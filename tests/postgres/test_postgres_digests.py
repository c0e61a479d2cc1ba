"""What digests keep on a server stays right whatever other clients do, in whatever kind of transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from hermes_state.copying import learned
from hermes_state.copying.content import StoreContent
from hermes_state.copying.digest import digests
from hermes_state.copying.learned import Learned
from hermes_state.engine.postgres.address import Address
from hermes_state.portability.stored import content_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state import SessionDB

_CHANGE = "UPDATE messages SET content = content || ' changed' WHERE position = 1"


@pytest.fixture
def place(db: SessionDB, url: str) -> str:
    """The URL of a store with a session that no digest knows."""
    db.sessions.create("s", source="cli")
    db.messages.append_many("s", [{"role": "user", "content": text} for text in ("a", "b", "c")])
    return url


@pytest.fixture
def stranger(db: SessionDB, postgres: str) -> Iterator[psycopg.Connection]:
    """A client that takes none of our locks."""
    with db.engine.read() as connection:
        number = connection.exec_driver_sql("SELECT hermes_store()").scalar_one()
    with psycopg.connect(Address.of(postgres).conninfo, autocommit=True) as connection:
        connection.execute("SELECT set_config('hermes_state.store', %s, false)", (str(number),))
        yield connection


def kept(db: SessionDB) -> list[int]:
    """How many messages of each session are known."""
    with db.engine.read() as connection:
        return list(connection.exec_driver_sql("SELECT messages FROM session_digests").scalars())


def read(place: str) -> tuple[int, str]:
    """How many messages a digest had to read, and why it could not keep what they say."""
    with content_of(place) as content:
        return digests(content).read, content.not_kept


def agree(db: SessionDB) -> bool:
    with db.engine.read() as connection:
        known, true = (digests(StoreContent(connection, Learned(connection, anew=anew))) for anew in (False, True))
    return known.combined() == true.combined()


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
def test_a_change_under_way_is_not_overlooked(
    db: SessionDB, place: str, stranger: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    """It began before the digest and is committed after it: nothing is kept of what the digest did not see."""
    monkeypatch.setattr(learned, "_BUDGET_S", 0.2)
    stranger.execute(f"BEGIN ISOLATION LEVEL {level}")  # type: ignore[call-overload]
    stranger.execute(_CHANGE)
    found, problem = read(place)
    assert found == 3
    assert "locked" in problem or "busy" in problem or "waited" in problem
    stranger.execute("COMMIT")
    assert agree(db)
    assert read(place) == (3, "")
    assert agree(db)
    assert kept(db) == [3]


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_transaction_of_the_past_fails_where_a_digest_came_in_between(
    db: SessionDB, place: str, stranger: psycopg.Connection, level: str
) -> None:
    """It would not see what was kept since it began, and so could not take it away."""
    stranger.execute(f"BEGIN ISOLATION LEVEL {level}")  # type: ignore[call-overload]
    stranger.execute("SELECT count(*) FROM messages")
    assert read(place) == (3, "")
    with pytest.raises(psycopg.errors.SerializationFailure):
        stranger.execute(_CHANGE)
    stranger.execute("ROLLBACK")
    assert kept(db) == [3]
    stranger.execute(f"BEGIN ISOLATION LEVEL {level}")  # type: ignore[call-overload]
    stranger.execute(_CHANGE)
    stranger.execute("COMMIT")
    assert kept(db) == [0]
    assert read(place) == (3, "")
    assert agree(db)


def test_a_change_by_a_stranger_takes_away_what_is_known(
    db: SessionDB, place: str, stranger: psycopg.Connection
) -> None:
    assert read(place) == (3, "")
    stranger.execute(_CHANGE)
    assert kept(db) == []
    assert read(place) == (3, "")
    stranger.execute("DELETE FROM messages WHERE position = 2")
    assert kept(db) == []
    assert agree(db)
