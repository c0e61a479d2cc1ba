"""The terms of a statement: what its words say about, however they are inflected or written together.

A `Reading` is a statement while it is taken apart. What has been understood is blanked, and the terms of what is left
can be asked for at any time. Names are one character each meanwhile, so no rule sees into them.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from hermes_state.text import fold, is_stopword, segment
from hermes_state.text.segment import BOUNDARY
from memory.providers.holographic.chinese_names import breaks
from memory.providers.holographic.claim_words import USER, is_spaced
from memory.providers.holographic.korean_names import stems
from memory.providers.holographic.spans import words

# The term for who speaks, and for the user as others call them.
SPEAKER = "@user"

# A name, while a statement is taken apart: one character of the private use area.
_NAMES_FROM = 0xE000
_MAX_NAMES = 64

_PIECE = re.compile(
    "[\ue000-\ue0ff]|[\u3400-\u9fff々\u30a1-\u30fa\u30fc]+|[\u3041-\u3096]+|[가-힣]+"
    "|[^\\W\u3400-\u9fff\u3041-\u30fc가-힣]+(?:'[a-z]+)?[+#]*"
)
HAN = re.compile("[\u3400-\u9fff]")
KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
HANGUL = re.compile("[가-힣]")
_KANA_HEAD = re.compile("^(?:から|まで|より|[がはをにへともので])+")
_AUXILIARIES = re.compile(
    "(?:さ?れ|し|て|で|い|ます|まし|ませ|た|だ|る|です|でし|ない|なかっ|よう|に|なり|なる|なっ|あり|ある|くだ|"
    "さい|から|けど|ので|く|っ|う|り|が|は|を|の|と|ん|え)+"
)
_KANA_TAIL = re.compile(
    "(?:から|まで|より|には|では|とは|にも|でも|のが|のは|のを|のに|[はがをにへとのもやでねよかなだ])+$"
)
_KANA_FUNCTION = frozenset(
    words(
        """
        です ます でした ました ません する した して している されて います いる ある あり なる から まで
        など より だけ
        これ それ この その という として ください もう また まだ とても ので のに ため よう こと もの られる れる
        たい
        """
    )
)
_HAN_FUNCTION = frozenset("的了着过在是和与把对从到为就都也还很个做会有以让被将能可请第号次")
_KOREAN_ENDING = re.compile(
    "(?:하지|하다|하|한다|합니다|했다|하고|하는|하게|할|해요|해|된다|되어|되지|될|됐다|이다|입니다|이고|는다|습니다|"
    "었다|았다|였다|겠다|이며|지|다|고)$"
)
# The consonant ㄴ at the end of a syllable, in the order of Unicode's Hangul syllables.
_FINAL_N = 4
_KOREAN_FUNCTION = frozenset(
    words(
        """
        이다 이며 입니다 로 으로 다 지 고 는 은 이 가 을 를 의 에 도 된다 있다 있는 있지 있고 있어 있 수 것 더 때 및
        그 저
        등 매우 아주 되어 대한 위해 또 된 가지고 가지 할 한
        """
    )
)
_FUNCTION = frozenset(
    words(
        """
        alway would could may might must got one really quite usual plan planned set start held schedul take place own
        """
    )
)


class Reading:
    """A statement while it is taken apart; what has been read is blanked."""

    def __init__(self, text: str, names: list[str]) -> None:
        """Args: the statement, and the keys of the names in it, of which the first 64 are kept whole."""
        self.names = names[:_MAX_NAMES]
        self.text = text = _without_names(text, self.names)
        self.spaced = is_spaced(text)
        self.japanese = bool(KANA.search(text))
        self.verb_last = self.japanese or bool(HANGUL.search(text))

    def blank(self, start: int, end: int) -> None:
        self.text = self.text[:start] + " " * (end - start) + self.text[end:]

    def take(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """The matches of a pattern, which are then blank."""
        matches = list(pattern.finditer(self.text))
        for match in matches:
            self.blank(match.start(), match.end())
        return matches

    def drop(self, pattern: re.Pattern[str]) -> bool:
        """Whether the pattern matches; its matches are then gone, and what stood around them stands together."""
        rest = pattern.sub("", self.text)
        dropped = rest != self.text
        self.text = " ".join(rest.split()) if dropped else self.text
        return dropped

    def terms(self, start: int = 0, end: int | None = None) -> frozenset[str]:
        """The terms of a part of the text."""
        return frozenset(self.in_order(start, end))

    def in_order(self, start: int = 0, end: int | None = None) -> list[str]:
        """The terms of a part of the text, as they follow each other."""
        stop = len(self.text) if end is None else end
        part = USER.of(spaced=self.spaced).sub(
            lambda match: chr(_NAMES_FROM + _MAX_NAMES) + " " * (len(match.group()) - 1), self.text[:stop]
        )
        found: list[str] = []
        for match in _PIECE.finditer(part, start):
            found += self.piece(match.group(), part[match.start() - 1 : match.start()])
        return found

    def piece(self, piece: str, before: str) -> Sequence[str]:
        """The terms of one run of a script."""
        first = piece[0]
        if _NAMES_FROM <= ord(first) <= _NAMES_FROM + _MAX_NAMES:
            at = ord(first) - _NAMES_FROM
            return [SPEAKER if at == _MAX_NAMES else self.names[at]]
        if "\u3041" <= first <= "\u3096":
            return [] if HAN.fullmatch(before) else _kana_terms(piece)
        if HAN.match(first) or "\u30a1" <= first <= "\u30fc":
            return [piece] if self.japanese else _han_terms(piece)
        if HANGUL.match(first):
            return _korean_terms(piece)
        return _spaced_terms(piece)


def _without_names(text: str, names: list[str]) -> str:
    folded = " ".join(fold(text).split()).strip(" .!?;:")
    for number, name in sorted(enumerate(names), key=lambda each: -len(each[1])):
        folded = _replaced(folded, name, chr(_NAMES_FROM + number))
    return folded


def _replaced(text: str, name: str, sign: str) -> str:
    """The text with a sign in place of a name, wherever the name is no part of a longer word of letters with spaces."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        glued = name.isascii() and (
            _is_letter(text[at - 1 : at]) or (name[-1:].isalnum() and _is_letter(text[end : end + 1]))
        )
        text = text if glued else text[:at] + sign + text[end:]
        at = text.find(name, at + 1)
    return text


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _kana_terms(piece: str) -> list[str]:
    word = _KANA_HEAD.sub("", _KANA_TAIL.sub("", piece))
    if _AUXILIARIES.fullmatch(piece) or _AUXILIARIES.fullmatch(word):
        return []
    return [word] if len(word) > 1 and word not in _KANA_FUNCTION and piece not in _KANA_FUNCTION else []


