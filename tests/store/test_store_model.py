"""Random histories against a simple model: whatever was done, the store says what the model says."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from hermes_state.check import check
from hermes_state.errors import SessionMoved
from hermes_state.listing import SessionFilter
from hermes_state.records import MessageState
from hermes_state.store import SessionDB

ACTIVE, COMPACTED, REWOUND = MessageState.ACTIVE, MessageState.COMPACTED, MessageState.REWOUND


@dataclass
class Said:
    """A message of the model; its place in the list is its place in the transcript."""

    text: str
    state: MessageState = ACTIVE
    rewind: int = 0


@dataclass
class Talk:
    """A session of the model."""

    parent: str | None = None
    relation: str | None = None
    messages: list[Said] = field(default_factory=list)
    rewinds: int = 0

    @property
    def active(self) -> list[Said]:
        return [m for m in self.messages if m.state is ACTIVE]


class Store(RuleBasedStateMachine):
    """Append, take back, compact, replace, rotate, branch, delegate, delete, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="hermes-state-model-")
        self.db = SessionDB.open(Path(self.folder.name) / "store.db", synchronous="NORMAL")
        self.talks: dict[str, Talk] = {}
        self.said = 0

    def teardown(self) -> None:
        findings = check(self.db.engine, full=True).findings
        self.db.close()
        self.folder.cleanup()
        assert not findings, findings

    # --- doing ---------------------------------------------------------------------------------------------------

    def text(self) -> str:
        self.said += 1
        return f"word{self.said} 第{self.said}句"

    def pick(self, data: st.DataObject, *, writable: bool = False) -> str:
        found = [name for name in self.talks if not writable or not self.moved(name)]
        return data.draw(st.sampled_from(found))

    def moved(self, name: str) -> bool:
        return any(t.parent == name and t.relation == "compression" for t in self.talks.values())

    @initialize()
    def begin(self) -> None:
        self.create()

    @rule()
    def create(self) -> None:
        self.talks[self.db.sessions.create(source="cli", title=None).id] = Talk()

    @rule(data=st.data(), count=st.integers(1, 4), batch=st.booleans())
    def append(self, data: st.DataObject, count: int, batch: bool) -> None:
        name = self.pick(data)
        texts = [self.text() for _ in range(count)]
        fields = [{"role": "user", "content": text, "tool_calls": [{"id": text}]} for text in texts]
        try:
            if batch:
                self.db.messages.append_many(name, fields)
            else:
                for one in fields:
                    self.db.messages.append(name, **one)
        except SessionMoved:
            assert self.moved(name)
            return
        assert not self.moved(name)
        self.talks[name].messages += [Said(text) for text in texts]

    @rule(data=st.data(), last=st.integers(0, 5))
    def rewind(self, data: st.DataObject, last: int) -> None:
        name = self.pick(data)
        talk = self.talks[name]
        taken = talk.active[max(len(talk.active) - last, 0) :] if last else []
        done = self.db.messages.rewind(name, last=last)
        assert [m.content for m in done.messages] == [m.text for m in taken]
        self.take_back(talk, taken)

    def take_back(self, talk: Talk, taken: list[Said]) -> None:
        if taken:
            talk.rewinds += 1
        for message in taken:
            message.state, message.rewind = REWOUND, talk.rewinds

    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        name = self.pick(data)
        rewound = [m for m in self.talks[name].messages if m.state is REWOUND]
        newest = max((m.rewind for m in rewound), default=0)
        back = [m for m in rewound if m.rewind == newest]
        assert [m.content for m in self.db.messages.undo_rewind(name)] == [m.text for m in back]
        for message in back:
            message.state, message.rewind = ACTIVE, 0

    @rule(data=st.data(), keep=st.integers(0, 3))
    def compact(self, data: st.DataObject, keep: int) -> None:
        name = self.pick(data, writable=True)
        talk = self.talks[name]
        kept = talk.active[max(len(talk.active) - keep, 0) :] if keep else []
        summary = Said(self.text())
        self.db.messages.compact(name, [{"role": "user", "content": summary.text}], keep_last=keep)
        for message in talk.active:
            if message not in kept:
                message.state = COMPACTED
        talk.messages = [m for m in talk.messages if m not in kept] + [summary, *kept]

    @rule(data=st.data(), keep=st.integers(0, 3), new=st.integers(0, 2))
    def replace(self, data: st.DataObject, keep: int, new: int) -> None:
        name = self.pick(data, writable=True)
        talk = self.talks[name]
        kept, gone = talk.active[:keep], talk.active[keep:]
        added = [Said(self.text()) for _ in range(new)]
        stored = self.db.messages.list(name)[:keep]
        done = self.db.messages.replace(name, [*stored, *({"role": "user", "content": m.text} for m in added)])
        assert [m.content for m in done] == [m.text for m in [*kept, *added]]
        self.take_back(talk, gone)
        talk.messages += added

    @rule(data=st.data())
    def rotate(self, data: st.DataObject) -> None:
        name = self.pick(data)
        summary = self.text()
        done = self.db.lineage.rotate(name, [{"role": "user", "content": summary}])
        assert done.created == (not self.moved(name))
        if done.created:
            self.talks[done.child.id] = Talk(name, "compression", [Said(summary)])

    @rule(data=st.data())
    def branch(self, data: st.DataObject) -> None:
        name = self.pick(data)
        child = self.db.lineage.branch(name)
        self.talks[child.id] = Talk(name, "branch", [Said(m.text) for m in self.talks[name].active])

    @rule(data=st.data())
    def delegate(self, data: st.DataObject) -> None:
        name = self.pick(data)
        self.talks[self.db.lineage.delegate(name).id] = Talk(name, "delegate")

    @rule(data=st.data())
    def end_and_reopen(self, data: st.DataObject) -> None:
        name = self.pick(data)
        self.db.sessions.end(name, "idle")
        self.db.sessions.reopen(name)

    @precondition(lambda self: len(self.talks) > 1)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = self.pick(data)
        doomed = set(self.with_earlier(name))
        while more := {n for n, t in self.talks.items() if n not in doomed and self.goes_with(t, doomed)}:
            doomed |= more
        assert set(self.db.sessions.delete(name).deleted) == doomed
        for each in doomed:
            del self.talks[each]
        for talk in self.talks.values():
            if talk.parent in doomed:
                talk.parent = talk.relation = None
        if not self.talks:
            self.create()

    def with_earlier(self, name: str) -> list[str]:
        chain = [name]
        while (talk := self.talks[chain[-1]]).relation == "compression" and talk.parent:
            chain.append(talk.parent)
        return chain

    def goes_with(self, talk: Talk, doomed: set[str]) -> bool:
        return talk.parent in doomed and (
            talk.relation == "delegate" or (talk.relation == "compression" and self.delegated(talk))
        )

    def delegated(self, talk: Talk) -> bool:
        while talk.relation == "compression" and talk.parent:
            talk = self.talks[talk.parent]
        return talk.relation == "delegate"

    # --- looking -------------------------------------------------------------------------------------------------

    @invariant()
    def counters_and_transcripts_agree(self) -> None:
        for name, talk in self.talks.items():
            session = self.db.sessions.get(name)
            assert session.message_count == len(talk.active)
            assert session.rewind_count == talk.rewinds
            for state in MessageState:
                stored = [m.content for m in self.db.messages.list(name, states=[state])]
                assert stored == [m.text for m in talk.messages if m.state is state]

    @invariant()
    def the_list_shows_each_conversation_once(self) -> None:
        tips = {
            name
            for name, talk in self.talks.items()
            if not self.moved(name) and not self.delegated(talk) and talk.relation != "delegate"
        }
        listed = [s.id for s in self.db.sessions.list(limit=None)]
        assert len(listed) == len(set(listed))
        assert set(listed) == tips
        every = self.db.sessions.list(SessionFilter(every_segment=True), limit=None)
        assert {s.id for s in every} == self.talks.keys()

    @invariant()
    def every_segment_leads_to_its_tip(self) -> None:
        for name in self.talks:
            tip = name
            while follower := [n for n, t in self.talks.items() if t.parent == tip and t.relation == "compression"]:
                (tip,) = follower
            assert self.db.sessions.resume(name).id == tip


def run(examples: int, steps: int) -> None:
    limits = settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Store, settings=limits)


def test_a_random_history_leaves_what_the_model_says() -> None:
    """Counters, transcripts, tips and lists agree after every step, and a full check at the end finds nothing."""
    run(8, 20)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_long_random_histories() -> None:
    """The same at length."""
    run(120, 60)
