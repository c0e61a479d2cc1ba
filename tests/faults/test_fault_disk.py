"""Disks that are full, folders that can't be written, paths that are odd."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.check import check
from hermes_state.engine.driver import newest_driver
from hermes_state.errors import DiskFull, HandleUnusable, HermesStateError, ReadOnlyStore, StoreUnavailable
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOBODY = 65534


def fill_until_full(db: SessionDB, session: str) -> int:
    """Append 10 kB messages until there is no room; how many went in."""
    text = os.urandom(5_000).hex()
    stored = 0
    with pytest.raises(DiskFull) as told:  # noqa: PT012  which of them is refused is what we want to know
        for _ in range(10_000):
            db.messages.append(session, role="user", content=f"{stored} {text}")
            stored += 1
    assert told.value.retryable
    return stored


def limit_pages(db: SessionDB, count: int | None) -> None:
    """Let the database grow by so many pages and no more; None: without end."""
    with db.engine.write() as connection:
        used = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={2**31 if count is None else used + count}")


def test_a_full_database_is_told_and_nothing_is_lost(db: SessionDB) -> None:
    """B031: typed error, earlier rows intact, and with room again the same handle goes on."""
    db.sessions.create("s", source="cli")
    limit_pages(db, 40)
    stored = fill_until_full(db, "s")
    assert stored > 3
    for write in (
        lambda: db.messages.append_many("s", [{"role": "user", "content": os.urandom(200_000).hex()}]),
        lambda: db.sessions.create("t", source="cli", system_prompt=os.urandom(200_000).hex()),
    ):
        with pytest.raises(DiskFull):
            write()
    assert [m.position for m in db.messages.list("s")] == list(range(stored))
    assert db.sessions.find("t") is None
    limit_pages(db, None)
    assert db.messages.append("s", role="user", content="room again").position == stored
    assert check(db.engine, full=True).is_sound


@pytest.mark.parametrize(
    "go_on",
    [
        lambda db: db.messages.append("s", role="user", content="third"),
        lambda db: db.messages.append_many("s", [{"role": "user", "content": "third"}]),
    ],
    ids=["append", "append_many"],
)
def test_a_full_disk_inside_a_transaction_undoes_all_of_it(db: SessionDB, go_on: Callable[[SessionDB], object]) -> None:
    """Also when somebody catches the error inside the block: a half is never committed."""
    db.sessions.create("s", source="cli")
    limit_pages(db, 20)
    huge = os.urandom(300_000).hex()

    def swallow() -> None:
        with db.engine.write():
            db.messages.append("s", role="user", content="first")
            with pytest.raises(DiskFull):
                db.messages.append_many("s", [{"role": "user", "content": huge}])
            go_on(db)

    try:
        swallow()
        expected = ["first", "third"]  # SQLite undid the part only
    except HermesStateError:
        expected = []  # SQLite undid the whole transaction
    assert [m.content for m in db.messages.list("s")] == expected
    limit_pages(db, None)
    db.messages.append("s", role="user", content="on")
    assert check(db.engine, full=True).is_sound


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB, where the machine lets us mount one; else the test does nothing but say so."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        yield folder / "not mounted"
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_file_system_is_told_and_nothing_is_lost(small_disk: Path) -> None:
    """B031: on a real 3 MB disk, with other files in the way; after they are gone the same handle goes on."""
    if not small_disk.is_dir():
        return  # nobody may mount here; the test above stands for it
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_000_000)
    with SessionDB.open(small_disk / "s.db") as db:
        db.sessions.create("s", source="cli")
        stored = fill_until_full(db, "s")
        assert stored > 20
        assert db.messages.count("s") == stored
        with pytest.raises(DiskFull):
            db.engine.copy_to(small_disk / "copy.db")
        assert not [p.name for p in small_disk.iterdir() if "copy" in p.name]
        with pytest.raises(DiskFull):
            db.maintenance.vacuum()
        ballast.unlink()
        assert db.messages.append("s", role="user", content="room again").position == stored
        assert check(db.engine).is_sound
    with SessionDB.open(small_disk / "s.db", read_only=True) as db:
        assert db.messages.count("s") == stored + 1


def test_opening_on_a_full_file_system_is_told(small_disk: Path) -> None:
    """A store can't be made there; the error is about the disk, and later it works."""
    if not small_disk.is_dir():
        return  # nobody may mount here
    ballast = small_disk / "ballast"

    def fill() -> None:
        with ballast.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass

    with pytest.raises(OSError, match="No space"):
        fill()
    with pytest.raises((DiskFull, StoreUnavailable)):
        SessionDB.open(small_disk / "s.db")
    ballast.unlink()
    with SessionDB.open(small_disk / "s.db") as db:
        db.sessions.create("s", source="cli")


