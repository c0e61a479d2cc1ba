"""Taking known shapes of secrets out of the copy of a database: what was said may hold keys as well as settings do.

Only copies are ever changed. What SQLite frees is overwritten with zeros, so that nothing taken out can be found in the
file. Keys of rows stay, or rows would lose each other.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_state.codec import to_json
from hermes_state.engine.driver import newest_driver
from hermes_state.engine.failures import translated
from hermes_state.errors import InvalidValue, StoreDamaged
from hermes_state.packing import pack, unpack
from hermes_state.portability.databases import Copy, Kind
from hermes_state.portability.derived import SHADOWS
from hermes_state.portability.policy import Policy
from hermes_state.portability.tables import is_virtual, quoted, schema_of, uri
from hermes_state.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Rows looked at between two rounds of changes.
_PAGE = 1_000
# Columns by which rows are told apart and found.
_KEYS = ("id", "key", "sha256", "source", "role", "tool_name", "version_num", "signature")
# Before JSON in a Hermes text column.
_JSON_MARK = "\0json:"
_PLAIN_TYPES = ("TEXT", "VARCHAR", "CHAR", "CLOB", "JSON", "")


@dataclass(kw_only=True, slots=True)
class Redaction:
    """What was taken out of a database.

    Attributes:
        columns: how many values were changed, by `table.column`.
        unsearched: tables that could not be looked through: full-text indexes that stayed.
    """

    columns: dict[str, int] = field(default_factory=dict)
    unsearched: list[str] = field(default_factory=list)


def of_copy(copy: Copy, policy: Policy) -> Redaction | None:
    """Redact a copy that was just made, where the policy says so; None: it was not searched."""
    if policy is not Policy.REDACT or copy.kind is Kind.OTHER or copy.damage:
        return None
    return redact_database(copy.path, copy.kind)


def redact_database(copy: Path, kind: Kind) -> Redaction:
    """Put placeholders in the place of secrets, in every text column of a copy.

    Raises:
        StoreUnavailable, StoreDamaged, DiskFull: as SQLite says.
    """
    result = Redaction()
    connected = closing(newest_driver().module.connect(uri(copy, "rw"), uri=True, isolation_level=None))
    with translated(copy), connected as connection:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "secure_delete=ON", "foreign_keys=OFF"):
            connection.execute(f"PRAGMA {pragma}")
        schema = schema_of(connection)
        virtual = [entry.name for entry in schema if is_virtual(entry)]
        shadows = {f"{name}_{shadow}" for name in virtual for shadow in SHADOWS}
        result.unsearched = virtual
        connection.execute("BEGIN IMMEDIATE")
        for entry in schema:
            if (
                entry.type == "table"
                and entry.name not in {*virtual, *shadows}
                and not entry.name.startswith("sqlite_")
            ):
                _Table(connection, entry.name, kind).redact(result)
        connection.execute("COMMIT")
    return result


class _Table:
    """One table on its way through."""

    def __init__(self, connection: Any, name: str, kind: Kind) -> None:
        self.connection, self.name, self.kind = connection, name, kind
        columns = connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,)).fetchall()
        self.texts = [column for column, type_, pk in columns if not pk and _is_text(type_) and not _is_key(column)]
        query = "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'"
        without_rowid = bool(connection.execute(query, (name,)).fetchone()[0])
        self.keys = [column for column, _, pk in columns if pk] if without_rowid else ["rowid"]
        self.redactor = Redactor()

    def redact(self, result: Redaction) -> None:
        """All of its rows."""
        if not self.texts:
            return
        counts: Counter[str] = Counter()
        last: tuple[Any, ...] | None = None
        while rows := self._rows(last):
            for row in rows:
                counts.update(self._row(row[: len(self.keys)], row[len(self.keys) :]))
            last = rows[-1][: len(self.keys)]
        result.columns |= {f"{self.name}.{column}": number for column, number in counts.items()}

    def _rows(self, last: tuple[Any, ...] | None) -> list[tuple[Any, ...]]:
        keys, names = self._list(self.keys), self._list(self.texts)
        after = f"WHERE ({keys}) > ({self._marks()})" if last is not None else ""
        query = f"SELECT {keys}, {names} FROM {quoted(self.name)} {after} ORDER BY {keys} LIMIT {_PAGE}"  # noqa: S608
        return [tuple(row) for row in self.connection.execute(query, last or ()).fetchall()]

    def _row(self, key: tuple[Any, ...], values: tuple[Any, ...]) -> list[str]:
        """Change one row; returns the columns in which something was taken out."""
        pairs = zip(self.texts, values, strict=True)
        changed = {column: new for column, value in pairs if (new := self._value(value)) is not value}
        if changed:
            self._write(key, changed)
        return list(changed)

    def _write(self, key: tuple[Any, ...], changed: dict[str, Any]) -> None:
        if self.kind is Kind.OURS and self.name == "system_prompts" and "text" in changed:
            changed = changed | {"sha256": hashlib.sha256(unpack(changed["text"]).encode()).digest()}
        sets = ", ".join(f"{quoted(column)} = ?" for column in changed)
        where = f"({self._list(self.keys)}) = ({self._marks()})"
        statement = f"UPDATE {quoted(self.name)} SET {sets} WHERE {where}"  # noqa: S608  quoted
        self.connection.execute(statement, (*changed.values(), *key))

    def _value(self, value: Any) -> Any:
        """The value itself, or another one without secrets."""
        if isinstance(value, bytes) and self.kind is Kind.OURS:
            try:
                text = unpack(value)
            except StoreDamaged:  # a BLOB that is no text
                return value
            new = self._text(text)
            return value if new == text else pack(new)
        if not isinstance(value, str):
            return value
        new = self._text(value)
        return value if new == value else new

    def _text(self, text: str) -> str:
        mark = _JSON_MARK if text.startswith(_JSON_MARK) else ""
        body = text.removeprefix(mark)
        if body[:1] in ("{", "["):
            try:
                value = json.loads(body)
                new = self.redactor.value(value)
                return text if new == value else mark + to_json(new, self.name)
            except (ValueError, RecursionError, InvalidValue):  # a text that only begins as JSON does
                return mark + self.redactor.text(body)
        return self.redactor.text(text)

    def _marks(self) -> str:
        return ", ".join("?" * len(self.keys))

    @staticmethod
    def _list(columns: Sequence[str]) -> str:
        return ", ".join(column if column == "rowid" else quoted(column) for column in columns)


def _is_text(type_: str) -> bool:
    return type_.upper().partition("(")[0].strip() in _PLAIN_TYPES


def _is_key(column: str) -> bool:
    return column in _KEYS or column.endswith(("_id", "_key"))
