"""Hermes import: every session and message of every schema comes in, with states, lineage, usage and all columns."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hermes_homes import START, VERSIONS, Home

from hermes_state.errors import FormatError, LeaseHeld, StoreUnavailable
from hermes_state.importers import detect, import_hermes, sources
from hermes_state.listing import SessionFilter
from hermes_state.records import MessageState, Relation
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

PARTS = [{"type": "text", "text": "a heron"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iV"}}]
CALLS = [{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}]


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def texts(db: SessionDB, session_id: str, *states: MessageState) -> list[Any]:
    return [m.content for m in db.messages.list(session_id, states=states or (MessageState.ACTIVE,))]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_schema_version_comes_in_whole(db: SessionDB, tmp_path: Path, version: int) -> None:
    home = Home(tmp_path / "hermes", version=version)
    home.session("s1", title="plan", model="m", cwd="/w", ended_at=START + 9, end_reason="cli_close", archived=1)
    home.talk("s1", "请把 redis 升级到 7.2", "done")
    report = import_hermes(db, home.folder)
    home.close()
    assert (report.schema_version, report.sessions_added, report.messages_added) == (version, 1, 2)
    assert not report.warnings
    session = db.sessions.get("s1")
    assert (session.title, session.model, session.cwd, session.archived) == ("plan", "m", "/w", True)
    assert (session.end_reason, session.ended_at, session.started_at) == ("cli_close", at(START + 9), at(START))
    assert (session.message_count, session.last_active_at) == (2, at(START + 2))
    assert texts(db, "s1") == ["请把 redis 升级到 7.2", "done"]


def test_message_states_follow_active_and_compacted(db: SessionDB, home: Home) -> None:
    home.session("s", rewind_count=2)
    for active, compacted, text in [(1, 0, "a"), (0, 1, "c"), (0, 0, "r"), (None, 0, "n"), (1, 1, "b")]:
        home.sql.execute("PRAGMA ignore_check_constraints=1")
        home.message("s", text, active=active, compacted=compacted)
    import_hermes(db, home.folder)
    assert texts(db, "s") == ["a", "n", "b"]
    assert texts(db, "s", MessageState.COMPACTED) == ["c"]
    assert texts(db, "s", MessageState.REWOUND) == ["r"]
    assert db.sessions.get("s").rewind_count == 2
    assert db.sessions.get("s").message_count == 3


def test_every_message_column_comes_back(db: SessionDB, home: Home) -> None:
    home.session("s")
    home.message(
        "s", "\0json:" + json.dumps(PARTS), token_count=7, finish_reason="stop", reasoning="hm", observed=1,
        reasoning_content="hmm", reasoning_details='[{"t": 1}]', codex_reasoning_items='{"a": 2}',
        codex_message_items="not json", platform_message_id="p1", effect_disposition="read", api_content="exact",
    )  # fmt: skip
    home.message("s", "", "assistant", tool_calls=json.dumps(CALLS))
    home.message("s", "out", "tool", tool_call_id="c1")
    import_hermes(db, home.folder)
    first, call, result = db.messages.list("s")
    got = {f.name: getattr(first, f.name) for f in dataclasses.fields(first)}
    assert got == got | {
        "content": PARTS, "token_count": 7, "finish_reason": "stop", "reasoning": "hm", "observed": True,
        "reasoning_content": "hmm", "reasoning_details": [{"t": 1}], "codex_reasoning_items": {"a": 2},
        "codex_message_items": "not json", "platform_message_id": "p1", "effect_disposition": "read",
        "api_content": "exact", "extras": {},
    }  # fmt: skip
    assert (call.tool_calls, call.content) == (CALLS, "")
    assert (result.tool_call_id, result.tool_name) == ("c1", "terminal")
    assert db.sessions.get("s").tool_call_count == 1


def test_unknown_columns_go_to_extras_and_unknown_tables_are_named(db: SessionDB, tmp_path: Path) -> None:
    home = Home(tmp_path / "new", version=99)
    home.session("s", mood="calm", aura=b"\x00\xff", pinned=1, session_key="agent:main:x", pricing_version="v3")
    home.message("s", "hi", sparkle="much", display_identity=b"\x01", display_kind="plain")
    home.message("s", "plain")
    report = import_hermes(db, home.folder)
    home.close()
    assert db.sessions.get("s").extras == {
        "mood": "calm", "aura": {"base64": "AP8="}, "pinned": 1, "session_key": "agent:main:x", "pricing_version": "v3",
    }  # fmt: skip
    first, second = db.messages.list("s")
    assert first.extras == {"sparkle": "much", "display_identity": {"base64": "AQ=="}, "display_kind": "plain"}
    assert second.extras == {}
    assert report.left_out == {"dreams": 1}


def test_values_that_are_not_what_they_should_be_are_kept_and_reported(db: SessionDB, home: Home) -> None:
    home.session("s", model_config="{broken", origin_json="[1]")
    home.message("s", "\0json:{oops", tool_calls="[{]", timestamp=None)
    home.message("s", "two", tool_calls='{"id": 1}', timestamp="2026-01-02T03:04:05+00:00")
    home.message("s", "three", timestamp=-5.0)
    home.message("s", "four", timestamp=1_760_000_100_000.0)
    home.message("s", b"\xff\xfebytes", role="")
    deep = "[" * 5000 + "]" * 5000
    home.message("s", "\0json:" + deep)
    report = import_hermes(db, home.folder)
    got = db.messages.list("s")
    assert got[0].content == "\0json:{oops"
    assert got[0].extras == {"tool_calls": "[{]", "timestamp": None}
    assert (got[0].created_at, got[0].tool_calls) == (at(START), None)
    assert got[1].extras == {"tool_calls": '{"id": 1}', "timestamp": "2026-01-02T03:04:05+00:00"}
    assert got[1].created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (got[2].created_at, got[2].extras) == (got[1].created_at, {"timestamp": -5.0})
    assert got[3].created_at == at(1_760_000_100)
    assert (got[4].role, got[4].extras["role"], got[4].content) == ("unknown", "", {"base64": "//5ieXRlcw=="})
    assert got[5].content == "\0json:" + deep
    assert db.sessions.get("s").extras == {"model_config": "{broken", "origin_json": "[1]"}
    assert report.warning_counts == {"bad_timestamp": 4, "bad_tool_calls": 2, "bad_role": 1}
    assert all(w.where.startswith("s message ") for w in report.warnings)


def test_text_that_is_not_utf8_is_kept_byte_for_byte(db: SessionDB, home: Home) -> None:
    home.session("s")
    row = home.message("s", "x")
    home.sql.execute("UPDATE messages SET content = CAST(x'61ff62' AS TEXT) WHERE id = ?", (row,))
    report = import_hermes(db, home.folder)
    (text,) = texts(db, "s")
    assert text.encode("utf-8", "surrogateescape") == b"a\xffb"
    assert report.warning_counts == {"not_utf8": 1}


def test_a_platform_id_twice_in_one_session_loses_no_message(db: SessionDB, home: Home) -> None:
    home.session("s")
    home.session("t")
    home.message("s", "one", platform_message_id="p")
    home.message("s", "two", platform_message_id="p")
    home.message("t", "three", platform_message_id="p")
    report = import_hermes(db, home.folder)
    assert texts(db, "s") == ["one", "two"]
    assert [m.platform_message_id for m in db.messages.list("s")] == ["p", None]
    assert db.messages.list("s")[1].extras == {"platform_message_id": "p"}
    assert db.messages.list("t")[0].platform_message_id == "p"
    assert report.warning_counts == {"platform_id_twice": 1}


def test_messages_stand_in_order_of_their_id_whatever_their_times(db: SessionDB, home: Home) -> None:
    home.session("s")
    home.session("t")
    for n, when in enumerate([5.0, 1.0, 3.0]):
        home.message("s", f"s{n}", timestamp=START + when)
        home.message("t", f"t{n}", timestamp=START - when)
    import_hermes(db, home.folder)
    assert texts(db, "s") == ["s0", "s1", "s2"]
    assert [m.position for m in db.messages.list("t")] == [0, 1, 2]
    assert db.sessions.get("s").last_active_at == at(START + 5)


def test_titles_that_are_taken_or_too_long_are_numbered_cut_and_reported(db: SessionDB, home: Home) -> None:
    db.sessions.create("mine", source="cli", title="plan")
    home.session("s", title="plan")
    home.session("t", title="x" * 120)
    home.session("u", title="Fix issue #42")
    report = import_hermes(db, home.folder)
    assert db.sessions.get("mine").title == "plan"
    assert db.sessions.get("s").title == "plan #2"
    assert db.sessions.get("t").title == "x" * 100
    assert db.sessions.get("t").extras == {"title": "x" * 120}
    assert db.sessions.get("u").title == "Fix issue #42"
    assert report.warning_counts == {"title_taken": 1, "title_cleaned": 1}


def test_prompts_are_stored_once_and_read_from_their_own_table(db: SessionDB, tmp_path: Path) -> None:
    home = Home(tmp_path / "new", version=25)
    home.insert("system_prompts", hash="h1", prompt="be kind")
    home.session("a", system_prompt_hash="h1")
    home.session("b", system_prompt="be kind")
    home.session("c", system_prompt_hash="lost")
    report = import_hermes(db, home.folder)
    home.close()
    assert [db.sessions.system_prompt(s) for s in "abc"] == ["be kind", "be kind", None]
    with db.engine.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM system_prompts").scalar() == 1
    assert report.warning_counts == {"missing_prompt": 1}


def test_usage_comes_from_the_ledger_and_what_it_is_short_of_from_the_totals(db: SessionDB, home: Home) -> None:
    common = {"billing_provider": "p", "billing_base_url": "u", "billing_mode": "m"}
    home.session(
        "s", model="big", input_tokens=150, output_tokens=20, api_call_count=3, estimated_cost_usd=0.5, **common
    )
    row = {"input_tokens": 100, "output_tokens": 20, "estimated_cost_usd": 0.2, "cost_status": "estimated"} | common
    home.insert("session_model_usage", session_id="s", model="big", api_call_count=2, first_seen=START + 1, **row)
    home.insert("session_model_usage", session_id="s", model="tiny", task="title_generation", input_tokens=9)
    home.session("t", model="old", input_tokens=5, output_tokens=6, api_call_count=1)
    report = import_hermes(db, home.folder)
    main, title = sorted(db.usage.of_session("s"), key=lambda u: u.task)
    assert (main.model, main.input_tokens, main.output_tokens, main.api_calls) == ("big", 150, 20, 3)
    assert main.estimated_cost_usd == pytest.approx(0.5)
    assert (main.provider, main.base_url, main.mode, main.actual_cost_usd) == ("p", "u", "m", None)
    assert main.first_at == at(START)
    assert (title.model, title.input_tokens, title.estimated_cost_usd) == ("tiny", 9, None)
    (old,) = db.usage.of_session("t")
    assert (old.model, old.input_tokens, old.output_tokens, old.api_calls) == ("old", 5, 6, 1)
    assert report.usage_rows == 3


def test_routes_handoffs_and_settings_come_too(db: SessionDB, home: Home) -> None:
    home.session("s", source="telegram", chat_id="c1", chat_type="dm", thread_id="t1", user_id="u1",
                 display_name="Ann", origin_json='{"platform": "telegram"}', handoff_state="pending",
                 handoff_platform="telegram")  # fmt: skip
    home.session("odd", handoff_state="limbo")
    entry = {"session_id": "s", "reset": 1}
    home.insert("gateway_routing", scope="/x", session_key="k", entry_json=json.dumps(entry), updated_at=START)
    home.insert("gateway_routing", session_key="gone", entry_json='{"session_id": "zz"}', updated_at=START)
    home.insert("state_meta", key="goal:s", value="ship it")
    report = import_hermes(db, home.folder)
    session = db.sessions.get("s")
    assert (session.chat_id, session.thread_id, session.user_id, session.display_name) == ("c1", "t1", "u1", "Ann")
    assert session.origin == {"platform": "telegram"}
    route = db.routes.get("k", scope="/x")
    assert route is not None
    assert (route.session_id, route.entry, route.updated_at) == ("s", entry, at(START))
    handoff = db.handoffs.get("s")
    assert handoff is not None
    assert (handoff.state, handoff.platform) == ("pending", "telegram")
    assert db.sessions.get("odd").extras == {"handoff_state": "limbo"}
    assert db.meta.get("hermes:goal:s") == "ship it"
    assert (report.routes, report.handoffs, report.settings) == (2, 1, 1)
    assert report.warning_counts == {"route_without_session": 1}


def test_messages_whose_session_is_gone_come_in_under_a_session_made_anew(db: SessionDB, home: Home) -> None:
    home.talk("ghost", "boo", "hm")
    report = import_hermes(db, home.folder)
    assert texts(db, "ghost") == ["boo", "hm"]
    assert db.sessions.get("ghost").source == "unknown"
    assert db.sessions.get("ghost").started_at == at(START + 1)
    assert report.warning_counts == {"missing_session": 1}


def test_an_id_the_store_can_not_keep_is_replaced(db: SessionDB, home: Home) -> None:
    home.session("a\nb")
    home.message("a\nb", "hi")
    report = import_hermes(db, home.folder)
    (session,) = db.sessions.list(SessionFilter(every_segment=True))
    assert session.id.startswith("imported_")
    assert session.extras == {"id": "a\nb"}
    assert texts(db, session.id) == ["hi"]
    assert report.warning_counts == {"bad_id": 1}


def test_a_session_longer_than_a_transaction_comes_in_whole(db: SessionDB, home: Home) -> None:
    home.session("s")
    home.sql.execute("BEGIN")
    for n in range(5003):
        home.message("s", f"m{n}", platform_message_id=f"p{n}")
    home.sql.execute("COMMIT")
    report = import_hermes(db, home.folder)
    assert report.messages_added == 5003
    assert texts(db, "s") == [f"m{n}" for n in range(5003)]
    assert db.sessions.get("s").message_count == 5003


def test_appends_go_on_with_fresh_ids_after_an_import(db: SessionDB, home: Home) -> None:
    home.session("s")
    home.talk("s", "one", "two")
    before = db.messages.append(db.sessions.create("mine", source="cli").id, role="user", content="x").id
    import_hermes(db, home.folder)
    after = db.messages.append("s", role="user", content="three")
    assert after.id == before + 3
    assert after.position == 2
    assert db.sessions.get("s").message_count == 3
    assert db.sessions.get("mine").message_count == 1


def test_profiles_are_offered_and_imported_by_name(db: SessionDB, home: Home) -> None:
    work = Home(home.folder / "profiles" / "work")
    home.session("a")
    work.session("b")
    work.insert("state_meta", key="k", value="v")
    assert [(s.profile, s.path.parent) for s in sources(home.folder)] == [(None, home.folder), ("work", work.folder)]
    assert [(p.source.profile, p.sessions) for p in detect(None, home.folder)] == [(None, 1), ("work", 1)]
    import_hermes(db, home.folder, profile="work")
    assert db.sessions.get("b").profile == "work"
    assert db.sessions.find("a") is None
    assert db.meta.get("hermes:work/k") == "v"
    assert [p.source.profile for p in detect(db, home.folder)] == [None]
    assert sources(work.path)[0].profile == "work"
    work.close()
    with pytest.raises(StoreUnavailable) as caught:
        import_hermes(db, home.folder, profile="play")
    assert "work" in caught.value.hint


def test_detect_says_what_is_new_and_is_silent_when_nothing_is(db: SessionDB, home: Home) -> None:
    assert detect(db, home.folder / "nowhere") == []
    assert detect(db, home.folder) == []
    home.session("a")
    home.talk("a", "x")
    (pending,) = detect(db, home.folder)
    assert (pending.sessions, pending.new_sessions, pending.has_news, pending.imported_before) == (1, 1, True, False)
    import_hermes(db, home.folder)
    assert detect(db, home.folder) == []
    home.talk("a", "y")
    home.session("b")
    (pending,) = detect(db, home.folder)
    assert (pending.sessions, pending.new_sessions, pending.has_news, pending.imported_before) == (2, 1, True, True)


def test_what_is_not_a_hermes_database_is_refused_by_name(db: SessionDB, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"no Hermes state\.db"):
        import_hermes(db, tmp_path / "nothing")
    text = tmp_path / "notes.db"
    text.write_text("these are notes, long enough to be no database" * 50)
    with pytest.raises(FormatError, match="not a SQLite database"):
        import_hermes(db, text)
    with pytest.raises(FormatError, match="no table 'sessions'"):
        import_hermes(db, _other_database(tmp_path))
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(FormatError, match="no table 'sessions'"):
        import_hermes(db, empty)


def _other_database(folder: Path) -> Path:
    import sqlite3

    path = folder / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    return path


def test_two_imports_at_once_are_refused(db: SessionDB, home: Home) -> None:
    home.session("s")
    with db.leases.hold("import", "somebody"), pytest.raises(LeaseHeld):
        import_hermes(db, home.folder)
    assert import_hermes(db, home.folder).sessions_added == 1


def test_lineage_kinds_are_told_by_markers_ends_and_sources(db: SessionDB, home: Home) -> None:
    home.session("root", title="plan", ended_at=START + 10, end_reason="compression", archived=1)
    home.session("next", parent_session_id="root", started_at=START + 10, model_config={"_branched_from": "older"})
    home.session("branch", parent_session_id="root", model_config={"_branched_from": "root"})
    home.session("worker", parent_session_id="root", source="subagent", model_config={"_delegate_from": "root"})
    home.session("old-worker", parent_session_id="root", source="subagent")
    home.session("split", ended_at=START + 5, end_reason="branched")
    home.session("limb", parent_session_id="split", started_at=START + 6)
    home.session("early", parent_session_id="split", started_at=START + 1)
    home.session("daily", ended_at=START + 5, end_reason="daily")
    home.session("today", parent_session_id="daily", model_config={"_reset_from": "daily"})
    home.session("orphan", model_config={"_delegate_from": "__orphaned__"})
    import_hermes(db, home.folder)
    kinds = {s.id: s.relation for s in db.sessions.list(SessionFilter(every_segment=True, archived=None), limit=None)}
    assert kinds == {
        "root": None, "next": Relation.COMPRESSION, "branch": Relation.BRANCH, "worker": Relation.DELEGATE,
        "old-worker": Relation.DELEGATE, "split": None, "limb": Relation.BRANCH, "early": Relation.RESET,
        "daily": None, "today": Relation.RESET, "orphan": Relation.DELEGATE,
    }  # fmt: skip
    assert db.sessions.resume("root").id == "next"
    assert db.sessions.get("branch").conversation_id == "branch"
    listed = {s.id for s in db.sessions.list(SessionFilter(archived=None), limit=None)}
    assert listed == {"next", "branch", "split", "limb", "early", "daily", "today"}


def test_a_worker_that_was_compressed_stays_hidden(db: SessionDB, home: Home) -> None:
    config = {"_delegate_from": "root"}
    home.session("w2", parent_session_id="w1", source="subagent", started_at=START + 5, model_config=config)
    home.session(
        "w1",
        parent_session_id="root",
        source="subagent",
        ended_at=START + 4,
        end_reason="compression",
        model_config=config,
    )
    home.session("root")
    import_hermes(db, home.folder)
    assert db.sessions.get("w2").relation == Relation.COMPRESSION
    assert db.sessions.get("w2").delegated
    assert [s.id for s in db.sessions.list()] == ["root"]


def test_the_live_child_of_two_is_the_one_to_resume(db: SessionDB, home: Home) -> None:
    home.session("root", ended_at=START + 1, end_reason="compression")
    home.session("live", parent_session_id="root", started_at=START + 2)
    home.session(
        "stale", parent_session_id="root", started_at=START + 3, ended_at=START + 9, end_reason="ws_orphan_reap"
    )
    home.talk("stale", "later")
    import_hermes(db, home.folder)
    assert db.sessions.resume("root").id == "live"


def test_circles_and_missing_parents_are_reported_and_lose_nothing(db: SessionDB, home: Home) -> None:
    home.session("self", parent_session_id="self")
    home.session("a", parent_session_id="c", started_at=START + 1)
    home.session("b", parent_session_id="a", started_at=START + 2)
    home.session("c", parent_session_id="b", started_at=START + 3)
    home.session("lost", parent_session_id="pruned", model_config={"_branched_from": "pruned"})
    report = import_hermes(db, home.folder)
    assert report.sessions_added == 5
    assert report.warning_counts == {"lineage_circle": 2, "missing_parent": 1}
    assert [db.sessions.get(i).parent_id for i in ("self", "a", "b", "c")] == [None, None, "a", "b"]
    assert db.sessions.get("a").extras == {"parent_session_id": "c"}
    assert db.sessions.get("lost").extras == {"unresolved_parent": {"id": "pruned", "relation": "branch"}}
    home.session("pruned")
    import_hermes(db, home.folder)
    assert (db.sessions.get("lost").parent_id, db.sessions.get("lost").relation) == ("pruned", Relation.BRANCH)
    assert db.sessions.get("lost").extras == {}


def test_a_store_that_keeps_no_secrets_takes_none_in(home: Home, tmp_path: Path) -> None:
    secret = "sk-test-ABCDEF0123456789abcdef"
    home.session("s", title=f"about {secret}", model_config={"api_key": secret}, system_prompt=f"use {secret}")
    home.message("s", f"my key is {secret}", reasoning=secret, tool_calls=json.dumps([{"arguments": secret}]))
    with SessionDB.open(tmp_path / "clean.db", redact=True) as clean:
        import_hermes(clean, home.folder)
        assert clean.messages.list("s")[0].content.startswith("my key is [redacted:openai-key:")
        assert not import_hermes(clean, home.folder).changed_anything
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.glob("clean.db*"))
