"""`MemoryProvider`: what a long-term memory is to the agent.

A provider is told what happens (turns, memory writes, session boundaries) and is asked what it remembers. Four members
have to be there (`name`, `is_available`, `initialize`, `get_tool_schemas`); every other one has a default that does
nothing. Providers with older signatures, and classes that do not derive from this one, work as well
(`memory.signatures`).

Rules that hold for every hook:

* `sync_turn` and `queue_prefetch` run on the provider's own serial lane, `prefetch` under a deadline. The rest runs, in
  some hosts, on the thread of the turn: no network there without a thread of one's own.
* The same transcript can arrive twice (after a crash, a retry, a compression): storing has to be idempotent.
* Lists of messages are the caller's: never change them, never keep a reference.

`docs/memory-contract.md` is this contract in prose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, Literal, Required, TypeAlias, TypedDict

from memory.errors import ToolNotHandled
from memory.threads import ctx_bound, spawn_context_thread

__all__ = [
    "CORE_MEMORY_PROVIDER_SENTINELS",
    "PRE_COMPRESS_CHECKPOINT_API_VERSION",
    "ConfigItem",
    "MemoryProvider",
    "Message",
    "RecallStatus",
    "ToolSchema",
    "TurnAuthor",
    "ctx_bound",
    "is_core_memory_provider",
    "spawn_context_thread",
]

Message: TypeAlias = dict[str, Any]
ToolSchema: TypeAlias = dict[str, Any]

# The newest pre-compress checkpoint contract: that `on_pre_compress` returns means that the evidence is durable.
PRE_COMPRESS_CHECKPOINT_API_VERSION: Final = 2
# Values of `memory.provider` that mean: no external provider.
CORE_MEMORY_PROVIDER_SENTINELS: Final = frozenset({"", "default", "builtin", "built-in", "none"})


def is_core_memory_provider(name: str | None) -> bool:
    """Whether a configured name means the built-in memory alone; None and blank do."""
    return (name or "").strip().casefold() in CORE_MEMORY_PROVIDER_SENTINELS


class TurnAuthor(TypedDict):
    """Who wrote the user's message of a turn, in a chat with several people."""

    id: str
    name: str
    is_bot: bool


class ConfigItem(TypedDict, total=False):
    """One question of the set-up. A secret goes to `$HERMES_HOME/.env` under `env_var`, the rest to `save_config`."""

    key: Required[str]
    description: str
    secret: bool
    required: bool
    default: Any
    choices: list[Any]
    url: str  # where a person gets the value
    env_var: str
    when: dict[str, Any]  # asked only if the answers so far hold these values
    default_from: dict[str, Any]  # {"field": other key, "map": {its value: the default}}
    type: Literal["boolean", "integer", "number", "string"]
    minimum: float
    maximum: float
    step: float


@dataclass(frozen=True)
class RecallStatus:
    """What the last `prefetch` brought, for the line a person sees.

    Attributes:
        provider_label: the provider's name for people.
        count: memories recalled; 0: nothing, below 0: something relevant that can't be counted.
        glyph: what stands before the line.
    """

    provider_label: str
    count: int
    glyph: str = "🧠"


