"""A second backup costs what changed, in bytes and in what is read."""

from __future__ import annotations

import hashlib
import io
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, NoReturn

import peer_database
import pytest
from homes import make_home, rows
from repositories import all_snapshots, assert_sound, contents, noise_file, small_home

from hermes_state import SessionDB
from hermes_state.errors import StoreDamaged
from hermes_state.portability import backup as reading
from hermes_state.portability import collect, databases
from hermes_state.portability.backup import Wanted
from hermes_state.portability.policy import Policy
from hermes_state.portability.reader import open_archive
from hermes_state.portability.repository import parent, snapshots
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.repository.index import Index
from hermes_state.portability.restore import restore
from hermes_state.portability.steady import Steady

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.portability.progress import Step

WORDS = "the deploy failed because redis was down 数据库 升级 الخادم"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were changed just now count as settled: tests do not wait for two seconds."""
    monkeypatch.setattr(parent, "_SETTLED_NS", -(10**12))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return small_home(tmp_path / "home")


def large_database(path: Path, rows: int = 12_000) -> None:
    """Some 5 MB of rows that do not repeat, with an index, as a store has."""
    rnd = random.Random(4)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT, content TEXT)")
        db.execute("CREATE INDEX by_session ON messages (session)")
        values = ((f"session-{n % 300}", f"{WORDS} {rnd.randbytes(rnd.randint(60, 200)).hex()}") for n in range(rows))
        db.executemany("INSERT INTO messages (session, content) VALUES (?, ?)", values)
        db.commit()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET content = content || ' changed' WHERE id % 100 = 7",
        "UPDATE messages SET content = content || ' changed' WHERE id BETWEEN 6000 AND 6120",
        "INSERT INTO messages (session, content) SELECT session, content || 'x' FROM messages WHERE id % 100 = 3",
        "DELETE FROM messages WHERE id BETWEEN 6000 AND 6120",
    ],
    ids=["scattered", "together", "added", "deleted"],
)
def test_one_percent_of_the_rows(tmp_path: Path, home: Path, change: str) -> None:
    """The bar is 3 % of the first backup's bytes."""
    large_database(home / "rows.db")
    first = back_up(home, tmp_path / "repo").backup.written.size
    with closing(sqlite3.connect(home / "rows.db")) as db:
        db.execute(change)
        db.commit()
    second = back_up(home, tmp_path / "repo").backup.written.size
    assert second <= first * 0.03
    assert_sound(tmp_path / "repo")


