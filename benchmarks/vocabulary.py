"""The synthetic words of the benchmark corpus: Latin and Chinese, Zipf-distributed.

Standard library only: the peer's interpreter imports this too, and both must draw the same words.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from itertools import accumulate
from random import Random

LATIN_WORDS = 30_000
CHINESE_WORDS = 4_000
MIN_WORD_LENGTH = 3
#: Exponent of the rank-frequency law of both vocabularies.
ZIPF_EXPONENT = 1.07
#: Entries of the equal-probability table that texts are drawn from. A uniform pick from it costs a
#: tenth of a weighted pick, and at half a million entries the last rank still has its own entry.
TABLE_ENTRIES = 1 << 19

_CLUSTERS = ("br", "cl", "cr", "dr", "fl", "gr", "pl", "pr", "sh", "sl", "sp", "st", "tr", "th", "ch")
_ONSETS = (*"bcdfghjklmnprstvwz", *_CLUSTERS)
_VOWELS = (*"aeiou", "ai", "ea", "io", "ou")
_CODAS = ("", "", "", "n", "r", "s", "t", "l", "m", "nd", "rk", "st", "ck")
#: First and one-past-last code point of the characters the Chinese vocabulary is made of. The
#: needles of the corpus use characters above this range, so nothing else can match them.
_HAN_FIRST, _HAN_END = 0x4E00, 0x8C00
_HAN_CHARACTERS = 2_200


def _syllable(rng: Random) -> str:
    return rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)


@cache
def latin_words(seed: int) -> tuple[str, ...]:
    """All Latin words, most frequent first; short words tend to be the frequent ones, as in English."""
    rng = Random(f"latin:{seed}")
    words: set[str] = set()
    while len(words) < LATIN_WORDS:
        word = "".join(_syllable(rng) for _ in range(rng.choice((1, 2, 2, 2, 3, 3, 4))))
        if len(word) >= MIN_WORD_LENGTH:
            words.add(word)
    ordered = sorted(words)
    return tuple(sorted(ordered, key=lambda word: len(word) + rng.uniform(0, 9)))


@cache
def chinese_words(seed: int) -> tuple[str, ...]:
    """All Chinese words (two to four characters), most frequent first."""
    rng = Random(f"chinese:{seed}")
    characters = [chr(point) for point in rng.sample(range(_HAN_FIRST, _HAN_END), _HAN_CHARACTERS)]
    table = zipf_table(characters, 1 << 14)
    words: dict[str, None] = {}
    while len(words) < CHINESE_WORDS:
        words["".join(rng.choices(table, k=rng.choice((2, 2, 2, 3, 4))))] = None
    return tuple(words)


def zipf_table(items: list[str] | tuple[str, ...], entries: int = TABLE_ENTRIES) -> list[str]:
    """A list in which a uniform pick follows Zipf's law over ``items`` (given most frequent first)."""
    cumulative = list(accumulate(rank**-ZIPF_EXPONENT for rank in range(1, len(items) + 1)))
    total, last = cumulative[-1], len(items) - 1
    return [items[min(last, bisect_left(cumulative, total * (entry + 0.5) / entries))] for entry in range(entries)]
