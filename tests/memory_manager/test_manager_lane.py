"""What a provider is told: in order, without loss, and past a call that only it can't take."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from recording import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.manager import MemoryManager

    Manage = Callable[..., MemoryManager]

TOLD = ("sync_turn", "on_session_end", "on_session_switch", "on_memory_write", "on_delegation", "queue_prefetch")


def test_sync_end_and_switch_keep_their_order(manage: Manage) -> None:
    """Also when the sync is slow (the peer's `on_session_end` overtakes it)."""
    gate = threading.Event()
    provider = Recorder(sync_turn=lambda **_: gate.wait(20))
    manager = manage(provider)
    manager.sync_turn("u1", "a1", session_id="s1")
    manager.queue_prefetch("u1", session_id="s1")
    manager.on_memory_write("add", "memory", "x", {})
    manager.on_session_end([{"role": "user", "content": "u1"}])
    manager.on_session_switch("s2", reset=True)
    manager.sync_turn("u2", "a2")
    gate.set()
    assert manager.flush(20)
    told = provider.of(*TOLD)
    assert [hook for hook, _ in told] == [
        "sync_turn",
        "queue_prefetch",
        "on_memory_write",
        "on_session_end",
        "on_session_switch",
        "sync_turn",
    ]
    assert told[-1][1]["session_id"] == "s2"


def test_switches_carry_the_right_parents(manage: Manage) -> None:
    """B085 and B086: new, resume and compression; a resumed session has no parent, whatever is given."""
    provider = Recorder()
    manager = manage(provider)
    manager.sync_turn("u", "a")
    manager.on_session_switch("s2", parent_session_id="s1", reset=True, reason="new_session")
    manager.sync_turn("u", "a")
    manager.on_session_switch("s1", parent_session_id="s2", reason="resume")
    manager.on_session_switch("s3", parent_session_id="s1", reason="compression")
    manager.sync_turn("u", "a")
    manager.on_session_switch("s3", rewound=True, reason="rewind")
    manager.on_session_switch("", reset=True)
    assert manager.flush(20)
    assert [said for _, said in provider.of("on_session_switch")] == [
        {"new": "s2", "parent_session_id": "", "reset": True, "reason": "new_session"},
        {"new": "s1", "parent_session_id": "", "reset": False, "reason": "resume"},
        {"new": "s3", "parent_session_id": "s1", "reset": False, "reason": "compression"},
        {"new": "s3", "parent_session_id": "", "reset": False, "rewound": True, "reason": "rewind"},
    ]
    assert [said["session_id"] for _, said in provider.of("sync_turn")] == ["s1", "s2", "s3"]


def test_a_session_ends_once(manage: Manage) -> None:
    """B088: whatever calls it, until something happens in the session again."""
    provider = Recorder()
    manager = manage(provider)
    manager.sync_turn("u", "a")
    manager.on_session_end([{"role": "user", "content": "u"}])
    manager.on_session_end([{"role": "user", "content": "u"}])
    assert manager.flush(20)
    assert len(provider.of("on_session_end")) == 1
    manager.sync_turn("u2", "a2")
    manager.on_session_end([{"role": "user", "content": "u"}, {"role": "user", "content": "u2"}])
    manager.shutdown(20)
    assert [len(said["messages"]) for _, said in provider.of("on_session_end")] == [1, 2]


@pytest.mark.parametrize(
    ("user", "assistant", "interrupted"),
    [
        ("u", "partial", True),
        ("", "x", False),
        ("u", None, False),
        (None, "x", False),
        ("  ", "x", False),
        ("u", [], False),
    ],
)
def test_half_turns_are_no_memory(manage: Manage, user: object, assistant: object, interrupted: bool) -> None:
    """B097: and the next complete turn is told once."""
    provider = Recorder()
    manager = manage(provider)
    manager.sync_turn(user, assistant, interrupted=interrupted)
    manager.sync_turn("다음", "ok")
    assert manager.flush(20)
    assert [said["user"] for _, said in provider.of("sync_turn")] == ["다음"]


def test_turns_of_scheduled_runs_and_helpers_are_no_memory(manage: Manage) -> None:
    """They read and are not written down."""
    for facts in ({"platform": "cron"}, {"agent_context": "subagent"}, {"agent_context": "background_review"}):
        provider = Recorder(prefetch=lambda **_: "- known")
        manager = manage(provider, facts=facts)
        assert manager.prefetch("q") == "- known"
        manager.sync_turn("u", "a")
        manager.on_session_end([])
        manager.shutdown(20)
        assert provider.of("sync_turn", "on_session_end") == []


def test_fences_never_reach_a_provider_again(manage: Manage) -> None:
    """B082: an echo of recall would be remembered as new."""
    provider = Recorder()
    manager = manage(provider)
    manager.sync_turn(
        "hi <memory-context>\nold\n</memory-context>", "<memory-context>\nold\n</memory-context>\nok", session_id="s1"
    )
    assert manager.flush(20)
    said = provider.of("sync_turn")[0][1]
    assert (said["user"].strip(), said["assistant"].strip()) == ("hi", "ok")


def test_multimodal_turns_are_told_as_their_text(manage: Manage) -> None:
    """Parts joined by line ends; pictures say nothing."""
    provider = Recorder()
    manager = manage(provider)
    picture = {"type": "image_url", "image_url": {"url": "data:…"}}
    manager.sync_turn([{"type": "text", "text": "这是"}, picture, {"type": "text", "text": "什么?"}], "一只猫 🐈")
    assert manager.flush(20)
    assert provider.of("sync_turn")[0][1]["user"] == "这是\n什么?"


def test_nothing_a_provider_does_to_messages_reaches_the_conversation(manage: Manage) -> None:
    """It gets a copy of each."""
    conversation = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]

    def vandal(messages: list[dict[str, Any]], **_: Any) -> None:
        messages[0]["content"] = "mine"
        messages.clear()

    manager = manage(Recorder(sync_turn=vandal, on_session_end=vandal, on_pre_compress=vandal))
    manager.sync_turn("u", "a", messages=conversation)
    manager.on_pre_compress(conversation)
    manager.on_session_end(conversation)
    manager.shutdown(20)
    assert conversation == [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]


