"""What each signal of search is good for: kinds of questions, each in a store made for it, with the weights changed.

Every question has a fact that answers it and at least one that has as many of its words, or more, and does not. Names
and sentences are drawn with a seed.
"""

# ruff: noqa: E501 - a sentence stays on its line

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import holographic_sets as sets
from hermes_state.store import SessionDB
from memory.providers.holographic.records import NewFact
from memory.providers.holographic.relevance import Weights
from memory.providers.holographic.retrieval import Retrieval, Settings
from memory.providers.holographic.store import FactStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SEED = 20261130
#: Questions of one kind, and facts looked at for nDCG.
QUESTIONS, DEPTH = 80, 10
WEIGHTS = {
    "full text alone": Weights(1, 0, 0),
    "token overlap alone": Weights(0, 1, 0),
    "vectors alone": Weights(0, 0, 1),
    "without full text": Weights(0, 0.3, 0.3),
    "without token overlap": Weights(0.4, 0, 0.3),
    "without vectors": Weights(0.4, 0.3, 0),
    "all three (0.4 / 0.3 / 0.3)": Weights(),
}


class Kind(NamedTuple):
    """Facts, and questions each with the texts that answer it."""

    facts: list[str]
    questions: list[tuple[str, frozenset[str]]]


def plain(language: str) -> Kind:
    """Questions in the words of the facts: the labelled sets."""
    known = sets.facts(language, 300, part="held")
    asked = [query for query in sets.queries(known, 2 * QUESTIONS, part="held") if query.answers]
    return Kind(
        [fact.text for fact in known],
        [(query.text, frozenset(known[index].text for index in query.answers)) for query in asked],
    )


