"""Sessions begin, go on elsewhere and end; providers hear of it in order, and of an end exactly once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from recorder import Recorder

from hermes_state.errors import NotFound, SessionNotFound
from hermes_state.records import Relation
from memory.agent.agent import Agent
from memory.agent.delegation import delegate_tool
from memory.agent.model.scripted import ScriptedModel, call
from memory.agent.tools import Tool
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state import SessionDB

QUIET = MemorySettings(nudge_interval=0, flush_min_turns=0, protect_last_n=2, compression_in_place=False)


def agent_on(db: SessionDB, memory: Recorder, **more: Any) -> Agent:
    more = {"model": ScriptedModel(otherwise="ok"), "settings": QUIET, **more}
    return Agent(db, memory=memory, **more)


def switches(memory: Recorder) -> list[tuple[str, str, bool, bool, str]]:
    return [tuple(given.values()) for given in memory.of("on_session_switch")]  # type: ignore[misc]


def test_b085_the_provider_follows_the_session(db: SessionDB) -> None:
    memory = Recorder()
    model = ScriptedModel(["1", "2", "3", "4", "SUMMARY", "5"])
    with agent_on(db, memory, model=model) as agent:
        s1 = agent.turn("a sentence for session one").session_id
        agent.new()
        s2 = agent.turn("a sentence for session two").session_id
        agent.resume(s1)
        agent.turn("back in session one, again")
        agent.turn("and once more in session one")
        agent.compress()
        s3 = agent.turn("after the compression of it").session_id
    assert len({s1, s2, s3}) == 3
    assert switches(memory) == [
        (s2, "", True, False, "new_session"),
        (s1, "", False, False, "resume"),
        (s3, s1, False, False, "compression"),
    ]
    assert [turn["session_id"] for turn in memory.of("sync_turn")] == [s1, s2, s1, s1, s3]


def test_b086_resuming_has_no_parent(db: SessionDB) -> None:
    memory = Recorder()
    with agent_on(db, memory) as agent:
        agent.turn("the first conversation of all")
        agent.rename("garden")
        agent.new("kitchen")
        agent.turn("the second conversation of all")
        assert agent.resume("garden").title == "garden"
    assert switches(memory)[-1][1:] == ("", False, False, "resume")


def test_the_end_is_told_before_the_switch_with_everything_said(db: SessionDB) -> None:
    memory = Recorder()
    with agent_on(db, memory) as agent:
        agent.turn("the first thing that I say")
        agent.turn("the second thing that I say")
        agent.new()
    hooks = memory.hooks
    assert hooks.index("on_session_end") < hooks.index("on_session_switch")
    assert memory.of("on_session_end") == [
        {"said": ["the first thing that I say", "ok", "the second thing that I say", "ok"]}
    ]


def test_the_whole_conversation_is_told_also_after_a_compression(db: SessionDB) -> None:
    memory = Recorder()
    model = ScriptedModel(["1", "2", "3", "SUMMARY", "4"])
    with agent_on(db, memory, model=model) as agent:
        for number in range(3):
            agent.turn(f"thing number {number} that I say")
        agent.compress()
        agent.turn("thing number 3 that I say")
    (end,) = memory.of("on_session_end")
    assert end["said"][::2] == [f"thing number {n} that I say" for n in range(4)]
    assert "SUMMARY" not in end["said"]


def test_a_session_after_another_knows_its_origin(db: SessionDB) -> None:
    with agent_on(db, Recorder()) as agent:
        first = agent.turn("one conversation, to begin with").session_id
        agent.new()
        second = agent.turn("another one, which follows it").session_id
    assert db.sessions.get(second).relation == Relation.RESET
    assert db.sessions.get(second).parent_id == first
    assert db.sessions.get(first).end_reason == "new_session"
    assert db.sessions.get(second).end_reason == "close"


def test_branch(db: SessionDB) -> None:
    memory, model = Recorder(), ScriptedModel(otherwise="ok")
    with agent_on(db, memory, model=model) as agent:
        parent = agent.turn("the trunk of the conversation").session_id
        child = agent.branch("other way")
        assert agent.session_id == child.id
        agent.turn("the branch of the conversation")
    assert switches(memory) == [(child.id, parent, False, False, "branch")]
    assert [m["content"] for m in model.asked[1].messages[1:]] == [
        "the trunk of the conversation",
        "ok",
        "the branch of the conversation",
    ]
    assert db.messages.count(parent) == 2
    assert db.sessions.get(child.id).title == "other way"


def test_branching_before_anything_was_said(db: SessionDB) -> None:
    with agent_on(db, Recorder()) as agent, pytest.raises(SessionNotFound):
        agent.branch()


def test_rewind(db: SessionDB) -> None:
    memory, model = Recorder(), ScriptedModel(otherwise="ok")
    with agent_on(db, memory, model=model) as agent:
        agent.turn("one sentence that stays here")
        session_id = agent.turn("one sentence that goes away").session_id
        assert [m.content for m in agent.rewind()] == ["one sentence that goes away", "ok"]
        agent.turn("one sentence in its place now")
    assert switches(memory) == [(session_id, "", False, True, "rewind")]
    assert "goes away" not in str(model.asked[-1].messages)
    assert [m.content for m in db.messages.list(session_id)][::2] == [
        "one sentence that stays here",
        "one sentence in its place now",
    ]


def test_there_is_nothing_to_take_back(db: SessionDB) -> None:
    with agent_on(db, Recorder()) as agent, pytest.raises(NotFound):
        agent.rewind()


# --- ends -------------------------------------------------------------------------------------------------------


def test_b088_ended_explicitly_once(db: SessionDB) -> None:
    memory = Recorder()
    with agent_on(db, memory) as agent:
        agent.turn("something to remember, maybe")
        assert agent.end()
        assert not agent.end()
    assert memory.hooks.count("on_session_end") == 1
    assert memory.hooks[-1] == "shutdown"


def test_b088_by_new_and_by_leaving_the_block(db: SessionDB) -> None:
    memory = Recorder()
    with agent_on(db, memory) as agent:
        agent.turn("something in the first session")
        agent.new()
        agent.turn("something in the second session")
    ends = [end["said"][0] for end in memory.of("on_session_end")]
    assert ends == ["something in the first session", "something in the second session"]


def test_b088_by_idling(db: SessionDB) -> None:
    memory = Recorder()
    with agent_on(db, memory) as agent:
        first = agent.turn("something to remember, maybe").session_id
        assert not agent.end_if_idle(3600)
        assert agent.end_if_idle(0)
        assert not agent.end_if_idle(0)
        assert db.sessions.get(first).end_reason == "idle"
        second = agent.turn("something after a long break").session_id
        assert second != first
        assert switches(memory) == [(second, "", True, False, "new_session")]
    assert memory.hooks.count("on_session_end") == 2


def test_an_end_is_told_only_where_something_was_said(db: SessionDB) -> None:
    memory = Recorder()
    with agent_on(db, memory) as agent:
        session_id = agent.turn("something to remember, maybe").session_id
    with agent_on(db, memory, session_id=session_id):
        pass
    assert memory.hooks.count("on_session_end") == 1


def test_an_error_inside_the_block_still_ends_the_session(db: SessionDB) -> None:
    memory = Recorder()

    def failing() -> None:
        with agent_on(db, memory) as agent:
            agent.turn("something to remember, maybe")
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert memory.hooks.count("on_session_end") == 1


_ENDS = """
import json, os, signal, sys, time
sys.path.insert(0, {tests!r})
from recorder import Recorder
from hermes_state import SessionDB
from memory.agent.agent import Agent
from memory.agent.model.scripted import ScriptedModel
from memory.agent.signals import ending_on_sigterm
from memory.settings import MemorySettings
how, log = sys.argv[1], sys.argv[2]
class Told(Recorder):
    def _note(self, hook, **arguments):
        super()._note(hook, **arguments)
        with open(log, "a") as file:
            file.write(hook + " " + str(len(arguments.get("said", []))) + "\\n")
