"""Conversations as documents for reading: Markdown and HTML."""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Literal

from hermes_state.atomic import whole_file
from hermes_state.engine.failures import translated_os
from hermes_state.redact import Redactor
from hermes_state.transfer.document import conversations, turns
from hermes_state.transfer.html import HtmlWriter
from hermes_state.transfer.markdown import MarkdownWriter
from hermes_state.transfer.progress import Progress, no_progress
from hermes_state.transfer.report import ExportReport
from hermes_state.transfer.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from hermes_state.transfer.document import Conversation

Form = Literal["markdown", "html"]
_WRITERS: dict[str, type[MarkdownWriter | HtmlWriter]] = {"markdown": MarkdownWriter, "html": HtmlWriter}
SUFFIXES = {"markdown": ".md", "html": ".html"}
# Longest part of a file name that a title makes, in characters: file systems take 255 bytes in all.
_SLUG_CHARS = 40


def write_document(
    engine: Engine,
    out: IO[str],
    selection: Selection = EVERYTHING,
    *,
    form: Form,
    redact: bool = False,
    progress: Progress = no_progress,
) -> ExportReport:
    """Write conversations as one document, in order of start: active messages and compacted ones, which are marked.

    Args:
        out: a text file; its encoding must be UTF-8.
        redact: put placeholders in the place of secrets.

    Raises:
        SessionNotFound: a session that was asked for is not here; nothing was written.
    """
    redactor = Redactor() if redact else None
    writer = _WRITERS[form](out)
    sessions = written = 0
    started = False
    with engine.read() as connection:
        for done, found in enumerate(conversations(connection, selection), 1):
            shown = _cleaned(found, redactor)
            if not started:
                writer.start(shown.title)
                started = True
            written += _write(connection, writer, shown, redactor)
            sessions += len(found.segments)
            progress(done, 0)
    if not started:
        writer.start("No conversations")
    writer.finish()
    return ExportReport(sessions=sessions, messages=written, redacted=redactor.count if redactor else 0)


def write_documents(
    engine: Engine,
    folder: Path,
    selection: Selection = EVERYTHING,
    *,
    form: Form,
    redact: bool = False,
    progress: Progress = no_progress,
) -> list[Path]:
    """Write each conversation as a file of its own in a folder; returns the files, in order of start.

    A file is named by date, title and id, so that the same conversation always has the same name; one that is there is
    replaced when the new one is whole.

    Raises:
        SessionNotFound: a session that was asked for is not here; nothing was written.
        StoreUnavailable, DiskFull: the folder can't be written; the files that are there are whole.
    """
    files: list[Path] = []
    redactor = Redactor() if redact else None
    with engine.read() as connection, translated_os(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for found in conversations(connection, selection):
            shown = _cleaned(found, redactor)
            file = folder / (_file_name(shown) + SUFFIXES[form])
            with whole_file(file) as out:
                writer = _WRITERS[form](out)
                writer.start(shown.title)
                _write(connection, writer, shown, redactor)
                writer.finish()
            files.append(file)
            progress(len(files), 0)
    return files


def _write(
    connection: Connection, writer: MarkdownWriter | HtmlWriter, found: Conversation, redactor: Redactor | None
) -> int:
    written = 0
    writer.conversation(found)
    for number, pk in enumerate(found.pks, 1):
        if number > 1:
            writer.segment(number)
        for turn in turns(connection, pk, redactor):
            writer.turn(turn)
            written += 1
    return written


def _cleaned(found: Conversation, redactor: Redactor | None) -> Conversation:
    if redactor is None:
        return found
    return found.redacted(redactor.text)


def _file_name(found: Conversation) -> str:
    """Date, title and id, with nothing in them that a file system could take for anything but a name."""
    slug = re.sub(r"[\W_]+", "-", found.title).strip("-")[:_SLUG_CHARS].strip("-")
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", found.tip.id)[-80:]
    parts = [f"{found.segments[0].started_at:%Y-%m-%d}", slug if found.title != found.tip.id else "", name]
    return "-".join(part for part in parts if part)
