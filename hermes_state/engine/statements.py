"""SQL that is written per engine because it runs once per message."""

# One statement, hence one transaction: finds the session, takes the next id and position, adds the row. It gives no
# row when there is no such session, when it is sealed, or when it has a message with this platform id already.
# Ids start above both the newest message and the floor that deletions leave, so none is given out twice.
APPEND = """
INSERT INTO messages (id, session_pk, position, created_at, state, role, tool_call_count, tool_name, tool_call_id,
                      platform_message_id, content_format, content, tool_calls, details)
SELECT max(coalesce((SELECT max(id) FROM messages), 0), store_state.id_floor) + 1,
       sessions.pk,
       coalesce((SELECT max(position) FROM messages WHERE session_pk = sessions.pk), -1) + 1,
       ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
FROM sessions, store_state
WHERE sessions.id = ? AND NOT sessions.sealed
ON CONFLICT (session_pk, platform_message_id) WHERE platform_message_id IS NOT NULL DO NOTHING
RETURNING id, position
"""