def as_nobody(path: Path, code: str) -> str:
    """What a process without any rights says after `code` with `path` as its argument."""
    script = (
        "import os, sys; from hermes_state.store import SessionDB; from hermes_state.errors import HermesStateError\n"
        "import hermes_state.check, hermes_state.search, sqlalchemy.dialects.sqlite\n"
        f"if os.geteuid() == 0: os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        f"try:\n    {code}\n"
        "except HermesStateError as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that every user can walk into; pytest's own are closed to others, and closed again by each run."""
    with tempfile.TemporaryDirectory(prefix="hermes-state-shared-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def shared(shared_folder: Path) -> Iterator[SessionDB]:
    """An open store with one message, in a folder for all."""
    with SessionDB.open(shared_folder / "s.db") as db:
        db.sessions.create("s", source="cli")
        db.messages.append("s", role="user", content="x")
        yield db


def test_a_file_that_may_not_be_written_is_read(shared: SessionDB) -> None:
    """Reading works, writing is a typed error that says what to look at."""
    for suffix in ("", "-wal", "-shm"):
        shared.path.with_name(f"{shared.path.name}{suffix}").chmod(0o644)
    read = "db = SessionDB.open(sys.argv[1], read_only=True); print(db.messages.count())"
    assert as_nobody(shared.path, read) == "1"
    write = "db = SessionDB.open(sys.argv[1]); db.sessions.create(source='cli')"
    assert as_nobody(shared.path, write).split()[0] in ("ReadOnlyStore", "StoreUnavailable")
    assert shared.sessions.count() == 1


def test_a_file_that_may_not_be_read_is_told(shared: SessionDB) -> None:
    """Somebody else's store, or one in a closed folder: the error is about the file, on both ways to open it."""
    for mode in (0o755, 0o700):
        shared.path.parent.chmod(mode)
        for how in ("", ", read_only=True"):
            assert as_nobody(shared.path, f"SessionDB.open(sys.argv[1]{how})").startswith("StoreUnavailable")


def test_a_folder_that_may_not_be_written_is_told(shared: SessionDB) -> None:
    """A store can't be made there, and a closed one in it can still be read."""
    shared.close()
    shared.path.chmod(0o644)
    shared.path.parent.chmod(0o555)
    assert as_nobody(shared.path.with_name("n.db"), "SessionDB.open(sys.argv[1])").startswith("StoreUnavailable")
    assert as_nobody(shared.path, "print(SessionDB.open(sys.argv[1], read_only=True).sessions.count())") == "1"


def test_a_frozen_store_that_is_written_after_all_is_not_read_on(
    shared: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner came back: what was read as unchanging is refused, and opened anew it is read as any other."""
    shared.close()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with SessionDB.open(shared.path, read_only=True) as reader:
        assert reader.messages.count() == 1
        with SessionDB.open(shared.path) as owner:
            owner.messages.append("s", role="user", content="y")
            with pytest.raises(HandleUnusable, match="is used now"):
                reader.messages.count()
            with SessionDB.open(shared.path, read_only=True) as anew:
                assert anew.messages.count() == 2


@pytest.mark.parametrize("name", ["a#b?c%20 d&e=f.db", "日本 😀.db", "-dash.db", "a'b\"c.db", "x;y.db", "[glob]*?.db"])
def test_odd_paths_are_just_paths(tmp_path: Path, name: str) -> None:
    """No character of a path is taken for a part of a URI, an option or a pattern, and no other file is made."""
    path = tmp_path / "odd #?% folder" / name
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli")
        assert db.maintenance.status().copies == ()
    with SessionDB.open(path, read_only=True) as db:
        assert db.sessions.count() == 1
    assert {p.name for p in path.parent.iterdir()} <= {name, f"{name}-wal", f"{name}-shm", f"{name}.lock"}
    assert [p.name for p in tmp_path.iterdir()] == ["odd #?% folder"]


def test_new_files_are_for_their_owner_only(tmp_path: Path) -> None:
    """Whatever the umask is: 0600 for the store and what SQLite puts beside it, 0700 for a home that was made."""
    before = os.umask(0o022)
    try:
        with SessionDB.open(tmp_path / "home" / "s.db") as db:
            db.sessions.create("s", source="cli")
            modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "home").iterdir()}
    finally:
        os.umask(before)
    assert set(modes) >= {"s.db", "s.db-wal", "s.db-shm"}
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_file_is_told(tmp_path: Path, read_only: bool) -> None:
    """A folder, or a missing file to be read: typed, with the path."""
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(StoreUnavailable, match=r"folder\.db"):
        SessionDB.open(tmp_path / "folder.db", read_only=read_only)
    if read_only:
        with pytest.raises(StoreUnavailable, match=r"nothing\.db"):
            SessionDB.open(tmp_path / "nothing.db", read_only=True)
        assert not (tmp_path / "nothing.db").exists()


def test_a_path_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    """A dangling link, a link to itself, a file where the home should be: it can't be made, and nothing was removed."""
    (tmp_path / "dangling.db").symlink_to(tmp_path / "gone" / "s.db")
    (tmp_path / "loop.db").symlink_to("loop.db")
    (tmp_path / "file").touch()
    for path in (tmp_path / "dangling.db", tmp_path / "loop.db", tmp_path / "file" / "s.db"):
        with pytest.raises(StoreUnavailable, match="can't be created"):
            SessionDB.open(path)


def test_a_read_only_handle_says_so(db: SessionDB) -> None:
    """The error of a write names the store, not a line of SQL."""
    with SessionDB.open(db.path, read_only=True) as reader, pytest.raises(ReadOnlyStore, match="read-only"):
        reader.sessions.create(source="cli")


def test_a_failing_write_leaves_the_handle_usable(tmp_path: Path) -> None:
    """An I/O error of the system (here: a file size limit) is typed; once it is over, the same handle writes again."""
    code = """
import os, resource, sys
from hermes_state.check import check
from hermes_state.engine.driver import newest_driver
from hermes_state.errors import DiskFull, StoreUnavailable
from hermes_state.store import SessionDB
db = SessionDB.open(sys.argv[1])
db.sessions.create("s", source="cli")
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
stored, text = 0, os.urandom(5000).hex()
try:
    while stored < 1000:
        db.messages.append("s", role="user", content=text); stored += 1
except (StoreUnavailable, DiskFull):
    try:
        with db.engine.write():
            db.messages.append_many("s", [{"role": "user", "content": text}] * 50)
    except (StoreUnavailable, DiskFull):
        print("refused")
assert db.messages.count("s") == stored
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
db.messages.append("s", role="user", content="on")
with db.engine.write():
    db.messages.append("s", role="user", content="and on")
print(db.messages.count("s") - stored, check(db.engine, full=True).is_sound)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "s.db")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["refused", "2 True"]


def test_a_file_system_that_passes_no_locks_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B146: as on NFS. Nobody holds a lock, so it is not waited for one, and the place is named as what is wrong."""
    module = newest_driver().module

    class OnNfs(module.Connection):
        def execute(self, statement: str, *parameters: object) -> Any:
            if statement == "PRAGMA journal_mode=WAL":
                raise module.OperationalError("locking protocol")
            return super().execute(statement, *parameters)

    connect = module.connect
    monkeypatch.setattr(module, "connect", lambda *given, **named: connect(*given, **named | {"factory": OnNfs}))
    with pytest.raises(StoreUnavailable, match="file system does not pass on the locks") as told:
        SessionDB.open(tmp_path / "store.db")
    assert "disk of this machine" in told.value.hint
