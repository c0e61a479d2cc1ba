"""`sessions export`."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, cast

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.progress import progress
from hermes_state.commands.sessions.filters import filter_options, is_empty, make_filter
from hermes_state.commands.sessions.references import REF
from hermes_state.commands.streams import is_terminal
from hermes_state.commands.wording import count
from hermes_state.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.engine import Engine
    from hermes_state.store import SessionDB
    from hermes_state.transfer import ExportReport, Selection
    from hermes_state.transfer.progress import Progress

FORMATS = ("jsonl", "markdown", "html")
_SUFFIXES = {".jsonl": "jsonl", ".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}
STDOUT = "-"


@command(
    "export",
    examples=(
        "hermes-state sessions export > all.jsonl",
        'hermes-state sessions export "redis deploy" --output deploy.md',
        "hermes-state sessions export --source telegram --after 2026-01 --format html --output site/ --redact",
    ),
)
@click.argument("refs", type=REF, nargs=-1)
@filter_options
@click.option("--all", "everything", is_flag=True, help="With filters: archived ones and sub-agents' too.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: by the ending of --output, else jsonl.")
@click.option("--jsonl", is_flag=True, help="The same as --format jsonl.")
@click.option("--output", "-o", metavar="PATH", help="A file; or a folder/, for a document per conversation.")
@click.option("--redact", is_flag=True, help="Put placeholders in the place of keys, tokens and passwords.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def export(
    invocation: Invocation,
    refs: tuple[str, ...],
    everything: bool,
    form: str | None,
    jsonl: bool,
    output: str | None,
    redact: bool,
    force: bool,
    **chosen: Any,
) -> None:
    """Write conversations as JSON Lines, Markdown or HTML.

    Without REF or filters it is the whole store. JSON Lines are lossless: `sessions import` brings all of it back.
    Markdown and HTML are for reading.
    """
    target = None if output is None or output == STDOUT else Path(output).expanduser()
    form = "jsonl" if jsonl else form or _SUFFIXES.get(target.suffix.lower() if target else "", "jsonl")
    if invocation.json and target is None:
        raise click.UsageError("the export itself goes to stdout; --json is for --output PATH, and --jsonl streams")
    if refs and not is_empty(chosen):
        raise click.UsageError("give REFs or filters, not both")
    with (
        invocation.open_store(only_reads=True) as db,
        progress(invocation, "exporting", writes_to_stdout=target is None) as tell,
    ):
        job = _Job(db.engine, _selection(db, refs, chosen, everything=everything), form, redact, tell)
        if target is None:
            with _stdout(form) as out:
                done: ExportReport | list[Path] = job.write(out)
        elif target.is_dir() or str(output).endswith("/"):
            done = job.write_folder(target)
        else:
            done = job.write_file(target, force=force)
    _tell(invocation, done, form, target)


def _selection(db: SessionDB, refs: tuple[str, ...], chosen: dict[str, Any], *, everything: bool) -> Selection:
    from hermes_state.transfer import EVERYTHING, Selection

    if refs:
        return Selection(ids=[db.sessions.resolve(ref).id for ref in refs])
    if is_empty(chosen):
        return EVERYTHING
    return Selection(wanted=make_filter(chosen, everything=everything))


class _Job(NamedTuple):
    """An export that is ready to be written to some place."""

    engine: Engine
    selection: Selection
    form: str
    redact: bool
    tell: Progress

    def write(self, out: IO[str]) -> ExportReport:
        from hermes_state.transfer import dump, write_document

        if self.form == "jsonl":
            return dump(self.engine, out, self.selection, redact=self.redact, progress=self.tell)
        form = _document_form(self.form)
        return write_document(self.engine, out, self.selection, form=form, redact=self.redact, progress=self.tell)

    def write_file(self, target: Path, *, force: bool) -> ExportReport:
        """A file that appears whole or not at all."""
        from hermes_state.atomic import whole_file

        if target.exists() and not force:
            raise Conflict(f"{target} is there already", hint="--force replaces it")
        with whole_file(target) as out:
            return self.write(out)

    def write_folder(self, target: Path) -> list[Path]:
        """A document per conversation."""
        from hermes_state.transfer import write_documents

        if self.form == "jsonl":
            raise click.UsageError("JSON Lines go into one file; a folder is for --format markdown or html")
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        form = _document_form(self.form)
        return write_documents(self.engine, target, self.selection, form=form, redact=self.redact, progress=self.tell)


def _document_form(form: str) -> Literal["markdown", "html"]:
    return "html" if form == "html" else "markdown"


@contextmanager
def _stdout(form: str) -> Iterator[IO[str]]:
    """Standard output as UTF-8 whatever the locale: an export is a file. A terminal gets it made harmless."""
    if is_terminal(sys.stdout) and form != "jsonl":
        yield cast("IO[str]", _Harmless(sys.stdout))
        return
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        yield sys.stdout
        return
    sys.stdout.flush()
    out = io.TextIOWrapper(binary, encoding="utf-8", newline="\n", write_through=False)
    try:
        yield out
    finally:
        out.flush()
        out.detach()


class _Harmless(io.TextIOBase):
    """A terminal to which stored text is written."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        from hermes_state.commands.plain import safe

        return self._stream.write(safe(text))


def _tell(invocation: Invocation, done: ExportReport | list[Path], form: str, target: Path | None) -> None:
    where = f" to {target}" if target else ""
    if isinstance(done, list):
        document: dict[str, Any] = {"files": [str(file) for file in done]}
        words = f"{count(len(done), 'conversation')} written{where}"
    else:
        document = shapes.record(done)
        redacted = f", {count(done.redacted, 'secret')} replaced" if done.redacted else ""
        words = f"{count(done.sessions, 'session')} with {count(done.messages, 'message')} written{where}{redacted}"
    if invocation.json:
        invocation.document({"format": form, "path": str(target)} | document)
    else:
        invocation.note(words)
