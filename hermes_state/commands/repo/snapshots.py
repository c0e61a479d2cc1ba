"""How snapshots are told to people and programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count, local, size

if TYPE_CHECKING:
    from hermes_state.portability.repository.layout import Repository
    from hermes_state.portability.repository.snapshots import Snapshot

REPOSITORY = click.Path(path_type=Path)


def opened(path: Path) -> Repository:
    """The repository at a path."""
    from hermes_state.portability.repository.layout import open_repository

    return open_repository(path.expanduser().absolute())


def shape(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot as JSON."""
    from hermes_state.portability.repository.layout import format_time

    return {
        "id": snapshot.id,
        "created_at": format_time(snapshot.created_at),
        "home": snapshot.home,
        "host": snapshot.host,
        "user": snapshot.user,
        "members": snapshot.members,
        "content_bytes": snapshot.content_bytes,
        "added_bytes": snapshot.added_bytes,
        "partial": snapshot.partial,
        "digest": snapshot.whole,
    }


def short_id(snapshot: Snapshot) -> str:
    """As much of an id as a person needs."""
    from hermes_state.portability.repository.snapshots import SHOWN

    return snapshot.id[:SHOWN]


def line(snapshot: Snapshot) -> str:
    """A snapshot in one line."""
    words = f"{count(snapshot.members, 'member')}, {size(snapshot.content_bytes)}, {size(snapshot.added_bytes)} added"
    place = one_line(f"{snapshot.home} on {snapshot.host}")
    return f"{short_id(snapshot)}  {local(snapshot.created_at)}  {words}  {place}{'  (partial)' * snapshot.partial}"
