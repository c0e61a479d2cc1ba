"""Restores: the home as it was, at this place, on this machine, or nothing at all."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import peer_database
import pytest
from homes import look, make_home, mode, rows

from hermes_state import SessionDB
from hermes_state.errors import (
    ArchiveDamaged,
    HermesStateError,
    HomeInUse,
    HomeNotEmpty,
    InvalidValue,
    NotFound,
    SchemaTooNew,
    StoreDamaged,
)
from hermes_state.portability.backup import Wanted, backup
from hermes_state.portability.interrupted import stages_of
from hermes_state.portability.restore import Asked, plan, restore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORCE = Asked(force=True)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a home about postgres."""
    folder = tmp_path_factory.mktemp("archive")
    make_home(folder / "ann/.hermes", "postgres")
    backup(folder / "ann/.hermes", folder / "b.tar.zst")
    return folder / "b.tar.zst"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home about redis."""
    return make_home(tmp_path / "bob/.hermes", "redis")


def replaced(home: Path) -> list[Path]:
    return sorted(path for path in home.parent.iterdir() if "replaced" in path.name)


class TestTarget:
    def test_twice_is_once(self, archive: Path, tmp_path: Path) -> None:
        """A second restore over the first gives the same tree, modes included."""
        target = tmp_path / "h"
        restore(archive, target)
        first = look(target), {path: mode(path) for path in target.rglob("*")}
        restore(archive, target, FORCE)
        assert (look(target), {path: mode(path) for path in target.rglob("*")}) == first

    def test_a_home_is_not_replaced_unasked(self, archive: Path, home: Path) -> None:
        """Without force a target that is not empty is refused, and nothing is changed."""
        before = look(home)
        with pytest.raises(HomeNotEmpty):
            restore(archive, home)
        assert look(home) == before
        assert [path.name for path in home.parent.iterdir()] == [".hermes"]

    def test_what_was_there_is_kept_beside(self, archive: Path, home: Path) -> None:
        """With force the home equals the archive; everything that was there is beside it."""
        before = look(home)
        (home / "mine.md").write_text("not in the archive")
        result = restore(archive, home, FORCE)
        assert not (home / "mine.md").exists()
        assert result.kept == replaced(home)[0]
        assert (result.kept / "mine.md").read_text() == "not in the archive"
        (result.kept / "mine.md").unlink()
        assert look(result.kept) == before

    def test_or_not_kept(self, archive: Path, home: Path) -> None:
        """When it is asked for, the replaced home is deleted once the new one is proven."""
        (home / "sealed").mkdir()
        (home / "sealed/x").touch()
        (home / "sealed").chmod(0o500)
        assert restore(archive, home, Asked(force=True, keep=False)).kept is None
        assert replaced(home) == []
        assert [path.name for path in home.parent.iterdir()] == [".hermes"]

    def test_what_belongs_to_the_machine_stays(self, archive: Path, home: Path) -> None:
        """What no backup holds is in the new home where it was in the old: environments, caches, earlier backups."""
        for name in ("backups/old.zip", "skills/deploy/.venv/x", "cache/y", "gone/.venv/z", "skills/other/.venv/w"):
            path = home / name
            if path.parent.parent.is_symlink():
                path.parent.parent.unlink()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        restore(archive, home, FORCE)
        assert (home / "backups/old.zip").exists()
        assert (home / "skills/deploy/.venv/x").exists()
        assert (home / "cache/y").exists()
        assert not (home / "skills/other").exists()  # its folder is not in the archive, so it stays with the old home
        assert (replaced(home)[0] / "skills/other/.venv/w").exists()

    def test_the_home_may_be_a_link(self, archive: Path, home: Path, tmp_path: Path) -> None:
        """A home that is a link stays one; what it points to is restored."""
        (tmp_path / "link").symlink_to(home)
        restore(archive, tmp_path / "link", FORCE)
        assert (tmp_path / "link").readlink() == home
        assert (home / "SOUL.md").read_text() == "I am postgres.\n"

    def test_a_folder_that_is_no_home(self, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Force does not replace a folder with something else in it, nor the user's own home folder."""
        (tmp_path / "thesis.tex").write_text("years of work")
        with pytest.raises(HomeNotEmpty):
            restore(archive, tmp_path, FORCE)
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "memories").mkdir()
        with pytest.raises(InvalidValue):
            restore(archive, tmp_path, FORCE)
        assert (tmp_path / "thesis.tex").exists()
        (tmp_path / "file").touch()
        with pytest.raises(InvalidValue):
            restore(archive, tmp_path / "file", FORCE)

    def test_names_with_everything(self, archive: Path, tmp_path: Path) -> None:
        """A home at a path with every character that means something elsewhere is restored, backed up, and found."""
        target = tmp_path / "Héllo wörld #1?%41" / "深" / ".hermes"
        restore(archive, target)
        backup(target, tmp_path / "again.tar.zst")
        restore(tmp_path / "again.tar.zst", target, FORCE)
        assert rows(target / "hermes_state.db")["messages"]
        assert sorted(path.name for path in target.parent.iterdir())[0] == ".hermes"

    def test_a_mount_point(self, archive: Path, tmp_path: Path) -> None:
        """A home that is a file system of its own can't be renamed: it is restored part by part, within it."""
        target = tmp_path / "mounted"
        target.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "none", str(target)], capture_output=True).returncode:
            pytest.skip("nothing can be mounted here")
        try:
            restore(archive, target)
            before = look(target)
            (target / "mine.md").write_text("mine")
            (target / "state.db-wal").write_bytes(b"of another database")
            result = restore(archive, target, FORCE)
            assert result.kept is not None
            assert (result.kept / "mine.md").exists()
            shutil.rmtree(result.kept)
            assert look(target) == before
            assert not (target / "state.db-wal").exists()
            assert stages_of(target) == []
        finally:
            subprocess.run(["umount", str(target)], check=True)

    def test_leftover_wal(self, archive: Path, home: Path) -> None:
        """The WAL that a crashed agent left is never taken for the restored database's."""
        db = sqlite3.connect(home / "state.db")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("UPDATE messages SET content = 'from the old wal'")
        db.commit()
        (home / "copy").write_bytes((home / "state.db-wal").read_bytes())
        db.close()
        shutil.move(home / "copy", home / "state.db-wal")
        for only in ((), ("sessions",)):
            restore(archive, home, Asked(force=True, only=only))
            db = sqlite3.connect(home / "state.db")
            assert db.execute("SELECT count(*) FROM messages WHERE content LIKE 'from the%'").fetchone() == (0,)
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            db.close()
            (home / "state.db-wal").write_bytes(b"x" * 100)


