"""Sessions: made once, completed, ended, found, listed."""

from __future__ import annotations

import datetime as dt
import threading
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.errors import (
    Conflict,
    HandleUnusable,
    InvalidValue,
    ReadOnlyStore,
    SessionExists,
    SessionNotFound,
    TitleTaken,
)
from hermes_state.listing import SessionFilter
from hermes_state.records import Relation
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
SUMMARY = [{"role": "user", "content": "summary"}]
ORIGIN: dict[str, Any] = {
    "model": "m-1",
    "user_id": "u",
    "chat_id": "c",
    "chat_type": "dm",
    "thread_id": "t",
    "display_name": "Ann 安",
    "cwd": "/home/ann/my project",
    "git_branch": "main",
    "git_root": "/home/ann",
    "profile": "work",
    "model_config": {"temperature": 0.1, "x": [1, None, "\ud800"]},
    "origin": {"platform": "telegram", "n": 1},
    "extras": {"anything": {"at": "all"}},
}


def test_everything_about_a_session_comes_back(db: SessionDB) -> None:
    """Each field of `create` is what `get` and `list` give."""
    made = db.sessions.create("s", source="cli", title="T", started_at=NOW, system_prompt="be kind", **ORIGIN)
    assert {name: getattr(made, name) for name in ORIGIN} == ORIGIN
    assert (made.id, made.source, made.title, made.started_at, made.last_active_at) == ("s", "cli", "T", NOW, NOW)
    assert db.sessions.get("s") == made
    assert db.sessions.list() == [made]
    assert db.sessions.system_prompt("s") == "be kind"


def test_numbers_of_users_and_chats_are_kept_as_text(db: SessionDB) -> None:
    """A gateway passes the platform's integers; they are found by their digits."""
    made = db.sessions.create("s", source="telegram", user_id=42, chat_id=-1001)  # type: ignore[arg-type]
    assert (made.user_id, made.chat_id) == ("42", "-1001")
    assert [s.id for s in db.sessions.list(SessionFilter(user_id="42", chat_id="-1001"))] == ["s"]


def test_creating_twice_fills_what_was_missing(db: SessionDB) -> None:
    """B055: two creators of one id give one row with the fields of both; none overwrites the other's."""
    db.sessions.create("s", source="unknown", model="m-1", started_at=NOW)
    again = db.sessions.create("s", source="telegram", user_id="u", model="m-2", cwd="/x", title="late")
    assert (again.source, again.user_id, again.model, again.cwd, again.title) == ("telegram", "u", "m-1", "/x", "late")
    assert again.started_at == NOW
    assert db.sessions.create("s", source="cli").source == "telegram"
    assert db.sessions.count() == 1


def test_another_users_id_is_refused(db: SessionDB) -> None:
    """B038: an existing id is never taken over, and its messages stay."""
    db.sessions.create("s", source="telegram", user_id="ann")
    db.messages.append("s", role="user", content="private")
    with pytest.raises(SessionExists):
        db.sessions.create("s", source="telegram", user_id="bob", title="mine")
    assert db.sessions.get("s").user_id == "ann"
    assert db.messages.count("s") == 1


def test_ids_never_meet(db: SessionDB) -> None:
    """B038: a thousand sessions of one tick, with equal content, have a thousand ids."""
    assert len({db.sessions.create(source="cli", system_prompt="same").id for _ in range(300)}) == 300


@pytest.mark.parametrize("bad", ["", "a\nb", "\ud800", "x" * 513, 5], ids=repr)
def test_an_id_that_could_not_be_typed_is_refused(db: SessionDB, bad: Any) -> None:
    """Control characters and surrogates in ids end up in terminals, paths and URLs."""
    with pytest.raises(InvalidValue):
        db.sessions.create(bad, source="cli")


@pytest.mark.parametrize("good", ["../../etc/passwd", "cron_日本_1", "a b", "%", "*"])
def test_an_id_is_only_ever_a_name(db: SessionDB, good: str) -> None:
    """Ids of other products are kept as they are; nothing in the store makes a path or a pattern of one."""
    db.sessions.create(good, source="cli")
    assert db.sessions.resolve(good).id == good
    assert db.sessions.delete(good).deleted == (good,)


