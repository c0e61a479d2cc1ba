"""Writes an archive: one pass, constant memory, and nothing under its name before it has proven itself."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from hermes_state.errors import InvalidValue
from hermes_state.portability import headers, names
from hermes_state.portability.appearing import appearing
from hermes_state.portability.compression import Compressor
from hermes_state.portability.digests import Lane, Tally, digest_of
from hermes_state.portability.format import (
    DIGESTS,
    END_OF_TAR,
    LEVEL,
    MANIFEST,
    OWN_MEMBERS,
    OWN_MODE,
    REPORT,
    Entry,
    Kind,
    Limits,
)
from hermes_state.portability.manifest import Manifest, Report, dump
from hermes_state.portability.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from hermes_state.portability import crypt

# [bytes] read from a file at a time.
_PIECE = 1024 * 1024
# [bytes] of content of unknown size, and of the digests, that are kept in memory before they go to a file beside the
# target.
_SPOOL = 8 * 1024 * 1024


class Options(NamedTuple):
    """How an archive is written.

    Attributes:
        level: of zstd, 1 to 19; above 12 compressing takes more than 200 MB of memory.
        threads: that compress; None: one per core, at most `format.MAX_THREADS`.
        lock: for whom it is encrypted; None: it is not.
        replace: whether a file of that name may be replaced.
        check: read the written file back before it gets its name. Only tests and benchmarks turn it off.
    """

    level: int = LEVEL
    threads: int | None = None
    lock: crypt.Lock | None = None
    replace: bool = False
    check: bool = True


class Written(NamedTuple):
    """What was written.

    Attributes:
        path, size: the archive and its bytes.
        members: all but the digests.
        content_bytes: sum of the members' sizes.
        whole: the digest that names the content.
        report: what is missing.
    """

    path: Path
    size: int
    members: int
    content_bytes: int
    whole: str
    report: Report


def write_archive(
    target: Path,
    manifest: Manifest,
    entries: Iterable[Entry],
    *,
    options: Options | None = None,
    report: Report | None = None,
    progress: Callable[[Entry, int], None] | None = None,
) -> Written:
    """Write an archive.

    Args:
        target: its name; the folder must exist.
        entries: the content; a folder before what is in it. What a reader would refuse, and files that can't be
            opened, are left out and reported. An error of the iterable itself ends the work.
        report: shared with whoever makes the entries, who may add to it until the last one.
        progress: called with the entry and the bytes of it that were read since the last call.

    Raises:
        Conflict: there is a file of that name, and `options.replace` is false.
        OSError: as the system says; nothing is left.
        ArchiveDamaged: what was written does not read back.
    """
    options, report = options or Options(), report or Report()
    with appearing(target, replace=options.replace) as (file, partial):
        with _encrypted(file, options.lock) as (put, keys):
            tally = _fill(_Writer(put, manifest, options, report, target.parent, progress), entries)
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
        if options.check:
            _check(partial, keys, tally.whole)
    return Written(
        path=target,
        size=size,
        members=tally.entries,
        content_bytes=tally.content_bytes,
        whole=tally.whole,
        report=report,
    )


def _fill(writer: _Writer, entries: Iterable[Entry]) -> Tally:
    """Write everything. A function, so that the compressor's memory is free again before the archive is read back."""
    with closing(writer):
        writer.write_all(entries)
    return writer.tally


@contextmanager
def _encrypted(file: BinaryIO, lock: crypt.Lock | None) -> Iterator[tuple[Callable[[bytes], object], crypt.Keys]]:
    """Where to write, and the keys to read it back."""
    from hermes_state.portability import crypt  # a repository needs none of it

    if lock is None:
        yield file.write, crypt.Keys()
        return
    sink, keys = crypt.encrypting(file, lock)
    try:
        yield sink.write, keys
    except BaseException:
        sink.abandon()
        raise
    sink.finish()


def _check(partial: Path, keys: crypt.Keys, whole: str) -> None:
    from hermes_state.portability.reader import open_archive

    with open_archive(partial, keys=keys, limits=Limits(ratio=None)) as archive:
        for _ in archive.members():
            pass
        archive.expect(whole)


def fault(entry: Entry, places: Places) -> str | None:
    """Why a reader would refuse an entry after those that are in their places; None: it would not."""
    return (
        names.fault(entry.name)
        or (names.target_fault(entry.target) if entry.kind is Kind.LINK else None)
        or headers.check_numbers(entry if entry.size is not None else replace(entry, size=0))
        or places.fault(entry)
    )


