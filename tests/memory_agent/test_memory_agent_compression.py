"""Compression: its order, its gate, both ways to rewrite, a kill at every step, two processes at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from recorder import Recorder

from hermes_state import SessionDB
from hermes_state.records import MessageState
from memory.agent.agent import Agent
from memory.agent.compression import Compressed
from memory.agent.failures import ModelUnreachable
from memory.agent.model.scripted import ScriptedModel, call
from memory.agent.summary import MAX_CONTEXT_CHARS, sanitize_memory_context
from memory.agent.surface import Surface
from memory.errors import CompressionCheckpointUnavailable
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = "## Goal\n升级 redis"


def settings(**fields: Any) -> MemorySettings:
    return MemorySettings(nudge_interval=0, flush_min_turns=0, **{"protect_last_n": 2, **fields})


def talked(agent: Agent, turns: int = 4) -> None:
    for number in range(turns):
        agent.turn(f"question number {number}, with some words around it")


def active(db: SessionDB, session_id: str) -> list[Any]:
    return [m.content for m in db.messages.list(session_id)]


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "rotated"])
def test_the_older_part_becomes_a_summary(db: SessionDB, in_place: bool) -> None:
    memory, model = Recorder(), ScriptedModel(["a0", "a1", "a2", "a3", SUMMARY, "after"])
    memory.pre_compress = "PROVIDER SAYS"
    with Agent(db, model, memory=memory, settings=settings(compression_in_place=in_place)) as agent:
        talked(agent)
        before = agent.session_id
        done = agent.compress()
        assert done == Compressed(parent_id=before, session_id=agent.session_id, summarised=6)
        assert (agent.session_id == before) is in_place
        assert active(db, agent.session_id)[1:] == [SUMMARY, "question number 3, with some words around it", "a3"]
        agent.turn("and now, what is next to do?")
    sent = model.asked[-1].messages
    assert [m["role"] for m in sent[1:]] == ["user", "assistant"] * 2 + ["user"]
    assert SUMMARY in [m["content"] for m in sent]
    assert "PROVIDER SAYS" in str(model.asked[4].messages)
    assert [hit.role for hit in db.search.messages('"question number 0"')] == ["user"]


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "rotated"])
def test_providers_extract_first_and_are_switched_last(db: SessionDB, in_place: bool) -> None:
    """B085: parent is the session that was; a compression is no session end."""
    memory = Recorder()
    model = ScriptedModel(["a0", "a1", "a2", "a3", SUMMARY])
    with Agent(db, model, memory=memory, settings=settings(compression_in_place=in_place)) as agent:
        talked(agent)
        before = agent.session_id
        start = len(memory.calls)
        agent.compress()
        assert [hook for hook in memory.hooks[start:] if hook != "system_prompt"] == [
            "on_pre_compress",
            "on_session_switch",
        ]
        assert memory.of("on_session_switch") == [
            {"new": agent.session_id, "parent": before, "reset": False, "rewound": False, "reason": "compression"}
        ]


def test_evidence_is_what_was_said_without_tools_and_summaries(db: SessionDB) -> None:
    memory = Recorder(tools=["memory"])
    script = [call("memory", "I note it.", action="add", content="x"), "a0", "a1", "a2", SUMMARY, "a3", "a4", SUMMARY]
    with Agent(db, ScriptedModel(script), memory=memory, settings=settings()) as agent:
        talked(agent, 3)
        agent.compress()
        talked(agent, 2)
        agent.compress()
    first, second = memory.of("on_pre_compress")
    assert [m["role"] for m in first["messages"]] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [(m["role"], m["content"]) for m in first["evidence"]][:2] == [
        ("user", "question number 0, with some words around it"),
        ("assistant", "I note it."),
    ]
    assert not any(m.get("tool_calls") or m["role"] == "tool" for m in first["evidence"])
    assert SUMMARY in [m["content"] for m in second["messages"]]
    assert SUMMARY not in [m["content"] for m in second["evidence"]]


def test_a_long_conversation_is_compressed_before_the_turn(db: SessionDB) -> None:
    model = ScriptedModel(["a " * 1000, "b " * 1000, SUMMARY, "c"])
    notices: list[str] = []
    surface = Surface(notice=notices.append)
    with Agent(
        db, model, memory=Recorder(), settings=settings(), context_tokens=2500, surface=surface, instructions="B"
    ) as agent:
        agent.turn("first, with a few words")
        agent.turn("second, with a few words")
        answer = agent.turn("third, with a few words")
    assert answer.compressed is not None
    assert answer.text == "c"
    assert SUMMARY in [m["content"] for m in model.asked[-1].messages]
    assert any("summary" in notice for notice in notices)


def test_what_was_not_reviewed_yet_is_reviewed_beside_the_compression(db: SessionDB) -> None:
    model, reviewer = ScriptedModel(["a " * 1000, "b " * 1000, SUMMARY, "c"]), ScriptedModel(otherwise="Nothing.")
    chosen = MemorySettings(nudge_interval=0, flush_min_turns=2, protect_last_n=2)
    with Agent(
        db,
        model,
        memory=Recorder(),
        settings=chosen,
        context_tokens=2500,
        instructions="B",
        review_model=reviewer,
    ) as agent:
        talked(agent, 2)
        answer = agent.turn("third, with a few words")
        assert answer.compressed is not None
        assert answer.reviewing
        assert agent.reviewer.wait(10)
        assert "question number 0" in str(reviewer.asked[0].messages)


def test_a_failing_summary_costs_no_turn(db: SessionDB) -> None:
    model = ScriptedModel(["a " * 1000, "b " * 1000, ModelUnreachable("gone"), "c"])
    notices: list[str] = []
    surface = Surface(notice=notices.append)
    with Agent(
        db, model, memory=Recorder(), settings=settings(), context_tokens=2500, surface=surface, instructions="B"
    ) as agent:
        talked(agent, 2)
        assert agent.turn("third, with a few words").text == "c"
    assert any("not compressed: gone" in notice for notice in notices)


def test_the_gate_leaves_the_transcript_as_it_is(db: SessionDB) -> None:
    memory = Recorder()
    memory.fails_checkpoint = RuntimeError("No active memory provider completed pre-compress checkpoint API v2")
    model = ScriptedModel(["a0", "a1", "a2", "a3", SUMMARY])
    with Agent(db, model, memory=memory, settings=settings(checkpoint_required=True)) as agent:
        talked(agent)
        before = db.messages.list(agent.session_id)
        with pytest.raises(CompressionCheckpointUnavailable, match="BLOCKED_MISSING_PREREQUISITE") as caught:
            agent.compress()
        assert isinstance(caught.value, RuntimeError)
        assert db.messages.list(agent.session_id) == before
        assert db.leases.holder(f"compress:{agent.session_id}") is None
        memory.fails_checkpoint = None
        assert agent.compress() is not None
    assert memory.of("on_pre_compress")[0]["strict"] is True


def test_a_gate_that_nobody_can_open_names_the_remedy(db: SessionDB) -> None:
    memory = Recorder()
    memory.makes_checkpoints = False
    with Agent(db, ScriptedModel(otherwise="a"), memory=memory, settings=settings(checkpoint_required=True)) as agent:
        talked(agent)
        with pytest.raises(CompressionCheckpointUnavailable, match="set compression"):
            agent.compress()


def test_messages_of_another_process_survive_the_summary(db: SessionDB) -> None:
    def meanwhile(_asked: Any) -> str:
        db.messages.append(agent.session_id, role="user", content="from elsewhere")
        return SUMMARY

    model = ScriptedModel(["a0", "a1", "a2", "a3", meanwhile])
    with Agent(db, model, memory=Recorder(), settings=settings()) as agent:
        talked(agent)
        agent.compress()
        assert active(db, agent.session_id)[-1] == "from elsewhere"
        assert len(active(db, agent.session_id)) == 5


def test_only_one_compresses_and_the_other_follows(db: SessionDB) -> None:
    """Two agents on one conversation: while one summarises, the other does not; then it goes on at the new tip."""
    memory = Recorder()
    with Agent(db, ScriptedModel(["a0", "a1", "a2", "a3"], otherwise="x"), settings=settings()) as writer:
        talked(writer)
    other = Agent(
        db, ScriptedModel([SUMMARY, "late"]), memory=memory, settings=settings(), session_id=writer.session_id
    )

    def both(_asked: Any) -> str:
        assert other.compress() is None
        return SUMMARY

    model = ScriptedModel([both])
    rotating = settings(compression_in_place=False)
    with Agent(db, model, memory=Recorder(), settings=rotating, session_id=writer.session_id) as winner:
        done = winner.compress()
    assert done is not None
    assert other.turn("a question of the other one").session_id == done.session_id
    assert memory.of("on_session_switch")[0] == {
        "new": done.session_id,
        "parent": writer.session_id,
        "reset": False,
        "rewound": False,
        "reason": "compression",
    }
    other.close()


def test_a_lost_lease_means_no_rewrite(db: SessionDB) -> None:
    def stolen(_asked: Any) -> str:
        name = f"compress:{agent.session_id}"
        holder = db.leases.holder(name)
        assert holder is not None
        db.leases.release(name, holder.owner)
        db.leases.acquire(name, "somebody else")
        return SUMMARY

    model = ScriptedModel(["a0", "a1", "a2", "a3", stolen])
    with Agent(db, model, memory=Recorder(), settings=settings()) as agent:
        talked(agent)
        before = db.messages.list(agent.session_id)
        assert agent.compress() is None
        assert db.messages.list(agent.session_id) == before


_KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from recorder import Recorder
from hermes_state import SessionDB
from memory.agent.agent import Agent
from memory.agent.model.scripted import ScriptedModel
from memory.settings import MemorySettings
step, in_place = sys.argv[1], sys.argv[2] == "1"
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
db = SessionDB.open(home={home!r})
memory = Recorder()
model = ScriptedModel(["a0", "a1", "a2", "a3", die if step == "summary" else "SUM"])
agent = Agent(db, model, memory=memory, settings=MemorySettings(
    nudge_interval=0, flush_min_turns=0, protect_last_n=2, compression_in_place=in_place))
for n in range(4):
    agent.turn(f"question number {{n}}, with some words")
print(agent.session_id, flush=True)
if step == "rewrite":
    db.messages.compact = db.lineage.rotate = die
if step == "release":
    db.leases.release = die
if step == "switch":
    memory.on_session_switch = die
agent.compress()
"""


