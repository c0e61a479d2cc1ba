"""Packs: what was packed is there after unpacking, once, and nothing that was here changes."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from homes import look, make_home, mode
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from hermes_state import SessionDB
from hermes_state.errors import ArchiveForeign, InvalidValue, NotFound, SessionNotFound, StoreUnavailable
from hermes_state.portability.backup import backup
from hermes_state.portability.packs.pack import Wanted, pack
from hermes_state.portability.packs.unpack import unpack
from hermes_state.portability.policy import Policy
from hermes_state.portability.restore import restore
from hermes_state.portability.verify import Verdict, verify
from hermes_state.schema import memories, memory_events, memory_tags
from hermes_state.transfer import dump
from hermes_state.transfer.memories import dump_memories

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"
EVERYTHING = Wanted(everything=True)
TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with memories that have a history, and a skill."""
    home = make_home(tmp_path / "ann/.hermes")
    with SessionDB.open(home=home) as db, db.engine.write() as connection:
        remember(connection, "m1", "likes tea", replaced_by=None)
        remember(connection, "m2", "住在京都", replaced_by="m1")
    return home


def remember(connection: Any, memory_id: str, content: str, *, replaced_by: str | None) -> None:
    values: dict[str, Any] = {"id": memory_id, "target": "user", "status": "active", "created_at": 5, "changed_at": 6}
    if replaced_by:
        values["replaced_by_pk"] = connection.exec_driver_sql("SELECT pk FROM memories").scalar_one()
    pk = connection.execute(insert(memories).values(content=content, **values).returning(memories.c.pk)).scalar_one()
    connection.execute(insert(memory_tags).values(memory_pk=pk, tag="住"))
    event = {"batch": "b", "action": "add", "at": 5, "after": content, "origin": '{"session":"s"}'}
    connection.execute(insert(memory_events).values(memory_pk=pk, **event))


def exported(home: Path, folder: Path, write: Callable[..., Any]) -> list[str]:
    """The lines of an export: equal for stores that hold the same."""
    file = folder / "export.jsonl"
    with SessionDB.open(home=home) as db, file.open("w", encoding="utf-8") as out:
        write(db.engine, out)
    return file.read_text(encoding="utf-8").splitlines()


def content(home: Path, folder: Path) -> dict[str, object]:
    """A home's files, and what its store says; counters may be folded meanwhile."""
    store = [exported(home, folder, write) for write in (dump, dump_memories)]
    return look(home) | {"hermes_state.db": store}


def test_there_and_back(home: Path, tmp_path: Path) -> None:
    """Into a home that is not there: the same sessions, memories with their history, settings, skills; no secrets."""
    packed = pack(home, tmp_path / "p.tar.zst", EVERYTHING)
    assert mode(tmp_path / "p.tar.zst") == 0o600
    assert not packed.written.report.is_partial
    result = unpack(tmp_path / "p.tar.zst", tmp_path / "bob/h")
    assert (result.sessions, result.messages, result.entries, result.differences) == (1, 5, 2, [])
    other = tmp_path / "bob/h"
    for write in (dump, dump_memories):
        assert exported(home, tmp_path, write) == exported(other, tmp_path, write)
    found = look(other)
    for name in ("config.yaml", "SOUL.md", "memories/MEMORY.md", "skills/deploy/run.sh", "skills/link"):
        assert found[name] == look(home)[name]
    assert mode(other / "skills/deploy/run.sh") == 0o700
    assert not {".env", "state.db", "profiles"} & {*found}
    with SessionDB.open(home=other) as db:
        assert db.search.messages("数据库")


def test_again_adds_nothing(home: Path, tmp_path: Path) -> None:
    """Unpacking is idempotent, into the home it came from too."""
    pack(home, tmp_path / "p.tar.zst", EVERYTHING)
    unpack(tmp_path / "p.tar.zst", tmp_path / "h")
    for place in (tmp_path / "h", home):
        before = content(place, tmp_path)
        result = unpack(tmp_path / "p.tar.zst", place)
        assert (result.sessions, result.messages, result.entries, result.files) == (0, 0, 0, [])
        assert result.differences == []
        assert content(place, tmp_path) == before


