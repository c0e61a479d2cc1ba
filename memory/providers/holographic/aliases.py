"""Statements that two names are one: `also known as`, 又名, também conhecido como, …"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory.providers.holographic.entities import MAX_TEXT_CHARS, extract, normalise
from memory.providers.holographic.korean_names import stems


class Alias(NamedTuple):
    """Two names of one entity, as they are written."""

    name: str
    alias: str


# What stands between the two names; with spaces around it where the script has them.
_SPACED = (
    r"aka|a\.k\.a\.|also known as|better known as|formerly known as|formerly|nicknamed|alias|whose nickname is|goes by",
    r"is short for|short for|stands for|auch bekannt als|genannt|kurz|aussi connue? sous le nom de|dite?",
    r"también conocid[oa] como|apodad[oa]|também conhecid[oa] como|apelidad[oa]|anche conosciut[oa] come|dett[oa]",
    r"ook bekend als|znan[ya] jako|также известн(?:ый|ая|ое|ые) как|он же|она же|по прозвищу",
    r"المعروفة? باسم|المعروفة? أيضا باسم|الملقبة? ب|ידועה? (?:גם )?בשם|המכונה|उर्फ़?|또는|일명|별칭|또 다른 이름은",
)
_UNSPACED = (
    "又名|又称|又稱|(?<![我你他她它们])也叫做?(?!了)|也称|别名是?|別名是?|简称|簡稱|俗称|外号叫?|昵称是?|网名是?|原名|本名|英文名叫?是?|别称",
    "こと|またの名を|別名は?|通称は?|略称は?|愛称は?",
)
_MARKER = re.compile(
    rf"[\s,(（，、]*(?:(?<!\w)(?:is |was |is also )?(?:{'|'.join(_SPACED)})(?!\w)|(?:{'|'.join(_UNSPACED)}))"
    r"[\s:：,，]*(?:the |der |die |el |la |le )?",
    re.IGNORECASE,
)
_SIDE = re.compile(r"[\w.+#'’・·-]+(?: [\w.+#'’・·-]+){0,3}")
_QUOTES = "\"'“”‘’「」『』《》«»()（） "
_HAN = re.compile("[\u3400-\u9fff\u3041-\u30ff]")
_STOP = re.compile(
    r"[,，。;；.!！?？)）\n」』”]| (?:is|was|are|and|who|which|works|lives|has|created|likes|et|y|und|и)\b"
)
_COPULA = re.compile("(?:です|である|だ|という|と|の|が|は|を)$")
_MAX_CHARS = 40
# A longer piece of a script without spaces is a clause, not a name.
_MAX_UNSPACED = 8


def aliases(text: str) -> list[Alias]:
    """What the text says about names being one, in order; nothing where either side is no name."""
    return list(dict.fromkeys(_pairs(text[:MAX_TEXT_CHARS])))


def _pairs(text: str) -> Iterator[Alias]:
    for match in _MARKER.finditer(text):
        name = _last_name(text[: match.start()])
        alias = _first_name(text[match.end() :])
        known = _is_unspaced(name) or extract(name) or extract(alias)
        if name and alias and known and normalise(name) != normalise(alias):
            yield Alias(name, alias)


def _is_unspaced(name: str) -> bool:
    """Whether the name is in a script in which a rule may not know it although it is one."""
    return bool(name) and not name.isascii()


def _last_name(before: str) -> str:
    """The name that ends where the marker begins."""
    piece = before[-_MAX_CHARS * 2 :].rstrip(_QUOTES + ",，、")
    found = [entity for entity in extract(piece) if len(piece) - entity.end <= 1]
    if found:
        return found[-1].name
    tail = re.split(r"[,，。;；.!！?？\n:：]", piece)[-1].strip(_QUOTES)
    if _HAN.search(tail):
        return tail if len(tail) <= _MAX_UNSPACED else ""
    words = tail.split()
    return words[-1] if words else ""


def _first_name(after: str) -> str:
    """The name that begins where the marker ends."""
    piece = after[:_MAX_CHARS].lstrip(_QUOTES)
    found = [entity for entity in extract(piece) if entity.start <= 1]
    if found:
        return found[0].name
    stop = _STOP.search(piece)
    head = piece[: stop.start()] if stop else piece
    if _HAN.match(head):
        head = _COPULA.sub("", head.lstrip("は").strip(_QUOTES))
        return head if len(head) <= _MAX_UNSPACED else ""
    side = _SIDE.match(head)
    return _without_particle(side.group().split()[0]) if side else ""


def _without_particle(word: str) -> str:
    """A Korean word without what marks its place in the sentence; any other as it is."""
    if not word or not "가" <= word[-1] <= "힣":
        return word
    return min((stem for stem in stems(word) if len(stem) > 1), key=len, default=word)
