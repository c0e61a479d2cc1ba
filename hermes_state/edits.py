"""Changes to a transcript, each inside the caller's write transaction: add, take back, compact, replace."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, bindparam, case, cast, func, insert, select, update

from hermes_state.activity import FOLD_EVERY, fold, recount
from hermes_state.codec import Columns, decode, encode, from_json, message_fields, says_something
from hermes_state.engine.ids import MessageIds
from hermes_state.errors import InvalidValue, MessageNotFound
from hermes_state.packing import unpack
from hermes_state.records import Message, MessageState, Rewind
from hermes_state.replay import call_id, call_name
from hermes_state.schema import messages, sessions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

_m = messages.c
# Ids bound to one statement, well below SQLite's limit.
_CHUNK = 500


def append_all(connection: Connection, session_pk: int, session_id: str, encoded: Sequence[Columns]) -> list[Message]:
    """Add messages at the end; one whose platform id the session has already is returned as it is stored."""
    keys = [message["platform_message_id"] for message in encoded if "platform_message_id" in message]
    stored = _by_platform_id(connection, session_pk, keys) if keys else {}
    new_ids, position = MessageIds(connection), _next_position(connection, session_pk)
    name_tools(connection, session_id, encoded)
    rows: dict[int, dict[str, Any]] = {}
    ids: list[int] = []
    for message in encoded:
        key = message.get("platform_message_id")
        if key is not None and key in stored:
            ids.append(stored[key])
            continue
        new_id = new_ids.take()
        row = _EMPTY | message | {"id": new_id, "session_pk": session_pk, "position": position}
        if key is not None:
            stored[key] = new_id
        rows[new_id] = row
        ids.append(new_id)
        position += 1
    if rows:
        connection.execute(insert(messages), list(rows.values()))
        if min(rows) // FOLD_EVERY != (max(rows) + 1) // FOLD_EVERY:
            fold(connection)
    earlier = {m.id: m for m in load_in_order(connection, session_id, [i for i in ids if i not in rows])}
    return [record_of(session_id, rows[i]) if i in rows else earlier[i] for i in ids]


# A row to lay the given columns over: every row of one INSERT names the same columns.
_EMPTY: dict[str, Any] = {c.name: None for c in messages.c} | {"state": int(MessageState.ACTIVE)}


def record_of(session_id: str, columns: Columns) -> Message:
    """The record of a message that was just stored, without reading it back."""
    return decode(SimpleNamespace(**(_EMPTY | columns)), session_id)


# An agent amends a message in most turns: built once, since building a statement takes longer than running it.
_WITH_OWNER = select(messages, sessions.c.id.label("owner")).join(sessions).where(_m.id == bindparam("of_id"))
_SET_DETAILS = update(messages).where(_m.id == bindparam("of_id")).values(details=bindparam("new_details"))


def amend(connection: Connection, message_id: int, given: Mapping[str, Any]) -> Message:
    """Add detail fields and extras to a stored message."""
    stored = connection.execute(_WITH_OWNER, {"of_id": message_id}).mappings().fetchone()
    if stored is None:
        raise MessageNotFound(message_id)
    row = dict(stored)
    owner = row.pop("owner")
    message = decode(SimpleNamespace(**row), owner)
    fields = {**message_fields(message), **given, "extras": {**message.extras, **given.get("extras", {})}}
    row["details"] = encode(fields, row["created_at"]).get("details")
    connection.execute(_SET_DETAILS, {"of_id": message_id, "new_details": row["details"]})
    return decode(SimpleNamespace(**row), owner)


def load_in_order(connection: Connection, session_id: str, ids: Sequence[int]) -> list[Message]:
    """Messages of one session by id, in the order of `ids`."""
    found: dict[int, Message] = {}
    for start in range(0, len(ids), _CHUNK):
        rows = connection.execute(select(messages).where(_m.id.in_(ids[start : start + _CHUNK])))
        found.update((row.id, decode(row, session_id)) for row in rows)
    return [found[i] for i in ids]


def _next_position(connection: Connection, session_pk: int) -> int:
    last = connection.execute(select(func.max(_m.position)).where(_m.session_pk == session_pk)).scalar()
    return 0 if last is None else int(last) + 1


def _by_platform_id(connection: Connection, session_pk: int, keys: Sequence[str]) -> dict[str, int]:
    """The messages that have these platform ids; one that was taken back yields its id to the message said anew."""
    found: dict[str, int] = {}
    for start in range(0, len(keys), _CHUNK):
        query = select(_m.platform_message_id, _m.id, _m.state).where(
            _m.session_pk == session_pk, _m.platform_message_id.in_(keys[start : start + _CHUNK])
        )
        rows = connection.execute(query).fetchall()
        found.update((row.platform_message_id, row.id) for row in rows if row.state != MessageState.REWOUND)
        release_platform_ids(connection, [row.id for row in rows if row.state == MessageState.REWOUND])
    return found


def name_tools(connection: Connection, session_id: str, encoded: Sequence[Columns]) -> None:
    """Give tool results without a tool's name the name of the call they answer, among these messages or stored ones."""
    unnamed = [m for m in encoded if m["role"] == "tool" and "tool_name" not in m and "tool_call_id" in m]
    if not unnamed:
        return
    names = _names_of_calls(encoded)
    for message in unnamed:
        call = message["tool_call_id"]
        name = names.get(call) or called_tool(connection, session_id, call)
        if name is not None:
            message["tool_name"] = name


