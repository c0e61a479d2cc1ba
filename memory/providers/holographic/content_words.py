"""The words of a text that say what it is about, the same for a fact and for a question about it.

`hermes_state.text` gives what an index needs: every word, and every pair of characters of scripts without spaces. Here
it is about how much two texts have in common, so what only ties words together is left out, and forms of a word are
one:

* Korean words go without particles and endings (`korean_stems`).
* In Japanese a word in katakana is one, runs of kanji are cut into pairs, and of a verb the kanji is left: 雇った and
  雇いました are 雇.
* In Chinese a question word is cut out, so that 养什 of 养什么 is no word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from hermes_state.text import fold, is_stopword, segment
from hermes_state.text.segment import BOUNDARY
from memory.providers.holographic import korean_stems

# Words of a text that count; a bundle of more says less about each than noise does.
MAX_TOKENS = 256
# Texts remembered by this process: the same facts are weighed again and again.
_REMEMBERED = 4096

HANGUL = re.compile("[가-힣]+")
KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_KATAKANA = "[\u30a1-\u30fa\u30fc]{2,}"
_KANJI = "[\u3400-\u9fff々ヶ]+"
JAPANESE = re.compile(f"(?P<katakana>{_KATAKANA})|(?P<kanji>{_KANJI})|(?P<hiragana>[\u3041-\u3096\u30fc]+)")
ASKING = re.compile(
    "什么时候|什麼時候|为什么|為什麼|什么|什麼|怎么样|怎么|怎樣|怎样|怎麼|哪里|哪裡|哪儿|哪个|哪個|哪些|哪家|哪天|哪年|几点|幾點|多少|几个|是谁|是誰|谁|誰|何时"
)
_ASKING_KANJI = re.compile("何[時日月年人回個度歳]?|誰|幾[つ人]?")


@lru_cache(maxsize=_REMEMBERED)
def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, as often as they are there.

    Words without a subject count only where there are no others.
    """
    if text.isascii():
        return _others(text)
    found: list[str] = []
    rest = fold(text)
    if HANGUL.search(rest):
        found += [
            key for word in HANGUL.findall(rest) if (key := korean_stems.stem(word).key) not in korean_stems.STOPS
        ]
        rest = HANGUL.sub(" ", rest)
    if KANA.search(rest):
        found += [word for match in JAPANESE.finditer(rest) for word in japanese(match)]
        rest = JAPANESE.sub(" ", rest)
    others = _others(ASKING.sub(" ", rest), strict=bool(found))
    return (*found, *others)[:MAX_TOKENS] or _others(text)


def japanese(match: re.Match[str]) -> list[str]:
    """The words of one run of a script (`JAPANESE`). Hiragana alone is mostly grammar."""
    run = match.group()
    if match.lastgroup == "katakana":
        return [run]
    if match.lastgroup == "hiragana":
        return []
    parts = [part for part in _ASKING_KANJI.split(run) if part]
    return [word for part in parts for word in _pairs(part) if not is_stopword(word)]


def _pairs(run: str) -> list[str]:
    return ["".join(pair) for pair in pairwise(run)] if len(run) > 1 else [run]


def _others(text: str, *, strict: bool = False) -> tuple[str, ...]:
    """Words and pairs as they are indexed. With `strict` none rather than such as have no subject."""
    words, grams = segment(text)
    spoken = [word for word in words if word != BOUNDARY]
    paired = set("".join(grams))
    every = [word for word in spoken if word not in paired] + [gram for gram in grams if gram != BOUNDARY]
    telling = [word for word in every if not is_stopword(word)]
    return tuple(telling or ([] if strict else every or spoken))[:MAX_TOKENS]
