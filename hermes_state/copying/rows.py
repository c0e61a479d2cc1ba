"""Rows of one table into another store: what is not there comes in, what differs there is listed and stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, select, tuple_, update

from hermes_state.codec import clean
from hermes_state.copying.keys import chunks
from hermes_state.copying.streaming import batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from hermes_state.copying.keys import Keys
    from hermes_state.copying.report import CopyReport
    from hermes_state.copying.tables import Kept
    from hermes_state.engine import Engine

Row = dict[str, Any]
# Rows of a transaction.
_BATCH = 500


class Table:
    """One table on its way.

    Args:
        source: the snapshot that is copied.
        is_empty: the target had nothing of its own.
        floor: numbers up to it were given out in the target once.
    """

    def __init__(
        self, kept: Kept, source: Connection, keys: Keys, report: CopyReport, *, is_empty: bool, floor: int = 0
    ) -> None:
        self._kept, self._table, self._source, self._keys, self._report = kept, kept.table, source, keys, report
        self._is_number_kept = kept.is_number_kept and is_empty
        self._floor = floor
        self._holds_nul = True
        self.added = 0

    def copy(self, target: Engine) -> None:
        """All rows, a batch in a transaction; what an earlier run brought in is found there."""
        self._holds_nul = target.dialect == "sqlite"
        order = list(self._table.primary_key.columns)
        query = select(self._table).order_by(*order)
        if self._kept.left_out:
            query = query.where(self._table.c[self._kept.key[0]].not_in(self._kept.left_out))
        with batches(self._source, query, _BATCH) as found:
            for rows in found:
                with target.write() as connection:
                    self._place(connection, [dict(row) for row in rows])
        if self._kept.later is not None:
            self._refer(target)

    def _place(self, target: Connection, rows: list[Row]) -> None:
        self._keys.begin()
        for column, named in self._kept.references.items():
            self._keys.learn(target, named, [row[column] for row in rows])
        translated = [row for row in map(self._translated, rows) if row is not None]
        here = self._here(target, translated)
        new = []
        for row in translated:
            found = here.get(self._key_of(row))
            if found is None:
                new.append(row)
            elif changed := [n for n in row if n in found and row[n] != found[n] and n not in self._incomparable]:
                self._report.clash(self._name(row), f"the target has another {', '.join(changed)}")
        if new:
            self._number(target, new)
            target.execute(insert(self._table), new)
            self.added += len(new)

    @property
    def _incomparable(self) -> tuple[str, ...]:
        return (*self._kept.key, *([self._kept.number] if self._kept.number else ()))

    def _translated(self, row: Row) -> Row | None:
        """The row as it is to be in the target; None where what it belongs to is not there."""
        result = row | dict(self._kept.reset)
        for column, value in row.items() if not self._holds_nul else ():
            if isinstance(value, str) and "\0" in value:
                result[column] = clean(value)
                self._report.clash(self._name(row), f"PostgreSQL can't hold the NUL in its {column}; it came without")
        for column, named in self._kept.references.items():
            result[column] = self._keys.of(named, row[column])
            if result[column] is None and not self._table.c[column].nullable:
                if column in self._table.primary_key.columns:
                    self._report.clash(self._name(row), f"what its {column} means is not in the target")
                    return None
                result[column] = 0  # as of something that is gone
        if self._kept.later is not None:
            del result[self._kept.later[0]]
        if self._kept.number is not None and not self._is_number_kept:
            del result[self._kept.number]
        return result

    def _here(self, target: Connection, rows: list[Row]) -> dict[tuple[Any, ...], Any]:
        columns = [self._table.c[name] for name in self._kept.key]
        found = {}
        for some in chunks(rows):
            keys = [self._key_of(row) for row in some]
            where = tuple_(*columns).in_(keys) if len(columns) > 1 else columns[0].in_([key[0] for key in keys])
            for row in target.execute(select(self._table).where(where)).mappings():
                found[self._key_of(row)] = row
        return found

    def _key_of(self, row: Any) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._kept.key)

    def _name(self, row: Row) -> str:
        shown = (value.hex()[:12] if isinstance(value, bytes) else str(value) for value in self._key_of(row))
        return f"{self._table.name} {' '.join(shown)}"

    def _number(self, target: Connection, rows: Sequence[Row]) -> None:
        """Numbers that a store counts by itself go on from where the target is."""
        if not self._kept.is_number_kept or self._is_number_kept or self._kept.number is None:
            return
        newest = target.execute(select(func.coalesce(func.max(self._table.c[self._kept.number]), 0))).scalar_one()
        for n, row in enumerate(rows, max(newest, self._floor) + 1):
            row[self._kept.number] = n

    def _refer(self, target: Engine) -> None:
        """The references within the table, where the target has none."""
        assert self._kept.later is not None
        column, named = self._kept.later
        own, other = named.key, self._table.c[column]
        set_it = (
            update(self._table).where(own == bindparam("own"), other.is_(None)).values({column: bindparam("other")})
        )
        query = select(own, other).where(other.is_not(None)).order_by(own)
        with batches(self._source, query, _BATCH) as found:
            for rows in found:
                with target.write() as connection:
                    self._keys.begin()
                    self._keys.learn(connection, named, [key for row in rows for key in row.values()])
                    pairs = [[self._keys.of(named, key) for key in row.values()] for row in rows]
                    values = [{"own": one, "other": two} for one, two in pairs if one is not None and two is not None]
                    if values:
                        connection.execute(set_it, values)


def count(connection: Connection, kept: Kept) -> int:
    """Rows of a table that are to be copied."""
    query = select(func.count()).select_from(kept.table)
    if kept.left_out:
        query = query.where(kept.table.c[kept.key[0]].not_in(kept.left_out))
    return int(connection.execute(query).scalar_one())
