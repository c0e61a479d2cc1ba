"""How a provider gets in: examined before anything changes, started within a time, told what others left behind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError
from memory.errors import MemoryFault, ProviderFailed
from memory.host.home_scope import home_scope
from memory.manager.caller import BoundedCaller, Overdue, unwrapped
from memory.manager.delivery import HOME, Delivery
from memory.manager.health import describe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memory.manager.outbox import Outbox
    from memory.manager.slot import Slot
    from memory.manager.status import ProviderState
    from memory.manager.tools import ToolTable
    from memory.settings import MemorySettings
    from memory.signatures import Adapted


def examine(adapted: Adapted, *, home: Path, deadline_s: float) -> list[object]:
    """Prove a provider's contract and read its tool schemas; changes nothing.

    Args:
        home: the agent's home, for what asks where that is.
        deadline_s: seconds each of the two may take.

    Raises:
        ContractBroken: it is no provider.
        ProviderFailed: its name or its schemas can't be read.
    """
    caller = BoundedCaller("memory-registration", idle_s=0.0)
    try:
        with home_scope(home):  # calls carry the context of whoever makes them
            caller.call("check", adapted.check, deadline_s=deadline_s)
            schemas: list[object] = caller.call("get_tool_schemas", adapted.get_tool_schemas, deadline_s=deadline_s)
    except MemoryFault:
        raise
    except Exception as error:  # noqa: BLE001  a plug-in may raise anything; what is no Exception comes wrapped
        raised = unwrapped(error)
        raise ProviderFailed(adapted.label, "registration", describe(raised)) from raised
    return schemas


class Starter:
    """Starts providers.

    Args:
        outbox: what ended processes left; None: nothing.
        tools: gets the schemas once more after the start, since some providers know them only then.
        settings: how long to wait.
        warn: hears what a person should know.
    """

    def __init__(
        self, outbox: Outbox | None, tools: ToolTable, settings: MemorySettings, warn: Callable[[str], None]
    ) -> None:
        self._outbox = outbox
        self._tools = tools
        self._settings = settings
        self._warn = warn

    def start(self, slot: Slot, session_id: str, facts: dict[str, Any]) -> None:
        """Start one provider. It is ready afterwards, or its state says why not.

        One that needs longer than the deadline becomes ready when it comes back.
        """
        if not self._is_available(slot):
            return
        slot.health.enter("starting")
        slot.teller.session_id = session_id

        def call() -> None:
            slot.adapted.initialize(session_id, **facts)

        if slot.is_builtin:
            try:
                call()
            except Exception as error:  # noqa: BLE001  the agent works without it, and says so
                slot.health.enter("failed", f"initialize: {describe(error)}")
                return
            self._ready(slot)
            return
        self._start_external(slot, call)

    def _start_external(self, slot: Slot, call: Callable[[], None]) -> None:
        deadline_s = self._settings.initialize_timeout_s
        started = time.monotonic()

        def came_late(_: Any, error: BaseException | None) -> None:
            self._ended(slot, error)

        try:
            slot.caller.start(
                "initialize", lambda: slot.traced("initialize", call), deadline_s=deadline_s, on_late=came_late
            ).result()
        except Overdue as error:
            slot.health.reason = f"initialize: {describe(error)}; it is used when it comes back"
            self._warn(f"memory provider {slot.name!r}: {slot.health.reason}")
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything; what is no Exception comes wrapped
            self._ended(slot, unwrapped(error))
        else:
            slot.health.succeeded("initialize", time.monotonic() - started)
            self._ended(slot, None)

    def _ended(self, slot: Slot, error: BaseException | None) -> None:
        """`initialize` came back, in time or later."""
        if error is not None:
            slot.health.failed("initialize", error, 0.0)
            slot.health.enter("failed", f"initialize: {describe(error)}")
        elif slot.health.state == "starting":
            self._ready(slot)

    def _is_available(self, slot: Slot) -> bool:
        available, state, reason = self.ask(slot)
        if not available:
            slot.health.enter(state, reason)
        return available

    def ask(self, slot: Slot) -> tuple[bool, ProviderState, str]:
        """Whether a provider says that it could work now; else the state it is in, and why."""
        deadline_s = self._settings.hook_timeout_s
        try:
            if slot.demand("is_available", slot.adapted.is_available, deadline_s=deadline_s):
                return True, slot.health.state, ""
            why = slot.demand("unavailable_reason", slot.adapted.unavailable_reason, deadline_s=deadline_s)
        except ProviderFailed as error:
            return False, "failed", f"{error.hook}: {error.reason}"
        return False, "unavailable", why or "it says that it is not available, and not why"

    def _ready(self, slot: Slot) -> None:
        try:
            schemas = slot.adapted.get_tool_schemas()
        except Exception as error:  # noqa: BLE001  those it had before stay
            slot.health.failed("get_tool_schemas", error, 0.0)
        else:
            self._tools.put(slot.name, schemas, is_builtin=slot.is_builtin)
        left = self._left_behind(slot)
        if left:
            slot.lane.put_first([*left, Delivery(kind=HOME, session_id="", said={})])
        slot.health.enter("ready")
        slot.lane.open()

    def _left_behind(self, slot: Slot) -> list[Delivery]:
        if self._outbox is None or slot.is_builtin:
            return []
        try:
            return self._outbox.claim(slot.name)
        except HermesStateError as error:
            self._warn(f"memory provider {slot.name!r}: the outbox can't be read: {error.message}")
            return []
