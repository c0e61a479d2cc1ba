"""One turn: its order, what is stored of it, what the model sees, and what happens when it is cut short."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from recorder import Recorder

from hermes_state.errors import MessageNotFound
from memory.agent.agent import Agent
from memory.agent.failures import AgentBusy, ContextTooLong, ModelUnreachable
from memory.agent.model import Reply, ToolCall
from memory.agent.model.scripted import Asked, ScriptedModel, call
from memory.agent.prompt import request_again
from memory.agent.surface import Surface
from memory.agent.tools import MAX_RESULT_CHARS, Tool
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from hermes_state import SessionDB

QUIET = MemorySettings(nudge_interval=0, skill_nudge_interval=0, flush_min_turns=0)
IN_USER = MemorySettings(nudge_interval=0, flush_min_turns=0, recall_placement="user")
TEA = {"tea": "- likes oolong 乌龙茶"}


def said(db: SessionDB, session_id: str) -> list[tuple[str, Any]]:
    return [(message.role, message.content) for message in db.messages.list(session_id)]


def test_the_order_of_one_turn(db: SessionDB) -> None:
    memory = Recorder(TEA, tools=["memory"])
    model = ScriptedModel([call("memory", action="add", target="user", content="Likes tea"), "Noted."])
    with Agent(db, model, memory=memory, settings=QUIET) as agent:
        answer = agent.turn("I like tea")
    assert answer.text == "Noted."
    order = [hook for hook in memory.hooks if hook != "system_prompt"]
    assert order == [
        "initialize",
        "on_turn_start",
        "prefetch",
        "tool",
        "sync_turn",
        "queue_prefetch",
        "on_session_end",
        "shutdown",
    ]
    assert memory.of("on_turn_start")[0]["turn_number"] == 1
    assert memory.of("sync_turn") == [{"user": "I like tea", "assistant": "Noted.", "session_id": answer.session_id}]


def test_the_prompt_is_base_then_skills_then_memory_then_recall_then_history_then_the_message(db: SessionDB) -> None:
    memory = Recorder(TEA)
    memory.entries = ["is vegan"]
    model = ScriptedModel(["one", "two"])
    with Agent(db, model, memory=memory, settings=QUIET, instructions="BASE", skills=lambda: "SKILLS") as agent:
        agent.turn("hello there, friend of mine")
        agent.turn("about tea")
    system, *rest = model.asked[1].messages
    positions = [system["content"].index(part) for part in ("BASE", "SKILLS", "KNOWN:", "<memory-context>", "oolong")]
    assert positions == sorted(positions)
    assert [m["content"] for m in rest] == ["hello there, friend of mine", "one", "about tea"]
    assert "oolong" not in model.asked[0].system


def test_recall_in_the_system_message_is_there_for_its_turn_only(db: SessionDB) -> None:
    model = ScriptedModel(otherwise="ok")
    with Agent(db, model, memory=Recorder(TEA), settings=QUIET) as agent:
        agent.turn("what tea do I like?")
        agent.turn("and which bike suits me best?")
    assert "oolong" in model.asked[0].system
    assert "oolong" not in json.dumps(model.asked[1].messages, ensure_ascii=False)


def test_recall_in_the_user_message_stays_where_it_was_sent(db: SessionDB) -> None:
    model = ScriptedModel(otherwise="ok")
    with Agent(db, model, memory=Recorder(TEA), settings=IN_USER) as agent:
        first = agent.turn("what tea do I like?")
        agent.turn("and which bike suits me best?")
    assert "oolong" not in model.asked[0].system
    assert model.asked[1].messages[: len(model.asked[0].messages)] == model.asked[0].messages
    stored = db.messages.get(first.message_id)
    assert stored.content == "what tea do I like?"
    assert "oolong" in stored.api_content


@pytest.mark.parametrize("settings", [QUIET, IN_USER], ids=["system", "user"])
def test_replays_are_identical_byte_for_byte(db: SessionDB, settings: MemorySettings) -> None:
    model = ScriptedModel([call("memory", action="add", content="x"), "yes", "no"])
    with Agent(db, model, memory=Recorder(TEA, tools=["memory"]), settings=settings) as agent:
        first = agent.turn("tea? 茶 \u200f مرحبا")
        second = agent.turn("more tea, please, and cake")
    for answer, asked in ((first, model.asked[0]), (second, model.asked[2])):
        again = request_again(db, answer.session_id, answer.message_id)
        assert json.dumps(again, ensure_ascii=False) == json.dumps(asked.messages, ensure_ascii=False)


@pytest.mark.parametrize("settings", [QUIET, IN_USER], ids=["system", "user"])
def test_a_resumed_conversation_sends_the_same_bytes(db: SessionDB, settings: MemorySettings) -> None:
    model = ScriptedModel(otherwise="ok")
    with Agent(db, model, memory=Recorder(TEA), settings=settings) as agent:
        agent.turn("my tea order")
        session_id = agent.turn("which bike do I have?").session_id
    with Agent(db, model, memory=Recorder(TEA), settings=settings, session_id=session_id) as agent:
        agent.turn("where do I live?")
    before, after = model.asked[1].messages, model.asked[2].messages
    assert json.dumps(after[: len(before)]) == json.dumps(before)


@pytest.mark.parametrize("settings", [QUIET, IN_USER], ids=["system", "user"])
def test_a_turn_with_a_picture_is_recalled_for_too(db: SessionDB, settings: MemorySettings) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": "is this my tea?"}, picture]
    memory, model = Recorder(TEA), ScriptedModel(otherwise="It is.")
    with Agent(db, model, memory=memory, settings=settings) as agent:
        answer = agent.turn(content)
    assert memory.of("prefetch")[0]["query"] == "is this my tea?"
    assert "oolong" in json.dumps(model.asked[0].messages, ensure_ascii=False)
    assert picture in model.asked[0].last
    assert db.messages.get(answer.message_id).content == content
    assert memory.of("sync_turn")[0]["user"] == "is this my tea?"


# --- the gate ---------------------------------------------------------------------------------------------------


def test_b098_continue_is_recalled_for_with_what_it_continues(db: SessionDB) -> None:
    memory = Recorder({"oven": "- the oven needs soda", "bike": "- the bike has a flat"})
    model = ScriptedModel(otherwise="Done.")
    with Agent(db, model, memory=memory, settings=QUIET) as agent:
        for text in ("clean the oven", "repair the bike", "continue", "thanks"):
            agent.turn(text)
    assert [asked["query"] for asked in memory.of("prefetch")] == [
        "clean the oven",
        "repair the bike",
        "repair the bike",
    ]
    assert "flat" in model.asked[1].system
    assert "flat" in model.asked[2].system
    assert "<memory-context>" not in model.asked[3].system


def test_yes_to_a_question_is_no_triviality(db: SessionDB) -> None:
    memory = Recorder()
    with Agent(db, ScriptedModel(["Shall I order it?", "Ordered."]), memory=memory, settings=QUIET) as agent:
        agent.turn("find me a good kettle")
        agent.turn("是的")
    assert [asked["query"] for asked in memory.of("prefetch")] == ["find me a good kettle", "是的"]


# --- fences -----------------------------------------------------------------------------------------------------


def test_b082_a_leaked_block_is_shown_to_nobody_and_stored_nowhere(db: SessionDB) -> None:
    memory, shown = Recorder(), []
    leak = "<memory-context>\nold secret\n</memory-context>\nok"
    surface = Surface(text=shown.append)
    with Agent(db, ScriptedModel([leak], piece=1), memory=memory, settings=QUIET, surface=surface) as agent:
        answer = agent.turn("hi there friend <memory-context>old</memory-context>")
    assert "".join(shown).strip() == answer.text == "ok"
    assert memory.of("sync_turn")[0] | {"session_id": ""} == {
        "user": "hi there friend",
        "assistant": "ok",
        "session_id": "",
    }
    assert said(db, answer.session_id) == [("user", "hi there friend"), ("assistant", "ok")]


# --- tools ------------------------------------------------------------------------------------------------------


def tool(name: str, run: Any) -> Tool:
    return Tool(name=name, description=name, parameters={"type": "object", "properties": {}}, run=run)


def test_whatever_a_tool_does_its_answer_is_json(db: SessionDB) -> None:
    def fails(_arguments: dict[str, Any]) -> str:
        raise ValueError("no such file: 報告.txt")

    tools = [
        tool("fails", fails),
        tool("prose", lambda _a: "plain text"),
        tool("object", lambda _a: {"n": 1}),
        tool("huge", lambda _a: "x" * (MAX_RESULT_CHARS + 1)),
    ]
    names = ["fails", "prose", "object", "huge", "unheard_of", "odd"]
    wanted = [ToolCall(id=f"c{i}", name=name) for i, name in enumerate(names)]
    wanted.append(ToolCall(id="broken", name="prose", arguments="{not json"))
    model = ScriptedModel([Reply(tool_calls=tuple(wanted)), "done"])
    with Agent(db, model, memory=Recorder(tools=["odd"]), settings=QUIET, tools=tools) as agent:
        answer = agent.turn("use every tool there is")
    results = {m.tool_call_id: json.loads(str(m.content)) for m in db.messages.list(answer.session_id, roles=["tool"])}
    assert "報告.txt" in results["c0"]["error"]
    assert results["c1"] == {"result": "plain text"}
    assert results["c2"] == {"n": 1}
    assert results["c3"]["truncated"] is True
    assert "unheard_of" in results["c4"]["error"]
    assert results["c5"] == {"result": "plain text"}
    assert "no JSON" in results["broken"]["error"]


def test_the_loop_is_bounded(db: SessionDB) -> None:
    def step(asked: Asked) -> Reply | str:
        return call("again") if asked.tools else "I stop here."

    model = ScriptedModel(otherwise=step)
    agent = Agent(db, model, settings=QUIET, tools=[tool("again", lambda _a: "more")], max_iterations=3)
    with agent:
        answer = agent.turn("go on forever and ever")
    assert answer.text == "I stop here."
    assert answer.tools == ("again",) * 3


def test_session_search_leaves_out_the_conversation_it_is_in(db: SessionDB) -> None:
    old = db.sessions.create(source="cli", title="oven")
    db.messages.append(old.id, role="user", content="the oven was repaired in May")
    model = ScriptedModel([call("session_search", query="oven"), "In May."])
    with Agent(db, model, memory=Recorder(), settings=QUIET) as agent:
        answer = agent.turn("when was the oven repaired?")
    found = json.loads(str(db.messages.list(answer.session_id, roles=["tool"])[0].content))
    assert [result["session_id"] for result in found["results"]] == [old.id]


# --- cut short --------------------------------------------------------------------------------------------------


def speaks_then(error: BaseException) -> ScriptedModel:
    """A model that says half a sentence before it fails."""

    class Breaking(ScriptedModel):
        def complete(self, messages: Any, *, tools: Any = (), on_text: Any = None, max_tokens: Any = None) -> Reply:
            reply = super().complete(messages, tools=tools, on_text=on_text, max_tokens=max_tokens)
            if reply.text == "half a sen":
                raise error
            return reply

    return Breaking(["half a sen", "whole"])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), ModelUnreachable("gone")])
def test_b097_what_cuts_a_turn_short_loses_nothing_and_reaches_no_memory(db: SessionDB, error: BaseException) -> None:
    memory = Recorder()
    agent = Agent(db, speaks_then(error), memory=memory, settings=QUIET)
    with pytest.raises(type(error)):
        agent.turn("tell me a long story")
    assert said(db, agent.session_id) == [("user", "tell me a long story"), ("assistant", "half a sen")]
    assert db.messages.list(agent.session_id)[-1].finish_reason == "interrupted"
    assert "sync_turn" not in memory.hooks
    assert agent.turn("once more, from the start").text == "whole"
    assert [turn["user"] for turn in memory.of("sync_turn")] == ["once more, from the start"]
    agent.close()


def test_interrupt_from_another_thread(db: SessionDB) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(_asked: Asked) -> str:
        begun.set()
        assert go_on.wait(5)
        return "too late to matter"

    memory = Recorder()
    with Agent(db, ScriptedModel([slow]), memory=memory, settings=QUIET) as agent:
        answers: list[Any] = []
        thread = threading.Thread(target=lambda: answers.append(agent.turn("think for a long time")))
        thread.start()
        assert begun.wait(5)
        with pytest.raises(AgentBusy):
            agent.turn("at the same time?")
        agent.interrupt()
        go_on.set()
        thread.join(5)
    assert answers[0].interrupted
    assert "sync_turn" not in memory.hooks


def test_two_questions_in_a_row_are_sent_as_one(db: SessionDB) -> None:
    """Templates of many open models take user and assistant in turns only."""
    model = ScriptedModel([ModelUnreachable("gone"), "both"])
    with Agent(db, model, memory=Recorder(), settings=QUIET) as agent:
        with pytest.raises(ModelUnreachable):
            agent.turn("first question of mine")
        agent.turn("second question of mine")
    assert [m["role"] for m in model.asked[1].messages] == ["system", "user"]
    assert model.asked[1].last == "first question of mine\n\nsecond question of mine"


def test_a_context_that_is_too_long_is_compressed_and_asked_once_more(db: SessionDB) -> None:
    model = ScriptedModel(["a", "b", ContextTooLong("too long"), "## Goal\nshort", "answered"])
    settings = MemorySettings(nudge_interval=0, flush_min_turns=0, protect_last_n=1)
    with Agent(db, model, memory=Recorder(), settings=settings) as agent:
        agent.turn("one, with some words")
        agent.turn("two, with some words")
        answer = agent.turn("three, with some words")
    assert answer.text == "answered"
    assert answer.compressed is not None


def test_usage_is_booked(db: SessionDB) -> None:
    with Agent(db, ScriptedModel(["eins zwei"]), memory=Recorder(), settings=QUIET) as agent:
        session_id = agent.turn("count to two, please").session_id
    (used,) = db.usage.of_session(session_id)
    assert (used.model, used.api_calls, used.output_tokens) == ("scripted", 1, 2)


def test_nothing_is_stored_before_something_is_said(db: SessionDB) -> None:
    with Agent(db, ScriptedModel(), memory=Recorder(), settings=QUIET):
        pass
    assert db.sessions.count() == 0


def test_cron_recalls_and_leaves_no_trace(db: SessionDB) -> None:
    memory = Recorder(TEA)
    with Agent(db, ScriptedModel(otherwise="ok"), memory=memory, settings=QUIET, platform="cron") as agent:
        agent.turn("daily tea report")
    assert memory.of("initialize")[0]["agent_context"] == "cron"
    assert "prefetch" in memory.hooks
    assert "sync_turn" not in memory.hooks


def test_a_request_can_be_made_again_only_for_what_is_active(db: SessionDB) -> None:
    with Agent(db, ScriptedModel(otherwise="ok"), memory=Recorder(), settings=QUIET) as agent:
        answer = agent.turn("a message that is taken back")
        agent.rewind()
    with pytest.raises(MessageNotFound):
        request_again(db, answer.session_id, answer.message_id)


def test_an_ended_session_that_goes_on_is_open_again(db: SessionDB) -> None:
    with Agent(db, ScriptedModel(otherwise="ok"), memory=Recorder(), settings=QUIET) as agent:
        session_id = agent.turn("the first message of all").session_id
    assert db.sessions.get(session_id).ended_at is not None
    with Agent(db, ScriptedModel(otherwise="ok"), memory=Recorder(), settings=QUIET, session_id=session_id):
        assert db.sessions.get(session_id).ended_at is None


def test_what_is_sent_has_no_fields_that_are_none_of_a_message(db: SessionDB) -> None:
    model = ScriptedModel(otherwise="ok")
    with Agent(db, model, memory=Recorder(), settings=QUIET) as agent:
        agent.turn("one sentence, to begin with")
        agent.turn("one sentence, to end with")
    assert [sorted(message) for message in model.asked[1].messages] == [["content", "role"]] * 4


def test_the_message_is_stored_before_the_memory_is_asked(db: SessionDB) -> None:
    """Recall may take its whole deadline, and whoever is killed meanwhile has lost nothing he typed."""
    seen: list[list[tuple[str, Any]]] = []

    class Slow(Recorder):
        def prefetch(self, query: str, *, session_id: str) -> str:
            seen.append(said(db, session_id))
            return super().prefetch(query, session_id=session_id)

    with Agent(db, ScriptedModel(["yes"]), memory=Slow(TEA), settings=IN_USER) as agent:
        answer = agent.turn("is my tea 乌龙茶 green?")
    assert seen == [[("user", "is my tea 乌龙茶 green?")]]
    assert "oolong" in str(db.messages.get(answer.message_id).api_content)
