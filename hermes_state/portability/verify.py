"""Tells whether an archive is what was written: all of it read, nothing written, no database needed."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_state.errors import ArchiveDamaged, ArchiveForeign, ArchiveUnsupported, WrongKey
from hermes_state.portability import names
from hermes_state.portability.foreign_archive import open_foreign
from hermes_state.portability.format import MAX_FINDINGS, Entry, Finding, Kind, Limits
from hermes_state.portability.reader import check_frame, has_trailer, open_archive

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.manifest import Manifest, Report
    from hermes_state.portability.reader import Archive

# [mode bits] that make a file run as its owner; nothing in a home needs them.
_SET_ID = 0o6000
# [bytes] read at a time.
_PIECE = 1024 * 1024


class Verdict(enum.Enum):
    """What an archive is; the value is the exit code."""

    SOUND = 0
    DAMAGED = ArchiveDamaged.exit_code
    FOREIGN = ArchiveForeign.exit_code
    UNSUPPORTED = ArchiveUnsupported.exit_code
    WRONG_KEY = WrongKey.exit_code


class Findings:
    """The first thousand of something, and the count of all."""

    def __init__(self) -> None:
        self.listed: list[Finding] = []
        self.count = 0

    def add(self, finding: Finding) -> None:
        """One more."""
        self.count += 1
        if len(self.listed) < MAX_FINDINGS:
            self.listed.append(finding)

    def as_json(self) -> list[dict[str, Any]]:
        """Those that are listed."""
        return [finding.as_json() for finding in self.listed]


@dataclass(kw_only=True, slots=True)
class Verification:
    """What `verify` found.

    Attributes:
        verdict: in one word.
        findings: what is wrong; none when it is sound.
        notices: what is worth knowing and not wrong.
        manifest, report, whole: as far as they could be read; `whole` only of an archive that was read to its end.
        members, content_bytes: what was read.
        foreign: what kind of foreign archive it is, when it is one that can be read; None: it is none.
    """

    path: Path
    verdict: Verdict = Verdict.SOUND
    findings: Findings = field(default_factory=Findings)
    notices: Findings = field(default_factory=Findings)
    size: int = 0
    encrypted: bool = False
    manifest: Manifest | None = None
    report: Report | None = None
    whole: str | None = None
    members: int = 0
    content_bytes: int = 0
    foreign: str | None = None

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "path": str(self.path),
            "verdict": self.verdict.name.lower(),
            "findings": self.findings.as_json(),
            "finding_count": self.findings.count,
            "notices": self.notices.as_json(),
            "notice_count": self.notices.count,
            "bytes": self.size,
            "encrypted": self.encrypted,
            "archive_id": self.manifest.archive_id if self.manifest else None,
            "created_at": self.manifest.as_json()["created_at"] if self.manifest else None,
            "digest": self.whole,
            "members": self.members,
            "content_bytes": self.content_bytes,
            "partial": self.report.is_partial if self.report else None,
            "foreign": self.foreign,
        }


def verify(
    path: Path,
    *,
    keys: Keys | None = None,
    limits: Limits | None = None,
    expect: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Read an archive to its end and tell what it is.

    Args:
        expect: the digest it must have, as somebody noted it.
        progress: called now and then with the bytes of the file that were read, and its size.

    Raises:
        OSError: the file can't be read.
        MissingExtra: it is encrypted, and the packages for that are not installed.
    """
    result = Verification(path=path)
    try:
        with open_archive(path, keys=keys, limits=limits, on_finding=result.findings.add) as archive:
            _read(archive, result, expect, progress)
    except ArchiveDamaged as error:
        result.findings.add(Finding(code=error.code, message=error.message, member=error.member))
    except (ArchiveForeign, ArchiveUnsupported, WrongKey) as error:
        result.verdict = Verdict(error.exit_code)
        result.findings.add(Finding(code=error.kind, message=error.message))
        _tell_strange_from_damaged(result, keys)
        if result.verdict is Verdict.FOREIGN:
            _read_foreign(result, limits)
        return result
    if result.findings.count:
        result.verdict = Verdict.DAMAGED
    return result


def _tell_strange_from_damaged(result: Verification, keys: Keys | None) -> None:
    """A flipped bit can make any version of a 1, and another name of the format's; the layer below knows better."""
    ours = result.verdict is Verdict.UNSUPPORTED or (result.path.is_file() and has_trailer(result.path))
    try:
        if ours and result.verdict is not Verdict.WRONG_KEY:
            check_frame(result.path, keys=keys)
    except (ArchiveDamaged, ArchiveForeign) as error:
        result.verdict = Verdict.DAMAGED
        result.findings.add(Finding(code="frame", message=error.message))


def _read_foreign(result: Verification, limits: Limits | None) -> None:
    """The peer's archives have checksums at least: whether they can be read is told, and that it proves nothing."""
    try:
        with open_foreign(result.path, limits) as archive:
            result.size = archive.size
            for entry, content in archive.members():
                result.foreign = archive.kind
                result.members += 1
                result.content_bytes += entry.length
                while content is not None and content.read(_PIECE):
                    pass
            for notice in archive.notices:
                result.notices.add(Finding(code="foreign", message=notice))
    except ArchiveDamaged as error:
        result.findings.add(Finding(code=error.code, message=error.message, member=error.member))
    except ArchiveForeign:  # told already
        result.foreign = None


def _read(
    archive: Archive, result: Verification, expect: str | None, progress: Callable[[int, int], None] | None
) -> None:
    result.size, result.encrypted, result.manifest = archive.size, archive.encrypted, archive.manifest
    try:
        for entry, content in archive.members():
            _notice(archive, entry, result.notices)
            if content is None:
                continue
            for _ in content.chunks():
                if progress is not None:
                    progress(archive.position(), archive.size)
    finally:
        result.report, result.whole = archive.report, archive.whole
        result.members, result.content_bytes = archive.tally.entries, archive.tally.content_bytes
    _notice_report(result)
    if expect is not None:
        archive.expect(expect.lower())


def _notice(archive: Archive, entry: Entry, notices: Findings) -> None:
    """What is sound and may surprise where the archive is restored."""
    if archive.clashes(entry):
        message = "an earlier name is the same where case or Unicode normalisation does not count"
        notices.add(Finding(code="clash", message=message, member=entry.name))
    awkward = names.windows_fault(entry.name)
    if awkward is not None:
        notices.add(Finding(code="windows-name", message=f"it {awkward}", member=entry.name))
    if entry.kind is Kind.LINK and names.leads_out(entry.name, entry.target):
        notices.add(Finding(code="link-out", message=f"a link that leads out: {entry.target}", member=entry.name))
    if entry.mode & _SET_ID:
        notices.add(Finding(code="set-id", message=f"its mode is {entry.mode:04o}", member=entry.name))


def _notice_report(result: Verification) -> None:
    if result.report is None:
        return
    for code, listed, count in (
        ("omitted", result.report.omitted, result.report.omitted_count),
        ("incomplete", result.report.incomplete, result.report.incomplete_count),
    ):
        for item in listed:
            result.notices.add(Finding(code=code, message=item["reason"], member=item["name"]))
        result.notices.count += count - len(listed)
