"""What a server refuses comes as the type that the page names, and nothing of it was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import make_url

from hermes_state import SessionDB
from hermes_state.engine.postgres.failures import translate
from hermes_state.errors import DiskFull, HermesStateError, ReadOnlyStore, StoreBusy, StoreDamaged, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def session(db: SessionDB) -> str:
    db.messages.append(db.sessions.create("s", source="cli").id, role="user", content="there")
    return "s"


def opened(url: str, setting: str) -> SessionDB:
    """The store through connections with a setting of the server's."""
    return SessionDB.open(make_url(url).update_query_dict({"options": f"-c {setting}"}).render_as_string())


@pytest.fixture
def hurried(url: str, session: str) -> Iterator[SessionDB]:
    with opened(url, "statement_timeout=200ms") as store:
        yield store


def test_a_statement_that_takes_too_long_is_retryable_and_undone(hurried: SessionDB, db: SessionDB) -> None:
    with pytest.raises(StoreBusy) as told, hurried.engine.write() as connection:  # noqa: PT012  the block fails
        hurried.messages.append("s", role="user", content="lost")
        connection.exec_driver_sql("SELECT pg_sleep(5)")
    assert told.value.retryable
    assert [m.content for m in db.messages.list("s")] == ["there"]
    hurried.messages.append("s", role="user", content="and on")
    assert [m.content for m in db.messages.list("s")] == ["there", "and on"]


def test_a_server_that_only_reads_is_told_by_type(url: str, session: str) -> None:
    with opened(url, "default_transaction_read_only=on") as standby:
        assert [m.content for m in standby.messages.list(session)] == ["there"]
        for write in (
            lambda: standby.messages.append(session, role="user", content="x"),
            lambda: standby.sessions.rename(session, "x"),
        ):
            with pytest.raises(ReadOnlyStore) as told:
                write()
            assert "primary" in told.value.hint


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("40001", StoreBusy), ("40P01", StoreBusy), ("55P03", StoreBusy), ("53100", DiskFull),
        ("XX001", StoreDamaged), ("28P01", StoreUnavailable), ("57P01", StoreUnavailable), ("42P01", StoreUnavailable),
    ],
)  # fmt: skip
def test_what_a_test_cannot_bring_about_is_known_by_its_code(
    db: SessionDB, state: str, kind: type[HermesStateError]
) -> None:
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'as the server says it' USING ERRCODE = '{state}'; END $$"
    with pytest.raises(kind) as told, db.engine.read() as connection:
        connection.exec_driver_sql(raising)
    assert type(told.value) is kind
    assert db.sessions.list() == []


def test_words_of_an_unknown_error_are_kept() -> None:
    error = translate(ValueError("what nobody knows"), "the address")
    assert type(error) is HermesStateError
    assert error.message == "the address: ValueError: what nobody knows"
