"""Prefixes as the index is asked for them: spelled out by the words that begin so, and still the same messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state import SessionDB
from hermes_state.engine import beginnings, sqlite_index
from hermes_state.engine.beginnings import _cheapest, _Word

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = st.text("abc", min_size=1, max_size=6)


@given(st.dictionaries(_WORDS, st.integers(1, 100_000) | st.just(float("inf")), min_size=1, max_size=40))
def test_the_parts_cover_each_word_once_and_no_other(counts: dict[str, float]) -> None:
    words = [_Word(f"x{text}", count) for text, count in sorted(counts.items())]
    cost, parts = _cheapest(words, 1)
    for word in words:
        assert sum(word.text.startswith(part.text) if part.is_prefix else word.text == part.text for part in parts) == 1
    assert all(any(word.text.startswith(part.text) for word in words) for part in parts)
    assert cost <= beginnings._NAME_US * len(words)


@pytest.mark.parametrize("counted_up_to", [0, 1_000_000], ids=["walked", "counted"])
@pytest.mark.parametrize("counted_at_least", [0, 1_000], ids=["half", "all"])
@settings(max_examples=15)
@given(texts=st.lists(st.lists(_WORDS, min_size=1, max_size=8), min_size=1, max_size=30))
def test_spelled_out_a_prefix_finds_what_it_finds_otherwise(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    counted_up_to: int,
    counted_at_least: int,
    texts: list[list[str]],
) -> None:
    monkeypatch.setattr(beginnings, "_COUNTED_UP_TO", counted_up_to)
    monkeypatch.setattr(beginnings, "_COUNTED_AT_LEAST", counted_at_least)
    monkeypatch.setattr(beginnings, "_COUNTED_PER_WORD", 1)
    with SessionDB.open(tmp_path_factory.mktemp("prefixes") / "store.db", synchronous="NORMAL") as db:
        session = db.sessions.create(source="cli").id
        db.messages.append_many(session, [{"role": "user", "content": " ".join(words)} for words in texts])
        for prefix in ("a*", "ab*", "bca*", '"a b"', "a* AND b*", "c* -ca*"):
            monkeypatch.setattr(sqlite_index, "SPELL_OUT_FROM", 10**9)
            plain = _found(db, prefix)
            monkeypatch.setattr(sqlite_index, "SPELL_OUT_FROM", 0)
            assert _found(db, prefix) == plain


def test_more_words_than_are_worth_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of ids that begin alike are left to the index, whole."""
    monkeypatch.setattr(sqlite_index, "SPELL_OUT_FROM", 0)
    with SessionDB.open(tmp_path / "store.db", synchronous="NORMAL") as db:
        session = db.sessions.create(source="cli").id
        db.messages.append_many(session, [{"role": "user", "content": f"id{number:04}x"} for number in range(900)])
        assert db.search.messages("id*").explanation.candidates == 60
        assert len(db.search.messages("id00*", limit=200)) == 100
        assert len(db.search.messages("id*", limit=1000)) == 900


def _found(db: SessionDB, query: str) -> list[int]:
    return [hit.message_id for hit in db.search.messages(query, limit=100)]
