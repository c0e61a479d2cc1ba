"""A copy of a database that holds no more than what changed since an earlier one.

It costs a tenth of a whole copy. SQLite can't check it, and checks the database itself at the same moment. So that
nothing rests for long on what was noted of pages, a whole copy is made and checked from time to time.
"""

from __future__ import annotations

import time
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
    from collections.abc import Callable
    from pathlib import Path

    from hermes_state.portability.databases import Copy

# A whole copy is made when the last was so long ago. [s]
TRUSTED_S = 7 * 24 * 3600


def refresh(
    source: Path, target: Path, remembered: Path, take: Callable[[int, list[int]], bool] | None = None
) -> Copy | None:
    """Copy what changed of a database since an earlier copy without indexes.

    Args:
        source, target: as for `databases.copy`.
        remembered: a file with what the earlier copy left there; what this one leaves is put there.
        take: is called with bytes of a page and the numbers of the pages in the target, while SQLite checks the
            database in another thread; returns whether it could use them.

    Returns:
        The copy, whose other pages are zeros. None: it can't be made so, or the database is damaged; nothing is left of
        it, and `databases.copy` will do, or tell what is wrong.

    Raises:
        StoreUnavailable, StoreBusy, DiskFull: as for `databases.copy`.
    """
    trace = Trace.parse(remembered.read_bytes())
    if trace is None or not 0 <= time.time() - trace.proven_at < TRUSTED_S:
        return None
    copy = None
    try:
        with translated(source):
            copy = _refresh(source, target, trace, take)
    except (Unfit, SchemaChanged, StoreDamaged, UnicodeDecodeError):
        pass  # a whole copy tells what is wrong, if anything is
    finally:
        if copy is None:
            databases.remove(target)
    if copy is not None:
        remembered.write_bytes(trace.dump())
    return copy


def _refresh(source: Path, target: Path, trace: Trace, take: Callable[[int, list[int]], bool] | None) -> Copy | None:
    with databases.at_rest(source) as connection:
        schema = schema_of(connection)
        kind = databases.kind_of(schema)
        indexes = databases.derived_of(connection, kind, schema)
    without = databases.names_of(schema, indexes)

    def describe(connection: Any) -> Copy:
        damage = databases.check(connection, without)
        copy = databases.described(connection, target, kind, indexes, damage)
        return replace(copy, part=Part(trace.page_size, (), paths_in(connection, kind)))

    made = refreshed_pages(
        source,
        target,
        schema,
        without,
        busy_ms=databases.BUSY_MS,
        trace=trace,
        describe=describe,
        rowless=databases.uncopied(kind),
        afterwards=databases.afterwards_of(kind),
    )
    with made as (pages, described):
        if take is not None and not take(trace.page_size, pages):
            return None
        copy = described.result()
    return None if copy.damage or copy.part is None else replace(copy, part=copy.part._replace(pages=pages))