def test_what_is_here_stays_and_is_listed(home: Path, tmp_path: Path) -> None:
    """Files with other content, settings by name, memories under the same id; entries are joined."""
    pack(home, tmp_path / "p.tar.zst", EVERYTHING)
    other = make_home(tmp_path / "other", "postgres")
    with SessionDB.open(home=other) as db, db.engine.write() as connection:
        remember(connection, "m1", "likes coffee", replaced_by=None)
    before = look(other)
    result = unpack(tmp_path / "p.tar.zst", other)
    told = {(item.path, item.what) for item in result.differences}
    assert {path for path, _ in told} == {"config.yaml", "SOUL.md", "hermes_state.db"}
    assert ("config.yaml", "here it has other settings: model.api_key, terminal.cwd") in told
    assert ("hermes_state.db", "memory m1: here it says something else") in told
    after = look(other)
    assert {name for name in before if before[name] != after[name]} == {"memories/MEMORY.md", "hermes_state.db"}
    assert (other / "memories/MEMORY.md").read_text().split("\n§\n") == ["likes postgres", "升级", "likes redis\n"]


def test_a_dry_run_tells_and_changes_nothing(home: Path, tmp_path: Path) -> None:
    """Into a home with content, and into none."""
    pack(home, tmp_path / "p.tar.zst", EVERYTHING)
    other = make_home(tmp_path / "other", "postgres")
    before = look(other)
    told = unpack(tmp_path / "p.tar.zst", other, dry_run=True)
    assert look(other) == before
    assert unpack(tmp_path / "p.tar.zst", other) == told
    unpack(tmp_path / "p.tar.zst", tmp_path / "none", dry_run=True)
    assert not (tmp_path / "none").exists()
    assert not list(tmp_path.glob(".*"))


def test_a_session_comes_with_its_lineage(home: Path, tmp_path: Path) -> None:
    """Its segments, sub-agents and what it branched from; nothing else."""
    with SessionDB.open(home=home) as db:
        root = db.sessions.create(source="cli", title="root")
        db.messages.append(root.id, role="user", content="begin")
        branch = db.lineage.branch(root.id).id
        later = db.lineage.rotate(branch, [{"role": "user", "content": "summary"}]).child.id
        agent = db.sessions.create(source="cli", parent_id=later, relation="delegate").id
        sibling = db.lineage.branch(root.id).id
    pack(home, tmp_path / "p.tar.zst", Wanted(ids=(later,), parts=frozenset({"sessions"})))
    unpack(tmp_path / "p.tar.zst", tmp_path / "h")
    with SessionDB.open(home=tmp_path / "h") as db, db.engine.read() as connection:
        found = set(connection.exec_driver_sql("SELECT id FROM sessions").scalars())
    assert found == {root.id, branch, later, agent}
    assert sibling not in found


