"""One run of the command line: what its common options said, the store it opens, and where its output goes."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.streams import is_plain, is_terminal, write, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from hermes_state.commands.table import Cell, Column
    from hermes_state.engine import Engine
    from hermes_state.store import SessionDB

# Exit codes that are not an error's: 0 done; 1 a check found something, or a search found nothing.
FOUND_NOTHING = HAS_FINDINGS = NOT_CONFIRMED = 1


@dataclass(slots=True)
class Invocation:
    """The common options, as the last place that gave each of them says.

    Attributes:
        home, db: where the store lies, as `SessionDB.open` takes it.
        json: one JSON document on stdout instead of words.
        no_color: no styles, whatever the terminal can do.
    """

    home: str | None = None
    db: str | None = None
    json: bool = False
    no_color: bool = False

    # --- the store ----------------------------------------------------------------------------------------------

    def store_path(self) -> Path:
        """The file of the store, whether or not it is there."""
        from hermes_state.store import locate

        return locate(self.db, self.home)

    @property
    def is_on_server(self) -> bool:
        """Whether the store is in a database server, so that there is no file to look for."""
        from hermes_state.store import is_on_server

        return is_on_server(self.db)

    @property
    def store(self) -> Path | str:
        """The store: its file, whether or not it is there, or its URL on a server."""
        return str(self.db) if self.is_on_server else self.store_path()

    @property
    def may_have_store(self) -> bool:
        """Whether there is a store to open; one on a server is there as far as anybody knows before asking."""
        return self.is_on_server or self.store_path().exists()

    def home_path(self) -> Path:
        """The agent home."""
        from hermes_state.home import resolve_home

        return resolve_home(self.home)

    def open_store(self, *, create: bool = False, read_only: bool = False, only_reads: bool = False) -> SessionDB:
        """Open the store; only commands that bring something in make one that is not there.

        Args:
            only_reads: the command can do without writing, as in a home on a read-only file system; it still writes
                where it can, so that the schema and the index are up to date.

        Raises:
            StoreUnavailable: there is none; the hint says how to get one.
            HermesStateError: as `SessionDB.open`.
        """
        from hermes_state.commands.neighbour import missing_store
        from hermes_state.errors import ReadOnlyStore
        from hermes_state.store import SessionDB

        if not create and not self.may_have_store:
            raise missing_store(self)
        try:
            return SessionDB.open(self.db, home=self.home, read_only=read_only)
        except ReadOnlyStore:
            if not only_reads:
                raise
            return SessionDB.open(self.db, home=self.home, read_only=True)

    @contextmanager
    def open_engine(self, *, read_only: bool = False, entered: bool = True) -> Iterator[Engine]:
        """The store without its nouns, whatever state it is in: for work that must not need a sound store.

        Args:
            entered: on a server: it is one of the database's stores, and not the database alone.

        Raises:
            StoreUnavailable: there is none, or it can't be opened.
        """
        from hermes_state.commands.neighbour import missing_store
        from hermes_state.store import engine_of

        if not self.may_have_store:
            raise missing_store(self)
        engine = engine_of(self.db, self.home, read_only=read_only)
        try:
            if self.is_on_server and entered:
                engine.enter_store()
            yield engine
        finally:
            engine.close()

    # --- output -------------------------------------------------------------------------------------------------

    @property
    def color(self) -> bool:
        """Whether stdout gets styles."""
        return is_terminal(sys.stdout) and not is_plain(no_color=self.no_color)

    @property
    def width(self) -> int | None:
        """Cells of the terminal that stdout is; None when it is none, and nothing needs to be cut."""
        return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None

    def say(self, line: str = "") -> None:
        """A line of data, on stdout."""
        write(sys.stdout, line, color=self.color)

    def note(self, line: str) -> None:
        """A word about it, on stderr. Silent with --json, where stderr carries errors and events only."""
        if not self.json:
            sys.stdout.flush()  # in a file that takes both, what was said first stands first
            color = is_terminal(sys.stderr) and not is_plain(no_color=self.no_color)
            write(sys.stderr, click.style(line, dim=True), color=color)

    def document(self, value: Any) -> None:
        """The one JSON document of a `--json` run."""
        write_json(value, indent=2)

    def stream(self, values: Iterable[Any]) -> int:
        """JSON Lines: each value on a line, written as it comes. Returns how many there were."""
        written = 0
        for value in values:
            write_json(value)
            written += 1
        return written

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell | str]]) -> None:
        """Rows under headings, cut to the terminal or, in a pipe, whole."""
        from hermes_state.commands.table import render

        for line in render(columns, rows, self.width):
            self.say(line)

    def page(self, lines: Iterator[str], *, pager: bool) -> None:
        """Long text: through the pager on a terminal, else straight out."""
        if pager and is_terminal(sys.stdout) and is_terminal(sys.stdin):
            # Colours pass, a page that fits is just printed, and it stays on the screen; a reader's own LESS wins.
            os.environ.setdefault("LESS", "FRX")
            click.echo_via_pager((f"{line}\n" for line in lines), color=self.color)
            return
        for line in lines:
            self.say(line)

    def confirm(self, question: str, *, yes: bool) -> bool:
        """Ask before something that can't be undone.

        Raises:
            click.UsageError: nobody can be asked, and `--yes` was not given.
        """
        if yes:
            return True
        if not is_terminal(sys.stdin) or self.json:
            raise click.UsageError("nothing was changed: there is nobody to ask; add --yes to go ahead")
        return click.confirm(question, default=False, err=True)
