"""The file: pages, schema, references and the store's marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from hermes_state.check.report import Kind
from hermes_state.engine import soundness
from hermes_state.errors import StoreDamaged
from hermes_state.migrate import HEAD, known_revisions, revision_of
from hermes_state.schema import messages, metadata, store_state

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hermes_state.check.report import Collector


def pages(collector: Collector) -> None:
    """SQLite's own view of its pages and b-trees. Those of the index are told apart: it can be built anew."""
    if not collector.is_file:  # a server looks after its own
        return
    with collector.snapshot() as connection:
        for complaint in soundness.unsound(connection, full=collector.full):
            is_index = any(name in complaint.name for name in soundness.INDEX_TABLES)
            kind = Kind.INDEX if is_index else Kind.DAMAGED
            kind = Kind.UNUSED if complaint.is_unused_space else kind
            collector.add(kind, complaint.name or "pages", complaint.what)


def schema(collector: Collector) -> None:
    """The tables and indexes are what the migrations make; of an older version's, that is for the migrations to say."""
    with collector.snapshot() as connection:
        try:
            revision = revision_of(connection)
        except StoreDamaged as error:
            collector.add(Kind.SCHEMA, "alembic_version", error.message)
            return
        if revision != HEAD and revision in known_revisions():
            collector.add(Kind.OUTDATED, "alembic_version", f"the schema is {revision}; only pages were looked at")
            return
        if revision != HEAD:
            collector.add(Kind.SCHEMA, "alembic_version", f"the schema is {revision}, not {HEAD}")
        differences = soundness.schema_differences(connection, metadata) if collector.is_file else ()
        for difference in differences:
            collector.add(Kind.SCHEMA, difference.name, difference.what)


def references(collector: Collector) -> None:
    """Every reference leads somewhere."""
    if not collector.is_file:  # a server never lets one go
        return
    with collector.snapshot() as connection:
        for dangling in soundness.dangling_references(connection):
            collector.add(Kind.DANGLING, f"{dangling.table} {dangling.rowid}", f"refers to no row of {dangling.parent}")


def marks(collector: Collector) -> None:
    """The one row of `store_state` says what can be."""
    with collector.snapshot() as connection:
        rows = connection.execute(select(store_state)).fetchall()
        if len(rows) != 1:
            collector.add(Kind.MARK, "store_state", f"{len(rows)} rows instead of one")
            return
        newest = connection.execute(select(func.coalesce(func.max(messages.c.id), 0))).scalar_one()
        given = max(int(newest), rows[0].id_floor)
        for name in ("counted_through", "indexed_through", "rebuild_from"):
            value = getattr(rows[0], name)
            if value is not None and not 0 <= value <= given:
                collector.add(Kind.MARK, name, f"is {value}, but ids were given out up to {given}")
        _lowest_id(connection, collector)


def _lowest_id(connection: Connection, collector: Collector) -> None:
    lowest = connection.execute(select(func.min(messages.c.id))).scalar()
    if lowest is not None and lowest < 1:
        collector.add(Kind.MARK, f"message {lowest}", "ids start at 1")
