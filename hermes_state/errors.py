"""Every error the store raises, in one tree.

    HermesStateError                      3
    ├── InvalidValue                      2   the caller's argument is wrong
    ├── NotFound                          4   no such session or message
    │   ├── SessionNotFound
    │   └── MessageNotFound
    ├── Ambiguous                         5   a prefix or title names several sessions
    ├── Conflict                          6   it would break a rule of the store
    │   ├── TitleTaken
    │   ├── SessionExists
    │   ├── HomeNotEmpty
    │   └── StoreNotEmpty
    ├── SessionMoved                      7   the conversation goes on in another session
    ├── LeaseHeld                         8   another owner holds the lease
    ├── StoreBusy                         9   another process held the write lock too long
    ├── DiskFull                         10
    ├── StoreDamaged                     11   the database file is not sound
    ├── SchemaTooNew                     12   made by a newer version
    ├── SchemaOutdated                   13   opened read-only before its migration
    ├── MigrationFailed                  14
    ├── ReadOnlyStore                    15
    ├── SearchUnavailable                16   this SQLite has no FTS5
    ├── StoreUnavailable                 17   the file can't be opened, read or written
    ├── HandleUnusable                   18   closed, or inherited through fork
    ├── FormatError                      19   an import or export file is not what it should be
    ├── PartialSuccess                   20   some items were done, some were not
    ├── MissingExtra                     21   an optional dependency is not installed
    ├── ArchiveDamaged                   22   an archive is ours and not what was written
    ├── ArchiveForeign                   23   a file is no archive of ours
    ├── ArchiveUnsupported               24   an archive needs something this version does not know
    ├── WrongKey                         25   no key or passphrase given opens the archive
    └── HomeInUse                        26   a live process has the home open

Each class carries the exit code of the command line (`exit_code`), whether trying again can help
(`retryable`), and the next step for a person (`hint`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class HermesStateError(Exception):
    """The root: something the store could not do, said in words a person can act on."""

    exit_code: ClassVar[int] = 3
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def kind(self) -> str:
        """The stable name of the class in JSON, e.g. `session_not_found`."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class InvalidValue(HermesStateError):
    """An argument the store can't take; nothing was changed."""

    exit_code = 2


class NotFound(HermesStateError):
    """Nothing has that name."""

    exit_code = 4


class SessionNotFound(NotFound):
    """No session has that id, id prefix or title."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"no session has the id, id prefix or title {ref!r}",
            hint="`hermes-state sessions list` shows what there is",
        )
        self.ref = ref


class MessageNotFound(NotFound):
    """No message with that id in that session."""

    def __init__(self, message_id: int, session_id: str | None = None) -> None:
        where = f" in session {session_id}" if session_id else ""
        super().__init__(f"no message {message_id}{where}")
        self.message_id = message_id
        self.session_id = session_id


class Ambiguous(HermesStateError):
    """A reference fits several sessions; `candidates` holds their ids."""

    exit_code = 5

    def __init__(self, ref: str, candidates: Sequence[str]) -> None:
        shown = ", ".join(candidates[:5]) + (", …" if len(candidates) > 5 else "")
        super().__init__(f"{ref!r} fits {len(candidates)} sessions: {shown}", hint="give more of the id")
        self.ref = ref
        self.candidates = tuple(candidates)


class Conflict(HermesStateError):
    """The change would break a rule of the store; nothing was changed."""

    exit_code = 6


class TitleTaken(Conflict):
    """Another session has that title; `holder` is its id."""

    def __init__(self, title: str, *, holder: str, source: str, archived: bool) -> None:
        state = ", archived" if archived else ""
        super().__init__(
            f"the title {title!r} belongs to session {holder} ({source}{state})",
            hint="choose another title, or rename that session first",
        )
        self.title = title
        self.holder = holder


class SessionExists(Conflict):
    """The id belongs to another user's session."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"session {session_id} exists already and belongs to another user")
        self.session_id = session_id


class HomeNotEmpty(Conflict):
    """There is something where a home is to be restored; nothing was changed."""

    def __init__(self, home: str, *, hint: str) -> None:
        super().__init__(f"{home} is not empty; nothing was changed", hint=hint)
        self.home = home


class StoreNotEmpty(Conflict):
    """A store that was to be filled has content of its own; nothing was changed."""

    def __init__(self, store: str, *, hint: str) -> None:
        super().__init__(f"{store} is not empty; nothing was changed", hint=hint)
        self.store = store


class SessionMoved(HermesStateError):
    """The session was compressed and goes on in another one; write to `tip`."""

    exit_code = 7

    def __init__(self, session_id: str, tip: str) -> None:
        super().__init__(f"session {session_id} was compressed; the conversation goes on in {tip}", hint=f"use {tip}")
        self.session_id = session_id
        self.tip = tip


