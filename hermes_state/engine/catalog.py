"""Which tables a database has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SQLITE = "SELECT name FROM sqlite_master WHERE type = 'table'"
_POSTGRESQL = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"


def table_names(connection: Connection) -> set[str]:
    """The names of the tables; without SQLAlchemy's inspector, which costs a millisecond to load."""
    asked = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRESQL
    return {row[0] for row in connection.exec_driver_sql(asked)}