@pytest.mark.parametrize(
    ("step", "in_place"),
    [("summary", "0"), ("rewrite", "0"), ("rewrite", "1"), ("release", "0"), ("switch", "1")],
)
def test_killed_at_any_step_the_conversation_goes_on(tmp_path: Path, step: str, in_place: str) -> None:
    home = tmp_path / "home"
    script = _KILLED.format(tests=os.path.dirname(__file__), home=str(home))  # noqa: PTH120
    run = subprocess.run([sys.executable, "-c", script, step, in_place], capture_output=True, text=True, timeout=60)
    assert run.returncode == -signal.SIGKILL, run.stderr
    session_id = run.stdout.strip()
    with SessionDB.open(home=home) as db:
        model = ScriptedModel(otherwise="fine")
        with Agent(db, model, memory=Recorder(), settings=settings(), session_id=session_id) as agent:
            answer = agent.turn("are you still there, and well?")
            assert answer.text == "fine"
            done = step in ("release", "switch")
            assert ("SUM" in active(db, agent.session_id)) is done
            everything = [m.content for m in db.messages.history(agent.session_id)]
            assert "question number 0, with some words" in everything
            if not done:
                assert agent.compress() is not None  # the dead process's lease is no obstacle
        states = {m.state for m in db.messages.history(session_id)}
        assert MessageState.ACTIVE in states


