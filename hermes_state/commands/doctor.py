"""`doctor`: what is wrong with a home and its store, and the command that mends each."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_state.commands.command import command
from hermes_state.commands.invocation import HAS_FINDINGS
from hermes_state.commands.table import bold_in, paint
from hermes_state.commands.wording import count, size
from hermes_state.errors import HermesStateError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.store import SessionDB

OK, NOTE, FINDING = "ok", "note", "finding"
# A store can need its own size again: a migration's snapshot, a vacuum, an index built anew.
FREE_AT_LEAST_BYTES = 200_000_000
# The write-ahead log stays below 10 MB unless something holds an old snapshot open.
WAL_IS_LARGE_BYTES = 64_000_000
_MARKS = {OK: ("✓", "green"), NOTE: ("·", "blue"), FINDING: ("✗", "red")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: its stable name.
        status: `ok`; `note`: worth knowing; `finding`: to be mended.
        message: what was found.
        fix: what mends it, a command where one can; empty when nothing has to be done.
    """

    name: str
    status: str
    message: str
    fix: str = ""


@command(
    "doctor",
    examples=("hermes-state doctor", "hermes-state doctor --json | jq '.checks[] | select(.status != \"ok\")'"),
)
def doctor(invocation: Invocation) -> int | None:
    """Look for what is wrong, and say what mends it.

    Nothing is changed. The content of the store is proved by `db check`. Exits 1 when there is something to mend.
    """
    checks = list(_checks(invocation))
    findings = sum(check.status == FINDING for check in checks)
    if invocation.json:
        invocation.document({"ok": not findings, "checks": [_shape(check) for check in checks]})
    else:
        for check in checks:
            _say(invocation, check)
        invocation.note(count(findings, "finding") if findings else "nothing to mend")
    return HAS_FINDINGS if findings else None


def _shape(check: Check) -> dict[str, str]:
    return {"name": check.name, "status": check.status, "message": check.message, "fix": check.fix}


def _say(invocation: Invocation, check: Check) -> None:
    mark, color = _MARKS[check.status]
    invocation.say(f"{paint(mark, bold_in(color))} {check.message}")
    if check.fix:
        invocation.say(f"    {paint(check.fix, (('fg', 'cyan'),))}")


def _checks(invocation: Invocation) -> Iterator[Check]:
    yield _program()
    yield _sqlite()
    yield from _commands()
    if invocation.is_on_server:
        yield from _server(invocation)
        return
    path = invocation.store_path()
    if path.parent.is_dir():
        yield _modes("home_modes", path.parent, 0o700)
        yield _space(path)
    yield from _store(invocation, path)


def _program() -> Check:
    from hermes_state import __version__

    version = ".".join(map(str, sys.version_info[:3]))
    return Check(name="version", status=OK, message=f"hermes-state {__version__} on Python {version}")


def _sqlite() -> Check:
    from hermes_state.engine.driver import newest_driver

    driver = newest_driver()
    if driver.wal_reset_safe:
        return Check(name="sqlite", status=OK, message=driver.describe())
    message = driver.describe().partition(";")[0]
    return Check(name="sqlite", status=FINDING, message=message, fix="pip install --upgrade pysqlite3")


def _commands() -> Iterator[Check]:
    """Other packages' commands: those that can't be loaded."""
    from hermes_state.commands import registry

    for name, place in registry.others().items():
        try:
            registry.load(place)
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything; what it raised is the finding
            message = f"the command {name!r} of another package can't be loaded: {type(error).__name__}: {error}"
            yield Check(name="commands", status=FINDING, message=message)


