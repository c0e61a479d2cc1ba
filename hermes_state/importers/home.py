"""What there is to import: the state.db of a Hermes home and of its profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from hermes_state.errors import HermesStateError, StoreUnavailable
from hermes_state.home import resolve_home
from hermes_state.importers.foreign import ForeignChanged, files_of, opened
from hermes_state.importers.hermes_reader import HermesReader
from hermes_state.schema import import_sources, imported_sessions

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from hermes_state.store import SessionDB

# What `import_sources.kind` is for a Hermes state.db.
KIND = "hermes"
DATABASE = "state.db"
PROFILES = "profiles"


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A Hermes state.db. `profile` is None for the home's own."""

    path: Path
    profile: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """A Hermes state.db with something this store has not seen.

    Attributes:
        source: which.
        sessions: how many it holds.
        new_sessions: how many of them were never imported.
        has_news: whether known sessions may have new messages.
        imported_before: whether an import of it was ever finished.
    """

    source: Source
    sessions: int
    new_sessions: int
    has_news: bool
    imported_before: bool


def sources(path: str | os.PathLike[str] | None = None) -> list[Source]:
    """The state.db of a home and of each of its profiles, those that exist; a file given by name is one by itself.

    Args:
        path: a home or a state.db; None: `$HERMES_HOME`, else `~/.hermes`.
    """
    home = resolve_home(path)
    if home.is_file():
        return [Source(path=home, profile=_profile_of(home))]
    found = [Source(path=home / DATABASE)] if (home / DATABASE).is_file() else []
    profiles = sorted((home / PROFILES).glob(f"*/{DATABASE}"))
    return found + [Source(path=file, profile=file.parent.name) for file in profiles if file.is_file()]


def _profile_of(file: Path) -> str | None:
    return file.parent.name if file.parent.parent.name == PROFILES else None


def source(path: str | os.PathLike[str] | None, profile: str | None) -> Source:
    """The one to import.

    Raises:
        StoreUnavailable: there is none; names the profiles there are.
    """
    home = resolve_home(path)
    found = sources(path)
    chosen = [one for one in found if home.is_file() or one.profile == profile]
    if chosen:
        return chosen[0]
    names = ", ".join(one.profile for one in found if one.profile) or "none"
    wanted = f"profile {profile!r} of {home}" if profile else f"{home}"
    raise StoreUnavailable(
        f"there is no Hermes {DATABASE} in {wanted}",
        hint=f"give a Hermes home or its {DATABASE}; profiles with one: {names}",
    )


def detect(db: SessionDB | None, path: str | os.PathLike[str] | None = None) -> list[Pending]:
    """Sources with something to import, the home's own first; cheap enough to ask before every search.

    A source that can't be read now is passed over: whoever imports it is told why.

    Args:
        db: the store; None when there is none yet.
        path: as for `sources`.
    """
    found = []
    for one in sources(path):
        last = None if db is None else _last_import(db, one.path)
        try:
            if last is not None and last.signature == files_of(one.path).signature:
                continue
            pending = _look(one, last)
        except (HermesStateError, ForeignChanged):
            continue
        if pending.new_sessions or pending.has_news:
            found.append(pending)
    return found


class _Last(NamedTuple):
    signature: str | None
    last_message_id: int
    sessions: int


def _last_import(db: SessionDB, path: Path) -> _Last | None:
    s, i = import_sources.c, imported_sessions.c
    count = select(func.count()).where(i.source_pk == s.pk).scalar_subquery()
    query = select(s.signature, s.last_message_id, count.label("sessions"))
    with db.engine.read() as connection:
        row = connection.execute(query.where(s.kind == KIND, s.location == str(path))).fetchone()
    return None if row is None else _Last(row.signature, row.last_message_id, row.sessions)


def _look(one: Source, last: _Last | None) -> Pending:
    with opened(one.path) as database:
        reader = HermesReader(database)
        sessions, newest = reader.session_count, reader.last_message_id
        database.verify()
    return Pending(
        source=one,
        sessions=sessions,
        new_sessions=max(sessions - (last.sessions if last else 0), 0),
        has_news=newest > (last.last_message_id if last else 0),
        imported_before=last is not None and last.signature is not None,
    )
