"""Everything that reads a home inside the process of an agent leaves that agent's locks alone.

The agent here is a process of its own that has databases open through Python's `sqlite3`, in WAL mode and in rollback
mode, and through our engine. A POSIX lock is lost when any descriptor of the file is closed in the process; so after
each piece of work another process asks whether the locks are still there.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from homes import make_home

from hermes_state.portability import apart
from hermes_state.portability.backup import backup
from hermes_state.portability.packs.pack import Wanted, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

# Reads one JSON command a line, does it, and answers with a line.
HOST = """
import json, sqlite3, sys
from pathlib import Path
from hermes_state import SessionDB

home, folder = Path(sys.argv[1]), Path(sys.argv[2])
live = sqlite3.connect(home / "state.db", isolation_level=None)
live.execute("SELECT count(*) FROM messages").fetchone()
kept = sqlite3.connect(home / "skills/deploy/notes.sqlite", isolation_level=None)
kept.execute("BEGIN IMMEDIATE")
kept.execute("INSERT INTO t VALUES ('unfinished')")
bad = open(home / "damaged.db", "rb")
db = SessionDB.open(home=home)
session = db.sessions.create(source="cli").id

def do(what):
    from hermes_state.portability.backup import Wanted, backup, preview
    from hermes_state.portability.diff import of_entries
    from hermes_state.portability.merge import merge
    from hermes_state.portability.packs.pack import Wanted as Chosen, pack
    from hermes_state.portability.packs.unpack import unpack
    from hermes_state.portability.restore import plan, restore
    from hermes_state.portability.policy import Policy
    if what == "backup":
        backup(home, folder / "h.tar.zst")
    elif what == "redacted backup":
        backup(home, folder / "r.tar.zst", Wanted(secrets=Policy.REDACT))
    elif what == "diff":
        with preview(home, folder) as (entries, _):
            of_entries(entries)
    elif what == "pack":
        pack(home, folder / "h.pack", Chosen(everything=True))
    elif what.startswith("merge"):
        merge(folder / "other.tar.zst", home, dry_run=what.endswith("dry"))
    elif what.startswith("unpack"):
        unpack(folder / "other.pack", home, dry_run=what.endswith("dry"))
    elif what == "plan":
        plan(folder / "other.tar.zst", home)
    elif what == "import":
        from hermes_state.importers.hermes import import_hermes
        import_hermes(db, home)
    elif what == "restore":
        try:
            restore(folder / "other.tar.zst", home)
        except Exception as error:
            return type(error).__name__
    db.messages.append(session, role="user", content=f"after {what}")
    return "done"

print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(do(json.loads(line))), flush=True)
"""
# Says of each database whether somebody else has it locked.
PROBE = """
import sqlite3, sys
from pathlib import Path
from hermes_state.portability.databases import is_open_elsewhere
home = Path(sys.argv[1])
db = sqlite3.connect(home / "skills/deploy/notes.sqlite", timeout=0, isolation_level=None)
try:
    db.execute("BEGIN IMMEDIATE")
    print("notes are free")
except sqlite3.OperationalError:
    pass
for name in ("state.db", "hermes_state.db"):
    if not is_open_elsewhere(home / name):
        print(name, "is free")
"""
WORK = ("backup", "diff", "pack", "merge, dry", "merge", "unpack", "import")


class Agent:
    """The process that has the home open."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        command = [sys.executable, "-c", HOST, str(home), str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._answer() == "ready\n"

    def do(self, what: str) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return json.loads(self._answer())

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def lost_locks(self) -> str:
        done = subprocess.run([sys.executable, "-c", PROBE, str(self.home)], capture_output=True, text=True, check=True)
        return done.stdout


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    """An agent at work, and an archive and a pack of another home with files of the same names."""
    for name, word in (("home", "redis"), ("other", "postgres")):
        home = make_home(tmp_path / name, word)
        notes = sqlite3.connect(home / "skills/deploy/notes.sqlite")
        notes.executescript(f"CREATE TABLE t (x); INSERT INTO t VALUES ('{word}')")
        notes.close()
        (home / "damaged.db").write_bytes(b"SQLite format 3\0" + word.encode() * 1000)
    backup(tmp_path / "other", tmp_path / "other.tar.zst")
    pack(tmp_path / "other", tmp_path / "other.pack", Wanted(everything=True))
    found = Agent(tmp_path / "home", tmp_path)
    yield found
    found.process.kill()
    found.process.communicate()


def test_no_lock_is_lost(agent: Agent) -> None:
    """Each piece of work in the agent's process; it goes on writing between them."""
    assert agent.lost_locks() == ""
    for what in WORK:
        assert agent.do(what) == "done", what
        assert agent.lost_locks() == "", what
    assert agent.do("restore") == "HomeNotEmpty"
    assert agent.lost_locks() == ""


def test_what_the_backup_of_an_agent_holds(agent: Agent, tmp_path: Path) -> None:
    """What was committed is in it, what was not is not, and the damaged file is there byte for byte."""
    agent.do("backup")
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["tar", "--zstd", "-xf", tmp_path / "h.tar.zst", "-C", out], check=True)
    notes = sqlite3.connect(out / "home/skills/deploy/notes.sqlite")
    assert notes.execute("SELECT x FROM t").fetchall() == [("redis",)]
    notes.close()
    assert (out / "home/damaged.db").read_bytes() == (agent.home / "damaged.db").read_bytes()
    assert Path(out / "home/state.db").stat().st_size > 0


def test_a_file_that_went_meanwhile(tmp_path: Path) -> None:
    """Another process that looks for it says so as this one would: it is no failure of a backup."""
    with pytest.raises(FileNotFoundError):
        apart.is_database(str(tmp_path / "gone"))
