"""How much of what matters the loop puts before the model: LoCoMo's dialogues fed through the agent.

    python benchmarks/recall.py FILE [--provider NAME] [--limit N] [--save lines|none] [--json]

FILE is `locomo-dev.json`: conversations of many sessions, and questions whose gold evidence is dialogue turns. Each
session becomes a session of the agent: what one speaker says is the user's message, what the other answers is the
model's (scripted) answer. Then every question is asked in a run that leaves no trace, and the block that recall put
into its request is compared with the evidence.

* recall: share of gold turns that a line of the block holds; `recall_with_prompt` also counts the entries of built-in
  memory that stand in the system prompt anyway.
* precision: share of the block's lines that hold a gold turn of their question.
* tokens: of the block, estimated as `hermes_state.session_search.budget` does.

A line holds a gold turn when four fifths of the words of the shorter one are in the longer one (at least three words),
so that an extracted fact counts as well as the whole turn. `--save lines` has the model save each thing said with the
`memory` tool, as an eager model would: without it built-in memory learns nothing, since its facts are the model's work.

Nothing is random: the same data and provider give the same figures.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state import SessionDB
from hermes_state.session_search.budget import estimate_tokens
from memory.agent.model.scripted import ScriptedModel, call
from memory.agent.wiring import Wired, open_agent
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.agent.model import Reply

_DIALOGUE_ID = re.compile(r"D\d+:\d+")
_WORD = re.compile(r"\w+")
_HOLDS, _LEAST_WORDS = 0.8, 3
# Things said that are shorter say nothing worth saving ("Hey! How are you?").
_SHORT_CHARS = 30
# Seconds a provider may take to store the last turns.
_FLUSH_S = 120.0


@dataclass
class Figures:
    """What the questions of one or more conversations came to."""

    questions: int = 0
    gold: int = 0
    found: int = 0
    found_anywhere: int = 0
    lines: int = 0
    relevant: int = 0
    tokens: int = 0
    injected: int = 0
    turns: int = 0
    by_category: dict[str, list[int]] = field(default_factory=dict)

    def add(self, gold: list[str], lines: list[str], standing: list[str], tokens: int, category: str) -> None:
        held = [any(holds(line, text) for line in lines) for text in gold]
        self.found_anywhere += sum(any(holds(line, text) for line in (*lines, *standing)) for text in gold)
        self.questions += 1
        self.gold += len(gold)
        self.found += sum(held)
        self.lines += len(lines)
        self.relevant += sum(any(holds(line, text) for text in gold) for line in lines)
        self.tokens += tokens
        self.injected += bool(lines)
        counted = self.by_category.setdefault(category, [0, 0])
        counted[0] += sum(held)
        counted[1] += len(gold)

    def shown(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "questions": self.questions,
            "recall": _share(self.found, self.gold),
            "recall_with_prompt": _share(self.found_anywhere, self.gold),
            "precision": _share(self.relevant, self.lines),
            "tokens_per_turn": round(self.tokens / max(self.questions, 1), 1),
            "lines_per_turn": round(self.lines / max(self.questions, 1), 2),
            "questions_with_recall": _share(self.injected, self.questions),
            "recall_by_category": {name: _share(*counts) for name, counts in sorted(self.by_category.items())},
        }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def holds(line: str, gold: str) -> bool:
    """Whether a line of the block and a gold turn say the same, as far as words can tell."""
    mine, theirs = words(line), words(gold)
    shorter = min(len(mine), len(theirs))
    return shorter >= min(_LEAST_WORDS, len(theirs)) > 0 and len(mine & theirs) >= _HOLDS * shorter


def sessions_of(conversation: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    number = 1
    while f"session_{number}" in conversation:
        yield conversation[f"session_{number}"]
        number += 1


def said(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [shows {caption}]" if caption else "")


def exchanges(turns: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Pairs of what the user says and what the model answers."""
    for start in range(0, len(turns), 2):
        pair = turns[start : start + 2]
        yield said(pair[0]), said(pair[1]) if len(pair) > 1 else "I see."


