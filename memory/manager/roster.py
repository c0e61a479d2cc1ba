"""Who is there: the providers of a manager, those that could not be loaded, and the tools they bring."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError
from memory.errors import ProviderUnavailable
from memory.manager.caller import unwrapped
from memory.manager.loading import load_in_time
from memory.manager.outbox import waiting
from memory.manager.slot import Slot
from memory.manager.starting import Starter, examine
from memory.manager.status import ProviderStatus
from memory.manager.tools import ToolTable
from memory.raised import named
from memory.signatures import Adapted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memory.manager.health_book import HealthBook
    from memory.manager.loading import ProviderSource
    from memory.manager.notices import Notices
    from memory.manager.outbox import Outbox
    from memory.manager.tell import Transcripts
    from memory.settings import MemorySettings

_log = logging.getLogger(__name__)


class Roster:
    """The providers, the built-in one first.

    Args:
        settings: which providers are configured, and their limits.
        home: the agent's home.
        outbox, transcripts, book: what their lanes work with.
        notices: what the user hears.
        reserved_tools: names of the agent's own tools.
    """

    def __init__(
        self,
        settings: MemorySettings,
        *,
        home: Path,
        outbox: Outbox | None,
        transcripts: Transcripts,
        book: HealthBook,
        notices: Notices,
        reserved_tools: Iterable[str],
    ) -> None:
        self.slots: list[Slot] = []
        self.absent: dict[str, ProviderStatus] = {}
        self.warnings = [f"{finding.key}: {finding.message}" for finding in settings.findings]
        self.tools = ToolTable(reserved_tools, is_off=not settings.has_tools)
        self._settings = settings
        self._home = home
        self._outbox = outbox
        self._transcripts = transcripts
        self._book = book
        self._notices = notices
        self._starter = Starter(outbox, self.tools, settings, self.warn)

    @property
    def ready(self) -> list[Slot]:
        """Those whose hooks may be called."""
        return [slot for slot in self.slots if slot.is_ready]

    @property
    def builtin(self) -> list[Slot]:
        """The built-in memory, if it is there."""
        return [slot for slot in self.slots if slot.is_builtin]

    @property
    def external(self) -> list[Slot]:
        """The others."""
        return [slot for slot in self.slots if not slot.is_builtin]

    def add(self, provider: object, *, configured_as: str = "") -> Slot | None:
        """Take a provider in; None, and a warning, when there is no place for it.

        Raises:
            ContractBroken, ProviderFailed: it is no provider; nothing was changed.
        """
        adapted = Adapted(provider)
        schemas = examine(adapted, home=self._home, deadline_s=self._settings.hook_timeout_s)
        slot = Slot(
            adapted,
            home=self._home,
            settings=self._settings,
            outbox=self._outbox,
            transcripts=self._transcripts,
            book=self._book,
            notify=self._notices.add,
            configured_as=configured_as,
        )
        refusal = self._refusal(slot)
        if refusal:
            self.warn(refusal)
            return None
        self.slots.insert(0 if slot.is_builtin else len(self.slots), slot)
        self.absent.pop(configured_as, None)
        for text in self.tools.put(slot.name, schemas, is_builtin=slot.is_builtin):
            self.warn(text)
        return slot

    def _refusal(self, slot: Slot) -> str:
        if any(other.name == slot.name for other in self.slots):
            return f"memory provider {slot.name!r} is registered already"
        external = [other.name for other in self.external]
        if external and not slot.is_builtin and len(self._settings.providers) <= len(external):
            return (
                f"memory provider {slot.name!r} is not used: {external[0]!r} is the external one; "
                "`memory.providers` in config.yaml takes several"
            )
        return ""

    def load(self, name: str, source: ProviderSource) -> Slot | None:
        """Find a configured provider and take it in; None, and its reason in the status, when it can't be used."""
        try:
            return self.add(self._loaded(name, source), configured_as=name)
        except Exception as error:  # noqa: BLE001  loading runs a plug-in's code
            reason = _why(error)
            self.absent[name] = ProviderStatus(name=name, configured_as=name, state="unavailable", reason=reason)
            self._notices.add(f"memory: {name} is not used: {reason}. See `hermes-state memory status`.")
            return None

    def _loaded(self, name: str, source: ProviderSource) -> object:
        return load_in_time(source, name, home=self._home, deadline_s=self._settings.initialize_timeout_s)

    def start(self, session_id: str, facts: dict[str, Any]) -> None:
        """Start them all for a session."""
        for slot in self.slots:
            self._starter.start(slot, session_id, facts)

    def ask_available(self, name: str) -> tuple[bool, str]:
        """Whether a provider says that it could work now, and why not."""
        slot = next(slot for slot in self.slots if slot.name == name)
        available, _, reason = self._starter.ask(slot)
        return available, reason

    def warn(self, text: str) -> None:
        """Something a person should know."""
        _log.warning("%s", text)
        self.warnings.append(text)

    def runner(self, tool: str) -> Slot | None:
        """The provider that runs a tool."""
        owner = self.tools.owner(tool)
        return next((slot for slot in self.slots if slot.name == owner), None)

    def offered(self) -> list[dict[str, Any]]:
        """The schemas of the tools that can be called; those of a provider that did not start can't."""
        return self.tools.schemas(s.name for s in self.slots if s.health.state in ("new", "starting", "ready"))

    def status(self) -> tuple[tuple[ProviderStatus, ...], tuple[str, ...]]:
        """How every provider is doing, and what else a person should know."""
        warnings = list(self.warnings)
        try:
            written = waiting(self._outbox.engine) if self._outbox is not None else {}
        except HermesStateError as error:
            written = {}
            warnings.append(f"the outbox can't be read: {error.message}")
        there = (slot.status(tools=self.tools.names(slot.name), written=written.get(slot.name)) for slot in self.slots)
        return (*there, *self.absent.values()), tuple(warnings)


def _why(error: Exception) -> str:
    """Why a provider could not be loaded, without its name, which is told anyway."""
    if isinstance(error, ProviderUnavailable):
        return error.reason
    return error.message if isinstance(error, HermesStateError) else named(unwrapped(error))
