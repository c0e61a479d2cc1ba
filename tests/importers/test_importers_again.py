"""A second import brings in what changed, never twice, and never takes away what is here."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from hermes_homes import START, Home

from hermes_state.importers import import_hermes
from hermes_state.importers.batch import Batch
from hermes_state.messages import ANY_STATE
from hermes_state.records import MessageState, Relation

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from hermes_state.importers import ImportReport
    from hermes_state.store import SessionDB


def texts(db: SessionDB, session_id: str, *states: MessageState) -> list[Any]:
    return [m.content for m in db.messages.list(session_id, states=states or (MessageState.ACTIVE,))]


def everything(db: SessionDB) -> list[Any]:
    """Every row of the tables an import writes, but for the times of the import itself."""
    names = ("sessions", "messages", "usage", "routes", "handoffs", "meta", "imported_messages", "system_prompts")
    with db.engine.read() as connection:
        return [connection.exec_driver_sql(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names]


def rich(home: Home) -> None:
    home.session("a", title="plan", ended_at=START + 50, end_reason="compression", input_tokens=5, model="m")
    home.session("b", parent_session_id="a", started_at=START + 60, system_prompt="p")
    home.session("c", parent_session_id="a", source="subagent", model_config={"_delegate_from": "a"})
    home.talk("a", "one", "two", "three")
    home.message("b", "four", platform_message_id="p1")
    home.message("b", "five", active=0)
    home.message("b", "six", active=0, compacted=1)
    home.insert("gateway_routing", session_key="k", entry_json='{"session_id": "b"}', updated_at=START)
    home.insert("state_meta", key="x", value="y")


def nothing_changed(report: ImportReport) -> bool:
    return not report.changed_anything and report.sessions_unchanged == report.sessions_found


def test_a_second_run_changes_nothing(db: SessionDB, home: Home) -> None:
    rich(home)
    import_hermes(db, home.folder)
    before = everything(db)
    report = import_hermes(db, home.folder)
    assert nothing_changed(report)
    assert everything(db) == before


def test_new_messages_and_sessions_are_added(db: SessionDB, home: Home) -> None:
    rich(home)
    import_hermes(db, home.folder)
    home.talk("b", "seven")
    home.session("d", parent_session_id="b", model_config={"_branched_from": "b"})
    home.talk("d", "eight")
    report = import_hermes(db, home.folder)
    assert (report.sessions_added, report.sessions_changed, report.messages_added) == (1, 1, 2)
    assert texts(db, "b") == ["four", "seven"]
    assert db.sessions.get("d").relation == Relation.BRANCH
    assert db.sessions.get("b").message_count == 2


def test_changed_states_follow(db: SessionDB, home: Home) -> None:
    home.session("s")
    ids = home.talk("s", "one", "two", "three", "four")
    import_hermes(db, home.folder)
    home.update("messages", ids[0], active=0, compacted=1)
    home.update("messages", ids[3], active=0)
    home.update("sessions", "s", rewind_count=1)
    home.talk("s", "summary")
    report = import_hermes(db, home.folder)
    assert (report.messages_changed, report.messages_added) == (2, 1)
    assert texts(db, "s") == ["two", "three", "summary"]
    assert texts(db, "s", MessageState.COMPACTED) == ["one"]
    assert texts(db, "s", MessageState.REWOUND) == ["four"]
    assert (db.sessions.get("s").message_count, db.sessions.get("s").rewind_count) == (3, 1)
    home.update("messages", ids[3], active=1)
    import_hermes(db, home.folder)
    assert texts(db, "s") == ["two", "three", "four", "summary"]


def test_title_archive_end_prompt_and_usage_follow(db: SessionDB, home: Home) -> None:
    home.session("s", title="plan", input_tokens=5, model="m")
    import_hermes(db, home.folder)
    home.update(
        "sessions", "s", title="better plan", archived=1, ended_at=START + 5, end_reason="idle", input_tokens=9,
        model="n", system_prompt="be kind", cwd="/w", session_key="k", handoff_state="failed", handoff_platform="cli",
    )  # fmt: skip
    report = import_hermes(db, home.folder)
    assert report.sessions_changed == 1
    session = db.sessions.get("s")
    assert (session.title, session.archived, session.end_reason, session.model) == ("better plan", True, "idle", "n")
    assert (session.cwd, session.extras) == ("/w", {"session_key": "k"})
    assert db.sessions.system_prompt("s") == "be kind"
    assert sum(u.input_tokens for u in db.usage.of_session("s")) >= 9
    handoff = db.handoffs.get("s")
    assert handoff is not None
    assert handoff.state == "failed"
    home.update("sessions", "s", archived=0, ended_at=None, end_reason=None)
    import_hermes(db, home.folder)
    assert (db.sessions.get("s").archived, db.sessions.get("s").ended_at) == (False, None)


def test_what_was_changed_here_only_stays(db: SessionDB, home: Home) -> None:
    home.session("s", title="plan")
    ids = home.talk("s", "one", "two", "three")
    import_hermes(db, home.folder)
    db.sessions.rename("s", "mine")
    db.sessions.archive("s")
    db.sessions.tag("s", "keep")
    db.messages.rewind("s", last=1)
    db.messages.append("s", role="user", content="said here")
    home.talk("s", "four")
    home.update("messages", ids[2], api_content="sent")
    home.update("sessions", "s", title="theirs")
    report = import_hermes(db, home.folder)
    session = db.sessions.get("s")
    assert (session.title, session.archived, session.tags) == ("mine", True, ("keep",))
    assert texts(db, "s") == ["one", "two", "said here", "four"]
    (taken,) = db.messages.list("s", states=(MessageState.REWOUND,))
    assert (taken.content, taken.api_content) == ("three", "sent")
    assert report.warning_counts == {"title_kept": 1}


def test_sessions_deleted_here_are_not_brought_back_unless_asked(db: SessionDB, home: Home) -> None:
    rich(home)
    home.session("s", title="old")
    home.talk("s", "x")
    import_hermes(db, home.folder)
    db.sessions.delete("s")
    home.talk("s", "y")
    report = import_hermes(db, home.folder)
    assert db.sessions.find("s") is None
    assert (report.sessions_deleted_here, report.sessions_added) == (1, 0)
    report = import_hermes(db, home.folder, include_deleted=True)
    assert report.sessions_added == 1
    assert texts(db, "s") == ["x", "y"]


def test_a_copied_home_does_not_bring_back_what_was_deleted_here(db: SessionDB, home: Home, tmp_path: Path) -> None:
    home.session("s")
    home.session("t")
    home.talk("s", "x")
    import_hermes(db, home.folder)
    db.sessions.delete("s")
    copy = copied(home, tmp_path)
    report = import_hermes(db, copy)
    assert (report.sessions_deleted_here, report.sessions_added) == (1, 0)


def test_sessions_deleted_there_stay_here(db: SessionDB, home: Home) -> None:
    home.session("s", title="old")
    home.session("t")
    home.talk("s", "x")
    import_hermes(db, home.folder)
    home.sql.execute("DELETE FROM messages WHERE session_id = 's'")
    home.delete("sessions", "s")
    report = import_hermes(db, home.folder)
    assert report.sessions_gone == 1
    assert texts(db, "s") == ["x"]
    assert db.sessions.get("s").title == "old"


def test_messages_deleted_there_are_taken_back_here_and_compacted_ones_stay(db: SessionDB, home: Home) -> None:
    home.session("s")
    ids = home.talk("s", "one", "two", "three")
    old = home.message("s", "zero", active=0, compacted=1)
    import_hermes(db, home.folder)
    home.delete("messages", ids[1], ids[2], old)
    report = import_hermes(db, home.folder)
    assert report.messages_gone == 3
    assert texts(db, "s") == ["one"]
    assert texts(db, "s", MessageState.COMPACTED) == ["zero"]
    assert texts(db, "s", MessageState.REWOUND) == ["two", "three"]
    assert nothing_changed(import_hermes(db, home.folder))
    db.messages.undo_rewind("s")
    assert texts(db, "s") == ["one", "two", "three"]


def test_a_rewritten_transcript_keeps_what_is_equal_and_its_order(db: SessionDB, home: Home) -> None:
    home.session("s")
    ids = home.talk("s", "one", "two", "three", "four")
    import_hermes(db, home.folder)
    first = db.messages.list("s")[0].id
    home.delete("messages", *ids)
    home.message("s", "one", platform_message_id="p")
    home.talk("s", "TWO", "three")
    report = import_hermes(db, home.folder)
    assert texts(db, "s") == ["one", "TWO", "three"]
    assert db.messages.list("s")[0].id == first
    assert db.messages.list("s")[0].platform_message_id == "p"
    assert texts(db, "s", MessageState.REWOUND) == ["two", "three", "four"]
    assert (report.messages_added, report.messages_gone) == (2, 3)
    assert nothing_changed(import_hermes(db, home.folder))
    assert len(db.messages.list("s", states=ANY_STATE)) == 6


def test_a_platform_id_goes_to_the_message_said_anew(db: SessionDB, home: Home) -> None:
    home.session("s")
    old = home.message("s", "helo", platform_message_id="p")
    import_hermes(db, home.folder)
    home.delete("messages", old)
    home.message("s", "hello", platform_message_id="p")
    import_hermes(db, home.folder)
    assert [(m.content, m.platform_message_id) for m in db.messages.list("s")] == [("hello", "p")]


def test_a_text_changed_in_place_is_followed_and_found(db: SessionDB, home: Home) -> None:
    home.session("s")
    ids = home.talk("s", "first zebra", "second", "third")
    import_hermes(db, home.folder)
    home.update("messages", ids[0], content="first giraffe")
    home.talk("s", "fourth")
    report = import_hermes(db, home.folder)
    assert texts(db, "s") == ["first giraffe", "second", "third", "fourth"]
    assert report.messages_changed == 1
    assert nothing_changed(import_hermes(db, home.folder))


def test_an_import_cut_off_anywhere_is_completed_by_the_next(
    db: SessionDB, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_state.importers import batch
    from hermes_state.store import SessionDB as Store

    rich(home)
    for n in range(6):
        home.session(f"s{n}")
        home.talk(f"s{n}", *(f"m{n}.{i}" for i in range(9)))
    monkeypatch.setattr(batch, "MAX_ROWS", 4)
    monkeypatch.setattr("hermes_state.importers.hermes_sync._PAGE", 2)
    import_hermes(db, home.folder)
    wanted = [[m.content for m in db.messages.list(s.id, states=ANY_STATE)] for s in all_sessions(db)]
    left = 0
    flush = Batch.flush

    def cut_off(self: Batch) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        flush(self)

    monkeypatch.setattr(Batch, "flush", cut_off)
    runs = 0
    with Store.open(tmp_path / "other.db", synchronous="NORMAL") as other:
        while True:
            left, runs = 3, runs + 1
            try:
                import_hermes(other, home.folder)
                break
            except KeyboardInterrupt:
                assert runs < 200
        assert runs > 5
        left = 100
        assert nothing_changed(import_hermes(other, home.folder))
        assert [[m.content for m in other.messages.list(s.id, states=ANY_STATE)] for s in all_sessions(other)] == wanted
        counts = [(s.id, s.message_count, s.conversation_id) for s in all_sessions(other)]
        assert counts == [(s.id, s.message_count, s.conversation_id) for s in all_sessions(db)]


def all_sessions(db: SessionDB) -> list[Any]:
    from hermes_state.listing import SessionFilter

    found = db.sessions.list(SessionFilter(every_segment=True, archived=None), limit=None)
    return sorted(found, key=lambda s: s.id)


# --- the same id ------------------------------------------------------------------------------------------------


def copied(home: Home, tmp_path: Path, name: str = "copy") -> Path:
    home.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    target = tmp_path / name
    target.mkdir()
    shutil.copy(home.path, target / "state.db")
    return target


def test_a_home_that_moved_goes_on_where_it_was(db: SessionDB, home: Home, tmp_path: Path) -> None:
    rich(home)
    import_hermes(db, home.folder)
    db.sessions.rename("b", "mine")
    home.talk("b", "seven")
    moved = copied(home, tmp_path)
    report = import_hermes(db, moved)
    assert (report.sessions_added, report.messages_added) == (0, 1)
    assert texts(db, "b") == ["four", "seven"]
    assert db.sessions.get("b").title == "mine"
    assert not report.warnings
    assert nothing_changed(import_hermes(db, moved))


def test_a_copied_home_that_went_on_in_two_places_loses_neither_side(db: SessionDB, home: Home, tmp_path: Path) -> None:
    home.session("s")
    home.talk("s", "one", "two")
    other = Home.__new__(Home)
    folder = copied(home, tmp_path)
    import sqlite3

    other.sql = sqlite3.connect(folder / "state.db", isolation_level=None)
    home.talk("s", "three here", "four here")
    other.talk("s", "three there")
    import_hermes(db, home.folder)
    report = import_hermes(db, folder)
    assert texts(db, "s") == ["one", "two", "three here", "four here", "three there"]
    assert report.messages_added == 1
    assert nothing_changed(import_hermes(db, home.folder))
    assert nothing_changed(import_hermes(db, folder))
    other.sql.close()


def test_two_different_sessions_with_one_id_both_come_in(db: SessionDB, home: Home) -> None:
    db.sessions.create("test", source="cli", title="mine")
    db.messages.append("test", role="user", content="my words")
    home.session("test", title="theirs")
    home.talk("test", "their words", "and more")
    home.session("child", parent_session_id="test", model_config={"_branched_from": "test"})
    report = import_hermes(db, home.folder)
    assert texts(db, "test") == ["my words"]
    (other,) = [s for s in all_sessions(db) if s.id.startswith("test~")]
    assert texts(db, other.id) == ["their words", "and more"]
    assert other.title == "theirs"
    assert db.sessions.get("child").parent_id == other.id
    assert report.warning_counts == {"id_taken": 1}
    assert nothing_changed(import_hermes(db, home.folder))


def test_a_session_that_both_sides_hold_is_one_session(db: SessionDB, home: Home) -> None:
    db.sessions.create("s", source="cli", title="mine")
    db.messages.append_many("s", [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}])
    home.session("s", title="theirs", archived=1)
    home.talk("s", "one", "two", "three")
    report = import_hermes(db, home.folder)
    assert texts(db, "s") == ["one", "two", "three"]
    assert (db.sessions.get("s").title, db.sessions.get("s").archived) == ("mine", False)
    assert (report.sessions_added, report.sessions_changed, report.messages_added) == (0, 1, 1)
    assert nothing_changed(import_hermes(db, home.folder))


def test_redelivered_json_numbers_keep_their_digest(db: SessionDB, home: Home) -> None:
    home.session("s", model_config=json.dumps({"temperature": 0.1, "big": 2**70}))
    home.message("s", "\0json:" + json.dumps([1, 2.5, None, True]))
    import_hermes(db, home.folder)
    assert texts(db, "s") == [[1, 2.5, None, True]]
    assert db.sessions.get("s").model_config == {"temperature": 0.1, "big": 2**70}
    assert nothing_changed(import_hermes(db, home.folder))
