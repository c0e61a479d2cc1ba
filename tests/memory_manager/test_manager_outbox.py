"""A process that is killed loses no queued turn, and nobody is told twice who need not be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import Recorder

from hermes_state import SessionDB
from hermes_state.errors import DiskFull, StoreBusy
from memory.manager import MemoryManager
from memory.manager.delivery import Delivery, decode, encode
from memory.manager.outbox import Outbox, revive, waiting
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Manage = Callable[..., MemoryManager]

# A process that tells a provider which never comes back, says so and waits for its end.
STUCK = """
import os, sys, threading
sys.path.insert(0, {here!r})
from recording import Recorder
from hermes_state import SessionDB
from memory.manager import MemoryManager
home = {home!r}
db = SessionDB.open(home=home)
session = db.sessions.create("old", source="cli")
db.messages.append("old", role="user", content="erste Frage")
db.messages.append("old", role="assistant", content="答え")
provider = Recorder(sync_turn=lambda **_: os.write(1, b"told\\n") and threading.Event().wait())
manager = MemoryManager(db, home=home)
manager.add_provider(provider)
manager.initialize("old")
manager.sync_turn("erste Frage", "答え", session_id="old")
manager.sync_turn("second \\ud83d 👨‍👩‍👧", "ok", session_id="old")
manager.on_memory_write("add", "memory", "x", {{}})
manager.on_session_end([])
os.write(1, b"queued\\n")
threading.Event().wait()
"""


def killed(home: Path) -> None:
    """Run such a process and kill it while the provider hangs."""
    code = STUCK.format(here=str(Path(__file__).parent), home=str(home))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert {process.stdout.readline(), process.stdout.readline()} == {"told\n", "queued\n"}
        finally:
            os.kill(process.pid, signal.SIGKILL)


def test_a_killed_process_loses_no_turn_and_the_next_tells_each_once(home: Path) -> None:
    """In order, under the old session, before anything new, and then the provider is where it was."""
    killed(home)
    provider = Recorder()
    with SessionDB.open(home=home) as db, MemoryManager(db, home=home) as manager:
        manager.add_provider(provider)
        manager.initialize("new")
        manager.sync_turn("hello", "hi")
        assert manager.flush(20)
        assert waiting(db.engine) == {}
    told = [(hook, said) for hook, said in provider.calls if hook not in ("is_available", "initialize", "shutdown")]
    assert [hook for hook, _ in told] == [
        "on_session_switch",
        "sync_turn",
        "sync_turn",
        "on_memory_write",
        "on_session_end",
        "on_session_switch",
        "sync_turn",
    ]
    switches = [said for hook, said in told if hook == "on_session_switch"]
    assert [(said["new"], said["parent_session_id"], said["reason"]) for said in switches] == [
        ("old", "", "resume"),
        ("new", "", "resume"),
    ]
    syncs = [said for hook, said in told if hook == "sync_turn"]
    assert [said["user"] for said in syncs] == ["erste Frage", "second \ud83d 👨‍👩‍👧", "hello"]
    assert syncs[0]["messages"] == [
        {"role": "user", "content": "erste Frage"},
        {"role": "assistant", "content": "答え"},
    ]


def test_a_call_that_kills_the_process_each_time_ends(home: Path) -> None:
    """It was counted before it was made."""
    killed(home)
    with SessionDB.open(home=home) as db:
        outbox = Outbox(db.engine, attempts_max=1)
        left = outbox.claim("recorder")
        outbox.close()
        assert [delivery.kind for delivery in left] == ["sync_turn", "on_memory_write", "on_session_end"]
        assert waiting(db.engine)["recorder"].set_aside == 1
        assert revive(db.engine, "recorder") == 1
        assert waiting(db.engine)["recorder"].set_aside == 0


def test_what_a_living_process_has_nobody_takes(db: SessionDB) -> None:
    """Two managers on one store, both alive."""
    one, two = Outbox(db.engine, attempts_max=5), Outbox(db.engine, attempts_max=5)
    one.put("p", Delivery(kind="sync_turn", session_id="s", said={"user": "u", "assistant": "a"}))
    assert two.claim("p") == []
    one.release()
    taken = two.claim("p")
    assert len(taken) == 1
    assert two.begin(taken[0]) is True
    assert one.begin(taken[0]) is False  # and whoever lost it does not tell it
    one.close()
    two.close()


def test_a_claim_of_another_machine_runs_out(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """There nobody can be asked whether it lives."""
    far, near = Outbox(db.engine, attempts_max=5), Outbox(db.engine, attempts_max=5)
    far.owner = "elsewhere|1|1|x"
    far.put("p", Delivery(kind="sync_turn", session_id="s", said={}))
    assert near.claim("p") == []
    monkeypatch.setattr("memory.manager.outbox.CLAIM_S", -1.0)
    far.renew("p")
    assert len(near.claim("p")) == 1
    far.close()
    near.close()


def test_two_processes_share_an_outbox(home: Path) -> None:
    """Both start at once after a kill; together they tell everything once."""
    killed(home)
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from recording import Recorder
from hermes_state import SessionDB
from memory.manager import MemoryManager
provider = Recorder()
with SessionDB.open(home={str(home)!r}) as db, MemoryManager(db, home={str(home)!r}) as manager:
    manager.add_provider(provider)
    manager.initialize("new")
    manager.flush(20)
print(len(provider.of("sync_turn")))
"""
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [int(process.communicate(timeout=60)[0].splitlines()[-1]) for process in running]
    assert sum(told) == 2