_RIVAL = """
import sys, time
sys.path.insert(0, {tests!r})
from recorder import Recorder
from hermes_state import SessionDB
from memory.agent.agent import Agent
from memory.agent.model.scripted import ScriptedModel
from memory.settings import MemorySettings
def slow(_asked):
    print("summarising", flush=True)
    sys.stdin.readline()
    return "SUM"
with SessionDB.open(home={home!r}) as db:
    settings = MemorySettings(nudge_interval=0, flush_min_turns=0, protect_last_n=2, compression_in_place=False)
    model = ScriptedModel([slow], otherwise="ok")
    agent = Agent(db, model, memory=Recorder(), settings=settings, session_id=sys.argv[1])
    done = agent.compress()
    print("compressed" if done else "left it", flush=True)
    print(agent.turn("a question after all of that").session_id, flush=True)
    agent.leave()
"""


def test_of_two_processes_one_compresses_and_both_go_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with (
        SessionDB.open(home=home) as db,
        Agent(db, ScriptedModel(otherwise="a"), memory=Recorder(), settings=settings()) as agent,
    ):
        talked(agent)
        session_id = agent.session_id
    script = _RIVAL.format(tests=os.path.dirname(__file__), home=str(home))  # noqa: PTH120

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, session_id]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    with start() as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "summarising\n"
        with start() as second:
            assert second.stdout is not None
            assert second.stdout.readline() == "left it\n"
            second_out, _ = second.communicate(timeout=60)
        first_out, _ = first.communicate("go on\n", timeout=60)
    assert first_out.splitlines()[0] == "compressed"
    tip = first_out.splitlines()[1]
    with SessionDB.open(home=home) as db:
        assert [session.id for session in db.lineage.segments(session_id)] == [session_id, tip]
        # What the second one said meanwhile went to the session that was summarised, and was taken along.
        assert second_out.split()[-1] == session_id
        said = active(db, tip)
    assert said.count("a question after all of that") == 2
    assert said[1] == "SUM"


def test_provider_context_is_cut_and_has_no_secrets() -> None:
    text = sanitize_memory_context("key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH " + "x" * 9000 + " end")
    assert "sk-proj-abc" not in text
    assert len(text) < MAX_CONTEXT_CHARS
    assert "...[memory provider context truncated]..." in text
    assert text.endswith(" end")