class TestModes:
    def test_tight(self, tmp_path: Path) -> None:
        """Nobody but the owner can read a restored home, under any umask; what could be run still can."""
        home = make_home(tmp_path / "a")
        for name in (".env", "auth.json", "profiles/work/.env", "state.db", "SOUL.md"):
            (home / name).touch()
            (home / name).chmod(0o666)
        (home / "skills/deploy/run.sh").chmod(0o4755)
        backup(home, tmp_path / "b.tar.zst")
        old = os.umask(0)
        try:
            restore(tmp_path / "b.tar.zst", tmp_path / "c")
        finally:
            os.umask(old)
        found = {str(path.relative_to(tmp_path / "c")): mode(path) for path in (tmp_path / "c").rglob("*")}
        assert mode(tmp_path / "c") == 0o700
        for name in (".env", "auth.json", "profiles/work/.env", "state.db", "hermes_state.db", "SOUL.md"):
            assert found[name] == 0o600, name
        assert found["skills/deploy/run.sh"] == 0o700
        links = {name for name in found if (tmp_path / "c" / name).is_symlink()}
        assert all(bits & 0o077 == 0 for name, bits in found.items() if name not in links)


class TestDamage:
    @pytest.mark.parametrize("part", [0.5, 0.99])
    def test_cut_off(self, archive: Path, home: Path, tmp_path: Path, part: float) -> None:
        """An archive that was cut off is refused before the home is touched."""
        broken = tmp_path / "broken.tar.zst"
        raw = archive.read_bytes()
        broken.write_bytes(raw[: int(len(raw) * part)])
        before = look(home)
        with pytest.raises(ArchiveDamaged):
            restore(broken, home, FORCE)
        assert look(home) == before
        assert stages_of(home) == []

    def test_any_flipped_byte(self, archive: Path, tmp_path: Path) -> None:
        """One byte flipped anywhere: nothing is restored."""
        raw = bytearray(archive.read_bytes())
        for at in range(0, len(raw), len(raw) // 25):
            raw[at] ^= 0x10
            (tmp_path / "broken.tar.zst").write_bytes(raw)
            with pytest.raises(HermesStateError):
                restore(tmp_path / "broken.tar.zst", tmp_path / "h")
            assert not (tmp_path / "h").exists()
            raw[at] ^= 0x10

    def test_a_store_of_a_newer_version(self, home: Path, tmp_path: Path) -> None:
        """A store this version can't read ends the restore, and the home is as it was."""
        db = sqlite3.connect(home / "hermes_state.db")
        db.execute("UPDATE alembic_version SET version_num = '9999'")
        db.commit()
        db.close()
        backup(home, tmp_path / "b.tar.zst")
        with pytest.raises(SchemaTooNew, match=r"^hermes_state\.db in the archive has schema '9999'"):
            restore(tmp_path / "b.tar.zst", tmp_path / "h")
        assert not (tmp_path / "h").exists()

    def test_a_database_that_was_sound(self, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A database that is damaged although the archive calls it sound ends the restore."""
        from hermes_state.portability import prepare

        backup(home, tmp_path / "b.tar.zst")
        monkeypatch.setattr(prepare, "check", lambda connection: "row 7 missing from index")
        with pytest.raises(StoreDamaged):
            restore(tmp_path / "b.tar.zst", home, FORCE)


_HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
print(db.execute("SELECT count(*) FROM messages").fetchone()[0], flush=True)
for line in sys.stdin:
    db.execute("INSERT INTO messages (session_id, role, content) VALUES ('s1', 'user', ?)", (line.strip(),))
    print("written", flush=True)
"""


@pytest.fixture
def holder(home: Path) -> Iterator[subprocess.Popen[str]]:
    """An agent that has its state.db open."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    arguments = [sys.executable, "-c", _HOLDER, str(home / "state.db")]
    with subprocess.Popen(arguments, text=True, **pipes) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        assert process.stdin is not None
        process.stdin.close()


class TestLive:
    def test_refused(self, archive: Path, home: Path, holder: subprocess.Popen[str]) -> None:
        """While a process has the home open a restore is refused; it names the process, and nothing is changed."""
        before = look(home)
        with pytest.raises(HomeInUse) as caught:
            restore(archive, home, FORCE)
        assert caught.value.pids == (holder.pid,)
        assert str(holder.pid) in caught.value.message
        assert look(home) == before

    def test_filled_in_place(self, archive: Path, home: Path, holder: subprocess.Popen[str]) -> None:
        """When told, the open database is filled in place: what its process writes afterwards is seen by all."""
        inode = (home / "state.db").stat().st_ino
        result = restore(archive, home, Asked(force=True, live=True))
        assert result.filled == ["state.db"]
        assert (home / "state.db").stat().st_ino == inode
        assert (home / "SOUL.md").read_text() == "I am postgres.\n"
        assert holder.stdin is not None
        assert holder.stdout is not None
        print("after", file=holder.stdin, flush=True)
        assert holder.stdout.readline() == "written\n"
        db = sqlite3.connect(home / "state.db")
        assert db.execute("SELECT count(*) FROM messages WHERE content = 'after'").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM messages").fetchone() == (21,)
        assert db.execute("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'after'").fetchone() == (1,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()
        assert result.kept is not None
        assert rows(result.kept / "state.db")["sessions"]

    def test_where_the_system_does_not_say_who(
        self, archive: Path, home: Path, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a list of open files SQLite's own locks tell that somebody has a database open."""
        monkeypatch.setattr("hermes_state.portability.restore.holders", lambda folder: [])
        monkeypatch.setattr("hermes_state.portability.restore.can_tell", lambda: False)
        before = look(home)
        with pytest.raises(HomeInUse):
            restore(archive, home, FORCE)
        assert look(home) == before

    def test_our_own_handle(self, archive: Path, home: Path) -> None:
        """In the process that has the home open a restore is refused even when told: it must close it first."""
        with SessionDB.open(home=home), pytest.raises(HomeInUse) as caught:
            restore(archive, home, Asked(force=True, live=True))
        assert caught.value.pids == (os.getpid(),)


class TestOnly:
    @pytest.mark.parametrize(
        ("only", "changed", "same"),
        [
            ("skills", "skills/deploy/SKILL.md", "SOUL.md"),
            ("memory", "memories/MEMORY.md", "SOUL.md"),
            ("config", "SOUL.md", "memories/MEMORY.md"),
            ("sessions", "hermes_state.db", "SOUL.md"),
            ("memories/MEMORY.md", "memories/MEMORY.md", "config.yaml"),
            ("profiles/work", "profiles/work/.env", "SOUL.md"),
        ],
    )
    def test_parts(self, archive: Path, home: Path, only: str, changed: str, same: str) -> None:
        """Only what was asked for changes."""
        if not changed.endswith(".db"):
            (home / changed).write_text("changed since")
        before = look(home)
        result = restore(archive, home, Asked(force=True, only=(only,)))
        after = look(home)
        assert after[changed] != before[changed]
        assert after[same] == before[same]
        assert result.kept is not None
        assert (result.kept / changed).exists()

    def test_into_nothing(self, archive: Path, tmp_path: Path) -> None:
        """A part is restored where there is no home yet, and nothing else."""
        restore(archive, tmp_path / "h", Asked(only=("skills/deploy",)))
        assert set(look(tmp_path / "h")) == {
            "skills",
            "skills/deploy",
            "skills/deploy/SKILL.md",
            "skills/deploy/run.sh",
        }

    def test_what_is_not_there(self, archive: Path, home: Path) -> None:
        """Asking for what the archive does not have is an error, and nothing is changed."""
        before = look(home)
        with pytest.raises(NotFound):
            restore(archive, home, Asked(force=True, only=("skills/none",)))
        with pytest.raises(InvalidValue):
            restore(archive, home, Asked(force=True, only=("../x",)))
        assert look(home) == before


class TestElsewhere:
    def test_paths_move_along(self, tmp_path: Path) -> None:
        """Paths into the home lead into it at its new place, in settings, stores and links; the rest is listed."""
        old, new = tmp_path / "ann/.hermes", tmp_path / "srv/h"
        home = make_home(old)
        (home / "config.yaml").write_text(
            f"terminal:\n  cwd: {old}/work   # here\n  docker_volumes: ['{old}/x:/x', \"/nowhere/y:/y\"]\n"
            f"prompt: look into {old}/notes\nhooks:\n  done: '{old}x/not-ours'\nother: /home/nobody-here/work\n"
        )
        (home / "cron").mkdir()
        (home / "cron/jobs.json").write_text(json.dumps({"jobs": [{"script": f"bash {old}/scripts/x.sh"}]}))
        (home / "abs").symlink_to(old / "SOUL.md")
        for name in ("gateway.pid", "a.lock", "processes.json"):
            (home / name).touch()
        db = sqlite3.connect(home / "state.db")
        db.execute("UPDATE sessions SET cwd = ? WHERE id = 's1'", (f"{old}/work",))
        db.execute("UPDATE sessions SET cwd = ? WHERE id = 's2'", (f"{old}x",))
        db.commit()
        db.close()
        backup(home, tmp_path / "b.tar.zst")
        result = restore(tmp_path / "b.tar.zst", new)
        assert (new / "config.yaml").read_text() == (
            f"terminal:\n  cwd: {new}/work   # here\n  docker_volumes: ['{new}/x:/x', \"/nowhere/y:/y\"]\n"
            f"prompt: look into {old}/notes\nhooks:\n  done: '{old}x/not-ours'\nother: /home/nobody-here/work\n"
        )
        assert f"{new}/scripts/x.sh" in (new / "cron/jobs.json").read_text()
        assert (new / "abs").readlink() == new / "SOUL.md"
        db = sqlite3.connect(new / "state.db")
        assert db.execute("SELECT cwd FROM sessions WHERE id IN ('s1', 's2') ORDER BY id").fetchall() == [
            (f"{new}/work",),
            (f"{old}x",),
        ]
        db.close()
        moved = {(item.path, item.key) for item in result.moved}
        assert moved >= {
            ("config.yaml", "terminal.cwd"),
            ("config.yaml", "terminal.docker_volumes.0"),
            ("cron/jobs.json", "jobs.0.script"),
            ("state.db", "sessions.cwd"),
            ("abs", "(link)"),
        }
        assert ("config.yaml", "other", "/home/nobody-here/work") in result.missing
        assert not [name for name in ("gateway.pid", "a.lock", "processes.json") if (new / name).exists()]

    def test_more_prefixes(self, tmp_path: Path) -> None:
        """Other folders of the old machine can be named with what they are here."""
        home = make_home(tmp_path / "a")
        (home / "config.yaml").write_text("terminal:\n  cwd: /home/ann/work\n")
        backup(home, tmp_path / "b.tar.zst")
        restore(tmp_path / "b.tar.zst", tmp_path / "c", Asked(prefixes={"/home/ann": "/home/bob"}))
        assert (tmp_path / "c/config.yaml").read_text() == "terminal:\n  cwd: /home/bob/work\n"

    def test_the_same_place(self, archive: Path, home: Path) -> None:
        """At the same place nothing is changed."""
        text = (home / "config.yaml").read_text()
        backup(home, home.parent / "b.tar.zst")
        result = restore(home.parent / "b.tar.zst", home, FORCE)
        assert result.moved == []
        assert (home / "config.yaml").read_text() == text


class TestExternal:
    @pytest.fixture
    def with_external(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """An archive with a provider's file; the user's home folder is another one afterwards."""
        user = tmp_path / "ann"
        home = make_home(user / ".hermes")
        (user / ".prov").mkdir()
        (user / ".prov/cfg.json").write_text("ann's")
        monkeypatch.setenv("HOME", str(user))
        backup(home, tmp_path / "b.tar.zst", Wanted(external=(user / ".prov",)))
        (tmp_path / "bob").mkdir()
        monkeypatch.setenv("HOME", str(tmp_path / "bob"))
        return tmp_path / "b.tar.zst"

    def test_restored_under_the_new_home_folder(self, with_external: Path, tmp_path: Path) -> None:
        """What was in the user's home folder comes into that of this user, readable by nobody else."""
        result = restore(with_external, tmp_path / "bob/.hermes")
        assert result.built.external == [".prov/cfg.json"]
        assert (tmp_path / "bob/.prov/cfg.json").read_text() == "ann's"
        assert mode(tmp_path / "bob/.prov/cfg.json") == 0o600

    def test_what_was_there_is_kept(self, with_external: Path, tmp_path: Path) -> None:
        """A file of this user that is replaced is kept beside the home."""
        (tmp_path / "bob/.prov").mkdir()
        (tmp_path / "bob/.prov/cfg.json").write_text("bob's")
        result = restore(with_external, tmp_path / "bob/.hermes")
        assert result.kept is not None
        assert (result.kept / ".prov/cfg.json").read_text() == "bob's"

    def test_refused(self, with_external: Path, tmp_path: Path) -> None:
        """They can be refused, and are listed then."""
        result = restore(with_external, tmp_path / "bob/.hermes", Asked(external=False))
        assert [path for path, _ in result.built.refused] == [".prov/cfg.json"]
        assert not (tmp_path / "bob/.prov").exists()

    def test_never_through_a_link(self, with_external: Path, tmp_path: Path) -> None:
        """Where a link stands in the place of the folder, nothing is written through it, and that is told."""
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "bob/.prov").symlink_to(tmp_path / "elsewhere")
        result = restore(with_external, tmp_path / "bob/.hermes")
        assert result.not_placed == [".prov/cfg.json"]
        assert result.is_partial
        assert not list((tmp_path / "elsewhere").iterdir())


class TestOfThePeer:
    def zipped(self, folder: Path, more: dict[str, str]) -> Path:
        peer_database.make(folder / "state.db")
        with zipfile.ZipFile(folder / "peer.zip", "w") as archive:
            archive.write(folder / "state.db", "state.db")
            archive.writestr("config.yaml", "# mine\nmodel: {}\n")
            for name, text in more.items():
                archive.writestr(name, text)
        return folder / "peer.zip"

    def test_a_zip_backup(self, tmp_path: Path) -> None:
        """The peer's backup is restored with tight modes, without runtime files, and told to be unproven."""
        more = {
            "gateway.pid": "1",
            "skills/x/SKILL.md": "x",
            "_external/.prov/cfg.json": "{}",
            "_external/.bashrc": "rm",
        }
        archive = self.zipped(tmp_path, more)
        result = restore(archive, tmp_path / "h")
        assert not result.source.is_proven
        assert result.source.notices
        assert mode(tmp_path / "h/state.db") == 0o600
        assert not (tmp_path / "h/gateway.pid").exists()
        assert peer_database.answers(tmp_path / "h/state.db", "redis")
        assert {path for path, _ in result.built.refused} == {".prov/cfg.json", ".bashrc"}

    def test_external_of_a_zip_when_asked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Files for the user's home folder come out of a foreign archive only when asked for, shell files never."""
        monkeypatch.setenv("HOME", str(tmp_path / "user"))
        (tmp_path / "user").mkdir()
        archive = self.zipped(tmp_path, {"_external/.prov/cfg.json": "{}", "_external/.bashrc": "rm"})
        restore(archive, tmp_path / "user/.hermes", Asked(external=True))
        assert (tmp_path / "user/.prov/cfg.json").exists()
        assert not (tmp_path / "user/.bashrc").exists()

    @pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "a/../../b", "..\\x"])
    def test_names_that_lead_out(self, tmp_path: Path, name: str) -> None:
        """A name that leads out ends the restore; nothing is written, inside or out."""
        archive = self.zipped(tmp_path, {name: "x"})
        with pytest.raises(HermesStateError):
            restore(archive, tmp_path / "deep/er/h")
        assert not (tmp_path / "deep/er/h").exists()
        assert not list(tmp_path.rglob("outside.txt"))

    def test_a_profile(self, tmp_path: Path) -> None:
        """The export of a profile becomes a home; the WAL that it carries belongs to its database."""
        profile = tmp_path / "work"
        profile.mkdir()
        peer_database.make(profile / "state.db")
        (profile / "config.yaml").write_text("model: {}\n")
        with tarfile.open(tmp_path / "work.tar.gz", "w:gz") as archive:
            archive.add(profile, "work")
        restore(tmp_path / "work.tar.gz", tmp_path / "home/profiles/work")
        assert peer_database.answers(tmp_path / "home/profiles/work/state.db", "redis")


