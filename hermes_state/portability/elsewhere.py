"""A home whose store is not in it, but on a server or in another file: its content for a backup, and back from one."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from hermes_state.copying.copy import copy_store, refuse_content
from hermes_state.home import STORE_NAME
from hermes_state.portability.collect import Found, LeftOut
from hermes_state.portability.databases import remove
from hermes_state.portability.format import Kind
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.copying.report import CopyReport
    from hermes_state.portability.collect import Collection

_PRIVATE = 0o600


def take(store: str, target: Path) -> None:
    """Make a file of what a store holds at one moment.

    Args:
        store: its URL or file.
        target: the file; nothing may be there.

    Raises:
        PartialSuccess: the file does not say what the store says.
        HermesStateError: as `SessionDB.open` and the engines.
    """
    with ExitStack() as stack:
        there = stack.enter_context(SessionDB.open(store, read_only=True))
        here = stack.enter_context(SessionDB.open(target, synchronous="NORMAL"))
        copy_store(there.engine, here.engine).raise_for_problems()


def take_along(store: str, place: Path, collection: Collection) -> None:
    """Put the store that a home uses among what was found in it, and the one that lies in it among what is left out.

    Args:
        place: the file to make of it.
    """
    take(store, place)
    for found in [found for found in collection.found if found.path == STORE_NAME]:
        collection.found.remove(found)
        collection.left_out.append(LeftOut(path=STORE_NAME, reason="the home uses another store", bytes=found.size))
    status = place.stat()
    found = Found(
        path=STORE_NAME,
        kind=Kind.FILE,
        mode=_PRIVATE,
        mtime_ns=status.st_mtime_ns,
        size=status.st_size,
        is_database=True,
    )
    collection.found.append(found)


def refuse_full(store: str) -> None:
    """Refuse a store that a restore could not fill, before anything is changed.

    Raises:
        StoreNotEmpty: it has content.
        HermesStateError: it can't be opened.
    """
    with SessionDB.open(store) as db:
        refuse_content(db.engine)


def give(source: Path, store: str) -> CopyReport:
    """Bring the store of a restored home to where it belongs; the file goes when all of it is there.

    Raises:
        StoreNotEmpty, PartialSuccess, HermesStateError: the file stays; `hermes-state copy` does the rest.
    """
    with ExitStack() as stack:
        there = stack.enter_context(SessionDB.open(source))
        here = stack.enter_context(SessionDB.open(store))
        report = copy_store(there.engine, here.engine)
    report.raise_for_problems()
    remove(source)
    source.with_name(f"{source.name}.lock").unlink(missing_ok=True)
    return report
