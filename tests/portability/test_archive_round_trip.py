"""What goes into an archive comes out of it: through our reader, and through tar and sha256sum."""

from __future__ import annotations

import io
import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from archive_harness import ROOTS, file, folder, link, sample, write
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.errors import Conflict, InvalidValue
from hermes_state.portability.format import Entry, Kind, Limits
from hermes_state.portability.manifest import Manifest, Report
from hermes_state.portability.reader import open_archive
from hermes_state.portability.verify import Verdict, verify
from hermes_state.portability.writer import Options, write_archive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def read_all(path: Path) -> list[tuple[Entry, bytes]]:
    with open_archive(path) as archive:
        return [(entry, content.read() if content is not None else b"") for entry, content in archive.members()]


def contents(entries: Iterable[Entry]) -> list[tuple[Entry, bytes]]:
    return [(entry, entry.opener().read() if entry.opener is not None else b"") for entry in entries]


def test_everything_comes_back(tmp_path: Path) -> None:
    """Names, types, modes, times to the nanosecond, targets, content."""
    written = write(tmp_path / "a.tar.zst")
    assert read_all(tmp_path / "a.tar.zst") == contents(sample())
    assert written.members == len(sample()) + 2  # the manifest and the report
    assert not written.report.is_partial
    assert written.size == (tmp_path / "a.tar.zst").stat().st_size


component = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="/\0\\"), min_size=1, max_size=40
).filter(lambda text: text not in (".", "..") and ":" not in text[1:2])


@settings(max_examples=40)
@given(
    st.dictionaries(component, st.one_of(st.binary(max_size=3000), st.none(), component), max_size=12),
    st.integers(0, 0o777),
    st.integers(-(10**19), 10**19),
)
def test_any_tree_comes_back(tmp_path: Path, tree: dict[str, bytes | str | None], mode: int, mtime_ns: int) -> None:
    """Files by bytes, folders by None, links by text."""
    entries = [folder("home", mode=mode)]
    for name, value in tree.items():
        match value:
            case bytes():
                entries.append(file(f"home/{name}", value, mode=mode, mtime_ns=mtime_ns))
            case str():
                entries.append(link(f"home/{name}", value))
            case _:
                entries.append(folder(f"home/{name}", mtime_ns=mtime_ns))
    write(tmp_path / "a.tar.zst", entries, replace=True, level=1)
    assert read_all(tmp_path / "a.tar.zst") == contents(entries)


def test_verify_tells_what_it_read(tmp_path: Path) -> None:
    """The same digest and counts as the writer told."""
    written = write(tmp_path / "a.tar.zst")
    result = verify(tmp_path / "a.tar.zst", expect=written.whole)
    assert (result.verdict, result.whole, result.members) == (Verdict.SOUND, written.whole, written.members)
    assert result.content_bytes == written.content_bytes


def test_another_digest_than_the_noted_one_is_damage(tmp_path: Path) -> None:
    """An archive that was replaced as a whole proves itself, but not against a digest noted elsewhere."""
    write(tmp_path / "a.tar.zst")
    result = verify(tmp_path / "a.tar.zst", expect="0" * 64)
    assert (result.verdict, result.findings.listed[0].code) == (Verdict.DAMAGED, "whole")


def test_the_same_home_gives_the_same_content_digests_but_another_archive(tmp_path: Path) -> None:
    """The manifest has an id and a time of its own."""
    first, second = write(tmp_path / "a.tar.zst"), write(tmp_path / "b.tar.zst")
    assert first.whole != second.whole  # the manifest has another id


@pytest.mark.skipif(shutil.which("tar") is None or shutil.which("zstd") is None, reason="needs GNU tar and zstd")
def test_tar_and_sha256sum_do_without_us(tmp_path: Path) -> None:
    """A restore by hand: every file is there with its mode and time, and the digests check."""
    write(tmp_path / "a.tar.zst")
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["tar", "--zstd", "-xpf", tmp_path / "a.tar.zst", "-C", out], check=True, capture_output=True)
    for entry, content in contents(sample()):
        path = out / entry.name
        status = path.lstat()
        assert status.st_mtime_ns == entry.mtime_ns or entry.kind is Kind.LINK
        if entry.kind is Kind.LINK:
            assert str(path.readlink()) == entry.target
            continue
        assert stat.S_IMODE(status.st_mode) == entry.mode
        if entry.kind is Kind.FILE:
            assert path.read_bytes() == content
    if shutil.which("sha256sum"):
        checked = subprocess.run(["sha256sum", "-c", "digests.sha256"], cwd=out, capture_output=True, check=True)
        assert checked.stdout.count(b": OK") == 2 + sum(entry.kind is Kind.FILE for entry in sample())


@pytest.mark.parametrize("year", [1901, 1969, 1979, 2038, 2107, 2243, 2500])
def test_any_clock_will_do(tmp_path: Path, year: int) -> None:
    """Times before 1980 and after 2100 are stored as they are."""
    entry = file("home/x", b"x", mtime_ns=(year - 1970) * 31_556_952 * 10**9 + 1)
    write(tmp_path / "a.tar.zst", [folder("home"), entry])
    assert read_all(tmp_path / "a.tar.zst")[1][0].mtime_ns == entry.mtime_ns


