"""Facts from a conversation: what the user asked to be kept, prefers, or decided; sentences, never whole messages.

Only the user's own rows count: not the system's, a tool's or the assistant's, no summary of an earlier compression, no
recalled memory, no pasted code or quotation. The same sentence is one fact however often the conversation comes by.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_state.text import fold
from memory.checkpoint import SUMMARY_FLAG
from memory.context import sanitize
from memory.providers.holographic.memorable import FORMS, GENERAL, KEEP, LEAD_IN, QUESTION, REPORTED, REQUEST

MIN_FACT_CHARS, MAX_FACT_CHARS = 4, 300
# A clause of a script with spaces has at least so many words.
MIN_CLAUSE_WORDS = 3
# A message is read up to here; a longer one is a pasted document.
MAX_MESSAGE_CHARS = 20_000
MAX_FACTS = 100

# How summaries begin that were saved as messages of the user, by the peer and by others.
_SUMMARY = re.compile(
    r"^\s*(?:\[(?:CONTEXT|CONVERSATION|PREVIOUS|SESSION|SYSTEM)[^\]]*\]|\[?(?:context|conversation|"
    r"session) (?:compaction|summary|compressed)"
    r"|(?:here is|this is) (?:a|the) summary of|summary of (?:the |our |this )?(?:previous|earlier|conversation)"
    r"|this session is being continued|<(?:summary|compaction|conversation[-_]summary)>|\[(?:summary|compaction)|"
    r"以下是.{0,8}(?:摘要|总结)|對話摘要|对话摘要)",
    re.IGNORECASE,
)
_FENCES = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<([a-z][\w-]*)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_NOT_OWN = re.compile(
    r"^\s*(?:>|\||\$ |%|#!|//|/\*|\{|\[\d|[A-Z][a-z]+: |(?:user|assistant|system|tool)\s*[:：])", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.!?。！？؟।\n]+(?:[.!?](?=\S)[^.!?。！？؟।\n]*)*[.!?。！？؟।]*")
_QUOTES = re.compile('["“”„«»「」『』]')
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_SHORT_PHRASE = re.compile(r"^(?P<phrase>[^,，、]{1,40}[,，、]\s*)(?P<rest>.+)$", re.DOTALL)
_ENDS = ".!。！।"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Extracted:
    """A fact that somebody stated.

    Attributes:
        content: The sentence, or the part of it that is the fact.
        category: user_pref, project or general.
        digest: Equal for equal facts, whatever their case, width and punctuation.
        position: The index of the message.
    """

    content: str
    category: str
    digest: str
    position: int


def extract_facts(messages: Sequence[Mapping[str, Any]]) -> list[Extracted]:
    """The facts in a conversation, each once, in the order in which they were first said. Never raises.

    Args:
        messages: The conversation in the form of a chat API; `content` a text or a list of parts. It is not changed.
    """
    found: dict[str, Extracted] = {}
    for position, message in enumerate(messages):
        for content, category in _in_text(_own_text(message)):
            key = digest(content)
            if key not in found and len(found) < MAX_FACTS:
                found[key] = Extracted(content, category, key, position)
    return list(found.values())


def digest(content: str) -> str:
    """The key by which a fact is known again: SHA-256 of its folded words, in hex."""
    return hashlib.sha256(" ".join(_WORD.findall(fold(content))).encode("utf-8", "surrogatepass")).hexdigest()


def _own_text(message: object) -> str:
    """What the user wrote in this message; empty for any other row."""
    if not isinstance(message, Mapping) or message.get("role") != "user" or message.get(SUMMARY_FLAG):
        return ""
    content = message.get("content")
    if isinstance(content, list | tuple):
        parts = (
            part.get("text") for part in content if isinstance(part, Mapping) and part.get("type", "text") == "text"
        )
        content = "\n".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or _SUMMARY.match(content):
        return ""
    text = content[:MAX_MESSAGE_CHARS]
    return _FENCES.sub("\n", sanitize(text) if "<" in text or "[" in text else text)


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if not _NOT_OWN.match(line):
            for match in _SENTENCE.finditer(_BULLET.sub("", line)):
                if fact := _fact(match.group().strip()):
                    yield fact


def _fact(sentence: str) -> tuple[str, str] | None:
    """The fact a sentence states, and its category."""
    if len(sentence) < MIN_FACT_CHARS or QUESTION.search(sentence):
        return None
    bare = LEAD_IN.sub("", sentence).strip().rstrip(_ENDS)
    if kept := _kept(bare):
        return _trimmed(kept), _category(kept) or GENERAL
    stated = REQUEST.sub("", bare)
    if category := _category(stated):
        return (_trimmed(stated), category) if _fits(stated) else None
    return None


def _kept(sentence: str) -> str:
    """What the sentence asks to be remembered; empty when it asks nothing of the kind."""
    for pattern in _keep_patterns():
        match = pattern.match(sentence)
        if match and _fits(fact := match.group("fact")) and _is_clause(fact):
            return fact
    return ""


def _category(sentence: str) -> str:
    """The category of a sentence in a known form; empty for any other."""
    phrase = _SHORT_PHRASE.match(sentence)
    for start in (sentence, phrase.group("rest") if phrase and not REPORTED.search(phrase.group("phrase")) else ""):
        for form in FORMS:
            match = form.pattern.match(start) if start else None
            if match and not _QUOTES.search(start[: match.start()]):
                return form.category
    return ""


def _fits(fact: str) -> bool:
    return MIN_FACT_CHARS <= len(fact.strip()) <= MAX_FACT_CHARS and not QUESTION.search(fact)


def _is_clause(fact: str) -> bool:
    """Whether this can be a statement: "the details" in "remember the details" can't."""
    return len(fact.split()) >= MIN_CLAUSE_WORDS or not fact.isascii()


def _trimmed(fact: str) -> str:
    """The fact as a sentence: without the space around it and without the mark at its end."""
    bare = fact.strip().rstrip(_ENDS + " ,，;；")
    return bare[:1].upper() + bare[1:] if bare[:1].isascii() else bare


def _keep_patterns() -> tuple[re.Pattern[str], ...]:
    return _KEEP


_KEEP = tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in KEEP)
