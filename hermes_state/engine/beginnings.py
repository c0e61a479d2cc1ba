"""What a prefix stands for in SQLite's index, so that it can be asked for at less cost.

FTS5 answers a prefix by merging the lists of all words that begin so, to their ends, before it gives the first match:
0.1 µs for every message with such a word. A word by its name costs 5 µs in an index of one segment and 15 in one of
eight, however many messages hold it, since only as much of its list is read as is wanted. So common words are asked for
by name, and many rare ones by a longer prefix that they share.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.engine.connections import driver_of
from hermes_state.engine.lookups import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

# What asking costs in µs: for a word by its name, for a prefix, and for each message with a word behind that prefix.
_NAME_US, _PREFIX_US, _MESSAGE_US = 10.0, 15.0, 0.08
# Counting the messages of a word takes 0.02 µs for each, walking on to the next word without counting as long as asking
# for one. So words are counted until that was the dearer way, and walked over from there.
_COUNTED_AT_LEAST, _COUNTED_PER_WORD = 30_000, 800
# In a larger index even the list of one word can be too long to be counted.
_COUNTED_UP_TO = 200_000
# More words than these are left to FTS5.
_MOST_COUNTED, _MOST_WALKED = 400, 200

# https://www.sqlite.org/fts5.html#the_fts5vocab_module: a row for each word with its messages counted, and one for each
# place of each word, of which only the first is asked for: one seek.
_TABLES = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_words USING fts5vocab(main, message_index, row)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_places USING fts5vocab(main, message_index, instance)",
)
_ARE_THERE = "SELECT count(*) FROM sqlite_temp_master WHERE name IN ('message_words', 'message_places')"
_COUNTED = "SELECT term, doc FROM temp.message_words WHERE term >= ? AND term < ?"
_NEXT_WORD = "SELECT term FROM temp.message_places WHERE term >= ? LIMIT 1"
# Sorts behind all that begins with the same letters.
_LAST = "\U0010ffff"


class Beginning(NamedTuple):
    """A word, or the words that begin with a longer prefix."""

    text: str
    is_prefix: bool


class _Word(NamedTuple):
    """A word of the index and how many messages hold it; about."""

    text: str
    messages: float


def prepare(connection: Connection) -> None:
    """Let a connection see the words of the index. In a snapshot it is too late: its end would undo it."""
    driver = driver_of(connection)
    try:
        for statement in _TABLES:
            driver.execute(statement)
    except driver.Error:
        # No FTS5, or a damaged schema: whoever asks for anything next is told. Without these tables nothing is spelled
        # out.
        return


def beginnings(connection: Connection, start: str, documents: int) -> list[Beginning] | None:
    """The words of the index that begin with some letters, all of them; None when they are best left to FTS5.

    Args:
        documents: How many messages the index holds.
    """
    words: list[_Word] = []
    if rows(connection, _ARE_THERE)[0][0] < len(_TABLES):
        return None
    if documents <= _COUNTED_UP_TO and _count(connection, start, words):
        return _cheapest(words, len(start))[1] if words else []
    if len(words) <= _MOST_WALKED and _walk(connection, start, words):
        return _cheapest(words, len(start))[1] if words else []
    return None


def _count(connection: Connection, start: str, words: list[_Word]) -> bool:
    """Add the words with their messages counted, as long as that is worth it. True: these are all."""
    left = _COUNTED_AT_LEAST
    cursor = driver_of(connection).execute(_COUNTED, (start, start + _LAST))
    try:
        for text, messages in cursor:
            words.append(_Word(text, messages))
            left += _COUNTED_PER_WORD - messages
            if left < 0 or len(words) > _MOST_COUNTED:
                return False
        return True
    finally:
        cursor.close()


def _walk(connection: Connection, start: str, words: list[_Word]) -> bool:
    """Add the words behind these, which nobody counts. True: these are all, and not too many."""
    while len(words) <= _MOST_WALKED:
        # Sorts behind the word itself and before all longer ones: no token has so low a character.
        found = rows(connection, _NEXT_WORD, (f"{words[-1].text}!" if words else start,))
        if not found or not found[0][0].startswith(start):
            return True
        words.append(_Word(found[0][0], math.inf))
    return False


def _cheapest(words: Sequence[_Word], shared: int) -> tuple[float, list[Beginning]]:
    """The cheapest way to ask for words of which so many first letters are the same, and what it costs."""
    if len(words) == 1:
        return _NAME_US, [Beginning(words[0].text, is_prefix=False)]
    together = _PREFIX_US + _MESSAGE_US * sum([word.messages for word in words])
    by_prefix = [Beginning(words[0].text[:shared], is_prefix=True)]
    if together <= 2 * _NAME_US:
        return together, by_prefix
    cost, parts = 0.0, list[Beginning]()
    for _, some in groupby(words, key=lambda word: word.text[shared : shared + 1]):
        part_cost, part = _cheapest(list(some), shared + 1)
        cost += part_cost
        parts += part
    return (cost, parts) if cost < together else (together, by_prefix)
