"""One turn of the conversation, step by step. `Turn.run` is the order; each step below is one of its lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError
from memory.agent.cadence import Due
from memory.agent.content import text_of, with_text
from memory.agent.failures import ContextTooLong, ModelAborted
from memory.agent.loop import Loop, Outcome
from memory.agent.prompt import assemble, injected
from memory.agent.recall import Recall, query_for, recall
from memory.agent.remember import asks_to_remember
from memory.agent.tokens import message_tokens, prompt_tokens
from memory.context import sanitize

if TYPE_CHECKING:
    from hermes_state.records import Content, Message
    from memory.agent.compression import Compressed
    from memory.agent.model import ApiMessage
    from memory.agent.parts import Parts

# `finish_reason` of an answer that was cut short; it is shown again, and never handed to memory.
INTERRUPTED = "interrupted"
# Compressions before one turn: a long summary, or a long tail, may need another.
_MAX_PASSES = 3
# Characters of a saved memory that a notice shows.
_PREVIEW = {"on": 80, "verbose": 400}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a turn came to.

    Attributes:
        message_id: the user's message in the store.
        interrupted: it was cut short; `text` is what was said until then.
        saved: lines about memories that were saved.
        reviewing: a background review was started.
    """

    text: str
    session_id: str
    message_id: int
    recall: Recall
    interrupted: bool = False
    tools: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    compressed: Compressed | None = None
    reviewing: bool = False


