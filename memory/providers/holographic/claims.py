"""What a statement claims: about whom, in which relation, with which value, and whether it says so or denies it.

No grammar is needed for that. Known words are read off first: times and numbers, relations, opposites, negations. What
remains are the terms of the statement, the same however they are ordered or inflected. Two statements can contradict
each other when they have the same terms and differ in a sign, a number or a time, or when they give two values to one
relation that can have only one.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from memory.providers.holographic.claim_words import (
    ATTRIBUTES,
    CHANGED,
    COPULA,
    COPULA_LAST,
    LIKING,
    NEGATION,
    NOW,
    PAST,
    PLACED,
    RECENT,
    STILL,
    TIMES_OF_DAY,
    axes,
    relations,
)
from memory.providers.holographic.entities import extract
from memory.providers.holographic.quantities import Quantity, quantities
from memory.providers.holographic.terms import HAN, HANGUL, KANA, SPEAKER, Reading

# Longer statements are not facts that another could contradict as a whole.
MAX_CLAIM_CHARS = 400

_COPULA = re.compile(COPULA)
_COPULA_LAST = re.compile(COPULA_LAST)
_OVER = re.compile(r"\b(?:over|rather than|instead of|more than)\b")
_THAN = re.compile("比起 ?(?P<a>[^ ，,]+)[ ，,]|(?P<b>[^ はが]+)より|(?P<c>[^ ]+)보다")
_ADJUNCT = re.compile(r"\b(?:in|on|at|for|with|after|during|when|while|over|from|to|since|than|because|and|as|by)\b")
_WHERE = re.compile(r" *(?:in|at|on)\b")
_OF = re.compile(r"\bof\b")
_POSSESSIVE = re.compile("'s\\b|\\b(?:of(?! course)|my|our|his|her|their)\\b|的|の|의(?= )|^我")
_TOPIC = re.compile("(?<! )[はが](?! ?$)|(?<! )(?:은|는|이|가)(?= )")
_INFLECTION = re.compile("[\u3041-\u3096]+|[가-힣]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement, taken apart.

    Attributes:
        relation: Its relation with one value at a time; `attribute` for "the X of Y is Z"; empty for any other.
        subject: The terms that say what it is about.
        value: The terms that the relation gives; empty when there is none.
        against: What the value is preferred to.
        matter: The terms cut as small as can be (Chinese characters), so that two ways of saying one thing agree.
        terms: All terms, without numbers, times, negations and opposites.
        sign: -1 when the statement denies its terms, or says the opposite word.
        negations: How many words of negation it has.
        axes: The pairs of opposites that it uses.
        quantities: Its numbers, dates and times.
        times_of_day: When it holds: in the morning, last month.
        past: It tells what was, not what is.
        changed: It says that something is new.
    """

    relation: str
    subject: frozenset[str]
    value: frozenset[str]
    against: frozenset[str]
    terms: frozenset[str]
    matter: frozenset[str]
    sign: int
    negations: int
    axes: frozenset[int]
    quantities: tuple[Quantity, ...]
    times_of_day: frozenset[str]
    past: bool
    changed: bool

    @property
    def residue(self) -> frozenset[str]:
        """The terms that are neither the subject nor the value."""
        return frozenset(term for term in self.terms - self.subject - self.value - self.against if term[0] != "@")


