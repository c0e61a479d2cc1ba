"""Titles: unique, numbered in families, found again."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from hermes_state.errors import InvalidValue, SessionNotFound, TitleTaken

if TYPE_CHECKING:
    from hermes_state.store import SessionDB


def titled(db: SessionDB, *titles: str) -> list[str]:
    """Sessions with these titles, started one second apart."""
    return [
        db.sessions.create(source="cli", title=title, started_at=datetime(2026, 1, 1, 0, 0, n, tzinfo=UTC)).id
        for n, title in enumerate(titles)
    ]


def test_an_automatic_title_takes_the_next_number(db: SessionDB) -> None:
    """B047: of two sessions with one automatic title the second becomes `#2`; a person's choice is refused instead."""
    (first,) = titled(db, "Garden plan")
    second, third = db.sessions.create(source="cli").id, db.sessions.create(source="cli").id
    assert db.sessions.auto_title(second, "Garden plan").title == "Garden plan #2"
    with pytest.raises(TitleTaken) as refused:
        db.sessions.rename(third, "Garden plan")
    assert refused.value.holder == first
    assert "cli" in str(refused.value)
    assert db.sessions.resolve("Garden plan").id == second


def test_the_refusal_says_that_the_holder_is_archived(db: SessionDB) -> None:
    """A person who can't see the holder in a list learns why."""
    (first,) = titled(db, "plan")
    db.sessions.archive(first)
    with pytest.raises(TitleTaken, match="archived"):
        db.sessions.rename(db.sessions.create(source="cli").id, "plan")


def test_concurrent_automatic_titles_are_all_different(db: SessionDB) -> None:
    """B047: eight threads that title their sessions alike get eight titles."""
    ids = [db.sessions.create(source="cli").id for _ in range(8)]
    threads = [threading.Thread(target=db.sessions.auto_title, args=(i, "Garden plan")) for i in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {db.sessions.get(i).title for i in ids} == {"Garden plan", *(f"Garden plan #{n}" for n in range(2, 9))}


def test_a_free_title_with_a_number_is_kept(db: SessionDB) -> None:
    """`Fix issue #42` is what the user wrote: nothing is cut off, and it is found by what it says."""
    session = db.sessions.create(source="cli").id
    assert db.sessions.auto_title(session, "Fix issue #42").title == "Fix issue #42"
    assert db.sessions.resolve("Fix issue #42").id == session


def test_a_number_of_the_user_is_never_counted_up(db: SessionDB) -> None:
    """What follows `Fix issue #42` is not issue 43, and the title finds its newest successor."""
    (first,) = titled(db, "Fix issue #42")
    child = db.lineage.rotate(first, [{"role": "user", "content": "summary"}]).child
    assert child.title == "Fix issue #42 #2"
    assert db.sessions.resolve("Fix issue #42").id == child.id


def test_the_succession_goes_on_from_the_highest_number(db: SessionDB) -> None:
    """A gap that a deletion left is not filled: #2 may have been another conversation."""
    _, second, third = titled(db, "plan", "plan #2", "plan #3")
    db.sessions.delete(second)
    assert db.lineage.branch(third).title == "plan #4"


def test_a_title_does_not_find_another_that_only_starts_alike(db: SessionDB) -> None:
    """`plan` is not `plan #todo list`, and wildcards of a title mean nothing."""
    titled(db, "plan #todo list", "100% done", "a_b")
    for ref in ("plan", "100%", "1%", "a%b", "axb", "PLAN #todo list"):
        with pytest.raises(SessionNotFound):
            db.sessions.resolve(ref)
    assert db.sessions.resolve("a_b").title == "a_b"


def test_a_long_title_keeps_its_number_within_the_limit(db: SessionDB) -> None:
    """The base gives way, never the number."""
    titled(db, "x" * 100)
    second = db.sessions.auto_title(db.sessions.create(source="cli").id, "x" * 100).title
    third = db.sessions.auto_title(db.sessions.create(source="cli").id, "x" * 100).title
    assert second is not None
    assert third is not None
    assert len({second, third}) == 2
    assert max(len(second), len(third)) == 100
    assert second.endswith(" #2")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  two \t words\n", "two words"),
        ("t\ud83d", "t"),
        ("a\x00b\x1b[31m", "ab[31m"),
        ("a\u202eb", "ab"),
        ("می\u200cدانم", "می\u200cدانم"),
        ("👩\u200d💻 work", "👩\u200d💻 work"),
        ("\u200b\u200d", None),
        ("", None),
    ],
)
def test_a_title_is_cleaned(db: SessionDB, given: str, kept: str | None) -> None:
    """B037: control, bidi and surrogate code points go; joiners that words and emoji need stay."""
    session = db.sessions.create(source="cli").id
    assert db.sessions.rename(session, given).title == kept


def test_a_title_that_is_too_long_is_refused(db: SessionDB) -> None:
    """101 characters are an error of the caller, not a silent cut."""
    with pytest.raises(InvalidValue):
        db.sessions.create(source="cli", title="x" * 101)
    assert db.sessions.count() == 0


def test_an_automatic_title_is_cut_instead(db: SessionDB) -> None:
    """A model that answers with a page still gives a title, whatever white space it starts with."""
    session = db.sessions.create(source="cli").id
    title = db.sessions.auto_title(session, "  \n" + "word " * 100).title
    assert title is not None
    assert title.startswith("word word")
    assert len(title) <= 100


def test_an_automatic_title_never_replaces_one(db: SessionDB) -> None:
    """What a person called it stays."""
    (session,) = titled(db, "mine")
    assert db.sessions.auto_title(session, "theirs").title == "mine"


def test_a_compressed_conversation_moves_its_title_on(db: SessionDB) -> None:
    """Renaming the tip to what an earlier segment is called takes the title over."""
    (first,) = titled(db, "plan")
    child = db.lineage.rotate(first, [{"role": "user", "content": "summary"}]).child
    assert child.title == "plan #2"
    assert db.sessions.rename(child.id, "plan").title == "plan"
    assert db.sessions.get(first).title is None


def test_a_family_of_thousands_is_no_trouble(db: SessionDB) -> None:
    """A title used 300 times still resolves, to the newest, and gives the next number."""
    titled(db, "nightly", *(f"nightly #{n}" for n in range(2, 60)))
    assert db.sessions.resolve("nightly").title == "nightly #59"
    assert db.sessions.auto_title(db.sessions.create(source="cli").id, "nightly").title == "nightly #60"
