"""Relocation hints: the absolute paths that a home's settings and stores hold, told in the manifest.

So a restore on another machine, or a plan of one, knows every path before it has built anything: it moves those that it
can by rule, and lists those that lead nowhere.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.portability.databases import reading
from hermes_state.portability.format import HOME_ROOT
from hermes_state.portability.relocate import COLUMNS, FILES, Moved, has_column, is_absolute
from hermes_state.portability.settings import values_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from hermes_state.portability.databases import Copy, Kind
    from hermes_state.portability.relocate import Map

# Listed in a manifest; a store with more working folders than this has no use for a list of them.
MAX_HINTS = 2_000
# Settings files above this are not looked through: to parse YAML takes a second for each 100 kB. [bytes]
_MAX_BYTES = 256 * 1024


class Hint(NamedTuple):
    """One absolute path.

    Attributes:
        path: the member that holds it.
        key: the setting, or the column of a store as `sessions.cwd`.
        value: the path itself.
        is_stored: it stands in a store, which a plan does not build.
    """

    path: str
    key: str
    value: str
    is_stored: bool = False

    @property
    def member(self) -> str:
        """The path in the home of what holds it."""
        return self.path.removeprefix(f"{HOME_ROOT}/")

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {"path": self.path, "key": self.key, "value": self.value}


def in_settings(home: Path, hidden: Mapping[str, Iterable[str]], unread: Container[str] = ()) -> Iterator[Hint]:
    """Those in the settings files of a home and of its profiles.

    Args:
        hidden: keys by member whose values were taken out as secrets.
        unread: members whose hints are known.
    """
    profiles = sorted(path for path in (home / "profiles").glob("*") if path.is_dir() and not path.is_symlink())
    for root in (home, *profiles):
        for name in FILES:
            file = root / name
            member = f"{HOME_ROOT}/{file.relative_to(home).as_posix()}"
            if member in unread or not file.is_file() or file.is_symlink() or file.stat().st_size > _MAX_BYTES:
                continue
            taken = {*hidden.get(member, ())}
            for key, value in values_of(file).items():
                if is_absolute(value) and key not in taken:
                    yield Hint(path=member, key=key, value=value)


def in_copy(copy: Copy, member: str) -> Iterator[Hint]:
    """Those in the columns of a store that hold paths, each once."""
    if copy.part is not None:
        paths = copy.part.paths
    else:
        with reading(copy.path, immutable=True) as connection:
            paths = paths_in(connection, copy.kind)
    for key, value in paths:
        yield Hint(path=member, key=key, value=value)


def paths_in(connection: Any, kind: Kind) -> list[tuple[str, str]]:
    """The absolute paths in a store: column and path."""
    found = []
    for table, column in COLUMNS[kind]:
        if not has_column(connection, table, column):
            continue
        query = f"SELECT DISTINCT {column} FROM {table} WHERE {column} <> '' ORDER BY 1 LIMIT {MAX_HINTS}"  # noqa: S608
        values = [value for (value,) in connection.execute(query).fetchall()]
        found += [(f"{table}.{column}", value) for value in values if isinstance(value, str) and is_absolute(value)]
    return found


def of_manifest(facts: Mapping[str, Any]) -> list[Hint]:
    """What a manifest tells, which may be anything."""
    listed = facts.get("relocation")
    databases = facts.get("databases")
    stores = {*databases} if isinstance(databases, dict) else set()
    found = []
    for item in listed if isinstance(listed, list) else []:
        texts = [item.get(name) for name in ("path", "key", "value")] if isinstance(item, dict) else []
        match texts:
            case [str(path), str(key), str(value)]:
                found.append(Hint(path=path, key=key, value=value, is_stored=path in stores))
    return found[:MAX_HINTS]


def moves(hints: Iterable[Hint], old_user: str, new_user: Path) -> dict[str, str]:
    """Paths below the old user's home folder that are below this user's, and only there: what they become."""
    found: dict[str, str] = {}
    if not old_user.startswith("/") or PurePosixPath(old_user) in (new_user, PurePosixPath("/")):
        return found
    for hint in hints:
        path = PurePosixPath(hint.value)
        if ".." in path.parts or not path.is_relative_to(old_user) or os.path.lexists(path):
            continue
        here = new_user / path.relative_to(old_user)
        if here != new_user and os.path.lexists(here):
            found[hint.value.rstrip("/")] = str(here)
    return found


def moved(hints: Iterable[Hint], prefixes: Map) -> list[Moved]:
    """What a restore will change."""
    pairs = ((hint, prefixes.path(hint.value)) for hint in hints)
    return [Moved(path=h.member, key=h.key, old=h.value, new=new) for h, new in pairs if new != h.value]


def missing(hints: Iterable[Hint], prefixes: Map, home: Path, here: set[str]) -> Iterator[tuple[str, str, str]]:
    """Paths in stores that lead nowhere on this machine after they were moved: member, column, path.

    Args:
        here: top names of the home that is being built; what lies below it is not looked for.
    """
    for hint in hints:
        if not hint.is_stored:
            continue
        path = Path(prefixes.path(hint.value))
        inside = path.is_relative_to(home)
        if inside and (path == home or path.relative_to(home).parts[0] in here):
            continue
        try:
            known = os.path.lexists(path)
        except ValueError:  # a NUL in it: no such file
            known = False
        if not known:
            yield hint.member, hint.key, str(path)