@pytest.mark.parametrize("is_numbered", [True, False])
def test_one_percent_of_a_state_db(tmp_path: Path, is_numbered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the rows are, little is new; without knowing where its pages lay, all of it is right still."""
    home = tmp_path / "home"
    home.mkdir()
    peer_database.make(home / "state.db")
    rnd = random.Random(5)
    with closing(sqlite3.connect(home / "state.db")) as db:
        texts = (("s1", f"{WORDS} {rnd.randbytes(rnd.randint(60, 200)).hex()}") for _ in range(2500))
        db.executemany("INSERT INTO messages (session_id, content) VALUES (?, ?)", texts)
        db.commit()
    states = [rows(home / "state.db")]
    first = back_up(home, tmp_path / "repo").backup.written.size
    if not is_numbered:
        monkeypatch.setattr(parent.Parent, "numbering", lambda *_: b"")
    for change in (
        "UPDATE messages SET content = content || ' 变' WHERE id % 100 = 7",
        "UPDATE messages SET content = content || ' changed' WHERE id BETWEEN 600 AND 625",
        "INSERT INTO messages (session_id, content) SELECT 's2', content || 'x' FROM messages WHERE id % 100 = 3",
        "DELETE FROM messages WHERE id BETWEEN 2000 AND 2025",
    ):
        with closing(sqlite3.connect(home / "state.db")) as db:
            db.execute(change)
            db.commit()
        second = back_up(home, tmp_path / "repo")
        states.append(rows(home / "state.db"))
        if is_numbered:
            assert second.backup.written.size <= first * 0.1
    assert_sound(tmp_path / "repo")
    kept = list(zip(all_snapshots(tmp_path / "repo"), states, strict=True))
    for number, (one, expected) in enumerate(kept[:: 1 if is_numbered else 4]):
        restore(tmp_path / "repo" / one.id, tmp_path / f"again-{number}")
        assert rows(tmp_path / f"again-{number}/state.db") == expected


def test_where_pages_lay_can_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then they go elsewhere."""
    home = tmp_path / "home"
    home.mkdir()
    peer_database.make(home / "state.db", messages=2000)
    back_up(home, tmp_path / "repo")
    [snapshot] = all_snapshots(tmp_path / "repo")
    with Index.of(tmp_path / "repo/packs") as index:
        member = next(m for m in snapshots.members(snapshot, index) if m.entry.name == "home/state.db")
        [chunk] = member.numbering
        place = index.places[chunk]
    with place.pack.open("r+b") as file:
        file.seek(place.stored.offset + place.stored.stored // 2)
        file.write(b"damaged!")
    with closing(sqlite3.connect(home / "state.db")) as db:
        peer_database.add(db, 500)
        db.commit()
    saved = back_up(home, tmp_path / "repo")
    restore(tmp_path / "repo" / saved.snapshot.id, tmp_path / "again")
    assert rows(tmp_path / "again/state.db") == rows(home / "state.db")


def test_what_looks_the_same_is_not_read(tmp_path: Path, home: Path, settled: None) -> None:
    first = back_up(home, tmp_path / "repo")
    (home / "config.yaml").write_text("model: {a: 1}\n")
    second = back_up(home, tmp_path / "repo")
    assert (first.unread, second.unread) == (0, 4)  # all files but the one that was changed
    assert second.backup.written.size < 4000
    with open_archive(tmp_path / "repo/latest") as archive:
        assert archive.manifest.facts["databases"]["home/facts.db"]["kind"] == "sqlite"
    names = [contents(path) for path in sorted((tmp_path / "repo/snapshots").iterdir())]
    assert {name for name in names[0] if names[0][name][-1] != names[1][name][-1]} == {"home/config.yaml"}


def test_what_looks_the_same_is_not_even_opened(
    tmp_path: Path, home: Path, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To see whether it is a database; what looks different may have become one."""
    (home / "notes.txt").write_text("x" * 1000)
    (home / "other.txt").write_text("y" * 1000)
    back_up(home, tmp_path / "repo")
    (home / "notes.txt").unlink()
    large_database(home / "notes.txt", rows=5)
    opened = []
    look = collect.begins_as_database
    monkeypatch.setattr(collect, "begins_as_database", lambda path: opened.append(path) or look(path))
    saved = back_up(home, tmp_path / "repo")
    assert {path.rpartition("/")[2] for path in opened} == {"facts.db", "notes.txt"}
    assert saved.backup.manifest.facts["databases"]["home/notes.txt"]["kind"] == "sqlite"
    opened.clear()
    back_up(home, tmp_path / "repo", Wanted(reread=True))
    assert str(home / "other.txt") in opened


def test_all_is_read_when_asked_for(tmp_path: Path, home: Path, settled: None) -> None:
    """And what was read is again known not to have changed."""
    back_up(home, tmp_path / "repo")
    assert back_up(home, tmp_path / "repo", Wanted(reread=True)).unread == 0
    assert back_up(home, tmp_path / "repo").unread == 5


def test_a_clock_that_was_set_back(tmp_path: Path, home: Path) -> None:
    """What was changed after the time that it is now is not known to be settled."""
    later = time.time_ns() + 3600 * 10**9
    for path in (home / "config.yaml", home / "facts.db"):
        os.utime(path, ns=(later, later))
    back_up(home, tmp_path / "repo")
    (home / "config.yaml").write_text("model: 1}\n")
    os.utime(home / "config.yaml", ns=(later, later))
    assert back_up(home, tmp_path / "repo").unread == 0
    first, second = (contents(found) for found in sorted((tmp_path / "repo/snapshots").iterdir()))
    assert first["home/config.yaml"][-1] != second["home/config.yaml"][-1]


def test_two_at_once(tmp_path: Path) -> None:
    """Both take the same snapshot as the one before; each new one is whole, and so is what comes after them."""
    home = tmp_path / "home"
    home.mkdir()
    peer_database.make(home / "state.db", messages=3000)
    back_up(home, tmp_path / "repo")
    with closing(sqlite3.connect(home / "state.db")) as db:
        peer_database.add(db, 300, "新")
        db.commit()
    code = "from hermes_state.commands import main; main()"
    command = [sys.executable, "-c", code, "--home", home, "backup", "--repo", tmp_path / "repo"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    both = [subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute("DELETE FROM messages WHERE id % 7 = 1")
        db.commit()
    back_up(home, tmp_path / "repo")
    assert_sound(tmp_path / "repo")
    found = all_snapshots(tmp_path / "repo")
    assert len(found) == 4
    assert len({contents(tmp_path / "repo" / one.id)["home/state.db"][-1] for one in found}) == 3
    restore(tmp_path / "repo" / found[-1].id, tmp_path / "again")
    assert rows(tmp_path / "again/state.db") == rows(home / "state.db")


def test_a_file_changed_within_the_clock_is_read_again(tmp_path: Path, home: Path) -> None:
    """Changed a moment before it was looked at, it could change again without its times telling so."""
    back_up(home, tmp_path / "repo")
    assert back_up(home, tmp_path / "repo").unread == 0


def test_same_size_and_time_but_another_content(tmp_path: Path, home: Path, settled: None) -> None:
    """Whoever sets a file's time back can't set back when it was changed."""
    path = home / "config.yaml"
    before = path.stat()
    back_up(home, tmp_path / "repo")
    path.write_text("model: []\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    back_up(home, tmp_path / "repo")
    first, second = (contents(found) for found in sorted((tmp_path / "repo/snapshots").iterdir()))
    assert first["home/config.yaml"][-1] != second["home/config.yaml"][-1]


def test_rows_that_are_still_in_the_log(tmp_path: Path, home: Path, settled: None) -> None:
    """A database in WAL mode changes without its file."""
    with closing(sqlite3.connect(home / "facts.db")) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("INSERT INTO facts (text) VALUES ('first')")
        db.commit()
        back_up(home, tmp_path / "repo")
        db.execute("INSERT INTO facts (text) VALUES ('second')")
        db.commit()
        second = back_up(home, tmp_path / "repo")
        assert second.unread == 4
        third = back_up(home, tmp_path / "repo")
        assert third.unread == 5
    assert_sound(tmp_path / "repo")


def test_a_log_that_grew(tmp_path: Path, home: Path) -> None:
    noise_file(home / "logs/agent.log", 9_000_000)
    back_up(home, tmp_path / "repo")
    with (home / "logs/agent.log").open("ab") as file:
        file.write(b"one line more\n")
    assert back_up(home, tmp_path / "repo").new_content_bytes < 1_500_000


def test_two_homes_share_what_they_have_in_common(tmp_path: Path, home: Path) -> None:
    shutil.copytree(home, tmp_path / "other", symlinks=True)
    first = back_up(home, tmp_path / "repo").backup.written.size
    assert back_up(tmp_path / "other", tmp_path / "repo").backup.written.size < first / 50
    assert {one.home for one in all_snapshots(tmp_path / "repo")} == {str(home), str(tmp_path / "other")}
    assert_sound(tmp_path / "repo")


def test_other_wishes_are_not_answered_from_before(tmp_path: Path, settled: None) -> None:
    """Secrets that are to be taken out now, and indexes that are to come along, are not taken from the last backup."""
    home = make_home(tmp_path / "home")
    back_up(home, tmp_path / "repo")
    back_up(home, tmp_path / "repo", Wanted(secrets=Policy.REDACT))
    back_up(home, tmp_path / "repo", Wanted(keep_indexes=True))
    back_up(home, tmp_path / "repo")
    first, redacted, indexed, third = (contents(tmp_path / "repo" / one.id) for one in all_snapshots(tmp_path / "repo"))
    assert redacted["home/.env"][-1] != first["home/.env"][-1] == third["home/.env"][-1]
    assert indexed["home/state.db"][3] > first["home/state.db"][3] == third["home/state.db"][3]


def test_secrets_in_databases_are_not_taken_from_before(tmp_path: Path, settled: None) -> None:
    """Nor is a copy without them taken for the database."""
    home = make_home(tmp_path / "home")
    with SessionDB.open(home / "hermes_state.db") as db:
        session = db.sessions.create(source="cli", title="keys")
        db.messages.append(
            session.id, role="user", content="my key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
        )
    back_up(home, tmp_path / "repo")
    back_up(home, tmp_path / "repo", Wanted(secrets=Policy.REDACT))
    back_up(home, tmp_path / "repo", Wanted(secrets=Policy.REDACT))
    back_up(home, tmp_path / "repo")
    digests = [
        contents(tmp_path / "repo" / one.id)["home/hermes_state.db"][-1] for one in all_snapshots(tmp_path / "repo")
    ]
    assert digests[0] == digests[3] != digests[1] == digests[2]


def test_what_the_manifest_says_of_a_database_that_is_not_read_again(tmp_path: Path, settled: None) -> None:
    """The paths in it are told as if it had been."""
    home = make_home(tmp_path / "home")
    with SessionDB.open(home / "hermes_state.db") as db:
        db.sessions.create(source="cli", title="work", cwd="/srv/nowhere/工作")
    told = [back_up(home, tmp_path / "repo") for _ in range(2)]
    first, second = (dict(saved.backup.manifest.facts) for saved in told)
    assert told[1].unread > 5
    assert first["databases"] == second["databases"]
    assert any("工作" in item["value"] for item in second["relocation"])
    assert sorted(map(str, first["relocation"])) == sorted(map(str, second["relocation"]))


def test_a_store_of_ours_in_use(tmp_path: Path, settled: None) -> None:
    home = make_home(tmp_path / "home")
    with SessionDB.open(home / "hermes_state.db") as db:
        session = db.sessions.create(source="cli", title="work")
        for text in ("数据库 one", "two"):
            db.messages.append(session.id, role="user", content=text)
            back_up(home, tmp_path / "repo")
    first, second = (contents(tmp_path / "repo" / one.id) for one in all_snapshots(tmp_path / "repo"))
    assert first["home/hermes_state.db"][-1] != second["home/hermes_state.db"][-1]
    assert first["home/state.db"] == second["home/state.db"]


def test_it_stays_quick_when_the_clock_was_wrong(tmp_path: Path, home: Path, settled: None) -> None:
    """Times of files before 1980 and after 2100 are kept."""
    os.utime(home / "zero", (0, 0))
    os.utime(home / "config.yaml", (time.time() + 5e9, 5e9))
    back_up(home, tmp_path / "repo")
    back_up(home, tmp_path / "repo")
    found = contents(tmp_path / "repo/latest")
    assert (found["home/zero"][2], found["home/config.yaml"][2]) == (0, 5 * 10**18)


class _Failing(io.BytesIO):
    """Content whose disk fails after its first bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() >= 5:
            raise OSError(5, "Input/output error")
        return super().read(min(size or 5, 5))


@pytest.mark.parametrize("content", [io.BytesIO(b"short"), _Failing(b"short and more")], ids=["shrank", "failed"])
def test_a_file_that_is_not_read_to_its_end(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, settled: None, content: io.BytesIO
) -> None:
    """The snapshot is partial and sound, and the file is read again the next time."""
    back_up(home, tmp_path / "repo")
    (home / "config.yaml").write_text("model: changed\n")
    with monkeypatch.context() as patched:
        patched.setattr(reading, "open_steady", lambda path: Steady(content, 100, is_steady=True))
        saved = back_up(home, tmp_path / "repo")
    assert saved.snapshot.partial
    assert [item["name"] for item in saved.backup.written.report.incomplete] == ["home/config.yaml"]
    assert contents(tmp_path / "repo" / saved.snapshot.id)["home/config.yaml"][3] == 5
    assert_sound(tmp_path / "repo")
    again = back_up(home, tmp_path / "repo").snapshot
    assert not again.partial
    assert contents(tmp_path / "repo" / again.id)["home/config.yaml"][3] == 15


def test_a_copy_that_came_to_nothing(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its content is stored while SQLite checks it; when that can't read it, the file goes in as it is."""

    def fail(*_: object) -> NoReturn:
        raise StoreDamaged("it can't be read through")

    monkeypatch.setattr(databases, "_counts", fail)
    saved = back_up(home, tmp_path / "repo")
    assert saved.backup.unsound == {"home/facts.db": "it can't be read through"}
    digest = contents(tmp_path / "repo/latest")["home/facts.db"][-1]
    assert digest == hashlib.sha256((home / "facts.db").read_bytes()).hexdigest()
    assert_sound(tmp_path / "repo")


def test_damage_that_is_found_while_it_is_stored(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "check", lambda _: "row 3 missing from index")
    saved = back_up(home, tmp_path / "repo")
    assert saved.backup.unsound == {"home/facts.db": "row 3 missing from index"}
    assert saved.snapshot.partial
    assert_sound(tmp_path / "repo")


def test_each_byte_is_told_once(tmp_path: Path, home: Path) -> None:
    """Also those of a database, whose content is stored before its turn comes."""
    steps: list[Step] = []
    back_up(home, tmp_path / "repo", progress=steps.append)
    sizes = {name: entry[3] for name, entry in contents(tmp_path / "repo/latest").items()}
    assert steps[-1].done == sum(sizes.values())
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert sizes["home/facts.db"] in {step.done for step in steps if step.what == "home/facts.db"}
