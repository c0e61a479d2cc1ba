"""What a turn recalls: whether to ask the memory at all, with which words, and the fenced block that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.context import build_block
from memory.trivial import is_continuation, is_trivial_prompt

if TYPE_CHECKING:
    from memory.agent.ports import Memory
    from memory.agent.transcript import Transcript


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """What was recalled for a turn.

    Attributes:
        query: what the memory was asked; "" when it was not.
        text: what it said, merged and cleaned.
        block: the same in its fence, as the model gets it; "" when nothing was recalled.
        shown: the line for the person.
    """

    query: str = ""
    text: str = ""
    block: str = ""
    shown: str = ""


def query_for(text: str, transcript: Transcript) -> str:
    """What to ask the memory for a message; "" when it needs no recall.

    "Thanks" needs none. "Continue" goes on with what was asked before, so that is asked again. "Yes" after a question
    is an answer and no triviality.
    """
    if is_continuation(text):
        return next((said for said in reversed(transcript.user_texts) if not is_trivial_prompt(said)), "")
    return "" if is_trivial_prompt(text, after=transcript.last_answer or None) else text


def recall(memory: Memory, query: str, session_id: str) -> Recall:
    """Ask the memory, within its deadline."""
    if not query:
        return Recall()
    text = memory.prefetch(query, session_id=session_id)
    if not text.strip():
        return Recall(query=query)
    return Recall(query=query, text=text, block=build_block(text), shown=memory.describe_recall())