def test_since(home: Path, tmp_path: Path) -> None:
    """Conversations that were active since then."""
    with SessionDB.open(home=home) as db:
        old = db.sessions.create(source="cli", started_at=datetime(2020, 1, 1, tzinfo=UTC)).id
        db.messages.append(old, role="user", content="long ago", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    pack(home, tmp_path / "p.tar.zst", Wanted(since=datetime(2024, 1, 1, tzinfo=UTC)))
    unpack(tmp_path / "p.tar.zst", tmp_path / "h")
    with SessionDB.open(home=tmp_path / "h") as db, db.engine.read() as connection:
        assert old not in set(connection.exec_driver_sql("SELECT id FROM sessions").scalars())
    manifest = verify(tmp_path / "p.tar.zst").manifest
    assert manifest is not None
    assert manifest.facts["chosen"] == {"since": "2024-01-01T00:00:00+00:00"}


@pytest.mark.parametrize("policy", [Policy.REDACT, Policy.EXCLUDE])
def test_secrets_are_taken_out_everywhere(home: Path, tmp_path: Path, policy: Policy) -> None:
    """Of settings with comments kept, memories, messages, titles and skills; the list says where."""
    (home / "config.yaml").write_text(f"# mine\nmodel:\n  api_key: {TOKEN}  # of ann\n  name: glm\n")
    (home / "memories/MEMORY.md").write_text(f"the token is {TOKEN}\n")
    (home / "skills/deploy/.env").write_text(f"DEPLOY_TOKEN={TOKEN}\n")
    with SessionDB.open(home=home) as db:
        session = db.sessions.create(source="cli", title=f"use {TOKEN}")
        db.messages.append(session.id, role="user", content=f"export GITHUB_TOKEN={TOKEN}")
        with db.engine.write() as connection:
            remember(connection, "m3", f"key {TOKEN}", replaced_by=None)
    report = pack(home, tmp_path / "p.tar.zst", Wanted(everything=True, secrets=policy))
    subprocess.run(["tar", "--zstd", "-xf", tmp_path / "p.tar.zst", "-C", tmp_path], check=True)
    everything = "".join(
        path.read_text(encoding="utf-8") for path in tmp_path.rglob("*")
        if path.is_file() and home not in path.parents and path.suffix != ".zst"
    )  # fmt: skip
    assert TOKEN not in everything
    assert "# of ann" in (tmp_path / "config/config.yaml").read_text()
    assert report.replaced >= 4
    secrets = report.manifest.facts["secrets"]
    assert secrets["redacted"]["config/config.yaml"] == ["model.api_key"]
    assert (tmp_path / "skills/deploy/.env").exists() == (policy is Policy.REDACT)
    assert secrets["left_out"] == ([] if policy is Policy.REDACT else ["skills/deploy/.env"])


def test_other_tools_read_it(home: Path, tmp_path: Path) -> None:
    """tar and zstd open it, the digests are sha256sum's, the lines are JSON."""
    pack(home, tmp_path / "p.tar.zst", EVERYTHING)
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["tar", "--zstd", "-xf", tmp_path / "p.tar.zst", "-C", out], check=True)
    subprocess.run(["sha256sum", "--quiet", "-c", "digests.sha256"], cwd=out, check=True)
    lines = [json.loads(line) for line in (out / "sessions/sessions.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines][:2] == ["header", "session"]
    assert lines[-1] == {"type": "end", "sessions": 1, "messages": 5}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["parts"]["memories"] == {
        "format": "hermes-state-memories", "version": 1, "memories": 2, "files": 1,
    }  # fmt: skip
    assert str(home) not in (out / "manifest.json").read_text()


def test_a_pack_is_no_backup_and_a_backup_no_pack(home: Path, tmp_path: Path) -> None:
    """Each names the other's command."""
    pack(home, tmp_path / "p.tar.zst", EVERYTHING)
    backup(home, tmp_path / "b.tar.zst")
    with pytest.raises(ArchiveForeign) as refused:
        restore(tmp_path / "p.tar.zst", tmp_path / "h")
    assert "unpack" in refused.value.hint
    with pytest.raises(ArchiveForeign) as refused:
        unpack(tmp_path / "b.tar.zst", tmp_path / "h")
    assert "restore" in refused.value.hint
    assert not (tmp_path / "h").exists()


def test_what_can_not_be_packed(home: Path, tmp_path: Path) -> None:
    """A session that is not there, no store, nothing chosen, nothing there: each in words, and no file is left."""
    target = tmp_path / "p.tar.zst"
    with pytest.raises(SessionNotFound):
        pack(home, target, Wanted(ids=("nobody",)))
    with pytest.raises(InvalidValue):
        Wanted()
    with pytest.raises(InvalidValue):
        Wanted(everything=True, parts=frozenset({"kitchen"}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound):
        pack(tmp_path / "empty", target, EVERYTHING)
    with pytest.raises(StoreUnavailable):
        pack(tmp_path / "empty", target, Wanted(ids=("s",)))
    assert not target.exists()
    assert not list(tmp_path.glob(".*"))


def test_a_skill_with_a_database(home: Path, tmp_path: Path) -> None:
    """It is copied through SQLite, with what is only in its WAL."""
    import sqlite3

    live = sqlite3.connect(home / "skills/deploy/notes.sqlite", isolation_level=None)
    live.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (x); INSERT INTO t VALUES ('only in the WAL')")
    pack(home, tmp_path / "p.tar.zst", EVERYTHING)
    live.close()
    unpack(tmp_path / "p.tar.zst", tmp_path / "h")
    copy = sqlite3.connect(tmp_path / "h/skills/deploy/notes.sqlite")
    assert copy.execute("SELECT x FROM t").fetchall() == [("only in the WAL",)]
    copy.close()
    assert not (tmp_path / "h/skills/deploy/notes.sqlite-wal").exists()


# --- any content ----------------------------------------------------------------------------------------------------

_WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40)
_CONTENT = st.one_of(
    _WORDS,
    st.just("a\x00b \ud800 c"),
    st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": _WORDS}), min_size=1, max_size=2),
)
_SESSION = st.tuples(st.one_of(st.none(), _WORDS), st.lists(_CONTENT, max_size=4))


@settings(max_examples=12)
@given(sessions=st.lists(_SESSION, min_size=1, max_size=4), notes=st.lists(_WORDS, max_size=4, unique=True))
def test_any_content_comes_back(
    tmp_path_factory: pytest.TempPathFactory, sessions: list[tuple[str | None, list[Any]]], notes: list[str]
) -> None:
    """Packed, unpacked and packed again: the same lines."""
    folder = tmp_path_factory.mktemp("any")
    home = folder / "home"
    home.mkdir()
    with SessionDB.open(home=home, synchronous="NORMAL") as db:
        for number, (title, contents) in enumerate(sessions):
            try:
                session = db.sessions.create(source="cli", title=title and f"{title} {number}")
            except InvalidValue:  # a title that no store keeps
                session = db.sessions.create(source="cli")
            db.messages.append_many(session.id, [{"role": "user", "content": content} for content in contents])
        with db.engine.write() as connection:
            for number, note in enumerate(notes):
                values = {"id": f"m{number}", "target": "memory", "status": "active", "created_at": 1, "changed_at": 1}
                connection.execute(insert(memories).values(content=note.replace("\x00", " ") or "-", **values))
    pack(home, folder / "p.tar.zst", EVERYTHING)
    assert verify(folder / "p.tar.zst").verdict is Verdict.SOUND
    result = unpack(folder / "p.tar.zst", folder / "other")
    assert result.differences == []
    for write in (dump, dump_memories):
        assert exported(home, folder, write) == exported(folder / "other", folder, write)


# --- every version there has been ------------------------------------------------------------------------------------


def test_a_pack_of_version_1_is_unpacked(tmp_path: Path) -> None:
    """Kept for ever: sessions with lineage, memories with history, settings, a skill."""
    path, golden = GOLDEN / "pack-1.tar.zst", tmp_path / "h"
    assert verify(path).verdict is Verdict.SOUND
    result = unpack(path, golden)
    assert (result.sessions, result.messages, result.entries, result.differences) == (3, 6, 2, [])
    with SessionDB.open(home=golden) as db:
        assert db.search.messages("升级")[0].session_id == "20260109_091500_5f2c"
        assert db.sessions.get("20260109_100000_aaaa").parent_id == "20260109_091500_5f2c"
    assert (golden / "config.yaml").read_text() == "# mine\nmodel:\n  name: glm-4.6  # a comment\n"
    assert (golden / "memories/USER.md").read_text() == "speaks 日本語\n"
    assert (golden / "skills/emoji-🦊/SKILL.md").read_text() == "# fox\n"
