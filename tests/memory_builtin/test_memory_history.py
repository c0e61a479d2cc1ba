"""What the store keeps of memory: provenance, time, supersession, edits by others, undo, search, forgetting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builtin_harness import file_of, put
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from hermes_state import SessionDB, memory_index
from hermes_state.check import check
from hermes_state.errors import HermesStateError, InvalidValue
from hermes_state.recover import recover
from hermes_state.schema import memories
from memory.builtin import BuiltinMemory, Limits, Operation
from memory.errors import EntryNotFound, MemoryFault

if TYPE_CHECKING:
    from pathlib import Path

    from memory.builtin import Change


def add(text: str, target: str = "memory", tags: tuple[str, ...] | None = None) -> Operation:
    return Operation(action="add", target=target, content=text, tags=tags)


def test_the_history_of_an_entry_spans_what_it_was_and_became(memory: BuiltinMemory) -> None:
    origin = {"write_origin": "assistant_tool", "session_id": "s1", "tool_call_id": "c7", "empty": ""}
    first = memory.apply([add("Editor: vim", tags=("env",))], origin=origin).changes[0]
    second = memory.apply([Operation(action="replace", id=first.id, content="Editor: helix")]).changes[0]
    memory.apply([Operation(action="remove", id=second.id)])
    for name in (first.id, second.id):
        events = memory.history(name)
        assert [event.action for event in events] == ["remove", "replace", "add"]
        assert (events[1].before, events[1].after) == ("Editor: vim", "Editor: helix")
        assert dict(events[2].origin) == {"write_origin": "assistant_tool", "session_id": "s1", "tool_call_id": "c7"}
        assert events[0].at >= events[1].at >= events[2].at
    old, new = memory.entries()
    assert (old.status, old.replaced_by, new.status) == ("replaced", new.id, "removed")
    assert (old.tags, new.tags) == (("env",), ("env",))


def test_an_entry_that_comes_back_is_the_same_one(memory: BuiltinMemory) -> None:
    first = memory.apply([add("likes tea")]).changes[0].id
    memory.apply([Operation(action="remove", id=first)])
    assert memory.apply([add("likes tea")]).changes[0].id == first
    assert [each.status for each in memory.entries()] == ["active"]


def test_edits_by_others_become_history(home: Path, memory: BuiltinMemory) -> None:
    memory.apply([add("The deploy host is db-07"), add("likes tea"), add("stays")])
    put(home, "The deploy host is db-08\n§\nstays\n§\n全新的")
    seen: list[Change] = []
    memory.on_write(seen.append)
    memory.read("memory")
    events = memory.history(limit=3)
    assert {(event.action, event.before, event.after) for event in events} == {
        ("replace", "The deploy host is db-07", "The deploy host is db-08"),
        ("remove", "likes tea", None),
        ("add", None, "全新的"),
    }
    assert {event.origin["write_origin"] for event in events} == {"external edit"}
    assert len(seen) == 3
    memory.read("memory")
    assert len(memory.history(limit=10)) == 6


def test_undo_goes_back_step_by_step_and_an_undo_can_be_undone(home: Path, memory: BuiltinMemory) -> None:
    memory.apply([add("one")])
    memory.apply([add("two"), add("me", "user")])
    memory.apply([Operation(action="replace", old_text="one", content="uno")])
    states = []
    for _ in range(3):
        memory.undo()
        states.append((file_of(home).read_text(), file_of(home, "user").read_text()))
    assert states == [("one\n§\ntwo", "me"), ("one", ""), ("", "")]
    with pytest.raises(InvalidValue, match="nothing to undo"):
        memory.undo()
    memory.undo(memory.history(limit=1)[0].batch)
    assert file_of(home).read_text() == "one"
    memory.undo()
    assert file_of(home).read_text() == ""


def test_an_undo_that_no_longer_fits_changes_nothing(home: Path, memory: BuiltinMemory) -> None:
    batch = memory.apply([add("one"), add("two")]).batch
    memory.apply([Operation(action="remove", old_text="one")])
    with pytest.raises(EntryNotFound):
        memory.undo(batch)
    assert file_of(home).read_text() == "two"
    memory.undo()
    memory.undo(batch)
    with pytest.raises(InvalidValue, match="undone already"):
        memory.undo(batch)
    with pytest.raises(EntryNotFound):
        memory.undo("nothing-like-it")


def test_what_is_so_already_is_not_taken_back_again(home: Path, memory: BuiltinMemory) -> None:
    """Somebody put the entry back by hand: that is said, and an older change can be named."""
    first = memory.apply([add("one")]).batch
    memory.apply([Operation(action="remove", old_text="one")])
    put(home, "one")
    with pytest.raises(InvalidValue, match="already"):
        memory.undo()
    memory.undo(first)
    assert file_of(home).read_text() == ""


def test_a_merge_is_undone_to_two_entries(home: Path, memory: BuiltinMemory) -> None:
    memory.apply([add("likes tea", tags=("taste",)), add("drinks tea", tags=("drink",))])
    outcome = memory.apply([Operation(action="replace", old_text="drinks tea", content="likes tea")])
    assert (outcome.changes[0].action, outcome.changes[0].mirrored) == ("merge", "replace")
    assert file_of(home).read_text() == "likes tea"
    assert memory.entries(statuses=["active"])[0].tags == ("drink", "taste")
    memory.undo()
    assert file_of(home).read_text() == "likes tea\n§\ndrinks tea"


WORDS = st.sampled_from(["tea", "咖啡", "vim", "zsh", "قهوة", "db-07"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "replace", "remove", "archive"]), WORDS, WORDS, st.sampled_from(["memory", "user"])
    ),
    max_size=6,
)


@settings(max_examples=12)
@given(steps=STEPS)
def test_undoing_everything_leads_back_to_nothing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, ...]]
) -> None:
    """And the table always says of the active entries what the files say."""
    home = tmp_path_factory.mktemp("home")
    with SessionDB.open(home=home, synchronous="NORMAL") as db:
        memory = BuiltinMemory(home, db)
        batches = []
        for action, word, other, target in steps:
            operation = Operation(action=action, target=target, old_text=word, content=f"{other} is good")
            try:
                batches.append(memory.apply([operation]).batch)
            except HermesStateError:
                continue
            active = {(each.target, each.text) for each in memory.entries(statuses=["active"])}
            assert active == {(t, text) for t in ("memory", "user") for text in memory.read(t).texts}
        for batch in reversed([each for each in batches if each]):
            memory.undo(batch)
        assert memory.read("memory").texts == memory.read("user").texts == ()
        assert check(db.engine, full=True).is_sound


def test_search_puts_what_is_true_before_what_was(memory: BuiltinMemory) -> None:
    memory.apply([add("The redis host is db-07")])
    memory.apply([Operation(action="replace", old_text="db-07", content="db-08")])
    memory.apply([add("redis is at 7.2 on db-09"), add("Tee mit Milch"), add("サーバーは東京にある")])
    hits = memory.search("where is the redis host?")
    assert [(hit.text, hit.status) for hit in hits][:2] == [
        ("The redis host is db-08", "active"),
        ("The redis host is db-07", "replaced"),
    ]
    assert memory.search("東京")[0].text == "サーバーは東京にある"
    assert memory.search("redis -7.2", statuses=["active"])[0].text == "The redis host is db-08"
    assert len(memory.search("redis", limit=1)) == 1
    assert memory.search("nothing like it") == memory.search("") == memory.search("NOT redis") == []


def test_search_by_target_and_tags(memory: BuiltinMemory) -> None:
    memory.apply([add("redis one", tags=("ops", "db")), add("redis two", "user", ("ops",))])
    assert [hit.text for hit in memory.search("redis", target="user")] == ["redis two"]
    assert [hit.text for hit in memory.search("redis", tags=["ops", "db"])] == ["redis one"]
    name = memory.search("two")[0].id
    assert memory.tag(name, ["db", "ops"]).tags == ("db", "ops")
    assert len(memory.search("redis", tags=["db"])) == 2


def test_the_index_is_made_anew_when_it_is_gone_or_lacks_entries(memory: BuiltinMemory, db: SessionDB) -> None:
    """An import adds rows without it, and an archive leaves it out."""
    memory.apply([add("redis one")])
    row = {
        "id": "x1",
        "target": "memory",
        "status": "removed",
        "created_at": 1,
        "changed_at": 1,
        "content": "redis two",
    }
    with db.engine.write() as connection:
        connection.execute(memories.insert().values(row))
    assert not check(db.engine).is_sound
    assert {hit.text for hit in memory.search("redis")} == {"redis one", "redis two"}
    assert check(db.engine, full=True).is_sound
    with db.engine.write() as connection:
        memory_index.drop(connection)
    assert len(memory.search("redis")) == 2


@pytest.mark.sqlite_only
def test_a_damaged_index_costs_no_search(memory: BuiltinMemory, db: SessionDB) -> None:
    memory.apply([add("redis one"), add("redis two")])
    with db.engine.write() as connection:
        connection.exec_driver_sql("UPDATE memory_index_data SET block = x'00' WHERE id > 10")
    assert len(memory.search("redis")) == 2
    assert check(db.engine, full=True).is_sound


@pytest.mark.sqlite_only
def test_forgotten_means_forgotten(home: Path, memory: BuiltinMemory, db: SessionDB) -> None:
    """After a purge no file of the home holds the text, nor what it was before."""
    BuiltinMemory(home, db, approval=True).apply([add("password hint: zebra-quux"), add("stays")])
    memory.approve(memory.pending()[0].id)
    memory.apply([Operation(action="replace", old_text="zebra-quux", content="yak-quux")])
    for name in [each.id for each in memory.entries() if "quux" in each.text]:
        memory.forget(name)
    assert memory.read("memory").texts == ("stays",)
    assert memory.search("quux") == []
    assert [event for event in memory.history() if "quux" in f"{event.before}{event.after}"] == []
    purged = db.maintenance.purge(words=["zebra-quux", "yak-quux"])
    assert purged.is_complete
    assert check(db.engine, full=True).is_sound


@pytest.mark.sqlite_only
def test_vacuum_and_reindex_keep_memory_searchable(memory: BuiltinMemory, db: SessionDB) -> None:
    memory.apply([add("redis one")])
    db.maintenance.vacuum()
    with db.engine.write() as connection:
        memory_index.rebuild(connection)
    assert len(memory.search("redis")) == 1
    assert check(db.engine, full=True).is_sound


@pytest.mark.sqlite_only
def test_a_recovered_store_has_its_memories(home: Path, memory: BuiltinMemory, db: SessionDB, tmp_path: Path) -> None:
    memory.apply([add("redis 升级", tags=("ops",))])
    memory.apply([Operation(action="archive", old_text="redis")])
    with db.engine.write() as connection:  # else there would be nothing to recover
        connection.exec_driver_sql("UPDATE store_state SET counted_through = 7")
    db.close()
    salvaged = recover(home / "hermes_state.db", into=tmp_path / "new.db")
    assert salvaged.is_complete
    with SessionDB.open(tmp_path / "new.db") as found:
        (hit,) = BuiltinMemory(home, found).search("升级")
        assert (hit.status, hit.tags) == ("archived", ("ops",))


def test_two_texts_with_one_id_are_two_entries(
    memory: BuiltinMemory, db: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids are short, and somebody may look for a collision."""
    from memory.builtin import ledger, planning

    for module in (ledger, planning):
        monkeypatch.setattr(module, "memory_id", lambda target, entry: "abcdefabcdef")
    memory.apply([add("one")])
    memory.apply([add("two")])
    with db.engine.read() as connection:
        rows = connection.execute(select(memories.c.id, memories.c.content).order_by(memories.c.pk)).fetchall()
    assert [tuple(row) for row in rows] == [("abcdefabcdef", "one"), ("abcdefabcdef-2", "two")]


