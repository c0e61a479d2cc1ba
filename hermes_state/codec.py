"""Message fields to columns and back, without losing a code point.

Text that UTF-8 can hold and that has no NUL is stored as it is, so that anybody can read it with any SQLite shell.
Everything else (multimodal parts, lone surrogates, NUL) is stored as ASCII-safe JSON, which both engines can hold.
Long values are packed: see `hermes_state.packing`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_state.clock import from_us, to_us
from hermes_state.errors import InvalidValue, StoreDamaged
from hermes_state.packing import pack, unpack
from hermes_state.records import Message, MessageState, message_of

if TYPE_CHECKING:
    from collections.abc import Callable

# Deepest nesting that is stored: a reader with a deep stack of its own must still be able to parse it.
MAX_DEPTH = 200
# `messages.content_format` when content is JSON; NULL means plain text.
JSON_FORMAT = 1

# Fields of a message that are kept together in the JSON object `details`, in the order they are written.
DETAIL_FIELDS = (
    "token_count",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "api_content",
    "effect_disposition",
    "observed",
)
COLUMN_FIELDS = (
    "role",
    "content",
    "created_at",
    "state",
    "tool_name",
    "tool_call_id",
    "tool_calls",
    "platform_message_id",
)
_read_json = json.JSONDecoder().raw_decode
# As `json.dumps`, which makes an encoder at every call that is not all defaults: 2 µs.
_write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# Columns of `messages` with texts that may be long.
PACKED_COLUMNS = ("content", "tool_calls", "details")
_DETAIL_SET = frozenset((*DETAIL_FIELDS, "extras"))

# Columns of `messages` and their values; those that would be NULL are left out.
Columns = dict[str, Any]
# How the fields of a message that is given become those that are stored: `message_fields`, or without secrets.
FieldsOf: TypeAlias = "Callable[[Mapping[str, Any] | Message], Mapping[str, Any]]"


def is_plain(text: str) -> bool:
    """Whether UTF-8 can hold the text and no NUL is in it."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_json(value: Any, field: str) -> str:
    """Compact JSON that UTF-8 can hold.

    Raises:
        InvalidValue: the value holds something JSON has no form for; names the field.
    """
    try:
        text = _write_json(value)
        if text.count("[") + text.count("{") > MAX_DEPTH:
            _check_depth(value, field)
        return text if is_plain(text) else json.dumps(value, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"{field} can't be stored as JSON: {error}") from error


def _check_depth(value: Any, field: str) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for outer in level
            if isinstance(outer, dict | list | tuple)
            for item in (outer.values() if isinstance(outer, dict) else outer)
        ]
    if level:
        raise InvalidValue(f"{field} is nested deeper than {MAX_DEPTH} levels")


def from_json(stored: str | bytes | None) -> Any:
    """The value of a JSON column; None for NULL.

    Raises:
        StoreDamaged: the column does not hold JSON any more.
    """
    if stored is None:
        return None
    text = unpack(stored)
    try:
        return _loads(text)
    except ValueError as error:
        raise StoreDamaged(f"stored JSON can't be read back: {error}", hint=_HINT) from error


def _loads(text: str) -> Any:
    """As `json.loads`, without its look for a byte order mark and for blanks, neither of which we write."""
    try:
        value, end = _read_json(text)
    except json.JSONDecodeError:
        end = -1
    return value if end == len(text) else json.loads(text)


_HINT = "`hermes-state db check` tells more, `db recover` salvages"


