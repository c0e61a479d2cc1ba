"""Backups of whole homes: everything a person would miss, made while the agent works."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from homes import look, make_home, mode

from hermes_state.errors import Conflict, DiskFull, HermesStateError, InvalidValue
from hermes_state.portability import databases, steady
from hermes_state.portability.backup import BackupReport, Wanted, backup
from hermes_state.portability.opening import open_any
from hermes_state.portability.policy import Policy
from hermes_state.portability.restore import Asked, restore
from hermes_state.portability.staging import staging

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.portability.format import Entry


def members(archive: Path) -> dict[str, bytes]:
    """Everything in an archive, proven."""
    with open_any(archive) as source:
        return {entry.name: content.read() if content else b"" for entry, content in source.members()}


def entries(archive: Path) -> dict[str, Entry]:
    with open_any(archive) as source:
        return {entry.name: entry for entry, _ in source.members()}


def omitted(report: BackupReport) -> dict[str, str]:
    return {item["name"]: item["reason"] for item in report.written.report.omitted}


def test_everything_comes_back(tmp_path: Path) -> None:
    """A home restored from its backup is the same: texts, links, rows of all databases, empty folders, times, names."""
    home = make_home(tmp_path / "a/.hermes")
    os.utime(home / "SOUL.md", ns=(1, 1_000_000_007))
    os.utime(home / "skills/deploy", ns=(1, 5_000_000_000 * 10**9))
    report = backup(home, tmp_path / "b.tar.zst")
    assert not report.is_partial
    assert mode(tmp_path / "b.tar.zst") == 0o600
    before = look(home)
    restore(tmp_path / "b.tar.zst", tmp_path / "c/.hermes")
    after = look(tmp_path / "c/.hermes")
    config = after.pop("config.yaml")
    assert config == before.pop("config.yaml").replace(os.fsencode(home), os.fsencode(tmp_path / "c/.hermes"))
    assert after == before
    assert (tmp_path / "c/.hermes/SOUL.md").stat().st_mtime_ns == 1_000_000_007
    assert (tmp_path / "c/.hermes/skills/deploy").stat().st_mtime_ns == 5_000_000_000 * 10**9


def test_a_running_agent(tmp_path: Path) -> None:
    """What is only in the WAL of an open database is in the backup, and the writer is not stopped."""
    home = make_home(tmp_path / "home")
    db = sqlite3.connect(home / "state.db", check_same_thread=False)
    db.execute("PRAGMA wal_autocheckpoint=0")
    stop = threading.Event()
    written = []

    def write() -> None:
        while not stop.is_set():
            db.execute("INSERT INTO messages (session_id, role, content) VALUES ('s1', 'user', 'live')")
            db.commit()
            written.append(1)

    thread = threading.Thread(target=write)
    thread.start()
    while not written:
        pass
    try:
        script = "import sys; from pathlib import Path; from hermes_state.portability.backup import backup;"
        script += "backup(Path(sys.argv[1]), Path(sys.argv[2]))"
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", script, str(home), str(tmp_path / "b.tar.zst")], check=True, env=env)
    finally:
        stop.set()
        thread.join()
        db.close()
    restore(tmp_path / "b.tar.zst", tmp_path / "again")
    other = sqlite3.connect(tmp_path / "again/state.db")
    rows = other.execute("SELECT count(*) FROM messages WHERE content = 'live'").fetchone()[0]
    found = other.execute("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'live'").fetchone()[0]
    assert 1 <= rows == found <= len(written)
    other.close()


def test_files_that_are_called_databases(tmp_path: Path) -> None:
    """A `.db` that is none goes in as it is, also with no bytes at all, and hinders nothing."""
    home = make_home(tmp_path / "home")
    (home / "ext").mkdir()
    (home / "ext/bolt.db").write_bytes(bolt := os.urandom(4096))
    (home / "x.db").touch()
    assert not backup(home, tmp_path / "b.tar.zst").is_partial
    found = members(tmp_path / "b.tar.zst")
    assert found["home/ext/bolt.db"] == bolt
    assert found["home/x.db"] == b""


def test_a_damaged_database_goes_in_as_it_is(tmp_path: Path) -> None:
    """A database that SQLite can't read is kept for whoever can, with its WAL, and the backup is called partial."""
    home = make_home(tmp_path / "home")
    (home / "kanban.db").write_bytes(broken := b"SQLite format 3\0" + b"\x55" * 8000)
    (home / "kanban.db-wal").write_bytes(b"wal")
    report = backup(home, tmp_path / "b.tar.zst")
    assert report.is_partial
    assert set(report.unsound) == {"home/kanban.db"}
    found = members(tmp_path / "b.tar.zst")
    assert (found["home/kanban.db"], found["home/kanban.db-wal"]) == (broken, b"wal")
    result = restore(tmp_path / "b.tar.zst", tmp_path / "again")
    assert result.damaged == ["kanban.db"]
    assert result.is_partial
    assert (tmp_path / "again/kanban.db").read_bytes() == broken


