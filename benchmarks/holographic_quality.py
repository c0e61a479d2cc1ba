"""How good the answers are, on labelled sets in five languages, of the part nobody looked at while code was made.

Both sides answer through their tools.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import holographic_sets as sets
from memory.providers.holographic.contradiction import Statement, compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.client import Worker

FACTS, QUESTIONS, PROBES, PAIRS = 300, 160, 25, 240
#: Facts that are shown before a turn.
MOST_RECALLED = 5
#: Results asked for where all are wanted; the most that the tools give.
ALL = 200


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
    most = sum(min(len(query.answers), MOST_RECALLED) for query in labelled.queries)
    return {
        "recalled_right": right / shown if shown else 0.0,
        "answers_recalled": right / most,
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


#: The parts that are measured: the first with every side, the others with ours.
PARTS: tuple[sets.PartName, ...] = ("held", "fresh", "later", "sealed")


def languages() -> Sequence[str]:
    """The languages of the sets."""
    return sets.LANGUAGES
