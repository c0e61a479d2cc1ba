"""Import of a session export, told apart by its first line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state.errors import FormatError, StoreUnavailable
from hermes_state.importers.hermes_jsonl import import_hermes_jsonl, is_hermes_session
from hermes_state.transfer.lines import FORMAT
from hermes_state.transfer.load import load
from hermes_state.transfer.progress import Progress, no_progress

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from hermes_state.importers.report import ImportReport
    from hermes_state.store import SessionDB
    from hermes_state.transfer import LoadReport


def import_file(
    db: SessionDB, path: str | os.PathLike[str], *, progress: Progress = no_progress
) -> ImportReport | LoadReport:
    """Bring in a JSON Lines export: this store's own (`LoadReport`) or Hermes's (`ImportReport`).

    Raises:
        FormatError: it is neither, or one of a newer version; nothing was changed.
        StoreUnavailable: it can't be read.
    """
    file = Path(path).expanduser()
    try:
        with file.open("rb") as lines:
            return import_lines(db, lines, name=str(file), progress=progress)
    except OSError as error:
        raise StoreUnavailable(
            f"{file} can't be read: {error.strerror}", hint="check the path and its modes"
        ) from error


def import_lines(
    db: SessionDB, lines: Iterable[bytes], *, name: str = "standard input", progress: Progress = no_progress
) -> ImportReport | LoadReport:
    """As `import_file`, for lines that come from anywhere; they are read once, from first to last.

    Args:
        name: what to call them in the report.
    """
    peeked = _Peeked(lines)
    first = _parsed(peeked.first)
    if first.get("format") == FORMAT:
        return load(db.engine, peeked, progress=progress)
    if is_hermes_session(first):
        return import_hermes_jsonl(db, peeked, name=name, progress=progress)
    raise FormatError(
        f"{name} is neither an export of hermes-state nor one of Hermes (`hermes sessions export`)",
        hint="a Hermes home or state.db is read with `hermes-state import hermes PATH`",
    )


class _Peeked:
    """Lines of which the first one that is not empty was looked at."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._read: list[bytes] = []
        self.first = b""
        for line in self._lines:
            self._read.append(line)
            if line.strip():
                self.first = line
                break

    def __iter__(self) -> Iterator[bytes]:
        yield from self._read
        yield from self._lines


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
