"""Which tables and triggers a database has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SQLITE = "SELECT name FROM sqlite_master WHERE type = 'table'"
_POSTGRESQL = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"

_SQLITE_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
# Those that fire for an ordinary client.
_POSTGRESQL_TRIGGERS = """
SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
WHERE relname = %s AND relnamespace = current_schema()::regnamespace AND tgenabled IN ('O', 'A') AND NOT tgisinternal
"""


def table_names(connection: Connection) -> set[str]:
    """The names of the tables; without SQLAlchemy's inspector, which costs a millisecond to load."""
    asked = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRESQL
    return {row[0] for row in connection.exec_driver_sql(asked)}


def trigger_names(connection: Connection, table: str) -> set[str]:
    """The names of the triggers that fire when a table changes."""
    asked = _SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else _POSTGRESQL_TRIGGERS
    return {row[0] for row in connection.exec_driver_sql(asked, (table,))}
