"""A Hermes `messages` row as what is stored here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.codec import Columns, encode
from hermes_state.importers import moments
from hermes_state.importers.digests import message_digest, row_digest
from hermes_state.importers.values import decoded, kept, parsed, text
from hermes_state.packing import unpack
from hermes_state.records import MessageState
from hermes_state.replay import call_id, call_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hermes_state.importers.report import Tally

UNKNOWN_ROLE = "unknown"
# Columns that hold a text which may be JSON behind the mark, JSON itself, or a plain value; all under the same name.
_DECODED = ("content", "api_content")
_PARSED = ("reasoning_details", "codex_reasoning_items", "codex_message_items")
_SAME = ("token_count", "finish_reason", "reasoning", "reasoning_content", "effect_disposition")
_TEXTS = ("tool_name", "tool_call_id")
# Read in a way of their own, or known from elsewhere.
_SPECIAL = frozenset(("id", "session_id", "role", "timestamp", "active", "compacted", "observed", "tool_calls"))


class ForeignMessage(NamedTuple):
    """A foreign message, ready to be stored.

    Attributes:
        size: about how many bytes it takes.
    """

    foreign_id: int
    digest: int
    columns: Columns
    size: int

    @property
    def essence(self) -> int:
        """Equal for two copies of one message, whatever their ids and times."""
        return essence_of(self.columns.get)


def essence_of(column: Callable[[str], Any]) -> int:
    """A digest of what a message says.

    Args:
        column: gives the value of a column of `messages`, or None.
    """
    packed = (column("content"), column("tool_calls"))
    said = [value if value is None else unpack(value) for value in packed]
    return row_digest((column("role"), column("tool_call_id"), column("content_format"), *said))


class Thread:
    """What the messages of one session so far tell about the next one.

    Attributes:
        last_us: the time of the last one; a message without a usable time takes it.
        taken: platform ids and which foreign message has each; 0 for a message of this store alone.
    """

    def __init__(self, started_us: int, taken: dict[str, int] | None = None) -> None:
        self.last_us = started_us
        self.taken = {} if taken is None else taken
        self._calls: dict[str, str] = {}

    def name_tool(self, fields: dict[str, Any]) -> None:
        """Give a tool result without a tool name that of the call it answers."""
        for call in fields.get("tool_calls", ()):
            key, name = call_id(call), call_name(call)
            if key and name:
                self._calls[key] = name
        if fields["role"] == "tool" and fields.get("tool_name") is None:
            fields["tool_name"] = self._calls.get(fields.get("tool_call_id", ""))


class MessageShape:
    """How the columns of one foreign `messages` table are read.

    Args:
        columns: their names, in the order of the rows.
        defaults: literal defaults; a column that has its default says nothing.
        clean: put on every message's fields before they are stored.
    """

    def __init__(
        self,
        columns: Sequence[str],
        defaults: Mapping[str, Any],
        tally: Tally,
        clean: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> None:
        self._columns = tuple(columns)
        self._defaults = defaults
        self._tally = tally
        self._clean = clean

    def muted(self) -> MessageShape:
        """Another one, whose warnings nobody sees: for reading something twice."""
        return MessageShape(self._columns, self._defaults, self._tally.muted(), self._clean)

    def read(self, row: Sequence[Any], thread: Thread) -> ForeignMessage:
        """What a row says, as the next one of its session."""
        found = {name: value for name, value in zip(self._columns, row, strict=True) if value is not None}
        return self.read_mapping(found, thread)

    def read_mapping(self, found: Mapping[str, Any], thread: Thread) -> ForeignMessage:
        """As `read`, for a row as a mapping without NULLs."""
        foreign_id = int(found["id"])
        where = f"{found.get('session_id')} message {foreign_id}"
        extras: dict[str, Any] = {}
        fields: dict[str, Any] = {"role": self._role(found, extras), "state": _state(found)}
        said = []
        for name, value in found.items():
            if name not in _SPECIAL:
                if value == self._defaults.get(name):
                    continue
                _place(name, value, fields, extras)
            said.append((name, value))
        if "tool_calls" in found:
            self._tool_calls(found["tool_calls"], fields, extras, where)
        thread.name_tool(fields)
        if found.get("observed"):
            fields["observed"] = True
        self._platform_id(foreign_id, thread.taken, fields, extras, where)
        at = thread.last_us = self._time(found.get("timestamp"), thread.last_us, extras, where)
        if extras:
            fields["extras"] = extras
        columns = encode(self._clean(fields) if self._clean else fields, at)
        size = sum(len(value) for value in columns.values() if isinstance(value, str | bytes))
        return ForeignMessage(foreign_id, message_digest(said, fields["state"]), columns, size)

    def _role(self, found: Mapping[str, Any], extras: dict[str, Any]) -> str:
        role = text(found.get("role"))
        if role and role.strip("\0"):
            return role
        extras["role"] = kept(found.get("role"))
        where = f"{found.get('session_id')} message {found.get('id')}"
        self._tally.warn("bad_role", where, f"the role is {found.get('role')!r}; it is {UNKNOWN_ROLE!r} here")
        return UNKNOWN_ROLE

    def _platform_id(
        self, foreign_id: int, taken: dict[str, int], fields: dict[str, Any], extras: dict[str, Any], where: str
    ) -> None:
        key = fields.get("platform_message_id")
        if key is None or taken.setdefault(key, foreign_id) == foreign_id:
            return
        extras["platform_message_id"] = fields.pop("platform_message_id")
        self._tally.warn("platform_id_twice", where, f"another message of the session has platform id {key!r} too")

    def _tool_calls(self, value: Any, fields: dict[str, Any], extras: dict[str, Any], where: str) -> None:
        calls = parsed(value)
        if isinstance(calls, list):
            fields["tool_calls"] = calls
        elif calls != "":
            extras["tool_calls"] = kept(value)
            self._tally.warn("bad_tool_calls", where, "tool_calls is not a JSON list; kept as it stands in extras")

    def _time(self, value: Any, previous_us: int, extras: dict[str, Any], where: str) -> int:
        at = moments.instant(value)
        if at is not None:
            return at
        guessed = moments.guess(value)
        extras["timestamp"] = kept(value)
        done = "the message before gave the time" if guessed is None else "read as the time it most likely means"
        self._tally.warn("bad_timestamp", where, f"the timestamp is {value!r}; {done}")
        return previous_us if guessed is None else guessed


def _state(found: Mapping[str, Any]) -> MessageState:
    if found.get("active", 1):
        return MessageState.ACTIVE
    return MessageState.COMPACTED if found.get("compacted") else MessageState.REWOUND


def _place(name: str, value: Any, fields: dict[str, Any], extras: dict[str, Any]) -> None:
    read = _READ_AS.get(name)
    if read is None:
        extras[name] = kept(value)
    else:
        fields[name] = read(value)


_READ_AS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_DECODED, decoded),
    **dict.fromkeys(_PARSED, parsed),
    **dict.fromkeys(_SAME, kept),
    **dict.fromkeys((*_TEXTS, "platform_message_id"), text),
}
