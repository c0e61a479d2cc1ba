"""Indexes that can be built again from the rows they index: what they are, and how they come back.

A full-text index is left out of an archive only when it is certain that it can be rebuilt to the same content: an FTS5
table that reads its text from another table or view (`content=…`), or one whose insert trigger says what goes in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from hermes_state.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CREATE = re.compile(
    r"""\s*CREATE\s+VIRTUAL\s+TABLE\s+["'`\[]?(\w+)["'`\]]?\s+USING\s+fts5\s*\((.*)\)\s*""", re.I | re.S
)
_TRIGGER = re.compile(r"\s*CREATE\s+TRIGGER\b", re.I)
_CONTENT = re.compile(r"""content\s*=\s*(?:'([^']*)'|"([^"]*)"|(\w+))""", re.I)
# The insert trigger of an index with its own copy of the text: table, columns, the new row's key, the texts.
_FEED = re.compile(
    r"AFTER\s+INSERT\s+ON\s+(\w+)\s+BEGIN\s+INSERT\s+INTO\s+(\w+)\s*\(\s*rowid\s*,([\w\s,]+)\)\s*"
    r"VALUES\s*\(\s*new\.(\w+)\s*,(.*)\)\s*;\s*END",
    re.I | re.S,
)
_PLAIN = re.compile(r"\s*CREATE\s+INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"'`\[]?(\w+)[\"'`\]]?\s+ON\s+\w", re.I)
SHADOWS = ("data", "idx", "content", "docsize", "config")


@dataclass(frozen=True, kw_only=True, slots=True)
class DerivedIndex:
    """One index that an archive does without.

    Attributes:
        name: the FTS5 table.
        create: the statement that makes it.
        triggers: the statements of the triggers that keep it up to date.
    """

    name: str
    create: str
    triggers: tuple[str, ...]

    @property
    def fill(self) -> str | None:
        """The statement that fills it from the rows; None when that can't be told."""
        found = _CREATE.fullmatch(self.create)
        if found is None or found[1] != self.name:
            return None
        content = _CONTENT.search(found[2])
        if content is not None:
            # `content=''` keeps no text anywhere: what went in is known to its program alone.
            named = content[1] or content[2] or content[3]
            return f"INSERT INTO {self.name}({self.name}) VALUES ('rebuild')" if named else None  # noqa: S608  \w+ only
        return next(filter(None, map(self._fill_of, self.triggers)), None)

    def _fill_of(self, trigger: str) -> str | None:
        feed = _FEED.search(trigger)
        if feed is None or feed[2] != self.name or "select" in feed[5].lower():
            return None
        source, _, columns, key, texts = feed.groups()
        values = re.sub(r"\bnew\s*\.\s*", "", texts, flags=re.I)
        return f"INSERT INTO {self.name}(rowid, {columns.strip()}) SELECT {key}, {values.strip()} FROM {source}"  # noqa: S608  parts of its own trigger

    def rebuild(self, connection: Any) -> None:
        """Make the index, fill it, and put its triggers back, in the caller's transaction."""
        fill = self.fill
        if fill is None:
            raise FormatError(f"the index {self.name!r} can't be rebuilt: nothing says what it holds")
        connection.execute(self.create)
        connection.execute(fill)
        for trigger in self.triggers:
            connection.execute(trigger)

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {"name": self.name, "create": self.create, "triggers": list(self.triggers)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """From a manifest, which may say anything.

        Raises:
            FormatError: it is not the description of an index.
        """
        name, create, triggers = value.get("name"), value.get("create"), value.get("triggers")
        if not isinstance(name, str) or not isinstance(create, str) or not isinstance(triggers, list):
            raise FormatError("the manifest describes an index without its name, statement or triggers")
        if not all(isinstance(text, str) and _TRIGGER.match(text) for text in triggers):
            raise FormatError(f"the manifest gives something else than triggers for the index {name!r}")
        index = cls(name=name, create=create, triggers=tuple(triggers))
        if index.fill is None:
            raise FormatError(f"the manifest's statements for the index {name!r} don't make one")
        return index


@dataclass(frozen=True, kw_only=True, slots=True)
class PlainIndex:
    """An ordinary index that an archive does without; never a unique one, which is a rule and no mere index."""

    name: str
    create: str

    def rebuild(self, connection: Any) -> None:
        """Make the index, in the caller's transaction."""
        connection.execute(self.create)

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {"name": self.name, "create": self.create}


def from_dict(value: Mapping[str, Any]) -> DerivedIndex | PlainIndex:
    """From a manifest, which may say anything: a full-text index has triggers, if only an empty list.

    Raises:
        FormatError: it is not the description of an index.
    """
    if "triggers" in value:
        return DerivedIndex.from_dict(value)
    name, create = value.get("name"), value.get("create")
    found = _PLAIN.match(create) if isinstance(create, str) else None
    if found is None or found[1] != name or not isinstance(create, str):
        raise FormatError(f"the manifest's statement for the index {name!r} doesn't make one")
    return PlainIndex(name=found[1], create=create)


def find_plain(schema: Sequence[tuple[str, str, str, str | None]]) -> list[PlainIndex]:
    """The ordinary indexes of a database.

    Args:
        schema: as for `find`.
    """
    return [
        PlainIndex(name=name, create=create)
        for kind, name, _, create in schema
        if kind == "index" and create and (found := _PLAIN.match(create)) and found[1] == name
    ]


def find(schema: Sequence[tuple[str, str, str, str | None]]) -> list[DerivedIndex]:
    """The indexes of a database that can be rebuilt.

    Args:
        schema: (type, name, table, statement) of everything in it.
    """
    indexes = []
    for kind, name, _, create in schema:
        if kind != "table" or create is None or not _CREATE.fullmatch(create):
            continue
        triggers = tuple(sql for k, _, _, sql in schema if k == "trigger" and sql and _mentions(sql, name))
        index = DerivedIndex(name=name, create=create, triggers=triggers)
        shadows = {name, *(f"{name}_{shadow}" for shadow in SHADOWS)}
        users = [n for k, n, _, sql in schema if k != "trigger" and n not in shadows and sql and _mentions(sql, name)]
        if index.fill is not None and not users:
            indexes.append(index)
    return indexes


def _mentions(sql: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql) is not None


def shadows_of(index: str) -> set[str]:
    """The names of an FTS5 table and of the tables SQLite keeps for it."""
    return {index, *(f"{index}_{shadow}" for shadow in SHADOWS)}
