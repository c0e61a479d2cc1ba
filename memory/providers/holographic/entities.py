"""The named things in a text, in every script, and when two names are one.

What has the form of a name is found by rules, one module a family of scripts. No rule finds every name where a script
marks none, so the other direction is here too: whether a text mentions a given name (`mentions`). A store asks that
of the texts that its full-text index offers.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from hermes_state.text import fold
from memory.providers.holographic.caseless_names import announced_names
from memory.providers.holographic.chinese_names import GIVEN_ENDS, PLACE_ENDINGS, VERBS, chinese_names
from memory.providers.holographic.japanese_names import japanese_names
from memory.providers.holographic.korean_names import PARTICLES, korean_names
from memory.providers.holographic.latin_names import acronyms, capitalised, shapes
from memory.providers.holographic.spans import Span

KINDS = ("name", "quoted", "identifier", "acronym", "handle", "hashtag", "path", "url", "email")
# Of a longer text no more names are taken: a pasted log is no fact.
MAX_ENTITIES = 64
MAX_NAME_CHARS = 120
# Beyond this nothing is read.
MAX_TEXT_CHARS = 20_000

_CUT = " \t\n.,;:!?\"'`()[]{}<>|·、。，；：！？「」『』《》（）【】“”‘’«»…—–-"
_TITLES_BEFORE = re.compile(r"^(?:(?:mr|mrs|ms|dr|prof|sir|herr|frau|mme|sr|sra)\.?|the)\s+(?=\S)")
_TITLES_AFTER = re.compile(r"(?<=[^\W\d_]{2})(?:さん|くん|ちゃん|様|氏|先生|女士|老师|씨|님)$")
# What, behind a Chinese or Japanese name, makes it the name of something else: 王明远, 東京都, 京都駅.
_MAKES_ANOTHER = GIVEN_ENDS | PLACE_ENDINGS | frozenset("都府県町駅寺大")
# A name of so many characters is not the end of another by chance.
_WHOLE_NAME_CHARS = 4
# Words that may hang on a name with a hyphen without making it another name.
_COMPOUND_TAIL = re.compile(r"-(?:based|style|like|bound|wide|born|related|specific|only|compatible|backed|powered)\b")


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing in a text.

    Attributes:
        name: As it is written there.
        key: The same for every spelling of the name (`normalise`).
        kind: What gave it away; one of KINDS.
        start: Where it stands, in characters of the text.
        end: The offset behind it.
    """

    name: str
    key: str
    kind: str
    start: int
    end: int


def extract(text: str) -> list[Entity]:
    """The named things of a text, each once, in the order of their first mention. Never raises."""
    return list(_extracted(text[:MAX_TEXT_CHARS]))


@lru_cache(maxsize=1024)
def _extracted(text: str) -> tuple[Entity, ...]:
    found: dict[str, Entity] = {}
    for span in _disjoint(_spans(text)):
        name = text[span.start : span.end]
        key = normalise(name)
        if key and len(name) <= MAX_NAME_CHARS and len(found) < MAX_ENTITIES:
            found.setdefault(key, Entity(name, key, span.kind, span.start, span.end))
    return tuple(found.values())


def normalise(name: str) -> str:
    """The key of a name: folded (case, accents, width), without quotes, titles and `@` or `#`; empty for no name.

    Two names with one key are the same entity. Signs that belong to a name stay: C++, C#, .NET.
    """
    dotted = name.strip().startswith((".", "/", "~")) and len(name.strip()) > 2
    text = " ".join(fold(name).replace("\0", " ").split())
    text = text.rstrip(_CUT) if dotted else text.strip(_CUT)
    text = text.lstrip("@#").removesuffix("'s")
    text = _TITLES_BEFORE.sub("", text)
    return _TITLES_AFTER.sub("", text).strip()