@lru_cache(maxsize=4096)
def claim(text: str) -> Claim:
    """What the text claims. Never raises; a text that claims nothing has no terms."""
    names = [entity.key for entity in extract(text[:MAX_CLAIM_CHARS]) if entity.kind != "quoted"]
    reading = Reading(text[:MAX_CLAIM_CHARS], names)
    found = tuple(quantities(reading.text))
    for quantity in found:
        reading.blank(quantity.start, quantity.end)
    past = bool(PAST.of(spaced=reading.spaced).search(reading.text))
    negations = len(reading.take(NEGATION.of(spaced=reading.spaced)))
    times = frozenset(str(match.lastgroup)[0] for match in reading.take(TIMES_OF_DAY.of(spaced=reading.spaced)))
    reading.drop(STILL.of(spaced=reading.spaced))
    changed = reading.drop(NOW.of(spaced=reading.spaced))
    times |= {match.group() for match in reading.take(RECENT.of(spaced=reading.spaced))}
    relation = _relation(reading.text, spaced=reading.spaced)
    signs = _opposites(reading, relation)
    against = _against(reading)
    subject, value, name = _sides(reading, relation)
    if not subject and name in _OWN and not reading.text[: relation.start].strip():
        subject = frozenset({SPEAKER})  # orders, and languages that leave out "I"
    if against and name == "like":
        name = "prefer"
    changed = bool(reading.take(CHANGED.of(spaced=reading.spaced))) or name == "change" or changed
    terms = reading.terms() | {f"@axis{abs(axis)}" for axis in signs}
    if relation.name in _MARKED:
        terms |= {f"@{relation.name}"}
    sign = (-1) ** (negations + sum(axis < 0 for axis in signs))
    return Claim(
        relation=name,
        subject=subject,
        value=value - subject,
        against=against,
        terms=terms,
        matter=_matter(terms),
        sign=sign,
        negations=negations,
        axes=frozenset(map(abs, signs)),
        quantities=found,
        times_of_day=times,
        past=past,
        changed=changed,
    )


def _matter(terms: frozenset[str]) -> frozenset[str]:
    """The terms with those of Chinese characters cut into characters: 服务器内存 is 服务器 and 内存."""
    return frozenset(part for term in terms for part in (term if HAN.match(term) else (term,)))


class _Found(NamedTuple):
    """A relation where it stands, and the span of its value if the words around say it."""

    name: str
    start: int
    end: int
    value: tuple[int, int] | None


# Relations that are kept as a term, so that "uses X" and "knows X" are two statements.
_MARKED = frozenset({"residence", "employer", "birth", "occupation", "like", "use", "written"})
# What is said without a subject is said of oneself, or is an order.
_OWN = frozenset({"residence", "employer", "occupation", "named", "prefer", "like", "use", "change"})
_NONE = _Found("", 0, 0, None)


def _relation(text: str, *, spaced: bool) -> _Found:
    for name, wording in relations():
        if match := wording.of(spaced=spaced).search(text):
            groups = [group for group, value in match.groupdict().items() if value is not None]
            return _Found(name, match.start(), _word_end(text, match.end()), match.span(groups[0]) if groups else None)
    match = _COPULA.search(text) or _COPULA_LAST.search(text) or (None if spaced else PLACED.search(text))
    return _Found("copula", match.start(), match.end(), None) if match else _NONE


def _word_end(text: str, at: int) -> int:
    """The end of the inflected verb in whose middle a pattern ends: 働 in 働いています, 일한 in 일한다."""
    match = _INFLECTION.match(text, at)
    return match.end() if match and match.group() and (KANA.match(text, at) or HANGUL.search(text[at - 1 : at])) else at


def _opposites(reading: Reading, relation: _Found) -> list[int]:
    """The axes the statement uses, negative for the second side; their words become blank outside a relation."""
    found: list[int] = []
    for axis, wording in axes():
        match = wording.of(spaced=reading.spaced).search(reading.text)
        if match and abs(axis) not in map(abs, found) and not (relation.name == "prefer" and abs(axis) == LIKING):
            found.append(axis)
            if not (relation.start <= match.start() < relation.end):
                reading.blank(match.start(), match.end())
    return found


