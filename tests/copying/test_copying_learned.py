"""What a digest learned is used by the next one, and never makes it another one than reading everything anew would."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
import whole_store
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, insert, select, update

from hermes_state import schema
from hermes_state.check import Kind, check
from hermes_state.commands import run
from hermes_state.copying import learned
from hermes_state.copying.comparison import differences
from hermes_state.copying.content import StoreContent
from hermes_state.copying.copy import copy_store
from hermes_state.copying.digest import digests
from hermes_state.copying.learned import Keeper, Learned, sessions_without_row
from hermes_state.copying.proving import kept_chains
from hermes_state.errors import HermesStateError, ReadOnlyStore
from hermes_state.portability.stored import content_of
from hermes_state.records import MessageState
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from hermes_state.copying.digest import Digests

_m, _d = schema.messages.c, schema.session_digests.c


def digest_at(place: str, *, anew: bool = False) -> Digests:
    """A digest as the command makes it; all that it learns is kept."""
    with content_of(place, anew=anew) as content:
        found = digests(content)
        assert content.not_kept == ""
        return found


def agree(db: SessionDB) -> None:
    """In one snapshot, what is kept gives the digest of everything read anew."""
    with db.engine.read() as connection:
        kept, true = (digests(StoreContent(connection, Learned(connection, anew=anew))) for anew in (False, True))
    assert kept.combined() == true.combined()
    assert kept.sessions == true.sessions
    assert true.read == true.messages


def kept_rows(db: SessionDB) -> dict[str, int]:
    """How many messages are known, by session."""
    query = select(schema.sessions.c.id, _d.messages).join(schema.session_digests)
    with db.engine.read() as connection:
        return {row.id: row.messages for row in connection.execute(query)}


def wrong_in(db: SessionDB) -> list[str]:
    """Where a full check finds that something is not what the messages say."""
    report = check(db.engine, full=True, also=[("digests", kept_chains)])
    return [finding.where for finding in report.findings if finding.kind is Kind.DIGEST]


@pytest.fixture
def db(store_at: str) -> Iterator[SessionDB]:
    """Three sessions of five messages, of which a digest was made."""
    with SessionDB.open(store_at, synchronous="NORMAL") as opened:
        for name in ("a", "b", "c"):
            whole_store.add_conversation(opened, name, *(f"{name} {n} 語" for n in range(5)))
        assert digest_at(store_at).read == 15
        yield opened


# --- what costs what ------------------------------------------------------------------------------------------------


def test_nothing_is_read_when_nothing_changed(db: SessionDB, store_at: str) -> None:
    before = digest_at(store_at, anew=True)
    assert digest_at(store_at).read == 0
    assert digest_at(store_at).combined() == before.combined()
    assert before.read == 15


def test_what_was_added_is_read_and_nothing_else(db: SessionDB, store_at: str) -> None:
    db.messages.append("a", role="user", content="more")
    db.messages.append_many("b", [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}])
    whole_store.add_conversation(db, "new", "1", "2", "3")
    assert digest_at(store_at).read == 1 + 2 + 3
    assert digest_at(store_at).read == 0
    agree(db)


def test_a_session_whose_line_changes_is_not_read_again(db: SessionDB, store_at: str) -> None:
    before = digest_at(store_at)
    db.sessions.rename("a", "another title")
    db.sessions.tag("b", "ops")
    db.usage.record("c", model="glm", input_tokens=3)
    after = digest_at(store_at)
    assert after.read == 0
    assert {name for name in after.sessions if after.sessions[name] != before.sessions[name]} == {"a", "b", "c"}
    agree(db)


def test_a_session_with_a_changed_message_is_read_again(db: SessionDB, store_at: str) -> None:
    db.messages.amend(db.messages.list("a")[1].id, extras={"why": "because"})
    db.messages.rewind("b", last=1)
    assert digest_at(store_at).read == 10
    db.sessions.delete("c")
    assert digest_at(store_at).read == 0
    agree(db)


def test_a_comparison_reads_only_what_it_does_not_know(db: SessionDB, store_at: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    with SessionDB.open(other) as copy:
        copy_store(db.engine, copy.engine)
        assert kept_rows(copy) == {}  # a copy starts without
        digest_at(other)
        copy.messages.append("b", role="user", content="more")
        with db.engine.read() as ours, copy.engine.read() as theirs:
            (found,) = differences(StoreContent(ours), StoreContent(theirs))
    assert (found.name, found.position, found.change) == ("b", 5, "added")


# --- why it can't be wrong --------------------------------------------------------------------------------------------


def positions(db: SessionDB, session_id: str) -> dict[int, int]:
    return {message.position: message.id for message in db.messages.list(session_id)}


def swap(connection: Connection, ids: dict[int, int]) -> None:
    for message_id, position in ((ids[1], 99), (ids[2], 1), (ids[1], 2)):
        connection.execute(update(schema.messages).where(_m.id == message_id).values(position=position))


def said_again(connection: Connection, ids: dict[int, int]) -> None:
    """The newest is deleted, and another takes its place and its number: as many messages as before."""
    row = connection.execute(select(schema.messages).where(_m.id == ids[4])).one()._asdict()
    connection.execute(delete(schema.messages).where(_m.id == ids[4]))
    connection.execute(insert(schema.messages).values(row | {"content": "another", "content_format": None}))


def into_another(connection: Connection, ids: dict[int, int]) -> None:
    other = select(schema.sessions.c.pk).where(schema.sessions.c.id == "b").scalar_subquery()
    connection.execute(update(schema.messages).where(_m.id == ids[2]).values(session_pk=other, position=77))


def other_words(connection: Connection, ids: dict[int, int]) -> None:
    connection.execute(update(schema.messages).where(_m.id == ids[0]).values(content="other words"))


@pytest.mark.parametrize("change", [swap, said_again, into_another, other_words])
def test_whoever_changes_a_message_takes_away_what_is_known(
    db: SessionDB, store_at: str, change: Callable[[Connection, dict[int, int]], None]
) -> None:
    """By statements of anybody's: the database itself does it."""
    before = digest_at(store_at).combined()
    with db.engine.write() as connection:
        change(connection, positions(db, "a"))
    assert "a" not in kept_rows(db)
    agree(db)
    assert digest_at(store_at).combined() != before
    agree(db)


