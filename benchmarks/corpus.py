"""Seeded corpus of agent conversations, streamed session by session.

Every session is generated from its own seed, so any part of the corpus can be had without the part
before it, in any process, and a million messages never exist at once. Standard library only (the
peer's interpreter imports this too).

A session has about 40 messages in the cycle user / assistant with tool calls / tool output /
assistant. A tenth of the user and assistant texts is Chinese. Needles stand at fixed distances
(:data:`NEEDLES`), so the number of hits of a needle query is known.

    python benchmarks/corpus.py --messages 10000      # what is in it: counts, bytes, speed
"""

from __future__ import annotations

import argparse
import json
import time
from bisect import bisect_right
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_SEED = 20260417
#: Change this when the text changes: caches built from another revision are not used.
CORPUS_REVISION = 1

MEAN_SESSION_MESSAGES, SESSION_DEVIATION, MIN_SESSION_MESSAGES = 40, 12, 4
USER_WORDS, ASSISTANT_WORDS = (8, 90), (30, 220)
#: Log-normal size of a tool output [bytes]: median about 2.1 KB, cut at 8 KB.
TOOL_LOG_MEAN, TOOL_LOG_SIGMA, TOOL_MAX_BYTES = 7.67, 1.0, 8_192
LATIN_BYTES_PER_WORD = 6
CHINESE_SHARE = 0.1
#: A Chinese text has this many words for each word of an English one (about the same meaning per text).
CHINESE_WORD_SHARE = 0.6
SOURCES = ("cli", "cli", "telegram", "discord", "cron")
TOOLS = ("terminal", "read_file", "web_search", "patch", "browser")

RARE_WORD = "zyqquartzine"
PHRASE = "amber lattice overflow"
PREFIX_STEM = "kvexport"
HAN_PAIR = "鲲鹏"
HAN_QUAD = "韬鞘饕餮"
MISSING_WORD = "qqvanishedxx"
#: (distance in messages, offset of the first) of every planted needle.
NEEDLES: dict[str, tuple[int, int]] = {
    "rare": (2_000, 500),
    "phrase": (250, 120),
    "prefix": (500, 240),
    "han_pair": (300, 150),
    "han_quad": (300, 290),
}

#: Session indexes outside the running corpus.
_WRITERS_FROM, _LONG_INDEX = 90_000_000, 91_000_000


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the assistant asks for."""

    id: str
    name: str
    arguments: str

    def as_json(self) -> dict[str, object]:
        """The OpenAI shape both stores take."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the corpus."""

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None

    def calls_json(self) -> list[dict[str, object]] | None:
        """The tool calls as JSON values, or None when there are none."""
        return [call.as_json() for call in self.tool_calls] or None

    def text_bytes(self) -> int:
        """UTF-8 bytes of what a person could read: content and tool calls."""
        calls = json.dumps(self.calls_json(), ensure_ascii=False) if self.tool_calls else ""
        return len(self.content.encode()) + len(calls.encode())


@dataclass(frozen=True, slots=True)
class Session:
    """One session of the corpus; ``first`` is the corpus-wide index of its first message."""

    index: int
    first: int
    id: str
    title: str
    source: str
    messages: tuple[Message, ...]


