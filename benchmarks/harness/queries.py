"""The query kinds of the run, drawn from the corpus they are asked of."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import corpus

if TYPE_CHECKING:
    from corpus import Corpus

QUESTIONS = 30
QUESTION_WORDS = (6, 10)


@dataclass(frozen=True, slots=True)
class QueryKind:
    """One row of the search table; ``queries`` are asked in turn."""

    name: str
    queries: tuple[str, ...]
    newest: bool = False
    #: A question is matched by any of its words by us, by all of them by the peer: not the same work.
    comparable: bool = True


def query_kinds(source: Corpus) -> list[QueryKind]:
    """Every kind of query in the table of issue bars."""
    latin, chinese = source.latin, source.chinese
    pairs = [word for word in chinese if len(word) == 2]
    common = tuple(latin[2:12])
    return [
        QueryKind("common word", common),
        QueryKind("rare word", (corpus.RARE_WORD,)),
        QueryKind("two words", tuple(f"{latin[39 + at]} {latin[59 - at]}" for at in range(10))),
        QueryKind("phrase", (f'"{corpus.PHRASE}"',)),
        QueryKind("prefix", (f"{corpus.PREFIX_STEM}*",)),
        QueryKind("prefix, 3 letters", tuple(_long_prefixes(latin))),
        QueryKind("no hit", (corpus.MISSING_WORD,)),
        QueryKind("CJK 1 character", tuple(word[0] for word in pairs[5:15])),
        QueryKind("CJK 2 characters", (corpus.HAN_PAIR,)),
        QueryKind("CJK 2 characters, common", tuple(pairs[2:12])),
        QueryKind("CJK 4 characters", (corpus.HAN_QUAD,)),
        QueryKind("newest first, common word", common, newest=True),
        QueryKind("question of 6-10 words", tuple(questions(source)), comparable=False),
    ]


def questions(source: Corpus) -> list[str]:
    """Questions with the word frequencies of the text itself, so most hold several very common words."""
    rng = Random(f"questions:{source.seed}")
    return [
        " ".join(source.latin_text(rng, rng.randint(*QUESTION_WORDS), []).rstrip(".").split()) + "?"
        for _ in range(QUESTIONS)
    ]


def _long_prefixes(words: tuple[str, ...]) -> list[str]:
    """Ten three-letter prefixes of frequent words, each shared by many words."""
    prefixes = dict.fromkeys(word[:3] for word in words[20:400] if len(word) > 3)
    return [f"{prefix}*" for prefix in list(prefixes)[:10]]
