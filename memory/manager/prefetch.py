"""Recall within a deadline: all providers at once, and what comes too late waits for the next turn of its session."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.clock import from_us, now_us
from memory.errors import ProviderFailed
from memory.manager.answers import text_of
from memory.manager.caller import StillStuck, unwrapped
from memory.manager.health import describe
from memory.manager.status import LastRecall
from memory.provider import RecallStatus

if TYPE_CHECKING:
    from memory.manager.caller import Call
    from memory.manager.delivery import Delivery
    from memory.manager.slot import Slot

HOOK = "prefetch"
# Share of the deadline that a recall waits for the provider to hear which session it is in.
_SWITCH_SHARE = 0.5


class Answer(NamedTuple):
    """What one prefetch brought."""

    text: str
    status: RecallStatus | None


class Recall:
    """The prefetches of one provider.

    Args:
        slot: the provider.
        deadline_s: seconds a turn waits.
    """

    def __init__(self, slot: Slot, *, deadline_s: float) -> None:
        self._slot = slot
        self._deadline_s = deadline_s
        self._call: Call | None = None
        self._session_id = ""
        self._late: tuple[str, Answer] | None = None  # session, and what came after its turn had gone on
        self.switch: Delivery | None = None  # the newest word of which session it is

    def start(self, query: str, session_id: str) -> None:
        """Begin; `finish` waits. A provider that is not ready, left alone or still stuck is not asked."""
        slot = self._slot
        slot.recalled = None
        self._call, self._session_id = None, session_id
        if not slot.is_ready or not slot.implements(HOOK) or not slot.asking.allows():
            return
        try:
            self._call = slot.caller.start(
                HOOK,
                lambda: slot.traced(HOOK, lambda: self._ask(query, session_id)),
                deadline_s=self._deadline_s,
                on_late=lambda value, error: self._came_late(session_id, value, error),
            )
        except StillStuck:  # its overdue call was counted then
            slot.asking.withdrawn()

    def finish(self) -> str:
        """What was recalled; what came late for this session when there is nothing newer. Never raises."""
        slot, call = self._slot, self._call
        if call is None:
            return self._kept()
        try:
            answer: Answer = call.result()
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything; what is no Exception comes wrapped
            slot.health.failed(HOOK, unwrapped(error), time.monotonic() - call.started_at)
            slot.asking.failed()
            return self._kept()
        slot.health.succeeded(HOOK, time.monotonic() - call.started_at)
        slot.asking.succeeded()
        self._late = None
        return self._taken(answer)

    def inline(self, query: str, session_id: str) -> str:
        """The same for the built-in memory, on the caller's thread."""
        slot = self._slot
        slot.recalled = None
        if not slot.is_ready or not slot.implements(HOOK):
            return ""
        try:
            return self._taken(slot.demand(HOOK, lambda: self._ask(query, session_id), deadline_s=self._deadline_s))
        except ProviderFailed:  # recorded where it happened
            return ""

    def forget(self) -> None:
        """Nothing that comes now belongs to the session any more."""
        self._late = None
        self._session_id = ""

    def _ask(self, query: str, session_id: str) -> Answer:
        """On the provider's thread."""
        slot = self._slot
        if self.switch is not None:
            slot.lane.wait_for(self.switch, self._deadline_s * _SWITCH_SHARE)
            self.switch = None
        text = text_of(slot.adapted.prefetch(slot.handoff.text(query), session_id=session_id))
        return Answer(text, self._status(text))

    def _status(self, text: str) -> RecallStatus | None:
        """What the provider says of its recall; one that does not say recalled something, or nothing."""
        slot = self._slot
        if not slot.implements("recall_status"):
            return RecallStatus(slot.label, -1) if text.strip() else None
        try:
            return slot.adapted.recall_status()
        except BaseException as error:
            if slot.is_builtin and not isinstance(error, Exception):  # a person's, on this very thread
                raise
            slot.health.failed("recall_status", error, 0.0)
            return None

    def _taken(self, answer: Answer) -> str:
        text, status = answer
        self._slot.recalled = status if text.strip() else None
        if text.strip():
            count = -1 if status is None else status.count
            self._slot.last_recall = LastRecall(at=from_us(now_us()), count=count, characters=len(text))
        return text

    def _kept(self) -> str:
        """What came late, once, if the session is still the same."""
        late, self._late = self._late, None
        return self._taken(late[1]) if late is not None and late[0] == self._session_id else ""

    def _came_late(self, session_id: str, value: Any, error: BaseException | None) -> None:
        """On the provider's thread, after the turn had gone on."""
        slot = self._slot
        if error is not None:
            slot.health.last_error = f"{HOOK}, too late: {describe(error)}"
        elif session_id == self._session_id:
            self._late = (session_id, value)