def clean(text: str | None) -> str | None:
    """A name-like field that is compared and indexed: lone surrogates become U+FFFD, NUL goes."""
    if text is None or is_plain(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")


def encode(fields: Mapping[str, Any], now: int, *, is_packed: bool = True) -> Columns:
    """The columns of a message given as a mapping: only those that have a value.

    Args:
        fields: `role` and any other field of `Message`; a name the store does not know goes to `extras`.
        now: microseconds to use when there is no `created_at`.
        is_packed: compress long values, as SQLite's rows have them; a server does that by itself.

    Raises:
        InvalidValue: no role, a naive time, or a value that JSON can't hold.
    """
    columns: Columns = {"created_at": now, "role": ""}
    details: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None:
            continue
        put = _PUT.get(name)
        if put is not None:
            put(columns, value)
        elif name not in _DETAIL_SET:
            extras[name] = value
        elif value is not False or name != "observed":  # which is False where nothing is stored
            details[name] = value
    if not columns["role"]:
        raise InvalidValue("a message needs a role", hint="user, assistant, tool, system, …")
    if details or extras:
        _put_details(columns, details, extras)
    if is_packed:
        for name in PACKED_COLUMNS:
            if name in columns:
                columns[name] = pack(columns[name])
    return columns


def _put_created_at(columns: Columns, value: Any) -> None:
    if not isinstance(value, datetime):
        raise InvalidValue(f"created_at is an aware datetime, not {value!r}")
    columns["created_at"] = to_us(value)


def _put_role(columns: Columns, value: Any) -> None:
    if not isinstance(value, str):
        raise InvalidValue(f"a role is a word, not {value!r}", hint="user, assistant, tool, system, …")
    columns["role"] = clean(value)


def _put_content(columns: Columns, value: Any) -> None:
    if isinstance(value, str) and is_plain(value):
        columns["content"] = value
        return
    columns["content"] = to_json(value, "content")
    columns["content_format"] = JSON_FORMAT


def _put_tool_calls(columns: Columns, value: Any) -> None:
    columns["tool_calls"] = to_json(value, "tool_calls")
    if isinstance(value, list):
        columns["tool_call_count"] = len(value)


def _put_state(columns: Columns, value: Any) -> None:
    try:
        columns["state"] = int(MessageState(value))
    except ValueError as error:
        raise InvalidValue(f"a message's state is a MessageState, not {value!r}") from error


def _put_platform_message_id(columns: Columns, value: Any) -> None:
    text = clean(value if isinstance(value, str) else str(value))
    if text:  # an empty one names no message, so it must not make two of them one
        columns["platform_message_id"] = text


def _text_putter(name: str) -> Callable[[Columns, Any], None]:
    def put(columns: Columns, value: Any) -> None:
        columns[name] = clean(value if isinstance(value, str) else str(value))

    return put


_PUT: dict[str, Callable[[Columns, Any], None]] = {
    "role": _put_role,
    "content": _put_content,
    "created_at": _put_created_at,
    "state": _put_state,
    "tool_calls": _put_tool_calls,
    "platform_message_id": _put_platform_message_id,
    **{name: _text_putter(name) for name in ("tool_name", "tool_call_id")},
}


def _put_details(columns: Columns, given: dict[str, Any], unknown: dict[str, Any]) -> None:
    details = {name: given[name] for name in DETAIL_FIELDS if name in given}
    known = given.get("extras", {})
    if not isinstance(known, Mapping):
        raise InvalidValue(f"extras are a mapping of names to values, not {known!r}")
    extras = {**known, **unknown}
    if extras:
        details["extras"] = extras
    if details:
        columns["details"] = to_json(details, "the message's details")


def decode(row: Any, session_id: str) -> Message:
    """The record of a row with the columns of `messages`.

    Raises:
        StoreDamaged: a column does not hold what was written; names the message.
    """
    try:
        return _decode(row, session_id)
    except (StoreDamaged, ValueError, TypeError, OverflowError) as error:
        raise StoreDamaged(
            f"message {row.id} of session {session_id} can't be read back: {error}", hint=_HINT
        ) from error


def _decode(row: Any, session_id: str) -> Message:
    content = None if row.content is None else unpack(row.content)
    return message_of(
        {
            "id": row.id,
            "session_id": session_id,
            "position": row.position,
            "role": row.role,
            "content": content if content is None or row.content_format is None else json.loads(content),
            "created_at": from_us(row.created_at),
            "state": MessageState(row.state),
            "tool_name": row.tool_name,
            "tool_call_id": row.tool_call_id,
            "tool_calls": from_json(row.tool_calls),
            "platform_message_id": row.platform_message_id,
            **(from_json(row.details) or {}),
        }
    )


def message_fields(message: Mapping[str, Any] | Message) -> Mapping[str, Any]:
    """The fields of a stored message that a copy of it has too; a mapping is taken as it is."""
    if isinstance(message, Message):
        return {name: getattr(message, name) for name in (*COLUMN_FIELDS, *DETAIL_FIELDS, "extras")}
    return message


def searchable_text(content: str | bytes | None, content_format: int | None, tool_calls: str | bytes | None) -> str:
    """What the index and snippets see of a message: its text, the text parts of multimodal content, its tool calls.

    Image and audio data never gets in: only string values under `text`-like keys are taken from parts. What can't be
    read back has no words: a damaged message must not keep the others from being found; `db check` reports it.
    """
    text = ""
    try:
        if content_format is not None:
            text = "\n".join(_texts(from_json(content)))
        elif content:
            text = content if isinstance(content, str) else unpack(content)
    except StoreDamaged:
        text = ""
    if tool_calls:
        try:
            text = "\n".join((text, *_call_texts(from_json(tool_calls))))
        except StoreDamaged:
            return text
    return text


def says_something(message: Columns) -> bool:
    """Whether a message has content or calls. Blanks and empty parts are none: a failed summary looks like that."""
    content = message.get("content")
    if content is None or message.get("tool_calls"):
        return bool(message.get("tool_calls"))
    if message.get("content_format") is None:
        return bool(unpack(content).strip())
    return any(_says(part) for part in _parts(from_json(content)))


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _says(part: Any) -> bool:
    if isinstance(part, str):
        return bool(part.strip())
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return bool(part["text"].strip())
    return part is not None and part not in ({}, [])


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for key, item in value.items() if key not in _DATA_KEYS for text in _texts(item)]
    return [str(value)] if isinstance(value, int | float) and not isinstance(value, bool) else []


# Keys of content parts whose value is data or a type name, not words anybody would search for.
_DATA_KEYS = frozenset(
    (
        "type",
        "image_url",
        "input_image",
        "image",
        "data",
        "source",
        "input_audio",
        "audio",
        "file",
        "file_data",
        "id",
        "detail",
    )
)


# What of a call somebody would search for.
_CALL_KEYS = ("name", "arguments", "input")


def _call_texts(calls: Any) -> list[str]:
    """Function names and arguments; ids and type names are left out."""
    texts: list[str] = []
    for call in calls if isinstance(calls, list) else [calls]:
        function = call.get("function", call) if isinstance(call, dict) else call
        if isinstance(function, dict):
            said = map(function.get, _CALL_KEYS)
            texts += [value if isinstance(value, str) else str(value) for value in said if value]
        elif function:
            texts.append(str(function))
    return texts