def slow(_asked):
    print("thinking", flush=True)
    time.sleep(30)
db = SessionDB.open(home={home!r})
model = ScriptedModel(["one", slow])
settings = MemorySettings(nudge_interval=0, flush_min_turns=1)
if how == "exit":
    agent = Agent(db, model, memory=Told(), settings=settings)
    agent.turn("something to remember, maybe")
else:
    with ending_on_sigterm(), Agent(db, model, memory=Told(), settings=settings) as agent:
        agent.turn("something to remember, maybe")
        agent.turn("something that takes too long")
"""


@pytest.mark.parametrize("how", ["exit", "sighup"])
def test_b088_by_signal_and_at_the_interpreter_s_exit(tmp_path: Path, how: str) -> None:
    log = tmp_path / "log"
    script = _ENDS.format(tests=os.path.dirname(__file__), home=str(tmp_path / "home"))  # noqa: PTH120
    command = [sys.executable, "-c", script, how, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        if how != "exit":
            assert run.stdout is not None
            assert run.stdout.readline() == "thinking\n"
            run.send_signal(signal.SIGTERM if how == "sigterm" else signal.SIGHUP)
        _, errors = run.communicate(timeout=30)
    assert run.returncode == (0 if how == "exit" else 143), errors
    told = [line.split() for line in log.read_text().splitlines()]
    ends = [int(said) for hook, said in told if hook == "on_session_end"]
    assert ends == [2 if how == "exit" else 3]
    assert told[-1][0] == "shutdown"


def test_a_session_can_be_left_without_an_end(db: SessionDB) -> None:
    memory = Recorder()
    agent = agent_on(db, memory)
    session_id = agent.turn("something to remember, maybe").session_id
    agent.leave()
    assert "on_session_end" not in memory.hooks
    assert db.sessions.get(session_id).ended_at is None


# --- delegation -------------------------------------------------------------------------------------------------


def test_a_child_works_without_memory_and_the_parent_s_hears_of_it(db: SessionDB) -> None:
    memory = Recorder({"report": "- secret"}, tools=["memory"])
    look = Tool(name="look", description="", parameters={}, run=lambda _a: {"seen": 3})
    model = ScriptedModel(["parent", call("look"), "three things", "done"])
    with agent_on(db, memory, model=model, tools=[look]) as agent:
        parent = agent.turn("a sentence of the parent").session_id
        done = agent.delegate("write the report")
    assert done.result == "three things"
    child = db.sessions.get(done.session_id)
    assert (child.relation, child.parent_id, child.source) == (Relation.DELEGATE, parent, "subagent")
    assert model.asked[1].tools == ("look",)
    assert "secret" not in str(model.asked[1].messages)
    assert memory.of("on_delegation") == [
        {"task": "write the report", "result": "three things", "child": done.session_id}
    ]
    assert [turn["session_id"] for turn in memory.of("sync_turn")] == [parent]
    assert db.sessions.count() == 1


def test_the_model_delegates_through_a_tool(db: SessionDB) -> None:
    memory = Recorder()
    holder: list[Agent] = []
    tool = delegate_tool(lambda task: holder[0].delegate(task))
    model = ScriptedModel([call("delegate_task", goal="数一数", context="三个"), "三", "It is three."])
    with agent_on(db, memory, model=model, tools=[tool]) as agent:
        holder.append(agent)
        answer = agent.turn("how many are there, do you think?")
    assert answer.text == "It is three."
    (result,) = db.messages.list(answer.session_id, roles=["tool"])
    assert json.loads(str(result.content))["result"] == "三"
    assert memory.of("on_delegation")[0]["task"] == "数一数\n\n三个"


def test_many_turns_leave_no_thread(db: SessionDB) -> None:
    before = threading.active_count()
    with agent_on(db, Recorder()) as agent:
        for _ in range(30):
            agent.turn("a sentence that is said again")
    assert threading.active_count() <= before + 1  # the index follows in a thread of the store
