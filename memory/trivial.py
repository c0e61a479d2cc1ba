"""The gate before recall: whether a message says nothing that a memory could answer to.

One function for the loop and for providers. What is trivial alone can matter in its place: "yes" answers what the agent
has just asked, and "continue" in the middle of a task means that task. Callers that know what the agent said last pass
it as `after`; what should be looked up for a bare "continue" is the caller's to know (`is_continuation`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from hermes_state.text import fold
from memory import small_talk

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENGLISH = f"{small_talk.ENGLISH_ANSWERS}|{small_talk.ENGLISH_GO_ON}|{small_talk.ENGLISH_COURTESY}"
# What plugins import under this name: the English words alone.
TRIVIAL_PROMPT_RE = re.compile(rf"\A\s*(?:{_ENGLISH})[\W_]*\Z", re.IGNORECASE)

# Longer messages say something.
_MAX_CHARS = 80
# Joiners and variation selectors: parts of emoji that are no symbols themselves.
_EMOJI_PARTS = "\u200d\ufe0e\ufe0f\u20e3"
# Marks inside a word or phrase: "d'accord", "vas-y".
_INNER = re.compile(r"(?<=\w)['’-](?=\w)")
_COMMAND = re.compile(r"/[^/\s]*(?:\s|\Z)")
# A question mark that is no part of an address, near the end: options or a remark may follow it.
_QUESTION = re.compile(r"[?？؟⁇‽](?![\w=&])")
_END_CHARS = 300
# Particles that make a question at the end of a sentence without a mark.
_ASKING = re.compile(r"(?:吗|嗎|呢|么|ですか|ますか|でしょうか|까요|나요|습니까|ㅂ니까)[。.!！~～…\s]*\Z")


def _parts(message: str) -> list[str]:
    """The folded phrases between a message's punctuation and symbols; empty if it has no letter and no digit."""
    spaced = "".join(
        " " if char.isspace() else "\n" if unicodedata.category(char)[0] in "PSC" or char in _EMOJI_PARTS else char
        for char in _INNER.sub(" ", message)
    )
    return [fold(" ".join(part.split())) for part in spaced.split("\n") if part.strip()]


def _phrases(tables: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(_parts(phrase)) for table in tables for phrase in table.split("|"))


_ENGLISH_WORDS = _phrases([_ENGLISH])
_GO_ON = _phrases([small_talk.ENGLISH_GO_ON, *small_talk.GO_ON.values()])
_COURTESY = _phrases([small_talk.ENGLISH_COURTESY, *small_talk.COURTESY.values()])
_ANSWERS = _phrases([small_talk.ENGLISH_ANSWERS, *small_talk.ANSWERS.values()])
_ALL = _GO_ON | _COURTESY | _ANSWERS


def is_trivial_prompt(text: str, *, after: str | None = None) -> bool:
    """Whether recall has nothing to do for a message: empty, a slash command, emoji, punctuation, or small talk.

    Args:
        text: what the user wrote.
        after: what the assistant said last, where the caller knows. Then an answer to a question that it ends with is
            not trivial, nor is a word that tells the agent to go on.
    """
    message = text.strip()
    if len(message) > _MAX_CHARS and not message.startswith("/"):
        return False
    if not message or _COMMAND.match(fold(message)):
        return True
    words = _parts(message)
    if not words:
        return not (_has_symbol(message) and _asks(after))
    if not all(_is_small_talk(word) for word in words) or (len(words) > 1 and _ENGLISH_WORDS.issuperset(words)):
        return False
    if after is None or not after.strip():
        return True
    return not (is_continuation(message) or (_asks(after) and not _COURTESY.issuperset(words)))


def is_continuation(text: str) -> bool:
    """Whether a message only tells the agent to go on with what it is doing ("continue", "继续", "weiter")."""
    words = [] if text.lstrip().startswith("/") else _parts(text.strip()[: _MAX_CHARS + 1])
    return bool(words) and all(_is_small_talk(word) for word in words) and any(word in _GO_ON for word in words)


def _asks(said: str | None) -> bool:
    """Whether a text ends with a question."""
    end = (said or "").rstrip(" \t\r\n*_`\"'”’»」』)）]")[-_END_CHARS:]
    return bool(_QUESTION.search(end) or _ASKING.search(end))


def _has_symbol(message: str) -> bool:
    return any(unicodedata.category(char)[0] == "S" for char in message)


def _is_small_talk(phrase: str) -> bool:
    """Whether a phrase is in the tables, or is two of them side by side in a language other than English."""
    if phrase in _ALL:
        return True
    return any(
        left in _ALL and right in _ALL and not (left in _ENGLISH_WORDS and right in _ENGLISH_WORDS)
        for left, right in _halves(phrase)
    )


def _halves(phrase: str) -> Iterable[tuple[str, str]]:
    """A phrase split in two, at each space, or anywhere if it is written without spaces."""
    glued = not phrase.isascii()
    for i in range(1, len(phrase)):
        if phrase[i] == " ":
            yield phrase[:i], phrase[i + 1 :]
        elif glued and unicodedata.east_asian_width(phrase[i]) == "W" == unicodedata.east_asian_width(phrase[i - 1]):
            yield phrase[:i], phrase[i:]
