"""The check finds each kind of fault, all of them at once, and changes nothing."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from hermes_state.check import Kind, check
from hermes_state.errors import StoreDamaged
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.check import Report
    from hermes_state.check.report import Collector


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with some of everything, its index current and its counters folded."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    with SessionDB.open(path, synchronous="NORMAL") as db:
        for n in range(4):
            db.sessions.create(f"s{n}", source="cli", title=f"t{n}", extras={"a": n})
            calls = [{"id": f"c{m}", "function": {"name": "f", "arguments": "{}"}} for m in range(2)]
            texts = [f"第{m}句 word{m} number {n}" for m in range(30)]
            db.messages.append_many(f"s{n}", [{"role": "user", "content": t, "tool_calls": calls} for t in texts])
        db.lineage.rotate("s1", [{"role": "user", "content": "summary " * 400}])
        db.lineage.delegate("s2")
        db.messages.append("s2", role="user", content=[{"type": "text", "text": "parts"}])
        db.search.messages("word1")
        db.sessions.end("s3", "idle")
    return path


@pytest.fixture
def filled(template: Path, tmp_path: Path) -> Iterator[SessionDB]:
    """A copy of the template, open."""
    with SessionDB.open(shutil.copy(template, tmp_path), synchronous="NORMAL") as db:
        yield db


def spoil(db: SessionDB, *statements: str) -> None:
    """Change the file behind the store's back, rules of the database switched off."""
    db.close()
    connection = sqlite3.connect(db.path)
    connection.execute("PRAGMA ignore_check_constraints=ON")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def report_of(db: SessionDB, *, full: bool = True) -> Report:
    with SessionDB.open(db.path, read_only=True) as reader:
        return check(reader.engine, full=full)


def test_a_sound_store_has_no_findings(filled: SessionDB) -> None:
    """In full and in samples, with and without uncounted and unindexed messages, on a handle that only reads."""
    for full in (True, False):
        report = check(filled.engine, full=full)
        assert report.is_sound, report.findings
        assert report.exit_code == 0
        assert report.checked["messages"] == 122
        assert report.checked["sessions"] == 6
    filled.messages.append("s2", role="user", content="tail")
    assert report_of(filled).is_sound