class LeaseHeld(HermesStateError):
    """Another owner holds the lease and it has not expired."""

    exit_code = 8
    retryable = True

    def __init__(self, name: str, owner: str) -> None:
        super().__init__(f"the lease {name!r} is held by {owner}", hint="try again when it is released or expires")
        self.name = name
        self.owner = owner


class StoreBusy(HermesStateError):
    """Another process kept the write lock for longer than the budget; nothing was written."""

    exit_code = 9
    retryable = True

    def __init__(self, path: str, *, waited_s: float, holder: str = "") -> None:
        by = holder or "another process"
        for_how_long = f"was locked by {by} for {waited_s:.1f} s" if waited_s else f"is in use by {by}"
        super().__init__(
            f"{path} {for_how_long}; nothing was written",
            hint="try again, or end the process that holds it",
        )
        self.path = path
        self.waited_s = waited_s
        self.holder = holder


class DiskFull(HermesStateError):
    """No space is left; what was committed before is safe and the same handle works once there is space."""

    exit_code = 10
    retryable = True


class StoreDamaged(HermesStateError):
    """The database file is not sound."""

    exit_code = 11


class SchemaTooNew(HermesStateError):
    """The store was written by a newer version of hermes-state."""

    exit_code = 12

    def __init__(self, path: str, *, found: str, known: str) -> None:
        super().__init__(
            f"{path} has schema {found!r}; this version of hermes-state knows up to {known!r}",
            hint="upgrade hermes-state; `hermes-state db status` and a backup still work",
        )
        self.found = found
        self.known = known


class SchemaOutdated(HermesStateError):
    """The store has an older schema and was opened read-only, so it can't be upgraded here."""

    exit_code = 13

    def __init__(self, path: str, *, found: str, known: str) -> None:
        super().__init__(
            f"{path} has schema {found!r} and needs {known!r}, but was opened read-only",
            hint="open it once for writing: `hermes-state db migrate`",
        )
        self.found = found
        self.known = known


class MigrationFailed(HermesStateError):
    """A migration did not go through; the store is as it was before."""

    exit_code = 14


class ReadOnlyStore(HermesStateError):
    """The store was opened read-only, or the file system is read-only."""

    exit_code = 15


class SearchUnavailable(HermesStateError):
    """Full-text search can't work here."""

    exit_code = 16


class StoreUnavailable(HermesStateError):
    """The file can't be opened, read or written."""

    exit_code = 17


class HandleUnusable(HermesStateError):
    """The handle was closed, or was inherited through fork; open a new one."""

    exit_code = 18


class FormatError(HermesStateError):
    """An input file is not what it should be; the message says where."""

    exit_code = 19


class PartialSuccess(HermesStateError):
    """Some items were done and some were not; the message counts both."""

    exit_code = 20


class MissingExtra(HermesStateError):
    """An optional dependency is not installed."""

    exit_code = 21

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency", hint=f"pip install 'hermes-state[{extra}]'")
        self.extra = extra


class ArchiveDamaged(HermesStateError):
    """An archive is ours and not as it was written; `member` is where, `code` the stable name of what is wrong."""

    exit_code = 22

    def __init__(self, message: str, *, code: str = "damaged", member: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint or "restore from another backup; `hermes-state verify` lists all findings")
        self.code = code
        self.member = member


class ArchiveForeign(HermesStateError):
    """A file is no archive of ours; `what` says what it looks like."""

    exit_code = 23

    def __init__(self, path: str, what: str, *, hint: str = "") -> None:
        super().__init__(f"{path} is no hermes-state archive: {what}", hint=hint)
        self.path = path
        self.what = what


class ArchiveUnsupported(HermesStateError):
    """An archive was made by a newer version, or needs a feature that this one does not know."""

    exit_code = 24

    def __init__(self, message: str, *, missing: Sequence[str] = ()) -> None:
        super().__init__(message, hint="upgrade hermes-state; the file itself opens with `tar --zstd -x`")
        self.missing = tuple(missing)


class WrongKey(HermesStateError):
    """The archive is encrypted, and no key or passphrase that was given opens it."""

    exit_code = 25


class HomeInUse(HermesStateError):
    """A live process has the home open; nothing was changed. `pids` are the processes, as far as they are known."""

    exit_code = 26
    retryable = True

    def __init__(self, message: str, *, hint: str = "", pids: Sequence[int] = ()) -> None:
        super().__init__(message, hint=hint)
        self.pids = tuple(pids)
