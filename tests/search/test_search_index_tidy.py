"""A settled index has few segments: they are merged when nobody waits, in pieces, and only where that pays."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from search_world import SCATTERED, scatter

from hermes_state import SessionDB
from hermes_state.engine import fts, sqlite_index
from hermes_state.engine.driver import newest_driver
from hermes_state.index import MessageIndex

if TYPE_CHECKING:
    from search_world import Say

pytestmark = pytest.mark.sqlite_only

HERE = Path(__file__).parent
QUERIES = ("theta", "theta 7", "wor*", "word7*", "桂林", "nowhere", '"theta 3"')


@pytest.fixture
def scattered(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> SessionDB:
    """A store whose index is in many segments; from now on it may be tidied."""
    with monkeypatch.context() as off:
        off.setattr(MessageIndex, "try_tidy", lambda _self, **_: True)
        scatter(db)
    assert len(segments(db)) == SCATTERED
    return db


def segments(db: SessionDB) -> set[int]:
    """The segments of the index: https://www.sqlite.org/fts5.html#the_data_table_idx_and_data_"""
    with db.engine.read() as connection:
        return set(connection.exec_driver_sql("SELECT DISTINCT segid FROM message_index_idx").scalars())


def answers(db: SessionDB) -> list[list[tuple[int, float]]]:
    return [[(hit.message_id, round(hit.score, 9)) for hit in db.search.messages(query)] for query in QUERIES]


def is_sound(db: SessionDB) -> bool:
    with db.engine.write() as connection:
        fts.tokens_in(connection).check_structure(connection)
    return True


def test_a_settled_index_is_one_segment(scattered: SessionDB) -> None:
    """Catching up to the end merges what it left, and the same is found."""
    found = answers(scattered)
    assert [bool(each) for each in found] == [True, True, True, True, True, False, True]
    scattered.index.catch_up()
    assert len(segments(scattered)) == 1
    assert answers(scattered) == found
    assert is_sound(scattered)


def test_optimizing_leaves_one_segment(scattered: SessionDB) -> None:
    found = answers(scattered)
    assert scattered.maintenance.optimize().is_complete
    assert len(segments(scattered)) == 1
    assert answers(scattered) == found


def test_a_store_at_rest_is_tidied_in_the_background(scattered: SessionDB, say: Say) -> None:
    """Nobody has to ask for it, and what was appended last is in."""
    say("theta the last")
    while len(segments(scattered)) > 1:  # else the suite's own limit ends it
        time.sleep(0.05)
    assert scattered.index.pending() == 0


def test_few_new_messages_rewrite_no_large_index(scattered: SessionDB, say: Say) -> None:
    """The large segment stays as it is until those beside it are half as large."""
    scattered.index.catch_up()
    (large,) = segments(scattered)
    kept = []
    for n in range(SCATTERED):
        say(f"theta {n}")
        scattered.index.catch_up()
        kept.append(large in segments(scattered))
    assert kept[:5] == [True] * 5
    assert not kept[-1], kept


def test_a_very_large_index_is_not_rewritten_whole(scattered: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a size the last piece of that would hold the write lock for too long."""
    monkeypatch.setattr(sqlite_index, "_WHOLE_UP_TO_PAGES", 10)
    scattered.index.catch_up()
    assert len(segments(scattered)) == SCATTERED


def test_tidying_makes_way_for_a_writer(scattered: SessionDB) -> None:
    """Who holds the lock is not waited for, and nothing fails."""
    path = scattered.engine.path
    with closing(newest_driver().module.connect(path, isolation_level=None)) as other:  # the store's own library
        other.execute("BEGIN IMMEDIATE")
        assert scattered.index.try_tidy()
        assert scattered.index.catch_up()
        other.execute("ROLLBACK")
    assert len(segments(scattered)) == SCATTERED


def test_tidying_is_done_in_pieces(scattered: SessionDB, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches in between find everything, and messages that come in between are in it."""
    monkeypatch.setattr(sqlite_index, "MERGE_PAGES", 1)
    assert scattered.index.tidy()
    assert scattered.index.tidy()
    assert len(segments(scattered)) > 1
    assert len(scattered.search.messages("theta")) == SCATTERED
    say("omega came in between")
    assert len(scattered.search.messages("omega")) == 1
    scattered.index.catch_up()
    assert len(segments(scattered)) <= 2
    assert len(scattered.search.messages("theta OR omega")) == SCATTERED + 1
    assert is_sound(scattered)


@pytest.mark.parametrize("is_inside", [False, True])
def test_a_kill_while_tidying_leaves_a_sound_index(tmp_path: Path, is_inside: bool) -> None:
    """Between two pieces and in the midst of one; the next to come finishes it."""
    path = tmp_path / "killed.db"
    program = f"""
        import os, signal, sys
        sys.path.insert(0, {str(HERE)!r})
        from search_world import scatter
        from hermes_state import SessionDB
        from hermes_state.engine import sqlite_index
        from hermes_state.index import MessageIndex

        sqlite_index.MERGE_PAGES = 1
        MessageIndex.try_tidy = lambda self, **_: True
        db = SessionDB.open({str(path)!r})
        scatter(db)
        assert db.index.tidy() and db.index.tidy()
        if {is_inside}:
            with db.engine.write() as connection:
                assert sqlite_index.tidy(connection)
                os.kill(os.getpid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    with SessionDB.open(path) as db:
        assert len(segments(db)) > 1
        assert len(db.search.messages("theta")) == SCATTERED
        assert len(db.search.messages("wor*")) == SCATTERED
        assert is_sound(db)
        db.index.catch_up()
        assert len(segments(db)) == 1
        assert len(db.search.messages("theta")) == SCATTERED
        assert is_sound(db)
