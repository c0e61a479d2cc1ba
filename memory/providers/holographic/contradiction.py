"""Which of two facts can't both hold, in what way, and which is the newer.

Two facts are compared only when they have a slot in common (`slots`): the same terms, or the same relation of the same
subject. A store that keeps the slots of each fact finds the candidates for a new one by equality, never by comparing
all pairs. Nothing here changes or retires a fact.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from memory.providers.holographic.claim_words import EXCLUSIVE, HOLDERS, LIKING, SINGLE, domains
from memory.providers.holographic.claims import Claim, claim
from memory.providers.holographic.quantities import Quantity, differ
from memory.providers.holographic.spans import words

# Raise it with every change that gives another slot or another contradiction for any text: all are compared again then.
COMPARISON = "1"
KINDS = ("preference", "value", "opposite", "negation", "number", "date")
MIN_CONFIDENCE = 0.5
# How sure each finding is when nothing speaks against it.
_CONFIDENCE = {"preference": 0.9, "value": 0.9, "opposite": 0.85, "negation": 0.9, "number": 0.9, "date": 0.9}
# Taken off when the things preferred are of no known kind, and for each term that only one statement has.
_UNKNOWN_DOMAIN, _MORE_TERMS = 0.2, 0.15
# Relations that have many values, of different kinds, so that a subject alone has too many of them.
_BY_KIND = frozenset({"prefer", "like", "use", "change", "is"})
# Attributes of which there can be many.
_MANY = frozenset(
    words(
        """
        friend hobbi hobby child son daughter brother sister colleagu colleague skill interest member
        朋友 爱好 孩子 儿子 女儿 同事 兴趣 友達 趣味 子供 同僚 친구 취미 아이 동료
        """
    )
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact to compare.

    Attributes:
        id: The caller's name for it.
        text: What it says.
        time: When it was said, in microseconds since 1970; None if that is not known.
    """

    id: int
    text: str
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two facts that can't both hold.

    Attributes:
        a: The id of the first.
        b: The id of the second.
        kind: One of KINDS.
        confidence: 0 to 1.
        newer: The id of the one said later; None if the times are unknown or equal.
        older: The id of the other.
        reason: What differs, for a person to read.
    """

    a: int
    b: int
    kind: str
    confidence: float
    newer: int | None
    older: int | None
    reason: str


def slots(text: str) -> tuple[str, ...]:
    """Where a fact can contradict others: a few short keys; none for a text that only tells what was.

    The narrower come first: a store that looks at so many facts of a slot at most loses nothing that shares those.
    """
    made = claim(text)
    if made.past or not made.terms:
        return ()
    found = [_key("matter", made.matter)]
    if office := _office(made):
        found.append(_key("office", office))
    if made.relation and made.subject:
        kinds = domains(made.value | made.residue) if made.relation in _BY_KIND else frozenset()
        found += [_key(f"kind {kind}", made.subject) for kind in sorted(kinds)]
        found += [_key(made.relation, made.subject), _key("subject", made.subject)]
    return tuple(dict.fromkeys(found))


def compare(a: Statement, b: Statement) -> Contradiction | None:
    """How two facts contradict each other; None when both can hold. The order of the two does not matter."""
    first, second = claim(a.text), claim(b.text)
    if first.past or second.past:
        return None
    found = _denial(first, second) or _quantity(first, second) or _values(first, second)
    if found is None:
        return None
    kind, confidence, reason = found
    newer, older = _by_time(a, b)
    return Contradiction(a.id, b.id, kind, round(confidence, 3), newer, older, reason)


def against(
    new: Statement, candidates: Iterable[Statement], *, min_confidence: float = MIN_CONFIDENCE
) -> list[Contradiction]:
    """What a fact contradicts among those with a slot in common with it; the surest first."""
    found = (compare(new, other) for other in candidates if other.id != new.id)
    kept = [each for each in found if each and each.confidence >= min_confidence]
    return sorted(kept, key=lambda each: (-each.confidence, each.b))


_Finding = tuple[str, float, str]


def _denial(a: Claim, b: Claim) -> _Finding | None:
    """One says what the other denies, or says the opposite word."""
    if a.sign == b.sign or a.matter != b.matter or not a.matter or not _at_one_time(a, b):
        return None
    if a.quantities and b.quantities and _values_of(a.quantities) != _values_of(b.quantities):
        return None
    kind = "negation" if (a.negations - b.negations) % 2 else "opposite"
    if kind == "opposite" and a.relation in ("like", "prefer") and a.axes - {LIKING}:
        kind = "preference"  # concise answers, detailed answers
    return (
        kind,
        _CONFIDENCE[kind],
        f"one says {'not ' if kind == 'negation' else 'the opposite of '}what the other says",
    )


def _quantity(a: Claim, b: Claim) -> _Finding | None:
    """The same is said with another number, date or time."""
    if a.sign != b.sign or not a.quantities or len(a.quantities) != len(b.quantities):
        return None
    if not a.matter or a.matter != b.matter or not _at_one_time(a, b):
        return None
    pairs = list(zip(a.quantities, b.quantities, strict=True))
    if any(one.kind != other.kind for one, other in pairs):
        return None
    differing = [(one, other) for one, other in pairs if differ(one, other)]
    if len(differing) != 1:
        return None
    one, other = differing[0]
    if one.kind == "number" and one.unit and other.unit and one.unit != other.unit:
        return None
    kind = "number" if one.kind == "number" else "date"
    return kind, _CONFIDENCE[kind], f"{one.value} against {other.value}"


def _values(a: Claim, b: Claim) -> _Finding | None:
    """Two values of one relation that has one at a time."""
    if not a.value or not b.value or a.value == b.value or a.value <= b.value or b.value <= a.value or not a.subject:
        return _reversed(a, b) or _holders(a, b)
    if a.sign < 0 or b.sign < 0 or a.subject != b.subject or not _at_one_time(a, b):
        return None
    relation = _common_relation(a, b)
    if relation is None or (relation == "attribute" and a.subject & _MANY):
        return None
    less = _doubt(relation, a, b)
    if less is None:
        return None
    kind = "preference" if relation in ("prefer", "like") else "value"
    return kind, _CONFIDENCE[kind] - less, f"{' '.join(sorted(a.value))} against {' '.join(sorted(b.value))}"


def _reversed(a: Claim, b: Claim) -> _Finding | None:
    """One prefers to the other what the other prefers to the one."""
    if a.subject == b.subject and a.value and a.value == b.against and b.value == a.against:
        return "preference", _CONFIDENCE["preference"], "the preference is reversed"
    return None


def _holders(a: Claim, b: Claim) -> _Finding | None:
    """Two are said to hold a role that one holds at a time."""
    if _office(a) and _office(a) == _office(b) and a.subject != b.subject and a.sign == b.sign == 1:
        names = f"{' '.join(sorted(a.subject))} against {' '.join(sorted(b.subject))}"
        return "value", _CONFIDENCE["value"] - _MORE_TERMS, names
    return None


def _office(made: Claim) -> frozenset[str]:
    """The role and what it is of, if one holds it at a time; else nothing."""
    return made.value | made.residue if made.relation == "role" and made.value & HOLDERS else frozenset()


def _at_one_time(a: Claim, b: Claim) -> bool:
    """Whether the two can be about one time: the same, or one does not say when."""
    return not a.times_of_day or not b.times_of_day or a.times_of_day == b.times_of_day


def _common_relation(a: Claim, b: Claim) -> str | None:
    if a.relation == b.relation:
        return a.relation or None
    names = {a.relation, b.relation}
    if "change" in names and len(names) == 2:
        (other,) = names - {"change"}
        return other or None
    if names in ({"prefer", "like"}, {"prefer", "use"}):
        return "prefer" if a.changed or b.changed else None
    return None


def _doubt(relation: str, a: Claim, b: Claim) -> float | None:
    """What to take off the confidence; None when the two values do not exclude each other."""
    if relation in ("residence", "employer"):
        return 0.0
    one, other = a.residue, b.residue
    if one and other and not (one <= other or other <= one):
        return None
    less = _MORE_TERMS * len(one ^ other)
    if relation in SINGLE - {"prefer"} or relation in ("attribute", "role"):
        return less
    if relation == "located":
        return less + _UNKNOWN_DOMAIN
    kinds = domains(a.value | one), domains(b.value | other)
    if all(kinds) and not kinds[0] & kinds[1]:
        return None
    if not all(kinds):
        less += _UNKNOWN_DOMAIN
    return less if _excludes(relation, a, b, kinds[0] & kinds[1]) else None


def _excludes(relation: str, a: Claim, b: Claim, shared: frozenset[str]) -> bool:
    """Whether two things of these kinds can't both be so."""
    if relation == "is":
        return "job" in shared
    if relation == "prefer" or shared & EXCLUSIVE:
        return True
    # Many things can be liked or used, unless one says that it changed, or when during a day it is so.
    return a.changed or b.changed or bool(a.times_of_day and a.times_of_day == b.times_of_day)


def _values_of(found: tuple[Quantity, ...]) -> list[tuple[str, str]]:
    return [(each.kind, each.value) for each in found]


def _by_time(a: Statement, b: Statement) -> tuple[int | None, int | None]:
    if a.time is None or b.time is None or a.time == b.time:
        return None, None
    return (a.id, b.id) if a.time > b.time else (b.id, a.id)


def _key(name: str, terms: frozenset[str]) -> str:
    joined = "\x1f".join([name, *sorted(terms)])
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:16]