def test_a_call_that_failed_is_tried_again_before_the_next(manage: Manage) -> None:
    """Nothing overtakes it, and the name it is known by stays."""
    outcomes = iter([ConnectionError("down"), None, None])

    def act(**_: Any) -> None:
        error = next(outcomes)
        if error is not None:
            raise error

    provider = Recorder(sync_turn=act)
    manager = manage(provider)
    manager.sync_turn("one", "a")
    provider.wait_for("sync_turn")
    manager.sync_turn("two", "a")
    provider.wait_for("sync_turn", 3)
    assert manager.flush(20)
    told = [said for _, said in provider.of("sync_turn")]
    assert [said["user"] for said in told] == ["one", "one", "two"]
    assert told[0]["turn_id"] == told[1]["turn_id"] != told[2]["turn_id"]


def test_a_call_that_only_fails_itself_is_set_aside(manage: Manage) -> None:
    """Others go on; it is counted, kept and can be tried again by a person."""

    def act(user: str, **_: Any) -> None:
        if user == "毒":
            raise ValueError("cannot parse")

    provider = Recorder(sync_turn=act)
    manager = manage(provider, delivery_attempts=2, breaker_failures=100)
    manager.sync_turn("毒", "a")
    for n in range(4):
        manager.sync_turn(f"good {n}", "a")
        provider.wait_for("sync_turn", n + 1)
    provider.wait_for("sync_turn", 6)
    assert manager.flush(20)
    assert [said["user"] for _, said in provider.of("sync_turn") if said["user"] != "毒"] == [
        f"good {n}" for n in range(4)
    ]
    status = manager.status().providers[0]
    assert (status.set_aside, status.in_outbox, status.queue) == (1, 0, 0)


def test_in_an_outage_nothing_is_set_aside(manage: Manage) -> None:
    """All calls fail: the provider is at fault. When it is back, it gets everything."""
    down = threading.Event()
    down.set()

    taken = set()

    def act(user: str, **_: Any) -> None:
        if down.is_set():
            raise ConnectionError("down")
        taken.add(user)

    provider = Recorder(sync_turn=act)
    manager = manage(provider, delivery_attempts=1, breaker_failures=2, breaker_cooldown_s=0.0)
    for n in range(5):
        manager.sync_turn(f"turn {n}", "a")
    provider.wait_for("sync_turn", 3)
    assert manager.status().providers[0].set_aside == 0
    down.clear()
    manager.sync_turn("turn 5", "a")
    while not manager.flush(20):  # False while the head waits for its next try
        threading.Event().wait(0.01)
    assert taken == {f"turn {n}" for n in range(6)}
    status = manager.status().providers[0]
    assert (status.set_aside, status.queue, status.in_outbox) == (0, 0, 0)


def test_an_open_breaker_leaves_the_provider_alone(manage: Manage) -> None:
    """B094: visible with the reason; what is told meanwhile waits in the outbox."""
    provider = Recorder(sync_turn=lambda **_: 1 / 0)
    manager = manage(provider, breaker_failures=2, breaker_cooldown_s=3600, delivery_attempts=10)
    for n in range(6):
        manager.sync_turn(f"u{n}", "a")
        manager.queue_prefetch(f"u{n}")
        manager.flush(20)
    assert len(provider.of("sync_turn")) == 2
    assert provider.of("queue_prefetch") == []
    status = manager.status()
    assert not status.works
    assert status.providers[0].breaker == {"asking": "closed", "telling": "open"}
    assert "ZeroDivisionError" in status.providers[0].reason
    assert status.providers[0].in_outbox == 6


