"""How well searches find what was said: ours, the peer's and a plain BM25, on public conversations with questions.

    python benchmarks/retrieval.py DATA_DIR [--peer PYTHON] [--db URL] [--one-store] [--no-dates] [--no-speakers]

DATA_DIR holds `locomo-dev.json` (conversations of many sessions; a question's gold is the turns that answer it) and
`cjk-questions-dev.json` (paragraphs; gold is one paragraph). Each session is a conversation of ours and each turn a
message with its speaker's name before it; a paragraph is a conversation of one message. The question is the query as it
stands. PYTHON is an interpreter of an environment in which the peer is installed.

Nothing is random: the same data gives the same figures, times apart.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOCOMO, PARAGRAPHS = "locomo-dev.json", "cjk-questions-dev.json"
# How deep answers are looked at: conversations, messages.
CONVERSATIONS, MESSAGES = 10, 10
# A dialogue id in LoCoMo's evidence, which is not always written cleanly: `D8:6; D9:17`.
_DIALOGUE_ID = re.compile(r"D\d+:\d+")


@dataclass(frozen=True)
class Turn:
    """One message to store."""

    key: str
    text: str
    role: str = "user"
    at: datetime | None = None


@dataclass(frozen=True)
class Question:
    """A query and the keys of the turns that answer it."""

    text: str
    gold: frozenset[str]


@dataclass
class Collection:
    """What goes into one store, and what is asked of it."""

    name: str
    conversations: dict[str, list[Turn]]
    questions: list[Question]
    # The conversation of each turn.
    home: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home = {turn.key: name for name, turns in self.conversations.items() for turn in turns}


@dataclass(frozen=True)
class Answer:
    """Keys of messages and of conversations, best first, and what it cost in seconds of CPU."""

    messages: list[str]
    conversations: list[str]
    cpu_s: float


class Searcher(Protocol):
    """Something that can be asked."""

    def ask(self, question: str) -> Answer:
        """Search."""

    def close(self) -> None:
        """Take it down."""


# --- data -----------------------------------------------------------------------------------------------------------


def locomo(path: Path, *, speakers: bool, dates: bool) -> Iterator[Collection]:
    """One collection for each pair of people."""
    for sample in json.loads(path.read_text("utf-8")):
        conversation, prefix = sample["conversation"], sample["sample_id"]
        turns: dict[str, list[Turn]] = {}
        for number in range(1, 1000):
            dialogue = conversation.get(f"session_{number}")
            if not isinstance(dialogue, list):
                if dialogue is None and f"session_{number}_date_time" not in conversation:
                    break
                continue
            at = _moment(conversation[f"session_{number}_date_time"]) if dates else None
            turns[f"{prefix}/{number}"] = [
                Turn(
                    key=f"{prefix}/{turn['dia_id']}",
                    text=f"{turn['speaker']}: {turn['text']}" if speakers else turn["text"],
                    role="user" if turn["speaker"] == conversation["speaker_a"] else "assistant",
                    at=at,
                )
                for turn in dialogue
            ]
        known = {turn.key for some in turns.values() for turn in some}
        questions = []
        for asked in sample["qa"]:
            named = {f"{prefix}/{one}" for text in asked["evidence"] for one in _DIALOGUE_ID.findall(text)}
            if gold := frozenset(named & known):
                questions.append(Question(asked["question"], gold))
        yield Collection(prefix, turns, questions)


def _moment(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`."""
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def paragraphs(path: Path) -> Iterator[Collection]:
    """One collection for each set of paragraphs."""
    for part in json.loads(path.read_text("utf-8")):
        name = part["set"]
        turns = {f"{name}/{doc['id']}": [Turn(f"{name}/{doc['id']}", doc["text"])] for doc in part["docs"]}
        questions = [Question(asked["q"], frozenset({f"{name}/{asked['doc']}"})) for asked in part["queries"]]
        yield Collection(name, turns, questions)


def together(name: str, collections: Sequence[Collection]) -> Collection:
    """All of them in one store: the harder test."""
    turns = {key: value for one in collections for key, value in one.conversations.items()}
    return Collection(name, turns, [question for one in collections for question in one.questions])


# --- searchers ------------------------------------------------------------------------------------------------------


