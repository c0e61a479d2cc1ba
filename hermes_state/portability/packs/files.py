"""The files of a home that go into a pack: settings, the working memories, skills."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from hermes_state.portability import apart
from hermes_state.portability.collect import collect
from hermes_state.portability.format import CONFIG, MEMORIES, SKILLS, Entry, Kind
from hermes_state.portability.policy import Policy
from hermes_state.portability.rules import Rules
from hermes_state.portability.secrets import is_secret_file, redact_file
from hermes_state.portability.steady import open_steady

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.portability.collect import Found
    from hermes_state.portability.manifest import Report

# What of a home is in a part, by its name in the pack.
PLACES = {
    CONFIG: {"config/config.yaml": "config.yaml", "config/SOUL.md": "SOUL.md"},
    MEMORIES: {"memories/MEMORY.md": "memories/MEMORY.md", "memories/USER.md": "memories/USER.md"},
}


@dataclass(kw_only=True, slots=True)
class Files:
    """The files of the parts that are wanted, and what became of the secrets in them.

    Attributes:
        stage: where copies of databases lie; skills have some.
        counts: files by part; `copies`: of databases.
        left_out, redacted: as in a backup's manifest.
    """

    home: Path
    stage: Path
    policy: Policy
    report: Report
    parts: frozenset[str]
    copies: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    redacted: dict[str, list[str]] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """All of them; skills with their folders, those of the other parts are made by whoever packs."""
        found: list[Entry] = []
        for part, places in PLACES.items():
            if part in self.parts:
                some = [entry for name, place in places.items() for entry in self._single(name, self.home / place)]
                self.counts[part] = len(some)
                found += some
        if SKILLS in self.parts:
            some = list(self._skills())
            self.counts[SKILLS] = sum(entry.kind is not Kind.DIR for entry in some)
            found += some
        return found

    def _single(self, name: str, path: Path) -> Iterator[Entry]:
        if path.is_file():  # also through a link: what counts is what the agent reads
            status = path.stat()
            yield from self._file(name, path.resolve(), mode=status.st_mode & 0o7777, mtime_ns=status.st_mtime_ns)

    def _skills(self) -> Iterator[Entry]:
        collection = collect(self.home, Rules.of_home(self.home), only=[SKILLS])
        for missing in collection.unreadable:
            self.report.omit(missing.path, missing.reason)
        for found in collection.found:
            if found.path == SKILLS and found.kind is not Kind.DIR:
                self.report.omit(SKILLS, "it is no folder")
            elif found.kind is Kind.FILE:
                yield from self._skill_file(found)
            else:
                yield Entry(
                    name=found.path, kind=found.kind, mode=found.mode, mtime_ns=found.mtime_ns, target=found.target
                )

    def _skill_file(self, found: Found) -> Iterator[Entry]:
        path = self.home / found.path
        if found.is_database:
            path = self._copied(path)
        yield from self._file(found.path, path, mode=found.mode, mtime_ns=found.mtime_ns, plain=not found.is_database)

    def _copied(self, path: Path) -> Path:
        self.copies += 1
        copy = self.stage / f"{self.copies}.copy"
        return apart.copied(path, copy, keep_indexes=True).path

    def _file(self, name: str, path: Path, *, mode: int, mtime_ns: int, plain: bool = True) -> Iterator[Entry]:
        content: bytes | None = None
        if self.policy is not Policy.INCLUDE:
            is_secret = is_secret_file(name)
            if is_secret and (self.policy is Policy.EXCLUDE or not plain):
                self.left_out.append(name)
                return
            redacted = redact_file(path, is_secret=is_secret) if plain else None
            if redacted is not None and redacted.content is None:
                self.left_out.append(name)
                return
            if redacted is not None:
                content = redacted.content
                self.redacted[name] = list(redacted.keys)
        yield Entry(
            name=name, mode=mode, mtime_ns=mtime_ns, size=None, opener=lambda: self._opened(name, path, content)
        )

    def _opened(self, name: str, path: Path, content: bytes | None) -> BinaryIO:
        if content is not None:
            return io.BytesIO(content)
        steady = open_steady(path)
        if not steady.is_steady:
            self.report.cut_short(name, "it changed each time it was read")
        return steady.stream