def test_a_change_that_is_undone_leaves_what_is_known(db: SessionDB, store_at: str) -> None:
    with db.engine.write() as connection:
        part = connection.begin_nested()
        other_words(connection, positions(db, "a"))
        part.rollback()
    assert digest_at(store_at).read == 0
    agree(db)


def test_a_message_put_between_others_is_noticed(db: SessionDB, store_at: str) -> None:
    """Nothing of ours does it, and no trigger tells of it; the number of messages does."""
    ids = positions(db, "a")
    with db.engine.write() as connection:
        connection.execute(update(schema.messages).where(_m.id == ids[4]).values(position=9))
    assert digest_at(store_at).read == 5
    with db.engine.write() as connection:
        row = connection.execute(select(schema.messages).where(_m.id == ids[3])).one()._asdict()
        top = connection.execute(select(func.max(_m.id))).scalar_one()
        connection.execute(insert(schema.messages).values(row | {"id": top + 1, "position": 6}))
    assert kept_rows(db)["a"] == 5
    assert digest_at(store_at).read == 6
    assert kept_rows(db)["a"] == 6
    agree(db)


def test_what_was_read_before_a_change_is_not_kept(db: SessionDB, store_at: str) -> None:
    """The change comes between the snapshot and the writing; also where it was the first to be read of the session."""
    db.messages.append("a", role="user", content="more")
    whole_store.add_conversation(db, "new", "1", "2")
    with closing(Keeper(lambda: SessionDB.open(store_at))) as keeper:
        with db.engine.read() as connection:
            keeper.make_rows(sessions_without_row(connection))
        with db.engine.read() as connection:
            content = StoreContent(connection, Learned(connection, keeper))
            chains = content.chains()
            seen = [next(chains) for _ in range(4)]
            assert [one.read for one in seen] == [1, 0, 0, 2]
            db.messages.amend(db.messages.list("a")[5].id, extras={"why": "because"})
            db.messages.amend(db.messages.list("new")[0].id, extras={"why": "because"})
            assert list(chains) == []  # now it writes
        assert keeper.problem == ""
    assert kept_rows(db) == {"b": 5, "c": 5}
    agree(db)


def test_two_digests_at_once_don_t_disturb_each_other(db: SessionDB, store_at: str) -> None:
    """The slower one finds the row moved on, and leaves it."""
    db.messages.append("a", role="user", content="more")
    with closing(Keeper(lambda: SessionDB.open(store_at))) as keeper, db.engine.read() as connection:
        chains = StoreContent(connection, Learned(connection, keeper)).chains()
        next(chains)
        db.messages.append("a", role="user", content="and more")
        digest_at(store_at)
        list(chains)
    assert kept_rows(db)["a"] == 7
    assert digest_at(store_at).read == 0
    agree(db)


