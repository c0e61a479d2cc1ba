"""A copy of a database that holds no more than what changed since an earlier one.

It costs a tenth of a whole copy. SQLite can't check it: once a day it checks the database itself at the same moment. So
that nothing rests for long on what was noted of pages, a whole copy is made and checked from time to time.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_state.engine.failures import translated
from hermes_state.errors import StoreDamaged
from hermes_state.portability import databases
from hermes_state.portability.databases import Part
from hermes_state.portability.hints import paths_in
from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.pages.refreshing import refreshed_pages
from hermes_state.portability.pages.trace import Trace
from hermes_state.portability.tables import SchemaChanged, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from hermes_state.portability.databases import Copy

# A whole copy is made when the last was so long ago. [s]
TRUSTED_S = 7 * 24 * 3600
# SQLite checks the database when it last did so long ago: who backs up each day has it checked each day. [s]
CHECKED_S = 20 * 3600
# A whole copy tells what is wrong, if anything is.
_UNFIT = (Unfit, SchemaChanged, StoreDamaged, UnicodeDecodeError)


class Begun:
    """Such a copy, while SQLite looks at the database, and checks it if it is time for that.

    Attributes:
        page_size: bytes of a page.
        pages: the numbers of the pages that are in the target, in order; the others are zeros there.
    """

    def __init__(
        self, source: Path, target: Path, remembered: Path, trace: Trace, pages: list[int], described: Future[Copy]
    ) -> None:
        self._source, self._target, self._remembered, self._trace = source, target, remembered, trace
        self._described = described
        self.page_size, self.pages = trace.page_size, pages

    def finish(self) -> Copy | None:
        """The copy. None: the database is damaged; nothing is left of the copy, and a whole one tells what is wrong.

        Raises:
            StoreUnavailable, StoreBusy: as for `databases.copy`.
        """
        copy = None
        try:
            with translated(self._source):
                copy = self._described.result()
        except _UNFIT:
            pass  # `databases.copy` meets it again, and tells
        if copy is None or copy.damage or copy.part is None:
            databases.remove(self._target)
            return None
        self._remembered.write_bytes(self._trace.dump())
        return replace(copy, part=copy.part._replace(pages=self.pages))


def refresh(
    source: Path, target: Path, remembered: Path, take: Callable[[int, list[int]], bool] | None = None
) -> Copy | None:
    """Copy what changed of a database since an earlier copy without indexes.

    Args:
        take: is called with bytes of a page and the numbers of the pages in the target, while SQLite looks at the
            database in another thread; returns whether it could use them.
        source, target, remembered: as for `refreshing`.

    Returns:
        The copy; None: it can't be made so, or the database is damaged, or nobody could use it. Nothing is left of it,
        and `databases.copy` will do, or tell what is wrong.

    Raises:
        StoreUnavailable, StoreBusy, DiskFull: as for `databases.copy`.
    """
    with refreshing(source, target, remembered) as begun:
        if begun is not None and (take is None or take(begun.page_size, begun.pages)):
            return begun.finish()
    databases.remove(target)
    return None


@contextmanager
def refreshing(source: Path, target: Path, remembered: Path) -> Iterator[Begun | None]:
    """Begin to copy what changed of a database since an earlier copy without indexes.

    The moment lasts until SQLite has looked at the database.

    Args:
        source, target: as for `databases.copy`.
        remembered: a file with what the earlier copy left there; what this one leaves is put there in the end.

    Yields:
        None: it can't be made so; nothing is left of it, and `databases.copy` will do, or tell what is wrong.

    Raises:
        StoreUnavailable, StoreBusy, DiskFull: as for `databases.copy`.
    """
    with ExitStack() as stack:
        begun = None
        trace = Trace.parse(remembered.read_bytes())
        if trace is not None and trace.proven_at and 0 <= time.time() - trace.proven_at < TRUSTED_S:
            try:
                with translated(source), ExitStack() as attempt:
                    pages, described = attempt.enter_context(_refreshed(source, target, trace))
                    begun = Begun(source, target, remembered, trace, pages, described)
                    stack.push(attempt.pop_all())
            except _UNFIT:
                pass  # `databases.copy` meets it again, and tells
        if begun is None:
            databases.remove(target)
        yield begun


@contextmanager
def _refreshed(source: Path, target: Path, trace: Trace) -> Iterator[tuple[list[int], Future[Copy]]]:
    with databases.reading(source) as connection:
        schema = schema_of(connection)
        kind = databases.kind_of(schema)
        indexes = databases.derived_of(connection, kind, schema)
    choice = databases.choice_of(schema, kind, indexes)
    now = time.time()
    is_checked = 0 <= now - trace.checked_at < CHECKED_S

    def describe(connection: Any) -> Copy:
        damage = "" if is_checked else databases.check(connection, choice.without)
        copy = databases.described(connection, target, kind, indexes, damage)
        return replace(copy, part=Part(trace.page_size, (), paths_in(connection, kind)))

    made = refreshed_pages(source, target, choice, busy_ms=databases.BUSY_MS, trace=trace, describe=describe)
    with made as (pages, described):
        if not is_checked:
            trace.checked_at = int(now)
        yield pages, described
