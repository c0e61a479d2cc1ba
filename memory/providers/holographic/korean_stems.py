"""Korean words without what hangs on them: the particle of a noun, the ending of a verb.

No dictionary, so a stem is no word of one: it is what the forms of a word have in common. 소개한, 소개했다 and
소개하나요 come to 소개; 마신다, 마셨다 and 마시나요 to 마시.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memory.providers.holographic.korean_names import name_length
from memory.providers.holographic.spans import words

# Words that ask or only tie a sentence together, without their endings.
STOPS = frozenset(
    words(
        """
    누구 누가 누군 사람 무엇 무어 뭐 뭘 언제 어디 어디서 왜 무슨 어떤 어떻 어떻게 어느 몇 얼마 얼마나 이것 그것 저것
    이 그 저 것 거 게 수 때 중 있 없 하 한 할 되 된 될 아니 및 또 또는 그리고 그런데 그래서 하지만 대해 대한 관해
    위해 대하 위하 좀 제발 주세요 주 우리 저희 나 내 너 제 저는 나는 때문 등 들
    """
    )
)
# The forms of 하다 and 되다, which make verbs of nouns; the noun says what is done.
_DONE = re.compile(
    "(?:한다|합니다|했다|했습니다|했나요|했어요|했던|하나요|하는|하고|하며|하면|하여|해서|해요|하려고|하기|했|한|할|함|된다|됩니다"
    "|되었다|됐다|되었나요|됐나요|되나요|되는|되고|되어|되었|된|될|됨|했는지|하는지|하세요|해야)(?:지|요|다|고|는지)?$"
)
_IS = re.compile("(?:이다|입니다|이었다|이었습니다|이었나요|인가요|입니까|이에요|예요)$")
# How sentences and clauses end; what is before is the stem, perhaps with a consonant of the ending below it.
_ENDED = re.compile(
    "(?:었습니다|았습니다|였습니다|습니다|었나요|았나요|였나요|었다고|았다고|었던|았던|었다|았다|였다|는다고|다고|는다|나요|는가요"
    "|은가요|가요|니까|니다|어요|아요|여요|세요|었고|았고|으며|으면|으니|는지|려고|도록|어서|아서|지만|던|다)$"
)
# What hangs on a noun; taken off one by one, and at least two syllables stay.
_PARTICLE = re.compile(
    "(?:에게서|에게|한테|께서|에서|으로|이랑|하고|까지|부터|처럼|보다|마다|밖에|은|는|이|가|을|를|의|에|로|와|과|도|만|께|씨|님|들)$"
)
_LEAST = 2
_FIRST, _LAST = ord("가"), ord("힣")
_FINALS, _VOWELS = 28, 21
# Final consonants that belong to an ending: ㄴ, ㄹ, ㅂ, and ㅆ of the past.
_N, _L, _B, _PAST = 4, 8, 17, 20
# Vowels that the past makes of two: ㅕ of ㅣ, ㅘ of ㅗ, ㅝ of ㅜ, ㅙ of ㅚ.
_CONTRACTED = {6: 20, 9: 8, 14: 13, 10: 11}


class Stem(NamedTuple):
    """A word's stem.

    Attributes:
        key: the same for the forms of a word.
        shown: what they have in common as it is written, for looking up; it may be shorter.
    """

    key: str
    shown: str


@lru_cache(maxsize=8192)
def stem(word: str) -> Stem:
    """The stem of a run of Hangul."""
    if len(word) < _LEAST:
        return Stem(word, word)
    if (found := _DONE.search(word) or _IS.search(word)) and found.start():
        return _noun(word[: found.start()])
    if (found := _ENDED.search(word)) and found.start():
        return _verb(word[: found.start()], {_N, _L, _B, _PAST})
    noun = _noun(word)
    if noun.key == word and len(word) > _LEAST and not name_length(word):
        return _verb(word, {_N, _L})  # 가르친, 가르칠
    return noun


def _noun(word: str) -> Stem:
    while (found := _PARTICLE.search(word)) and found.start() >= _LEAST:
        word = word[: found.start()]
    return Stem(word, word)


def _verb(word: str, endings: set[int]) -> Stem:
    """Without the consonant and the vowel that the ending adds to the last syllable."""
    last = ord(word[-1]) - _FIRST
    final = last % _FINALS if 0 <= last <= _LAST - _FIRST else 0
    if final not in endings:
        return Stem(word, word)
    opened = last - final
    vowel = opened // _FINALS % _VOWELS
    if final == _PAST and vowel in _CONTRACTED:
        opened += (_CONTRACTED[vowel] - vowel) * _FINALS
    key = word[:-1] + chr(_FIRST + opened)
    return Stem(key, word[:-1] if len(word) > _LEAST else key)