@pytest.mark.parametrize(
    "fields",
    [
        {"relation": "branch"},
        {"relation": "twin", "parent_id": "p"},
        {"source": " "},
        {"source": None},
        {"model_config": {"x": object()}},
        {"started_at": dt.datetime(2026, 1, 1)},  # noqa: DTZ001
    ],
    ids=repr,
)
def test_a_session_with_a_wrong_field_is_not_made(db: SessionDB, fields: dict[str, Any]) -> None:
    """The error is typed and nothing is left behind."""
    db.sessions.create("p", source="cli")
    with pytest.raises(InvalidValue):
        db.sessions.create("s", **({"source": "cli"} | fields))
    assert [s.id for s in db.sessions.list()] == ["p"]


def test_a_parent_that_is_not_there_is_told(db: SessionDB) -> None:
    """A dangling parent is an error of the caller, not a row without a parent."""
    with pytest.raises(SessionNotFound):
        db.sessions.create("s", source="cli", parent_id="gone")
    assert db.sessions.count() == 0


def test_the_end_of_the_parent_tells_what_a_child_is(db: SessionDB) -> None:
    """Without a stated relation: compression, branch, delegate or a fresh start, told by end reason and source."""
    expected = {
        "compression": Relation.COMPRESSION,
        "branched": Relation.BRANCH,
        "session_reset": Relation.RESET,
        None: Relation.RESET,
    }
    for reason, relation in expected.items():
        parent = db.sessions.create(source="cli").id
        if reason:
            db.sessions.end(parent, reason)
        assert db.sessions.create(source="cli", parent_id=parent).relation is relation
        delegate = db.sessions.create(source="subagent", parent_id=parent)
        assert delegate.relation is Relation.DELEGATE
        assert delegate.delegated


def test_a_session_learns_its_parent_late(db: SessionDB) -> None:
    """One first met without its parent takes its place in the conversation when the parent is named."""
    db.sessions.create("parent", source="cli")
    db.sessions.create("child", source="cli")
    db.lineage.rotate("child", SUMMARY)
    db.sessions.create("child", source="cli", parent_id="parent", relation="compression")
    segments = [s.id for s in db.lineage.segments("parent")]
    assert segments[:2] == ["parent", "child"]
    assert len(segments) == 3
    assert [s.id for s in db.sessions.list()] == [segments[-1]]
    assert db.sessions.resume("parent").id == segments[-1]
    with pytest.raises(InvalidValue, match="came from"):
        db.sessions.create("parent", source="cli", parent_id=segments[-1])


def test_a_delegate_learns_its_parent_late(db: SessionDB) -> None:
    """It leaves the list at that moment."""
    db.sessions.create("parent", source="cli")
    db.sessions.create("child", source="cli")
    db.sessions.create("child", source="cli", parent_id="parent", relation=Relation.DELEGATE)
    assert [s.id for s in db.sessions.list()] == ["parent"]
    assert db.sessions.get("child").delegated


# --- ending -----------------------------------------------------------------------------------------------------


def test_the_first_reason_wins(db: SessionDB) -> None:
    """Ending twice changes nothing; reopening makes it live, and then it can end anew."""
    db.sessions.create("s", source="cli")
    first = db.sessions.end("s", "idle")
    assert db.sessions.end("s", "cli_close") == first
    assert first.end_reason == "idle"
    reopened = db.sessions.reopen("s")
    assert (reopened.ended_at, reopened.end_reason) == (None, None)
    assert db.sessions.end("s", "cli_close").end_reason == "cli_close"


def test_a_crash_between_end_and_child_does_not_lock_the_session(db: SessionDB) -> None:
    """B061: ended by compression without a child and without a lease, the next write reopens it."""
    db.sessions.create("s", source="cli")
    db.sessions.end("s", "compression")
    assert db.messages.append("s", role="user", content="still here").position == 0
    assert db.sessions.get("s").ended_at is None


