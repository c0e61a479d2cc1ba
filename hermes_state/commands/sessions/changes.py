"""`sessions rename`, `archive`, `unarchive`, `tag`, `untag`: small changes to one conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.sessions.references import REF
from hermes_state.commands.wording import listed

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from hermes_state.records import Session


@command("rename", examples=('hermes-state sessions rename 20260720_1011 "redis deploy"',))
@click.argument("ref", type=REF)
@click.argument("title", nargs=-1)
def rename(invocation: Invocation, ref: str, title: tuple[str, ...]) -> None:
    """Give a conversation a title; without one, take it away. Titles are unique."""
    with invocation.open_store() as db:
        session = db.sessions.rename(db.sessions.resume(ref).id, " ".join(title) or None)
    _tell(invocation, session, f"is now titled {session.title!r}" if session.title else "has no title now")


@command("archive", examples=("hermes-state sessions archive 20260720_1011",))
@click.argument("refs", type=REF, nargs=-1, required=True)
def archive(invocation: Invocation, refs: tuple[str, ...]) -> None:
    """Hide conversations from lists. Search still finds them."""
    _set_archived(invocation, refs, archived=True)


@command("unarchive", examples=("hermes-state sessions unarchive 20260720_1011",))
@click.argument("refs", type=REF, nargs=-1, required=True)
def unarchive(invocation: Invocation, refs: tuple[str, ...]) -> None:
    """Show archived conversations in lists again."""
    _set_archived(invocation, refs, archived=False)


def _set_archived(invocation: Invocation, refs: tuple[str, ...], *, archived: bool) -> None:
    with invocation.open_store() as db:
        ids = [db.sessions.resume(ref).id for ref in refs]  # all or none: a wrong REF stops before the first change
        changed = [db.sessions.archive(session_id, archived) for session_id in ids]
    if invocation.json:
        invocation.document({"sessions": [shapes.session(session) for session in changed]})
        return
    for session in changed:
        _tell(invocation, session, "is archived" if archived else "is no longer archived")


@command("tag", examples=("hermes-state sessions tag 20260720_1011 ops redis",))
@click.argument("ref", type=REF)
@click.argument("tags", nargs=-1, required=True)
def tag(invocation: Invocation, ref: str, tags: tuple[str, ...]) -> None:
    """Add tags to a conversation."""
    with invocation.open_store() as db:
        session = db.sessions.tag(db.sessions.resume(ref).id, *tags)
    _tell(invocation, session, _tags_of(session))


@command("untag", examples=("hermes-state sessions untag 20260720_1011 redis",))
@click.argument("ref", type=REF)
@click.argument("tags", nargs=-1, required=True)
def untag(invocation: Invocation, ref: str, tags: tuple[str, ...]) -> None:
    """Take tags away from a conversation."""
    with invocation.open_store() as db:
        session = db.sessions.untag(db.sessions.resume(ref).id, *tags)
    _tell(invocation, session, _tags_of(session))


def _tags_of(session: Session) -> str:
    return f"is tagged {listed(one_line(tag) for tag in session.tags)}" if session.tags else "has no tags"


def _tell(invocation: Invocation, session: Session, what: str) -> None:
    if invocation.json:
        invocation.document({"session": shapes.session(session)})
    else:
        invocation.note(f"{session.id} {what}")