def _names_of_calls(encoded: Sequence[Columns]) -> dict[str, str]:
    """Tool names by call id, from the calls among the messages being added."""
    names: dict[str, str] = {}
    for message in encoded:
        for call in from_json(message.get("tool_calls")) or ():
            key, name = call_id(call), call_name(call)
            if key and name:
                names[key] = name
    return names


def called_tool(connection: Connection, session_id: str, tool_call_id: str) -> str | None:
    """The name of the tool that the newest call with this id called."""
    recent = (
        select(_m.tool_calls)
        .where(_m.session_pk == select(sessions.c.pk).where(sessions.c.id == session_id).scalar_subquery())
        .where(_m.tool_calls.is_not(None))
        .order_by(_m.position.desc())
        .limit(20)  # a result follows its call closely
    )
    for (text,) in connection.execute(recent):
        for call in from_json(text):
            if call_id(call) == tool_call_id:
                return call_name(call)
    return None


# --- taking back ------------------------------------------------------------------------------------------------


def rewind(
    connection: Connection, session_pk: int, session_id: str, to_message_id: int | None, last: int | None
) -> Rewind:
    """Take back a tail of the active transcript."""
    if (to_message_id is None) == (last is None):
        raise InvalidValue("a rewind needs either to_message_id or last")
    fold(connection)
    active = select(messages).where(_m.session_pk == session_pk, _m.state == MessageState.ACTIVE)
    if to_message_id is not None:
        anchor = connection.execute(active.where(_m.id == to_message_id)).fetchone()
        if anchor is None:
            raise MessageNotFound(to_message_id, session_id)
        rows = connection.execute(active.where(_m.position >= anchor.position).order_by(_m.position)).fetchall()
    else:
        rows = connection.execute(active.order_by(_m.position.desc()).limit(max(last or 0, 0))).fetchall()[::-1]
    number = _mark_rewound(connection, session_pk, [row.id for row in rows])
    taken = tuple(decode(row, session_id) for row in rows)
    return Rewind(session_id=session_id, number=number, messages=taken)


def _mark_rewound(connection: Connection, session_pk: int, ids: Sequence[int]) -> int:
    count = select(sessions.c.rewind_count).where(sessions.c.pk == session_pk)
    number = int(connection.execute(count).scalar_one())
    if not ids:
        return number
    number += 1
    _set_state(connection, ids, state=MessageState.REWOUND, rewind_number=number)
    connection.execute(update(sessions).where(sessions.c.pk == session_pk).values(rewind_count=number))
    recount(connection, session_pk)
    return number


def _set_state(connection: Connection, ids: Sequence[int], **values: Any) -> None:
    for start in range(0, len(ids), _CHUNK):
        connection.execute(update(messages).where(_m.id.in_(ids[start : start + _CHUNK])).values(**values))


def undo_rewind(connection: Connection, session_pk: int, session_id: str) -> list[Message]:
    """Bring back the newest rewind of a session."""
    fold(connection)
    rewound = select(_m.id, _m.rewind_number).where(_m.session_pk == session_pk, _m.state == MessageState.REWOUND)
    rows = connection.execute(rewound.order_by(_m.position)).fetchall()
    newest = max((row.rewind_number or 0 for row in rows), default=None)
    ids = [row.id for row in rows if (row.rewind_number or 0) == newest]
    _set_state(connection, ids, state=MessageState.ACTIVE, rewind_number=None)
    _reclaim_platform_ids(connection, session_pk, ids)
    recount(connection, session_pk)
    return load_in_order(connection, session_id, ids)


