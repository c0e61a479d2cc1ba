"""Both engines find the same messages, whatever is in them and whatever is asked."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_state import SessionDB
from hermes_state.engine.postgres import index
from hermes_state.engine.postgres.tokens import as_stored, question, stretches
from hermes_state.text import And, Not, Term, Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

WORDS = (
    "redis", "Upgrade", "deploys", "deploy", "the", "of", "GRÖSSE", "naïve", "C++", "C#", ".NET", "lib/util.rs",
    "blue-green", "getUserName", "REQ-907", "don't", "o'brien",
    "a\\b", "\\", "''", '"', ":*", "&", "|", "!", "<->", "1:2",
    "升级", "缓存", "数据库升级", "好", "サーバー", "カタカナ語", "東京都", "데이터베이스", "서버를", "ภาษาไทย",
    "Привет", "мир",
    "שלום", "مرحبا", "नमस्ते", "🚀", "👩‍👩‍👧", "１２３", "\u0130", "ﬁ",
    "x" * 3_000, "文" * 2_500, "\x00", "\x01", "\ud83d", "\u00a6", "\u00a0", "\u2028", "\t", "\n",
)  # fmt: skip
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OPERATORS = ("AND", "OR", "NOT", "-", "*", "(", ")", '"', "role:user", "after:2w", ":", "\x01", "\ud800", "'")
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=12), min_size=1, max_size=12).map(" ".join)
queries = st.lists(st.sampled_from(WORDS + OPERATORS) | st.text(max_size=6), min_size=1, max_size=6).map(" ".join)
glued = st.lists(st.sampled_from(WORDS + OPERATORS), min_size=1, max_size=4).map("".join)


class Both(NamedTuple):
    """The same store on both engines."""

    sqlite: SessionDB
    postgres: SessionDB

    def add(self, *contents: str) -> None:
        for db in self:
            db.messages.append_many("s", [{"role": "user", "content": content} for content in contents])
            db.search.index.catch_up()  # on a busy machine a search may not have the time for all of it

    def find(self, query: str, **how: str) -> list[int]:
        """The places of the hits in the session, best first; they are the same in both."""
        found = [db.search.messages(query, limit=200, **how) for db in self]
        places = [[hit.position for hit in hits] for hits in found]
        assert places[0] == places[1], query
        assert [hit.snippet for hit in found[0]] == [hit.snippet for hit in found[1]]
        assert found[0].notes == found[1].notes
        assert found[0].degraded == found[1].degraded
        return places[0]


@pytest.fixture(scope="module")
def both(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    place = tmp_path_factory.mktemp("both") / "store.db"
    name = f"{postgres}?store=both-{random.randrange(10**9)}"
    with SessionDB.open(place) as ours, SessionDB.open(name) as theirs:
        for db in (ours, theirs):
            db.sessions.create("s", source="cli")
        yield Both(ours, theirs)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(contents=st.lists(texts, min_size=1, max_size=3), asked=st.lists(queries | glued, min_size=1, max_size=3))
def test_the_same_messages_are_found(both: Both, contents: Sequence[str], asked: Sequence[str]) -> None:
    both.add(*contents)
    for query in asked:
        both.find(query)
        both.find(f'"{query}"', sort="newest")


@pytest.mark.parametrize("word", WORDS)
def test_every_odd_word_is_found_alike(both: Both, word: str) -> None:
    both.add(f"before {word} after", f"before{word}after")
    for query in (word, f'"before {word}"', f"{word}*", f"after NOT {word}", f'before AND NOT "{word} after"'):
        both.find(query)


def test_long_messages_are_found_to_their_end(both: Both) -> None:
    """Beyond 16,383 words, with a word more than 255 times, with more distinct words than one row takes."""
    rng = random.Random(7)
    told = [f"w{rng.randrange(500)}" for _ in range(20_000)]
    both.add(" ".join([*told, "needle", "at", "theend"]))
    both.add(" ".join(["again"] * 700 + ["after", "many"]))
    both.add(" ".join(f"distinct{n}" for n in range(60_000)) + " last thing")
    both.add("中文" * 20_000 + "末尾")
    for query, count in (
        ('"needle at theend"', 1), ("needle theend", 1), ('"again after many"', 1), ('"again many"', 0),
        ("distinct59999", 1), ('"last thing"', 1), ('"distinct40000 distinct40001"', 1), ("distinct599*", 1),
        ("末尾", 1), ('"文末尾"', 1), (f'"{told[17_000]} {told[17_001]} {told[17_002]}"', 1),
    ):  # fmt: skip
        assert len(both.find(query)) == count, query


def test_a_deleted_message_leaves_the_index(both: Both) -> None:
    for db in both:
        db.sessions.create("gone", source="cli")
        db.messages.append("gone", role="user", content="passing thought")
        assert db.search.messages("passing thought")
        db.sessions.delete("gone")
        assert not db.search.messages('"passing thought"')
        with db.engine.read() as connection:
            assert index.entries_without_message(connection) == [] if db is both.postgres else True


def test_zones_are_read_from_either_end(db: SessionDB, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The newest and the oldest of a word's messages, over many zones, with and without a further condition."""
    monkeypatch.setattr(index, "ZONE_MESSAGES", 10)
    with SessionDB.open(tmp_path / "store.db") as other:
        for each in (db, other):
            for name in ("a", "b"):
                each.sessions.create(name, source="cli" if name == "a" else "telegram")
            for n in range(130):
                text = f"common word{n % 7} " + ("rare" if n in (3, 77) else "so it is")
                # Said at the same times in both: how new a message is counts.
                each.messages.append("ab"[n % 2], role="user", content=text, created_at=NOON + timedelta(seconds=n))
                if n % 13 == 0:
                    each.search.index.catch_up()
        for query in (
            "common",
            "rare",
            "common source:telegram",
            "word3",
            '"common word3"',
            "common NOT word3",
            "wor*",
        ):
            for sort in ("newest", "oldest", "relevance"):
                for limit in (3, 25, 500):
                    hits = [each.search.messages(query, sort=sort, limit=limit) for each in (db, other)]
                    places = [[(hit.session_id, hit.position) for hit in some] for some in hits]
                    assert places[0] == places[1], (query, sort, limit)
        with db.engine.read() as connection:
            zones = (
                connection.exec_driver_sql("SELECT documents FROM message_index_zones ORDER BY zone").scalars().all()
            )
        assert len(zones) > 5
        assert sum(zones) == 130