def test_what_is_not_told_at_the_end_waits_for_the_next_start(manage: Manage, home: Path, db: SessionDB) -> None:
    """The report counts it, and a manager of the same process that comes after takes it over."""
    gate = threading.Event()
    slow = Recorder("p", sync_turn=lambda **_: gate.wait(20))
    first = manage(slow)
    first.sync_turn("one", "a")
    first.sync_turn("two", "a")
    slow.wait_for("sync_turn")
    report = first.shutdown(0.05)
    assert (report.drained, report.in_outbox, report.lost) == (False, {"p": 2}, {})
    provider = Recorder("p")
    second = manage(provider)
    assert second.flush(20)
    assert [said["user"] for _, said in provider.of("sync_turn")] == ["one", "two"]
    gate.set()


def test_a_provider_that_is_away_gets_its_turns_later(manage: Manage) -> None:
    """Not available today, there tomorrow: nothing that was said meanwhile is lost."""
    away = manage(Recorder("p", is_available=lambda **_: False))
    away.sync_turn("今日", "a")
    away.shutdown(5)
    provider = Recorder("p")
    back = manage(provider)
    assert back.flush(20)
    assert [said["user"] for _, said in provider.of("sync_turn")] == ["今日"]


def test_after_an_outage_over_several_runs_everything_is_told_in_order(manage: Manage) -> None:
    """Nothing is set aside while nothing goes well."""

    def down(**_: Any) -> None:
        raise ConnectionError("down")

    for run in ("one", "two"):
        away = manage(Recorder("p", sync_turn=down))
        for n in range(3):
            away.sync_turn(f"{run} {n}", "a")
            away.flush(20)
        assert not away.shutdown(20).drained
    provider = Recorder("p")
    back = manage(provider)
    back.sync_turn("three", "a")
    assert back.flush(20)
    told = [said["user"] for _, said in provider.of("sync_turn")]
    assert told == [*(f"one {n}" for n in range(3)), *(f"two {n}" for n in range(3)), "three"]