class Ours:
    """This project.

    Args:
        database: the URL of a database of a server, in which every collection is a new store; None: a file.
    """

    def __init__(self, collection: Collection, folder: Path, database: str | None = None) -> None:
        from hermes_state import SessionDB

        place = folder / "ours.db" if database is None else f"{database}?store=retrieval-{uuid.uuid4().hex}"
        self._db = SessionDB.open(place, synchronous="NORMAL")
        self._keys: dict[int, str] = {}
        self._names: dict[str, str] = {}
        for name, turns in collection.conversations.items():
            session = self._db.sessions.create(source="cli")
            self._names[session.id] = name
            rows = [
                {"role": turn.role, "content": turn.text} | ({"created_at": turn.at} if turn.at else {})
                for turn in turns
            ]
            stored = self._db.messages.append_many(session.id, rows)
            self._keys.update({message.id: turn.key for message, turn in zip(stored, turns, strict=True)})
        self.ask("warm up")

    def ask(self, question: str) -> Answer:
        """Messages and conversations; the time is that of the message search."""
        started = time.thread_time()
        messages = self._db.search.messages(question, limit=MESSAGES)
        spent = time.thread_time() - started
        conversations = self._db.search.conversations(question, limit=CONVERSATIONS)
        return Answer(
            [self._keys[hit.message_id] for hit in messages],
            [self._names[hit.conversation_id] for hit in conversations],
            spent,
        )

    def close(self) -> None:
        """Close the store."""
        self._db.close()


class PlainBm25:
    """The textbook: words of letters and digits, single characters of Han, Kana and Hangul; k1 1.2, b 0.75."""

    _TOKEN = re.compile(r"[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")

    def __init__(self, collection: Collection, _folder: Path) -> None:
        self._home = collection.home
        self._keys = list(collection.home)
        texts = {turn.key: turn.text for turns in collection.conversations.values() for turn in turns}
        counts = [Counter(self._tokens(texts[key])) for key in self._keys]
        self._lengths = [sum(count.values()) for count in counts]
        self._mean = sum(self._lengths) / max(1, len(counts))
        self._lists: dict[str, list[tuple[int, int]]] = {}
        for at, count in enumerate(counts):
            for token, times in count.items():
                self._lists.setdefault(token, []).append((at, times))

    def _tokens(self, text: str) -> list[str]:
        return self._TOKEN.findall(text.lower())

    def ask(self, question: str) -> Answer:
        """Every match scored; a conversation is as good as its best message."""
        started = time.thread_time()
        scores: dict[int, float] = {}
        for token in dict.fromkeys(self._tokens(question)):
            matches = self._lists.get(token, [])
            idf = math.log(1 + (len(self._keys) - len(matches) + 0.5) / (len(matches) + 0.5))
            for at, times in matches:
                norm = 1.2 * (0.25 + 0.75 * self._lengths[at] / self._mean)
                scores[at] = scores.get(at, 0.0) + idf * times * 2.2 / (times + norm)
        ranked = [self._keys[at] for at in sorted(scores, key=lambda at: (-scores[at], at))]
        spent = time.thread_time() - started
        homes = dict.fromkeys(self._home[key] for key in ranked)
        return Answer(ranked[:MESSAGES], list(homes)[:CONVERSATIONS], spent)

    def close(self) -> None:
        """Nothing to close."""


