"""What comes first, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from search_world import texts

from hermes_state.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from search_world import Say

    from hermes_state import SessionDB
    from hermes_state.text import Query

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_line_that_says_it_stands_above_output_that_repeats_it(db: SessionDB, say: Say) -> None:
    """B019: a tool row of 50 kB with a word a thousand times does not outrank the decision."""
    say({"role": "tool", "content": "alpha spam filler words and more of them here " * 1_000, "tool_name": "terminal"})
    say("alpha decision")
    assert [hit.role for hit in db.search.messages("alpha")] == ["user", "tool"]


def test_all_words_come_before_some_words(db: SessionDB, say: Say) -> None:
    """A message with every word stands above those that repeat one of them."""
    say("redis redis redis redis", "upgrade upgrade upgrade", "the redis upgrade went well", "upgrade")
    assert texts(db, "redis upgrade")[0] == "the redis upgrade went well"
    assert len(texts(db, "redis upgrade")) == 4


def test_a_question_needs_not_every_word(db: SessionDB, say: Say) -> None:
    """Natural questions find the answer although it shares only some words."""
    say("we moved the staging cluster to Frankfurt because of latency")
    say("lunch was good", "what time is it?", "how did you do that?")
    assert "Frankfurt" in texts(db, "why did they move the staging cluster to another region?")[0]


def test_one_weak_message_with_all_words_hides_nothing(db: SessionDB, say: Say) -> None:
    """A tool dump that happens to hold all words does not keep the people's lines out of sight."""
    filler = "lorem ipsum dolor sit amet " * 400
    say({"role": "tool", "content": f"kafka {filler} consumer {filler} lag {filler}"})
    say("kafka consumer keeps falling behind", "the lag of the kafka consumer group is back to zero")
    found = texts(db, "kafka consumer lag")
    assert found[0] == "the lag of the kafka consumer group is back to zero"
    assert found[1] == "kafka consumer keeps falling behind"


def test_neighbours_carry_evidence(db: SessionDB, say: Say) -> None:
    """Of two equal messages the one beside others about the subject stands first."""
    say("postgres migration plan for billing", "we could do it on sunday", "billing migration needs postgres 16")
    say("nice weather", "we could do it on sunday", "see you")
    first, second = db.search.messages("sunday postgres migration", limit=10)[-2:]
    assert first.score > second.score
    assert "billing" in first.context[0].text


def test_automation_stands_below_people(db: SessionDB, say: Say) -> None:
    """The same words count less in a cron job's session."""
    say("nightly report ready", source="cron")
    say("nightly report ready", source="telegram")
    assert [hit.source for hit in db.search.messages("nightly report")] == ["telegram", "cron"]


def test_of_equal_hits_the_newer_is_first_and_ties_are_stable(db: SessionDB) -> None:
    """Recency is mild: it orders what is otherwise equal. The order is always the same."""
    session = db.sessions.create(source="cli").id
    for n in (2, 0, 1):
        db.messages.append(session, role="user", content="gimel", created_at=NOON + timedelta(days=40 * n))
        for _ in range(3):
            db.messages.append(session, role="user", content="filler", created_at=NOON)
    days = [hit.created_at for hit in db.search.messages("gimel")]
    assert days == sorted(days, reverse=True)
    other = db.sessions.create(source="cli").id
    for _ in range(4):
        db.messages.append_many(
            other, [{"role": "user", "content": "daleth", "created_at": NOON}] + [{"role": "user", "content": "-"}] * 3
        )
    ids = [hit.message_id for hit in db.search.messages("daleth")]
    assert ids == sorted(ids, reverse=True)
    assert ids == [hit.message_id for hit in db.search.messages("daleth")]


def test_newest_and_oldest_are_exact_although_an_import_came_late(db: SessionDB) -> None:
    """Order of time is the time that was said, not the order in which it was stored."""
    session = db.sessions.create(source="cli").id
    rows = [
        {"role": "user", "content": f"he {n}", "created_at": NOON + timedelta(minutes=(n * 7919) % 5_000)}
        for n in range(5_000)
    ]
    db.messages.append_many(session, rows)
    wanted = sorted((row["created_at"] for row in rows), reverse=True)
    newest = [hit.created_at for hit in db.search.messages("he", sort="newest", limit=50)]
    oldest = [hit.created_at for hit in db.search.messages("he", sort="oldest", limit=50)]
    assert newest == wanted[:50]
    assert oldest == wanted[::-1][:50]


def test_by_time_several_words_mean_all_of_them(db: SessionDB, say: Say) -> None:
    """A list by time of any-word matches would be noise; a note says what is listed."""
    say("waw one", "waw zayin", "zayin two")
    hits = db.search.messages("waw zayin", sort="newest")
    assert [hit.snippet for hit in hits] == [">>>waw<<< >>>zayin<<<"]
    assert hits.notes
    assert len(db.search.messages("waw OR zayin", sort="newest")) == 3
    assert len(db.search.messages("waw nothere", sort="newest")) == 2


