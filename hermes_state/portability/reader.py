"""Reads an archive and believes nothing of it.

    with open_archive(path) as archive:
        for entry, content in archive.members():   # in order; content is None for folders and links
            ...
    # here every digest has been compared; before, nothing that came was proven

Digests stand at the end, so whoever restores writes beside the target and swaps after the loop. Without `on_finding`
the first thing that is wrong is raised; with it, all that can be found is told, and only what makes going on impossible
is raised.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from hermes_state.errors import ArchiveDamaged, ArchiveForeign, InvalidValue
from hermes_state.portability import crypt, foreign, frames, headers, manifest, names
from hermes_state.portability.content import Content
from hermes_state.portability.digests import Lane, Tally, digest_of
from hermes_state.portability.format import (
    DIGESTS,
    FRAME_HEAD,
    MANIFEST,
    MAX_JSON_BYTES,
    OWN_MODE,
    REPORT,
    TRAILER_BYTES,
    TRAILER_HEAD,
    Entry,
    Finding,
    Kind,
    Limits,
)
from hermes_state.portability.places import Places
from hermes_state.portability.proof import prove
from hermes_state.portability.repository import snapshots
from hermes_state.portability.repository.stream import open_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hermes_state.portability.manifest import Manifest, Report

# [bytes] read from the file at a time.
_BUFFER = 1024 * 1024


@contextmanager
def open_archive(
    path: Path,
    *,
    keys: crypt.Keys | None = None,
    limits: Limits | None = None,
    on_finding: Callable[[Finding], None] | None = None,
) -> Iterator[Archive]:
    """Open an archive, or a snapshot in a repository, and read its manifest.

    Args:
        path: a file; or what `repository.snapshots.locate` takes for a snapshot.
        keys: for an encrypted one.
        limits: what to put up with.
        on_finding: gets what is wrong and does not make going on impossible; None: it is raised.

    Raises:
        ArchiveForeign: it is none of ours.
        ArchiveDamaged: it is, and not as it was written. Later reads raise it too.
        ArchiveUnsupported: it needs a newer version.
        WrongKey: it is encrypted, and no key fits.
        OSError: as the system says.
    """
    limits = limits or Limits()
    with ExitStack() as stack:
        located = snapshots.locate(path)
        if located is not None:
            stored = stack.enter_context(open_snapshot(*located))
            ahead = frames.Ahead(stored.blocks())
            archive = Archive(path, stored.size, stored.position, ahead, limits, on_finding)
            archive.named = stored.snapshot.whole
            head = FRAME_HEAD
        else:
            file, plain, head = _opened(stack, path, keys or crypt.Keys())
            ahead = frames.Ahead(frames.blocks(plain, head))
            archive = Archive(path, os.fstat(file.fileno()).st_size, file.tell, ahead, limits, on_finding)
            archive.encrypted = plain is not file
        stack.callback(ahead.close)
        stack.callback(archive.close)
        archive.read_manifest(head)
        yield archive


def check_frame(path: Path, *, keys: crypt.Keys | None = None) -> None:
    """Read an archive below its members: enough to tell a newer one from a damaged one.

    Raises:
        ArchiveDamaged: a byte is not as written.
    """
    if snapshots.locate(path) is not None:  # its file was compared with its name before its version was looked at
        return
    with ExitStack() as stack:
        _, plain, head = _opened(stack, path, keys or crypt.Keys())
        for _ in frames.blocks(plain, head):
            pass


def has_trailer(path: Path) -> bool:
    """Whether a file ends as archives of ours do, unless they are encrypted."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TRAILER_BYTES))
        return file.read().startswith(TRAILER_HEAD)


def _opened(stack: ExitStack, path: Path, keys: crypt.Keys) -> tuple[BinaryIO, BinaryIO, bytes]:
    """The file, the same without encryption, and the head of the frame, which was read."""
    if not stat.S_ISREG(path.stat().st_mode):  # opening a FIFO would wait for ever
        raise ArchiveForeign(str(path), "not a regular file")
    file = stack.enter_context(path.open("rb", buffering=_BUFFER))
    plain = _decrypted(file, keys)
    if plain is not file:
        stack.callback(plain.close)
    head = plain.read(len(FRAME_HEAD))
    if len(head) < len(FRAME_HEAD) or not frames.resembles_head(head):
        _refuse_head(path, _peek(plain, head), encrypted=plain is not file)
    return file, plain, head


