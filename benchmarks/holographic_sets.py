"""Labelled sets of facts, questions, entities and contradictions, drawn from `holographic_texts` with a seed.

Five languages, and of each several parts: `open`, which may be looked at while code is made, `held`, which is for
measuring, and `fresh`, `later` and `sealed`, each written when those before it had been looked at. Of `sealed` only
failures in Chinese were looked at. No line of one part is in another. Pairs have `open`, `held` and a `sealed` with
the names of `held`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random
from typing import Literal, NamedTuple

from benchmarks.holographic_texts import BOTH_WAYS, Part, Texts, chinese, english, japanese, korean, lines, mixed
from benchmarks.holographic_texts.fresh import FRESH, Fresh
from benchmarks.holographic_texts.later import LATER
from benchmarks.holographic_texts.sealed import SEALED

LANGUAGES = ("en", "zh", "ja", "ko", "mixed")
KINDS = ("preference", "value", "opposite", "negation", "number", "date")
SEED = 20261130

PartName = Literal["open", "held", "fresh", "later", "sealed"]
PairsName = Literal["open", "held", "sealed"]

_TEXTS: dict[str, Texts] = {
    "en": english.TEXTS,
    "zh": chinese.TEXTS,
    "ja": japanese.TEXTS,
    "ko": korean.TEXTS,
    "mixed": mixed.TEXTS,
}
_WRITTEN_SINCE: dict[str, dict[str, Fresh]] = {"fresh": FRESH, "later": LATER, "sealed": SEALED}
_SLOT = re.compile(r"\{(\w+)(?::(\w))?\}")
# Parts of the names of a crowd: surnames, and what given names are made of.
_CROWDS = {
    "zh": (
        "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗",
        "伟芳秀敏静丽强磊军洋勇艳杰娟涛明超霞平刚桂玉",
        "英华玲文辉红宁燕建国志海鹏飞雪梅兰松柏",
    ),
    "ja": (
        (
            "佐藤",
            "鈴木",
            "高橋",
            "田中",
            "渡辺",
            "伊藤",
            "山本",
            "中村",
            "小林",
            "加藤",
            "吉田",
            "山田",
            "佐々木",
            "松本",
        ),
        ("健", "直", "美", "由", "和", "智", "裕", "恵", "雅", "正", "真", "優"),
        ("子", "太", "也", "樹", "美", "人", "介", "香", "一", "之", "奈", "司"),
    ),
    "ko": ("김이박최정강조윤장임한오서신권황", "민지서현수영준은도하태성재유", "수호연아준우진희경훈석빈미철"),
}
# Korean particles after a consonant and after a vowel.
_PARTICLES = {"은": ("은", "는"), "이": ("이", "가"), "을": ("을", "를"), "과": ("과", "와"), "로": ("으로", "로")}


class Fact(NamedTuple):
    """A statement, the names in it, and the question that it answers; a second one when it is true the other way."""

    text: str
    entities: tuple[str, ...]
    language: str
    question: str
    turned: str = ""


class Query(NamedTuple):
    """A question; answers are indices of facts, none when nothing answers it."""

    text: str
    answers: tuple[int, ...]


class Probe(NamedTuple):
    """A name, the facts about it by index, and the names that share a fact with it."""

    name: str
    facts: frozenset[int]
    related: frozenset[str]


class Pair(NamedTuple):
    """Two statements, and how the newer contradicts the older; kind is None when it does not."""

    older: str
    newer: str
    kind: str | None
    language: str


def facts(language: str, count: int, *, seed: int = SEED, part: PartName = "open") -> list[Fact]:
    """So many different facts; the more there are, the more people they are about."""
    rng = Random(f"facts:{language}:{seed}:{part}")
    chosen = _part(language, part)
    templates = lines(chosen.facts)
    made: dict[str, Fact] = {}
    crowd = max(1, count // 400)
    while len(made) < count:
        statement, question = rng.choice(templates)
        filling = _names(rng, chosen, crowd, language)
        text = fill(statement, filling)
        used = dict.fromkeys(filling[slot] for slot, _ in _SLOT.findall(statement))
        question, mark, _ = question.partition(BOTH_WAYS)
        turned = fill(question, filling | {"person": filling["person2"]}) if mark else ""
        made.setdefault(text, Fact(text, tuple(used), language, fill(question, filling), turned))
    return list(made.values())


def queries(known: list[Fact], count: int, *, seed: int = SEED, part: PartName = "open") -> list[Query]:
    """So many questions, every second of which no fact answers: small talk, or somebody nobody has heard of."""
    rng = Random(f"queries:{seed}")
    answers: dict[str, list[int]] = {}
    for index, fact in enumerate(known):
        for question in filter(None, (fact.question, fact.turned)):
            answers.setdefault(question, []).append(index)
    asked = list(answers)
    texts = _WRITTEN_SINCE[part][known[0].language] if part in _WRITTEN_SINCE else _TEXTS[known[0].language]
    made = []
    for number in range(count):
        if number % 2 == 0:
            question = rng.choice(asked)
            made.append(Query(question, tuple(answers[question])))
        elif number % 6 == 1:
            made.append(Query(_about_a_stranger(rng, texts, known), ()))
        else:
            made.append(Query(rng.choice(texts.unrelated), ()))
    return made


def probes(known: list[Fact], count: int, *, seed: int = SEED) -> list[Probe]:
    """So many of the names in these facts, or all there are."""
    rng = Random(f"probes:{seed}")
    where: dict[str, set[int]] = {}
    for index, fact in enumerate(known):
        for name in fact.entities:
            where.setdefault(name, set()).add(index)
    names = sorted(where)
    chosen = names if count >= len(names) else rng.sample(names, count)
    return [Probe(name, frozenset(where[name]), _beside(name, where[name], known)) for name in chosen]


def pairs(language: str, count: int, *, seed: int = SEED, part: PairsName = "open") -> list[Pair]:
    """So many pairs, half of which contradict each other, the kinds taking turns."""
    rng = Random(f"pairs:{language}:{seed}:{part}")
    chosen = _part(language, "open" if part == "open" else "held")
    blocks = _TEXTS[language].sealed if part == "sealed" else chosen.pairs
    by_kind = {kind: lines(block) for kind, block in blocks.items()}
    made = []
    for number in range(count):
        kind = "none" if number % 2 else KINDS[number // 2 % len(KINDS)]
        older, newer = rng.choice(by_kind[kind])
        filling = _values(rng, _TEXTS[language], chosen)
        made.append(Pair(fill(older, filling), fill(newer, filling), None if kind == "none" else kind, language))
    return made


def _part(language: str, part: PartName) -> Part:
    if part in _WRITTEN_SINCE:
        return _WRITTEN_SINCE[part][language].part
    return _TEXTS[language].held if part == "held" else _TEXTS[language].opened


def _names(rng: Random, chosen: Part, crowd: int, language: str) -> dict[str, str]:
    filling = {slot: rng.choice(names) for slot, names in chosen.names.items()}
    people = [_person(rng, chosen.names["person"], crowd, language) for _ in range(8)]
    filling["person"] = people[0]
    return filling | {"person2": next((name for name in people if name != people[0]), people[0])}


def _person(rng: Random, names: tuple[str, ...], crowd: int, language: str) -> str:
    """A name of the list, or one of a crowd: large sets need more people than anyone can write down."""
    if not rng.randrange(crowd):
        return rng.choice(names)
    number = rng.randrange(340_000)
    if language == "en":
        return f"{_coined(number)} {_coined(number * 7 + 3)}"
    firsts, seconds, thirds = _CROWDS.get(language, _CROWDS["zh"])
    return rng.choice(firsts) + rng.choice(seconds) + rng.choice(thirds)


def _coined(number: int) -> str:
    """A made-up name for every number, e.g. Bakela."""
    syllables = []
    for _ in range(3):
        number, rest = divmod(number, 70)
        syllables.append("bdfgklmnprstvz"[rest % 14] + "aeiou"[rest // 14])
    return "".join(syllables).capitalize()


def _values(rng: Random, texts: Texts, chosen: Part) -> dict[str, str]:
    people = rng.sample(chosen.names["person"], 3)
    projects = rng.sample(chosen.names["project"], 2)
    filling = dict(zip(("p", "q", "r"), people, strict=True)) | dict(zip(("proj", "proj2"), projects, strict=True))
    for slot, values in texts.values.items():
        filling[f"{slot}1"], filling[f"{slot}2"] = rng.sample(values, 2)
    couples = list(pairwise(texts.values.get("pair", ("", ""))))[::2]
    filling["pairA"], filling["pairB"] = rng.sample(rng.choice(couples), 2)
    return filling


def names(language: str, slot: str) -> tuple[str, ...]:
    """All names of a language that fill a slot, of every part."""
    texts = _TEXTS[language]
    parts = [texts.opened, texts.held, *(written[language].part for written in _WRITTEN_SINCE.values())]
    return tuple(dict.fromkeys(name for part in parts for name in part.names[slot]))


def fill(template: str, filling: dict[str, str]) -> str:
    """A template with its slots filled, and the Korean particles behind them in the form that fits."""

    def value(match: re.Match[str]) -> str:
        name = filling[match.group(1)]
        return name + (_particle(name, match.group(2)) if match.group(2) else "")

    return _SLOT.sub(value, template)


def _particle(word: str, particle: str) -> str:
    """The Korean particle as it is written after this word."""
    after_consonant, after_vowel = _PARTICLES[particle]
    last = ord(word[-1]) - 0xAC00
    if not 0 <= last < 11_172:
        return after_vowel
    final = last % 28
    return after_vowel if final == 0 or (particle == "로" and final == 8) else after_consonant


def _about_a_stranger(rng: Random, texts: Texts | Fresh, known: list[Fact]) -> str:
    """A question that a fact answers, with its names replaced by some that no fact has."""
    while True:
        fact = rng.choice(known)
        question = fact.question
        for name, stranger in zip(fact.entities, rng.sample(texts.strangers, len(texts.strangers)), strict=False):
            question = question.replace(name, stranger)
        if question != fact.question:  # else it names nobody, and stays what the fact answers
            return question


def _beside(name: str, where: set[int], known: list[Fact]) -> frozenset[str]:
    return frozenset(other for index in where for other in known[index].entities if other != name)