def _han_terms(piece: str) -> list[str]:
    """A run of characters cut at words that join others; a longer such word is a term, a character is none."""
    found, at = [], 0
    for match in breaks().finditer(piece):
        found += [piece[at : match.start()], match.group() if len(match.group()) > 1 else ""]
        at = match.end()
    trimmed = ("".join(c for c in each if c not in _HAN_FUNCTION) for each in [*found, piece[at:]])
    return [each for each in trimmed if each]


@lru_cache(maxsize=8192)
def _korean_terms(word: str) -> tuple[str, ...]:
    if word in _KOREAN_FUNCTION:
        return ()
    verb = _KOREAN_ENDING.sub("", _plain_form(word))
    stem = (
        verb if verb and verb != word else min((each for each in stems(word) if len(each) > 1), key=len, default=word)
    )
    return (stem,) if stem and stem not in _KOREAN_FUNCTION else ()


def _plain_form(word: str) -> str:
    """A Korean verb of the present with its stem whole: 마신다 as 마시다."""
    if len(word) > 2 and word.endswith("다") and (ord(word[-2]) - 0xAC00) % 28 == _FINAL_N:
        return word[:-2] + chr(ord(word[-2]) - _FINAL_N) + "다"
    return word


@lru_cache(maxsize=8192)
def _spaced_terms(word: str) -> tuple[str, ...]:
    found = [
        stemmed
        for stemmed in segment(word).words
        if not is_stopword(stemmed) and stemmed not in _FUNCTION and word != "s"
    ]
    return tuple(each for each in found if each != BOUNDARY)
