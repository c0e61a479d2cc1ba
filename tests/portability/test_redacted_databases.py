"""`--secrets redact` reaches into databases: in the archive no token is left, in the live files every one still is."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from typing import TYPE_CHECKING

import pytest
from homes import make_home, rows
from sqlalchemy import insert

from hermes_state import SessionDB, memory_index
from hermes_state.check import check
from hermes_state.portability.backup import BackupReport, Wanted, backup
from hermes_state.portability.policy import Policy
from hermes_state.portability.restore import restore
from hermes_state.schema import memories

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
REDACT = Wanted(secrets=Policy.REDACT)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose databases hold a token in every kind of place."""
    home = make_home(tmp_path / "ann/.hermes")
    with SessionDB.open(home=home) as db:
        session = db.sessions.create(source="cli", title=f"use {TOKEN}", system_prompt=f"be kind, {TOKEN}")
        with db.engine.write() as connection:
            values = {"id": "m1", "target": "user", "status": "active", "created_at": 5, "changed_at": 5}
            connection.execute(insert(memories).values(content=f"his key is {TOKEN}", **values))
            memory_index.catch_up(connection)
        db.messages.append(session.id, role="user", content=f"请用 {TOKEN}")
        db.messages.append(session.id, role="user", content=[{"type": "text", "text": f"in a list: {TOKEN}"}])
        db.messages.append(session.id, role="tool", content=f"{TOKEN} " + "long output " * 400, tool_name="sh")
        calls = [{"id": "c1", "function": {"name": "sh", "arguments": json.dumps({"key": TOKEN})}}]
        db.messages.append(session.id, role="assistant", content=None, tool_calls=calls)
    with sqlite3.connect(home / "state.db") as db_:
        db_.execute("UPDATE messages SET content = ? WHERE id = 1", (f"export GITHUB_TOKEN={TOKEN}",))
        db_.execute("UPDATE messages SET content = ? WHERE id = 2", ('\0json:[{"text": "' + TOKEN + '"}]',))
        db_.execute("UPDATE sessions SET title = ? WHERE id = 's1'", (f"title {TOKEN}",))
        db_.execute("INSERT INTO state_meta VALUES ('note', ?)", (TOKEN,))
    db_.close()
    other = sqlite3.connect(home / "other.sqlite")
    other.executescript(f"CREATE TABLE t (x); INSERT INTO t VALUES ('{TOKEN}')")
    other.close()
    return home


def opened(archive: Path, out: Path) -> dict[str, bytes]:
    """The raw bytes of the databases in an archive."""
    out.mkdir()
    subprocess.run(["tar", "--zstd", "-xf", archive, "-C", out], check=True)
    return {path.name: path.read_bytes() for path in (out / "home").glob("*.db")}


def test_no_token_is_left(home: Path, tmp_path: Path) -> None:
    """Not even in the free space of the files; what was changed is counted; other programs' are named."""
    before = rows(home / "hermes_state.db"), rows(home / "state.db")
    report = backup(home, tmp_path / "b.tar.zst", REDACT)
    for name, raw in opened(tmp_path / "b.tar.zst", tmp_path / "out").items():
        assert TOKEN.encode() not in raw, name
    assert (rows(home / "hermes_state.db"), rows(home / "state.db")) == before
    secrets = report.manifest.facts["secrets"]
    assert not [name for name in secrets["unsearched"] if "state.db" in name]
    ours, theirs = (secrets["databases"][f"home/{name}"] for name in ("hermes_state.db", "state.db"))
    assert ours["messages.content"] == 3
    assert (
        ours["memories.content"]
        == ours["messages.tool_calls"]
        == ours["sessions.title"]
        == ours["system_prompts.text"]
        == 1
    )
    assert theirs == {"messages.content": 2, "sessions.title": 1, "state_meta.value": 1}
    assert "home/other.sqlite" in secrets["unsearched"]
    assert not report.is_partial


def test_the_restored_home_works(home: Path, tmp_path: Path) -> None:
    """Its store is sound, JSON is JSON, everything else is as it was said, and the words around are found."""
    backup(home, tmp_path / "b.tar.zst", REDACT)
    restore(tmp_path / "b.tar.zst", tmp_path / "h")
    with SessionDB.open(home=tmp_path / "h") as db:
        assert [hit.role for hit in db.search.messages("请用")] == ["user"]
        assert not check(db.engine).findings
        session = next(s for s in db.sessions.list() if (s.title or "").startswith("use"))
        said = db.messages.list(session.id)
        assert said[1].content[0]["text"].startswith("in a list: [redacted:")
        assert said[2].content.endswith("long output ")
        assert json.loads(said[3].tool_calls[0]["function"]["arguments"])["key"].startswith("[redacted:")


@pytest.mark.parametrize("policy", [Policy.INCLUDE, Policy.EXCLUDE])
def test_other_policies_leave_databases_alone(home: Path, tmp_path: Path, policy: Policy) -> None:
    """And `exclude` says so."""
    report: BackupReport = backup(home, tmp_path / "b.tar.zst", Wanted(secrets=policy))
    assert all(
        TOKEN.encode() in raw for raw in opened(tmp_path / "b.tar.zst", tmp_path / "out").values() if b"s1" in raw
    )
    unsearched = report.manifest.facts["secrets"]["unsearched"]
    assert ("home/hermes_state.db" in unsearched) == (policy is Policy.EXCLUDE)


def test_indexes_are_left_out_all_the_same(home: Path, tmp_path: Path) -> None:
    """A kept index would hold what was taken out of the rows."""
    report = backup(home, tmp_path / "b.tar.zst", Wanted(secrets=Policy.REDACT, keep_indexes=True))
    assert report.manifest.facts["databases"]["home/state.db"]["indexes"] == "left-out"
    for raw in opened(tmp_path / "b.tar.zst", tmp_path / "out").values():
        assert TOKEN.encode() not in raw