class _Writer:
    """The members, one after the other, into the compressor."""

    def __init__(
        self,
        put: Callable[[bytes], object],
        manifest: Manifest,
        options: Options,
        report: Report,
        folder: Path,
        progress: Callable[[Entry, int], None] | None,
    ) -> None:
        self._compressor = Compressor(put, options.level, options.threads)
        self._report = report
        self._folder = folder
        self._progress = progress
        self._digests = tempfile.SpooledTemporaryFile(_SPOOL, dir=os.fspath(folder))  # noqa: SIM115  `close` closes it
        self.tally = Tally(self._digests.write)
        self._lane = Lane()
        self._places = Places(manifest.roots)
        self._manifest = manifest

    def close(self) -> None:
        self._lane.close()
        self._digests.close()

    def write_all(self, entries: Iterable[Entry]) -> None:
        now = int(time.time()) * 10**9  # whole seconds need no pax header
        self._own(MANIFEST, dump(self._manifest.as_json()), now)
        for entry in entries:
            self._member(entry)
        self._own(REPORT, self._report.dump(), now)
        self._put_digests(now)
        self._compressor.write(END_OF_TAR)
        self._compressor.finish()

    def _own(self, name: str, content: bytes, mtime_ns: int) -> None:
        entry = Entry(name=name, mode=OWN_MODE, mtime_ns=mtime_ns, size=len(content))
        self._copy(entry, io.BytesIO(content))

    def _put_digests(self, mtime_ns: int) -> None:
        last = self.tally.last_line()
        size = self.tally.text_bytes + len(last)
        self._compressor.write(headers.encode(Entry(name=DIGESTS, mode=OWN_MODE, mtime_ns=mtime_ns, size=size)))
        self._digests.seek(0)
        while piece := self._digests.read(_PIECE):
            self._compressor.write(piece)
        self._compressor.write(last + bytes(headers.padding(size)))

    def _member(self, entry: Entry) -> None:
        if len(self._places) >= Limits().entries - OWN_MEMBERS:
            hint = "leave out folders that can be made again: --exclude"
            raise InvalidValue(f"an archive holds at most {Limits().entries:,} members", hint=hint)
        wrong = fault(entry, self._places)
        if wrong is not None:
            self._report.omit(entry.name, f"no archive can hold it: it {wrong}")
        elif entry.kind is not Kind.FILE:
            self._compressor.write(headers.encode(entry))
            self.tally.add(entry, digest_of(entry))
            self._places.add(entry)
            self._tell(entry, 0)
        else:
            self._file(entry)

    def _file(self, entry: Entry) -> None:
        """A file that can't be opened is left out; once its header is written, it stays."""
        try:
            content, size = self._opened(entry)
        except OSError as error:
            self._report.omit(entry.name, error.strerror or str(error))
            return
        with content:
            self._copy(replace(entry, size=size), content)
        self._places.add(entry)

    def _opened(self, entry: Entry) -> tuple[BinaryIO, int]:
        if entry.opener is None:
            raise InvalidValue(f"the entry {entry.name!r} is a file and has no opener")
        content = entry.opener()
        if entry.size is not None:
            return content, entry.size
        with content:
            return self._spooled(content)

    def _spooled(self, content: BinaryIO) -> tuple[BinaryIO, int]:
        """Content of unknown size, once it is known."""
        spool = tempfile.SpooledTemporaryFile(_SPOOL, dir=os.fspath(self._folder))  # noqa: SIM115  the caller closes it
        try:
            shutil.copyfileobj(content, spool, _PIECE)
            size = spool.tell()
            spool.seek(0)
        except BaseException:
            spool.close()
            raise
        return cast("BinaryIO", spool), size

    def _copy(self, entry: Entry, content: BinaryIO) -> None:
        self._compressor.write(headers.encode(entry))
        left = entry.length
        while left and (piece := self._piece(entry, content, left)):
            self._put(piece)
            left -= len(piece)
            self._tell(entry, len(piece))
        while left:  # it shrank: its size stands in the header already
            piece = bytes(min(left, _PIECE))
            self._put(piece)
            left -= len(piece)
        self._compressor.write(bytes(headers.padding(entry.length)))
        self.tally.add(entry, self._lane.finish())

    def _piece(self, entry: Entry, content: BinaryIO, left: int) -> bytes:
        """The next piece; none, and a word in the report, where the file ends too early or can't be read on."""
        at = f"at byte {entry.length - left} of {entry.length}"
        try:
            piece = content.read(min(_PIECE, left))
        except OSError as error:
            self._report.cut_short(entry.name, f"{error.strerror or error}, {at}")
            return b""
        if not piece:
            self._report.cut_short(entry.name, f"it shrank while it was read: it ended {at}")
        return piece

    def _put(self, piece: bytes) -> None:
        self._lane.update(piece)
        self._compressor.write(piece)

    def _tell(self, entry: Entry, size: int) -> None:
        if self._progress is not None:
            self._progress(entry, size)