@pytest.mark.parametrize(
    ("kind", "statement", "told"),
    [
        (Kind.COUNTER, "UPDATE sessions SET message_count = 7 WHERE id = 's0'", "message_count is 7, not 30"),
        (Kind.COUNTER, "UPDATE sessions SET tool_call_count = 1 WHERE id = 's0'", "tool_call_count is 1, not 60"),
        (Kind.COUNTER, "UPDATE sessions SET last_active_at = 5 WHERE id = 's0'", "last_active_at"),
        (Kind.COUNTER, "UPDATE store_state SET counted_through = 10", "message_count"),
        (Kind.LINEAGE, "UPDATE sessions SET is_tip = 0 WHERE id = 's0'", "has 0 tips"),
        (Kind.LINEAGE, "UPDATE sessions SET conversation_pk = 99 WHERE id = 's0'", "conversation 99"),
        (Kind.LINEAGE, "UPDATE sessions SET parent_pk = pk, relation = 'branch' WHERE id = 's0'", "its own ancestor"),
        (Kind.LINEAGE, "UPDATE sessions SET sealed = 0 WHERE id = 's1'", "can still be appended to"),
        (Kind.LINEAGE, "UPDATE sessions SET delegated = 0 WHERE relation = 'delegate'", "sub-agent"),
        (Kind.SESSION, "UPDATE sessions SET relation = 'twin' WHERE id = 's0'", "relation is 'twin'"),
        (Kind.SESSION, "UPDATE sessions SET extras = '{' WHERE id = 's0'", "extras is no JSON"),
        (Kind.SESSION, "UPDATE sessions SET archived = 7 WHERE id = 's0'", "archived is 7"),
        (Kind.SESSION, "UPDATE sessions SET started_at = 'x' WHERE id = 's0'", "no time"),
        (Kind.SESSION, "UPDATE sessions SET rewind_count = -1 WHERE id = 's0'", "rewind_count is -1"),
        (Kind.SESSION, "UPDATE sessions SET source = '' WHERE id = 's0'", "empty"),
        (Kind.MESSAGE, "UPDATE messages SET state = 9 WHERE id = 3", "state 9"),
        (Kind.MESSAGE, "UPDATE messages SET role = '' WHERE id = 3", "role ''"),
        (Kind.MESSAGE, "UPDATE messages SET content_format = 5 WHERE id = 3", "format 5"),
        (Kind.CONTENT, "UPDATE messages SET details = '{' WHERE id = 3", "details is no JSON"),
        (Kind.CONTENT, "UPDATE messages SET details = '[1]' WHERE id = 3", "no JSON object"),
        (Kind.CONTENT, "UPDATE messages SET tool_calls = '[]' WHERE id = 3", "0 tool calls, not 2"),
        (Kind.CONTENT, "UPDATE messages SET content = x'00' WHERE id = 3", "content can't be unpacked"),
        (Kind.CONTENT, "UPDATE messages SET content = '{' WHERE content_format = 1", "content is no JSON"),
        (Kind.DANGLING, "UPDATE messages SET session_pk = 77 WHERE session_pk = 1", "sessions"),
        (Kind.DANGLING, "DELETE FROM sessions WHERE id = 's0'", "sessions"),
        (Kind.MARK, "UPDATE store_state SET counted_through = 999999", "counted_through"),
        (Kind.MARK, "UPDATE store_state SET indexed_through = -1", "indexed_through"),
        (Kind.MARK, "DELETE FROM store_state", "0 rows"),
        (Kind.MARK, "UPDATE messages SET id = -5 WHERE id = 3", "message -5"),
        (Kind.SCHEMA, "DROP INDEX ix_sessions_listed", "the index is missing"),
        (Kind.SCHEMA, "ALTER TABLE messages ADD COLUMN mood", "an unknown column"),
        (Kind.SCHEMA, "CREATE INDEX more ON messages (role)", "an unknown index"),
        (Kind.SCHEMA, "CREATE TRIGGER t AFTER INSERT ON messages BEGIN SELECT 1; END", "a trigger"),
        (Kind.SCHEMA, "DROP TABLE meta", "the table is missing"),
        (Kind.SCHEMA, "ALTER TABLE sessions DROP COLUMN sealed", "the column is missing"),
        (Kind.SCHEMA, "ALTER TABLE store_state DROP COLUMN counted_through", "the column is missing"),
        (Kind.INDEX, "DELETE FROM message_index_docsize WHERE id = 3", "not in the index"),
        (
            Kind.INDEX,
            "UPDATE messages SET content = 'other words than before, many' WHERE id = 3",
            "words in the index",
        ),
        (Kind.INDEX, "DELETE FROM message_index_data WHERE id > 100", "malformed|not found|index"),
        (Kind.INDEX, "UPDATE index_zones SET max_created_at = 5", "zone"),
        (Kind.INDEX, "DROP TABLE message_index", "the index is missing"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else None,
)
def test_each_fault_is_found_by_its_kind(filled: SessionDB, kind: Kind, statement: str, told: str) -> None:
    """What was spoilt is said with place and remedy, whatever else follows from it."""
    spoil(filled, statement)
    report = report_of(filled)
    assert kind in report.counts, report.findings
    assert report.exit_code == 1
    mine = [finding for finding in report.findings if finding.kind is kind]
    assert any(part in f"{finding.where} {finding.what}" for finding in mine for part in told.split("|")), mine
    assert all(finding.where and "hermes-state db" in finding.remedy for finding in report.findings)
    assert report.needs_recovery == bool(report.counts.keys() - {Kind.INDEX})


def test_two_messages_in_one_place_are_found(filled: SessionDB) -> None:
    """Without asking the unique index, which is what must have failed."""
    spoil(
        filled,
        "DROP INDEX uq_messages_session_pk_position",
        "UPDATE messages SET position = 4 WHERE session_pk = 1 AND position = 5",
    )
    whats = [finding.what for finding in report_of(filled).findings]
    assert "2 messages have position 4" in whats
    assert "the index is missing" in whats


def test_two_tips_are_found(filled: SessionDB) -> None:
    """Both are named."""
    spoil(filled, "DROP INDEX uq_sessions_tip", "UPDATE sessions SET is_tip = 1 WHERE id = 's1'")
    assert any("has 2 tips: s1" in finding.what for finding in report_of(filled).findings)


def test_all_findings_are_collected_and_few_are_shown(filled: SessionDB) -> None:
    """One fault hides no other; of each kind so many are kept and all are counted."""
    spoil(
        filled,
        "UPDATE messages SET state = 9",
        "UPDATE sessions SET message_count = 7, extras = '{'",
        "UPDATE store_state SET indexed_through = 10000",
    )
    with SessionDB.open(filled.path, read_only=True) as reader:
        report = check(reader.engine, full=True, shown=5)
    assert report.counts[Kind.MESSAGE] == 122
    assert len([f for f in report.findings if f.kind is Kind.MESSAGE]) == 5
    assert report.counts.keys() >= {Kind.MESSAGE, Kind.COUNTER, Kind.SESSION, Kind.MARK}


def test_a_check_writes_nothing(filled: SessionDB) -> None:
    """Not a byte of the file, whatever it finds."""
    spoil(filled, "UPDATE sessions SET message_count = 7")
    before = filled.path.read_bytes()
    report_of(filled)
    assert filled.path.read_bytes() == before
    with SessionDB.open(filled.path) as writer:
        check(writer.engine, full=True)
    assert filled.path.read_bytes() == before


def test_a_check_beside_writers_finds_nothing(filled: SessionDB) -> None:
    """Appends, rewinds, searches and deletions of other handles while it looks are no findings."""
    stop = threading.Event()

    def keep_busy() -> None:
        with SessionDB.open(filled.path, synchronous="NORMAL") as other:
            while not stop.is_set():
                session = other.sessions.create(source="cli").id
                other.messages.append_many(session, [{"role": "user", "content": f"word{n}"} for n in range(20)])
                other.messages.rewind(session, last=3)
                other.search.messages("word1")
                other.sessions.delete(session)

    thread = threading.Thread(target=keep_busy)
    thread.start()
    reports = [check(filled.engine, full=n % 2 == 0) for n in range(6)]
    stop.set()
    thread.join()
    for report in reports:
        assert report.is_sound, report.findings


def test_what_others_indexed_since_the_last_search_is_no_damage(filled: SessionDB) -> None:
    """FTS5 keeps the structure of the index per connection; a check must not go by an old one."""
    filled.search.messages("word1")
    with SessionDB.open(filled.path, synchronous="NORMAL") as other:
        for n in range(5):
            other.messages.append_many("s2", [{"role": "user", "content": f"new{n}{m}"} for m in range(20)])
            other.maintenance.optimize()
            report = check(filled.engine)
            assert report.is_sound, report.findings


def test_damaged_pages_end_no_check(filled: SessionDB) -> None:
    """Where SQLite can't read on, that is a finding, and the other steps are still taken."""
    filled.close()
    connection = sqlite3.connect(filled.path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'session_tags'").fetchone()
    connection.execute("UPDATE sessions SET message_count = 7 WHERE id = 's0'")
    connection.commit()
    connection.close()
    data = bytearray(filled.path.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    filled.path.write_bytes(data)
    report = report_of(filled)
    assert report.counts.keys() >= {Kind.DAMAGED, Kind.COUNTER}


def test_an_unreadable_message_is_a_typed_error_and_hides_no_other(filled: SessionDB) -> None:
    """Reading its session names the message; searching finds the others."""
    spoil(filled, "UPDATE messages SET content = x'0011' WHERE id = 3")
    with SessionDB.open(filled.path) as db:
        with pytest.raises(StoreDamaged, match="message 3 of session s0"):
            db.messages.list("s0")
        assert len(db.messages.list("s1")) == 30
        db.index.rebuild()
        assert len(db.search.messages('"number 2"', limit=200)) == 30


def test_ctrl_c_ends_a_check_with_what_it_found(tmp_path: Path) -> None:
    """Also in the middle of one long statement; the report says that it was stopped."""
    path = tmp_path / "s.db"
    with SessionDB.open(path, synchronous="NORMAL") as db:
        db.sessions.create("s", source="cli")
        db.messages.append_many("s", [{"role": "user", "content": f"word{n}"} for n in range(500)])
    code = (
        "import sys; from hermes_state.store import SessionDB; from hermes_state.check import check\n"
        f"db = SessionDB.open({str(path)!r})\n"
        "from hermes_state.check import storage\n"
        "slow = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1e9) SELECT max(i) FROM n'\n"
        "def hang(collector):\n"
        "    with collector.snapshot() as connection:\n"
        "        print('ready', flush=True); connection.exec_driver_sql(slow).scalar()\n"
        "import hermes_state.check as c; c._STEPS = (c._STEPS[0], ('slow', hang))\n"
        "report = check(db.engine); print(report.interrupted, report.exit_code, report.is_sound)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.1)
        os.kill(child.pid, signal.SIGINT)
        assert child.stdout.read() == "True 130 False\n"


def test_ctrl_c_outside_of_sqlite_ends_a_check_too(filled: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLAlchemy closes a connection in whose use a signal comes; the check ends all the same, the store goes on."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def step(collector: Collector) -> None:
        with collector.snapshot() as connection, monkeypatch.context() as patched:
            patched.setattr(connection.dialect.execution_ctx_cls, "_init_statement", interrupted)
            connection.exec_driver_sql("SELECT 1")

    monkeypatch.setattr("hermes_state.check._STEPS", (("step", step),))
    report = check(filled.engine)
    assert (report.interrupted, report.exit_code) == (True, 130)
    assert filled.messages.append("s2", role="user", content="goes on").id
    assert filled.search.messages("goes")