class TestPlan:
    def test_nothing_is_changed(self, archive: Path, home: Path) -> None:
        """A plan says what would come and go, proves the archive, and changes nothing."""
        before = look(home)
        result = plan(archive, home, FORCE)
        assert result.built.files > 5
        assert "SOUL.md" in result.replaced
        assert {(item.path, item.key) for item in result.moved} == {("config.yaml", "terminal.cwd")}
        assert look(home) == before
        assert [path.name for path in home.parent.iterdir()] == [".hermes"]

    def test_a_damaged_archive_has_none(self, archive: Path, home: Path, tmp_path: Path) -> None:
        """There is no plan for an archive that is not sound."""
        (tmp_path / "x").write_bytes(archive.read_bytes()[:-10])
        with pytest.raises(ArchiveDamaged):
            plan(tmp_path / "x", home)


@pytest.mark.parametrize("size_kib", [16, 100, 200, 300, 400, 480])
def test_a_full_disk(archive: Path, tmp_path: Path, size_kib: int) -> None:
    """When the disk is full at any point, the old home is there as it was and the restore says why."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_kib + 16}k", "none", str(disk)]).returncode:
        pytest.skip("a small file system can't be mounted here")
    try:
        (disk / "parent/.hermes").mkdir(parents=True)
        (disk / "parent/.hermes/SOUL.md").write_text("old")
        try:
            restore(archive, disk / "parent/.hermes", FORCE)
        except (HermesStateError, OSError) as error:
            assert "space" in str(error)  # noqa: PT017  both ends are right, halves are not
            assert look(disk / "parent/.hermes") == {"SOUL.md": b"old"}
            assert [path.name for path in (disk / "parent").iterdir()] == [".hermes"]
        else:
            assert (disk / "parent/.hermes/SOUL.md").read_text() == "I am postgres.\n"
    finally:
        subprocess.run(["umount", str(disk)], check=True)