def _modes(name: str, path: Path, wanted: int) -> Check:
    """Conversations are private: nobody but the owner may read them."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "nt" or not mode & 0o077:
        return Check(name=name, status=OK, message=f"{path} is private ({mode:04o})")
    return Check(
        name=name,
        status=FINDING,
        message=f"{path} can be read by others ({mode:04o})",
        fix=f"chmod {wanted:04o} {shlex.quote(str(path))}",
    )


def _space(path: Path) -> Check:
    free = shutil.disk_usage(path.parent).free
    held = path.stat().st_size if path.exists() else 0
    needed = max(2 * held, FREE_AT_LEAST_BYTES)
    if free >= needed:
        return Check(name="space", status=OK, message=f"{size(free)} free on the disk")
    return Check(name="space", status=FINDING, message=f"only {size(free)} free on the disk; {size(needed)} are wanted")


def _store(invocation: Invocation, path: Path) -> Iterator[Check]:
    from hermes_state.store import SessionDB

    if not path.exists():
        yield Check(name="store", status=NOTE, message=f"there is no store at {path} yet")
        yield from _neighbours(invocation, None)
        return
    yield _modes("store_modes", path, 0o600)
    yield _wal(path)
    try:
        with SessionDB.open(invocation.db, home=invocation.home, read_only=True) as db:
            yield Check(name="store", status=OK, message=f"{path} opens: {_conversations(db)}")
            yield from _journal(db)
            yield _index(db)
            yield from _neighbours(invocation, db)
    except HermesStateError as error:
        yield Check(name="store", status=FINDING, message=error.message, fix=error.hint)


def _conversations(db: SessionDB) -> str:
    """How many there are, archived ones too, as `db status` and `sessions stats` count them."""
    from hermes_state.listing import SessionFilter

    return count(db.sessions.count(SessionFilter(archived=None)), "conversation")


def _server(invocation: Invocation) -> Iterator[Check]:
    """The store on a server: whether it opens, and whether server, role and settings are what they should be."""
    from hermes_state.store import SessionDB

    try:
        with SessionDB.open(invocation.db, read_only=True) as db:
            from hermes_state.engine.postgres.server import examine

            yield Check(name="store", status=OK, message=f"{db.engine.shown} opens: {_conversations(db)}")
            with db.engine.read() as connection:
                for each in examine(connection):
                    status = OK if each.is_right else FINDING
                    yield Check(
                        name=each.name, status=status, message=each.what, fix="" if each.is_right else each.remedy
                    )
            yield _index(db)
    except HermesStateError as error:
        yield Check(name="store", status=FINDING, message=error.message, fix=error.hint)


def _index(db: SessionDB) -> Check:
    """Whether a search asks the index. Messages that are not in it yet are no fault: a search brings them in first."""
    if not db.index.is_available:
        message = "this SQLite has no FTS5: a search reads every message"
        return Check(name="index", status=FINDING, message=message, fix="pip install pysqlite3")
    mark = db.index.mark()
    if mark.segmentation is not None and (not mark.is_usable or mark.rebuild_from is not None):
        what = "is being built anew" if mark.is_usable else "was built by older rules"
        message = f"the index {what}: until it is done, searches read messages one by one"
        return Check(name="index", status=NOTE, message=message, fix="hermes-state db reindex")
    pending = db.index.pending()
    waiting = f"; the next search brings in {count(pending, 'message')}" if pending else ""
    return Check(name="index", status=OK, message=f"the index is sound to ask{waiting}")


def _wal(path: Path) -> Check:
    wal = path.with_name(f"{path.name}-wal")
    held = wal.stat().st_size if wal.exists() else 0
    if held < WAL_IS_LARGE_BYTES:
        return Check(name="wal", status=OK, message=f"the write-ahead log holds {size(held)}")
    return Check(
        name="wal",
        status=FINDING,
        message=f"the write-ahead log holds {size(held)}: some process keeps an old snapshot open",
        fix="hermes-state db optimize",
    )


def _journal(db: SessionDB) -> Iterator[Check]:
    """Whether SQLite could have its write-ahead log where the store lies; some network file systems can't."""
    from hermes_state.engine.upkeep import journal_mode

    with db.engine.read() as connection:
        mode = journal_mode(connection)
    if mode != "wal" and os.access(db.path.parent, os.W_OK):
        message = f"the journal mode is {mode}, not wal, so readers and writers wait for each other"
        yield Check(name="journal", status=FINDING, message=message, fix="keep the store on a disk of this machine")


def _neighbours(invocation: Invocation, db: SessionDB | None) -> Iterator[Check]:
    """A Hermes store in the home: never imported is a finding, news since the last import are a note."""
    from hermes_state.commands.neighbour import import_command, pending

    for each in pending(invocation, db):
        sessions = count(each.new_sessions, "session")
        yield Check(
            name="hermes_home",
            status=NOTE if each.imported_before else FINDING,
            message=f"{each.source.path} has {sessions if each.new_sessions else 'messages'} not brought in yet",
            fix=import_command(invocation),
        )