def test_a_database_that_can_not_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that stays locked is named, and the backup says that it is partial."""
    home = make_home(tmp_path / "home")
    monkeypatch.setattr(databases, "BUSY_MS", 50)
    script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    script += "db.execute('CREATE TABLE t (x)'); db.execute('BEGIN EXCLUSIVE'); print('held', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script, str(home / "locked.sqlite")], text=True, **pipes) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        report = backup(home, tmp_path / "b.tar.zst")
        holder.communicate("\n")
    assert "locked" in omitted(report)["home/locked.sqlite"]
    assert report.is_partial


def test_an_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that can't be read is named with the reason; the rest is in, and the backup says that it is partial."""
    home = make_home(tmp_path / "home")
    real = os.open

    def refuse(path: object, *arguments: object, **more: object) -> int:
        if str(path).endswith("SOUL.md"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    report = backup(home, tmp_path / "b.tar.zst")
    assert omitted(report) == {"home/SOUL.md": "Permission denied"}
    assert report.is_partial


def test_a_home_that_changes(tmp_path: Path) -> None:
    """Files that are deleted, replaced and grown while the home is read hurt nothing; what is gone is just not in."""
    home = make_home(tmp_path / "home")
    for number in range(300):
        (home / f"memories/{number}.md").write_text("x" * 1000)
    stop = threading.Event()

    def change() -> None:
        number = 0
        while not stop.is_set():
            number = (number + 7) % 300
            path = home / f"memories/{number}.md"
            path.unlink(missing_ok=True)
            fresh = path.with_suffix(".tmp")
            fresh.write_text("y" * (number * 10 + 1))
            fresh.replace(path)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for number in range(3):
            backup(home, tmp_path / f"b{number}.tar.zst")
    finally:
        stop.set()
        thread.join()
    for number in range(3):
        for name, content in members(tmp_path / f"b{number}.tar.zst").items():
            if (
                name.startswith("home/memories/")
                and name.endswith(".md")
                and len(content) != 0
                and "MEMORY" not in name
            ):
                assert set(content) in ({ord("x")}, {ord("y")}), name


def test_a_file_that_never_stops_changing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is different each time it is read is told, since what is in may be half of a change."""
    home = make_home(tmp_path / "home")
    monkeypatch.setattr(steady, "_read", lambda file: (file.read(), False))
    report = backup(home, tmp_path / "b.tar.zst")
    assert report.written.report.incomplete_count > 0
    assert report.is_partial


def test_the_archive_may_lie_in_the_home(tmp_path: Path) -> None:
    """A backup into the home holds neither itself nor its stage, nor the one before it."""
    home = make_home(tmp_path / "home")
    for name in ("one.tar.zst", "hermes-backup-two.tar.zst"):
        backup(home, home / name)
    found = members(home / "hermes-backup-two.tar.zst")
    assert not [name for name in found if "two" in name or "partial" in name]
    (home / "backups").mkdir()
    backup(home, home / "backups/three.tar.zst")
    assert not [name for name in members(home / "backups/three.tar.zst") if name.startswith("home/backups")]


def _back_up(home: Path, target: Path) -> None:
    backup(home, target)


def test_two_at_once(tmp_path: Path) -> None:
    """Backups at the same time under different names are whole; of two under the same name one is, one is refused."""
    home = make_home(tmp_path / "home")
    context = multiprocessing.get_context("spawn")
    targets = [tmp_path / name for name in ("a.tar.zst", "b.tar.zst", "c.tar.zst", "c.tar.zst")]
    processes = [context.Process(target=_back_up, args=(home, target)) for target in targets]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes[:2]] == [0, 0]
    assert 0 in [process.exitcode for process in processes[2:]]
    whole = [members(target) for target in targets]
    assert {len(found) for found in whole} == {len(whole[0])}
    assert not list(tmp_path.glob(".*"))


def test_an_archive_is_never_replaced(tmp_path: Path) -> None:
    """A name that is taken is refused before any work."""
    home = make_home(tmp_path / "home")
    (tmp_path / "b.tar.zst").write_text("mine")
    with pytest.raises(Conflict):
        backup(home, tmp_path / "b.tar.zst")
    assert (tmp_path / "b.tar.zst").read_text() == "mine"


def test_no_home(tmp_path: Path) -> None:
    """A home that is not there is an error, not an empty backup."""
    with pytest.raises(InvalidValue):
        backup(tmp_path / "nowhere", tmp_path / "b.tar.zst")
    assert not list(tmp_path.iterdir())


def test_no_temporary_folder_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is staged in `$TMPDIR`, which may be tiny: only beside the archive."""
    home = make_home(tmp_path / "home")
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not-there"))
    backup(home, tmp_path / "b.tar.zst", Wanted(keep_indexes=True))


@pytest.mark.parametrize("size_kib", [8, 40, 80, 200, 300])
def test_a_full_disk(tmp_path: Path, size_kib: int) -> None:
    """When the disk is full at any point of a backup, it fails with that reason, and nothing is left."""
    home = make_home(tmp_path / "home")
    (home / "noise").write_bytes(os.urandom(400 * 1024))
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "none", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a small file system can't be mounted here")
    try:
        with pytest.raises((DiskFull, OSError)) as caught:
            backup(home, disk / "b.tar.zst")
        assert isinstance(caught.value, DiskFull) or getattr(caught.value, "errno", 0) == 28
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_what_a_killed_backup_leaves_is_cleared(tmp_path: Path) -> None:
    """The next backup of that name deletes the stage of one that was killed, and not the stage of one that lives."""
    home = make_home(tmp_path / "home")
    left = tmp_path / ".b.tar.zst.dead.partial"
    left.mkdir()
    (left / "lock").touch()
    (left / "0.db").write_text("half a copy")
    with staging(tmp_path, "b.tar.zst") as alive:
        (alive / "0.db").write_text("another's copy")
        backup(home, tmp_path / "b.tar.zst")
        assert alive.exists()
    assert not left.exists()


class TestExternal:
    def test_what_providers_keep_elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Paths in the user's home folder go in under a root of their own, others are refused with the reason."""
        user = tmp_path / "user"
        home = make_home(user / ".hermes")
        (user / ".prov").mkdir()
        (user / ".prov/cfg.json").write_text("{}")
        (user / ".ssh").mkdir()
        (user / ".ssh/id").write_text("key")
        monkeypatch.setenv("HOME", str(user))
        external = (user / ".prov/cfg.json", tmp_path / "etc", user / ".ssh", user, home / "SOUL.md")
        (tmp_path / "etc").touch()
        report = backup(home, tmp_path / "b.tar.zst", Wanted(external=external))
        found = members(tmp_path / "b.tar.zst")
        assert {name for name in found if name.startswith("external")} == {
            "external",
            "external/.prov",
            "external/.prov/cfg.json",
        }
        refused = {item["path"] for item in report.written.report.facts["external_refused"]}
        assert refused == {str(tmp_path / "etc"), str(user / ".ssh"), str(user)}

    def test_known_providers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The provider that `config.yaml` names is known to keep files elsewhere; a database of it is copied as one."""
        user = tmp_path / "user"
        home = make_home(user / ".hermes")
        monkeypatch.setenv("HOME", str(user))
        (home / "profiles/work/config.yaml").write_text("memory:\n  provider: honcho\n")
        (user / ".honcho").mkdir()
        db = sqlite3.connect(user / ".honcho/facts")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t (x)")
        backup(home, tmp_path / "b.tar.zst")
        db.close()
        assert len(members(tmp_path / "b.tar.zst")["external/.honcho/facts"]) >= 4096


class TestSecrets:
    PLANTED = (".env", ".env.bak-2026", ".env.local", "auth.json", "auth.json.bak", "google_token.json")
    MORE = (".anthropic_oauth.json", "mcp-tokens/a.json", "pairing/b", "profiles/work/.env")

    def plant(self, home: Path) -> None:
        for number, name in enumerate((*self.PLANTED, *self.MORE)):
            (home / name).parent.mkdir(exist_ok=True)
            token = f"planted-{number}-0123456789abcdef"
            text = f'{{"access": "{token}"}}' if name.endswith((".json", ".bak", "b")) else f"KEY_{number}={token}\n"
            (home / name).write_text(text)
        (home / ".env.example").write_text("KEY=\n")
        (home / "config.yaml").write_text(
            "# Ann's; keep this\nmodel:\n  api_key: 'planted-99-x'   # mine\n  max_tokens: 4096\n"
            '  key_env: ${OPENAI_API_KEY}\nproviders:\n- name: b\n  apiKey: "planted-98-x"\n'
        )

    @pytest.mark.parametrize("policy", [Policy.EXCLUDE, Policy.REDACT])
    def test_none_gets_out(self, tmp_path: Path, policy: Policy) -> None:
        """Without secrets no planted token is in the archive, what was taken out is listed, and comments stay."""
        home = make_home(tmp_path / "home")
        self.plant(home)
        report = backup(home, tmp_path / "b.tar.zst", Wanted(secrets=policy))
        found = members(tmp_path / "b.tar.zst")
        assert not [name for name, content in found.items() if b"planted" in content]
        config = found["home/config.yaml"].decode()
        assert config.startswith("# Ann's; keep this\nmodel:\n  api_key: '[redacted]'   # mine\n  max_tokens: 4096\n")
        assert "key_env: ${OPENAI_API_KEY}" in config
        assert found["home/.env.example"] == b"KEY=\n"
        said = report.manifest.facts["secrets"]
        assert said["redacted"]["home/config.yaml"] == ["model.api_key", "providers.0.apiKey"]
        listed = {*said["left_out"], *said["redacted"]}
        assert {f"home/{name}" for name in (*self.PLANTED, *self.MORE)} <= listed
        assert ("home/.env" in found) is (policy is Policy.REDACT)
        result = restore(tmp_path / "b.tar.zst", tmp_path / "again")
        assert "model.api_key" in result.secrets["home/config.yaml"]

    def test_included_by_default(self, tmp_path: Path) -> None:
        """Without a policy everything is in, as it is."""
        home = make_home(tmp_path / "home")
        self.plant(home)
        backup(home, tmp_path / "b.tar.zst")
        found = members(tmp_path / "b.tar.zst")
        assert found["home/config.yaml"] == (home / "config.yaml").read_bytes()
        assert b"planted" in found["home/mcp-tokens/a.json"]


def test_quick_takes_state_it_does_not_know(tmp_path: Path) -> None:
    """A quick backup holds the databases, settings, memories and new files of all profiles; no skills and no logs."""
    home = make_home(tmp_path / "home")
    (home / "new_state.json").write_text("{}")
    (home / "logs").mkdir()
    (home / "logs/a.log").write_text("x")
    backup(home, tmp_path / "b.tar.zst", Wanted(quick=True))
    found = members(tmp_path / "b.tar.zst")
    wanted = ("state.db", "hermes_state.db", "config.yaml", "memories/MEMORY.md", "SOUL.md", "profiles/work/state.db")
    assert {f"home/{name}" for name in (*wanted, "new_state.json")} <= set(found)
    assert not [name for name in found if name.startswith(("home/skills", "home/logs"))]


def test_what_was_left_out_is_in_the_manifest(tmp_path: Path) -> None:
    """Every path that a rule leaves out stands in the manifest with its reason and size."""
    home = make_home(tmp_path / "home")
    (home / ".venv").mkdir()
    (home / ".venv/big").write_bytes(bytes(1000))
    report = backup(home, tmp_path / "b.tar.zst", Wanted(exclude=("*.sh",)))
    listed = {item["path"]: (item["reason"], item["bytes"]) for item in report.manifest.facts["left_out"]}
    assert listed["home/.venv"] == ("virtual environment", 1000)
    assert listed["home/skills/deploy/run.sh"][0] == "rule '*.sh'"


def test_inside_an_agent(tmp_path: Path) -> None:
    """A backup that runs in the process which has a database open takes none of that process's locks away."""
    home = make_home(tmp_path / "home")
    db = sqlite3.connect(home / "state.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO messages (session_id, role, content) VALUES ('s1', 'user', 'unfinished')")
    backup(home, tmp_path / "b.tar.zst")
    script = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], timeout=0)\ndb.execute('BEGIN IMMEDIATE')"
    ran = subprocess.run([sys.executable, "-c", script, str(home / "state.db")], capture_output=True, text=True)
    assert "locked" in ran.stderr
    db.execute("ROLLBACK")
    db.close()
    restore(tmp_path / "b.tar.zst", tmp_path / "again", Asked())
    other = sqlite3.connect(tmp_path / "again/state.db")
    assert other.execute("SELECT count(*) FROM messages WHERE content = 'unfinished'").fetchone() == (0,)
    other.close()


def test_progress(tmp_path: Path) -> None:
    """Progress never runs back, and ends at its total."""
    seen = []
    backup(
        make_home(tmp_path / "home"), tmp_path / "b.tar.zst", progress=lambda step: seen.append((step.done, step.total))
    )
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] >= seen[-1][1] * 0.9


def test_errors_are_ours(tmp_path: Path) -> None:
    """A rule file that can't be read ends the backup: to guess what a person wants left out would be worse."""
    home = make_home(tmp_path / "home")
    (home / "backup-rules").write_bytes(b"\xff\xfe")
    with pytest.raises(HermesStateError):
        backup(home, tmp_path / "b.tar.zst")


def test_empty_locks_are_not_named(tmp_path: Path) -> None:
    """What every running agent leaves in its home is no news; a lock that holds something is named."""
    home = tmp_path / ".hermes"
    home.mkdir()
    (home / "config.yaml").write_text("model: {}\n")
    (home / "auth.lock").touch()
    (home / "gateway.lock").write_text("4711")
    report = backup(home, tmp_path / "b.tar.zst")
    assert [item["path"] for item in report.manifest.facts["left_out"]] == ["home/gateway.lock"]
    assert report.manifest.facts["left_out_count"] == 1
