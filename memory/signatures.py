"""`Adapted`: any provider, old or odd, with every hook in its newest signature.

Providers were written against several versions of the contract: hooks lack arguments that came later, name their first
argument as they like, take metadata by position, or derive from nothing at all. `Adapted` passes to each what it takes.
A hook that is absent does nothing. What a provider raises comes through: whoever calls isolates.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, cast

from memory.calls import Hook, NoFit, Shape
from memory.errors import ContractBroken, ToolNotHandled
from memory.provider import PRE_COMPRESS_CHECKPOINT_API_VERSION, MemoryProvider, RecallStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memory.provider import ConfigItem, Message, ToolSchema, TurnAuthor

_REQUIRED_METHODS = ("is_available", "initialize", "get_tool_schemas")

# What `initialize` is always told, and what only where it is known.
_FACTS = ("hermes_home", "platform", "agent_context", "agent_identity", "agent_workspace")
_RARE_FACTS = (
    "session_title", "user_id", "user_id_alt", "user_name", "chat_id", "chat_name", "chat_type", "thread_id",
    "gateway_session_key", "warning_callback", "status_callback",
)  # fmt: skip
# What comes with a tool's call.
_CALL_FACTS = ("session_id", "parent_session_id", "platform", "task_id", "tool_call_id")

_HOOKS = {
    hook.name: hook
    for hook in (
        Hook("is_available", returns="bool"),
        Hook("unavailable_reason", returns="str"),
        Hook("identity_signature", returns="str"),
        Hook("initialize", ("session_id",), _FACTS, _RARE_FACTS, by_name=True),
        Hook("initialize_for_inspection", ("session_id",), _FACTS, _RARE_FACTS, by_name=True),
        Hook("shutdown"),
        Hook("system_prompt_block", returns="str"),
        Hook("prefetch", ("query",), ("session_id",), returns="str"),
        Hook("queue_prefetch", ("query",), ("session_id",)),
        Hook("recall_status", returns="RecallStatus | None"),
        Hook("on_turn_start", ("turn_number", "message"), later=("author_id", "author_name", "author_is_bot")),
        Hook(
            "sync_turn",
            ("user_content", "assistant_content"),
            ("session_id",),
            ("messages", "turn_author", "turn_id"),
        ),
        Hook("get_tool_schemas", returns="list[dict]"),
        Hook("handle_tool_call", ("tool_name", "args"), later=_CALL_FACTS, returns="str"),
        Hook("on_memory_write", ("action", "target", "content"), ("metadata",)),
        Hook("on_pre_compress", ("messages",), ("require_checkpoint",), returns="str"),
        Hook("on_session_end", ("messages",)),
        Hook("on_session_switch", ("new_session_id",), ("parent_session_id", "reset"), ("rewound", "reason")),
        Hook("on_delegation", ("task", "result"), ("child_session_id",)),
        Hook("get_config_schema", returns="list[dict]"),
        Hook("save_config", ("values", "hermes_home")),
        Hook("backup_paths", returns="list[str]"),
        Hook("post_setup", ("hermes_home", "config")),
        Hook("get_status_config", ("provider_config",), returns="dict"),
    )
}


class Adapted:
    """A provider behind the newest signatures.

    Attributes:
        raw: the provider as it was given.
    """

    def __init__(self, provider: object) -> None:
        self.raw = provider
        self._shapes: dict[str, tuple[object, Shape]] = {}
        self._name = ""

    def __repr__(self) -> str:
        return f"Adapted({self.raw!r})"

    # ── the contract ──────────────────────────────────────────────────────────

    @property
    def name(self) -> str:
        """The provider's name, read once.

        Raises:
            ContractBroken: it is no text, or empty.
        """
        if not self._name:
            try:
                name = getattr(self.raw, "name", None)
            except Exception as error:  # a plugin's property may raise anything
                plugin = type(self.raw).__name__
                raise ContractBroken(plugin, wanted="name: a text", found=f"it raises {error!r:.80}") from error
            if not isinstance(name, str) or not name.strip():
                raise ContractBroken(type(self.raw).__name__, wanted="name: a text", found=f"{name!r:.80}")
            self._name = name
        return self._name

    @property
    def label(self) -> str:
        """The name, or the type's where there is none: for messages, never raises."""
        name = self._name or inspect.getattr_static(self.raw, "name", None)
        return name if isinstance(name, str) and name.strip() else type(self.raw).__name__

    def check(self) -> None:
        """Prove the contract before anything changes. Calls no hook.

        Raises:
            ContractBroken: names the plugin, what is wanted and what was found; `hint` lists further faults.
        """
        faults = self.faults()
        if faults:
            first, *others = faults
            if others:
                first.hint = f"{first.hint}; also: {'; '.join(f'wanted {o.wanted}, found {o.found}' for o in others)}"
            raise first

    def faults(self) -> list[ContractBroken]:
        """Everything that breaks the contract, as far as signatures tell."""
        if isinstance(self.raw, type):
            return [
                ContractBroken(self.raw.__name__, wanted="an instance", found="a class", hint="register an instance")
            ]
        try:
            plugin = self.name
        except ContractBroken as fault:
            return [fault]
        if missing := [m for m in _REQUIRED_METHODS if getattr(self.raw, m, None) is None]:
            wanted = f"an object with name, {', '.join(_REQUIRED_METHODS)}"
            return [ContractBroken(plugin, wanted=wanted, found=f"no {', '.join(missing)}")]
        return [broken for hook in _HOOKS.values() if (broken := self._fault(hook))]

    def _fault(self, hook: Hook) -> ContractBroken | None:
        function = getattr(self.raw, hook.name, None)
        if function is None:
            return None
        if not callable(function):
            return self._broken(hook, f"{type(function).__name__} {function!r:.60}")
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            return self._broken(hook, "an async function", hint="hooks are synchronous; run the loop in a thread")
        shape = self._shape(hook.name, function)
        try:
            shape.fit(hook, [...] * len(hook.positional), dict.fromkeys((*hook.always, *hook.later), ...))
        except NoFit as reason:
            return self._broken(hook, f"{hook.name}{shape.text}: {reason}")
        return None

    def _broken(self, hook: Hook, found: str, *, hint: str = "") -> ContractBroken:
        return ContractBroken(self.label, wanted=hook.signature, found=found, hint=hint)

    def implements(self, hook: str) -> bool:
        """Whether the provider has that hook and it is not the contract's default."""
        function = getattr(self.raw, hook, None)
        return function is not None and getattr(function, "__func__", function) is not vars(MemoryProvider).get(hook)

    @property
    def checkpoint_api_version(self) -> int:
        """Which pre-compress contract it follows; what can't be read as a number means 1."""
        try:
            return int(getattr(self.raw, "pre_compress_checkpoint_api_version", 1))
        except (TypeError, ValueError, OverflowError):
            return 1

    # ── calling ───────────────────────────────────────────────────────────────

    def _shape(self, name: str, function: Callable[..., Any]) -> Shape:
        known = self._shapes.get(name)
        if known is None or known[0] != function:
            known = self._shapes[name] = (function, Shape.of(function))
        return known[1]

    def _call(self, name: str, values: Sequence[Any] = (), named: dict[str, Any] | None = None) -> Any:
        function = getattr(self.raw, name, None)
        if function is None:
            return None
        hook, shape = _HOOKS[name], self._shape(name, function)
        try:
            args, kwargs = shape.fit(hook, values, named or {})
        except NoFit as reason:
            raise self._broken(hook, f"{name}{shape.text}: {reason}") from None
        return function(*args, **kwargs)

    def _text(self, name: str, values: Sequence[Any] = (), named: dict[str, Any] | None = None) -> str:
        """The result of a hook that gives text; None means none."""
        text = self._call(name, values, named)
        if text is None:
            return ""
        if not isinstance(text, str):
            raise self._broken(_HOOKS[name], f"{type(text).__name__} {text!r:.60}")
        return text

    def _list(self, name: str) -> list[Any]:
        found = self._call(name)
        if found is None:
            return []
        if not isinstance(found, list | tuple):
            raise self._broken(_HOOKS[name], f"{type(found).__name__} {found!r:.60}")
        return list(found)

    # ── the hooks ─────────────────────────────────────────────────────────────

    def is_available(self) -> bool:
        """Whether it could work now."""
        return bool(self._call("is_available"))

    def unavailable_reason(self) -> str:
        """Why not; empty if it does not say."""
        return self._text("unavailable_reason")

    def identity_signature(self) -> str:
        """What changes with the identity; any value counts by its text."""
        signature = self._call("identity_signature")
        return "" if signature is None else str(signature)

    def initialize(self, session_id: str, **facts: Any) -> None:
        """Begin, with the facts that the signature takes."""
        self._call("initialize", [session_id], facts)

    def initialize_for_inspection(self, session_id: str, **facts: Any) -> bool:
        """Begin without side effects; False if the provider can't, and then nothing was called."""
        if not self.implements("initialize_for_inspection"):
            return False
        self._call("initialize_for_inspection", [session_id], facts)
        return True

    def shutdown(self) -> None:
        """End."""
        self._call("shutdown")

    def system_prompt_block(self) -> str:
        """Standing text for the system prompt."""
        return self._text("system_prompt_block")

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What is worth remembering for this message."""
        return self._text("prefetch", [query], {"session_id": session_id})

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Begin to recall for the next turn."""
        self._call("queue_prefetch", [query], {"session_id": session_id})

    def recall_status(self) -> RecallStatus | None:
        """What the last prefetch brought. Some plugins bring a class of their own with the same fields."""
        found = self._call("recall_status")
        if found is None or isinstance(found, RecallStatus):
            return found
        try:
            return RecallStatus(str(found.provider_label), int(found.count), str(getattr(found, "glyph", "🧠")))
        except (AttributeError, TypeError, ValueError):
            raise self._broken(_HOOKS["recall_status"], f"{type(found).__name__} {found!r:.60}") from None

    def on_turn_start(self, turn_number: int, message: str, **facts: Any) -> None:
        """A turn begins."""
        self._call("on_turn_start", [turn_number, message], facts)

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[Message] | None = None,
        turn_author: TurnAuthor | None = None,
        turn_id: str = "",
    ) -> None:
        """Store a completed turn."""
        named = {"session_id": session_id, "messages": messages, "turn_author": turn_author, "turn_id": turn_id}
        self._call("sync_turn", [user_content, assistant_content], named)

    def get_tool_schemas(self) -> list[ToolSchema]:
        """Its tools, as it gives them: entries are not checked here."""
        return self._list("get_tool_schemas")

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **facts: Any) -> object:
        """Run a tool. The result is whatever it gives: some give plain text or a dict instead of JSON.

        Raises:
            ToolNotHandled: the provider runs no tools.
        """
        if not self.implements("handle_tool_call"):
            raise ToolNotHandled(self.label, tool_name)
        return self._call("handle_tool_call", [tool_name, args], facts)

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        """The built-in memory changed. Metadata goes by name, as a fourth argument, or nowhere, as it can be taken."""
        function = getattr(self.raw, "on_memory_write", None)
        if function is None:
            return
        shape = self._shape("on_memory_write", function)
        if not shape.takes("metadata") and (shape.any_positional or len(shape.positional) >= 4):
            function(action, target, content, metadata)
        else:
            self._call("on_memory_write", [action, target, content], {"metadata": metadata})

    def on_pre_compress(self, messages: list[Message], *, require_checkpoint: bool = False) -> str:
        """The transcript is about to be summarised. `require_checkpoint` is for version 2 alone, where it is taken."""
        versioned = self.checkpoint_api_version >= PRE_COMPRESS_CHECKPOINT_API_VERSION
        return self._text(
            "on_pre_compress", [messages], {"require_checkpoint": require_checkpoint} if versioned else None
        )

    def on_session_end(self, messages: list[Message]) -> None:
        """The session ended."""
        self._call("on_session_end", [messages])

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        **facts: Any,
    ) -> None:
        """The session's id changed, or its transcript was cut."""
        named = {"parent_session_id": parent_session_id, "reset": reset, "rewound": rewound, **facts}
        self._call("on_session_switch", [new_session_id], named)

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **facts: Any) -> None:
        """A child agent ended."""
        self._call("on_delegation", [task, result], {"child_session_id": child_session_id, **facts})

    # ── set-up and backup ─────────────────────────────────────────────────────

    def get_config_schema(self) -> list[ConfigItem]:
        """The questions of the set-up."""
        return cast("list[ConfigItem]", self._list("get_config_schema"))

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        """Keep the answers that are no secrets."""
        self._call("save_config", [values, hermes_home])

    def backup_paths(self) -> list[str]:
        """What belongs into a backup."""
        return [str(path) for path in self._list("backup_paths")]

    def post_setup(self, hermes_home: str, config: dict[str, Any]) -> bool:
        """The provider's own set-up, which takes the place of the questions; False if it has none."""
        if not self.implements("post_setup"):
            return False
        self._call("post_setup", [hermes_home, config])
        return True

    def get_status_config(self, provider_config: dict[str, Any]) -> dict[str, Any]:
        """What a status page shows of the settings; the settings themselves if it does not say."""
        shown = self._call("get_status_config", [provider_config])
        return dict(shown) if isinstance(shown, dict) else provider_config
