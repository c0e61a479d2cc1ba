"""Rules that hold for any text and any query."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state import SessionDB
from hermes_state.engine import sqlite_index
from hermes_state.search import fuse
from hermes_state.search.rank import Scale, best_by_mask, worth

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ("red", "green", "blue-ish", "升级", "数据库", "running", "café", "C++", "x1y2", "über", "안녕")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def store() -> Iterator[SessionDB]:
    with tempfile.TemporaryDirectory() as folder, SessionDB.open(Path(folder) / "store.db", synchronous="NORMAL") as db:
        yield db


@settings(max_examples=150)
@given(query=st.text(max_size=40))
def test_no_query_raises(store: SessionDB, query: str) -> None:
    """Any string is a query, for messages and for conversations, in every order."""
    if not store.messages.count():
        store.messages.append_many(
            store.sessions.create(source="cli", title="red").id, [{"role": "user", "content": word} for word in WORDS]
        )
    for sort in ("relevance", "newest", "oldest"):
        store.search.messages(query, sort=sort)
    store.search.conversations(query)


@settings(max_examples=25)
@given(contents=st.lists(sentences, min_size=1, max_size=8), query=sentences)
def test_the_index_and_a_look_at_the_messages_agree(contents: list[str], query: str) -> None:
    """With FTS5 and without it the same messages are found, in the same order of time."""
    with tempfile.TemporaryDirectory() as folder, SessionDB.open(Path(folder) / "s.db", synchronous="NORMAL") as db:
        session = db.sessions.create(source="cli").id
        db.messages.append_many(session, [{"role": "user", "content": text} for text in contents])
        for asked in (query, f'"{query}"', " AND ".join(query.split()), f"{query.split()[0]} -{query.split()[-1]}"):
            indexed = [hit.message_id for hit in db.search.messages(asked, sort="newest")]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sqlite_index, "is_available", lambda _connection: False)
                with SessionDB.open(Path(folder) / "s.db") as other:
                    assert [hit.message_id for hit in other.search.messages(asked, sort="newest")] == indexed


@given(ids=st.lists(st.lists(st.integers(1, 20), unique=True), min_size=1, max_size=3))
def test_fusion_keeps_every_id_and_agreement_wins(ids: list[list[int]]) -> None:
    """Every opinion counts; the scores fall."""
    fused = fuse([(1.0, some) for some in ids])
    assert set(fused) == {each for some in ids for each in some}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
    if len(ids) == 1:
        assert list(fused) == ids[0]


@given(masks=st.dictionaries(st.integers(1, 1000), st.integers(1, 7)), limit=st.integers(0, 50))
def test_the_best_by_mask_are_the_best(masks: dict[int, int], limit: int) -> None:
    """No message left out is worth more than one taken, and a longer list begins like a shorter one."""
    scale = Scale((3.0, 2.0, 1.0), 10.0)
    taken = best_by_mask(masks, scale, limit)
    assert taken == best_by_mask(masks, scale, limit + 10)[: len(taken)]
    assert len(taken) == min(limit, len(masks))


@given(count=st.floats(0, 1e6), documents=st.integers(0, 10**6))
def test_a_rarer_word_is_worth_more_and_none_is_worth_nothing(count: float, documents: int) -> None:
    """Even a word that all messages hold is worth a little."""
    assert worth(count, documents) > 0
    assert worth(count, documents) >= worth(count + 1, documents + 1) - 1e-9 or documents <= count
