"""Which script a character belongs to, and the folded form two spellings share.

Everything is decided per code point, so that the same text gives the same answer wherever it stands.
"""

import re
import unicodedata
from functools import cache

# Scripts written without spaces whose unit is one code point. Hangul is here although Korean has spaces: particles
# are glued to nouns, so a noun must be found inside a longer run.
IDEOGRAPHIC_RANGES = (
    (0x1100, 0x11FF),  # Hangul jamo
    (0x2E80, 0x2FDF),  # CJK and Kangxi radicals
    (0x3005, 0x3007),  # 々 〆 〇
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x3096),  # Hiragana
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),  # Katakana
    (0x30FC, 0x30FF),  # ー and iteration marks
    (0x3105, 0x312F),  # Bopomofo
    (0x3131, 0x318E),
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA000, 0xA48C),  # Yi
    (0xA960, 0xA97C),
    (0xAC00, 0xD7A3),
    (0xD7B0, 0xD7FB),
    (0xF900, 0xFAFF),
    (0x1AFF0, 0x1B16F),  # kana supplements
    (0x20000, 0x3FFFD),  # Han extensions, planes 2 and 3
)

# Scripts written without spaces whose unit is a letter with its marks.
CLUSTERED_RANGES = (
    (0x0E01, 0x0E3A),  # Thai
    (0x0E40, 0x0E4E),
    (0x0E81, 0x0ECE),  # Lao
    (0x0EDC, 0x0EDF),
    (0x0F40, 0x0F84),  # Tibetan
    (0x0F86, 0x0FBC),
    (0x1000, 0x103F),  # Myanmar
    (0x1050, 0x108F),
    (0x109A, 0x109D),
    (0x1780, 0x17D3),  # Khmer
    (0x17D7, 0x17D7),
    (0x17DC, 0x17DD),
    (0x1950, 0x1974),  # Tai Le
    (0x1980, 0x19C9),  # New Tai Lue
    (0x1A20, 0x1A7C),  # Tai Tham
    (0x1B00, 0x1B4C),  # Balinese
    (0xA980, 0xA9C0),  # Javanese
    (0xA9E0, 0xA9FE),
    (0xAA60, 0xAADF),
)

# Pictographs: each is a token of its own. Arrows, box drawing and geometric shapes are layout, not content.
EMOJI = (
    "\u00a9\u00ae\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
)
FLAG_LETTERS = "\U0001f1e6-\U0001f1ff"
SKIN_TONES = "\U0001f3fb-\U0001f3ff"
CURRENCY = "\u00a2-\u00a5\u20a0-\u20c0"

# Invisible: soft hyphen, zero-width, bidi controls, variation selectors, byte order mark, tags. The zero-width joiner
# is handled apart, since it holds an emoji sequence together.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_LOOSE_JOINER = re.compile(f"(?<![{EMOJI}])\u200d|\u200d(?![{EMOJI}])")
_TONED = re.compile(f"(?<=[{EMOJI}])[{SKIN_TONES}]+")

_PICTOGRAPH = re.compile(f"[{EMOJI}{FLAG_LETTERS}{SKIN_TONES}{CURRENCY}\u200d]")

# What most Chinese, Japanese and Korean is written with: characters that fold to themselves, and marks that fold to
# something else. Folding such a text by this short list takes a sixth of the time.
_EVERYDAY_MARKS = {
    "，": ",", "！": "!", "？": "?", "：": ":", "；": ";", "（": "(", "）": ")", "…": "...",
    **dict.fromkeys("。、“”‘’《》「」『』【】—·", " "), "‘": "'", "’": "'",
}  # fmt: skip
_EVERYDAY = re.compile(
    "[\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff\uac00-\ud7a3" + "".join(_EVERYDAY_MARKS) + "]*+"
)

