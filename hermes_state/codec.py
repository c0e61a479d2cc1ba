"""Message fields to columns and back, without losing a code point.

Text that UTF-8 can hold and that has no NUL is stored as it is, so that anybody can read it with any SQLite shell.
Everything else (multimodal parts, lone surrogates, NUL) is stored as ASCII-safe JSON, which both engines can hold.
Long values are packed: see `hermes_state.packing`.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.clock import from_us, to_us
from hermes_state.errors import InvalidValue
from hermes_state.packing import pack, unpack
from hermes_state.records import Message, MessageState

if TYPE_CHECKING:
    from collections.abc import Mapping

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
_COLUMN_SET = frozenset(COLUMN_FIELDS)
_DETAIL_SET = frozenset((*DETAIL_FIELDS, "extras"))
_NOTHING_OBSERVED = frozenset(("observed",))


class EncodedMessage(NamedTuple):
    """The columns of a message that do not depend on where it goes."""

    created_at: int
    state: int
    role: str
    tool_call_count: int | None
    tool_name: str | None
    tool_call_id: str | None
    platform_message_id: str | None
    content_format: int | None
    content: str | bytes | None
    tool_calls: str | bytes | None
    details: str | bytes | None

    def given(self) -> dict[str, Any]:
        """The columns that have a value."""
        return {name: value for name, value in zip(self._fields, self, strict=True) if value is not None}


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
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text if is_plain(text) else json.dumps(value, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"{field} can't be stored as JSON: {error}") from error


def from_json(stored: str | bytes | None) -> Any:
    """The value of a JSON column; None for NULL."""
    return None if stored is None else json.loads(unpack(stored))


def clean(text: str | None) -> str | None:
    """A name-like field that is compared and indexed: lone surrogates become U+FFFD, NUL goes."""
    if text is None or is_plain(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")


def encode(fields: Mapping[str, Any], now: int) -> EncodedMessage:
    """The columns of a message given as a mapping.

    Args:
        fields: `role` and any other field of `Message`; a name the store does not know goes to `extras`.
        now: microseconds to use when there is no `created_at`.

    Raises:
        InvalidValue: no role, a naive time, or a value that JSON can't hold.
    """
    role = fields.get("role")
    if not role or not isinstance(role, str):
        raise InvalidValue(
            f"a message needs a role, not {role!r}", hint="user, assistant, tool, system or any other name"
        )
    content = fields.get("content")
    content_format = None
    if content is not None and (not isinstance(content, str) or not is_plain(content)):
        content, content_format = to_json(content, "content"), JSON_FORMAT
    tool_calls = fields.get("tool_calls")
    created_at = fields.get("created_at")
    return EncodedMessage(
        now if created_at is None else _instant(created_at),
        int(fields.get("state") or 0),
        clean(role) or role,
        len(tool_calls) if isinstance(tool_calls, list) else None,
        _text(fields, "tool_name"),
        _text(fields, "tool_call_id"),
        _text(fields, "platform_message_id"),
        content_format,
        None if content is None else pack(content),
        None if tool_calls is None else pack(to_json(tool_calls, "tool_calls")),
        _details(fields),
    )


def _instant(value: Any) -> int:
    if not isinstance(value, datetime):
        raise InvalidValue(f"created_at is an aware datetime, not {value!r}")
    return to_us(value)


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return clean(value if isinstance(value, str) or value is None else str(value))


def _details(fields: Mapping[str, Any]) -> str | bytes | None:
    rest = fields.keys() - _COLUMN_SET
    if not rest or (rest == _NOTHING_OBSERVED and not fields["observed"]):
        return None
    details = {name: value for name in DETAIL_FIELDS if (value := fields.get(name)) is not None and value is not False}
    extras = dict(fields.get("extras") or ())
    extras.update((name, fields[name]) for name in rest - _DETAIL_SET)
    if extras:
        details["extras"] = extras
    return pack(to_json(details, "the message's details")) if details else None


def decode(row: Any, session_id: str) -> Message:
    """The record of a row with the columns of `messages`."""
    details: dict[str, Any] = from_json(row.details) or {}
    content = None if row.content is None else unpack(row.content)
    return Message(
        id=row.id,
        session_id=session_id,
        position=row.position,
        role=row.role,
        content=content if content is None or row.content_format is None else json.loads(content),
        created_at=from_us(row.created_at),
        state=MessageState(row.state),
        tool_name=row.tool_name,
        tool_call_id=row.tool_call_id,
        tool_calls=from_json(row.tool_calls),
        platform_message_id=row.platform_message_id,
        **details,
    )


def message_fields(message: Mapping[str, Any] | Message) -> Mapping[str, Any]:
    """The fields of a stored message that a copy of it has too; a mapping is taken as it is."""
    if isinstance(message, Message):
        return {name: getattr(message, name) for name in (*COLUMN_FIELDS, *DETAIL_FIELDS, "extras")}
    return message


def searchable_text(content: str | bytes | None, content_format: int | None, tool_calls: str | bytes | None) -> str:
    """What the index and snippets see of a message: its text, the text parts of multimodal content, its tool calls.

    Image and audio data never gets in: only string values under `text`-like keys are taken from parts.
    """
    text = unpack(content) if content else ""
    if content_format is not None:
        text = "\n".join(_texts(json.loads(text)))
    if tool_calls:
        text = "\n".join((text, *_call_texts(from_json(tool_calls))))
    return text


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


def _call_texts(calls: Any) -> list[str]:
    """Function names and arguments; ids and type names are left out."""
    texts: list[str] = []
    for call in calls if isinstance(calls, list) else [calls]:
        function = call.get("function", call) if isinstance(call, dict) else call
        if isinstance(function, dict):
            texts += [str(function[key]) for key in ("name", "arguments", "input") if function.get(key)]
        elif function:
            texts.append(str(function))
    return texts
