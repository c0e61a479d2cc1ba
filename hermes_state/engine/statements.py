"""SQL that is written per engine because it runs once per message."""

from __future__ import annotations

from functools import cache

# Columns an append may give. Those without a value are left out: a bound NULL costs the driver 0.8 µs, and most are
# NULL.
APPEND_OPTIONAL = (
    "tool_call_count",
    "tool_name",
    "tool_call_id",
    "platform_message_id",
    "content_format",
    "tool_calls",
    "details",
)
_GIVEN = frozenset(("created_at", "role", "content", *APPEND_OPTIONAL))

# One statement, hence one transaction: finds the session, takes the next id and position, adds the row. When there is
# no such session, or it is sealed, the key is NULL and the statement fails on it; when the session has a message with
# this platform id already, it gives no row. Ids start above both the newest message and the floor that deletions
# leave, so none is given out twice. VALUES with scalar subqueries, since INSERT … SELECT from the table itself would
# go through a temporary table.
_APPEND = """
INSERT INTO messages (id, session_pk, position, state{names})
VALUES (max(coalesce((SELECT max(id) FROM messages), 0), (SELECT id_floor FROM store_state)) + 1,
        (SELECT pk FROM sessions WHERE id = ?1 AND NOT sealed),
        coalesce((SELECT max(position) FROM messages
                  WHERE session_pk = (SELECT pk FROM sessions WHERE id = ?1)), -1) + 1,
        0{marks})
ON CONFLICT (session_pk, platform_message_id) WHERE platform_message_id IS NOT NULL DO NOTHING
RETURNING id, position, session_pk
"""

# The same for who knows the store's newest message (?2) and the session's key (?3) and next position (?4) already. When
# another message is the newest by now, or the session is not what it was, the key is NULL and the statement fails.
_APPEND_AFTER = """
INSERT INTO messages (id, session_pk, position, state{names})
VALUES (?2 + 1,
        (SELECT pk FROM sessions
         WHERE pk = ?3 AND id = ?1 AND NOT sealed AND ?2 = (SELECT max(id) FROM messages)),
        ?4,
        0{marks})
"""


@cache
def append_statement(columns: tuple[str, ...]) -> str:
    """The statement that appends a message to the session whose id is its first parameter.

    Args:
        columns: those that are given, as its further parameters. They are few, and come in the order of a caller's
            fields, so there are few statements.
    """
    return _filled(_APPEND, columns, first=2)


@cache
def append_after_statement(columns: tuple[str, ...]) -> str:
    """The statement that appends a message after one that is known; its columns come from the fifth parameter on."""
    return _filled(_APPEND_AFTER, columns, first=5)


def _filled(statement: str, columns: tuple[str, ...], *, first: int) -> str:
    assert set(columns) <= _GIVEN
    names = "".join(f", {name}" for name in columns)
    marks = "".join(f", ?{number}" for number in range(first, first + len(columns)))
    return statement.format(names=names, marks=marks)
