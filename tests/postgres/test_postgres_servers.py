"""Servers that are more than one, or that take TLS only: what the address says, and nothing lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import postgres_server
import pytest

from hermes_state import SessionDB
from hermes_state.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(postgres_server.programs() is None, reason="no server can be started here")


def test_a_handle_goes_on_with_the_standby_and_nothing_acknowledged_is_lost() -> None:
    with postgres_server.server_and_standby() as (url, fail_over), SessionDB.open(url) as db:
        session = db.sessions.create(source="cli", title="deploy").id
        db.messages.append_many(session, [{"role": "user", "content": f"第{n}句"} for n in range(20)])
        db.messages.append(session, role="user", content="last before")
        fail_over()
        db.messages.append(session, role="user", content="first after")
        db.sessions.rename(session, "deployed")
        told = [m.content for m in db.messages.list(session)]
        assert told == [*(f"第{n}句" for n in range(20)), "last before", "first after"]
        assert [hit.session_id for hit in db.search.messages("first after")][:1] == [session]
        with SessionDB.open(url) as other:
            assert other.sessions.get(session).title == "deployed"


def test_a_transaction_that_the_failover_meets_is_undone_and_told() -> None:
    with postgres_server.server_and_standby() as (url, fail_over), SessionDB.open(url) as db:
        session = db.sessions.create(source="cli").id
        with pytest.raises(StoreUnavailable), db.transaction():  # noqa: PT012  the block fails
            db.messages.append(session, role="user", content="half")
            fail_over()
            db.messages.append(session, role="user", content="never")
        assert db.messages.list(session) == []
        db.messages.append(session, role="user", content="again")
        assert [m.content for m in db.messages.list(session)] == ["again"]


@pytest.fixture(scope="module")
def encrypted() -> Iterator[tuple[str, Path]]:
    with postgres_server.server_with_tls() as (url, certificate):
        yield url, certificate


def test_an_address_asks_for_tls_and_for_who_the_server_is(encrypted: tuple[str, Path]) -> None:
    url, certificate = encrypted
    with SessionDB.open(f"{url}?sslmode=verify-full&sslrootcert={certificate}") as db:
        with db.engine.read() as connection:
            used = connection.exec_driver_sql("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").scalar_one()
        assert used is True
        db.messages.append(db.sessions.create(source="cli").id, role="user", content="through TLS")


@pytest.mark.parametrize("query", ["sslmode=disable", "sslmode=verify-full&sslrootcert=system", "sslmode=verify-full"])
def test_a_connection_that_is_not_as_asked_is_refused(
    encrypted: tuple[str, Path], query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without TLS the server refuses; with a certificate that nobody vouches for, the client does."""
    monkeypatch.setenv("HOME", str(tmp_path))  # where libpq looks for certificates that are trusted
    with pytest.raises(StoreUnavailable, match=r"certificate|no pg_hba\.conf entry") as told:
        SessionDB.open(f"{encrypted[0]}?{query}")
    assert told.value.hint


def test_a_certificate_for_another_name_is_refused(encrypted: tuple[str, Path]) -> None:
    url, certificate = encrypted
    with pytest.raises(StoreUnavailable, match="does not match host name"):
        SessionDB.open(f"{url.replace('127.0.0.1', 'localhost')}?sslmode=verify-full&sslrootcert={certificate}")