@pytest.mark.sqlite_only
def test_another_program_on_the_file_takes_away_what_is_known(db: SessionDB, store_at: str) -> None:
    """It knows nothing of us, and has no foreign keys switched on."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "c.execute(\"UPDATE messages SET content = 'x' WHERE position = 3\"); c.commit()"
    )
    subprocess.run([sys.executable, "-c", code, store_at], check=True)
    assert kept_rows(db) == {}
    agree(db)


def test_a_database_without_its_triggers_keeps_nothing(db: SessionDB, store_at: str) -> None:
    """As a table that somebody made anew; what is kept is not believed, and it is told."""
    on = " ON messages" if db.engine.dialect == "postgresql" else ""
    undo = "" if not on else (
        "CREATE TRIGGER messages_updated AFTER UPDATE ON messages REFERENCING OLD TABLE AS changed"
        " FOR EACH STATEMENT EXECUTE FUNCTION hermes_forget_digests()"
    )  # fmt: skip
    with db.engine.write() as connection:
        connection.exec_driver_sql(f"DROP TRIGGER messages_updated{on}")
    try:
        with db.engine.write() as connection:
            other_words(connection, positions(db, "a"))
        with content_of(store_at) as content:
            assert digests(content).read == 15
            assert "messages_updated" in content.not_kept
        agree(db)
        if db.engine.dialect == "sqlite":
            found = [one.where for one in check(db.engine, full=True).findings if one.kind is Kind.SCHEMA]
            assert found == ["messages_updated"]
    finally:
        if undo:
            with db.engine.write() as connection:
                connection.exec_driver_sql(undo)


def test_backups_before_and_after_a_digest_are_the_same(tmp_path: Path) -> None:
    """Whole files are compared without it; where indexes are left behind, it is, and in repositories as well."""
    home, repository = tmp_path / "home", str(tmp_path / "repo")
    with SessionDB.open(home=home) as db:
        for n in range(300):
            whole_store.add_conversation(db, f"s{n}", "words")
        assert db.search.messages("words")
    plain, *whole = (str(tmp_path / f"{name}.tar.zst") for name in ("plain", "before", "after"))
    assert run(["backup", "--home", str(home), "--keep-indexes", whole[0]]) == 0
    assert run(["backup", "--home", str(home), "--repo", repository]) == 0
    digest = digest_at(str(home)).combined()
    assert run(["backup", "--home", str(home), "--keep-indexes", whole[1]]) == 0
    assert run(["backup", "--home", str(home), "--repo", repository]) == 0
    assert run(["backup", "--home", str(home), plain]) == 0
    assert run(["diff", *whole]) == 0
    for archive, known in ((plain, 0), (f"{repository}/latest", 0), (whole[0], 0), (whole[1], 300)):
        with content_of(archive) as content:
            found = digests(content)
        assert (found.combined(), found.read) == (digest, 300 - known)


# --- where it can't be written ----------------------------------------------------------------------------------------


def refuse() -> SessionDB:
    raise ReadOnlyStore("the disk is read-only")


def test_a_store_that_can_t_be_written_has_the_same_digest(db: SessionDB, store_at: str) -> None:
    db.messages.append("a", role="user", content="more")
    whole_store.add_conversation(db, "new", "1", "2")
    with closing(Keeper(refuse)) as keeper:
        with db.engine.read() as connection:
            keeper.make_rows(sessions_without_row(connection))
            content = StoreContent(connection, Learned(connection, keeper))
            found = digests(content)
        assert found.read == 3
        assert content.not_kept == "the disk is read-only"
    assert found == digest_at(store_at)
    assert kept_rows(db)["a"] == 6


def test_a_writer_who_takes_long_is_not_waited_for(
    db: SessionDB, store_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned, "_BUDGET_S", 0.05)
    db.messages.append("a", role="user", content="more")
    with SessionDB.open(store_at) as other, other.engine.write(), content_of(store_at) as content:
        assert digests(content).read == 1
        assert content.not_kept
    assert kept_rows(db)["a"] == 5
    assert digest_at(store_at).read == 1


def test_the_commands_say_what_was_read_and_why_it_is_not_kept(
    db: SessionDB, store_at: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*options: str) -> tuple[int, str | None]:
        assert run(["db", "digest", store_at, "--json", *options]) == 0
        shown = json.loads(capsys.readouterr().out)
        return shown["read"], shown["not_kept"]

    assert told() == (0, None)
    assert told("--anew") == (15, None)
    db.messages.append("a", role="user", content="more")
    monkeypatch.setattr(SessionDB, "open", partial(_refuse_writing, SessionDB.open))
    assert told() == (1, "the disk is read-only")
    for command in (["digest", store_at], ["diff", store_at, store_at]):
        assert run(["db", *command]) == 0
        assert "not kept for the next time: the disk is read-only" in capsys.readouterr().err


def _refuse_writing(opened: Callable[..., SessionDB], place: str, *, read_only: bool = False) -> SessionDB:
    return opened(place, read_only=True) if read_only else refuse()


# --- proof and repair -------------------------------------------------------------------------------------------------


def test_a_full_check_finds_what_is_wrong_and_a_digest_anew_mends_it(db: SessionDB, store_at: str) -> None:
    assert wrong_in(db) == []
    of_a = _d.session_pk == select(schema.sessions.c.pk).where(schema.sessions.c.id == "a").scalar_subquery()
    with db.engine.write() as connection:
        connection.execute(update(schema.session_digests).where(of_a).values(chain=b"?" * 32))
    assert wrong_in(db) == ["session a"]
    true = digest_at(store_at, anew=True).combined()
    assert wrong_in(db) == []
    assert digest_at(store_at).combined() == true
    agree(db)


# --- anything, in any order -------------------------------------------------------------------------------------------


class Agent:
    """Does to a store what agents and their users do; what is not possible just now is left."""

    def __init__(self, db: SessionDB, folder: Path) -> None:
        self.db, self._folder, self._number = db, folder, count()
        self.create("first")

    def do(self, name: str, which: int, text: str) -> None:
        ids = self._ids()
        with suppress(HermesStateError):
            getattr(self, name)(ids[which % len(ids)], which, text)
        if not self._ids():
            self.create("again")

    def create(self, text: str, *_: Any) -> None:
        name = f"s{next(self._number)}"
        whole_store.add_conversation(self.db, name, text, "two", "three")

    def _ids(self) -> list[str]:
        with self.db.engine.read() as connection:
            return list(connection.execute(select(schema.sessions.c.id).order_by(schema.sessions.c.pk)).scalars())

    def _message(self, session_id: str, which: int) -> int:
        found = self.db.messages.list(session_id, states=tuple(MessageState))
        return found[which % len(found)].id if found else 0

    def append(self, session_id: str, which: int, text: str) -> None:
        self.db.messages.append(session_id, role="user", content=text, platform_message_id=f"p{which}")

    def append_many(self, session_id: str, which: int, text: str) -> None:
        rows = [{"role": "user", "content": text, "platform_message_id": f"p{which}"}]
        self.db.messages.append_many(session_id, [*rows, {"role": "assistant", "content": "yes"}])

    def amend(self, session_id: str, which: int, text: str) -> None:
        self.db.messages.amend(self._message(session_id, which), extras={"why": text})

    def rewind(self, session_id: str, which: int, text: str) -> None:
        self.db.messages.rewind(session_id, last=which % 3)

    def undo(self, session_id: str, which: int, text: str) -> None:
        self.db.messages.undo_rewind(session_id)

    def compact(self, session_id: str, which: int, text: str) -> None:
        self.db.messages.compact(session_id, [{"role": "user", "content": text}], keep_last=which % 3)

    def replace(self, session_id: str, which: int, text: str) -> None:
        self.db.messages.replace(session_id, [{"role": "user", "content": text}])

    def delete(self, session_id: str, which: int, text: str) -> None:
        self.db.sessions.delete(session_id)

    def delete_and_say_again(self, session_id: str, which: int, text: str) -> None:
        with self.db.engine.write() as connection:
            row = connection.execute(select(schema.messages).where(_m.id == self._message(session_id, which))).first()
            if row is not None:
                connection.execute(delete(schema.messages).where(_m.id == row.id))
                connection.execute(
                    insert(schema.messages).values(row._asdict() | {"content": "again", "content_format": None})
                )

    def branch(self, session_id: str, which: int, text: str) -> None:
        self.db.lineage.branch(session_id)

    def rotate(self, session_id: str, which: int, text: str) -> None:
        self.db.lineage.rotate(session_id, [{"role": "user", "content": text}])

    def rename(self, session_id: str, which: int, text: str) -> None:
        self.db.sessions.rename(session_id, f"title {which}")

    def tag(self, session_id: str, which: int, text: str) -> None:
        self.db.sessions.tag(session_id, f"tag{which}")

    def use(self, session_id: str, which: int, text: str) -> None:
        self.db.usage.record(session_id, model="m", input_tokens=which)

    def remember(self, session_id: str, which: int, text: str) -> None:
        values = {"target": "memory", "created_at": 5, "changed_at": 6, "status": "active", "content": "words"}
        with self.db.engine.write() as connection:
            connection.execute(insert(schema.memories).values(values | {"id": f"m{next(self._number)}"}))

    def merge_with_copy(self, session_id: str, which: int, text: str) -> None:
        """A copy goes on alone and comes back."""
        with SessionDB.open(self._folder / f"{next(self._number)}.db", synchronous="NORMAL") as other:
            copy_store(self.db.engine, other.engine)
            other.messages.append(session_id, role="user", content=text)
            other.messages.amend(self._message(session_id, which), extras={"why": text})
            copy_store(other.engine, self.db.engine, merge=True)

    def fold(self, session_id: str, which: int, text: str) -> None:
        self.db.maintenance.optimize()


_ACTIONS = [name for name in vars(Agent) if not name.startswith("_") and name != "do"]
_steps = st.lists(
    st.tuples(st.sampled_from(_ACTIONS), st.integers(0, 5), st.sampled_from(["x", "茶 \ud800", "z" * 3000])),
    min_size=1,
    max_size=12,
)
_numbers = count()


@settings(max_examples=12)
@given(steps=_steps)
def test_after_anything_it_is_what_reading_everything_says(store_at: str, steps: list[Any], tmp_path: Path) -> None:
    place = f"{store_at}-{next(_numbers)}"
    with SessionDB.open(place, synchronous="NORMAL") as db:
        agent = Agent(db, tmp_path)
        for step in steps:
            digest_at(place)
            agent.do(*step)
            agree(db)
        digest_at(place)
        agree(db)
        assert digest_at(place).read == 0
        assert wrong_in(db) == []


# --- several processes ------------------------------------------------------------------------------------------------

_WRITER = """
import random, sys
from hermes_state.store import SessionDB
with SessionDB.open(sys.argv[1], synchronous="NORMAL") as db:
    draw = random.Random(int(sys.argv[2]))
    for n in range(int(sys.argv[3])):
        name = draw.choice("abc")
        action = draw.randrange(5)
        if action == 0:
            db.messages.append(name, role="user", content=f"more {n}")
        elif action == 1:
            found = db.messages.list(name)
            if found:
                db.messages.amend(draw.choice(found).id, extras={"n": n})
        elif action == 2:
            db.messages.rewind(name, last=1)
        elif action == 3:
            db.messages.undo_rewind(name)
        else:
            db.messages.replace(name, [{"role": "user", "content": f"anew {n}"}, {"role": "user", "content": "2"}])
