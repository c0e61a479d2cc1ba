"""The background review: when it is due, what it may do, what it costs, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from recorder import Recorder

from hermes_state.listing import SessionFilter
from memory.agent.agent import Agent
from memory.agent.failures import ModelUnreachable
from memory.agent.model import Reply, TokenUsage, ToolCall
from memory.agent.model.scripted import Asked, ScriptedModel, call
from memory.agent.remember import asks_to_remember
from memory.agent.review import ReviewBudget, Reviewed
from memory.agent.surface import Surface
from memory.agent.tools import Tool
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state import SessionDB

NOTHING = "Nothing to save."


def settings(**fields: Any) -> MemorySettings:
    return MemorySettings(**{"nudge_interval": 3, "skill_nudge_interval": 0, "flush_min_turns": 0, **fields})


def turns_with_a_review(agent: Agent, texts: list[str]) -> list[int]:
    found = []
    for number, text in enumerate(texts, 1):
        if agent.turn(text).reviewing:
            found.append(number)
            assert agent.reviewer.wait(10)
    return found


def words(count: int) -> list[str]:
    return [f"sentence number {n}, long enough to matter" for n in range(1, count + 1)]


@pytest.fixture
def reviewer() -> ScriptedModel:
    return ScriptedModel(otherwise=NOTHING, name="cheap")


def test_b101_reviews_come_at_their_interval_and_are_paid_for_under_their_own_name(
    db: SessionDB, reviewer: ScriptedModel
) -> None:
    model = ScriptedModel(otherwise="ok")
    with Agent(db, model, memory=Recorder(), settings=settings(nudge_interval=10), review_model=reviewer) as agent:
        assert turns_with_a_review(agent, words(25)) == [10, 20]
        parent = agent.session_id
        assert len(reviewer.asked) == 2
        reviews = [child for child in db.lineage.children(parent) if child.source == "background_review"]
    assert len(reviews) == 2
    for review in reviews:
        (used,) = db.usage.of_session(review.id)
        assert (used.model, used.task, used.api_calls) == ("cheap", "background_review", 1)
        assert used.input_tokens > 0
        assert review.parent_id == parent
        assert review.end_reason == "done"
    assert [used.task for used in db.usage.of_session(parent)] == [""]
    assert db.sessions.count() == 1  # reviews are no conversations of the user
    assert db.sessions.count(SessionFilter(sources=("background_review",))) == 0


def test_b101_interval_zero_means_never(db: SessionDB, reviewer: ScriptedModel) -> None:
    agent = Agent(
        db, ScriptedModel(otherwise="ok"), memory=Recorder(), settings=settings(nudge_interval=0), review_model=reviewer
    )
    with agent:
        assert turns_with_a_review(agent, [*words(12), "remember that I like tea"]) == []


def test_b103_the_counter_is_not_the_agent_s(db: SessionDB, reviewer: ScriptedModel) -> None:
    session_id, found = None, []
    for number, text in enumerate(words(9), 1):
        agent = Agent(
            db,
            ScriptedModel(otherwise="ok"),
            memory=Recorder(),
            settings=settings(),
            review_model=reviewer,
            session_id=session_id,
        )
        answer = agent.turn(text)
        session_id = answer.session_id
        if answer.reviewing:
            found.append(number)
            assert agent.reviewer.wait(10)
        agent.leave()
    assert found == [3, 6, 9]


_KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from recorder import Recorder
from hermes_state import SessionDB
from memory.agent.agent import Agent
from memory.agent.model.scripted import ScriptedModel
from memory.settings import MemorySettings
db = SessionDB.open(home={home!r})
agent = Agent(db, ScriptedModel(otherwise="ok"), memory=Recorder(), session_id=sys.argv[1] or None,
    review_model=ScriptedModel([lambda _: os.kill(os.getpid(), signal.SIGKILL)]),
    settings=MemorySettings(nudge_interval=2, flush_min_turns=0))
answer = agent.turn("a sentence that is long enough")
print(answer.session_id, int(answer.reviewing), flush=True)
if answer.reviewing:
    agent.reviewer.wait(30)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_b103_kill_between_turns_and_in_the_review_loses_neither(tmp_path: Path) -> None:
    home, session_id, reviewing = tmp_path / "home", "", []
    script = _KILLED.format(tests=os.path.dirname(__file__), home=str(home))  # noqa: PTH120
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", script, session_id], capture_output=True, text=True, timeout=60)
        assert run.returncode == -signal.SIGKILL, run.stderr
        session_id, flag = run.stdout.split()
        reviewing.append(int(flag))
    # The second turn's review is killed, so it is due again at the third.
    assert reviewing == [0, 1, 1]


def test_b104_what_resets_the_counter_and_what_does_not(db: SessionDB, reviewer: ScriptedModel) -> None:
    memory = Recorder(tools=["memory"])
    saves = [call("memory", action="add", content="x"), "saved"]
    model = ScriptedModel(["one", *saves, "three", "four", ModelUnreachable("cut"), "six"], otherwise="ok")
    with Agent(db, model, memory=memory, settings=settings(), review_model=reviewer) as agent:
        texts = words(6)
        assert turns_with_a_review(agent, texts[:4]) == []
        with pytest.raises(ModelUnreachable):  # due now, and cut short
            agent.turn(texts[4])
        assert agent.turn(texts[5]).reviewing
        assert agent.reviewer.wait(10)
        session_id = agent.session_id
    with Agent(
        db,
        ScriptedModel(otherwise="ok"),
        memory=memory,
        settings=settings(),
        review_model=reviewer,
        session_id=session_id,
        platform="cron",
    ) as cron:
        assert turns_with_a_review(cron, words(10)) == []
    with Agent(
        db,
        ScriptedModel(otherwise="ok"),
        memory=memory,
        settings=settings(),
        review_model=reviewer,
        session_id=session_id,
    ) as agent:
        assert not agent.turn("one more turn of the user").reviewing
    assert len(reviewer.asked) == 1  # no review was started by a review


def test_the_review_saves_with_its_own_provenance_and_says_so(db: SessionDB) -> None:
    notices: list[str] = []
    memory = Recorder(tools=["memory", "fact_store"])
    reviewer = ScriptedModel([call("memory", action="add", target="user", content="喜欢乌龙茶"), NOTHING], name="cheap")
    with Agent(
        db,
        ScriptedModel(otherwise="ok"),
        memory=memory,
        settings=settings(),
        review_model=reviewer,
        surface=Surface(notice=notices.append),
    ) as agent:
        assert turns_with_a_review(agent, words(3)) == [3]
        parent = agent.session_id
        last = agent.reviewer.last
    assert last is not None
    assert last.saved == ("user: + 喜欢乌龙茶",)
    assert notices == ["💾 Memory review: user: + 喜欢乌龙茶"]
    (write,) = memory.of("tool")
    assert write["write_origin"] == write["execution_context"] == "background_review"
    assert (write["session_id"], write["parent_session_id"]) == (last.session_id, parent)
    assert reviewer.asked[0].tools == ("memory",)
    stored = [m.role for m in db.messages.list(last.session_id)]
    assert stored == ["user", "assistant", "tool", "assistant"]


def test_a_review_has_memory_tools_only(db: SessionDB) -> None:
    ran: list[str] = []
    tools = [
        Tool(name=name, description="", parameters={}, run=lambda _a, name=name: ran.append(name), reviews=reviews)
        for name, reviews in (("shell", False), ("skill_manage", True))
    ]
    wanted = tuple(ToolCall(id=name, name=name) for name in ("shell", "skill_manage", "fact_store", "session_search"))
    reviewer = ScriptedModel([Reply(tool_calls=wanted), NOTHING], name="cheap")
    memory = Recorder(tools=["memory", "fact_store"])
    with Agent(
        db, ScriptedModel(otherwise="ok"), memory=memory, settings=settings(), review_model=reviewer, tools=tools
    ) as agent:
        turns_with_a_review(agent, words(3))
        assert agent.reviewer.last is not None
        results = [str(m.content) for m in db.messages.list(agent.reviewer.last.session_id, roles=["tool"])]
    assert ran == ["skill_manage"]
    assert ["not available" in result for result in results] == [True, False, True, True]
    assert set(reviewer.asked[0].tools) == {"memory", "skill_manage"}


def test_skills_are_reviewed_after_many_tool_rounds(db: SessionDB) -> None:
    look = Tool(name="look", description="", parameters={}, run=lambda _a: "x")
    manage = Tool(name="skill_manage", description="", parameters={}, run=lambda _a: "ok", reviews=True)
    reviewer = ScriptedModel(otherwise=NOTHING)
    model = ScriptedModel([call("look"), call("look"), "one", call("look"), "two", call("skill_manage"), "three"])
    chosen = settings(nudge_interval=0, skill_nudge_interval=3)
    with Agent(db, model, memory=Recorder(), settings=chosen, review_model=reviewer, tools=[look, manage]) as agent:
        assert turns_with_a_review(agent, words(3)) == [2]
    assert "procedure" in str(reviewer.asked[0].last)
    assert "prefer" not in str(reviewer.asked[0].last)


def test_budget_in_rounds_and_tokens(db: SessionDB) -> None:
    def greedy(asked: Asked) -> Reply | str:
        used = TokenUsage(input_tokens=60)
        wanted = ToolCall(id="c", name="memory", arguments='{"action": "search"}')
        return Reply(tool_calls=(wanted,), usage=used) if asked.tools else NOTHING

    for budget, calls in ((ReviewBudget(iterations=2), 3), (ReviewBudget(tokens=100), 2)):
        reviewer = ScriptedModel(otherwise=greedy)
        with Agent(
            db,
            ScriptedModel(otherwise="ok"),
            memory=Recorder(tools=["memory"]),
            settings=settings(),
            review_model=reviewer,
            review_budget=budget,
        ) as agent:
            turns_with_a_review(agent, words(3))
            assert agent.reviewer.last is not None
            assert not agent.reviewer.last.cancelled
        assert len(reviewer.asked) == calls


@pytest.fixture
def stuck() -> Iterator[tuple[ScriptedModel, threading.Event, threading.Event]]:
    begun, go_on = threading.Event(), threading.Event()

    def think(_asked: Asked) -> Reply:
        begun.set()
        go_on.wait(10)
        return call("memory", "too late to say", action="add", content="late")

    yield ScriptedModel([think], otherwise=NOTHING), begun, go_on
    go_on.set()


def test_the_next_turn_does_not_wait_and_no_second_review_starts(
    db: SessionDB, stuck: tuple[ScriptedModel, threading.Event, threading.Event]
) -> None:
    reviewer, begun, go_on = stuck
    memory = Recorder(tools=["memory"])
    chosen = settings(nudge_interval=1)
    with Agent(db, ScriptedModel(otherwise="ok"), memory=memory, settings=chosen, review_model=reviewer) as agent:
        assert agent.turn("a first sentence to think about").reviewing
        assert begun.wait(5)
        assert not agent.turn("a second sentence meanwhile").reviewing
        go_on.set()
        assert agent.reviewer.wait(5)
        assert agent.turn("a third sentence afterwards").reviewing
        assert agent.reviewer.wait(5)


def test_a_cancelled_review_writes_nothing_more_and_is_due_again(
    db: SessionDB, stuck: tuple[ScriptedModel, threading.Event, threading.Event]
) -> None:
    reviewer, begun, go_on = stuck
    memory = Recorder(tools=["memory"])
    agent = Agent(
        db, ScriptedModel(otherwise="ok"), memory=memory, settings=settings(nudge_interval=1), review_model=reviewer
    )
    assert agent.turn("a first sentence to think about").reviewing
    assert begun.wait(5)
    threading.Timer(0.05, go_on.set).start()
    assert agent.reviewer.cancel(5)
    assert memory.entries == []
    assert agent.reviewer.last is not None
    assert agent.reviewer.last.cancelled
    session_id = agent.session_id
    agent.leave()
    with Agent(
        db,
        ScriptedModel(otherwise="ok"),
        memory=memory,
        settings=settings(nudge_interval=50),
        review_model=reviewer,
        session_id=session_id,
    ) as later:
        assert later.turn("and a second one, much later").reviewing
        assert later.reviewer.wait(5)


def test_a_failing_review_costs_no_turn(db: SessionDB) -> None:
    notices: list[str] = []
    reviewer = ScriptedModel([ModelUnreachable("the review's model is away")], otherwise=NOTHING)
    with Agent(
        db,
        ScriptedModel(otherwise="ok"),
        memory=Recorder(),
        settings=settings(),
        review_model=reviewer,
        surface=Surface(notice=notices.append),
    ) as agent:
        assert turns_with_a_review(agent, words(4)) == [3]
        last = agent.reviewer.last
    assert last == Reviewed(session_id=last.session_id if last else "", error="the review's model is away")
    assert notices == ["memory review failed: the review's model is away"]


def test_another_model_gets_a_digest_of_what_is_old(db: SessionDB, reviewer: ScriptedModel) -> None:
    with Agent(
        db,
        ScriptedModel(otherwise="answer " * 60),
        memory=Recorder(),
        settings=settings(nudge_interval=20),
        review_model=reviewer,
    ) as agent:
        turns_with_a_review(agent, words(20))
    messages = reviewer.asked[0].messages
    assert [m["role"] for m in messages[:2]] == ["system", "user"]
    assert messages[1]["content"].startswith("Earlier:\nUSER: sentence number 1")
    assert len(messages) == 1 + 1 + 24 + 1
    assert max(len(line) for line in messages[1]["content"].splitlines()) < 320


def test_the_conversation_s_own_model_gets_the_same_prefix(db: SessionDB) -> None:
    model = ScriptedModel(["one", "two", "three", NOTHING])
    with Agent(db, model, memory=Recorder(), settings=settings()) as agent:
        assert turns_with_a_review(agent, words(3)) == [3]
    before = model.asked[2].messages
    assert model.asked[3].messages[: len(before)] == before


# --- asked for --------------------------------------------------------------------------------------------------

ASKS = [
    "Remember that I take tea",
    "please remember my birthday",
    "don't forget: the key is under the mat",
    "我喜欢茶，记住",
    "別忘了我是素食者",
    "私はお茶が好きです。覚えておいて",
    "내 생일은 5월 3일이야. 기억해 줘",
    "Recuerda que soy vegano",
    "Souviens-toi que je suis végane",
    "Merk dir, dass ich Tee mag",
    "Lembre-se de que sou vegano",
    "Запомни, что я пью чай",
    "تذكر أنني نباتي",
    "याद रखो कि मैं चाय पीता हूँ",
]
DOES_NOT_ASK = [
    "do you remember what I take?",
    "I can't remember the name",
    "remember when we met?",
    "你还记得我喜欢什么吗？",
    "覚えていますか",
    "기억나?",
    "¿Recuerdas mi nombre?",
    "Erinnerst du dich?",
    "Ты помнишь?",
    "هل تتذكر اسمي؟",
    "an unforgettable memory",
]


@pytest.mark.parametrize("text", ASKS)
def test_asking_to_remember(text: str) -> None:
    assert asks_to_remember(text)


@pytest.mark.parametrize("text", DOES_NOT_ASK)
def test_not_asking_to_remember(text: str) -> None:
    assert not asks_to_remember(text)


def test_asking_starts_a_review_unless_the_agent_saved_it_itself(db: SessionDB, reviewer: ScriptedModel) -> None:
    model = ScriptedModel(["ok", call("memory", action="add", content="tea"), "saved"])
    memory = Recorder(tools=["memory"])
    with Agent(db, model, memory=memory, settings=settings(nudge_interval=50), review_model=reviewer) as agent:
        assert turns_with_a_review(agent, ["记住我喜欢乌龙茶", "and remember that I like cake"]) == [1]


# --- flush ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("turns", "flushed"), [(1, 0), (2, 1), (3, 1)])
def test_flush_min_turns(db: SessionDB, turns: int, flushed: int) -> None:
    memory = Recorder(tools=["memory"])
    reviewer = ScriptedModel([call("memory", action="add", content="flushed")], otherwise=NOTHING)
    chosen = settings(nudge_interval=50, flush_min_turns=2)
    agent = Agent(db, ScriptedModel(otherwise="ok"), memory=memory, settings=chosen, review_model=reviewer)
    turns_with_a_review(agent, words(turns))
    agent.new()
    assert len(memory.of("tool")) == flushed
    if flushed:
        assert memory.hooks.index("tool") < memory.hooks.index("on_session_end")
    agent.close()
    assert len(memory.of("on_session_end")) == 1  # nothing was said in the new one


def test_without_the_tools_of_memory_there_is_no_review(db: SessionDB, reviewer: ScriptedModel) -> None:
    """B161: it could save nothing, and would be paid for; neither at its interval nor at the end."""
    off = settings(disabled_toolsets=("memory",), flush_min_turns=1)
    with Agent(db, ScriptedModel(otherwise="ok"), memory=Recorder(), settings=off, review_model=reviewer) as agent:
        assert turns_with_a_review(agent, [*words(7), "remember that I am vegan"]) == []
    assert reviewer.asked == []