class Peer:
    """The peer's `search_messages`, in a process of its own interpreter."""

    def __init__(self, python: str, collection: Collection, folder: Path) -> None:
        self._home = collection.home
        environment = {**os.environ, "HERMES_HOME": str(folder)}
        self._process = subprocess.Popen(
            [python, "-I", __file__, "--serve-peer", str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, encoding="utf-8",
        )  # fmt: skip
        self._call(
            [
                [name, [[turn.key, turn.role, turn.text] for turn in turns]]
                for name, turns in collection.conversations.items()
            ]
        )

    def _call(self, request: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer's process ended with {self._process.wait()}")
        return json.loads(line)

    def ask(self, question: str) -> Answer:
        """Messages; conversations in the order in which their first message comes."""
        keys, spent = self._call(question)
        homes = dict.fromkeys(self._home[key] for key in keys)
        return Answer(keys[:MESSAGES], list(homes)[:CONVERSATIONS], spent)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=60)


def serve_peer(folder: str) -> None:
    """The other end, run by the peer's interpreter: a corpus on the first line, a question on each further one."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the peer prints must not break the protocol
    from hermes_state import SessionDB  # the peer's module of the same name

    db = SessionDB(Path(folder) / "state.db")
    keys: dict[int, str] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, list):
            for name, turns in request:
                db.create_session(name, "cli")
                for key, role, text in turns:
                    keys[db.append_message(name, role, text)] = key
            reply: Any = len(keys)
        else:
            started = time.thread_time()
            rows = db.search_messages(request, limit=MESSAGES)
            spent = time.thread_time() - started
            rows = db.search_messages(request, limit=200)  # deeper, for the conversations
            reply = [[keys[row["id"]] for row in rows], spent]
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


# --- figures --------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Sums over questions."""

    questions: int = 0
    sums: Counter[str] = field(default_factory=Counter)
    cpu_s: list[float] = field(default_factory=list)

    def add(self, question: Question, answer: Answer, home: dict[str, str]) -> None:
        """Take in one answer."""
        self.questions += 1
        self.cpu_s.append(answer.cpu_s)
        gold_homes = {home[key] for key in question.gold}
        found = [key in question.gold for key in answer.messages]
        gain = sum(hit / math.log2(place + 2) for place, hit in enumerate(found))
        ideal = sum(1 / math.log2(place + 2) for place in range(min(len(question.gold), MESSAGES)))
        self.sums["any@5"] += not gold_homes.isdisjoint(answer.conversations[:5])
        self.sums["all@10"] += gold_homes <= set(answer.conversations[:10])
        self.sums["msg any@10"] += any(found)
        self.sums["hit@1"] += any(found[:1])
        self.sums["hit@5"] += any(found[:5])
        self.sums["nDCG@10"] += gain / ideal

    def row(self) -> list[str]:
        """The figures as cells."""
        cells = [f"{self.sums[name] / max(1, self.questions):.3f}" for name in COLUMNS[:6]]
        times = sorted(self.cpu_s) or [0.0]
        middle, late = times[len(times) // 2], times[min(len(times) - 1, int(len(times) * 0.95))]
        return [*cells, f"{middle * 1000:.1f}", f"{late * 1000:.1f}"]


COLUMNS = ("any@5", "all@10", "msg any@10", "hit@1", "hit@5", "nDCG@10", "p50 ms", "p95 ms")


def measure(collection: Collection, make: Any) -> Tally:
    """Ask every question of a collection."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="retrieval-") as folder:
        searcher: Searcher = make(collection, Path(folder))
        try:
            for question in collection.questions:
                tally.add(question, searcher.ask(question.text), collection.home)
        finally:
            searcher.close()
    return tally


def merged(tallies: Sequence[Tally]) -> Tally:
    """All questions of several collections."""
    return Tally(
        sum(one.questions for one in tallies),
        sum((one.sums for one in tallies), Counter()),
        [spent for one in tallies for spent in one.cpu_s],
    )


def report(title: str, collections: Sequence[Collection], sides: dict[str, Any], *, total: bool) -> None:
    """A table of one data set."""
    print(f"\n{title}\n{'':28}" + "".join(f"{name:>12}" for name in COLUMNS), flush=True)
    for side, make in sides.items():
        tallies = []
        for collection in collections:
            tallies.append(measure(collection, make))
            print(
                f"{side + ' ' + collection.name:28}" + "".join(f"{cell:>12}" for cell in tallies[-1].row()), flush=True
            )
        if total and len(tallies) > 1:
            print(f"{side + ' all':28}" + "".join(f"{cell:>12}" for cell in merged(tallies).row()), flush=True)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="folder with the data")
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter with the peer installed")
    parser.add_argument("--db", metavar="URL", help="measure ours in this PostgreSQL database, too")
    parser.add_argument("--only-ours", action="store_true", help="leave out plain BM25")
    parser.add_argument("--one-store", action="store_true", help="all LoCoMo conversations in one store")
    parser.add_argument("--no-dates", action="store_true", help="store turns without the time they were said")
    parser.add_argument("--no-speakers", action="store_true", help="store turns without the speaker's name")
    parser.add_argument("--serve-peer", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_peer:
        serve_peer(options.serve_peer)
        return 0
    sys.path.append(str(Path(__file__).resolve().parent.parent))  # a checkout that is not installed
    if options.data is None:
        parser.error("which folder holds the data?")
    sides: dict[str, Any] = {"ours": Ours}
    if options.db:
        sides["PostgreSQL"] = lambda collection, folder: Ours(collection, folder, options.db)
    if not options.only_ours:
        sides["plain BM25"] = PlainBm25
    if options.peer:
        sides["peer"] = lambda collection, folder: Peer(options.peer, collection, folder)
    missing = [name for name in (LOCOMO, PARAGRAPHS) if not (options.data / name).is_file()]
    for name in missing:
        print(f"not measured: {options.data / name} is missing", file=sys.stderr)
    if LOCOMO not in missing:
        some = list(locomo(options.data / LOCOMO, speakers=not options.no_speakers, dates=not options.no_dates))
        some = [together("one store", some)] if options.one_store else some
        report("LoCoMo: any@5 and all@10 by conversation, the rest by message", some, sides, total=True)
    if PARAGRAPHS not in missing:
        report("Paragraphs", list(paragraphs(options.data / PARAGRAPHS)), sides, total=False)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
