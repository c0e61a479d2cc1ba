"""Where a search looks: what is hidden, what a filter leaves, in whatever order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from search_world import texts

from hermes_state.errors import InvalidValue, SessionNotFound

if TYPE_CHECKING:
    from search_world import Say

    from hermes_state import SessionDB

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_delegates_are_hidden_unless_asked_for_and_then_name_their_parent(db: SessionDB, say: Say) -> None:
    """B010: a sub-agent's work is not the person's conversation, whatever its source says."""
    parent = say("hello", source="telegram")
    child = say("platypus 鸭嘴兽", source="telegram", title="platypus facts", parent_id=parent, relation="delegate")
    for query in ("platypus", "鸭嘴", "鸭嘴兽", "facts"):
        assert db.search.messages(query) == []
        assert db.search.conversations(query) == []
    (hit,) = db.search.messages("platypus", include_children=True)
    assert (hit.session_id, hit.parent_id, hit.relation) == (child, parent, "delegate")
    assert [hit.session_id for hit in db.search.messages("is:child platypus")] == [child]


def test_a_reset_parent_is_another_conversation_and_a_compressed_one_is_the_same(db: SessionDB, say: Say) -> None:
    """B011: leaving out the current conversation leaves out its segments and nothing else."""
    before_reset = say("blue heron")
    after_reset = say("hello", parent_id=before_reset, relation="reset")
    assert [h.session_id for h in db.search.messages("heron", exclude_conversation=after_reset)] == [before_reset]
    compressed = say("blue heron again")
    child = db.lineage.rotate(compressed, [{"role": "user", "content": "summary"}]).child.id
    found = {h.session_id for h in db.search.messages("heron", exclude_conversation=child)}
    assert found == {before_reset}


def test_context_is_of_the_hits_own_session(db: SessionDB) -> None:
    """B013: neighbours are those in the session, however sessions interleave in the store."""
    one, two = db.sessions.create(source="cli").id, db.sessions.create(source="cli").id
    for session, text in ((one, "before"), (two, "noise1"), (one, "needle"), (two, "noise2"), (one, "after")):
        db.messages.append(session, role="user", content=text)
    (hit,) = db.search.messages("needle")
    assert [message.text for message in hit.context] == ["before", "needle", "after"]
    assert [message.is_hit for message in hit.context] == [False, True, False]


def test_context_leaves_out_what_was_taken_back(db: SessionDB, say: Say) -> None:
    """A rewound message is nobody's neighbour; the next one that stands is."""
    session = say("first", "needle", "taken back", "taken back too")
    db.messages.rewind(session, last=2)
    db.messages.append(session, role="user", content="instead")
    (hit,) = db.search.messages("needle")
    assert [message.text for message in hit.context] == ["first", "needle", "instead"]
    assert db.search.messages("taken") == []


def test_long_texts_are_cut_and_the_snippet_shows_the_match(db: SessionDB, say: Say) -> None:
    """B014: a hit never carries a whole tool output, and shows the place that was found."""
    output = "filler " * 13_000 + "needle " + "filler " * 1_000
    say(
        "before",
        {"role": "tool", "content": output, "tool_name": "terminal"},
        {"role": "tool", "content": "x " * 50_000},
    )
    (hit,) = db.search.messages("needle")
    assert ">>>needle<<<" in hit.snippet
    assert len(hit.snippet) < 200
    assert all(len(message.text) <= 201 for message in hit.context)
    assert [message.is_cut for message in hit.context] == [False, True, True]


def test_filters_hold_before_the_limit(db: SessionDB, say: Say) -> None:
    """B019: two hundred messages of the current session do not hide the four old ones."""
    old = [say("alpha once") for _ in range(4)]
    current = say(*["alpha alpha"] * 200)
    for sort in ("relevance", "newest", "oldest"):
        found = db.search.messages("alpha", limit=5, exclude_conversation=current, sort=sort)
        assert {hit.session_id for hit in found} == set(old), sort


def test_hidden_messages_do_not_crowd_out_visible_ones(db: SessionDB, say: Say) -> None:
    """A thousand hits in delegates' sessions, newer than the visible one, leave it findable."""
    visible = say("alpha decision")
    parent = say("hello")
    say(*["alpha"] * 1_000, parent_id=parent, relation="delegate")
    assert [hit.session_id for hit in db.search.messages("alpha", limit=3)] == [visible]
    assert [hit.session_id for hit in db.search.messages("alpha", limit=3, sort="newest")] == [visible]