def test_content_of_unknown_size_is_found_out_beside_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tiny TMPDIR does not matter: nothing is staged there."""
    monkeypatch.setenv("TMPDIR", "/nonexistent")
    monkeypatch.setattr("tempfile.tempdir", "/nonexistent")
    monkeypatch.setattr("hermes_state.portability.writer._SPOOL", 10)
    write(tmp_path / "a.tar.zst", [folder("home"), file("home/x", b"unknown" * 100, size=None)])
    assert read_all(tmp_path / "a.tar.zst")[1] == (file("home/x", b"", size=700), b"unknown" * 100)
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.zst"]


def test_a_file_that_shrinks_is_filled_up_and_reported(tmp_path: Path) -> None:
    """Its size stands before its content and can't be taken back."""
    written = write(tmp_path / "a.tar.zst", [folder("home"), file("home/log", b"abc", size=1000), file("home/y", b"y")])
    assert [item["name"] for item in written.report.incomplete] == ["home/log"]
    assert "at byte 3 of 1000" in written.report.incomplete[0]["reason"]
    assert read_all(tmp_path / "a.tar.zst")[1][1] == b"abc".ljust(1000, b"\0")
    assert verify(tmp_path / "a.tar.zst").notices.listed[-1].code == "incomplete"


def test_a_file_that_grows_is_taken_as_it_was(tmp_path: Path) -> None:
    """A log that is written to is a sound file of its first bytes."""
    written = write(tmp_path / "a.tar.zst", [folder("home"), file("home/log", b"abcdef", size=3)])
    assert read_all(tmp_path / "a.tar.zst")[1][1] == b"abc"
    assert not written.report.is_partial


