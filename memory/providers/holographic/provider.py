"""`HolographicProvider`: facts with entities and vectors, kept in the home's store, recalled before each turn."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError
from hermes_state.home import resolve_home
from hermes_state.store import SessionDB
from memory.errors import ProviderUnavailable, ToolNotHandled
from memory.provider import PRE_COMPRESS_CHECKPOINT_API_VERSION, MemoryProvider, RecallStatus
from memory.providers.holographic import importing, settings
from memory.providers.holographic.association import Association
from memory.providers.holographic.extraction import extract_facts
from memory.providers.holographic.mirroring import Mirror
from memory.providers.holographic.records import NewFact, Scope
from memory.providers.holographic.retrieval import Retrieval
from memory.providers.holographic.settings import HolographicSettings, keeps_own_store
from memory.providers.holographic.store import FactStore
from memory.providers.holographic.tools import SCHEMAS, FactTools

if TYPE_CHECKING:
    from memory.provider import ConfigItem, Message, ToolSchema
    from memory.providers.holographic.records import Hit

NAME = "holographic"
# Facts recalled before a turn.
PREFETCHED = 5
# Seconds that the end of a session may take to compare new facts with the others.
_COMPARING_S = 20.0
_HEADING = "## Holographic Memory"
# Which state of the peer's database was imported last, by its path.
_IMPORTED = "facts.imported:"
_log = logging.getLogger(__name__)


class HolographicProvider(MemoryProvider):
    """The holographic memory provider. One per agent; its methods may be called from any thread."""

    pre_compress_checkpoint_api_version = PRE_COMPRESS_CHECKPOINT_API_VERSION

    def __init__(self) -> None:
        self._open: _Open | None = None
        self._recalled: int | None = None

    # ── who it is ─────────────────────────────────────────────────────────────

    @property
    def name(self) -> str:
        """`holographic`."""
        return NAME

    def is_available(self) -> bool:
        """Always: it needs nothing but the store."""
        return True

    def get_config_schema(self) -> list[ConfigItem]:
        """The questions of the set-up, with the peer's keys."""
        return settings.config_schema()

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        """Put the answers into `config.yaml`, keeping everything else in it.

        Raises:
            InvalidValue: an answer is not what its key takes.
        """
        settings.save(values, resolve_home(hermes_home))

    def backup_paths(self) -> list[str]:
        """The store of the facts when it is not the home's own, which a backup has anyhow."""
        chosen = HolographicSettings.load(resolve_home())
        return [str(chosen.db_path)] if keeps_own_store(chosen) else []

    # ── life ──────────────────────────────────────────────────────────────────

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Open the store and take over what is new in the peer's.

        Raises:
            InvalidValue: a setting is not what its key takes.
            HermesStateError: the store can't be opened.
        """
        self.shutdown()
        chosen = HolographicSettings.load(resolve_home(kwargs.get("hermes_home")))
        opened = _Open(chosen, session_id, _speaker(kwargs))
        opened.store.index.ensure()
        opened.import_new()
        self._open = opened

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """Open the store, changing nothing in it."""
        self.shutdown()
        chosen = HolographicSettings.load(resolve_home(kwargs.get("hermes_home")))
        self._open = _Open(chosen, session_id, _speaker(kwargs))

    def shutdown(self) -> None:
        """Write the counts that wait and close the store."""
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    def _ready(self) -> _Open:
        if self._open is None:
            raise ProviderUnavailable(NAME, "it was not initialised, or was shut down")
        return self._open

    # ── the prompt and recall ─────────────────────────────────────────────────

    def system_prompt_block(self) -> str:
        """What the model has to know of it; says how many facts there are."""
        opened = self._ready()
        count = opened.store.count(scope=opened.scope())
        if not count:
            state = "It is empty so far. Keep facts that will matter in another conversation with fact_store (add)."
        else:
            state = (
                f"{count:,} facts. Those that answer the user's message are shown before it; fact_store (search, "
                "probe, reason) finds others."
            )
        return f"# Holographic Memory\n{state}\nRate what you used with fact_feedback."

    def prefetch(self, query: str, *, session_id: str = "") -> str:  # noqa: ARG002  the scope knows the session
        """The facts that answer a message, best first; empty if none does."""
        opened = self._ready()
        hits = opened.retrieval.recall(
            query, min_trust=opened.settings.min_trust_threshold, limit=PREFETCHED, scope=opened.scope()
        )
        self._recalled = len(hits)
        return "\n".join([_HEADING, *map(_line, hits)]) if hits else ""

    def recall_status(self) -> RecallStatus | None:
        """How many facts the last `prefetch` brought; None before the first."""
        return None if self._recalled is None else RecallStatus("Holographic", self._recalled)

    # ── tools ─────────────────────────────────────────────────────────────────

    def get_tool_schemas(self) -> list[ToolSchema]:
        """`fact_store` and `fact_feedback`."""
        return [dict(schema) for schema in SCHEMAS]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:  # noqa: ARG002
        """Run one of the two tools; the result is a JSON document, also when it is an error."""
        tools = self._ready().tools
        if tool_name == "fact_store":
            return tools.fact_store(args)
        if tool_name == "fact_feedback":
            return tools.fact_feedback(args)
        raise ToolNotHandled(NAME, tool_name)

    # ── what happens around turns ─────────────────────────────────────────────

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        """Follow a change of the built-in memory."""
        opened = self._ready()
        opened.mirror.follow(action, target, content, metadata or {}, opened.owner())

    def on_session_end(self, messages: list[Message]) -> None:
        """Keep the facts that the user stated, if `auto_extract` says so. Again with the same messages adds nothing."""
        opened = self._ready()
        if opened.settings.auto_extract:
            opened.extract(messages)
        opened.store.flush()
        opened.store.conflicts.catch_up(
            budget_s=_COMPARING_S
        )  # while nobody waits, so that the tool has few to compare

    def on_pre_compress(self, messages: list[Message], *, require_checkpoint: bool = False) -> str:
        """Keep the facts that the user stated, as `on_session_end`, or because the host requires a checkpoint.

        They are committed, and the full-text index with them, when it returns.

        Returns:
            What was kept, for the summary; empty if nothing was.
        """
        opened = self._ready()
        if not (opened.settings.auto_extract or require_checkpoint):
            return ""
        kept = opened.extract(messages)
        return "\n".join(["Facts kept in holographic memory:", *(f"- {content}" for content in kept)]) if kept else ""

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",  # noqa: ARG002  the contract's signature
        reset: bool = False,
        rewound: bool = False,  # noqa: ARG002
        **kwargs: Any,
    ) -> None:
        """Follow to another session. A compressed or branched one goes on with the facts of the one it comes from."""
        opened = self._ready()
        if reset or kwargs.get("reason") in ("resume", "new_session"):
            opened.conversation = new_session_id
        opened.store.flush()


class _Open:
    """The provider between `initialize` and `shutdown`.

    Attributes:
        conversation: the session under whose id facts of this conversation are kept, in the scope `session`.
    """

    def __init__(self, chosen: HolographicSettings, session_id: str, user_id: str) -> None:
        self.settings = chosen
        self.conversation = session_id
        self._user_id = user_id
        self._db = SessionDB.open(chosen.db_path if keeps_own_store(chosen) else chosen.home_store)
        self.store = FactStore(self._db.engine, dim=chosen.hrr_dim, default_trust=chosen.default_trust)
        self.retrieval = Retrieval(self.store, chosen.retrieval)
        self.mirror = Mirror(self.store)
        self.tools = FactTools(
            self.store,
            self.retrieval,
            Association(self.store, chosen.temporal_decay_half_life),
            min_trust=chosen.min_trust_threshold,
            scope=self.scope,
            owner=self.owner,
        )

    def scope(self) -> Scope:
        """Whose facts are seen: the speaker's and everybody's."""
        if self.settings.scope == "home":
            return Scope("", "")
        return Scope(self._user_id, self.conversation if self.settings.scope == "session" else "")

    def owner(self) -> Scope:
        """Whose new facts are."""
        return self.scope()

    def extract(self, messages: list[Message]) -> list[str]:
        """Keep the facts that the user stated; returns what they are, new or not."""
        owner = self.owner()
        found = extract_facts(messages)
        self.store.add_many(
            NewFact(
                content=each.content,
                category=each.category,
                source="extracted",
                user_id=owner.user_id or "",
                session_id=owner.session_id or "",
            )
            for each in found
        )
        return [each.content for each in found]

    def import_new(self) -> None:
        """Take over the peer's facts, if its database changed. One that can't be read costs nothing of our own."""
        try:
            path = importing.peer_store(self.settings.db_path)
            signature = path and importing.signature(path)
            if path is None or self._db.meta.get(f"{_IMPORTED}{path}") == signature:
                return
            report = importing.import_facts(self.store, path)
        except HermesStateError as error:
            _log.warning("facts of the peer were not taken over: %s", error.message)
            return
        self._db.meta.set(f"{_IMPORTED}{path}", str(signature))
        if report.added or report.changed:
            _log.info("%s: %d facts added, %d changed", path, report.added, report.changed)

    def close(self) -> None:
        """Write what waits, and close."""
        try:
            self.store.flush()
        finally:
            self._db.close()


def _speaker(facts: dict[str, Any]) -> str:
    """Who speaks, as far as the host says: the user, else a gateway's chat; "" where nobody has to be told apart."""
    return str(facts.get("user_id") or facts.get("gateway_session_key") or "")


def _line(hit: Hit) -> str:
    trust = f"{hit.fact.trust:.2f}".rstrip("0")
    return f"- [{trust}{'0' if trust.endswith('.') else ''}] {hit.fact.content}"
