"""Stores as earlier schemas wrote them: opened, brought up to date, and nothing of them is lost.

`golden/store-NNNN.db.zst` was written by the version whose newest revision was NNNN and is never written anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from hermes_state import MessageState, SessionDB
from hermes_state.check import Kind, check
from hermes_state.engine import SqliteEngine
from hermes_state.migrate import HEAD, known_revisions, snapshots_of

GOLDEN = sorted((Path(__file__).parent / "golden").glob("store-*.db.zst"))


@pytest.fixture(params=GOLDEN, ids=[path.name for path in GOLDEN])
def old_store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    store = tmp_path / "store.db"
    store.write_bytes(zstandard.ZstdDecompressor().decompress(request.param.read_bytes()))
    return store


def test_every_golden_store_names_a_revision() -> None:
    assert {path.name[6:10] for path in GOLDEN} <= set(known_revisions())


def test_an_old_store_is_brought_up_to_date_and_proves_itself(old_store: Path) -> None:
    with SessionDB.open(old_store) as db:
        with db.engine.read() as connection:
            assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == HEAD
        assert check(db.engine, full=True).findings == ()
    (snapshot,) = snapshots_of(old_store)
    assert snapshot.name.split("-")[1] != HEAD


def test_an_old_store_is_told_to_be_migrated_not_salvaged(old_store: Path) -> None:
    engine = SqliteEngine(old_store, read_only=True)
    try:
        (finding,) = check(engine, full=True).findings
    finally:
        engine.close()
    assert finding.kind is Kind.OUTDATED
    assert "db migrate" in finding.remedy


def test_what_was_said_is_all_there(old_store: Path) -> None:
    with SessionDB.open(old_store) as db:
        told = db.messages.list("s-deploy", states=tuple(MessageState))
        assert [(m.role, m.state) for m in told][-3:] == [
            ("assistant", MessageState.ACTIVE),
            ("user", MessageState.ACTIVE),
            ("assistant", MessageState.REWOUND),
        ]
        assert told[0].content == "请把 redis 升级到 7.2"
        assert told[1].tool_calls[0]["function"]["name"] == "shell"
        assert told[1].reasoning == "check first"
        assert (told[2].content, told[2].tool_name) == ("v=7.0.15 " * 400, "shell")
        assert told[3].content[0] == {"type": "text", "text": "スクリーンショット"}
        assert (told[5].content, told[5].platform_message_id) == ("lone \ud800 and NUL \0 stay", "tg-9")
        assert db.sessions.system_prompt("s-deploy") == "You help."
        assert db.sessions.get("s-deploy").extras == {"x": 1}
        assert [m.content for m in db.messages.list("s-old")] == ["short form"]


def test_lineage_titles_and_search_go_on(old_store: Path) -> None:
    with SessionDB.open(old_store) as db:
        tip = db.sessions.resume("s-deploy")
        assert tip.parent_id == "s-deploy"
        assert [hit.conversation_id for hit in db.search.messages("升级")] == [tip.id]
        assert tip.id in {hit.session_id for hit in db.search.messages("الترقية")}
        assert db.search.messages("delegate", include_children=True)[0].session_id == "s-sub"
        assert db.sessions.get("s-old").archived
        added = db.messages.append(tip.id, role="user", content="weiter geht es")
        assert db.search.messages("weiter")[0].message_id == added.id