# Letters that Unicode does not decompose although people type them plainly; й ў ї differ from и у і as letters.
_LETTERS = {
    **dict(zip("øłđıħŧɨðŋ", "oldihtidn", strict=True)),
    "æ": "ae", "œ": "oe", "þ": "th", "ĸ": "k",
    "ٱ": "ا", "ى": "ي", "ی": "ي", "ې": "ي", "ة": "ه", "ۀ": "ه", "ە": "ه", "ہ": "ه", "ھ": "ه", "ک": "ك", "ـ": "",
    "’": "'", "‘": "'", "ʼ": "'", "′": "'", "׳": "", "״": "",
    "й": "й", "ў": "ў", "ї": "ї",
}  # fmt: skip

# Combining marks that are accents, points or enclosures; the vowel signs of Indic and other scripts are not here.
_ACCENT_RANGES = (
    (0x0300, 0x036F), (0x0483, 0x0489), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F), (0x0670, 0x0670),
    (0x06D6, 0x06ED), (0x08CA, 0x08FF), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20E2), (0x20E4, 0x20F0),
    (0xFE20, 0xFE2F),
)  # fmt: skip
# Below this code point a mark on a letter is an accent; above, it may be a vowel.
_ACCENTED_BELOW = 0x0700
# Where the marks are that do not fold away.
MARK_RANGES = (
    (0x0700, 0x1DFF),
    (0x20E3, 0x20E3),
    (0x2CEF, 0x2CF1),
    (0xA66F, 0xABED),
    (0x10A01, 0x11FFF),
    (0x16AF0, 0x16F92),
)


def fold(text: str) -> str:
    """The form in which two spellings of a text are equal; empty or shorter for text that is not visible.

    Case, width and compatibility forms, Latin/Greek/Cyrillic accents, Arabic and Hebrew points and the digits of
    every script fold. Vowel signs of Indic and South-East Asian scripts stay. Punctuation and layout symbols beyond
    ASCII, lone surrogates and unassigned code points become spaces.
    Folding a folded text changes nothing.
    """
    if text.isascii():
        return text.lower()
    if _EVERYDAY.fullmatch(text):
        text = text.lower()
        for mark, folded in _EVERYDAY_MARKS.items():
            text = text.replace(mark, folded)
        return text
    if _INVISIBLE.search(text):
        text = _INVISIBLE.sub("", text)
    text = unicodedata.normalize("NFKC", _without_loose_joiners(text)).casefold().translate(_FOLDED)
    # Composed again, since a letter may now stand beside its mark; joiners again, since 🈁 is now letters.
    return unicodedata.normalize("NFKC", _without_loose_joiners(_TONED.sub("", text)))


def _without_loose_joiners(text: str) -> str:
    return _LOOSE_JOINER.sub("", text) if "\u200d" in text else text


class _FoldTable(dict[int, str]):
    """Code point to folded text, filled on first sight."""

    def __missing__(self, point: int) -> str:
        self[point] = folded = _fold_character(chr(point))
        return folded


def _fold_character(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if _is_accent(character):
        return ""
    if character.isascii():
        return character
    if unicodedata.category(character)[0] in "PSZC" and not _PICTOGRAPH.fullmatch(character):
        return " "
    decomposed = unicodedata.normalize("NFD", character)
    if len(decomposed) > 1 and ord(decomposed[0]) < _ACCENTED_BELOW:
        return "".join(_LETTERS.get(part, part) for part in decomposed if not _is_accent(part))
    return character


def _is_accent(character: str) -> bool:
    return any(low <= ord(character) <= high for low, high in _ACCENT_RANGES) and _is_mark(character)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


_FOLDED = _FoldTable()


def charset(ranges: tuple[tuple[int, int], ...]) -> str:
    """The inside of a regular expression's [] for these ranges."""
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


@cache
def marks(ranges: tuple[tuple[int, int], ...] = MARK_RANGES) -> str:
    """The combining marks in these ranges, as the inside of a regular expression's []."""
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        for point in range(low, high + 1):
            if _is_mark(chr(point)):
                if found and found[-1][1] == point - 1:
                    found[-1] = (found[-1][0], point)
                else:
                    found.append((point, point))
    return charset(tuple(found))
