"""Who does it and to whom it is done: the part that a name has in a sentence, where the sentence says so.

Told by what marks it in a language: a particle (Japanese, Korean), a word before or behind it (Chinese 把 被 由), its
place beside the verb (English). `A introduced B` and `B introduced A` have the same words and the same names; this is
what tells them apart. A name whose part is not marked has none, and rules nothing out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from memory.providers.holographic.spans import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memory.providers.holographic.entities import Entity

Role = Literal["agent", "patient"]
AGENT: Role = "agent"
PATIENT: Role = "patient"

_KANA = re.compile("[\u3041-\u3096]")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN_WORD = re.compile("[A-Za-z]+")
_NO_LATIN = re.compile("[\u3041-\u30fa\u3400-\u9fff가-힣]+")
_HONORIFIC = (
    "(?:さん|くん|ちゃん|さま|様|氏|先生|部長|課長|社長|教授|博士|君|씨|님|선생님|부장|과장|팀장|대리|교수|박사){0,2}"
)
_JA_MARK = re.compile(f"{_HONORIFIC}\\s?(?P<particle>が|を|に(?![よはつとも対関おて])|は|の後|の代)")
_JA_PASSIVE = re.compile("(?:られ|され|まれ|かれ|ばれ|われ)(?:た|る|て|ま)")
_JA_SUBJECT = re.compile("[\u3400-\u9fff\u30a1-\u30fcA-Za-z々]が")
_JA_ASKS_WHO = re.compile("(?:誰|だれ|どなた)(?:です|だ|か|が|？|\\?|$)")
_KO_MARK = re.compile(f"{_HONORIFIC}\\s?(?P<particle>이|가|을|를|에게|한테|께|은|는|의)(?![가-힣])")
_KO_ASKS_WHO = re.compile("누구|누가")
_ZH_BEFORE = re.compile("(?P<mark>[把将给教向被由替])(?:了|给|给了)?\\s*$")
_ZH_AGENT_MARKS = frozenset("被由")
_ZH_NO_OBJECT = frozenset("在和与跟同及、的于从到是，。；：“”《》（）")
_ZH_PLACE = ("在", "于", "从", "到")
_ZH_NO_SUBJECT = ("的", "是", "和", "与", "跟", "及", "、")
_ZH_PASSIVE = re.compile("[^。！？；，]{0,20}被")
_ZH_ASKS_WHO_FIRST = re.compile("\\s*(?:是)?(?:谁|誰|什么人|哪个人|哪位)")
_EN_ASKS_WHO_FIRST = re.compile(
    r"\W*(?:who|what|which\s+\w+)\s+(?!(?:did|does|do|is|was|are|were|has|have|had|will|would|can|could|should|about)\b)\w+",
    re.IGNORECASE,
)
_EN_AUXILIARY = re.compile(r"\b(?:did|does|do|has|have|had|will|would|can|could|should)$", re.IGNORECASE)
_EN_PASSIVE = re.compile(
    r"\s+(?:was|were|is|are|got|been|gets)\s+(?:\w+ly\s+)?\w+(?:ed|en|ght|nt|ld|id)\b", re.IGNORECASE
)
_EN_JOINED = re.compile(r"\s*(?:,|and|&|or)\s*(?:and\s*)?$", re.IGNORECASE)
_EN_TO = frozenset({"to", "for", "with"})
_EN_NO_VERB = frozenset(
    words(
        """
    at in on from of about as near under over into onto via through than like and or but when where while because if
    that since after before during between among within without against around called named is was where were be been
    being a an the his her its their our my your this that these those project does
    """
    )
)
_EN_VERB_ENDS = ("ed", "es", "s", "ing", "ght", "old", "ew", "ent", "ave", "ove", "ade", "ook")
_SENTENCE = re.compile(r"[.!?。！？；\n]\s*")
_WORD_BEFORE = re.compile(r"([A-Za-z']+)\W{0,3}$")


def roles(text: str, entities: Sequence[Entity]) -> dict[str, Role]:
    """The part of each entity whose part is marked, by key; one that is marked in two ways has none."""
    if not entities:
        return {}
    found: dict[str, Role | None] = {}
    for key, role in _rules(text, entities)(text, entities):
        found[key] = role if found.get(key, role) == role else None
    return {key: role for key, role in found.items() if role is not None}


def _rules(text: str, entities: Sequence[Entity]) -> Callable[[str, Sequence[Entity]], Iterator[tuple[str, Role]]]:
    """Those of the language that the text is in, whatever its names are written in."""
    if text.isascii():
        return _english
    around = list(text)
    for entity in entities:
        around[entity.start : entity.end] = " " * (entity.end - entity.start)
    rest = "".join(around)
    if len(_LATIN_WORD.findall(rest)) > len(_NO_LATIN.findall(rest)):
        return _english
    if _KANA.search(rest):
        return _japanese
    if _HANGUL.search(rest):
        return _korean
    return _chinese if _HAN.search(rest) else _english


def _japanese(text: str, entities: Sequence[Entity]) -> Iterator[tuple[str, Role]]:
    is_passive = bool(_JA_PASSIVE.search(text))
    asks_who = bool(_JA_ASKS_WHO.search(text))
    has_subject = bool(_JA_SUBJECT.search(text))
    for entity in entities:
        mark = _JA_MARK.match(text, entity.end)
        particle = mark.group("particle") if mark else ""
        is_subject = particle == "が" or (particle == "は" and not has_subject and not asks_who)
        if is_passive:
            if is_subject or particle == "に":
                yield entity.key, PATIENT if is_subject else AGENT
        elif is_subject:
            yield entity.key, AGENT
        elif particle in ("を", "に") or (asks_who and particle.startswith("の")):
            yield entity.key, PATIENT


def _korean(text: str, entities: Sequence[Entity]) -> Iterator[tuple[str, Role]]:
    marks = [(entity, mark.group("particle")) for entity in entities if (mark := _KO_MARK.match(text, entity.end))]
    asks_who = bool(_KO_ASKS_WHO.search(text))
    has_subject = any(particle in ("이", "가") for _, particle in marks) or "누가" in text
    for entity, particle in marks:
        if particle in ("이", "가") or (particle in ("은", "는") and not has_subject):
            yield entity.key, AGENT
        elif particle in ("을", "를", "에게", "한테", "께") or (asks_who and particle == "의"):
            yield entity.key, PATIENT


def _chinese(text: str, entities: Sequence[Entity]) -> Iterator[tuple[str, Role]]:
    has_subject = bool(_ZH_ASKS_WHO_FIRST.match(text)) or any(
        entity.start == 0 and not text[entity.end :].lstrip().startswith(_ZH_NO_SUBJECT) for entity in entities
    )
    for entity in entities:
        before, after = text[: entity.start].rstrip(), text[entity.end :].lstrip()
        mark = _ZH_BEFORE.search(before)
        if mark:
            yield entity.key, AGENT if mark.group("mark") in _ZH_AGENT_MARKS else PATIENT
        elif after.startswith(_ZH_NO_SUBJECT) or before.endswith(_ZH_PLACE):
            continue
        elif after.startswith(("被", "由")):
            yield entity.key, PATIENT
        elif not before or before[-1] in "。！？；，":
            yield entity.key, PATIENT if _ZH_PASSIVE.match(after) else AGENT
        elif has_subject and before[-1] not in _ZH_NO_OBJECT:
            yield entity.key, PATIENT


def _english(text: str, entities: Sequence[Entity]) -> Iterator[tuple[str, Role]]:
    asks = bool(_EN_ASKS_WHO_FIRST.match(text))
    starts = {0, *(match.end() for match in _SENTENCE.finditer(text))}
    previous: tuple[int, Role | None] = (-1, None)
    for entity in entities:
        role = _english_role(text, entity, asks=asks, first=entity.start in starts)
        if role is None and previous[0] >= 0 and _EN_JOINED.match(text[previous[0] : entity.start]):
            role = previous[1]
        previous = (entity.end, role)
        if role is not None:
            yield entity.key, role


def _english_role(text: str, entity: Entity, *, asks: bool, first: bool) -> Role | None:
    before, after = text[: entity.start], text[entity.end :]
    if after.startswith(("'s", "’s")):
        return None
    if first:
        return PATIENT if _EN_PASSIVE.match(after) else AGENT
    if _EN_AUXILIARY.search(before.rstrip()):
        return AGENT
    found = _WORD_BEFORE.search(before)
    word = found.group(1).lower() if found else ""
    if word == "by":
        return AGENT
    if not word or word in _EN_NO_VERB:
        return None
    # The word before a name may well be a verb: a past form, a third person, a participle.
    return PATIENT if asks or word in _EN_TO or word.endswith(_EN_VERB_ENDS) else None