def test_a_session_ended_otherwise_stays_ended_when_written_to(db: SessionDB) -> None:
    """A late message of a closed session is stored; it does not bring the session back."""
    db.sessions.create("s", source="cli")
    db.sessions.end("s", "idle")
    db.messages.append("s", role="user", content="late")
    assert db.sessions.get("s").end_reason == "idle"


def test_a_compressed_session_is_not_reopened(db: SessionDB) -> None:
    """Its conversation goes on in the child; two live tips would split it."""
    db.sessions.create("s", source="cli")
    child = db.lineage.rotate("s", SUMMARY).child
    assert db.sessions.reopen("s").end_reason == "compression"
    assert db.sessions.resume("s").id == child.id


def test_archiving_hides_the_whole_conversation(db: SessionDB) -> None:
    """Whichever segment is named, and back; a later segment is hidden too."""
    db.sessions.create("s", source="cli")
    child = db.lineage.rotate("s", SUMMARY).child
    db.sessions.archive("s")
    assert db.sessions.list() == []
    assert [s.id for s in db.sessions.list(SessionFilter(archived=True))] == [child.id]
    assert db.lineage.rotate(child.id, SUMMARY).child.archived
    db.sessions.archive(child.id, False)
    assert len(db.sessions.list()) == 1


def test_tags_are_a_set(db: SessionDB) -> None:
    """Cleaned, sorted, added once and removed by the same spelling."""
    db.sessions.create("s", source="cli")
    assert db.sessions.tag("s", "b", " a  c ", "b", "", "\ud800").tags == ("a c", "b", "\ufffd")
    assert db.sessions.tag("s", "b").tags == ("a c", "b", "\ufffd")
    assert db.sessions.untag("s", "a  c", "\ud800", "none").tags == ("b",)
    assert [s.id for s in db.sessions.list(SessionFilter(tag="b"))] == ["s"]


def test_fields_can_be_overwritten_by_name(db: SessionDB) -> None:
    """`update` sets what `create` sets, None included, but no title and nothing unknown."""
    db.sessions.create("s", source="cli", system_prompt="old", **ORIGIN)
    changed = db.sessions.update("s", model="m-2", extras=None, source="tui", system_prompt="new", cwd=None)
    assert (changed.model, changed.extras, changed.source, changed.cwd) == ("m-2", {}, "tui", None)
    assert db.sessions.system_prompt("s") == "new"
    for wrong in ({"title": "x"}, {"id": "x"}, {"message_count": 5}):
        with pytest.raises(InvalidValue):
            db.sessions.update("s", **wrong)


# --- lists ------------------------------------------------------------------------------------------------------


def ids(found: list[Any]) -> list[str]:
    return [s.id for s in found]


@pytest.mark.parametrize("folded", [True, False])
def test_lists_are_in_order_of_activity(db: SessionDB, folded: bool) -> None:
    """Last active first on every page, whether the newest messages are in the counters yet or not."""
    for n in range(30):
        db.sessions.create(f"s{n:02}", source="cli", started_at=NOW + dt.timedelta(minutes=n))
    for n in (3, 20, 11, 3):
        db.messages.append(f"s{n:02}", role="user", content="x")
    if folded:
        db.sessions.end("s00", "idle")  # whatever changes a session brings the counters up to date
    expected = ["s03", "s11", "s20"] + [f"s{n:02}" for n in range(29, -1, -1) if n not in (3, 20, 11)]
    assert ids(db.sessions.list(limit=None)) == expected
    for offset in (0, 1, 2, 3, 7, 28, 40):
        assert ids(db.sessions.list(limit=5, offset=offset)) == expected[offset : offset + 5]
    assert ids(db.sessions.list(limit=None, offset=4)) == expected[4:]
    assert db.sessions.count() == 30


