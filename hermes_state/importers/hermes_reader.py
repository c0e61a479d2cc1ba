"""The queries on a Hermes state.db, of any schema version: only columns that are there are asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hermes_state.importers.foreign import ForeignDatabase

Row = dict[str, Any]
# Tables that are read, or that are derived from those.
_READ = frozenset(
    ("sessions", "messages", "session_model_usage", "system_prompts", "gateway_routing", "state_meta", "schema_version")
)
_DERIVED = ("messages_fts", "sqlite_")


class SessionKey(NamedTuple):
    """What is needed of every session before any is read."""

    id: str
    parent_id: str | None
    started_at: Any


class Shape(NamedTuple):
    """The columns of a table, and the literal defaults of those that have one."""

    columns: tuple[str, ...]
    defaults: dict[str, Any]


class HermesReader:
    """One state.db, as it is at one moment.

    Attributes:
        sessions, messages: the columns of these tables.
        nameless: how many sessions have no id, once `session_keys` was asked.

    Raises:
        FormatError: the database is not a Hermes state.db.
    """

    def __init__(self, database: ForeignDatabase) -> None:
        self.database = database
        self.nameless = 0
        self._tables = {row[0] for row in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        missing = [name for name in ("sessions", "messages") if name not in self._tables]
        if missing:
            raise FormatError(
                f"{database.path} has no table {missing[0]!r}: it is not a Hermes state.db",
                hint="give a Hermes home or its state.db",
            )
        self.sessions, self.messages = self._shape("sessions"), self._shape("messages")
        for name, shape, needed in (
            ("sessions", self.sessions, ("id",)),
            ("messages", self.messages, ("id", "session_id", "role", "content")),
        ):
            gaps = [column for column in needed if column not in shape.columns]
            if gaps:
                raise FormatError(f"{database.path}: table {name!r} has no column {gaps[0]!r}, so it can't be read")

    @property
    def schema_version(self) -> int | None:
        """What the database says its version is; columns are believed rather than this."""
        if "schema_version" not in self._tables:
            return None
        row = next(self._rows("SELECT version FROM schema_version"), None)
        return row[0] if row and isinstance(row[0], int) else None

    def _rows(self, sql: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:
        return self.database.rows(sql, *parameters)

    def _shape(self, table: str) -> Shape:
        found = list(self._rows("SELECT name, dflt_value FROM pragma_table_info(?)", table))
        return Shape(tuple(row[0] for row in found), {name: _literal(text) for name, text in found})

    def _dicts(self, table: str, rest: str = "", *parameters: Any) -> Iterator[Row]:
        columns = self._shape(table).columns
        for row in self._rows(f"SELECT {_listed(columns)} FROM {_quoted(table)} {rest}", *parameters):  # noqa: S608
            yield dict(zip(columns, row, strict=True))

    # --- sessions -----------------------------------------------------------------------------------------------

    def session_keys(self) -> list[SessionKey]:
        """Every session, and every id that messages name although its session is gone."""
        wanted = [c if c in self.sessions.columns else "NULL" for c in ("id", "parent_session_id", "started_at")]
        sql = f"SELECT {', '.join(wanted)} FROM sessions ORDER BY rowid"  # noqa: S608  names from a fixed list
        rows = list(self._rows(sql))
        keys = [SessionKey(*row) for row in rows if isinstance(row[0], str)]
        self.nameless = len(rows) - len(keys)
        orphaned = (
            "SELECT DISTINCT session_id FROM messages WHERE session_id IS NOT NULL"
            " AND session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL)"
        )
        return keys + [SessionKey(row[0], None, None) for row in self._rows(orphaned) if isinstance(row[0], str)]

    def session_rows(self, ids: Sequence[str]) -> dict[str, Row]:
        """Whole rows of `sessions`, by id."""
        found = self._dicts("sessions", "WHERE id IN (SELECT value FROM json_each(?))", json.dumps(ids))
        return {row["id"]: row for row in found}

    def prompt(self, digest: str) -> str | None:
        """A system prompt that is stored once for many sessions."""
        if "system_prompts" not in self._tables:
            return None
        row = next(self._rows("SELECT prompt FROM system_prompts WHERE hash = ?", digest), None)
        return None if row is None else row[0]

    def usage(self, ids: Sequence[str]) -> dict[str, list[Row]]:
        """The rows of `session_model_usage` of sessions, in a fixed order."""
        found: dict[str, list[Row]] = {}
        if "session_model_usage" in self._tables:
            where = "WHERE session_id IN (SELECT value FROM json_each(?)) ORDER BY rowid"
            for row in self._dicts("session_model_usage", where, json.dumps(ids)):
                found.setdefault(row["session_id"], []).append(row)
        return found

    # --- messages -----------------------------------------------------------------------------------------------

    def message_stats(self) -> dict[str, tuple[int, ...]]:
        """Numbers that change when the messages of a session do: count, highest id, sum of ids, how many are active.

        An index covers them in every schema that has `active`, so no text is read.
        """
        active = "total(active = 1)" if "active" in self.messages.columns else "0"
        sql = f"SELECT session_id, count(*), max(id), total(id), {active} FROM messages GROUP BY session_id"  # noqa: S608
        return {row[0]: tuple(map(int, row[1:])) for row in self._rows(sql)}

    def message_ids(self, session_id: str) -> list[int]:
        """The ids of a session's messages, in order."""
        return sorted(row[0] for row in self._rows("SELECT id FROM messages WHERE session_id = ?", session_id))

    def message_rows(self, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """Whole rows of `messages` in order of id; the columns are those of `messages.columns`."""
        sql = f"SELECT {_listed(self.messages.columns)} FROM messages WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608
        return self._rows(f"{sql} ORDER BY id", json.dumps(ids))

    @property
    def session_count(self) -> int:
        """How many sessions there are."""
        return int(next(self._rows("SELECT count(*) FROM sessions"))[0])

    def first_time(self, session_id: str) -> Any:
        """The time of a session's first message, whatever is written there."""
        if "timestamp" not in self.messages.columns:
            return None
        sql = "SELECT timestamp FROM messages WHERE session_id = ? ORDER BY id LIMIT 1"
        return next(self._rows(sql, session_id), (None,))[0]

    @property
    def last_message_id(self) -> int:
        """The highest message id; 0 when there is none."""
        return int(next(self._rows("SELECT coalesce(max(id), 0) FROM messages"))[0])

    # --- the rest -----------------------------------------------------------------------------------------------

    def routes(self) -> Iterator[Row]:
        """The rows of `gateway_routing`."""
        return self._dicts("gateway_routing") if "gateway_routing" in self._tables else iter(())

    def settings(self) -> dict[str, str]:
        """The pairs of `state_meta`."""
        if "state_meta" not in self._tables:
            return {}
        return {str(key): str(value) for key, value in self._rows("SELECT key, value FROM state_meta ORDER BY key")}

    def left_out(self) -> dict[str, int]:
        """Tables nothing is read from, that have rows: the running state of the other agent."""
        names = sorted(name for name in self._tables - _READ if not name.startswith(_DERIVED))
        counts = {name: next(self._rows(f"SELECT count(*) FROM {_quoted(name)}"))[0] for name in names}  # noqa: S608
        return {name: count for name, count in counts.items() if count}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(_quoted, names))


def _literal(text: Any) -> Any:
    """The value of a column's DEFAULT clause when it is a plain number or text."""
    if not isinstance(text, str):
        return None
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return int(text)
    except ValueError:
        return None
