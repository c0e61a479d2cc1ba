"""How snapshots are told to people and programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count, local, size

if TYPE_CHECKING:
    from hermes_state.portability.repository.layout import Repository
    from hermes_state.portability.repository.snapshots import Snapshot

REPOSITORY = click.Path(path_type=Path)


class SnapshotReference(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """The beginning of a snapshot's id, or `latest`; the repository says which snapshot that is."""

    name = "snapshot"

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002  click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Ids of the repository's snapshots, the newest first. What can't be read just gives no suggestions."""
        from hermes_state.errors import HermesStateError
        from hermes_state.portability.repository.snapshots import LATEST, readable

        place = ctx.params.get("repository")
        try:
            found, _ = readable(opened(Path(place))) if place else ([], [])
        except (HermesStateError, OSError):  # a shell that completes a word has no place for an error
            found = []
        items = [CompletionItem(short_id(one), help=one_line(local(one.created_at))) for one in reversed(found)]
        return [item for item in (CompletionItem(LATEST), *items) if item.value.startswith(incomplete)]


SNAPSHOT = SnapshotReference()


def opened(path: Path) -> Repository:
    """The repository at a path."""
    from hermes_state.portability.repository.layout import open_repository

    return open_repository(path.expanduser().absolute())


def shape(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot as JSON."""
    from hermes_state.portability.manifest import time_text

    return {
        "id": snapshot.id,
        "created_at": time_text(snapshot.created_at),
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
