"""The conversation an agent is in: stored first, then remembered, and followed when it moves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hermes_state.errors import LeaseHeld, SessionMoved
from hermes_state.replay import replay
from memory.agent.content import joined, text_of
from memory.agent.tokens import message_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state import SessionDB
    from hermes_state.records import Message
    from memory.agent.model import ApiMessage

# The mark of a summary that stands for earlier messages, as the peer names it. It is no evidence of what was said.
SUMMARY_MARK = "_compressed_summary"
# Seconds an append waits for another process that is compressing this conversation, and between two looks.
_COMPRESSION_WAIT_S = 600.0
_LOOK_AGAIN_S = 0.25


class Transcript:
    """The active messages of one session, in memory and in the store.

    Args:
        on_move: is told the old and the new session id when another process compressed the conversation.
    """

    def __init__(
        self, db: SessionDB, session_id: str, *, on_move: Callable[[str, str], object] = lambda _old, _new: None
    ) -> None:
        self._db = db
        self._on_move = on_move
        self._tokens: dict[int, int] = {}
        self.session_id = session_id
        self.records: list[Message] = []

    def load(self) -> None:
        """Read the active messages of the session; none when it is not stored yet."""
        stored = self._db.sessions.find(self.session_id) is not None
        self.records = self._db.messages.list(self.session_id) if stored else []

    def move(self, session_id: str) -> None:
        """Go on in another session."""
        self.session_id = session_id
        self.load()

    def follow(self, tip: str) -> None:
        """Another process compressed the conversation: go on where it goes on, and say so."""
        left = self.session_id
        self.move(tip)
        self._on_move(left, tip)

    def append(self, *, also: Callable[[], object] | None = None, **fields: Any) -> Message:
        """Store a message, wherever the conversation goes on by now, and remember it.

        Args:
            also: more to write, committed together with the message.
            fields: as for `Messages.append`.

        Raises:
            LeaseHeld: another process has been compressing the conversation for ten minutes.
            HermesStateError: as `Messages.append`.
        """
        message = self._store(fields, also)
        expected = self.records[-1].position + 1 if self.records else 0
        if message.position == expected:
            self.records.append(message)
        else:  # others wrote in between, or messages were taken back
            self.load()
        return message

    def amend(self, message: Message, **fields: Any) -> Message:
        """Add to a stored message what came to be known since; see `Messages.amend`."""
        amended = self._db.messages.amend(message.id, **fields)
        self.records = [amended if record.id == message.id else record for record in self.records]
        self._tokens.pop(message.id, None)
        return amended

    def _store(self, fields: dict[str, Any], also: Callable[[], object] | None) -> Message:
        deadline = time.monotonic() + _COMPRESSION_WAIT_S
        while True:
            try:
                if also is None:
                    return self._db.messages.append(self.session_id, **fields)
                with self._db.transaction():
                    also()
                    return self._db.messages.append(self.session_id, **fields)
            except SessionMoved as moved:
                self.follow(moved.tip)
            except LeaseHeld:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_AGAIN_S)

    # --- looking ------------------------------------------------------------------------------------------------

    def as_sent(self) -> list[ApiMessage]:
        """The messages as a model takes them; equal bytes for equal messages.

        Messages of the user that follow each other (an answer was interrupted) become one: templates of many open
        models take turns in strict alternation only.
        """
        sent: list[ApiMessage] = []
        for message in replay(self.records):
            message.pop("finish_reason", None)  # of an answer, not of a message; strict endpoints refuse it
            if sent and message["role"] == sent[-1]["role"] == "user":
                sent[-1] = message | {"content": joined(sent[-1]["content"], message["content"])}
            else:
                sent.append(message)
        return sent

    def as_said(self) -> list[dict[str, Any]]:
        """The messages as memory providers get them: what was said, without what recall put in."""
        return [said(record) for record in self.records]

    @property
    def last_answer(self) -> str:
        """What the assistant said last; "" when it did not."""
        for record in reversed(self.records):
            if record.role == "assistant" and text_of(record.content):
                return text_of(record.content)
        return ""

    @property
    def user_texts(self) -> list[str]:
        """What the user said, in order, without summaries."""
        return [
            text_of(record.content)
            for record in self.records
            if record.role == "user" and not record.extras.get(SUMMARY_MARK)
        ]

    @property
    def tokens(self) -> int:
        """About how many tokens the messages take."""
        return sum(self.tokens_of(record) for record in self.records)

    def tokens_of(self, record: Message) -> int:
        """About how many tokens a message takes."""
        known = self._tokens.get(record.id)
        if known is None:
            content = record.content if record.api_content is None else record.api_content
            known = self._tokens[record.id] = message_tokens({"content": content, "tool_calls": record.tool_calls})
        return known


def said(record: Message) -> dict[str, Any]:
    """A message as memory providers know it."""
    shown: dict[str, Any] = {"role": record.role, "content": record.content}
    for name in ("tool_calls", "tool_call_id"):
        if getattr(record, name) is not None:
            shown[name] = getattr(record, name)
    if record.tool_name:
        shown["name"] = record.tool_name
    if record.extras.get(SUMMARY_MARK):
        shown[SUMMARY_MARK] = True
    return shown


def everything_said(db: SessionDB, session_id: str) -> list[dict[str, Any]]:
    """All of a conversation, over every segment and with what was summarised away, for hooks at its end.

    Summaries are left out: what they stand for is there.
    """
    if db.sessions.find(session_id) is None:
        return []
    seen: set[tuple[Any, ...]] = set()
    said_once = []
    for message in db.messages.history(session_id):
        # A rotation copies the newest messages into the next segment, with their times.
        key = (message.role, repr(message.content), message.tool_call_id, message.created_at)
        if key not in seen and not message.extras.get(SUMMARY_MARK):
            said_once.append(said(message))
        seen.add(key)
    return said_once
