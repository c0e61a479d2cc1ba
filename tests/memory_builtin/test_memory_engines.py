"""The history of memory is the same on every engine of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state import SessionDB, memory_index
from memory.builtin import BuiltinMemory, Operation

if TYPE_CHECKING:
    from pathlib import Path


def test_history_search_undo_and_forgetting(home: Path, store_at: str) -> None:
    with SessionDB.open(store_at) as db:
        memory = BuiltinMemory(home, db)
        memory.apply(
            [Operation(action="add", content="redis 主机是 db-07", tags=("ops",))], origin={"session_id": "s1"}
        )
        memory.apply([Operation(action="replace", old_text="db-07", content="db-08")])
        memory.apply([Operation(action="add", content="Tee mit Milch"), Operation(action="add", content="!!!")])
        assert [(hit.text, hit.status, hit.tags) for hit in memory.search("redis 主机")] == [
            ("redis 主机是 db-08", "active", ("ops",)),
            ("redis 主机是 db-07", "replaced", ("ops",)),
        ]
        assert [hit.text for hit in memory.search("redis", tags=["ops"], statuses=["active"])] == ["redis 主机是 db-08"]
        assert memory.search("milch tee")[0].text == "Tee mit Milch"
        first = memory.history()[-1]
        assert dict(first.origin) == {"session_id": "s1"}
        memory.undo()
        memory.undo()
        assert memory.read("memory").texts == ("redis 主机是 db-07",)
        assert [event.action for event in memory.history(first.id[:6])] == ["replace", "replace", "add"]
        memory.forget(first.id)
        assert memory.read("memory").texts == ()
        assert [hit.text for hit in memory.search("redis")] == ["redis 主机是 db-08"]
        with db.engine.write() as connection:
            memory_index.rebuild(connection)
        assert [hit.text for hit in memory.search("db-08")] == ["redis 主机是 db-08"]


def test_approval(home: Path, store_at: str) -> None:
    with SessionDB.open(store_at) as db:
        memory = BuiltinMemory(home, db, approval=True)
        memory.apply([Operation(action="add", content="喜欢茶", target="user")])
        memory.approve(memory.pending()[0].id)
        assert (memory.pending(), memory.read("user").texts) == ([], ("喜欢茶",))
