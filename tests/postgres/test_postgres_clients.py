"""Many clients, and a server that hangs up: nothing is half done, and what fails says so by type."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import postgres_server
import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from hermes_state import SessionDB
from hermes_state.engine.postgres.address import Address
from hermes_state.errors import LeaseHeld, StoreBusy, StoreUnavailable, TitleTaken

if TYPE_CHECKING:
    from pathlib import Path

CLIENTS = 32
HANG_UP = (
    "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE usename = %s AND pid <> pg_backend_pid()"
)


def test_clients_that_append_to_one_session_lose_nothing(db: SessionDB, url: str) -> None:
    """Positions are 0, 1, 2, … and counters right, however the appends fall."""
    session = db.sessions.create(source="cli").id

    def work(client: int) -> None:
        with SessionDB.open(url) as mine:
            for n in range(10):
                mine.messages.append(session, role="user", content=f"{client}-{n}", platform_message_id=f"{client}-{n}")
                mine.messages.append(session, role="user", content="again", platform_message_id=f"{client}-{n}")

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, range(CLIENTS)))
    told = db.messages.list(session)
    assert [m.position for m in told] == list(range(CLIENTS * 10))
    assert sorted(m.content for m in told) == sorted(f"{c}-{n}" for c in range(CLIENTS) for n in range(10))
    assert db.sessions.get(session).message_count == CLIENTS * 10
    assert len(db.search.messages("again")) == 0


def test_a_session_is_compressed_once_and_no_append_falls_between(db: SessionDB, url: str) -> None:
    """Whoever rotates, all get the same child; every append is in the parent before the cut or refused."""
    session = db.sessions.create(source="cli", title="long").id
    kept: list[str] = []
    refused: list[str] = []
    start = threading.Barrier(CLIENTS)

    def work(client: int) -> str | None:
        with SessionDB.open(url) as mine:
            start.wait()
            if client % 4 == 0:
                return mine.lineage.rotate(session, [{"role": "user", "content": "summary"}]).child.id
            try:
                mine.messages.append(session, role="user", content=f"from {client}")
            except Exception as error:
                refused.append(type(error).__name__)
            else:
                kept.append(f"from {client}")
            return None

    with ThreadPoolExecutor(CLIENTS) as pool:
        children = {child for child in pool.map(work, range(CLIENTS)) if child}
    assert len(children) == 1
    assert set(refused) <= {"SessionMoved", "LeaseHeld"}
    assert sorted(m.content for m in db.messages.list(session, states=(0, 1, 2))) == sorted(kept)  # type: ignore[arg-type]
    assert db.sessions.resume("long").id in children


def test_one_client_gets_a_title_and_one_a_lease(db: SessionDB, url: str) -> None:
    ids = [db.sessions.create(source="cli").id for _ in range(CLIENTS)]

    def work(client: int) -> tuple[bool, bool]:
        with SessionDB.open(url) as mine:
            try:
                mine.sessions.rename(ids[client], "the one")
                titled = True
            except TitleTaken:
                titled = False
            try:
                mine.leases.acquire("job", f"client {client}")
                leased = True
            except LeaseHeld:
                leased = False
            return titled, leased

    with ThreadPoolExecutor(CLIENTS) as pool:
        done = list(pool.map(work, range(CLIENTS)))
    assert [sum(column) for column in zip(*done, strict=True)] == [1, 1]


def test_a_store_opened_by_many_at_once_is_made_once(postgres: str, other_url: str) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool, ExitStack() as stack:
        opened = list(pool.map(lambda _: stack.enter_context(SessionDB.open(other_url)), range(CLIENTS)))
        assert len({store.store_id for store in opened}) == 1


def test_a_lock_that_is_held_is_waited_for_and_then_told(db: SessionDB, url: str) -> None:
    session = db.sessions.create(source="cli").id
    with SessionDB.open(url, busy_budget_s=0.2) as other:
        with db.transaction():
            db.messages.append(session, role="user", content="first")
            for write in (
                lambda: other.messages.append(session, role="user", content="second"),
                lambda: other.sessions.rename(session, "x"),
            ):
                with pytest.raises(StoreBusy) as busy:
                    write()
                assert busy.value.retryable
        other.messages.append(session, role="user", content="second")
    assert [m.content for m in db.messages.list(session)] == ["first", "second"]


def test_stores_do_not_wait_for_each_other(db: SessionDB, other: SessionDB) -> None:
    session = other.sessions.create(source="cli").id
    with db.transaction():
        db.sessions.create(source="cli")
        other.messages.append(session, role="user", content="at once")
        other.sessions.rename(session, "at once, too")


def test_connections_that_the_server_closed_are_opened_again(db: SessionDB, postgres: str) -> None:
    session = db.sessions.create(source="cli").id
    db.messages.append(session, role="user", content="before")
    assert db.search.messages("before")
    db.search.index.close()
    address = Address.of(postgres)
    with psycopg.connect(address.conninfo, autocommit=True) as connection:
        user = connection.info.user
        connection.execute(HANG_UP, (user,))
    db.messages.append(session, role="user", content="after")
    db.sessions.rename(session, "goes on")
    assert [m.content for m in db.messages.list(session)] == ["before", "after"]


def test_a_transaction_that_breaks_off_leaves_nothing(db: SessionDB, postgres: str) -> None:
    session = db.sessions.create(source="cli").id
    with pytest.raises(StoreUnavailable) as broken, db.transaction():  # noqa: PT012  the block is what breaks off
        db.messages.append(session, role="user", content="lost")
        with psycopg.connect(Address.of(postgres).conninfo, autocommit=True) as connection:
            connection.execute(HANG_UP, (connection.info.user,))
        db.messages.append(session, role="user", content="lost too")
    assert "same handle" in broken.value.hint
    assert db.messages.list(session) == []


def test_a_transaction_whose_failure_nobody_heard_of_can_be_tried_again(db: SessionDB) -> None:
    """SQLAlchemy drops what the server says while it closes a cursor; the next statement is refused."""
    with pytest.raises(StoreBusy), db.engine.read() as connection:  # noqa: PT012  what is raised is of the block
        with suppress(DBAPIError):
            connection.exec_driver_sql("SELECT 1 / 0")
        connection.exec_driver_sql("SELECT 1")


def test_a_killed_client_loses_nothing_it_committed(db: SessionDB, url: str) -> None:
    session = db.sessions.create(source="cli").id
    program = (
        "import os, sys; from hermes_state import SessionDB; db = SessionDB.open(sys.argv[1])\n"
        "for n in range(50): print(db.messages.append(sys.argv[2], role='user', content=str(n)).position, flush=True)\n"
        "with db.transaction():\n"
        "    db.messages.append(sys.argv[2], role='user', content='not committed')\n"
        "    os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, url, session], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    assert [int(line) for line in done.stdout.split()] == list(range(50))
    assert [m.content for m in db.messages.list(session)] == [str(n) for n in range(50)]


def test_a_handle_goes_on_after_the_server_was_restarted() -> None:
    if postgres_server.programs() is None:
        pytest.skip("no server can be started here")
    with postgres_server.server(own=True) as url, SessionDB.open(url) as db:
        session = db.sessions.create(source="cli").id
        db.messages.append(session, role="user", content="before")
        postgres_server.restart(url)
        db.messages.append(session, role="user", content="after")
        db.sessions.rename(session, "still here")
        assert [m.content for m in db.messages.list(session)] == ["before", "after"]


def test_an_inherited_handle_is_refused_and_the_parents_goes_on(db: SessionDB, tmp_path: Path) -> None:
    import os

    session = db.sessions.create(source="cli").id
    child = os.fork()
    if child == 0:
        try:
            db.messages.append(session, role="user", content="child")
            os._exit(1)
        except Exception as error:
            os._exit(0 if type(error).__name__ == "HandleUnusable" else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    db.messages.append(session, role="user", content="parent")
    assert [m.content for m in db.messages.list(session)] == ["parent"]
