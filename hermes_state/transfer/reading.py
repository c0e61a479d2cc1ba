"""Conversations as documents for reading: Markdown and HTML."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Literal

from hermes_state.transfer.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.engine import Engine
    from hermes_state.transfer.report import ExportReport

Form = Literal["markdown", "html"]


def write_document(
    engine: Engine, out: IO[str], selection: Selection = EVERYTHING, *, form: Form, redact: bool = False
) -> ExportReport:
    """Write conversations as one document, in order of start: active messages and compacted ones, which are marked."""
    raise NotImplementedError


def write_documents(
    engine: Engine, folder: Path, selection: Selection = EVERYTHING, *, form: Form, redact: bool = False
) -> list[Path]:
    """Write each conversation as a file of its own in a folder; returns the files, in order of start."""
    raise NotImplementedError