def test_a_full_disk_costs_durability_and_nothing_else(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn is told from memory."""
    provider = Recorder()
    manager = manage(provider)

    def full(*_: Any, **__: Any) -> None:
        raise DiskFull("no space left")

    monkeypatch.setattr(Outbox, "put", full)
    manager.sync_turn("u", "a")
    assert manager.flush(20)
    assert len(provider.of("sync_turn")) == 1


def test_turns_that_a_busy_store_could_not_take_are_written_down_with_the_next(manage: Manage, db: SessionDB) -> None:
    """In order, and none is dropped for being too many."""
    gate = threading.Event()
    provider = Recorder(sync_turn=lambda **_: gate.wait(20))
    manager = manage(provider, queue_max=3)
    manager.sync_turn("turn 0", "a")
    provider.wait_for("sync_turn")
    with db.engine.write():
        for n in range(1, 4):
            manager.sync_turn(f"turn {n}", "a")
    while waiting(db.engine)["recorder"].waiting < 5:
        manager.sync_turn("turn 4", "a")  # a busy machine may need another
    status = manager.status().providers[0]
    assert status.dropped == 0
    gate.set()
    assert manager.flush(20)
    assert list(dict.fromkeys(said["user"] for _, said in provider.of("sync_turn"))) == [f"turn {n}" for n in range(5)]


def test_what_is_only_in_the_outbox_waits_for_the_store(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never told without its words."""
    gate, busy = threading.Event(), threading.Event()
    begin = Outbox.begin

    def sometimes_busy(outbox: Outbox, delivery: Delivery) -> bool:
        if delivery.said is None and not busy.is_set():
            busy.set()
            raise StoreBusy("the store", waited_s=0.0)
        return begin(outbox, delivery)

    monkeypatch.setattr(Outbox, "begin", sometimes_busy)
    provider = Recorder(sync_turn=lambda **_: gate.wait(20))
    manager = manage(provider, queue_max=1)
    for n in range(3):
        manager.sync_turn(f"turn {n}", "a")
    gate.set()
    provider.wait_for("sync_turn", 3)
    assert busy.is_set()
    assert [said["user"] for _, said in provider.of("sync_turn")] == ["turn 0", "turn 1", "turn 2"]


def test_a_busy_store_never_holds_a_turn(manage: Manage, db: SessionDB) -> None:
    """While another writer has the lock, the lane waits in the place of the turn."""
    provider = Recorder()
    manager = manage(provider)
    with db.engine.write():
        manager.sync_turn("u", "a")
        assert provider.of("sync_turn") == []
    assert manager.flush(20)
    assert len(provider.of("sync_turn")) == 1


def test_a_read_only_store_is_memory_only(home: Path) -> None:
    """And the status says so."""
    SessionDB.open(home=home).close()
    provider = Recorder()
    with SessionDB.open(home=home, read_only=True) as db, MemoryManager(db, home=home) as manager:
        manager.add_provider(provider)
        manager.initialize("s1")
        manager.sync_turn("u", "a")
        assert manager.flush(20)
        assert manager.status().is_durable is False
    assert len(provider.of("sync_turn")) == 1


def test_only_the_newest_are_kept_for_a_provider_that_is_gone(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that never comes back must not fill the disk."""
    monkeypatch.setattr("memory.manager.outbox.WAITING_MAX", 3)
    one, two = Outbox(db.engine, attempts_max=5), Outbox(db.engine, attempts_max=5)
    for n in range(6):
        one.put("p", Delivery(kind="sync_turn", session_id="s", said={"user": f"{n}", "assistant": "a"}))
    one.release()
    assert [two.read(delivery)["user"] for delivery in two.claim("p")] == ["3", "4", "5"]
    one.close()
    two.close()


def test_a_deleted_conversation_is_not_told(db: SessionDB) -> None:
    """What was remembered of it by then stays."""
    db.sessions.create("gone", source="cli")
    outbox = Outbox(db.engine, attempts_max=5)
    turn = Delivery(kind="sync_turn", session_id="gone", said={"user": "秘密", "assistant": "a"})
    write = Delivery(kind="on_memory_write", session_id="gone", said={})
    for delivery in (turn, write, Delivery(kind="sync_turn", session_id="other", said={})):
        outbox.put("p", delivery)
    db.sessions.delete("gone")
    assert outbox.begin(turn) is False
    assert outbox.begin(write) is True
    assert waiting(db.engine)["p"].waiting == 2
    outbox.close()


def test_facts_that_are_no_json_hurt_no_turn(manage: Manage) -> None:
    """They are written down as their text."""
    provider = Recorder()
    manager = manage(provider)
    circle: dict[Any, Any] = {(1, 2): object()}
    circle["self"] = circle
    manager.on_delegation("task", "result", child_session_id="c", odd=circle)
    manager.on_memory_write("add", "memory", "x", {"when": object()})
    assert manager.flush(20)
    assert len(provider.of("on_delegation", "on_memory_write")) == 2
    assert decode(encode({"a": "茶", "odd": circle}))["a"] == "茶"


def test_a_redacting_store_holds_no_secret(home: Path) -> None:
    """Also while a provider, which may get it, is away."""
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
    with SessionDB.open(home=home, redact=True) as db:
        settings = MemorySettings(redact_secrets=False)
        with MemoryManager(db, home=home, settings=settings) as manager:
            manager.add_provider(Recorder(is_available=lambda **_: False))
            manager.initialize("s1")
            manager.sync_turn(key, "noted")
        assert waiting(db.engine)["recorder"].waiting == 1
        with db.engine.read() as connection:
            assert key not in repr(connection.exec_driver_sql("SELECT * FROM memory_outbox").fetchall())


JSON = st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@settings(max_examples=60)
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_arguments_come_back_as_they_were_written_down(said: dict[str, Any]) -> None:
    """Lone surrogates and NUL included."""
    text = encode(said)
    text.encode()
    assert decode(text) == json.loads(json.dumps(said))


@pytest.fixture(autouse=True)
def _no_growth() -> Iterator[None]:
    """Every manager of a test ends its threads."""
    yield
    lanes = [thread.name for thread in threading.enumerate() if thread.name.startswith("memory-lane")]
    assert len(lanes) <= 1  # one whose provider is on its way back from a gate
