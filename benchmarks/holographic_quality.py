"""How good the answers are, on labelled sets in five languages, of the part nobody looked at while code was made.

Both sides answer through their tools. What each signal adds is measured on ours alone, since the peer has no such
setting.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import holographic_sets as sets
from hermes_state.store import SessionDB
from memory.providers.holographic.contradiction import Statement, compare
from memory.providers.holographic.records import NewFact
from memory.providers.holographic.relevance import GATE, Weights
from memory.providers.holographic.retrieval import Retrieval, Settings
from memory.providers.holographic.store import FactStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.client import Worker

FACTS, QUESTIONS, PROBES, PAIRS = 300, 160, 25, 240
#: Results asked for where all are wanted; the most that the tools give.
ALL = 200
ABLATION = {
    "full text alone": Weights(1, 0, 0),
    "token overlap alone": Weights(0, 1, 0),
    "vectors alone": Weights(0, 0, 1),
    "without full text": Weights(0, 0.3, 0.3),
    "without token overlap": Weights(0.4, 0, 0.3),
    "without vectors": Weights(0.4, 0.3, 0),
    "all three (0.4 / 0.3 / 0.3)": Weights(),
}


class Labelled(NamedTuple):
    """One language's facts and what is asked of them."""

    language: str
    facts: list[sets.Fact]
    queries: list[sets.Query]
    probes: list[sets.Probe]

    @classmethod
    def of(cls, language: str, part: sets.PartName = "held") -> Labelled:
        """The set of a language."""
        known = sets.facts(language, FACTS, part=part)
        return cls(language, known, sets.queries(known, QUESTIONS, part=part), sets.probes(known, PROBES))

    def texts(self, indices: Iterable[int]) -> set[str]:
        """Facts by their index."""
        return {self.facts[index].text for index in indices}


def answers(worker: Worker, labelled: Labelled) -> dict[str, float]:
    """What a side answers on one language's set, as shares of 1."""
    worker.call("seed", texts=[fact.text for fact in labelled.facts])
    return _search(worker, labelled) | _recall(worker, labelled) | _probe(worker, labelled) | _reason(worker, labelled)


def _search(worker: Worker, labelled: Labelled) -> dict[str, float]:
    asked = [query for query in labelled.queries if query.answers]
    results = worker.call("tools", calls=[{"action": "search", "query": query.text, "limit": 5} for query in asked])
    hits = [bool(labelled.texts(q.answers) & _contents(r)) for q, r in zip(asked, results, strict=True)]
    return {"search_recall_at_5": sum(hits) / len(hits)}


def _recall(worker: Worker, labelled: Labelled) -> dict[str, float]:
    """Before a turn: how much of what is recalled answers, how many questions get an answer, how many stay quiet."""
    blocks = worker.call("prefetched", queries=[query.text for query in labelled.queries])
    shown = right = spoke = spoke_right = quiet = found = 0
    for query, block in zip(labelled.queries, blocks, strict=True):
        lines = [line.partition("] ")[2] for line in block.splitlines() if line.startswith("- [")]
        wanted = labelled.texts(query.answers)
        good = sum(line in wanted for line in lines)
        shown, right = shown + len(lines), right + good
        spoke, spoke_right = spoke + bool(lines), spoke_right + bool(good)
        quiet += not query.answers and not lines
        found += bool(good)
    answered = sum(bool(query.answers) for query in labelled.queries)
    return {
        "recalled_right": right / shown if shown else 0.0,
        "turns_right": spoke_right / spoke if spoke else 0.0,
        "turns_answered": found / answered,
        "quiet_when_none": quiet / (len(labelled.queries) - answered),
    }


def _probe(worker: Worker, labelled: Labelled) -> dict[str, float]:
    calls = [
        {"action": action, "entity": probe.name, "limit": ALL}
        for action in ("probe", "related")
        for probe in labelled.probes
    ]
    results = worker.call("tools", calls=calls)
    half = len(labelled.probes)
    figures: dict[str, float] = {}
    for name, answered in (("probe", results[:half]), ("related", results[half:])):
        right = wrong = missed = 0
        for probe, result in zip(labelled.probes, answered, strict=True):
            wanted = labelled.texts(probe.facts)
            got = {each["content"] for each in result.get("results", ()) if not each.get("via")}
            # The peer ranks every fact there is: its answer is as many of the first as there are right ones.
            if len(got) > 2 * len(wanted):
                got = {each["content"] for each in result["results"][: len(wanted)]}
            right, wrong, missed = right + len(got & wanted), wrong + len(got - wanted), missed + len(wanted - got)
        figures |= {f"{name}_precision": right / (right + wrong or 1), f"{name}_recall": right / (right + missed or 1)}
    return figures


def _reason(worker: Worker, labelled: Labelled) -> dict[str, float]:
    """Pairs of names that share a fact: are the first answers just the facts about both?"""
    by_name = {probe.name: probe for probe in sets.probes(labelled.facts, 10**6)}
    pairs = [
        (probe.name, other) for probe in labelled.probes for other in sorted(probe.related)[:1] if other in by_name
    ]
    results = worker.call("tools", calls=[{"action": "reason", "entities": list(pair), "limit": 50} for pair in pairs])
    exact = 0
    for (one, other), result in zip(pairs, results, strict=True):
        wanted = labelled.texts(by_name[one].facts & by_name[other].facts)
        found = [each["content"] for each in result.get("results", ())]
        exact += set(found[: len(wanted)]) == wanted
    return {"reason_exact": exact / len(pairs)}