def _decrypted(file: BinaryIO, keys: crypt.Keys) -> BinaryIO:
    return crypt.decrypting(file, keys) if crypt.is_encrypted(_peek(file)) else file


def _peek(file: BinaryIO, before: bytes = b"") -> bytes:
    peek = getattr(file, "peek", None)
    return before + (peek(foreign.HEAD_BYTES)[: foreign.HEAD_BYTES] if peek is not None else b"")


def _refuse_head(path: Path, head: bytes, *, encrypted: bool) -> NoReturn:
    if FRAME_HEAD.startswith(head) or crypt.MAGIC.startswith(head):
        raise ArchiveDamaged(f"{path} is cut off within its first bytes", code="truncated")
    raise foreign.error(f"{path} (decrypted)" if encrypted else str(path), head)


class Archive:
    """An open archive.

    Attributes:
        path, size: the file and its bytes; of a snapshot, those of its repository.
        encrypted: whether age is around it.
        manifest: from the start on.
        named: of a snapshot, what its file says `whole` is, which whoever gives its members compares.
        report, whole: once all members were read.
        tally: members and bytes so far.
        on_digest: gets every member and its digest once it was read; they are proven when the members have ended.
    """

    encrypted = False
    named = ""
    on_digest: Callable[[Entry, str], None] | None = None

    def __init__(
        self,
        path: Path,
        size: int,
        position: Callable[[], int],
        pieces: frames.Ahead,
        limits: Limits,
        on_finding: Callable[[Finding], None] | None,
    ) -> None:
        self.path = path
        self.size = size
        self.manifest: Manifest
        self.report: Report | None = None
        self.whole: str | None = None
        self.tally = Tally(is_compared=True)
        self._position = position
        self._pieces = frames.Pieces(iter(pieces), MANIFEST)
        self._limits = limits
        self._left = limits.content_bytes(self.size)
        self._on_finding = on_finding
        self._lane = Lane()
        self._places: Places
        self._begun = False

    def close(self) -> None:
        """End the thread that hashes."""
        self._lane.close()

    def position(self) -> int:
        """Bytes of the file that were read, about: for showing progress."""
        return self._position()

    def tell(self, code: str, message: str, member: str = "") -> None:
        """Something is wrong, and reading could go on."""
        if self._on_finding is None:
            raise ArchiveDamaged(message, code=code, member=member)
        self._on_finding(Finding(code=code, message=message, member=member))

    # --- the manifest -------------------------------------------------------------------------------------------

    def read_manifest(self, head: bytes) -> None:
        """Read the first member. `open_archive` has done this."""
        entry = self._first(exact=head == FRAME_HEAD)
        if entry.size is None or entry.size > MAX_JSON_BYTES or entry.kind is not Kind.FILE:
            raise ArchiveDamaged("manifest.json is no file of a fitting size", code="manifest", member=MANIFEST)
        self.manifest = manifest.parse(self._own(entry), str(self.path))
        self._places = Places(self.manifest.roots)
        if head != FRAME_HEAD:
            self.tell("frame", "the first bytes of the file are not as we write them")

    def _first(self, *, exact: bool) -> Entry:
        """The first header, which tells archives of ours from those of others."""
        taken: list[bytes] = []

        def take(size: int) -> bytes:
            taken.append(self._pieces.take(size))
            return taken[-1]

        elsewise = ArchiveForeign(str(self.path), "a zstd file whose content is not ours")
        try:
            entry = headers.read(take)
        except ArchiveDamaged as error:
            # With the head that only we write, a first header that is no tar header at all is a damaged one of ours.
            if not exact or (taken and headers.has_checksum(taken[0]) and not _may_be_manifest(taken[0])):
                raise elsewise from error
            raise
        if entry is None and exact:
            raise ArchiveDamaged("the archive is empty", code="header", member=MANIFEST)
        if entry is None or entry.name != MANIFEST:
            raise elsewise
        return entry

    # --- members ------------------------------------------------------------------------------------------------

    def members(self) -> Iterator[tuple[Entry, Content | None]]:
        """The content: each member and, for a file, what it holds, readable until the next is asked for.

        What is not read is skipped, and hashed all the same. When the loop has ended, everything was proven; members
        whose names are refused are told and not given.

        Raises:
            ArchiveDamaged, WrongKey, OSError: as `open_archive`.
        """
        if self._begun:
            raise InvalidValue("the members of an archive are read once; open it again")
        self._begun = True
        while (entry := headers.read(self._pieces.take)) is not None:
            self._pieces.where = entry.name
            self._count(entry)
            if entry.name == DIGESTS:
                self._finish(entry)
                return
            if entry.name == REPORT:
                self._take_report(entry)
            else:
                yield from self._member(entry)
        raise ArchiveDamaged("the archive has no digests", code="incomplete", member=DIGESTS)

    def expect(self, whole: str) -> None:
        """Compare with the digest that somebody noted when the archive was made."""
        if self.whole != whole:
            self.tell("whole", f"the archive's digest is {self.whole}, not {whole}")

    def _count(self, entry: Entry) -> None:
        """Limits, before any content is touched."""
        if self.tally.entries >= self._limits.entries:
            raise ArchiveDamaged(f"it has more than {self._limits.entries:,} members", code="bomb")
        self._left -= entry.length
        if self._left < 0:
            message = f"{self.size:,} bytes would become more than {self._limits.content_bytes(self.size):,}"
            raise ArchiveDamaged(
                message, code="bomb", member=entry.name, hint="if you know that it is right: --trust-size"
            )

    def _member(self, entry: Entry) -> Iterator[tuple[Entry, Content | None]]:
        wrong = self._fault(entry)
        if wrong is not None:
            self.tell("name", f"a name that is refused: it {wrong}", entry.name)
        if entry.kind is not Kind.FILE:
            if wrong is None:
                yield entry, None
            self._proven(entry, digest_of(entry))
        else:
            content = Content(self._pieces, entry.length, self._lane)
            if wrong is None:
                yield entry, content
            self._close_content(entry, content)
        if wrong is None:
            self._places.add(entry)

    def _fault(self, entry: Entry) -> str | None:
        wrong = names.fault(entry.name)
        if wrong is None and entry.kind is Kind.LINK:
            wrong = names.target_fault(entry.target)
        elif wrong is None and entry.target:
            wrong = "has a target and is no link"
        if wrong is None and self.report is not None:
            wrong = "stands behind the report"
        if wrong is None and os.name == "nt":
            wrong = names.windows_fault(entry.name)
        return wrong or self._places.fault(entry)

    def clashes(self, entry: Entry) -> bool:
        """Whether an earlier name is the same where case or normalisation doesn't count; for the current one only."""
        return self._places.clashes(entry)

    def _close_content(self, entry: Entry, content: Content) -> None:
        content.skip()
        if any(self._pieces.take(headers.padding(entry.length))):
            self.tell("padding", "bytes between members that are not zero", entry.name)
        self._proven(entry, self._lane.finish())

    def _proven(self, entry: Entry, digest: str) -> None:
        self.tally.add(entry, digest)
        if self.on_digest is not None:
            self.on_digest(entry, digest)

    # --- what proves it -----------------------------------------------------------------------------------------

    def _own(self, entry: Entry) -> bytes:
        """The whole content of a member of ours; its size has been checked."""
        if entry.mode != OWN_MODE:
            self.tell("header", f"{entry.name} has the mode {entry.mode:o}", entry.name)
        content = Content(self._pieces, entry.length, self._lane)
        raw = content.readall()
        self._close_content(entry, content)
        return raw

    def _take_report(self, entry: Entry) -> None:
        if self.report is not None or entry.kind is not Kind.FILE or entry.length > MAX_JSON_BYTES:
            raise ArchiveDamaged("report.json is there twice, or no file of a fitting size", code="report")
        self.report = manifest.Report.parse(self._own(entry))

    def _finish(self, entry: Entry) -> None:
        if self.report is None:
            self.tell("incomplete", "the archive has no report", REPORT)
        if entry.kind is not Kind.FILE or entry.mode != OWN_MODE:
            self.tell("header", f"{DIGESTS} is no file of mode 0600", DIGESTS)
        prove(self.tally, Content(self._pieces, entry.length), self.tell)
        if any(self._pieces.take(headers.padding(entry.length))):
            self.tell("padding", "bytes between members that are not zero", DIGESTS)
        if headers.read(self._pieces.take) is not None:
            raise ArchiveDamaged("a member follows the digests", code="trailing")
        self._pieces.end()
        self.whole = self.named or self.tally.whole


def _may_be_manifest(block: bytes) -> bool:
    return block.startswith((MANIFEST.encode(), headers.PAX_NAME))
