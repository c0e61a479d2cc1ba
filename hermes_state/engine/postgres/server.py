"""What there is to know of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

# The oldest release that is tested.
OLDEST = 15
# The rights on tables that the program's own work needs.
_RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")

# Big tables of ours of which there are no statistics at all.
_UNKNOWN = """
SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class
WHERE oid IN ('messages'::regclass, 'sessions'::regclass, 'message_index'::regclass)
      AND reltuples < 0 AND pg_relation_size(oid) > %s
"""
_WORTH_KNOWING = 1_000_000


class Condition(NamedTuple):
    """Something about a server that should be so: what it is now, and what to do when it is not right."""

    name: str
    is_right: bool
    what: str
    remedy: str = ""


def examine(connection: Connection) -> Iterator[Condition]:
    """Version, encoding, rights, separation of stores, durability, upkeep, and encryption of the connection."""
    ask = _Asking(connection)
    number = int(ask("SHOW server_version_num")) // 10_000
    yield Condition(
        "server_version", number >= OLDEST, version(connection), f"PostgreSQL {OLDEST} or newer is what is tested"
    )
    encoding = ask("SHOW server_encoding")
    yield Condition("encoding", encoding == "UTF8", f"the database's encoding is {encoding}", "make one with UTF8")
    lacking = [right for right in _RIGHTS if not ask("SELECT has_table_privilege('messages', %s)", right)]
    yield Condition(
        "rights",
        not lacking,
        f"the role lacks {', '.join(lacking)} on the tables" if lacking else "the role may read and write the tables",
        "grant them, or connect as the role that owns the tables",
    )
    forced = ask("SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = 'messages'::regclass")
    yield Condition(
        "stores_apart",
        bool(forced),
        "each connection sees one store" if forced else "row-level security is off: every store is seen",
        "ALTER TABLE … FORCE ROW LEVEL SECURITY on every table",
    )
    durable = ask("SHOW synchronous_commit") != "off" and ask("SHOW fsync") == "on"
    yield Condition(
        "durable",
        durable,
        "a commit survives a crash of the server" if durable else "a crash of the server can lose commits",
        "set fsync and synchronous_commit to on",
    )
    yield _upkeep(ask)
    yield from _encryption(ask)


def _upkeep(ask: _Asking) -> Condition:
    """Whether the planner knows the big tables: one that it has never looked at may be read whole."""
    if ask("SHOW autovacuum") != "on" or ask("SHOW track_counts") != "on":
        return Condition("upkeep", False, "autovacuum is off: tables grow and plans grow old", "set it on")
    unknown = ask(_UNKNOWN, _WORTH_KNOWING)
    what = (
        f"the server has never analyzed {unknown}" if unknown else "autovacuum is on, and the big tables were analyzed"
    )
    return Condition("upkeep", not unknown, what, "`hermes-state db optimize --db URL` does it, as the tables' owner")


def _encryption(ask: _Asking) -> Iterator[Condition]:
    address = ask("SELECT host(inet_server_addr())")
    encrypted = bool(ask("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))
    is_near = address is None or address.startswith("127.") or address == "::1"
    what = "the connection is encrypted" if encrypted else "the connection is not encrypted"
    yield Condition("encryption", encrypted or is_near, what, "add ?sslmode=verify-full to the URL")


class _Asking:
    """One value of one statement."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __call__(self, statement: str, *values: str | int) -> Any:
        return self._connection.exec_driver_sql(statement, values or None).scalar()


def version(connection: Connection) -> str:
    """As `PostgreSQL 15.18`."""
    return f"PostgreSQL {connection.exec_driver_sql('SHOW server_version').scalar_one().split()[0]}"


def database_bytes(connection: Connection) -> int:
    """The size of the database, all its stores together."""
    return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())