class Corpus:
    """The endless corpus of one seed."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.seed = seed
        self._lengths_rng = Random(f"lengths:{seed}")
        self._starts = [0]
        self.latin = vocabulary.latin_words(seed)
        self.chinese = vocabulary.chinese_words(seed)
        self._latin_table = vocabulary.zipf_table(self.latin)
        self._chinese_table = vocabulary.zipf_table(self.chinese)

    def sessions(self, *, messages: int, first: int = 0) -> Iterator[Session]:
        """Sessions holding the messages ``first`` .. ``first + messages``; only the last one may be cut short.

        ``first`` is rounded up to the start of a session.
        """
        index = self.session_at(first)
        left = messages
        while left > 0:
            session = self.session(index, limit=left)
            left -= len(session.messages)
            index += 1
            yield session

    def session_at(self, message: int) -> int:
        """Index of the first session that starts at or after this corpus-wide message index."""
        self._extend(message)
        at = bisect_right(self._starts, message) - 1
        return at if self._starts[at] == message else at + 1

    def session(self, index: int, *, limit: int | None = None) -> Session:
        """Session ``index``, with at most ``limit`` messages."""
        while len(self._starts) <= index + 1:
            self._extend(self._starts[-1] + 1)
        first, end = self._starts[index], self._starts[index + 1]
        return self._session(index, first, end - first if limit is None else min(limit, end - first))

    def writer_session(self, worker: int) -> Session:
        """A session of its own for one of several concurrent writers; not part of the running corpus."""
        return self._session(_WRITERS_FROM + worker, 0, 400)

    def long_session(self, messages: int) -> Session:
        """One session of many short messages (about 200 B); not part of the running corpus."""
        rng = Random(f"long:{self.seed}")
        texts = (self.latin_text(rng, rng.randint(10, 50), []) for _ in range(messages))
        roles = ("user", "assistant")
        return Session(
            index=_LONG_INDEX,
            first=0,
            id="corpus-long",
            title="one long session",
            source="cli",
            messages=tuple(Message(role=roles[at % 2], content=text) for at, text in enumerate(texts)),
        )

    def _session(self, index: int, first: int, length: int) -> Session:
        rng = Random(f"session:{self.seed}:{index}")
        return Session(
            index=index,
            first=first,
            id=f"corpus-{index:08d}",
            title=f"{' '.join(rng.choices(self._latin_table, k=4))} {index}",
            source=rng.choice(SOURCES),
            messages=tuple(self._message(rng, first, step) for step in range(length)),
        )

    def _extend(self, message: int) -> None:
        while self._starts[-1] <= message:
            length = max(MIN_SESSION_MESSAGES, round(self._lengths_rng.gauss(MEAN_SESSION_MESSAGES, SESSION_DEVIATION)))
            self._starts.append(self._starts[-1] + length)

    def _message(self, rng: Random, first: int, step: int) -> Message:
        needles = needles_at(first + step)
        phase = step % 4
        if phase == 1:
            return self._call_message(rng, first + step, needles)
        if phase == 2:
            return self._tool_message(rng, first + step, needles)
        low, high = USER_WORDS if phase == 0 else ASSISTANT_WORDS
        words = rng.randint(low, high)
        content = (
            self._chinese_text(rng, words, needles)
            if rng.random() < CHINESE_SHARE
            else self.latin_text(rng, words, needles)
        )
        return Message(role="user" if phase == 0 else "assistant", content=content)

    def _call_message(self, rng: Random, at: int, needles: list[str]) -> Message:
        words = rng.choice((0, 0, 6, 12))
        content = self.latin_text(rng, words, needles) if words or needles else ""
        arguments = json.dumps({"command": " ".join(rng.choices(self._latin_table, k=rng.randint(3, 14)))})
        call = ToolCall(f"call_{at}", TOOLS[at % 5], arguments)
        return Message(role="assistant", content=content, tool_calls=(call,))

    def _tool_message(self, rng: Random, at: int, needles: list[str]) -> Message:
        size = min(TOOL_MAX_BYTES, rng.lognormvariate(TOOL_LOG_MEAN, TOOL_LOG_SIGMA))
        words = rng.choices(self._latin_table, k=max(1, int(size / LATIN_BYTES_PER_WORD)))
        _plant(rng, words, needles)
        lines = (" ".join(words[start : start + 12]) for start in range(0, len(words), 12))
        return Message(
            role="tool",
            content="\n".join(lines)[:TOOL_MAX_BYTES],
            tool_call_id=f"call_{at - 1}",
            tool_name=TOOLS[(at - 1) % 5],
        )

    def latin_text(self, rng: Random, words: int, needles: list[str]) -> str:
        """Sentences of twelve words."""
        picked = rng.choices(self._latin_table, k=words)
        _plant(rng, picked, needles)
        sentences = (" ".join(picked[start : start + 12]).capitalize() for start in range(0, len(picked), 12))
        return ". ".join(sentences) + "."

    def _chinese_text(self, rng: Random, words: int, needles: list[str]) -> str:
        picked = rng.choices(self._chinese_table, k=max(2, int(words * CHINESE_WORD_SHARE)))
        _plant(rng, picked, needles)
        clauses = ("".join(picked[start : start + 6]) for start in range(0, len(picked), 6))
        return "，".join(clauses) + "。"


def needles_at(index: int) -> list[str]:
    """The needles planted in the message with this corpus-wide index."""
    planted = [name for name, (distance, offset) in NEEDLES.items() if index % distance == offset]
    texts = {
        "rare": RARE_WORD,
        "phrase": PHRASE,
        "prefix": f"{PREFIX_STEM}{'abcdefgh'[index // 500 % 8]}",
        "han_pair": HAN_PAIR,
        "han_quad": HAN_QUAD,
    }
    return [texts[name] for name in planted]


def _plant(rng: Random, words: list[str], needles: list[str]) -> None:
    """Put the needles between the words, near the start so that no cut of a long text removes them."""
    for needle in needles:
        words.insert(rng.randint(0, min(len(words), 200)), needle)


def main() -> None:
    """Print what the first N messages are made of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    arguments = parser.parse_args()
    start = time.perf_counter()
    count = text = sessions = largest = 0
    roles: dict[str, int] = {}
    for session in Corpus(arguments.seed).sessions(messages=arguments.messages):
        sessions += 1
        for message in session.messages:
            size = message.text_bytes()
            count, text, largest = count + 1, text + size, max(largest, size)
            roles[message.role] = roles.get(message.role, 0) + size
    seconds = time.perf_counter() - start
    print(f"{count:,} messages, {sessions:,} sessions, {text / 1e6:.1f} MB, {text / count:.0f} B/message")
    print(f"largest {largest:,} B; bytes by role {roles}; {count / seconds:,.0f} messages/s")


if __name__ == "__main__":
    main()
