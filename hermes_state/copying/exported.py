"""What an export holds, as `content` has it: the lines of `sessions.jsonl` and `memories.jsonl`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hermes_state.copying.digest import NO_MESSAGES, Chained
from hermes_state.errors import FormatError
from hermes_state.transfer.reader import BadLine, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from hermes_state.transfer.lines import Line


class ExportContent:
    """The content of files that were exported from a store. Facts are in none of them.

    Args:
        sessions, memories: JSON Lines; None: there are none.
    """

    not_kept = ""

    def __init__(self, sessions: Path | None, memories: Path | None) -> None:
        self._sessions, self._memories = sessions, memories

    def chains(self) -> Iterator[Chained]:
        """In order of the file.

        Raises:
            FormatError: a line can't be read, or this is no export.
        """
        for line, messages in self._chosen(lambda _: True):
            chain = NO_MESSAGES.extended(messages)
            yield Chained(line, chain, chain.messages)

    def named(self, ids: Collection[str]) -> Iterator[tuple[Line, Iterator[Line]]]:
        """Those sessions that are in it."""
        return self._chosen(lambda session_id: session_id in ids)

    def _chosen(self, is_wanted: Callable[[str], bool]) -> Iterator[tuple[Line, Iterator[Line]]]:
        if self._sessions is None:
            return
        with self._sessions.open("rb") as file:
            reader = Reader(file)
            try:
                while (line := reader.take()) is not None:
                    if line["type"] == "session" and is_wanted(line["id"]):
                        yield line, reader.messages()
            except BadLine as error:
                raise FormatError(f"line {error.number}: {error.what}", hint=error.hint) from error

    def memories(self) -> Iterator[Line]:
        """In order of the file."""
        if self._memories is None:
            return
        with self._memories.open("rb") as file:
            for raw in file:
                line = json.loads(raw)
                if line["type"] == "memory":
                    yield line

    def facts(self) -> Iterator[Line]:
        """None."""
        return iter(())