class _Failing(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= 4:
            raise OSError(5, "Input/output error")
        return super().read(4)


def test_a_file_that_cannot_be_read_on_is_reported_and_the_rest_goes_in(tmp_path: Path) -> None:
    """A bad sector under one file is no reason to have no backup at all."""
    bad = file("home/bad", b"12345678", opener=lambda: _Failing(b"12345678"))
    written = write(tmp_path / "a.tar.zst", [folder("home"), bad, file("home/good", b"g")])
    assert "Input/output error, at byte 4 of 8" in written.report.incomplete[0]["reason"]
    assert read_all(tmp_path / "a.tar.zst")[2][1] == b"g"


def test_a_file_that_cannot_be_opened_is_left_out_and_reported(tmp_path: Path) -> None:
    """With the system's reason."""

    def refuse() -> io.BytesIO:
        raise PermissionError(13, "Permission denied")

    report = Report()
    entries = [folder("home"), file("home/secret", b"x", opener=refuse)]
    write_archive(tmp_path / "a.tar.zst", Manifest(roots=ROOTS), entries, report=report)
    assert report.omitted == [{"name": "home/secret", "reason": "Permission denied"}]
    assert [entry.name for entry, _ in read_all(tmp_path / "a.tar.zst")] == ["home"]


def test_the_report_reaches_the_reader(tmp_path: Path) -> None:
    """With what the collector added while the entries were made."""
    report = Report()

    def entries() -> Iterable[Entry]:
        yield folder("home")
        report.omit("home/gone", "vanished")
        report.facts["databases"] = {"home/state.db": {"rows": 5}}

    write_archive(tmp_path / "a.tar.zst", Manifest(roots=ROOTS), entries(), report=report)
    with open_archive(tmp_path / "a.tar.zst") as archive:
        assert archive.report is None
        list(archive.members())
        assert archive.report == report


def test_a_report_of_too_many_long_names_is_cut_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup of hours must not fail for its own report."""
    monkeypatch.setattr("hermes_state.portability.manifest.MAX_JSON_BYTES", 10_000)
    report = Report()
    for n in range(1000):
        report.omit(f"home/{n}", "x" * 100)
    write_archive(tmp_path / "a.tar.zst", Manifest(roots=ROOTS), [folder("home")], report=report)
    result = verify(tmp_path / "a.tar.zst")
    assert result.report is not None
    assert (result.report.omitted_count, result.notices.count) == (1000, 1000)
    assert 0 < len(result.report.omitted) < 100


def test_an_archive_is_private_from_its_first_byte(tmp_path: Path) -> None:
    """Whatever the umask: the file is never readable for others, not even while it is written."""
    modes = []

    def look(_entry: Entry, _size: int) -> None:
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())

    previous = os.umask(0)
    try:
        write_archive(tmp_path / "a.tar.zst", Manifest(roots=ROOTS), sample(), progress=look)
    finally:
        os.umask(previous)
    assert {*modes} == {0o600}
    assert stat.S_IMODE((tmp_path / "a.tar.zst").stat().st_mode) == 0o600


def test_an_archive_that_is_there_is_not_replaced_unless_told(tmp_path: Path) -> None:
    """Yesterday's backup is not a scratch file."""
    (tmp_path / "a.tar.zst").write_bytes(b"precious")
    with pytest.raises(Conflict, match="is there already"):
        write(tmp_path / "a.tar.zst")
    assert (tmp_path / "a.tar.zst").read_bytes() == b"precious"
    write(tmp_path / "a.tar.zst", replace=True)
    assert verify(tmp_path / "a.tar.zst").verdict is Verdict.SOUND


def test_of_two_backups_at_once_one_is_refused_and_neither_is_broken(tmp_path: Path) -> None:
    """The second finds the name taken when it is done, not only when it starts."""

    def entries() -> Iterable[Entry]:
        yield folder("home")
        write(tmp_path / "a.tar.zst", [folder("home"), file("home/winner", b"w")])

    with pytest.raises(Conflict):
        write(tmp_path / "a.tar.zst", entries())
    assert [entry.name for entry, _ in read_all(tmp_path / "a.tar.zst")] == ["home", "home/winner"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.zst"]


def test_members_are_read_once(tmp_path: Path) -> None:
    """A second loop would silently give nothing."""
    write(tmp_path / "a.tar.zst")
    with open_archive(tmp_path / "a.tar.zst") as archive:
        list(archive.members())
        with pytest.raises(InvalidValue, match="read once"):
            next(archive.members())


def test_a_reader_may_stop_anywhere(tmp_path: Path) -> None:
    """And leaves no thread behind."""
    import threading

    write(tmp_path / "a.tar.zst", [folder("home"), file("home/big", os.urandom(20_000_000))], level=1, check=False)
    before = threading.active_count()
    for stop in range(3):
        with open_archive(tmp_path / "a.tar.zst") as archive:
            for n, (_, content) in enumerate(archive.members()):
                if content is not None:
                    content.read(3_000_000)
                if n == stop:
                    break
    assert threading.active_count() == before


def test_verify_imports_nothing_of_the_store() -> None:
    """An archive can be checked where no database is."""
    code = (
        "import sys, hermes_state.portability.verify, hermes_state.portability.writer\n"
        "print([name for name in sys.modules if name.startswith(('sqlalchemy', 'sqlite3', 'hermes_state.store'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_manifest_comes_back(tmp_path: Path) -> None:
    """Roots, features, and facts that the format knows nothing of."""
    manifest = Manifest(
        roots=ROOTS | {"external": "/home/ann"}, required_restore=("rebuild-indexes",), facts={"x": [1]}
    )
    write_archive(tmp_path / "a.tar.zst", manifest, [folder("home")], options=Options())
    with open_archive(tmp_path / "a.tar.zst") as archive:
        assert archive.manifest == manifest


def test_more_members_than_a_reader_takes_are_refused_while_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after an hour, when the archive is read back."""
    monkeypatch.setattr("hermes_state.portability.writer.Limits", lambda: Limits(entries=10))
    with pytest.raises(InvalidValue, match="at most 10 members"):
        write(tmp_path / "a.tar.zst", [folder("home"), *(file(f"home/{n}") for n in range(20))])
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_backup_left_is_cleared_away_and_a_running_ones_is_not(tmp_path: Path) -> None:
    """Otherwise each crash would leave a file as large as an archive."""
    (tmp_path / ".a.tar.zst.k1ll3d.partial").write_bytes(b"half")
    (tmp_path / ".b.tar.zst.k1ll3d.partial").write_bytes(b"another target's")
    (tmp_path / ".a.tar.zst.l1nk.partial").symlink_to(tmp_path / ".b.tar.zst.k1ll3d.partial")

    def entries() -> Iterable[Entry]:
        yield folder("home")
        running = {path.name for path in tmp_path.iterdir()}
        write(tmp_path / "a.tar.zst")  # a second backup at the same time
        assert running <= {path.name for path in tmp_path.iterdir()}

    write(tmp_path / "a.tar.zst", entries(), replace=True)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a.tar.zst", ".b.tar.zst.k1ll3d.partial", ".a.tar.zst.l1nk.partial"}


_KILLED = """
import io, sys, time
from pathlib import Path
from hermes_state.portability.format import Entry, Kind
from hermes_state.portability.manifest import Manifest
from hermes_state.portability.writer import write_archive

def entries():
    yield Entry(name="home", kind=Kind.DIR, mode=0o700)
    print("writing", flush=True)
    time.sleep(60)

write_archive(Path(sys.argv[1]), Manifest(roots={"home": "/"}), entries())
"""


def test_a_killed_backup_leaves_no_archive_and_the_next_one_works(tmp_path: Path) -> None:
    """kill -9 amid writing: nothing stands under the name, and one further command tidies up."""
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "a.tar.zst")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        assert not (tmp_path / "a.tar.zst").exists()
        process.kill()
    assert [path.suffix for path in tmp_path.iterdir()] == [".partial"]
    write(tmp_path / "a.tar.zst")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.zst"]
