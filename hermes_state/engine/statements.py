"""SQL that is written per engine because it runs once per message."""

from __future__ import annotations

from functools import cache

# Columns an append gives only when they have a value: a bound NULL costs the driver 0.8 µs, and most are NULL.
APPEND_OPTIONAL = (
    "tool_call_count",
    "tool_name",
    "tool_call_id",
    "platform_message_id",
    "content_format",
    "tool_calls",
    "details",
)

# One statement, hence one transaction: finds the session, takes the next id and position, adds the row. When there is
# no such session, or it is sealed, the key is NULL and the statement fails on it; when the session has a message with
# this platform id already, it gives no row. Ids start above both the newest message and the floor that deletions
# leave, so none is given out twice. VALUES with scalar subqueries, since INSERT … SELECT from the table itself would
# go through a temporary table.
_APPEND = """
INSERT INTO messages (id, session_pk, position, state, created_at, role, content{names})
VALUES (max(coalesce((SELECT max(id) FROM messages), 0), (SELECT id_floor FROM store_state)) + 1,
        (SELECT pk FROM sessions WHERE id = ?1 AND NOT sealed),
        coalesce((SELECT max(position) FROM messages
                  WHERE session_pk = (SELECT pk FROM sessions WHERE id = ?1)), -1) + 1,
        0, ?2, ?3, ?4{marks})
ON CONFLICT (session_pk, platform_message_id) WHERE platform_message_id IS NOT NULL DO NOTHING
RETURNING id, position
"""


@cache
def append_statement(optional: tuple[str, ...]) -> str:
    """The append statement that also gives these columns of `APPEND_OPTIONAL`."""
    assert set(optional) <= set(APPEND_OPTIONAL)
    names = "".join(f", {name}" for name in optional)
    marks = "".join(f", ?{number}" for number in range(5, 5 + len(optional)))
    return _APPEND.format(names=names, marks=marks)