def test_hooks_that_nobody_implements_cost_nothing(manage: Manage) -> None:
    """No thread is started and nothing is written down for them."""

    class Bare:
        name = "bare"

        def is_available(self) -> bool:
            return True

        def initialize(self, session_id: str, **_: Any) -> None: ...

        def get_tool_schemas(self) -> list[Any]:
            return []

    before = threading.active_count()
    manager = manage(Bare(), durable=True)
    manager.sync_turn("u", "a")
    manager.on_session_end([])
    manager.shutdown(5)
    status = manager.status().providers[0]
    assert (status.queue, status.in_outbox) == (0, 0)
    assert threading.active_count() <= before + 1  # the thread that ran `initialize` may still be on its way out


def test_without_a_store_calls_end_with_the_process_and_say_so(manage: Manage, released: threading.Event) -> None:
    """The queue is bounded: the oldest goes, and is counted."""
    provider = Recorder(sync_turn=lambda **_: released.wait(20))
    manager = manage(provider, durable=False, queue_max=3)
    assert manager.status().is_durable is False
    for n in range(10):
        manager.sync_turn(f"u{n}", "a")
    status = manager.status().providers[0]
    assert status.queue <= 4
    assert status.dropped >= 6
    report = manager.shutdown(0.05)
    assert not report.drained
    assert report.lost["recorder"] >= 3
    assert report.stuck == {"recorder": "sync_turn"}


def test_with_a_store_the_queue_holds_only_names(manage: Manage) -> None:
    """Above the limit arguments are read from the outbox when their turn comes."""
    gate = threading.Event()
    provider = Recorder(sync_turn=lambda **_: gate.wait(20))
    manager = manage(provider, queue_max=2)
    for n in range(20):
        manager.sync_turn(f"ход {n}", "a", messages=[{"role": "user", "content": "x"}])
    gate.set()
    assert manager.flush(20)
    assert [said["user"] for _, said in provider.of("sync_turn")] == [f"ход {n}" for n in range(20)]


def test_a_memory_write_is_mirrored_as_it_happened(manage: Manage) -> None:
    """With the removed text and provenance; empty values are left out, and no act that providers don't know."""
    provider = Recorder()
    manager = manage(provider)
    manager.on_memory_write(
        "patch", "user", "喝茶", {"old_text": "咖啡", "write_origin": "background_review", "task_id": ""}
    )
    manager.on_memory_write("delete", "memory", "gone", {"previous_content": "whole entry", "tool_name": "memory"})
    manager.on_memory_write("search", "memory", "q", {})
    assert manager.flush(20)
    assert [said for _, said in provider.of("on_memory_write")] == [
        {
            "action": "replace",
            "target": "user",
            "content": "喝茶",
            "metadata": {"old_text": "咖啡", "write_origin": "background_review", "session_id": "s1"},
        },
        {
            "action": "remove",
            "target": "memory",
            "content": "",
            "metadata": {"previous_content": "whole entry", "tool_name": "memory", "session_id": "s1"},
        },
    ]


KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"


def test_no_secret_leaves_for_a_provider(manage: Manage) -> None:
    """Not in a turn, not in its transcript, not in a question; the conversation itself stays as it is."""
    provider = Recorder()
    manager = manage(provider)
    conversation = [{"role": "user", "content": f"我的钥匙是 {KEY}"}]
    manager.prefetch(f"{KEY} 是什么?")
    manager.sync_turn(f"我的钥匙是 {KEY}", f"Noted: {KEY}", messages=conversation)
    manager.on_memory_write("remove", "memory", "", {"previous_content": KEY})
    manager.on_pre_compress(conversation)
    manager.on_delegation(f"use {KEY}", "ok")
    manager.on_session_end(conversation)
    assert manager.flush(20)
    assert KEY not in repr(provider.calls)
    assert "我的钥匙是 [redacted" in provider.of("sync_turn")[0][1]["user"]
    assert conversation == [{"role": "user", "content": f"我的钥匙是 {KEY}"}]


def test_redaction_can_be_switched_off(manage: Manage) -> None:
    """For a provider that is the person's own vault."""
    provider = Recorder()
    manager = manage(provider, redact_secrets=False)
    manager.sync_turn(KEY, KEY)
    assert manager.flush(20)
    assert provider.of("sync_turn")[0][1]["user"] == KEY
