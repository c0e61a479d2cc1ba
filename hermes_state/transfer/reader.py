"""An export file, line by line: what each line is, and what is wrong with one that can't be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hermes_state.errors import FormatError
from hermes_state.transfer.lines import FORMAT, VERSION, Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TYPES = frozenset(("header", "system_prompt", "session", "message", "route", "end"))
_SHOWN = 60  # characters of a broken line that are shown


class BadLine(Exception):
    """A line that can't be read: its number, what is wrong, what to do."""

    def __init__(self, number: int, what: str, hint: str) -> None:
        super().__init__(what)
        self.number = number
        self.what = what
        self.hint = hint


class Reader:
    """The lines of an export after its header.

    Attributes:
        number: of the line that was read last, counted from 1.

    Raises:
        FormatError: this is not such an export, or one of a newer version.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self.number = 0
        self._next: Line | None = None
        header = self._header()
        if header is None or header.get("format") != FORMAT:
            raise FormatError(
                "line 1 is not the header of a hermes-state session export",
                hint="make one with `hermes-state sessions export`",
            )
        version = header.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise FormatError(
                f"the export has version {version!r}; this version of hermes-state reads up to {VERSION}",
                hint="upgrade hermes-state",
            )

    def _header(self) -> Line | None:
        try:
            return self._read()
        except BadLine:
            return None

    def _read(self) -> Line | None:
        """The next line that is not empty; None at the end of the file.

        Raises:
            BadLine: it can't be read.
        """
        for raw in self._lines:
            self.number += 1
            if raw.strip():
                return self._parsed(raw)
        return None

    def _parsed(self, raw: bytes) -> Line:
        try:
            found = json.loads(raw.removeprefix(b"\xef\xbb\xbf"))
        except UnicodeDecodeError as error:
            raise BadLine(self.number, f"the line is not UTF-8 at byte {error.start}", "save it as UTF-8") from error
        except (ValueError, RecursionError) as error:
            shown = raw[:_SHOWN].decode("utf-8", "replace").strip()
            raise BadLine(self.number, f"the line is not JSON ({error}): {shown}", "repair or remove it") from error
        if not isinstance(found, dict) or found.get("type") not in TYPES:
            kind = found.get("type") if isinstance(found, dict) else type(found).__name__
            raise BadLine(
                self.number, f"a line of type {kind!r} is not known here", "remove it, or upgrade hermes-state"
            )
        return found

    def peek(self) -> Line | None:
        """The next line, which `take` gives again; None at the end of the file.

        Raises:
            BadLine: it can't be read; it is passed over.
        """
        if self._next is None:
            self._next = self._read()
        return self._next

    def take(self) -> Line | None:
        """The next line; None at the end of the file.

        Raises:
            BadLine: it can't be read; it is passed over.
        """
        found, self._next = self.peek(), None
        return found

    def messages(self) -> Iterator[Line]:
        """The message lines up to the next line of another type.

        Raises:
            BadLine: one of them can't be read.
        """
        while (line := self.peek()) is not None and line["type"] == "message":
            self._next = None
            yield line

    def skip_session(self) -> None:
        """Pass over the rest of a session, with whatever can't be read in it."""
        while True:
            try:
                for _ in self.messages():
                    pass
            except BadLine:
                continue
            return