def saving(wired: Wired, texts: list[str]) -> Reply:
    """The call of a model that saves everything, and makes room by archiving what is oldest."""
    limit, entries = wired.manager.settings.memory_char_limit, list(wired.builtin.read("memory").texts)
    operations: list[dict[str, Any]] = []
    new = [text[: limit // 3] for text in texts if text not in entries]
    while entries and sum(len(text) + 3 for text in (*entries, *new)) > limit:
        operations.append({"action": "archive", "old_text": entries.pop(0)})
    return call("memory", target="memory", operations=[*operations, *({"action": "add", "content": t} for t in new)])


def feed(wired: Wired, model: ScriptedModel, conversation: dict[str, Any], *, saves: bool) -> int:
    count = 0
    for turns in sessions_of(conversation):
        for asked, answered in exchanges(turns):
            long_enough = [text for text in (asked, answered) if len(text) > _SHORT_CHARS]
            if saves and long_enough:
                model.will(saving(wired, long_enough))
            model.will(answered)
            answer = wired.agent.turn(asked)
            if answer.tools and not answer.saved:
                raise SystemExit(f"the memory tool refused: {wired.agent.messages[-2].content}")
            count += 1
        wired.agent.new()
    if not wired.manager.flush(_FLUSH_S):
        raise SystemExit("the provider did not take everything in time: these figures would say nothing")
    return count


def ask(wired: Wired, sample: dict[str, Any], figures: Figures) -> None:
    standing = [text for target in ("memory", "user") for text in wired.builtin.read(target).texts]
    texts = {t["dia_id"]: said(t) for turns in sessions_of(sample["conversation"]) for t in turns}
    for question in sample["qa"]:
        ids = [i for evidence in question["evidence"] for i in _DIALOGUE_ID.findall(str(evidence)) if i in texts]
        if not ids:
            continue
        answer = wired.agent.turn(question["question"])
        lines = [line for line in answer.recall.text.splitlines() if words(line)]
        tokens = estimate_tokens(answer.recall.block) if answer.recall.block else 0
        figures.add([texts[i] for i in dict.fromkeys(ids)], lines, standing, tokens, str(question.get("category", "?")))
        wired.agent.rewind()


def run(sample: dict[str, Any], provider: str, figures: Figures, *, saves: bool) -> None:
    settings = MemorySettings(nudge_interval=0, flush_min_turns=0, provider=provider, compression_enabled=False)
    with tempfile.TemporaryDirectory(prefix="recall-") as folder:
        home = Path(folder)
        with SessionDB.open(home=home, synchronous="NORMAL") as db:
            model = ScriptedModel(otherwise="Noted.", piece=4096)
            wired = open_agent(db, home, model, settings)
            with wired.agent:
                figures.turns += feed(wired, model, sample["conversation"], saves=saves)
            asking = ScriptedModel(otherwise="I don't know.", piece=4096)
            wired = open_agent(db, home, asking, settings, platform="cron")
            with wired.agent:
                ask(wired, sample, figures)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--provider", default="", help="an external provider; built-in memory is there anyway")
    parser.add_argument("--limit", type=int, default=0, help="only the first N conversations")
    parser.add_argument("--save", choices=("lines", "none"), default="lines")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.file.is_file():
        print(f"{options.file} is not there: this needs LoCoMo's conversations as JSON", file=sys.stderr)
        return 2
    samples = json.loads(options.file.read_text(encoding="utf-8"))
    figures = Figures()
    for sample in samples[: options.limit or None]:
        run(sample, options.provider, figures, saves=options.save == "lines")
    shown = {"provider": options.provider or "builtin", **figures.shown()}
    if options.json:
        print(json.dumps(shown))
        return 0
    for name, value in shown.items():
        print(f"{name:<24} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
