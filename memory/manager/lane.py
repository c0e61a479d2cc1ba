"""The lane of one provider: what it is told, one call after the other, in the order in which it happened.

A call that fails stays at the head and is tried again: when the next one comes, after a pause, or when the breaker lets
one through. Nothing overtakes it, so that a turn is never told after its session's end. When it failed often, the call
after it is tried: if the provider takes that one, the first is at fault and is set aside; if not, the provider is, and
both wait. The thread is a daemon, starts with work and ends without.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from hermes_state.errors import HermesStateError
from memory.manager.caller import Busy
from memory.manager.delivery import PREFETCH
from memory.manager.outbox import CLAIM_S, TURN_BUDGET_S
from memory.raised import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.manager.breaker import Breaker
    from memory.manager.delivery import Delivery
    from memory.manager.outbox import Outbox

# Seconds before a failed call is tried again without anything else happening; doubled with each attempt up to the most.
RETRY_S, RETRY_MOST_S = 1.0, 60.0
# Seconds without work after which the thread ends: some providers open a connection on it that works on no other, so it
# stays through the pauses of a conversation; a manager that nobody shut down keeps it no longer than that.
IDLE_S = 3600.0

_log = logging.getLogger(__name__)


class Lane:
    """What waits for one provider, and the thread that tells it.

    Args:
        provider: its name.
        tell: makes one call; raises what the provider raises. Runs on the lane's thread.
        breaker: whether the provider is to be left alone.
        outbox: where calls are written down; None: they end with the process.
        queue_max: calls whose arguments are held in memory; those above are held by the outbox alone, or dropped.
        attempts_max: failures after which a call may be set aside.
        on_failure: hears of each failed attempt.
    """

    def __init__(
        self,
        provider: str,
        tell: Callable[[Delivery], None],
        *,
        breaker: Breaker,
        outbox: Outbox | None,
        queue_max: int,
        attempts_max: int,
        on_failure: Callable[[Delivery, BaseException], None],
    ) -> None:
        self._provider = provider
        self._tell = tell
        self._breaker = breaker
        self._outbox = outbox
        self._queue_max = queue_max
        self._attempts_max = attempts_max
        self._on_failure = on_failure
        self._changed = threading.Condition()
        self._queue: deque[Delivery] = deque()
        self._saving = threading.Lock()
        self._unsaved: deque[Delivery] = deque()  # those that the outbox could not take at once
        self._current: tuple[Delivery, float] | None = None
        self._not_before = 0.0  # monotonic seconds before which the head is not tried again
        self._is_open = False
        self._is_closed = False
        self._is_running = False
        self._renewed_at = time.monotonic()
        self.dropped = 0
        self.set_aside = 0

    # --- looking -----------------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """Calls that wait or run."""
        with self._changed:
            return len(self._queue)

    @property
    def busy(self) -> Busy | None:
        """What is being told now."""
        with self._changed:
            current = self._current
        return None if current is None else Busy(current[0].kind, time.monotonic() - current[1])

    # --- handing over ------------------------------------------------------------------------------------------------

    def submit(self, delivery: Delivery) -> None:
        """Hand a call over; returns at once. One that has to survive is written down first, if the store is free."""
        if self._outbox is not None and delivery.is_durable and delivery.pk is None:
            self._unsaved.append(delivery)
            self._save(self._outbox)
        with self._changed:
            if self._is_closed:
                self._note_drop(delivery, "the manager is shut down")
                return
            self._queue.append(delivery)
            self._bound(delivery)
            if self._breaker.retry_in_s <= 0:
                self._not_before = 0.0
            self._start()

    def _save(self, outbox: Outbox) -> None:
        """Write down what is not yet, in order, unless the store is busy: then the next call, or the telling, does."""
        if not self._saving.acquire(blocking=False):
            return
        try:
            while self._unsaved:
                if self._unsaved[0].pk is None:
                    outbox.put(self._provider, self._unsaved[0], budget_s=TURN_BUDGET_S)
                self._unsaved.popleft()
        except HermesStateError as error:
            _log.debug(
                "memory provider %s: %d calls not written down yet: %s", self._provider, len(self._unsaved), error
            )
        finally:
            self._saving.release()

    def put_first(self, deliveries: list[Delivery]) -> None:
        """Hand over what an ended process left: before anything of this one."""
        with self._changed:
            self._queue.extendleft(reversed(deliveries))
            self._start()

    def open(self) -> None:
        """The provider is ready: what waits may be told."""
        with self._changed:
            self._is_open = True
            self._start()

    def _bound(self, newest: Delivery) -> None:
        """Hold the memory down: arguments of calls above the limit only in the outbox; without one, the oldest goes."""
        if len(self._queue) <= self._queue_max:
            return
        if newest.pk is not None:
            newest.said = newest.messages = None
            return
        if not newest.is_durable:  # a word of a few bytes, and the order of sessions depends on it
            return
        if self._outbox is not None and len(self._unsaved) <= self._queue_max:  # the store is busy, and soon is not
            return
        for old in list(self._queue)[1:] if self._current else list(self._queue):
            if old.is_durable and old.pk is None:
                self._queue.remove(old)
                self._note_drop(old, f"more than {self._queue_max} calls wait and nothing writes them down")
                return

    def _note_drop(self, delivery: Delivery, why: str) -> None:
        kept = " it is in the outbox" if delivery.pk is not None else ""
        if not kept:
            self.dropped += 1
        _log.warning("memory provider %s: %s not told, %s;%s", self._provider, delivery.kind, why, kept or " lost")

    def _start(self) -> None:
        self._changed.notify_all()
        if self._is_open and self._queue and not self._is_running:
            self._is_running = True
            threading.Thread(target=self._run, name=f"memory-lane-{self._provider}", daemon=True).start()

    # --- waiting -----------------------------------------------------------------------------------------------------

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything was told. False when the time is over, or the head failed and waits for another try."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while self._queue and self._is_open and not self._is_held:
                left = until - time.monotonic()
                if left <= 0 or not self._is_running:
                    return False
                self._changed.wait(left)
            return not self._queue

    def wait_for(self, delivery: Delivery, timeout_s: float) -> bool:
        """Wait until one call was told, or can't be told now."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while delivery in self._queue and self._is_open and not self._is_held:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return delivery not in self._queue

    def close(self, timeout_s: float) -> list[Delivery]:
        """Tell what can be told in that time, then no more; returns what was not told (or whose end nobody knows)."""
        with self._changed:
            if not self._is_closed:
                self._not_before = 0.0  # one more try
                self._changed.notify_all()
        self.flush(timeout_s)
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            return list(self._queue)

    @property
    def _is_held(self) -> bool:
        """Whether the head has to wait before it is tried (again)."""
        return self._current is None and (self._not_before > time.monotonic() or self._breaker.retry_in_s > 0)

    # --- telling -----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while (delivery := self._next()) is not None:
            taken, is_alive = False, False
            try:
                taken = self._deliver(delivery)
                is_alive = True
            finally:
                with self._changed:
                    self._current = None
                    self._is_running = is_alive  # else the next call starts another thread
                    if taken:
                        self._queue.remove(delivery)
                    self._changed.notify_all()

    def _next(self) -> Delivery | None:
        with self._changed:
            while not self._is_closed:
                pause = IDLE_S
                if self._queue:
                    pause = max(self._not_before - time.monotonic(), self._breaker.retry_in_s)
                    if pause <= 0 and self._breaker.allows():
                        delivery = self._queue[0]
                        self._current = (delivery, time.monotonic())
                        return delivery
                    pause = min(max(pause, 0.05), RETRY_MOST_S)
                self._changed.notify_all()  # whoever flushes sees that the head has to wait
                if not self._changed.wait(pause) and not self._queue:
                    break
                self._renew()
            self._is_running = False
            return None

    def _renew(self) -> None:
        """While calls wait for a provider that is away, say now and then that they have an owner."""
        if self._outbox is None or time.monotonic() - self._renewed_at < CLAIM_S / 3:
            return
        self._renewed_at = time.monotonic()
        try:
            self._outbox.renew(self._provider)
        except HermesStateError as error:
            _log.warning("memory provider %s: the outbox can't be written: %s", self._provider, error)

    def _deliver(self, delivery: Delivery) -> bool:
        """Make one call. True when it need not be made (again)."""
        try:
            if not self._prepare(delivery):
                self._breaker.withdrawn()
                return True
        except HermesStateError as error:  # the store is busy or full: telling goes on without it, where it can
            _log.warning("memory provider %s: the outbox can't be used: %s", self._provider, error)
            if delivery.said is None:  # what is to be said is only there
                self._breaker.withdrawn()
                with self._changed:
                    self._not_before = time.monotonic() + RETRY_S
                return False
        return self._made(delivery) or self._is_at_fault(delivery)

    def _made(self, delivery: Delivery) -> bool:
        try:
            self._tell(delivery)
        except BaseException as error:  # noqa: BLE001  a plug-in may raise anything, SystemExit included
            self._failed(delivery, error)
            return False
        self._breaker.succeeded()
        self._settle(delivery)
        return True

    def _prepare(self, delivery: Delivery) -> bool:
        """Write it down or count the attempt; False when another process has taken it over."""
        if self._outbox is None or not delivery.is_durable:
            return True
        if delivery.pk is None:
            with self._saving:
                if delivery.pk is None:
                    self._outbox.put(self._provider, delivery)
        if not self._outbox.begin(delivery):
            return False
        if delivery.said is None:
            delivery.said = self._outbox.read(delivery)
        return True

    def _failed(self, delivery: Delivery, error: BaseException) -> None:
        delivery.attempts += 1
        self._breaker.failed()
        self._on_failure(delivery, error)
        with self._changed:
            self._not_before = time.monotonic() + min(RETRY_S * 2 ** (delivery.attempts - 1), RETRY_MOST_S)
        self._settle(delivery, error=named(error))

    def _is_at_fault(self, delivery: Delivery) -> bool:
        """Whether a call that failed is given up, so that those behind it can go on."""
        if not delivery.is_durable:  # a hint, or the name of a session that the next one names again
            return delivery.kind == PREFETCH or delivery.attempts >= self._attempts_max
        if delivery.attempts < self._attempts_max:
            return False
        with self._changed:
            after = next((other for other in self._queue if other is not delivery and other.is_durable), None)
        if after is None or not self._deliver_early(after):
            return False
        if self._made(delivery):  # the provider came back between the two
            return True
        self.set_aside += 1
        _log.warning("memory provider %s: %s set aside, it fails and others don't", self._provider, delivery.kind)
        self._settle(delivery, error="it fails, and the call after it does not", set_aside=True)
        with self._changed:
            self._not_before = 0.0
        return True

    def _deliver_early(self, delivery: Delivery) -> bool:
        """Try a call that is not at the head. True when the provider took it."""
        try:
            taken = not self._prepare(delivery) or self._made(delivery)
        except HermesStateError as error:  # the store is busy: no time for experiments
            _log.warning("memory provider %s: the outbox can't be written: %s", self._provider, error)
            return False
        if taken:
            with self._changed:
                self._queue.remove(delivery)
        return taken

    def _settle(self, delivery: Delivery, *, error: str = "", set_aside: bool = False) -> None:
        if self._outbox is None or delivery.pk is None:
            return
        try:
            if error:
                self._outbox.failed(self._provider, delivery, error, set_aside=set_aside)
            else:
                self._outbox.done(delivery)
        except HermesStateError as trouble:  # the row stays: the call is made once more, with the same turn_id
            _log.warning("memory provider %s: the outbox can't be written: %s", self._provider, trouble)
