"""Characters nobody sees: allowed where a script or an emoji needs them, a finding everywhere else.

A joiner between two emoji, or after the virama of an Indic script, is spelling; between two Latin letters it can only
hide a word from a filter. Direction marks belong to right-to-left text and must be closed. Tag characters spell flags,
and anything else they spell is a message that only the model reads.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from hermes_state.text.scripts import EMOJI, FLAG_LETTERS
from memory.safety.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTENT = "hides characters that the reader does not see and the model does"
_ZWSP, _ZWNJ, _ZWJ = "\u200b", "\u200c", "\u200d"
# Zero-width space, joiners, word joiner and invisible operators, byte order mark, fillers.
_ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u3164\uffa0\u115f\u1160")
_MARKS = frozenset("\u200e\u200f\u061c")
_OPENING = frozenset("\u202a\u202b\u2066\u2067\u2068")
_CLOSING = frozenset("\u202c\u2069")
_OVERRIDES = frozenset("\u202d\u202e")
_SUSPECTS = re.compile(
    "[\u200b-\u200f\u061c\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u180e\u3164\uffa0\u115f\u1160"
    "\ufe00-\ufe0f\U000e0000-\U000e01ef]"
)
_PICTURE = re.compile(f"[{EMOJI}{FLAG_LETTERS}\u2190-\u21ff0-9#*\U0001f3fb-\U0001f3ff\ufe0f\u20e3\u2640\u2642]")
# A regional flag: 🏴, the tag letters of the region, a cancel tag.
_TAG_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,7}\U000e007f")
# Scripts in which joiners choose between letter forms.
_JOINING = ("ARABIC", "SYRIAC", "MONGOLIAN", "NKO", "MANDAIC", "ADLAM", "HEBREW")
_BRAHMIC = (
    "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA",
    "TIBETAN", "MYANMAR", "KHMER", "BALINESE", "JAVANESE", "TAI", "NEWA", "TIRHUTA", "GRANTHA",
)  # fmt: skip
# Scripts without spaces, where a zero-width space marks the end of a word.
_SPACELESS = ("THAI", "LAO", "MYANMAR", "KHMER", "TIBETAN", "TAI", "JAVANESE", "BALINESE")
_RTL = frozenset(("R", "AL", "AN"))


def hidden_characters(text: str) -> list[Finding]:
    """The invisible characters of a text that no script needs where they stand: one finding for each kind."""
    if text.isascii() or not _SUSPECTS.search(text):
        return []
    found = dict.fromkeys(_hidden(text))
    return [Finding(rule="hidden_characters", intent=_INTENT, excerpt=_named(point)) for point in found]


def _named(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'invisible')}"


def _hidden(text: str) -> Iterator[str]:
    flags = {place for match in _TAG_FLAG.finditer(text) for place in range(*match.span())}
    is_rtl = any(unicodedata.bidirectional(character) in _RTL for character in text)
    if not is_rtl or not _is_balanced(text):
        yield from (c for c in text if c in _OPENING or c in _CLOSING)
    for match in _SUSPECTS.finditer(text):
        place, character = match.start(), match.group()
        before, after = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
        is_suspect = (
            character in _OVERRIDES
            or (character in _MARKS and not is_rtl)
            or (character in _ZERO_WIDTH and not _is_spelling(character, before, after, place))
            or ("\U000e0000" <= character <= "\U000e007f" and place not in flags)
            # One selector chooses a form; a row of them is data.
            or (_is_selector(character) and (not before or _is_selector(before)))
        )
        if is_suspect:
            yield character


def _is_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def _is_spelling(character: str, before: str, after: str, place: int) -> bool:
    """Whether a script or an emoji needs a zero-width character here."""
    if character == _ZWJ and _PICTURE.match(before or " ") and _PICTURE.match(after or " "):
        return True
    if character in (_ZWJ, _ZWNJ):
        return _is_of(before, _JOINING) or _is_of(before, _BRAHMIC)
    if character == _ZWSP:
        return _is_of(before, _SPACELESS) or _is_of(after, _SPACELESS)
    if character in "\u3164\u115f\u1160\uffa0":
        return _is_of(before, ("HANGUL",)) or _is_of(after, ("HANGUL",))
    return character == "\ufeff" and place == 0


def _is_of(character: str, scripts: tuple[str, ...]) -> bool:
    return bool(character) and unicodedata.name(character, "").startswith(scripts)


def _is_balanced(text: str) -> bool:
    """Whether every direction mark is closed on its line."""
    for line in text.splitlines():
        depth = 0
        for character in line:
            depth += (character in _OPENING) - (character in _CLOSING)
            if depth < 0:
                return False
        if depth:
            return False
    return True