NAMES_THAT_ARE_WORDS = (
    *("Rose", "Amber", "Ivy", "Olive", "Pearl", "Violet", "Heather", "Holly", "Jade", "Jasmine"),
    *("Lily", "Robin", "Ruby", "Daisy", "Hazel", "Basil", "Clay", "Reed", "Rocky", "Sandy"),
)
#: What is said of somebody, what is said of the thing, and a question about the person with more words of the thing's.
_SAID = (
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


def names_that_are_words() -> Kind:
    """Rose moved; a rose was moved."""
    facts, questions = [], []
    for name in NAMES_THAT_ARE_WORDS:
        for person, thing, question in _SAID:
            right = person.format(name=name)
            facts += [right, thing.format(word=name.lower())]
            questions.append((question.format(name=name), frozenset({right})))
    return Kind(facts, questions)


_DEEDS = {
    "en": (
        ("{a} thanked {b} for the flowers", "Who thanked {b} for the flowers?", "Whom did {a} thank for the flowers?"),
        ("{a} replaced {b} in the sales team", "Who replaced {b} in the sales team?", "Whom did {a} replace in the team?"),
        ("{a} sued {b} over the garden fence", "Who sued {b} over the fence?", "Whom did {a} sue over the fence?"),
    ),
    "zh": (
        ("{a}把{b}推荐给了编辑部", "谁把{b}推荐给了编辑部？", "{a}把谁推荐给了编辑部？"),
        ("{a}在机场接了{b}", "谁在机场接了{b}？", "{a}在机场接了谁？"),
    ),
    "ja": (
        ("{a}が{b}を編集部に推薦した", "{b}を編集部に推薦したのは誰ですか？", "{a}が編集部に推薦したのは誰ですか？"),
        ("{a}が{b}に花を贈った", "{b}に花を贈ったのは誰ですか？", "{a}が花を贈ったのは誰ですか？"),
    ),
    "ko": (
        ("{a:이} {b:을} 편집부에 추천했다", "{b:을} 편집부에 추천한 사람은 누구인가요?", "{a:이} 편집부에 추천한 사람은 누구인가요?"),
        ("{a:이} {b}에게 꽃을 보냈다", "{b}에게 꽃을 보낸 사람은 누구인가요?", "{a:이} 꽃을 보낸 사람은 누구인가요?"),
    ),
}  # fmt: skip


def deeds(language: str) -> Kind:
    """A did it to B; B did it to A. Only who is what tells them apart."""
    rng = Random(f"deeds:{language}:{SEED}")
    names = sets.names(language, "person")
    facts: dict[str, None] = {}
    asked: dict[str, set[str]] = {}
    for deed, by_whom, to_whom in _DEEDS[language]:
        for _ in range(QUESTIONS // len(_DEEDS[language]) // 2):
            one, other = rng.sample(names, 2)
            for a, b in ((one, other), (other, one)):
                fact = sets.fill(deed, {"a": a, "b": b})
                facts[fact] = None
                for question in (by_whom, to_whom):
                    asked.setdefault(sets.fill(question, {"a": a, "b": b}), set()).add(fact)
    return Kind(list(facts), [(question, frozenset(right)) for question, right in list(asked.items())[:QUESTIONS]])


_MEETINGS = {
    "en": ("{a}, {b} and {c} met about the {topic}", "{a} met {x} and {y} about the {topic} and about the {other}", "What did {a}, {b} and {c} meet about?"),
    "zh": ("{a}、{b}和{c}开会讨论了{topic}", "{a}、{x}和{y}开会讨论了{topic}和{other}", "{a}、{b}和{c}开会讨论了什么？"),
    "ja": ("{a}と{b}と{c}が{topic}について会議をした", "{a}と{x}と{y}が{topic}と{other}について会議をした", "{a}と{b}と{c}は何について会議をしましたか？"),
    "ko": ("{a}, {b}, {c:이} {topic:을} 회의에서 논의했다", "{a}, {x}, {y:이} {topic}, {other:을} 회의에서 논의했다", "{a}, {b}, {c:은} 회의에서 무엇을 논의했나요?"),
}  # fmt: skip
_TOPICS = {
    "en": ("budget", "roadmap", "office move", "new logo", "hiring plan"),
    "zh": ("预算", "路线图", "办公室搬迁", "新标志", "招聘方案"),
    "ja": ("予算", "工程表", "事務所移転", "新商標", "採用方針"),
    "ko": ("예산", "일정표", "사무실 이전", "새 로고", "채용 계획"),
}


def meetings(language: str) -> Kind:
    """A fact about three people, among facts about one of them and two others."""
    rng = Random(f"meetings:{language}:{SEED}")
    names, topics = sets.names(language, "person"), _TOPICS[language]
    fact, beside, question = _MEETINGS[language]
    facts: dict[str, None] = {}
    asked: dict[str, set[str]] = {}
    trios: dict[frozenset[str], str] = {}
    while len(trios) < QUESTIONS // 2:
        a, b, c, x, y = rng.sample(names, 5)
        topic, other = rng.sample(topics, 2)
        filling = {"a": a, "b": b, "c": c, "x": x, "y": y, "topic": topic, "other": other}
        if frozenset((a, b, c)) in trios or frozenset((a, x, y)) in trios:
            continue
        right = sets.fill(fact, filling)
        trios[frozenset((a, b, c))] = trios[frozenset((a, x, y))] = right
        facts |= dict.fromkeys((right, sets.fill(beside, filling)))
        asked[sets.fill(question, filling)] = {right}
    return Kind(list(facts), [(text, frozenset(answers)) for text, answers in asked.items()])


_LONG = (
    "{name} keeps the {thing} in the {place} behind the old piano, next to the box with winter clothes and the broken lamp",
    "The {thing} of {name} was bought at a flea market in autumn and is kept in the {place} until somebody repairs its handle",
)
_SHORT = ("The {place} has a {thing}", "A {thing} is red", "{name} painted the {place}", "{name} likes soup")
_THINGS, _PLACES = ("kettle", "tripod", "violin", "sledge", "globe", "lantern"), ("attic", "cellar", "garage", "pantry")


def half_remembered() -> Kind:
    """Two or three words of a long fact, among short ones that have most of them."""
    rng = Random(f"half:{SEED}")
    names = sets.names("en", "person")
    facts: dict[str, None] = {}
    asked: dict[str, set[str]] = {}
    for name in names:
        for thing in _THINGS:
            filling = {"name": name, "thing": thing, "place": rng.choice(_PLACES)}
            right = sets.fill(rng.choice(_LONG), filling)
            facts[right] = None
            facts |= dict.fromkeys(sets.fill(each, filling) for each in _SHORT)
            asked[f"where is {name}'s {thing}"] = {right}
    return Kind(list(facts), [(text, frozenset(answers)) for text, answers in list(asked.items())[:QUESTIONS]])


def kinds() -> Iterator[tuple[str, list[Kind]]]:
    """Every kind, by name, once for each of its languages."""
    yield "plain questions", [plain(language) for language in sets.LANGUAGES]
    yield "names that are words", [names_that_are_words()]
    yield "who did it to whom", [deeds(language) for language in _DEEDS]
    yield "three names", [meetings(language) for language in _MEETINGS]
    yield "half remembered", [half_remembered()]


def ablation(say: Callable[[str], object] = lambda _: None) -> Iterator[tuple[str, dict[str, float]]]:
    """For each set of weights, what is right first, and nDCG, by kind (mean over its languages)."""
    table: dict[str, dict[str, float]] = {name: {} for name in WEIGHTS}
    for kind, versions in kinds():
        say(kind)
        shares = {name: [(0.0, 0.0)] * 0 for name in WEIGHTS}
        for version in versions:
            with tempfile.TemporaryDirectory() as folder, SessionDB.open(Path(folder) / "x.db") as db:
                store = FactStore(db.engine)
                store.index.ensure()
                store.add_many(NewFact(content=text) for text in version.facts)
                for name, weights in WEIGHTS.items():
                    shares[name].append(_answered(store, weights, version.questions))
        for name, found in shares.items():
            key = kind.replace(" ", "_")
            table[name][f"{key}:_first"] = sum(first for first, _ in found) / len(found)
            table[name][f"{key}:_ndcg"] = sum(gain for _, gain in found) / len(found)
    yield from table.items()


def _answered(
    store: FactStore, weights: Weights, questions: Sequence[tuple[str, frozenset[str]]]
) -> tuple[float, float]:
    """The share of questions whose first fact is right, and the mean nDCG."""
    retrieval = Retrieval(store, Settings(weights=weights, gate=0.0, beside=0.0))
    first = gain = 0.0
    for text, right in questions:
        found = [hit.fact.content in right for hit in retrieval.search(text, limit=DEPTH)]
        first += bool(found and found[0])
        gain += _ndcg(found, len(right))
    return first / len(questions), gain / len(questions)


def _ndcg(found: Sequence[bool], right: int) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002) of answers that are right or not."""
    best = sum(1 / math.log2(place + 2) for place in range(min(right, DEPTH)))
    return sum(hit / math.log2(place + 2) for place, hit in enumerate(found)) / best