def test_a_message_between_old_ones_gets_their_zone(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "ZONE_MESSAGES", 4)
    db.sessions.create("s", source="cli")
    for n in range(20):
        db.messages.append("s", role="user", content=f"text {n}")
    db.search.index.catch_up()
    with db.engine.write() as connection:
        ids = connection.exec_driver_sql("SELECT id FROM messages ORDER BY id").scalars().all()
        for gone in (ids[6], ids[19]):
            index.delete(connection, [index_document(gone)])
            index.insert(connection, [index_document(gone)])
        zones = (
            connection.exec_driver_sql("SELECT zone FROM message_index WHERE store = hermes_store() ORDER BY id")
            .scalars()
            .all()
        )
        assert zones == sorted(zones)
        assert index.totals(connection).documents == 20
        assert index.matches(connection, Word(text="new", exact=(Term(words=("new",)),)), limit=9) == [ids[19], ids[6]]


def index_document(message_id: int) -> object:
    from hermes_state.engine.fts import Document

    return Document(message_id, "new text", "")


def test_phrases_are_looked_up_in_the_text_and_words_are_not() -> None:
    one, two = Word(text="a", exact=(Term(words=("a",)),)), Word(text="b c", exact=(Term(words=("b", "c")),))
    assert question(one) == ("'\x01:a'", True, ["w a "], ["'\x01:a'"])
    b_c = "('\x01:b' & '\x01:c')"
    assert question(And((one, Not(two)))) == (
        "'\x01:a'",
        False,
        ["w a ", "w b c ", "!", "&"],
        ["'\x01:a'", b_c, "", ""],
    )
    assert question(two) == (b_c, False, ["w b c "], [b_c])


def test_tokens_that_a_lexeme_cannot_hold_are_cut_alike() -> None:
    assert as_stored(["a b", "\x01", "x" * 5_000]) == ["a\u00a0b", "\ufffd", "x" * 1_900]
    words = [f"{'w' * 90}{n}" for n in range(20_000)]
    rows = [some for some, _ in stretches(words, ())]
    assert len(rows) > 1
    assert sorted({word for some in rows for word in some}) == sorted(words)
    assert all(first[-64:] == second[:64] for first, second in pairwise(rows))


def test_words_of_a_huge_message_count_together(both: Both) -> None:
    """One with more different words than a row takes is one message, however far its words stand apart."""
    mark = f"huge{random.randrange(10**9)}"
    both.add(f"{mark} {' '.join(f'apart{n}' for n in range(60_000))} the end", f"{mark} apart7 alone", f"{mark} none")
    for query, places in (
        (f"{mark} AND apart7 AND apart59999", 1), (f"{mark} AND apart7 NOT apart59999", 1), (f"{mark} NOT apart7", 1),
        (f"{mark} AND (apart59999 OR none)", 2), (f'{mark} AND "apart59999 the end"', 1), (f"{mark} AND apart5999*", 1),
        (f'{mark} AND "apart0 apart59999"', 0),
    ):  # fmt: skip
        for how in ({}, {"sort": "newest"}, {"session": "s"}, {"role": "user", "sort": "oldest"}):
            assert len(both.find(query, **how)) == places, (query, how)


def test_a_narrow_filter_gives_the_same_hits(both: Both) -> None:
    """Few messages pass the filter, and nearly all hold the word; or the other way round."""
    for db in both:
        for name in ("narrow-1", "narrow-2", "wide"):
            db.sessions.create(name, source="telegram" if name == "narrow-2" else "cli")
            texts = [f"common thing {n % 5} 常见" for n in range(12 if name != "wide" else 300)]
            db.messages.append_many(name, [{"role": "user", "content": text} for text in texts])
    for query in ("common", '"common thing"', "common NOT 3", "常见", "thing 4", "comm*", "absent"):
        for how in ({"session": "narrow-1"}, {"source": "telegram"}, {"session": "narrow-2", "sort": "oldest"}):
            both.find(query, **how)
    assert len(both.find("common", session="narrow-1")) == 12