@pytest.mark.parametrize(
    "wanted",
    [
        SessionFilter(),
        SessionFilter(sources=["cli", "cron"]),
        SessionFilter(exclude_sources=["cron"]),
        SessionFilter(title="GÄRTEN"),
        SessionFilter(title="%"),
        SessionFilter(model="M-1"),
        SessionFilter(cwd="/w/a"),
        SessionFilter(cwd="/w/a/"),
        SessionFilter(cwd="/"),
        SessionFilter(cwd="C:\\w"),
        SessionFilter(ended=True),
        SessionFilter(ended=False),
        SessionFilter(end_reason="idle"),
        SessionFilter(archived=None),
        SessionFilter(archived=True),
        SessionFilter(user_id="u1", chat_type="dm"),
        SessionFilter(min_messages=2),
        SessionFilter(max_messages=1),
        SessionFilter(min_messages=1, max_messages=1),
        SessionFilter(started_after=NOW + dt.timedelta(hours=3), started_before=NOW + dt.timedelta(hours=9)),
        SessionFilter(active_after=NOW + dt.timedelta(days=3)),
        SessionFilter(active_before=NOW + dt.timedelta(hours=5)),
        SessionFilter(branch="feat"),
    ],
    ids=lambda wanted: ",".join(f"{n}={getattr(wanted, n)!r}"[:30] for n in wanted.__slots__ if getattr(wanted, n))[
        :60
    ],
)
def test_each_filter_gives_what_filtering_by_hand_gives(db: SessionDB, wanted: SessionFilter) -> None:
    """B020: title, dates, counts, source and the rest agree with the list, with and without uncounted messages."""
    fill_varied(db)
    for _ in range(2):
        everything = db.sessions.list(SessionFilter(archived=None), limit=None)
        expected = [s.id for s in everything if by_hand(s, wanted)]
        assert ids(db.sessions.list(wanted, limit=None)) == expected
        assert db.sessions.count(wanted) == len(expected)
        for order in ("started", "oldest", "messages", "title"):
            assert sorted(ids(db.sessions.list(wanted, order=order, limit=None))) == sorted(expected)
        with db.engine.write() as connection:
            from hermes_state.activity import fold

            fold(connection)


def fill_varied(db: SessionDB) -> None:
    folders = ["/w/a", "/w/a/b", "/w/ab", "/W/A", "/", None, "C:\\w\\x", "C:\\wx"]
    titles = ["Gärten", "gärten 2", "100%", "GARTEN", None]
    for n in range(16):
        session = db.sessions.create(
            source=["cli", "cron", "telegram"][n % 3],
            started_at=NOW + dt.timedelta(hours=n),
            cwd=folders[n % 8],
            model=["m-1", "M-10", "x"][n % 3],
            user_id=f"u{n % 2}",
            chat_type=["dm", "group"][n % 2],
            git_branch=["feature/x", "main"][n % 2],
        ).id
        if title := titles[n % 5]:
            db.sessions.auto_title(session, title)
        for _ in range(n % 4):
            db.messages.append(session, role="user", content="x", created_at=NOW + dt.timedelta(days=n % 5, seconds=n))
        if n % 3 == 0:
            db.sessions.end(session, ["idle", "daily"][n % 2])
        if n % 7 == 0:
            db.sessions.archive(session)


def by_hand(s: Any, wanted: SessionFilter) -> bool:
    def inside(folder: str) -> bool:
        trimmed = folder.rstrip("/\\")
        return s.cwd is not None and (s.cwd == (trimmed or folder) or s.cwd.startswith((trimmed + "/", trimmed + "\\")))

    checks = {
        "sources": lambda v: s.source in v,
        "exclude_sources": lambda v: s.source not in v,
        "title": lambda v: s.title is not None and v.casefold() in s.title.casefold(),
        "model": lambda v: v.casefold() in s.model.casefold(),
        "branch": lambda v: v.casefold() in s.git_branch.casefold(),
        "user_id": lambda v: s.user_id == v,
        "chat_type": lambda v: s.chat_type == v,
        "cwd": inside,
        "ended": lambda v: (s.ended_at is not None) == v,
        "end_reason": lambda v: s.end_reason == v,
        "archived": lambda v: s.archived == v,
        "min_messages": lambda v: s.message_count >= v,
        "max_messages": lambda v: s.message_count <= v,
        "started_after": lambda v: s.started_at >= v,
        "started_before": lambda v: s.started_at < v,
        "active_after": lambda v: s.last_active_at >= v,
        "active_before": lambda v: s.last_active_at < v,
    }
    given = {name: getattr(wanted, name) for name in checks}
    return all(
        checks[name](value) for name, value in given.items() if value is not None and value != () and name in checks
    )