def _contents(result: dict[str, Any]) -> set[str]:
    return {each["content"] for each in result.get("results", ())}


#: Names that are words as well; for each line what is said of somebody of that name, what is said of the thing, and
#: a question about the person that has more words in common with the thing.
NAMES_THAT_ARE_WORDS = (
    *("Rose", "Amber", "Ivy", "Olive", "Pearl", "Violet", "Heather", "Holly", "Jade", "Jasmine"),
    *("Lily", "Robin", "Ruby", "Daisy", "Hazel", "Basil", "Clay", "Reed", "Rocky", "Sandy"),
)
SAID = (
    ("{name} moved to Bergen", "A {word} from the market was moved to a new pot", "Where was {name} moved to?"),
    (
        "{name} is afraid of dogs",
        "The {word} on the desk is what guests ask about",
        "What is {name} afraid of on the desk?",
    ),
    (
        "{name} paints on Sundays",
        "Sundays are when the {word} is sold by the gate",
        "What does {name} do on Sundays by the gate?",
    ),
    (
        "{name} keeps the spare key",
        "The key colour of the logo is {word}",
        "Which key does {name} keep, and what colour?",
    ),
)


def names_that_are_words(weights: Weights) -> float:
    """The share of questions about somebody whose first answer is about that person, and not about the thing."""
    with tempfile.TemporaryDirectory() as folder, SessionDB.open(Path(folder) / "x.db") as db:
        store = FactStore(db.engine)
        store.index.ensure()
        for name in NAMES_THAT_ARE_WORDS:
            filled = [
                text.format(name=name, word=name.lower()) for person, thing, _ in SAID for text in (person, thing)
            ]
            store.add_many(NewFact(content=text) for text in filled)
        retrieval = Retrieval(store, Settings(weights=weights, gate=0.0, beside=0.0))
        asked = [(name, line) for name in NAMES_THAT_ARE_WORDS for line in SAID]
        right = 0
        for name, (person, _, question) in asked:
            hits = retrieval.search(question.format(name=name), limit=1)
            right += bool(hits) and hits[0].fact.content == person.format(name=name)
    return right / len(asked)


def ablation() -> Iterator[tuple[str, dict[str, float]]]:
    """What each signal adds: mean over the languages, of our search with a gate and without."""
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language in sets.LANGUAGES:
        labelled = Labelled.of(language)
        with tempfile.TemporaryDirectory() as folder, SessionDB.open(Path(folder) / "x.db") as db:
            store = FactStore(db.engine)
            store.index.ensure()
            store.add_many(NewFact(content=fact.text) for fact in labelled.facts)
            for name, weights in ABLATION.items():
                totals[name].update(_ablated(store, weights, labelled))
    for name, sums in totals.items():
        figures = {key: value / len(sets.LANGUAGES) for key, value in sums.items()}
        yield name, figures | {"names_that_are_words": names_that_are_words(ABLATION[name])}


def _ablated(store: FactStore, weights: Weights, labelled: Labelled) -> dict[str, float]:
    open_, gated = (Retrieval(store, Settings(weights=weights, gate=gate, beside=0.0)) for gate in (0.0, GATE))
    first = five = right = shown = quiet = 0
    answered = [query for query in labelled.queries if query.answers]
    for query in answered:
        wanted = labelled.texts(query.answers)
        found = [hit.fact.content in wanted for hit in open_.search(query.text, limit=5)]
        first, five = first + bool(found and found[0]), five + any(found)
    for query in labelled.queries:
        wanted = labelled.texts(query.answers)
        found = [hit.fact.content in wanted for hit in gated.recall(query.text)]
        right, shown = right + sum(found), shown + len(found)
        quiet += not query.answers and not found
    return {
        "first_right": first / len(answered),
        "recall_at_5": five / len(answered),
        "recalled_right": right / shown if shown else 0.0,
        "quiet_when_none": quiet / (len(labelled.queries) - len(answered)),
    }


def contradictions() -> Iterator[tuple[str, dict[str, float]]]:
    """F1 of our contradictions by kind, over all languages, and over all kinds by language."""
    marks: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language in sets.LANGUAGES:
        for pair in sets.pairs(language, PAIRS, part="held"):
            found = compare(Statement(1, pair.older, 1), Statement(2, pair.newer, 2))
            for name in (f"kind: {pair.kind or (found and found.kind)}", f"language: {language}", "all"):
                marks[name]["right"] += bool(pair.kind and found)
                marks[name]["missed"] += bool(pair.kind and not found)
                marks[name]["wrong"] += bool(not pair.kind and found)
    for name in sorted(marks, key=lambda each: (each == "all", each)):
        if name != "kind: None":
            yield name, _f1(marks[name])


def _f1(marks: Counter[str]) -> dict[str, float]:
    right, missed, wrong = marks["right"], marks["missed"], marks["wrong"]
    precision, recall = right / (right + wrong or 1), right / (right + missed or 1)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall or 1),
        "pairs": right + missed + wrong,
    }


def languages() -> Sequence[str]:
    """The languages of the sets."""
    return sets.LANGUAGES
