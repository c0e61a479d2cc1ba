"""What changed between two copies, laid over the first, is what a whole second copy is, byte for byte."""

from __future__ import annotations

import dataclasses
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_page_copies import (
    PAGE,
    WORDS,
    WRITER,
    assert_of_one_moment,
    assert_sound,
    change,
    connect,
    copy,
    edits,
    grow,
    make,
    rows_of,
)

from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.pages.numbering import is_usable
from hermes_state.portability.pages.refreshing import refreshed_pages
from hermes_state.portability.pages.trace import MAGIC, Trace
from hermes_state.portability.tables import Choice, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def refreshing(source: Path, target: Path, trace: Trace) -> Iterator[list[int]]:
    with connect(source) as db:
        seen = schema_of(db)
    target.unlink(missing_ok=True)
    made = refreshed_pages(source, target, Choice(seen, {"left_out"}), busy_ms=1000, trace=trace, describe=checked)
    with made as (pages, described):
        yield pages
        assert described.result() == "ok"


def checked(connection: Any) -> str:
    return str(connection.execute("PRAGMA quick_check(messages)").fetchone()[0])


def refresh(source: Path, whole: Path, remembered: Path) -> list[int]:
    """Bring a whole copy up to date with the pages that changed; as a repository does it."""
    part = whole.with_name("part.db")
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    with refreshing(source, part, trace) as pages:
        lay_over(whole, part, pages, trace.page_size)
    remembered.write_bytes(trace.dump())
    return pages


def lay_over(whole: Path, part: Path, pages: list[int], size: int) -> None:
    changed = part.read_bytes()
    content = bytearray(whole.read_bytes()[: len(changed)].ljust(len(changed), b"\0"))
    for page in pages:
        content[(page - 1) * size : page * size] = changed[(page - 1) * size : page * size]
    whole.write_bytes(content)


def assert_as_a_whole_copy(source: Path, made: Path, remembered: Path) -> None:
    """Also what is remembered: the next time starts from it."""
    other, numbers = made.with_name("whole.db"), made.with_name("whole.numbers")
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    if not is_usable(trace, trace.made, trace.page_size):
        return  # it holds so little that pages get other numbers
    shutil.copyfile(remembered, numbers)
    copy(source, other, numbers)
    assert made.read_bytes() == other.read_bytes()
    traces = [Trace.parse(path.read_bytes()) for path in (remembered, numbers)]
    first, second = (dataclasses.replace(trace, proven_at=0, checked_at=0) for trace in traces if trace is not None)
    assert first == second


def begin(folder: Path, **options: Any) -> tuple[Path, Path, Path]:
    source, whole, remembered = make(folder / "数据.db", **options), folder / "copy.db", folder / "numbers"
    copy(source, whole, remembered)
    return source, whole, remembered


# --- what a part holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_what_changed(tmp_path: Path, page: int, mode: str) -> None:
    source, whole, remembered = begin(tmp_path, page=page, mode=mode, rows=200)
    for number, kind in enumerate(("update", "lengthen", "delete", "update", "lengthen")):
        with connect(source) as db:
            change(db, remembered, kind, 10 + number)
            db.execute("INSERT INTO messages (session, content) VALUES ('s1', ?)", (WORDS * 99 * number,))
        refresh(source, whole, remembered)
        assert rows_of(whole) == rows_of(source)
        assert_sound(whole)
        assert_as_a_whole_copy(source, whole, remembered)


@given(edits(), st.sampled_from([512, 1024]))
@example([("delete", 90), ("grow", 80), ("delete", 99), ("grow", 99), ("lengthen", 3), ("update", 3)], 512)
@example([("lengthen", 7), ("lengthen", 8), ("delete", 8), ("lengthen", 9), ("grow", 3)], 512)
@settings(max_examples=40)
def test_change_after_change(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], page: int) -> None:
    folder = tmp_path_factory.mktemp("changes")
    source, whole, remembered = begin(folder, rows=60, page=page)
    with connect(source) as db:
        for kind, number in steps:
            change(db, remembered, kind, number)
            if Trace.parse(remembered.read_bytes() if remembered.exists() else b"") is None:
                copy(source, whole, remembered)
            try:
                refresh(source, whole, remembered)
            except Unfit:  # too little is as it was, or the roots are elsewhere
                copy(source, whole, remembered)
            assert rows_of(whole) == rows_of(source)
            assert_sound(whole)
            assert_as_a_whole_copy(source, whole, remembered)
    shutil.rmtree(folder)


def test_a_long_row_that_changed_in_its_midst(tmp_path: Path) -> None:
    """The page that names the first of its pages may be as it was."""
    source, whole, remembered = begin(tmp_path)
    with connect(source) as db:
        blob = db.execute("SELECT id, length(extra) FROM messages WHERE length(extra) > 4000 LIMIT 1").fetchone()
        db.execute("UPDATE messages SET extra = ? WHERE id = ?", (b"\1" * blob[1], blob[0]))
    refresh(source, whole, remembered)
    assert_as_a_whole_copy(source, whole, remembered)
    assert rows_of(whole) == rows_of(source)