class Turn:
    """One turn: made for one message of the user, run once."""

    def __init__(self, parts: Parts, content: Content) -> None:
        self._parts = parts
        self._content = with_text(content, sanitize)
        self._text = text_of(self._content)
        self._number = 0
        self._recall = Recall()
        self._query = ""
        self._question: Message | None = None
        self._compressed: Compressed | None = None
        self._outcome = Outcome()
        self._reviewing = False

    def run(self) -> Answer:
        """The turn, in its order.

        Raises:
            HermesStateError: the model or the store failed. The user's message is stored, and what the model had said.
        """
        self._count()
        self._compress_if_due()
        self._tell_start()
        self._store_question()
        self._recall_memory()
        if not self._converse():
            return self._answer(interrupted=True)
        self._hand_to_memory()
        self._review_if_due()
        return self._answer()

    # --- before the model ---------------------------------------------------------------------------------------

    def _count(self) -> None:
        """The nudge counter goes up; it is stored together with the user's message."""
        self._number = self._parts.cadence.begin_turn()

    def _compress_if_due(self) -> None:
        """A conversation that has grown too long is compressed first.

        When that fails the turn goes on, as long as the conversation still fits into the model's context.
        """
        parts = self._parts
        for _ in range(_MAX_PASSES):
            tokens = self._request_tokens()
            if not parts.compressor.is_due(tokens):
                return
            try:
                if not self._compress():
                    return
            except HermesStateError as error:
                if parts.compressor.is_over(tokens):
                    raise
                parts.surface.notice(f"the conversation was not compressed: {error.message}")
                return

    def _compress(self) -> bool:
        """Compress now; whether anything came of it. What was not reviewed yet is reviewed beside it."""
        parts = self._parts
        if parts.cadence.is_worth_a_flush():
            self._reviewing = parts.reviewer.start(Due(memory=True), parts.cadence, self._request(), parts.session_id)
        done = parts.compressor.compress(parts.transcript)
        if done is None:
            return False
        self._compressed = done
        parts.prompt.rebuild(done.session_id)
        parts.surface.notice(f"compressed: {done.summarised} messages became a summary")
        return True

    def _request_tokens(self) -> int:
        parts = self._parts
        asked = message_tokens({"content": self._content}) + prompt_tokens(parts.system_prompt())
        return parts.transcript.tokens + asked + parts.toolbox.tokens

    def _tell_start(self) -> None:
        """Providers hear that a turn begins."""
        parts = self._parts
        parts.memory.on_turn_start(self._number, self._text, model=parts.model.name, platform=parts.platform)

    def _store_question(self) -> None:
        """The user's message is stored before anybody is asked who may take long, so that no kill loses it."""
        parts = self._parts
        self._query = query_for(self._text, parts.transcript)
        self._question = parts.transcript.append(also=self._store_beside, role="user", content=self._content)
        parts.opening = None

    def _recall_memory(self) -> None:
        """Ask the memory, unless the message is one that needs no recall; what it adds is kept with the message."""
        parts = self._parts
        assert self._question is not None
        self._recall = recall(parts.memory, self._query, parts.session_id)
        added = injected(self._content, self._recall.block, parts.settings.recall_placement)
        if added:
            parts.transcript.amend(self._question, **added)
        if self._recall.shown:
            parts.surface.recall(self._recall.shown)

    def _store_beside(self) -> None:
        self._parts.store_session()
        self._parts.cadence.save()

    # --- the model ----------------------------------------------------------------------------------------------

    def _converse(self) -> bool:
        """The model/tool loop; whether it came to an answer.

        However it is cut short (Ctrl-C, a signal, `Agent.interrupt`, a failing model), what was said until then is
        stored as an interrupted answer.
        """
        try:
            try:
                self._loop()
            except ContextTooLong:
                if not self._compress():
                    raise
                self._loop()
        except BaseException as ended:
            self._keep_partial()
            if not isinstance(ended, ModelAborted):
                raise
            return False
        finally:
            self._count_work()
        return True

    def _loop(self) -> None:
        parts = self._parts
        loop = Loop(
            parts.model,
            parts.toolbox,
            parts.transcript,
            request=self._request,
            surface=parts.surface,
            booked=parts.book,
            max_iterations=parts.max_iterations,
            stop=parts.stop,
            outcome=self._outcome,
        )
        loop.run()

    def _request(self) -> list[ApiMessage]:
        return assemble(self._parts.system_prompt(), self._parts.transcript)

    def _keep_partial(self) -> None:
        transcript = self._parts.transcript
        text = self._outcome.text = sanitize(self._outcome.partial).strip()
        is_stored = bool(transcript.records) and (transcript.records[-1].role, transcript.records[-1].content) == (
            "assistant",
            text,
        )
        if text and not is_stored:  # else it was whole, and cut short after that
            transcript.append(role="assistant", content=text, finish_reason=INTERRUPTED)

    def _count_work(self) -> None:
        """The counters of reviews follow what the agent did itself; what was saved is shown."""
        cadence, outcome = self._parts.cadence, self._outcome
        for _ in range(outcome.iterations):
            cadence.iterated()
        if outcome.wrote_memory:
            cadence.wrote_memory()
        if outcome.changed_skill:
            cadence.changed_skill()
        cadence.save()
        length = _PREVIEW.get(self._parts.settings.notifications, 0)
        for line in outcome.saved if length else ():
            self._parts.surface.notice(f"💾 {_cut(line, length)}")

    # --- after the answer ---------------------------------------------------------------------------------------

    def _hand_to_memory(self) -> None:
        """Providers get the turn, and are asked ahead for the next one. Automation leaves no trace."""
        parts, answer = self._parts, self._outcome.text
        parts.spoke = True
        if not answer:
            parts.surface.notice("the model answered nothing")
        if self._text.strip() and answer and not parts.is_automation:
            said = parts.transcript.as_said()
            parts.memory.sync_turn(self._text, answer, session_id=parts.session_id, messages=said)
            if self._recall.query:
                parts.memory.queue_prefetch(self._recall.query, session_id=parts.session_id)
        for notice in parts.memory.notices():
            parts.surface.notice(notice)

    def _review_if_due(self) -> None:
        """Beside the next turn: a review, when its interval is over or the user asked for something to be kept."""
        parts = self._parts
        asked = asks_to_remember(self._text) and not self._outcome.wrote_memory
        due = parts.cadence.due(asked=asked, skills=parts.reviewer.reviews_skills)
        if due and self._outcome.text:
            self._reviewing |= parts.reviewer.start(due, parts.cadence, self._request(), parts.session_id)

    def _answer(self, *, interrupted: bool = False) -> Answer:
        facts: dict[str, Any] = {"tools": tuple(self._outcome.tools), "saved": tuple(self._outcome.saved)}
        return Answer(
            text=self._outcome.text,
            session_id=self._parts.session_id,
            message_id=self._question.id if self._question else 0,
            recall=self._recall,
            interrupted=interrupted,
            compressed=self._compressed,
            reviewing=self._reviewing,
            **facts,
        )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
