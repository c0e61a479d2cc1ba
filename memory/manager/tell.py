"""How a call is made on the lane's thread: arguments unpacked, copies given, and the right session bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from memory.manager.delivery import DELEGATION, END, HOME, PREFETCH, SWITCH, SYNC, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.manager.delivery import Delivery
    from memory.manager.handoff import Handoff
    from memory.signatures import Adapted

# The transcript of a session as the store has it; empty when it has none.
Transcripts: TypeAlias = "Callable[[str], list[dict[str, Any]]]"


class Teller:
    """Makes the calls of one lane.

    A call that an ended process left may be about another session than the one the provider works for now. It is then
    told that the other one is resumed, and afterwards that its own is.

    Args:
        adapted: the provider.
        transcripts: gives the messages of a session that are not in memory any more.
        handoff: makes what the provider gets.
    """

    def __init__(self, adapted: Adapted, transcripts: Transcripts, handoff: Handoff) -> None:
        self._adapted = adapted
        self._handoff = handoff
        self._transcripts = transcripts
        self.session_id = ""  # the one it was started for, or switched to
        self._away = ""  # the one it is lent to, for a call that an ended process left

    def tell(self, delivery: Delivery) -> None:
        """Make one call; what the provider raises comes through."""
        if delivery.kind == SWITCH:
            self._away = ""
            self._switch(delivery)
            self.session_id = delivery.session_id
            return
        self._bind(delivery.session_id if delivery.replayed else "")
        getattr(self, f"_{delivery.kind}")(delivery, delivery.said or {})

    def _bind(self, session_id: str) -> None:
        wanted = "" if session_id == self.session_id else session_id
        if wanted != self._away:
            self._adapted.on_session_switch(wanted or self.session_id, parent_session_id="", reason="resume")
            self._away = wanted

    def _messages(self, delivery: Delivery) -> list[dict[str, Any]]:
        """The transcript: a copy of each message, so that nothing a provider does reaches the conversation."""
        given = delivery.messages if delivery.messages is not None else self._transcripts(delivery.session_id)
        return self._handoff.messages(given)

    def _switch(self, delivery: Delivery) -> None:
        self._adapted.on_session_switch(delivery.session_id, **(delivery.said or {}))

    def _sync_turn(self, delivery: Delivery, said: dict[str, Any]) -> None:
        user, assistant = (self._handoff.text(str(said.get(who, ""))) for who in ("user", "assistant"))
        turn = [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
        self._adapted.sync_turn(
            user,
            assistant,
            session_id=delivery.session_id,
            messages=self._messages(delivery) or turn,
            turn_author=said.get("turn_author"),
            turn_id=delivery.turn_id,
        )

    def _on_session_end(self, delivery: Delivery, _: dict[str, Any]) -> None:
        self._adapted.on_session_end(self._messages(delivery))

    def _on_memory_write(self, _: Delivery, said: dict[str, Any]) -> None:
        content, metadata = self._handoff.text(said["content"]), self._handoff.value(dict(said["metadata"]))
        self._adapted.on_memory_write(said["action"], said["target"], content, metadata)

    def _on_delegation(self, _: Delivery, said: dict[str, Any]) -> None:
        facts = dict(said.get("facts", {}))
        task, result = self._handoff.text(said["task"]), self._handoff.text(said["result"])
        self._adapted.on_delegation(task, result, child_session_id=said["child_session_id"], **facts)

    def _come_back(self, _: Delivery, __: dict[str, Any]) -> None:
        """The own session is bound again already."""

    def _queue_prefetch(self, delivery: Delivery, said: dict[str, Any]) -> None:
        self._adapted.queue_prefetch(self._handoff.text(said["query"]), session_id=delivery.session_id)


assert all(hasattr(Teller, f"_{kind}") for kind in (SYNC, END, WRITE, DELEGATION, PREFETCH, HOME))
