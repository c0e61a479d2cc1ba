"""`sessions stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.values import INSTANT

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_state.commands.invocation import Invocation
    from hermes_state.records import Usage
    from hermes_state.statistics import Statistics
    from hermes_state.store import SessionDB


@command(
    "stats",
    examples=(
        "hermes-state sessions stats",
        "hermes-state sessions stats --since 2026-07 --json | jq .usage",
    ),
)
@click.option("--since", type=INSTANT, help="Only what was active since this date (2026-07, 30d).")
def stats(invocation: Invocation, since: datetime | None) -> None:
    """Show activity, models, tokens and cost.

    Tokens and cost are those of the whole store.
    """
    from hermes_state.statistics import collect

    with invocation.open_store(only_reads=True) as db:
        numbers = collect(db.engine, since=since)
        used = db.usage.by_model()
        previews = db.sessions.previews([each.session_id for each in numbers.longest])
        place, held = db.engine.shown, bytes_held(db)
    if invocation.json:
        invocation.document(_document(place, held, numbers, used))
        return
    from hermes_state.commands.sessions.stats_view import show

    show(invocation, place=place, held=held, numbers=numbers, used=used, previews=previews)


def _document(place: str, held: int, numbers: Statistics, used: list[Usage]) -> dict[str, Any]:
    return {
        "store": {"path": place, "bytes": held},
        "conversations": numbers.conversations,
        "sessions": numbers.sessions,
        "archived": numbers.archived,
        "delegates": numbers.delegates,
        "messages": numbers.messages,
        "first_at": shapes.plain(numbers.first_at),
        "last_at": shapes.plain(numbers.last_at),
        "days": [{"date": d.date.isoformat(), "messages": d.messages, "sessions": d.sessions} for d in numbers.days],
        "sources": [{"source": s.name, "messages": s.messages, "sessions": s.sessions} for s in numbers.sources],
        "models": [{"model": s.name or None, "messages": s.messages, "sessions": s.sessions} for s in numbers.models],
        "roles": [{"role": s.name, "messages": s.messages} for s in numbers.roles],
        "longest": [
            {"id": n.session_id, "title": n.title, "source": n.source, "messages": n.messages, "segments": n.segments}
            for n in numbers.longest
        ],
        "usage": [shapes.usage(row) for row in used],
    }


def bytes_held(db: SessionDB) -> int:
    """The database with its write-ahead log; on a server, all of the database."""
    if db.engine.dialect == "postgresql":
        from hermes_state.engine.postgres.server import database_bytes

        with db.engine.read() as connection:
            return database_bytes(connection)
    files = (db.path, db.path.with_name(f"{db.path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
