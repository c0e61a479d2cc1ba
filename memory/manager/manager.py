"""`MemoryManager`: the providers of one agent, behind calls that never raise, hang or wait longer than they say."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_state.home import resolve_home
from memory.context import merge, sanitize, unwrap
from memory.discovery import Discovery
from memory.errors import ProviderFailed
from memory.manager.answers import encodable, tool_error, tool_result
from memory.manager.checkpoint import pre_compress
from memory.manager.delivery import DELEGATION, END, PREFETCH, SWITCH, SYNC, Delivery
from memory.manager.ending import end
from memory.manager.fusion import Part, fuse
from memory.manager.health_book import HealthBook
from memory.manager.mirror import write_delivery
from memory.manager.notices import Notices
from memory.manager.outbox import Outbox
from memory.manager.prefetch import Recall
from memory.manager.roster import Roster
from memory.manager.scope import initialize_facts, is_kept
from memory.manager.status import ManagerStatus, describe_recall
from memory.manager.transcripts import StoredTranscripts, text_of_content
from memory.provider import PRE_COMPRESS_CHECKPOINT_API_VERSION, RecallStatus
from memory.settings import MemorySettings

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Self

    from hermes_state.store import SessionDB
    from memory.manager.loading import ProviderSource
    from memory.manager.mirror import MirroredChange
    from memory.manager.slot import Slot
    from memory.manager.status import ShutdownReport
    from memory.provider import TurnAuthor

_log = logging.getLogger(__name__)


class MemoryManager:
    """The built-in memory and the external providers of one agent.

    Whatever a provider does (raise, hang, answer junk), a turn goes on; `status()` shows what happened, and after some
    failures in a row there is one notice for the user. A context manager: leaving it shuts down.

    Args:
        db: the store, in which queued calls survive the process; None: they end with it, and `status()` says so.
        home: the agent home; None: `$HERMES_HOME`, else `~/.hermes`.
        settings: deadlines and limits, and which providers are configured.
        reserved_tools: names of the agent's own tools, which no provider's tool replaces.
        notify: shows a sentence to the user, on any thread; None: `notices()` gives them.
    """

    def __init__(
        self,
        db: SessionDB | None = None,
        *,
        home: str | os.PathLike[str] | None = None,
        settings: MemorySettings | None = None,
        reserved_tools: Iterable[str] = (),
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.home = resolve_home(home)
        self.settings = settings or MemorySettings()
        self._notices = Notices(notify)
        self._outbox: Outbox | None = None
        book = HealthBook(None)
        if db is not None and not db.engine.read_only:
            self._outbox = Outbox(db.engine, attempts_max=self.settings.delivery_attempts, redact=db.redact)
            book = HealthBook(db.meta)
        self._roster = Roster(
            self.settings,
            home=self.home,
            outbox=self._outbox,
            transcripts=StoredTranscripts(db),
            book=book,
            notices=self._notices,
            reserved_tools=reserved_tools,
        )
        self._recalls: dict[str, Recall] = {}
        self._seen: set[str] = set()
        self._session_id = ""
        self._ended = ""  # the session whose end was told, while nothing has happened in it since
        self._is_kept = True
        self._report: ShutdownReport | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    # --- who is there ------------------------------------------------------------------------------------------------

    def add_provider(self, provider: object, *, configured_as: str = "") -> bool:
        """Register a provider; the built-in one goes first.

        Args:
            provider: a `MemoryProvider`, or an object with its members.
            configured_as: its name in the configuration, where that differs.

        Returns:
            False when there is one already that leaves no place for it; that is also a warning in `status()`.

        Raises:
            ContractBroken, ProviderFailed: it is no provider, or can't say which tools it has; nothing was changed.
        """
        return self._placed(self._roster.add(provider, configured_as=configured_as))

    def add_configured(self, discovery: ProviderSource | None = None) -> None:
        """Load and register the providers of the settings; never raises.

        One that can't be used is in `status()` with its reason, and is told to the log and the user.
        """
        source = discovery or Discovery(self.home)
        for name in self.settings.external:
            self._placed(self._roster.load(name, source))

    def _placed(self, slot: Slot | None) -> bool:
        if slot is not None and slot.is_builtin and hasattr(slot.adapted.raw, "on_write"):
            slot.adapted.raw.on_write(self.mirror)  # whoever changes it: the model, a review, an approval
        if slot is not None:
            self._recalls[slot.name] = Recall(slot, deadline_s=self.settings.prefetch_timeout_s)
        return slot is not None

    @property
    def providers(self) -> list[object]:
        """The providers as they were registered, the built-in one first."""
        return [slot.adapted.raw for slot in self._roster.slots]

    def get_provider(self, name: str) -> object | None:
        """The provider of that name."""
        return next((slot.adapted.raw for slot in self._roster.slots if slot.name == name), None)

    # --- start -------------------------------------------------------------------------------------------------------

    def initialize(self, session_id: str, **facts: Any) -> None:
        """Start the providers for a session, and have them told what ended processes left.

        Args:
            facts: what is known of platform, user and chat; see `MemoryProvider.initialize`.
        """
        self._session_id = session_id
        self._is_kept = is_kept(facts)
        known = initialize_facts(self.home, facts, configured_user_id=self.settings.user_id)
        self._roster.start(session_id, known)

    def system_prompt(self) -> str:
        """The standing texts of all providers, joined by blank lines."""
        blocks = (slot.standing_text(self.settings.hook_timeout_s) for slot in self._roster.ready)
        return "\n\n".join(block for block in blocks if block)

    # --- a turn ------------------------------------------------------------------------------------------------------

    def on_turn_start(self, turn_number: int, message: object, **facts: Any) -> None:
        """A turn begins; before `prefetch`."""
        text = text_of_content(message)
        for slot in self._roster.ready:
            if slot.implements("on_turn_start"):
                call = partial(slot.adapted.on_turn_start, turn_number, text, **facts)
                slot.ask("on_turn_start", call, deadline_s=self.settings.hook_timeout_s)

    def prefetch(self, query: object, *, session_id: str = "") -> str:
        """What is worth remembering for this message: merged, without fences, scanned, within the budget; not fenced.

        Waits for all external providers at once, at most `prefetch_timeout_s`.
        """
        text = text_of_content(query)
        session = session_id or self._session_id
        if not text.strip():
            return ""
        for slot in self._roster.external:
            self._recalls[slot.name].start(text, session)
        parts = [self._part(s, self._recalls[s.name].inline(text, session)) for s in self._roster.builtin]
        parts += [self._part(s, self._recalls[s.name].finish()) for s in self._roster.external]
        fused = fuse(parts, budget_chars=self.settings.recall_max_chars)
        # What stays in the conversation is not said twice; recall that is made anew each turn is whole each turn.
        seen = self._seen if self.settings.recall_placement == "user" else set()
        merged = merge(fused, seen, max_chars=self.settings.recall_max_chars)
        for label, finding in ((withheld.label, withheld.finding) for withheld in merged.withheld):
            _log.warning("recall of %s withheld, rule %s: %s", label, finding.rule, finding.excerpt)
        return merged.text

    def _part(self, slot: Slot, text: str) -> Part:
        weights = self.settings.provider_weights
        weight = weights.get(slot.configured_as, weights.get(slot.name, 1.0))
        return Part(slot.label, sanitize(unwrap(text)), weight)  # some providers fence their own recall

    def recall_status(self) -> list[RecallStatus]:
        """What the last `prefetch` brought, by provider; those that brought nothing are left out."""
        return [slot.recalled for slot in self._roster.slots if slot.recalled is not None and slot.recalled.count]

    def describe_recall(self) -> str:
        """The line for the user, e.g. `🧠 Holographic — recalled 3 memories`; empty when nothing was recalled."""
        return describe_recall(self.recall_status())

    def sync_turn(
        self,
        user_content: object,
        assistant_content: object,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
        interrupted: bool = False,
        turn_author: TurnAuthor | None = None,
    ) -> None:
        """Have a completed turn stored; returns within a millisecond. Interrupted and half turns are no memory.

        Args:
            user_content, assistant_content: a text, or a multimodal list; fences are taken out.
            session_id: the session; empty: the one of `initialize` or the newest switch.
            messages: the transcript so far; it is copied before a provider sees it.
        """
        if interrupted or not self._is_kept:
            return
        said: dict[str, Any] = {"user": text_of_content(user_content), "assistant": text_of_content(assistant_content)}
        if not said["user"].strip() or not said["assistant"].strip():
            return
        session = session_id or self._session_id
        self._ended = ""
        if turn_author:
            said["turn_author"] = dict(turn_author)
        self._tell(SYNC, session, said, list(messages) if messages is not None else None)

    def queue_prefetch(self, query: object, *, session_id: str = "") -> None:
        """Have recall for the next turn begin. A hint: a provider that is left alone does not hear of it later."""
        text = text_of_content(query)
        if text.strip() and self._is_kept:
            for slot in self._roster.ready:
                if slot.telling.state == "closed":
                    slot.submit(
                        Delivery(kind=PREFETCH, session_id=session_id or self._session_id, said={"query": text})
                    )

    def _tell(
        self, kind: str, session_id: str, said: dict[str, Any], messages: list[dict[str, Any]] | None = None
    ) -> None:
        for slot in self._roster.slots:
            slot.submit(Delivery(kind=kind, session_id=session_id, said=said, messages=messages))

    # --- tools -------------------------------------------------------------------------------------------------------

    def tool_schemas(self) -> list[dict[str, Any]]:
        """The function schemas of every tool that can be called now, each name once."""
        return self._roster.offered()

    def tool_names(self) -> set[str]:
        """Their names."""
        return {schema["name"] for schema in self.tool_schemas()}

    def has_tool(self, name: str) -> bool:
        """Whether a provider runs that tool."""
        return self._roster.runner(name) is not None

    def handle_tool_call(self, name: str, args: object, **facts: Any) -> str:
        """Run a tool of a provider; the result is always one JSON document, an error in it where there was one."""
        slot = self._roster.runner(name)
        if self._roster.tools.is_off:
            return tool_error("the tools of memory are switched off: `agent.disabled_toolsets` has `memory`")
        if slot is None:
            return tool_error(f"no memory provider has a tool {encodable(str(name))!r}")
        if args is not None and not isinstance(args, Mapping):
            return tool_error(f"the arguments of {name!r} are one object by name, not {type(args).__name__}")
        if not slot.is_ready:
            return tool_error(f"the memory provider {slot.name!r} is {slot.health.state}: {slot.health.reason}")
        try:
            answer = slot.demand(
                "handle_tool_call",
                lambda: slot.adapted.handle_tool_call(name, dict(args or {}), **facts),
                deadline_s=self.settings.tool_timeout_s,
            )
        except ProviderFailed as error:
            return tool_error(f"memory tool {name!r} failed: {error.reason}")
        return tool_result(answer)

    # --- what happens around turns -----------------------------------------------------------------------------------

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        """Built-in memory really changed: have the external providers told; see `MemoryProvider.on_memory_write`."""
        for slot in self._roster.slots:
            delivery = write_delivery(action, target, content, metadata, session_id=self._session_id)
            if delivery is not None and not slot.is_builtin:
                slot.submit(delivery)

    def mirror(self, change: MirroredChange) -> None:
        """The same for a change as built-in memory tells it to its listeners; `add_provider` makes this one of them."""
        self.on_memory_write(change.mirrored, change.target, change.content, change.metadata)

    def on_pre_compress(
        self,
        messages: list[dict[str, Any]],
        *,
        evidence_messages: list[dict[str, Any]] | None = None,
        require_checkpoint: bool = False,
        checkpoint_api_version: int = PRE_COMPRESS_CHECKPOINT_API_VERSION,
    ) -> str:
        """The transcript is about to be summarised; see `memory.manager.checkpoint.pre_compress` and what it raises."""
        return pre_compress(
            [slot for slot in self._roster.ready if slot.implements("on_pre_compress")],
            messages,
            evidence_messages=evidence_messages,
            require_checkpoint=require_checkpoint,
            api_version=checkpoint_api_version,
            deadline_s=self.settings.checkpoint_timeout_s,
        )

    def supports_pre_compress_checkpoint(self, api_version: int = PRE_COMPRESS_CHECKPOINT_API_VERSION) -> bool:
        """Whether a strict `on_pre_compress` can ever succeed."""
        return any(slot.adapted.checkpoint_api_version >= api_version for slot in self._roster.ready)

    def on_session_end(self, messages: list[dict[str, Any]], *, session_id: str = "") -> None:
        """The session ended; once is enough, until something happens in it again. Told after all its turns."""
        session = session_id or self._session_id
        if session and session != self._ended and self._is_kept:
            self._ended = session
            self._tell(END, session, {}, list(messages))

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        reason: str = "",
    ) -> None:
        """The session's id changed, or its transcript was cut. Told after everything of the session before.

        A fresh session (`reset`) and a resumed one have no parent, whatever is given: with one, providers fork.
        """
        if not new_session_id:
            return
        parent = "" if reset or reason == "resume" else parent_session_id
        said = {"parent_session_id": parent, "reset": reset, "rewound": rewound, "reason": reason}
        if new_session_id != self._session_id:
            self._ended = ""
        self._session_id = new_session_id
        self._seen.clear()
        for slot in self._roster.slots:
            delivery = Delivery(kind=SWITCH, session_id=new_session_id, said=said)
            self._recalls[slot.name].forget()
            self._recalls[slot.name].switch = delivery
            slot.submit(delivery)

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **facts: Any) -> None:
        """A child agent ended."""
        said = {"task": task, "result": result, "child_session_id": child_session_id, "facts": facts}
        self._tell(DELEGATION, self._session_id, said)

    # --- looking and ending ------------------------------------------------------------------------------------------

    def status(self) -> ManagerStatus:
        """How every provider is doing."""
        providers, warnings = self._roster.status()
        return ManagerStatus(
            providers=providers, session_id=self._session_id, is_durable=self._outbox is not None, warnings=warnings
        )

    def ask_available(self, name: str) -> tuple[bool, str]:
        """Whether a registered provider says that it could work now, and why not; for whoever only looks."""
        return self._roster.ask_available(name)

    def notices(self) -> list[str]:
        """Sentences for the user that were not shown yet; each is given once."""
        return self._notices.take()

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until the providers were told everything. False when time is over, or one fails and waits."""
        limit = self.settings.shutdown_timeout_s if timeout_s is None else timeout_s
        told = [slot.lane.flush(limit) for slot in self._roster.slots]  # all of them, also behind one that fails
        return all(told)

    def shutdown(self, timeout_s: float | None = None) -> ShutdownReport:
        """Tell what can be told in time, end the providers, say what is left. A second call gives the same report."""
        if self._report is None:
            limit = self.settings.shutdown_timeout_s if timeout_s is None else timeout_s
            self._report = end(self._roster.slots, self._outbox, timeout_s=limit)
        return self._report

    # --- the peer's names, for plug-ins and tests written for it -----------------------------------------------------

    initialize_all = initialize
    build_system_prompt = system_prompt
    prefetch_all = prefetch
    sync_all = sync_turn
    queue_prefetch_all = queue_prefetch
    get_all_tool_schemas = tool_schemas
    get_all_tool_names = tool_names
    flush_pending = flush
    shutdown_all = shutdown