@pytest.mark.parametrize(
    "question",
    [
        "what did we decide about the heth on 13 October 2025?",
        "heth decision in October 2025",
        "heth 2025-10-13",
        "2025年10月13日 heth",
    ],
)
def test_a_date_in_the_question_raises_messages_of_that_date(db: SessionDB, question: str) -> None:
    """People remember when something was said; that orders, and leaves nothing out."""
    session = db.sessions.create(source="cli").id
    for month in range(1, 13):
        db.messages.append(
            session, role="user", content=f"heth is fine, {month}", created_at=datetime(2025, month, 13, 9, tzinfo=UTC)
        )
    found = db.search.messages(question)
    assert found[0].created_at.month == 10
    assert len(found) == 12


def test_conversations_come_once_with_the_session_to_resume(db: SessionDB, say: Say) -> None:
    """A conversation is one hit over all its segments; the best one comes first."""
    first = say("teth teth in the first part")
    tip = db.lineage.rotate(first, [{"role": "user", "content": "summary of teth"}]).child.id
    other = say("teth once and much else that is not about it " * 5)
    hits = db.search.conversations("teth")
    assert [hit.conversation_id for hit in hits] == [tip, other]
    assert hits[0].session_id in (first, tip)
    assert hits[0].hit_count == 2
    assert hits[0].best is not None
    assert hits[0].snippet == hits[0].best.snippet
    assert hits[0].context


def test_titles_count_for_conversations(db: SessionDB, say: Say) -> None:
    """A title says what a conversation is about, even when no message does."""
    mentions = say("we also talked about the yod launch")
    titled = say("everything is prepared", title="Yod launch")
    hits = db.search.conversations("yod launch")
    assert [hit.conversation_id for hit in hits] == [titled, mentions]
    assert hits[0].title_matches
    assert hits[0].best is None
    assert not hits[1].title_matches
    assert db.search.conversations("yod launch", role="user", source="cli")[0].conversation_id == titled


def test_words_spread_over_a_conversation_count(db: SessionDB, say: Say) -> None:
    """A conversation that says all of it in different turns stands above one that says a part."""
    both = say("kaph was ordered", "unrelated", "unrelated too", "also unrelated", "lamed arrived")
    say("kaph kaph", "unrelated")
    say("lamed lamed", "unrelated")
    assert db.search.conversations("kaph lamed")[0].conversation_id == both


def test_explanations_add_up(db: SessionDB, say: Say) -> None:
    """`explain` shows the parts a score is made of, and what was looked for."""
    say("mem nun", "mem", "nun samekh")
    hits = db.search.messages("mem nun", explain=True)
    for hit in hits:
        why = hit.why
        assert why is not None
        assert why.own * why.factor + why.beside + why.date == pytest.approx(hit.score)
        assert {piece.piece for piece in why.pieces} <= {"mem", "nun"}
    assert [(piece.piece, piece.messages, piece.is_cut) for piece in hits.explanation.pieces] == [
        ("mem", 2, False),
        ("nun", 2, False),
    ]
    assert hits.explanation.is_whole
    assert db.search.messages("mem")[0].why is None


def test_other_rankers_are_fused_by_rank(db: SessionDB, say: Say) -> None:
    """An embedding can bring in what shares no word; what it must not show stays hidden."""
    said = say("samekh ayin", "the very same in other words", "something else")
    first, second, _ = (message.id for message in db.messages.list(said))
    hidden = say("secret", parent_id=say("parent"), relation="delegate")
    (secret,) = [hit.message_id for hit in db.search.messages("secret", session=hidden, include_children=True)]

    class Fake:
        weight = 1.0

        def rank(self, query: Query, limit: int) -> Sequence[int]:
            return [secret, second, first][:limit]

    fused = Search(db.engine, rankers=[Fake()])
    assert [hit.message_id for hit in fused.messages("samekh")] == [first, second]
    assert [hit.message_id for hit in db.search.messages("samekh")] == [first]


def test_common_words_are_cut_off_and_it_is_said(db: SessionDB, say: Say) -> None:
    """Only the newest of thousands of messages with a common word are ranked; a rare word beside it reaches back."""
    say("pe tsade")
    for _ in range(5):
        say(*("pe and something" for _ in range(500)))
    hits = db.search.messages("pe", explain=True)
    assert not hits.explanation.is_whole
    assert hits.explanation.pieces[0].is_cut
    assert 2_000 < hits.explanation.pieces[0].messages <= 2_501
    assert texts(db, "pe tsade")[0] == "pe tsade"
