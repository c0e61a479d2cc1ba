"""Sessions to JSON Lines, losslessly. The format is described in `docs/export-format.md`."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from hermes_state.transfer.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from hermes_state.engine import Engine
    from hermes_state.transfer.report import ExportReport


def dump(engine: Engine, out: IO[str], selection: Selection = EVERYTHING, *, redact: bool = False) -> ExportReport:
    """Write sessions as JSON Lines: a header, then each session and its messages, then a closing line with counts.

    Args:
        out: a text file; its encoding must be UTF-8.
        redact: put placeholders in the place of secrets.
    """
    raise NotImplementedError
