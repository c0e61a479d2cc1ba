"""Small named values: what a runtime wants to remember beside its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, func, insert, select, update

from hermes_state.schema import meta

if TYPE_CHECKING:
    from hermes_state.engine import Engine

# Built once: a runtime asks several times a turn, and building a statement takes longer than running it.
_OF_KEY = select(meta.c.value).where(meta.c.key == bindparam("of_key"))
_SET = update(meta).where(meta.c.key == bindparam("of_key")).values(value=bindparam("new_value"))


class Meta:
    """The key-value pairs of a store. Keys and values are text."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, key: str, default: str | None = None) -> str | None:
        """The value of a key, or `default`."""
        with self._engine.read() as connection:
            row = connection.execute(_OF_KEY, {"of_key": key}).fetchone()
        return default if row is None else row[0]

    def set(self, key: str, value: str) -> None:
        """Set a key, whatever it was."""
        with self._engine.write() as connection:
            if not connection.execute(_SET, {"of_key": key, "new_value": value}).rowcount:
                connection.execute(insert(meta).values(key=key, value=value))

    def delete(self, key: str) -> bool:
        """Forget a key. False when there was none."""
        with self._engine.write() as connection:
            return bool(connection.execute(delete(meta).where(meta.c.key == key)).rowcount)

    def items(self, prefix: str = "") -> dict[str, str]:
        """All pairs whose key starts with `prefix`, in order of key."""
        with self._engine.read() as connection:
            # Not LIKE: it would take other cases for the same.
            starts = func.substr(meta.c.key, 1, len(prefix)) == prefix
            rows = connection.execute(select(meta).where(starts).order_by(meta.c.key))
            return {row.key: row.value for row in rows}
