"""The fact store that a command works on: as the provider opens it, with the home's settings."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.commands.invocation import Invocation
    from memory.providers.holographic.settings import HolographicSettings
    from memory.providers.holographic.store import FactStore


# How far a fact is trusted.
TRUST = click.FloatRange(0, 1)


class Opened(NamedTuple):
    """A fact store, its settings, and where it is: its file, or the address without a password."""

    store: FactStore
    settings: HolographicSettings
    place: str


@contextmanager
def opened(invocation: Invocation, *, create: bool = False, only_reads: bool = False) -> Iterator[Opened]:
    """Open the facts of a home, or those in the store that `--db` names.

    Raises:
        StoreUnavailable: there is no store, and `create` does not ask for one.
        InvalidValue, FormatError: the home's settings can't be read.
    """
    from memory.providers.holographic.settings import HolographicSettings, keeps_own_store
    from memory.providers.holographic.store import FactStore

    settings = HolographicSettings.load(invocation.home_path())
    if invocation.db is None and keeps_own_store(settings):
        invocation.db = str(settings.db_path)
    with invocation.open_store(create=create, only_reads=only_reads) as db:
        store = FactStore(db.engine, dim=settings.hrr_dim, default_trust=settings.default_trust)
        try:
            yield Opened(store, settings, db.engine.shown)
        finally:
            store.flush()