class MemoryProvider(ABC):
    """A long-term memory; see the module for the rules that hold for every hook."""

    # 2: `on_pre_compress` acknowledges durability (see there). Set it on the class.
    pre_compress_checkpoint_api_version: int = 1

    # ── who it is ─────────────────────────────────────────────────────────────

    @property
    @abstractmethod
    def name(self) -> str:
        """A short stable name; `builtin` is reserved."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether it could work now: settings and packages are there. Must be quick and make no network call."""

    def unavailable_reason(self) -> str:
        """Why `is_available` is False, for a person; empty if there is nothing to say."""
        return ""

    def identity_signature(self) -> str:
        """What changes when the provider has to be made anew for another identity (account, bank); empty: never."""
        return ""

    # ── life ──────────────────────────────────────────────────────────────────

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Begin; called once per agent, on the thread of the start.

        Args:
            session_id: the conversation that is beginning or being resumed.
            kwargs: what is known, each only when it is: `hermes_home`, `platform` ("cli", …), `agent_context`
                ("primary", "subagent", "cron", "flush", "background_review"), `agent_identity`, `agent_workspace`,
                `session_title`, `user_id`, `user_id_alt`, `user_name`, `chat_id`, `chat_name`, `chat_type`,
                `thread_id`, `gateway_session_key`, `warning_callback`, `status_callback`. Take `**kwargs`: there
                will be more.
        """

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """As `initialize`, without side effects, for a page that shows the state."""

    def shutdown(self) -> None:
        """End: write what is pending, stop threads, close connections."""

    # ── the prompt and recall ─────────────────────────────────────────────────

    def system_prompt_block(self) -> str:
        """Standing text for the system prompt; asked for when the prompt is built, not each turn."""
        return ""

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What is worth remembering for this message, as text for the model; empty if nothing is.

        Not fenced: the host does that. Runs under a deadline (8 s unless configured), and is not called again while an
        overdue call is still running.
        """
        return ""

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Begin to recall for the turn after this one; `query` is the user's last message."""

    def recall_status(self) -> RecallStatus | None:
        """What the last `prefetch` brought; None if it can't tell."""
        return None

    # ── turns ─────────────────────────────────────────────────────────────────

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        """A turn begins; before `prefetch`. `kwargs` may hold `author_id`, `author_name`, `author_is_bot`."""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[Message] | None = None,
    ) -> None:
        """Store a completed turn.

        A signature may also take `turn_author` (`TurnAuthor`) and `turn_id`, which is the same when the same turn is
        handed over again after a crash.
        """

    # ── tools ─────────────────────────────────────────────────────────────────

    @abstractmethod
    def get_tool_schemas(self) -> list[ToolSchema]:
        """Function schemas (`name`, `description`, `parameters`) of the tools for the model.

        Static, cheap, and valid before `initialize`.
        """

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run one of those tools; the result is a JSON document.

        Raises:
            ToolNotHandled: it has no such tool.
        """
        raise ToolNotHandled(self.name, tool_name)

    # ── what happens around turns ─────────────────────────────────────────────

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        """The built-in memory really changed.

        Args:
            action: `add`, `replace` or `remove`.
            target: `memory` or `user`.
            content: the new text; empty for `remove`.
            metadata: provenance (`write_origin`, `execution_context`, `session_id`, `tool_call_id`, …), `old_text` and
                `previous_content`, the whole text that went; empty values are left out.
        """

    def on_pre_compress(self, messages: list[Message]) -> str:
        """The transcript is about to be summarised: extract what must not be lost; the text goes to the summariser.

        Version 1 gets the transcript as it is, and what it raises costs nothing. Version 2
        (`pre_compress_checkpoint_api_version = 2`) may take `*, require_checkpoint: bool = False`, gets normalised
        evidence (`memory.checkpoint`), and says by returning that the evidence is durable; by raising, that it is not.
        """
        return ""

    def on_session_end(self, messages: list[Message]) -> None:
        """The session ended. Must be idempotent."""

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        **kwargs: Any,
    ) -> None:
        """The session's id changed, or its transcript was cut, and the provider lives on.

        Args:
            new_session_id: where turns belong from now on.
            parent_session_id: where the new one comes from; empty if from nowhere.
            reset: a fresh conversation, nothing of the old one belongs to it.
            rewound: the same session, with turns taken back.
            kwargs: `reason`: `new_session`, `resume`, `branch`, `compression`, `rewind`.
        """

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        """A child agent ended; children have no memory of their own."""

    # ── set-up and backup ─────────────────────────────────────────────────────

    def get_config_schema(self) -> list[ConfigItem]:
        """The questions of the set-up."""
        return []

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        """Keep the answers that are no secrets."""

    def backup_paths(self) -> list[str]:
        """Files and directories that belong into a backup of the home. Must work before `initialize`."""
        return []
