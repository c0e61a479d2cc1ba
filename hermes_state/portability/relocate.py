"""Absolute paths that lead into a home, made to lead into the home at its new place.

Only where a path is meant: in the fields of settings files that hold paths, in columns that hold paths, in links.
Texts, such as a prompt or a message that mentions a path, stay as they are. What leads elsewhere and is not there on
this machine is listed.
"""

from __future__ import annotations

import os
import re
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import translated
from hermes_state.portability.databases import Kind, kind_of
from hermes_state.portability.settings import Value, exchanged, values
from hermes_state.portability.tables import schema_of, uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Settings files, below a home or a profile.
FILES = (
    *("config.yaml", "cron/jobs.json", "honcho.json", "mem0.json", "hindsight/config.json", "byterover/config.json"),
    *("mcp.json", "gateway/config.json", "channel_aliases.json", "plugins/config.yaml", "projects.json"),
)
# Fields whose value may hold paths among other words: commands, lists of folders, arguments.
_PATH_FIELD = (
    r"(?:^|_)(?:path|paths|dir|dirs|directory|directories|file|files|folder|folders|cwd|home|root|roots|workdir|script"
    r"|scripts|command|args|argv|env|volumes|mounts|bin|executable|entrypoint|db|database|source|sources)$"
)
_ABSOLUTE = re.compile(r"/[^/\s]|[A-Za-z]:[\\/]")
# Columns that hold paths, by whose database it is.
COLUMNS = {
    Kind.OURS: (("sessions", "cwd"), ("sessions", "git_root")),
    Kind.HERMES: (("sessions", "cwd"), ("sessions", "git_repo_root")),
    Kind.OTHER: (),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """One value that was changed. `count` is more than 1 for the rows of a column."""

    path: str
    key: str
    old: str
    new: str
    count: int = 1


@dataclass(kw_only=True, slots=True)
class Relocation:
    """What moving a home changed, and what leads to places that are not on this machine."""

    moved: list[Moved] = field(default_factory=list)
    missing: list[tuple[str, str, str]] = field(default_factory=list)  # path, key, value


class Map:
    """Prefixes and what they become.

    Args:
        prefixes: absolute folders to absolute folders; the longest that fits counts.
    """

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        pairs = {old.rstrip("/"): new.rstrip("/") for old, new in prefixes.items()}
        self.pairs = {old: new for old, new in pairs.items() if old and old != new}
        longest = sorted(map(re.escape, self.pairs), key=len, reverse=True)
        self._anywhere = re.compile(rf"(?<![\w./~-])({'|'.join(longest)})(?![\w.-])") if longest else None

    def path(self, text: str) -> str:
        """A path, changed when it is one of the folders or lies in it."""
        found = self._anywhere.match(text) if self._anywhere is not None else None
        return f"{self.pairs[found[1]]}{text[found.end() :]}" if found else text

    def words(self, text: str) -> str:
        """A text with every such path in it changed."""
        return text if self._anywhere is None else self._anywhere.sub(lambda found: self.pairs[found[1]], text)


def relocate_files(root: Path, final: Path, prefixes: Map) -> Relocation:
    """Change the settings files below a home that is being built.

    Args:
        root: where it lies now.
        final: where it will lie; paths into it are looked up in `root`.
    """
    result = Relocation()
    homes = [root, *sorted(path for path in (root / "profiles").glob("*") if path.is_dir() and not path.is_symlink())]
    for home in homes:
        for name in FILES:
            file = home / name
            if file.is_file() and not file.is_symlink():
                _relocate_file(file, root, final, prefixes, result)
    return result


def _relocate_file(file: Path, root: Path, final: Path, prefixes: Map, result: Relocation) -> None:
    name = str(file.relative_to(root))
    try:
        document = file.read_bytes().decode("utf-8")
        found = values(document)
    except (UnicodeDecodeError, ValueError):  # it goes as it is; its program will say what it thinks of it
        return
    changes: dict[int, tuple[Value, str]] = {}
    for value in found:
        new = _new_text(value, prefixes)
        if new != value.text:
            changes[value.start] = (value, new)
            result.moved.append(Moved(path=name, key=value.key, old=value.text, new=new))
        if value.is_text and is_absolute(new) and not _exists(new, root, final):
            result.missing.append((name, value.key, new))
    if changes:
        status = file.stat()
        file.write_text(exchanged(document, changes), encoding="utf-8", newline="")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def _new_text(value: Value, prefixes: Map) -> str:
    if not value.is_text or value.style in ("|", ">"):
        return value.text
    changed = prefixes.path(value.text)
    if changed != value.text or not any(re.search(_PATH_FIELD, part, re.IGNORECASE) for part in value.key.split(".")):
        return changed
    return prefixes.words(value.text)


def _exists(text: str, root: Path, final: Path) -> bool:
    try:
        path = Path(text.split()[0] if " " in text and not os.path.lexists(text) else text)
        if path == final or final in path.parents:
            return os.path.lexists(root / path.relative_to(final))
        return os.path.lexists(path)
    except (OSError, ValueError):  # too long, or with a NUL: no such file
        return False


def is_absolute(text: str) -> bool:
    """Whether a value is an absolute path of any system, and nothing else."""
    return bool(_ABSOLUTE.match(text)) and "\n" not in text


def relocate_link(target: str, prefixes: Map) -> str:
    """What a link is to say in the new place."""
    return prefixes.path(target)


def relocate_database(database: Path, name: str, prefixes: Map) -> Iterable[Moved]:
    """Change the columns of a store that hold paths."""
    if not prefixes.pairs:
        return []
    module = newest_driver().module
    connected = closing(module.connect(uri(database, "rw"), uri=True, isolation_level=None))
    with translated(database), connected as connection:
        kind = kind_of(schema_of(connection))
        connection.execute("BEGIN IMMEDIATE")
        moved = [
            Moved(path=name, key=f"{table}.{column}", old=old, new=new, count=count)
            for table, column in COLUMNS[kind]
            if has_column(connection, table, column)
            for old, new in prefixes.pairs.items()
            if (count := _relocate_column(connection, table, column, old, new))
        ]
        connection.execute("COMMIT")
    return moved


def has_column(connection: Any, table: str, column: str) -> bool:
    """Whether a table has a column; not every version of a program has all of them."""
    query = "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?"
    return bool(connection.execute(query, (table, column)).fetchone()[0])


def _relocate_column(connection: Any, table: str, column: str, old: str, new: str) -> int:
    statement = (
        f"UPDATE {table} SET {column} = ? || substr({column}, ?)"  # noqa: S608  names from a fixed list
        f" WHERE {column} = ? OR substr({column}, 1, ?) = ?"
    )
    values_ = (new, len(old) + 1, old, len(old) + 1, f"{old}/")
    return int(connection.execute(statement, values_).rowcount)