def test_role_source_tool_and_model_filter(db: SessionDB, say: Say) -> None:
    """Each filter takes one name or several, by argument or in the query, plain or negated."""
    say(
        {"role": "user", "content": "zeta q"},
        {"role": "assistant", "content": "zeta a"},
        source="cli",
        model="gpt-5-mini",
    )
    say({"role": "tool", "content": "zeta t", "tool_name": "read_file"}, source="cron", model="claude-opus")
    assert texts(db, "zeta", role="user") == ["zeta q"]
    assert set(texts(db, "zeta", role=["user", "tool"])) == {"zeta q", "zeta t"}
    assert set(texts(db, "zeta role:user,tool")) == {"zeta q", "zeta t"}
    assert texts(db, "zeta -role:user", source="cli") == ["zeta a"]
    assert texts(db, "zeta", exclude_sources=["cli"]) == ["zeta t"]
    assert texts(db, "zeta tool:READ_FILE") == ["zeta t"]
    assert texts(db, "zeta", model="opus") == ["zeta t"]
    assert set(texts(db, "zeta -model:opus")) == {"zeta q", "zeta a"}
    assert texts(db, "role:tool") == ["zeta t"]


def test_session_filters_mean_the_whole_conversation(db: SessionDB, say: Say) -> None:
    """An id or a title names a conversation; one that there is not is an error of the call, but a note of a query."""
    session = say("omega one", title="release plan")
    child = db.lineage.rotate(session, [{"role": "user", "content": "summary"}]).child.id
    db.messages.append(child, role="user", content="omega two")
    say("omega elsewhere")
    for ref in (session, child, "release plan"):
        assert set(texts(db, "omega", session=ref)) == {"omega one", "omega two"}
    assert set(texts(db, 'omega session:"release plan"')) == {"omega one", "omega two"}
    with pytest.raises(SessionNotFound):
        db.search.messages("omega", session="no such session")
    hits = db.search.messages("omega session:nosuch")
    assert hits == []
    assert any("nosuch" in note for note in hits.notes)


def test_times_filter_exactly(db: SessionDB) -> None:
    """`after` is in, `before` is not; an import of old messages changes nothing."""
    session = db.sessions.create(source="cli").id
    for day in (5, 1, 3):
        db.messages.append(session, role="user", content=f"sigma {day}", created_at=NOON + timedelta(days=day))
    assert texts(db, "sigma", after=NOON + timedelta(days=3), sort="oldest") == ["sigma 3", "sigma 5"]
    assert texts(db, "sigma", before=NOON + timedelta(days=3)) == ["sigma 1"]
    assert texts(db, "sigma after:2026-03-04 before:2026-03-06") == ["sigma 3"]
    assert texts(db, "after:2026-03-05", sort="oldest") == ["sigma 5"]


def test_archived_and_compacted_messages_are_found_and_say_so(db: SessionDB, say: Say) -> None:
    """Archiving hides from lists, not from search; what was summarised away is still there."""
    session = say("kappa old", "kappa older")
    db.messages.compact(session, [{"role": "user", "content": "a summary"}])
    db.sessions.archive(session)
    hits = db.search.messages("kappa")
    assert [(hit.is_archived, hit.is_compacted) for hit in hits] == [(True, True)] * 2
    assert db.search.messages("kappa", include_archived=False) == []
    assert db.search.messages("kappa -is:archived") == []
    assert len(db.search.messages("kappa is:compacted")) == 2


@pytest.mark.parametrize("page", [{"limit": -1}, {"limit": 100_000}, {"offset": -1}, {"context": -1}, {"sort": "best"}])
def test_a_page_that_there_is_not_is_refused(db: SessionDB, page: dict[str, object]) -> None:
    """A wrong argument is the caller's error, never an empty answer."""
    with pytest.raises(InvalidValue):
        db.search.messages("x", **page)  # type: ignore[arg-type]


def test_pages_join_without_gap_or_overlap(db: SessionDB, say: Say) -> None:
    """The pages of an answer are the answer, beyond what is ranked closely as well."""
    say(*(f"rho number {n} " + "more " * (n % 7) for n in range(900)))
    for sort in ("relevance", "newest", "oldest"):
        pages = [db.search.messages("rho", limit=100, offset=at, sort=sort, context=0) for at in range(0, 1_000, 100)]
        ids = [hit.message_id for page in pages for hit in page]
        assert len(set(ids)) == len(ids) == 900
        assert ids[:250] == [hit.message_id for hit in db.search.messages("rho", limit=250, sort=sort, context=0)]


@pytest.mark.sqlite_only
def test_a_damaged_neighbour_does_not_cost_the_hit(db: SessionDB, say: Say) -> None:
    session = say("before", "needle", "after")
    first, *_ = db.messages.list(session)
    with db.engine.write() as connection:
        connection.exec_driver_sql("UPDATE messages SET content = x'28b52ffd00' WHERE id = ?", (first.id,))
    (hit,) = db.search.messages("needle")
    assert [message.text for message in hit.context] == ["[unreadable]", "needle", "after"]
