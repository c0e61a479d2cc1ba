"""The values that cross the store's boundary: frozen, keyword-only, with aware UTC times. Never rows or dicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# What a message may hold as its content: text, multimodal parts, or nothing (an assistant turn of tool calls only).
Content = str | list[Any] | dict[str, Any] | int | float | bool | None


class Relation(StrEnum):
    """How a child session came from its parent."""

    COMPRESSION = "compression"  # the same conversation, continued with a summary
    BRANCH = "branch"  # a new conversation that starts from a copy
    DELEGATE = "delegate"  # a sub-agent's work; hidden unless asked for
    RESET = "reset"  # a new conversation that followed the parent's end


class MessageState(IntEnum):
    """Where a message stands; stored as the number."""

    ACTIVE = 0  # part of the transcript a model sees
    COMPACTED = 1  # summarised away in place; still searchable
    REWOUND = 2  # taken back by the user; hidden everywhere, can be undone


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One session: a conversation, or one segment of a conversation that was compressed.

    `conversation_id` is the session to resume: the tip of the compression chain this session belongs to.
    `message_count` and `tool_call_count` count active messages of this session.
    """

    id: str
    source: str
    title: str | None = None
    conversation_id: str
    parent_id: str | None = None
    relation: Relation | None = None
    delegated: bool = False
    started_at: datetime
    ended_at: datetime | None = None
    end_reason: str | None = None
    last_active_at: datetime
    message_count: int = 0
    tool_call_count: int = 0
    rewind_count: int = 0
    archived: bool = False
    model: str | None = None
    model_config: Mapping[str, Any] | None = None
    user_id: str | None = None
    chat_id: str | None = None
    chat_type: str | None = None
    thread_id: str | None = None
    display_name: str | None = None
    origin: Mapping[str, Any] | None = None
    cwd: str | None = None
    git_branch: str | None = None
    git_root: str | None = None
    profile: str | None = None
    tags: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message. `id` is unique in the store and never reused; `position` orders it within its session.

    `tool_calls` is the provider's list; reasoning and replay fields are kept verbatim. `extras` holds every field
    the store has no name for.
    """

    id: int
    session_id: str
    position: int
    role: str
    content: Content = None
    created_at: datetime
    state: MessageState = MessageState.ACTIVE
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_calls: list[Any] | None = None
    platform_message_id: str | None = None
    token_count: int | None = None
    finish_reason: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    reasoning_details: Any = None
    codex_reasoning_items: Any = None
    codex_message_items: Any = None
    api_content: Any = None
    effect_disposition: str | None = None
    observed: bool = False
    extras: Mapping[str, Any] = field(default_factory=dict)


class MessageFields(TypedDict, total=False):
    """What may be said of a message that is appended, beside its role and content.

    `created_at` is an aware time, now where it is not given; the order of messages does not depend on it. `extras`
    holds any further fields. The others are as in `Message`.
    """

    created_at: datetime | None
    tool_name: str | None
    tool_call_id: str | None
    tool_calls: list[Any] | None
    platform_message_id: str | None
    token_count: int | None
    finish_reason: str | None
    reasoning: Any
    reasoning_content: Any
    reasoning_details: Any
    codex_reasoning_items: Any
    codex_message_items: Any
    api_content: Any
    effect_disposition: str | None
    observed: bool
    extras: Mapping[str, Any] | None


MESSAGE_FIELDS = frozenset(MessageFields.__annotations__)


def message_of(fields: dict[str, Any]) -> Message:
    """A message with these fields, the others at their defaults; `fields` becomes the record's own dictionary.

    A frozen dataclass sets each field through a guarded call: 3 µs for a message, a tenth of an append and half of the
    cost of reading one. The defaults stay where the class has them, and `extras` has none there.
    """
    message = object.__new__(Message)
    fields.setdefault("extras", {})
    object.__setattr__(message, "__dict__", fields)
    return message


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Messages around an anchor, in order, and how many more there are on each side."""

    messages: tuple[Message, ...]
    anchor_id: int
    before: int
    after: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewind:
    """What a rewind took back; `number` names it for undo."""

    session_id: str
    number: int
    messages: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rotation:
    """A compression step: the ended parent and the child the conversation goes on in.

    `created` is False when another caller had rotated the parent already; `child` is then that caller's.
    """

    parent: Session
    child: Session
    created: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens and cost of one session for one model, route and task. Counts are tokens; costs are US dollars.

    `reasoning_tokens` are part of `output_tokens`, as providers bill them, and never added on top.
    """

    session_id: str
    model: str = ""
    task: str = ""
    provider: str = ""
    base_url: str = ""
    mode: str = ""
    api_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    estimated_cost_usd: float | None = None
    actual_cost_usd: float | None = None
    cost_status: str | None = None
    cost_source: str | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None

    @property
    def total_tokens(self) -> int:
        """Input and output; reasoning is part of output already."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A named right that one owner holds until it expires or is released."""

    name: str
    owner: str
    acquired_at: datetime
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """What a delete or prune did, or would do: session ids gone, and what was left and why."""

    deleted: tuple[str, ...] = ()
    messages: int = 0
    kept: Mapping[str, str] = field(default_factory=dict)
    oldest_at: datetime | None = None
    newest_at: datetime | None = None
    dry_run: bool = False