"""


def test_digests_beside_writers_are_right(db: SessionDB, store_at: str) -> None:
    """Two processes change the same three sessions while digests are made one after another."""
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, store_at, str(n), "150"]) for n in range(2)]
    made = 0
    while any(writer.poll() is None for writer in writers):
        with content_of(store_at) as content:
            digests(content)
        agree(db)
        made += 1
    assert [writer.returncode for writer in writers] == [0, 0]
    assert made > 3
    assert wrong_in(db) == []
    digest_at(store_at)
    agree(db)


_KILLED = """
import os, signal, sys
from hermes_state.copying import learned
from hermes_state.copying.digest import digests
from hermes_state.portability.stored import content_of
learned._TOGETHER = 2
stop, within = int(sys.argv[2]), sys.argv[3] == "within"
write, seen = learned.Keeper._write, 0
def counted(self, statement, rows=None):
    global seen
    seen += 1
    if seen == stop and within:  # the rows are changed and not committed
        with self._opened().engine.write() as connection:
            connection.execute(statement, rows) if rows else connection.execute(statement)
            os.kill(os.getpid(), signal.SIGKILL)
    if seen == stop:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, statement, rows)
learned.Keeper._write = counted
with content_of(sys.argv[1]) as content:
    digests(content)
"""


@pytest.mark.parametrize("when", ["before", "within"])
@pytest.mark.parametrize("stop", [1, 2, 3])
def test_a_digest_that_is_killed_leaves_only_what_is_true(store_at: str, stop: int, when: str) -> None:
    with SessionDB.open(store_at, synchronous="NORMAL") as db:
        for name in "abcdef":
            whole_store.add_conversation(db, name, "1", "2", "3")
        command = [sys.executable, "-c", _KILLED, store_at, str(stop), when]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        agree(db)
        assert wrong_in(db) == []
        known = sum(kept_rows(db).values())
        assert known == (6 if stop == 3 else 0)
        assert digest_at(store_at).read == 18 - known
        agree(db)
