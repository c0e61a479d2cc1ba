"""One provider in its place: asked with a deadline, told in order, and never able to hurt whoever asks or tells."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any

from memory.context import sanitize
from memory.errors import ProviderFailed
from memory.host.home_scope import home_scope
from memory.manager.answers import text_of
from memory.manager.breaker import Breaker
from memory.manager.caller import BoundedCaller, StillStuck, unwrapped
from memory.manager.handoff import Handoff
from memory.manager.health import Health, describe
from memory.manager.lane import Lane
from memory.manager.status import ProviderStatus
from memory.manager.tell import Teller
from memory.manager.tracing import span

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memory.manager.delivery import Delivery
    from memory.manager.health_book import HealthBook
    from memory.manager.outbox import Outbox, Waiting
    from memory.manager.status import LastRecall
    from memory.manager.tell import Transcripts
    from memory.provider import RecallStatus
    from memory.settings import MemorySettings
    from memory.signatures import Adapted

BUILTIN = "builtin"


class Slot:
    """A provider, and everything that keeps the agent safe from it.

    Args:
        adapted: the provider.
        home: the agent's home.
        settings: deadlines and limits.
        outbox: where calls are written down; None: nowhere.
        transcripts: gives the messages of a session from the store.
        book: keeps how it is doing.
        notify: gets sentences for the user.
        configured_as: its name in the configuration.
    """

    def __init__(
        self,
        adapted: Adapted,
        *,
        home: Path,
        settings: MemorySettings,
        outbox: Outbox | None,
        transcripts: Transcripts,
        book: HealthBook,
        notify: Callable[[str], None],
        configured_as: str = "",
    ) -> None:
        self.adapted = adapted
        self._home = home
        self.book = book
        self.name = adapted.name
        self.configured_as = configured_as
        self.is_builtin = self.name == BUILTIN
        self.health = Health(self.name, notice_after=settings.notice_after_failures, notify=notify)
        failures, cooldown_s = settings.breaker_failures, settings.breaker_cooldown_s
        self.asking = Breaker(failures=failures, cooldown_s=cooldown_s)
        self.telling = Breaker(failures=failures, cooldown_s=cooldown_s)
        self.caller = BoundedCaller(f"memory-{self.name}")
        weakref.finalize(self, self.caller.close)  # for managers that nobody shut down
        self.handoff = Handoff(redact=settings.redact_secrets and not self.is_builtin)
        self.teller = Teller(adapted, transcripts, self.handoff)
        self.lane = Lane(
            self.name,
            self._tell,
            breaker=self.telling,
            outbox=None if self.is_builtin else outbox,
            queue_max=settings.queue_max,
            attempts_max=settings.delivery_attempts,
            on_failure=self._not_told,
        )
        self.recalled: RecallStatus | None = None
        self.last_recall: LastRecall | None = None
        self._told_at = 0.0
        self._standing = ""

    @property
    def label(self) -> str:
        """The name for people."""
        return self.name.replace("_", " ").replace("-", " ").title()

    @property
    def is_ready(self) -> bool:
        """Whether hooks may be called."""
        return self.health.state == "ready"

    def implements(self, hook: str) -> bool:
        """Whether the provider has that hook, and the hook does something."""
        return self.adapted.implements(hook)

    # --- asking ------------------------------------------------------------------------------------------------------

    def ask(self, hook: str, function: Callable[[], Any], *, deadline_s: float, default: Any = None) -> Any:
        """What a hook answers, or the default when it raises, hangs or is left alone for now. Never raises."""
        if not self.asking.allows():
            return default
        try:
            answer = self.demand(hook, function, deadline_s=deadline_s)
        except ProviderFailed as error:
            if isinstance(error.__cause__, StillStuck):  # that call was counted when it became overdue
                self.asking.withdrawn()
            else:
                self.asking.failed()
            return default
        self.asking.succeeded()
        return answer

    def demand(self, hook: str, function: Callable[[], Any], *, deadline_s: float) -> Any:
        """What a hook answers.

        Raises:
            ProviderFailed: it raised, or did not come back in time; what it raised is the cause.
        """
        started = time.monotonic()
        try:
            answer = self._run(hook, function, deadline_s)
        except StillStuck as error:  # not a call of its own
            raise ProviderFailed(self.name, hook, describe(error)) from error
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything; what is no Exception comes wrapped
            raised = unwrapped(error)
            self.health.failed(hook, raised, time.monotonic() - started)
            raise ProviderFailed(self.name, hook, describe(raised)) from raised
        self.health.succeeded(hook, time.monotonic() - started)
        return answer

    def _run(self, hook: str, function: Callable[[], Any], deadline_s: float) -> Any:
        if self.is_builtin:  # ours: no thread between us, which saves 0.1 ms a call
            return self.traced(hook, function)
        return self.caller.call(hook, lambda: self.traced(hook, function), deadline_s=deadline_s)

    def traced(self, hook: str, function: Callable[[], Any]) -> Any:
        """Call within a span, with the agent's home as the one that plug-ins ask for."""
        with span(hook, {"provider": self.name}), home_scope(self._home):
            return function()

    def standing_text(self, deadline_s: float) -> str:
        """Its part of the system prompt; the one it gave before while it does not answer."""
        if self.implements("system_prompt_block"):
            answer = self.ask(
                "system_prompt_block", lambda: text_of(self.adapted.system_prompt_block()), deadline_s=deadline_s
            )
            self._standing = self._standing if answer is None else sanitize(answer).strip()
        return self._standing

    # --- telling -----------------------------------------------------------------------------------------------------

    def submit(self, delivery: Delivery) -> None:
        """Have the provider told, in its turn. What it does not implement, it is not told."""
        if self.implements(delivery.kind):
            self.lane.submit(delivery)

    def _tell(self, delivery: Delivery) -> None:
        self._told_at = time.monotonic()
        self.traced(delivery.kind, lambda: self.teller.tell(delivery))
        self.health.succeeded(delivery.kind, time.monotonic() - self._told_at)
        self.book.note(self.name, self.health)

    def _not_told(self, delivery: Delivery, error: BaseException) -> None:
        self.health.failed(delivery.kind, error, time.monotonic() - self._told_at)
        self.book.note(self.name, self.health)

    # --- looking -----------------------------------------------------------------------------------------------------

    def status(self, *, tools: tuple[str, ...], written: Waiting | None) -> ProviderStatus:
        """How it is doing.

        Args:
            tools: names of its tools.
            written: what is in the outbox for it.
        """
        health = self.health
        return ProviderStatus(
            name=self.name,
            configured_as=self.configured_as,
            is_builtin=self.is_builtin,
            state=health.state,
            reason=health.reason or self._trouble(),
            breaker={"asking": self.asking.state, "telling": self.telling.state},
            latency=health.latencies.summary(),
            calls=health.calls,
            failures=health.failures,
            failures_in_row=health.failures_in_row,
            queue=self.lane.depth,
            in_outbox=written.waiting if written else 0,
            set_aside=written.set_aside if written else self.lane.set_aside,
            dropped=self.lane.dropped,
            busy=tuple(busy for busy in (self.lane.busy, self.caller.busy) if busy is not None),
            tools=tools,
            last_recall=self.last_recall,
            last_error=health.last_error,
            last_error_at=health.last_error_at,
            last_success_at=health.last_success_at,
        )

    def _trouble(self) -> str:
        """Why a provider that started well is left alone."""
        states = {"asked": self.asking, "told": self.telling}
        open_ones = [(word, b.retry_in_s) for word, b in states.items() if b.state == "open"]
        return "; ".join(f"not {word} for {left:.0f} s more: {self.health.last_error}" for word, left in open_ones)