def test_without_a_store_there_is_no_history(home: Path) -> None:
    memory = BuiltinMemory(home)
    memory.apply([add("one")])
    for ask in (memory.history, memory.undo, memory.entries):
        with pytest.raises(MemoryFault):
            ask()


def test_a_store_that_is_opened_later_takes_the_files_over(home: Path) -> None:
    BuiltinMemory(home, limits=Limits(memory=500)).apply([add("one"), add("two")])
    with SessionDB.open(home=home) as db:
        memory = BuiltinMemory(home, db)
        assert {hit.text for hit in memory.search("one two")} == {"one", "two"}


@pytest.mark.sqlite_only
def test_a_store_opened_for_reading_is_searched_and_left_as_it_is(
    home: Path, memory: BuiltinMemory, db: SessionDB
) -> None:
    memory.apply([add("the redis host is db-07"), add("the web host is db-08"), add("likes tea")])
    put(home, "the redis host is db-07\n§\nby hand")
    with SessionDB.open(home=home, read_only=True) as found:
        reader = BuiltinMemory(home, found)
        assert {hit.text for hit in reader.search("where is the redis web host then")} == {
            "the redis host is db-07",
            "the web host is db-08",
        }
        assert reader.read("memory").texts == ("the redis host is db-07", "by hand")
        assert [event.action for event in reader.history()] == ["add"] * 3


def test_looking_at_a_home_without_memory_leaves_nothing_in_it(home: Path, memory: BuiltinMemory) -> None:
    assert memory.read("memory").texts == ()
    assert memory.search("anything") == memory.history() == memory.pending() == []
    assert not file_of(home).parent.exists()


def test_a_file_that_was_deleted_by_hand_is_history(home: Path, memory: BuiltinMemory) -> None:
    memory.apply([add("one")])
    file_of(home).unlink()
    assert memory.read("memory").texts == ()
    assert [(event.action, event.before) for event in memory.history()] == [("remove", "one"), ("add", None)]
    assert memory.search("one")[0].status == "removed"
