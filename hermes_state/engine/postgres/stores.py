"""The stores of one database: each has a number, under which its rows are kept apart from the others'."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

from hermes_state.errors import ReadOnlyStore, StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hermes_state.engine.postgres.engine import PostgresEngine

_BYPASSES = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_FIND = "SELECT number FROM stores WHERE name = %s"
_MAKE = "INSERT INTO stores (name) VALUES (%s) ON CONFLICT (name) DO NOTHING"
_ENTER = "SELECT set_config('hermes_state.store', %s, true)"
_STATE = """
INSERT INTO store_state (id, store_id, created_at, id_floor, counted_through, indexed_through)
VALUES (1, %s, %s, 0, 0, 0) ON CONFLICT DO NOTHING
"""
# Rows that there is one of in every store: on SQLite the revisions make them.
_FACTS = """
INSERT INTO fact_state (id, id_floor, changes, indexed_through, dim, encoded_through, banked_through, compared_through)
VALUES (1, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING
"""


def enter(engine: PostgresEngine) -> None:
    """Make the engine's connections see the store of its address, which is made when it is not there.

    Raises:
        StoreUnavailable: the role sees through the separation of stores.
        ReadOnlyStore: there is no such store, and the engine is to write nothing.
    """
    with engine.read() as connection:
        if connection.exec_driver_sql(_BYPASSES).scalar():
            raise StoreUnavailable(
                f"{engine.shown}: a superuser's connection is not kept to one store",
                hint="connect as an ordinary role; `docs/postgres.md` has the three lines that make one",
            )
        number = _find(connection, engine.address.store)
    if number is None:
        if engine.read_only:
            raise ReadOnlyStore(f"{engine.shown}: there is no store {engine.address.store!r}")
        with engine.migration() as connection:
            number = _make(connection, engine.address.store)
    engine.enter(number)


def _find(connection: Connection, name: str) -> int | None:
    found = connection.exec_driver_sql(_FIND, (name,)).scalar()
    return None if found is None else int(found)


def _make(connection: Connection, name: str) -> int:
    connection.exec_driver_sql(_MAKE, (name,))
    number = _find(connection, name)
    assert number is not None
    connection.exec_driver_sql(_ENTER, (str(number),))
    connection.exec_driver_sql(_STATE, (str(uuid.uuid4()), time.time_ns() // 1000))
    connection.exec_driver_sql(_FACTS)
    return number
