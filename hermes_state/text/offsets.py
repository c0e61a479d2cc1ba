"""A text with its folded form, and the way back from an offset in the one to an offset in the other."""

import re
from bisect import bisect_right
from functools import cache

from hermes_state.text.scripts import INVISIBLE, MARK_RANGES, SKIN_TONES, fold, marks

# Characters folded at once; only the pieces in which something is found are then looked at one by one.
_PIECE_CHARS = 512


class FoldedText:
    """The folded form of a text that remembers where each of its characters came from.

    Attributes:
        original: The text.
        folded: Equal to fold(original).
    """

    __slots__ = ("_folded_starts", "_maps", "_original_starts", "folded", "original")

    def __init__(self, original: str) -> None:
        self.original = original
        self._maps: dict[int, list[int]] = {}
        self._folded_starts: list[int] = [0]
        self._original_starts: list[int] = [0]
        if original.isascii():
            self.folded = original.lower()
            return
        pieces: list[str] = []
        length = 0
        self._folded_starts.clear()
        self._original_starts.clear()
        for match in _piece_pattern().finditer(original):
            pieces.append(fold(match.group()))
            self._folded_starts.append(length)
            self._original_starts.append(match.start())
            length += len(pieces[-1])
        self.folded = "".join(pieces)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a non-empty span of the folded text stands in the original, marks and joiners included."""
        if self.original.isascii():
            return start, end
        first, last = self._origin(start), self._origin(end - 1) + 1
        while last < len(self.original) and extends(self.original, last):
            last += 1
        return first, last

    def _origin(self, offset: int) -> int:
        piece = bisect_right(self._folded_starts, offset) - 1
        if piece not in self._maps:
            self._maps[piece] = self._map(piece)
        within = self._maps[piece]
        return self._original_starts[piece] + within[min(offset - self._folded_starts[piece], len(within) - 1)]

    def _map(self, piece: int) -> list[int]:
        """The offset within the piece from which each of its folded characters came."""
        start = self._original_starts[piece]
        following = self._original_starts[piece + 1 :][:1] or [len(self.original)]
        text = self.original[start : following[0]]
        if text.isascii():
            return list(range(len(text)))
        found: list[int] = []
        for match in _cluster_pattern().finditer(text):
            found += [match.start()] * len(fold(match.group()))
        return found or [0]


def extends(text: str, offset: int) -> bool:
    """Whether the character at this offset belongs to the one before it: a mark, a joiner, the rest of a flag."""
    if text[offset].isascii() or offset == 0:
        # CR LF is the only pair within ASCII.
        return offset > 0 and text[offset - 1 : offset + 1] == "\r\n"
    if text[offset - 1] == "\u200d" or _extension_pattern().match(text, offset):
        return True
    before, here = text[offset - 1], text[offset]
    if "\ud800" <= before <= "\udbff" and "\udc00" <= here <= "\udfff":
        return True
    return _is_flag_letter(before) and _is_flag_letter(here) and _flag_letters_before(text, offset) % 2 == 1


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, offset: int) -> int:
    count = 0
    while count < offset and _is_flag_letter(text[offset - 1 - count]):
        count += 1
    return count


@cache
def _extension() -> str:
    # What composes with the character before it, or is no character of its own: marks, the later letters of a
    # Hangul syllable in all their forms, half-width voicing marks, joiners and other invisible characters.
    jamo = "\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7fb\uff9e-\uffdc"
    every_mark = marks(((0x0300, 0x06FF), *MARK_RANGES, (0xFE20, 0xFE2F)))
    return f"{every_mark}{jamo}{SKIN_TONES}\u200d{INVISIBLE}"


@cache
def _extension_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_extension()}]")


@cache
def _cluster_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?s:.)(?:(?<=\u200d)[^\x00-\x7f]|[{_extension()}])*+")


@cache
def _piece_pattern() -> re.Pattern[str]:
    # ASCII stands alone: a mark behind it is in the next piece, where it folds to nothing as it does here.
    extension = rf"(?:(?<=\u200d)[^\x00-\x7f]|[{_extension()}])*+"
    return re.compile(rf"[\x00-\x7f]{{1,{_PIECE_CHARS}}}|[^\x00-\x7f]{{1,{_PIECE_CHARS}}}{extension}")