# --- compacting and replacing -----------------------------------------------------------------------------------


def compact(
    connection: Connection, session_pk: int, session_id: str, summary: Sequence[Columns], keep_last: int
) -> list[Message]:
    """Archive the active messages but the last ones; the summary goes before those, which move behind it."""
    if not any(map(says_something, summary)):
        raise InvalidValue(
            "the summary is empty; nothing was compacted", hint="keep the transcript and summarise again"
        )
    fold(connection)
    ids = _active_ids(connection, session_pk)
    kept = ids[max(len(ids) - keep_last, 0) :] if keep_last > 0 else []
    _set_state(connection, ids[: len(ids) - len(kept)], state=MessageState.COMPACTED)
    added = append_all(connection, session_pk, session_id, summary)
    _move_to_end(connection, session_pk, kept)
    fold(connection)
    recount(connection, session_pk)
    return load_in_order(connection, session_id, [message.id for message in added])


def _active_ids(connection: Connection, session_pk: int) -> list[int]:
    query = select(_m.id).where(_m.session_pk == session_pk, _m.state == MessageState.ACTIVE).order_by(_m.position)
    return list(connection.execute(query).scalars())


def _move_to_end(connection: Connection, session_pk: int, ids: Sequence[int]) -> None:
    start = _next_position(connection, session_pk)
    for offset, message_id in enumerate(ids):
        connection.execute(update(messages).where(_m.id == message_id).values(position=start + offset))


def replace(connection: Connection, session_pk: int, session_id: str, encoded: Sequence[Columns]) -> list[Message]:
    """Put a transcript in the place of the active one; an equal start is kept, the rest of the old one is rewound."""
    fold(connection)
    active = select(messages).where(_m.session_pk == session_pk, _m.state == MessageState.ACTIVE).order_by(_m.position)
    rows = connection.execute(active).fetchall()
    same = 0
    while same < min(len(rows), len(encoded)) and _equal(rows[same], encoded[same]):
        same += 1
    _mark_rewound(connection, session_pk, [row.id for row in rows[same:]])
    release_platform_ids(connection, [row.id for row in rows[same:]])
    added = append_all(connection, session_pk, session_id, encoded[same:])
    fold(connection)
    recount(connection, session_pk)
    return [decode(row, session_id) for row in rows[:same]] + added


def _equal(row: Any, message: Columns) -> bool:
    """Whether a stored message is the one given; times differ between a stored message and its copy and don't count."""
    return all(_plain(getattr(row, name)) == _plain(message.get(name)) for name in _COMPARED)


def _plain(value: Any) -> Any:
    return unpack(value) if isinstance(value, bytes) else value  # two zstd frames of one text may differ


_COMPARED = ("role", "content_format", "content", "tool_calls", "tool_call_id", "details")


def release_platform_ids(connection: Connection, ids: Sequence[int]) -> None:
    """A message that was taken back leaves its platform id to its successor and keeps it with a mark of its own."""
    marked = case((_m.platform_message_id.is_(None), None), else_=_m.platform_message_id + _MARK + cast(_m.id, String))
    for start in range(0, len(ids), _CHUNK):
        some = ids[start : start + _CHUNK]
        connection.execute(update(messages).where(_m.id.in_(some)).values(platform_message_id=marked))


def _reclaim_platform_ids(connection: Connection, session_pk: int, ids: Sequence[int]) -> None:
    """Messages that are brought back get their platform ids back, unless a successor has them now."""
    for start in range(0, len(ids), _CHUNK):
        some = _m.id.in_(ids[start : start + _CHUNK])
        marked = select(_m.id, _m.platform_message_id).where(some, _m.platform_message_id.contains(_MARK))
        own = {message_id: key.removesuffix(f"{_MARK}{message_id}") for message_id, key in connection.execute(marked)}
        taken = _by_platform_id(connection, session_pk, list(own.values()))
        for message_id, key in own.items():
            if key not in taken:
                connection.execute(update(messages).where(_m.id == message_id).values(platform_message_id=key))


# Between a platform id and the message's own id, once the message was taken back and another one has its platform id.
_MARK = "#replaced-"