def test_previews_show_the_first_thing_a_user_said(db: SessionDB) -> None:
    """On one line, cut, whatever came before it; packed texts too; sessions without one have none."""
    for name in ("short", "long", "packed", "none"):
        db.sessions.create(name, source="cli")
        db.messages.append(name, role="system", content="never this")
    db.messages.append("short", role="user", content="  how\n\tare you ")
    db.messages.append("long", role="user", content="word " * 40)
    db.messages.append("packed", role="user", content="log line " * 2000)
    shown = db.sessions.previews(["short", "long", "packed", "none", "unknown"])
    assert shown.keys() == {"short", "long", "packed"}
    assert shown["short"] == "how are you"
    assert len(shown["long"]) <= 80
    assert shown["long"].endswith("…")
    assert shown["packed"].startswith("log line log line")


def test_an_unknown_order_is_refused(db: SessionDB) -> None:
    """A typo is an error, not another order."""
    with pytest.raises(InvalidValue, match="newest") as refused:
        db.sessions.list(order="newest")
    assert "active, started" in refused.value.hint


def test_a_page_that_can_not_be_is_refused(db: SessionDB) -> None:
    """A negative number is a mistake of the caller; a page of nothing is just empty."""
    db.sessions.create(source="cli")
    for wrong in ({"limit": -1}, {"offset": -1}):
        with pytest.raises(InvalidValue):
            db.sessions.list(**wrong)
    assert db.sessions.list(limit=0) == db.sessions.list(offset=5) == []


@pytest.mark.sqlite_only
def test_a_list_costs_no_more_than_its_page(db: SessionDB) -> None:
    """The listing reads its order from the index, and a session its tip and tail by key: nothing is scanned."""
    for n in range(5):
        db.messages.append(db.sessions.create(source="cli").id, role="user", content=str(n))
    plans: list[str] = []
    from sqlalchemy import event

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            rows = connection.connection.driver_connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.extend(row[3] for row in rows)

    event.listen(db.engine._sqlalchemy, "before_cursor_execute", explain)  # type: ignore[attr-defined]
    first = db.sessions.list()[0].id
    listing = [step for step in plans if "sessions" in step]
    assert any("USING COVERING INDEX ix_sessions_listed" in step for step in listing)
    db.sessions.get(first)
    db.sessions.resume(first[:-1])
    scans = [step for step in plans if step.startswith("SCAN") and "store_state" not in step]
    assert scans == ["SCAN CONSTANT ROW"] * len(scans)
    assert not [step for step in plans if "uq_messages_session_pk_position" in step]


# --- the handle -------------------------------------------------------------------------------------------------


def test_a_read_only_handle_writes_nothing(db: SessionDB, store_at: str) -> None:
    """Every change raises; every read works."""
    db.sessions.create("s", source="cli", title="t")
    db.messages.append("s", role="user", content="x")
    with SessionDB.open(store_at, read_only=True) as reader:
        assert reader.sessions.get("s").title == "t"
        assert [m.content for m in reader.messages.list("s")] == ["x"]
        assert reader.sessions.delete("s", dry_run=True).deleted == ("s",)
        changes = (
            lambda: reader.sessions.create(source="cli"),
            lambda: reader.messages.append("s", role="user", content="y"),
            lambda: reader.sessions.delete("s"),
            lambda: reader.meta.set("a", "b"),
            lambda: reader.leases.acquire("a", "b"),
        )
        for change in changes:
            with pytest.raises(ReadOnlyStore):
                change()


def test_a_closed_handle_refuses_everything(tmp_path: Path) -> None:
    """Also from a thread that was waiting for the lock when it closed; closing twice is fine."""
    db = SessionDB.open(tmp_path / "s.db")
    db.sessions.create("s", source="cli")
    errors: list[BaseException] = []

    def late() -> None:
        try:
            db.messages.append("s", role="user", content="late")
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=late)

    def close_while_it_waits() -> None:
        with db.engine.write():
            thread.start()
            thread.join(0.1)
            db.close()

    with pytest.raises(HandleUnusable):  # the block that was open can't commit either
        close_while_it_waits()
    thread.join()
    db.close()
    assert [type(error) for error in errors] == [HandleUnusable]
    for call in (lambda: db.sessions.list(), lambda: db.sessions.create(source="cli"), lambda: db.messages.count()):
        with pytest.raises(HandleUnusable):
            call()


