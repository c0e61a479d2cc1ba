"""Every error of the memory layer, below the store's own tree.

HermesStateError
└── MemoryFault                           30
    ├── ContractBroken                    31   a provider is not what it has to be
    ├── ProviderUnavailable               32   known, and can't be used now
    │   └── ProviderNotFound                   nothing has that name
    ├── ProviderFailed                    33   a hook raised
    │   └── ToolNotHandled                     no such tool; also a NotImplementedError
    ├── CompressionCheckpointUnavailable  34   compression may not start; also a RuntimeError
    ├── MemoryReadFailed                  35   the file is there and could not be read; nothing was changed
    ├── MemoryFull                        36   the change would pass the limit
    ├── AmbiguousMatch                    37   a text fits several entries
    ├── EntryNotFound                     38   a text or id fits no entry
    │   └── NothingWaits                       no write with that id waits for approval
    ├── UnsafeMemory                      39   the text reads like an attack on the agent
    ├── MemoryBusy                        40   another process is writing the memory file
    ├── MemoryWriteFailed                 41   a memory file could not be written; it is as it was
    ├── HostNamesTaken                    42   the import names that plug-ins expect belong to a real agent
    └── WriteDenied                       43   a person was asked and said no
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.errors import HermesStateError

if TYPE_CHECKING:
    from collections.abc import Sequence

# How every refusal to compress without a checkpoint starts; runtimes look for it.
BLOCKED_PREFIX = "BLOCKED_MISSING_PREREQUISITE: required pre-compress checkpoint unavailable: "
CHECKPOINT_REMEDY = (
    "set compression.checkpoint_required: false, or switch to a memory provider that implements checkpoint API v2"
)


class MemoryFault(HermesStateError):
    """The root: something the memory layer could not do."""

    exit_code = 30


class ContractBroken(MemoryFault):
    """A provider, or what it returned, is not what the contract says.

    Attributes:
        plugin: the provider's name, or its type where it has none.
        wanted: what the contract says, e.g. a signature.
        found: what is there.
    """

    exit_code = 31

    def __init__(self, plugin: str, *, wanted: str, found: str, hint: str = "") -> None:
        super().__init__(
            f"memory provider {plugin!r}: wanted {wanted}; found {found}",
            hint=hint or "docs/memory-contract.md has the contract; `hermes-state memory check NAME` proves a provider",
        )
        self.plugin = plugin
        self.wanted = wanted
        self.found = found


class ProviderUnavailable(MemoryFault):
    """A provider is known and can't be used now; `reason` says why."""

    exit_code = 32

    def __init__(self, plugin: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"memory provider {plugin!r} is not available: {reason}", hint=hint)
        self.plugin = plugin
        self.reason = reason


class ProviderNotFound(ProviderUnavailable):
    """No memory provider has that name."""


class ProviderFailed(MemoryFault):
    """A hook of a provider raised, or did not come back in time."""

    exit_code = 33
    retryable = True

    def __init__(self, plugin: str, hook: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"memory provider {plugin!r}, {hook}: {reason}", hint=hint)
        self.plugin = plugin
        self.hook = hook
        self.reason = reason


class ToolNotHandled(ProviderFailed, NotImplementedError):
    """A provider was asked for a tool it does not have."""

    retryable = False

    def __init__(self, plugin: str, tool: str) -> None:
        super().__init__(plugin, "handle_tool_call", f"it has no tool {tool!r}")
        self.tool = tool


class CompressionCheckpointUnavailable(MemoryFault, RuntimeError):
    """Compression needs a durable checkpoint first and there is none; the transcript was left as it was.

    Args:
        reason: what went wrong.
        capability: no provider can ever make the checkpoint, so the remedy is told; a provider that failed once
            may succeed when asked again.
    """

    exit_code = 34

    def __init__(self, reason: str, *, capability: bool = False) -> None:
        remedy = f"; {CHECKPOINT_REMEDY}" if capability else ""
        super().__init__(f"{BLOCKED_PREFIX}{reason}{remedy}", hint=CHECKPOINT_REMEDY if capability else "try again")
        self.reason = reason
        self.capability = capability


class MemoryReadFailed(MemoryFault):
    """A memory file is there and could not be read. Nothing was changed: what can't be read is never written over."""

    exit_code = 35
    retryable = True

    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{path} could not be read: {reason}; nothing was changed", hint=hint)
        self.path = path
        self.reason = reason


class MemoryFull(MemoryFault):
    """The change would pass the limit of the file; nothing was changed. All sizes are in characters."""

    exit_code = 36

    def __init__(self, target: str, *, used: int, needed: int, limit: int) -> None:
        super().__init__(
            f"{target} holds {used:,} of {limit:,} characters and would hold {needed:,}; nothing was changed",
            hint="shorten, merge or remove entries first",
        )
        self.target = target
        self.used = used
        self.needed = needed
        self.limit = limit


class AmbiguousMatch(MemoryFault):
    """A text fits several entries; `candidates` holds them. Nothing was changed."""

    exit_code = 37

    def __init__(self, text: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"{text!r} fits {len(candidates)} entries; nothing was changed",
            hint="give more of the text, or the entry's id",
        )
        self.text = text
        self.candidates = tuple(candidates)


class EntryNotFound(MemoryFault):
    """A text or id fits no entry; `nearest` holds the entries most like it. Nothing was changed."""

    exit_code = 38

    def __init__(self, text: str, nearest: Sequence[str] = (), *, message: str = "", hint: str = "") -> None:
        super().__init__(
            message or f"no entry fits {text!r}; nothing was changed",
            hint=hint or "list the entries and use their exact text",
        )
        self.text = text
        self.nearest = tuple(nearest)


class NothingWaits(EntryNotFound):
    """No write with this id waits for approval."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            message=f"no write with the id {name!r} waits; nothing was changed",
            hint="`hermes-state memory approve` lists what waits",
        )


class UnsafeMemory(MemoryFault):
    """The text would go into the prompt and reads like an attack on the agent; nothing was changed."""

    exit_code = 39

    def __init__(self, rule: str, excerpt: str, *, intent: str = "") -> None:
        why = f" ({intent})" if intent else ""
        super().__init__(
            f"refused by the rule {rule!r}{why}: {excerpt!r}; nothing was changed",
            hint="say what is so, not what the agent is to do",
        )
        self.rule = rule
        self.excerpt = excerpt
        self.intent = intent


class MemoryBusy(MemoryFault):
    """Another process kept a memory file locked for too long; nothing was changed."""

    exit_code = 40
    retryable = True

    def __init__(self, path: str, *, waited_s: float) -> None:
        super().__init__(f"{path} is being written by another process; nothing was changed", hint="try again")
        self.path = path
        self.waited_s = waited_s


class MemoryWriteFailed(MemoryFault):
    """A memory file could not be written; it is as it was before."""

    exit_code = 41
    retryable = True

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} could not be written: {reason}; it is as it was", hint="check its modes and the disk")
        self.path = path
        self.reason = reason


class HostNamesTaken(MemoryFault):
    """The import names that plug-ins expect belong to an agent that is really installed; nothing was changed."""

    exit_code = 42

    def __init__(self, place: str) -> None:
        super().__init__(
            f"the agent at {place} is importable, so plug-ins get its modules and not ours",
            hint="that works as it is; `beside_real=True` puts ours before it",
        )
        self.place = place


class WriteDenied(MemoryFault):
    """A person was asked whether memory may change, and said no; nothing was changed."""

    exit_code = 43

    def __init__(self) -> None:
        super().__init__("Memory write denied by user. The change was not saved.")