def test_pages_that_went_to_another_table(tmp_path: Path) -> None:
    """Of a tree that was copied into one that is not, and back."""
    source, whole, remembered = begin(tmp_path, rows=400)
    with connect(source) as db:
        for statement in (
            "DELETE FROM facts WHERE rowid_of(value)",
            "INSERT INTO left_out SELECT randomblob(900) FROM messages",
            "DELETE FROM left_out",
            "INSERT OR IGNORE INTO facts SELECT hex(randomblob(20)), hex(randomblob(300)) FROM messages",
        ):
            db.create_function("rowid_of", 1, lambda value: len(value) % 3 == 0)
            db.execute(statement)
            refresh(source, whole, remembered)
            assert_as_a_whole_copy(source, whole, remembered)
            assert rows_of(whole) == rows_of(source)


def test_what_stands_only_in_the_log(tmp_path: Path) -> None:
    source, whole, remembered = begin(tmp_path)
    with connect(source) as db:
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = source.read_bytes()
        change(db, remembered, "update", 3)
        db.execute("INSERT INTO messages (session, content) VALUES ('s1', '新')")
        refresh(source, whole, remembered)
        assert source.read_bytes() == before
        assert rows_of(whole) == rows_of(source)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_one_moment_of_a_database_in_use(tmp_path: Path, mode: str) -> None:
    source, whole, remembered = begin(tmp_path, mode=mode)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, source], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    with writer.stdout:
        assert writer.stdout.readline()
        for _ in range(6):
            refresh(source, whole, remembered)
            assert_of_one_moment(whole)
        writer.kill()
        writer.wait()


WAITER = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=20) as db:
    db.execute("DELETE FROM small")
"""


def test_a_writer_waits_for_the_check_alone(tmp_path: Path) -> None:
    """In rollback mode nobody can commit while the moment lasts; what else is done in the block is no part of it."""
    source, _, remembered = begin(tmp_path, mode="DELETE")
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    with refreshing(source, tmp_path / "part.db", trace):
        subprocess.run([sys.executable, "-c", WAITER, source], check=True)


# --- how little it is ----------------------------------------------------------------------------------------------


def test_nothing_changed(tmp_path: Path) -> None:
    """What SQLite makes is made anew each time; nothing else is."""
    source, whole, remembered = begin(tmp_path, rows=400)
    before = whole.read_bytes()
    pages = refresh(source, whole, remembered)
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    assert pages == [*range(1, trace.first)]
    assert whole.read_bytes() == before


def test_a_row_changes_its_pages_alone(tmp_path: Path) -> None:
    source, whole, remembered = begin(tmp_path, rows=800)
    with connect(source) as db:
        db.execute("UPDATE messages SET content = content || ' and more of it' WHERE id = 400")
        db.execute("DELETE FROM messages WHERE id = 100")
    pages = refresh(source, whole, remembered)
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    assert whole.stat().st_size > 1000 * PAGE
    assert len(pages) - trace.first < 40
    assert rows_of(whole) == rows_of(source)


# --- what is refused -----------------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=40)
def test_a_trace_that_does_not_fit(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever it says of pages, it ends; nothing is read or written that is not there."""
    folder = tmp_path_factory.mktemp("traces")
    source, _, remembered = begin(folder, rows=40)
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    numbers = st.integers(0, len(trace.sources) + trace.first) | st.integers(0, 2**32 - 1)
    for column in (trace.sources, trace.parents, trace.prints):
        for place in data.draw(st.lists(st.integers(0, len(column) - 1), max_size=4)):
            column[place] = data.draw(numbers)
    with connect(source) as db:
        grow(db, random.Random(5), 3)
    try:
        with refreshing(source, folder / "part.db", trace) as pages:
            assert pages == sorted({*pages})
            assert not pages or 0 < pages[0] <= pages[-1] < trace.end
    except Unfit:
        pass
    shutil.rmtree(folder)


def test_another_schema_is_copied_whole(tmp_path: Path) -> None:
    source, _, remembered = begin(tmp_path)
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    with connect(source) as db:
        db.execute("CREATE INDEX another ON messages (extra)")
    with pytest.raises(Unfit), refreshing(source, tmp_path / "part.db", trace):
        pass


def test_a_damaged_page_that_changed(tmp_path: Path) -> None:
    source, _, remembered = begin(tmp_path, mode="DELETE")
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    page = next(source for source in trace.sources if source)
    with source.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xff" * 40)
    with pytest.raises((Unfit, sqlite3.Error, AssertionError)), refreshing(source, tmp_path / "part.db", trace):
        pass


@given(st.binary(max_size=200))
def test_anything_is_parsed(raw: bytes) -> None:
    assert Trace.parse(raw) is None
    made = Trace.parse(MAGIC + raw)
    assert made is None or made.dump() == MAGIC + raw


def test_what_is_remembered_comes_back(tmp_path: Path) -> None:
    _, _, remembered = begin(tmp_path)
    trace = Trace.parse(remembered.read_bytes())
    assert trace is not None
    assert trace.dump() == remembered.read_bytes()