def _against(reading: Reading) -> frozenset[str]:
    """What something is preferred to, which is then blank."""
    if match := _OVER.search(reading.text):
        stop = _ADJUNCT.search(reading.text, match.end())
        end = stop.start() if stop else len(reading.text)
        terms = reading.terms(match.end(), end)
        reading.blank(match.start(), end)
        return terms
    if match := _THAN.search(reading.text):
        group = str(match.lastgroup)
        start = match.start(group)
        if topic := _TOPIC.search(reading.text, start, match.end(group)):
            start = topic.end()
        terms = reading.terms(start, match.end(group))
        reading.blank(start if group != "a" else match.start(), match.end())
        return terms
    return frozenset()


def _sides(reading: Reading, relation: _Found) -> tuple[frozenset[str], frozenset[str], str]:
    """Subject, value, and the relation under its final name; the words of the relation are then blank."""
    text = reading.text
    topic = _TOPIC.search(text) if reading.verb_last else None
    if topic and relation.name in ("like", "prefer") and topic.start() >= relation.start > 0 and "は" not in text:
        return _without_topic(reading, relation)
    before = min(topic.start() if topic else relation.start, relation.start or len(text))
    if relation.value and not topic:
        before = min(before, relation.value[0])
    subject_text = text[:before]
    subject = reading.terms(0, before)
    name = relation.name
    if relation.value:
        value = reading.terms(*relation.value)
        reading.blank(relation.value[1], relation.end)
        reading.blank(relation.start, relation.value[0])
    elif topic:
        behind = relation.start < topic.start()  # 好きな色は青です: the value is at the end
        rest = reading.in_order(topic.end(), None if behind else relation.start or None)
        if name == "prefer" and not rest:  # 김민수가 좋아하는 색은 파란색이다
            rest = reading.in_order(relation.end)[-1:]
        value = frozenset(rest if name in ("like", "prefer", "use") else rest[-1:])
        reading.blank(relation.start, relation.end)
        reading.blank(topic.start(), topic.end())
    else:
        value = _behind_copula(reading, relation.end) if name == "prefer" else frozenset()
        value = value or (_object(reading, relation.end) if relation.end else value)
        reading.blank(relation.start, relation.end)
    if name == "copula":
        return _copula(reading, text, subject_text, subject, value, topic.end() if topic else relation.end)
    if name == "leads":
        return value | {"@lead"}, subject, "attribute"
    return subject, value, name


def _without_topic(reading: Reading, relation: _Found) -> tuple[frozenset[str], frozenset[str], str]:
    """お茶が好き: what stands before the verb is liked, by whoever speaks."""
    value = reading.terms(0, relation.start)
    reading.blank(relation.start, relation.end)
    return frozenset({SPEAKER}), value, relation.name


def _object(reading: Reading, start: int) -> frozenset[str]:
    """The terms behind a verb, up to a preposition; where there are none, the first piece."""
    if where := _WHERE.match(reading.text, start):
        start = where.end()
    adjunct = _ADJUNCT.search(reading.text, start)
    found = reading.in_order(start, adjunct.start() if adjunct else None)
    return frozenset(found[:1] if HAN.search(reading.text) else found[:3])


def _behind_copula(reading: Reading, start: int) -> frozenset[str]:
    match = _COPULA.search(reading.text, start)
    return _object(reading, match.end()) if match else frozenset()


def _copula(
    reading: Reading, text: str, subject_text: str, subject: frozenset[str], value: frozenset[str], start: int
) -> tuple[frozenset[str], frozenset[str], str]:
    """Subject, value and relation of "the X of Y is Z" (attribute), "Y is the X of Z" (role), or another "is"."""
    behind = text[start:]
    if _POSSESSIVE.search(subject_text) or subject & ATTRIBUTES or (reading.verb_last and len(subject) > 1):
        return subject, value, "attribute"
    if _POSSESSIVE.search(behind):
        cut = _OF.search(behind)
        role = reading.terms(start, start + cut.start()) if cut else frozenset(reading.in_order(start)[-1:])
        return subject, role, "role"
    return subject, value, "located" if _WHERE.match(behind) else "is"