def mentions(text: str, name: str) -> bool:
    """Whether the text speaks of this name, and not of a longer word or name that contains it.

    王明 is not mentioned by a text about 王明远, nor `Ann` by one about Anna, nor `C` by one about C++.
    """
    key = normalise(name)
    if not key:
        return False
    text = text[:MAX_TEXT_CHARS]
    folded = " ".join(fold(text).split())
    places = [match.start() for match in re.finditer(re.escape(key), folded)]
    whole = [at for at in places if _begins(folded, at) and _ends(folded, at + len(key))]
    if not whole or not _unspaced(key[0]):
        return bool(whole)
    covered = [
        match.span()
        for name in _unspaced_names(text)
        if key in name and name != key and not _just_grown(key, name)
        for match in re.finditer(re.escape(name), folded)
    ]
    return any(not any(low <= at and at + len(key) <= high for low, high in covered) for at in whole)


@lru_cache(maxsize=4096)
def _unspaced_names(text: str) -> tuple[str, ...]:
    """The keys of the names in a text that are written without spaces: a longer one is another name."""
    return tuple(normalise(text[span.start : span.end]) for span in chain(chinese_names(text), japanese_names(text)))


def _just_grown(key: str, other: str) -> bool:
    """Whether the longer name may well be the shorter one with a word of one character beside it, or behind a verb."""
    if other.endswith(key) and other[-len(key) - 1] in VERBS and len(key) >= _WHOLE_NAME_CHARS:
        return True
    if len(other) != len(key) + 1:
        return False
    if other.endswith(key):
        return len(key) >= _WHOLE_NAME_CHARS
    return other.startswith(key) and other[-1] not in _MAKES_ANOTHER


def _spans(text: str) -> Iterator[Span]:
    if not text.isascii():
        yield from japanese_names(text)
        yield from chinese_names(text)
        yield from korean_names(text)
        yield from announced_names(text)
    yield from shapes(text)
    yield from capitalised(text)
    yield from acronyms(text)


def _disjoint(spans: Iterable[Span]) -> list[Span]:
    """Of names that overlap, the longer; a quoted term gives way to a name that fills it. In order."""
    chosen: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start - each.end, each.kind == "quoted", each.start)):
        if not any(span.start < other.end and other.start < span.end for other in chosen):
            chosen.append(span)
    return sorted(chosen)


def _begins(text: str, start: int) -> bool:
    before, first = text[start - 1 : start], text[start]
    if not before or before.isspace():
        return True
    if _unspaced(first):
        return not (_katakana(first) and _katakana(before))
    if _hangul(first):
        return not _hangul(before)
    if before in "-_.@/" and start > 1 and text[start - 2].isalnum() and first.isalnum():
        return before == "/"
    return not before.isalnum() or _unspaced(before) or _hangul(before)


def _ends(text: str, end: int) -> bool:
    last, after = text[end - 1], text[end : end + 1]
    if not after or after.isspace():
        return True
    if _unspaced(last):
        return not (_katakana(last) and _katakana(after))
    if _hangul(last):
        word = re.compile("[가-힣]*").match(text, end)
        return not _hangul(after) or bool(word and PARTICLES.fullmatch(word.group()))
    if after in "+#" and last.isalnum():
        return False
    if after in "-_." and text[end + 1 : end + 2].isalnum():
        return _unspaced(text[end + 1]) or (after == "-" and bool(_COMPOUND_TAIL.match(text, end)))
    if after == "'":
        return text[end : end + 2] == "'s" or not text[end + 1 : end + 2].isalpha()
    return not after.isalnum() or _unspaced(after) or _hangul(after)


def _katakana(character: str) -> bool:
    return "\u30a1" <= character <= "\u30fa" or character == "ー"


def _hangul(character: str) -> bool:
    return "가" <= character <= "힣"


def _unspaced(character: str) -> bool:
    return "\u3041" <= character <= "\u30fc" or "\u3400" <= character <= "\u9fff" or "\u0e01" <= character <= "\u0e4e"