def test_a_failed_part_leaves_the_rest_of_a_transaction(db: SessionDB) -> None:
    """Inside `write()` a call that raises undoes its own changes only, and the block can go on."""
    db.sessions.create("a", source="cli", title="taken")
    with db.engine.write():
        db.sessions.create("b", source="cli")
        with pytest.raises(TitleTaken):
            db.sessions.create("c", source="cli", title="taken")
        db.messages.append("b", role="user", content="x")
    assert {s.id for s in db.sessions.list()} == {"a", "b"}
    assert db.messages.count() == 1


def test_a_block_that_raises_writes_nothing(db: SessionDB) -> None:
    """All of it is undone, single appends included, and the handle goes on."""

    def fail_halfway() -> None:
        with db.engine.write():
            db.sessions.create("b", source="cli")
            db.messages.append("b", role="user", content="x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert db.sessions.count() == 0
    db.sessions.create("b", source="cli")


# --- what stands beside the sessions ----------------------------------------------------------------------------


def test_meta_keys_are_told_apart(db: SessionDB) -> None:
    """Prefixes mean themselves: case counts and wildcards are letters."""
    for key in ("goal:1", "goal:2", "Goal:3", "goal%4", "g_al:5"):
        db.meta.set(key, key.upper())
    assert db.meta.items("goal:") == {"goal:1": "GOAL:1", "goal:2": "GOAL:2"}
    assert db.meta.items("goal%") == {"goal%4": "GOAL%4"}
    assert db.meta.items("g_") == {"g_al:5": "G_AL:5"}
    assert len(db.meta.items()) == 5
    db.meta.set("goal:1", "new")
    assert db.meta.get("goal:1") == "new"
    assert (db.meta.get("none"), db.meta.get("none", "default")) == (None, "default")
    assert db.meta.delete("goal:1")
    assert not db.meta.delete("goal:1")


def test_a_route_leads_to_the_tip(db: SessionDB) -> None:
    """A gateway that routed to the first segment finds where the conversation goes on."""
    db.sessions.create("s", source="telegram")
    db.routes.set("peer", "s", entry={"mode": "dm", "名": [1]})
    child = db.lineage.rotate("s", SUMMARY).child
    route = db.routes.get("peer")
    assert route is not None
    assert (route.session_id, route.entry) == (child.id, {"mode": "dm", "名": [1]})
    db.routes.set("peer", child.id, scope="other")
    assert [r.key for r in db.routes.all()] == ["peer"]
    assert db.routes.get("peer", scope="none") is None
    assert db.routes.delete("peer", "none") == 1
    assert db.routes.all() == []
    assert len(db.routes.all(scope="other")) == 1


def test_a_hand_over_is_claimed_once(db: SessionDB) -> None:
    """Of ten surfaces that claim a session one gets it; a second request waits for the first."""
    db.sessions.create("s", source="cli")
    db.handoffs.request("s", "telegram")
    with pytest.raises(Conflict):
        db.handoffs.request("s", "discord")
    claims: list[bool] = []
    threads = [threading.Thread(target=lambda: claims.append(db.handoffs.claim("s"))) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert claims.count(True) == 1
    db.handoffs.fail("s", "no chat")
    failed = db.handoffs.get("s")
    assert failed is not None
    assert (failed.state, failed.error) == ("failed", "no chat")
    db.handoffs.request("s", "discord")
    assert [h.platform for h in db.handoffs.pending()] == ["discord"]
    assert db.handoffs.pending("telegram") == []
    db.handoffs.claim("s")
    db.handoffs.complete("s")
    assert db.handoffs.pending() == []


def test_the_store_keeps_its_name(db: SessionDB, store_at: str) -> None:
    """A random identity that stays with the file."""
    name = db.store_id
    with SessionDB.open(store_at) as other:
        assert other.store_id == name
