"""`sessions list`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.sessions.filters import filter_options, make_filter
from hermes_state.commands.table import BOLD, DIM, Cell, Column
from hermes_state.commands.values import COUNT, limit_of, limit_option
from hermes_state.commands.wording import ago, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_state.commands.invocation import Invocation
    from hermes_state.records import Session
    from hermes_state.store import SessionDB

ORDERS = ("active", "started", "oldest", "messages", "title")
_COLUMNS = (
    Column(head="ID"),
    Column(head="ACTIVE", right=True),
    Column(head="MSGS", right=True),
    Column(head="SOURCE", most=12),
    Column(head="MODEL", most=22, from_width=100),
    Column(head="TITLE"),
)


@command(
    "list",
    examples=(
        "hermes-state sessions list",
        "hermes-state sessions list --source telegram --after 2w --order messages",
        "hermes-state sessions list --json | jq -r '.sessions[].id'",
    ),
)
@filter_options
@click.option("--all", "everything", is_flag=True, help="Every session row: archived, sub-agents', each segment.")
@click.option("--order", type=click.Choice(ORDERS), default="active", metavar="ORDER",
              help="active (the default), started, oldest, messages or title.")  # fmt: skip
@limit_option
@click.option("--offset", type=COUNT, default=0, metavar="N", help="Leave out the first N.")
@click.option("--jsonl", is_flag=True, help="JSON Lines: a session a line.")
def list_command(
    invocation: Invocation, everything: bool, order: str, limit: int, offset: int, jsonl: bool, **chosen: Any
) -> None:
    """List conversations, the last active first.

    A conversation that was compressed or goes on in another session stands here once, as the session to resume.
    """
    wanted = make_filter(chosen, everything=everything, every_segment=everything)
    with invocation.open_store(only_reads=True) as db:
        found = db.sessions.list(wanted, order=order, limit=limit_of(limit), offset=offset)
        previews = db.sessions.previews([session.id for session in found])
        titles = {} if invocation.json or jsonl else _inherited_titles(db, found)
        total = db.sessions.count(wanted) if invocation.json or len(found) == limit else offset + len(found)
    if jsonl:
        invocation.stream(shapes.session(session, previews.get(session.id)) for session in found)
    elif invocation.json:
        rows = [shapes.session(session, previews.get(session.id)) for session in found]
        invocation.document({"sessions": rows, "total": total})
    else:
        _show(invocation, [replace(s, title=s.title or titles.get(s.id)) for s in found], previews)
        _say_what_is_left(invocation, len(found), offset, total)


def _inherited_titles(db: SessionDB, found: Sequence[Session]) -> dict[str, str]:
    """Titles of conversations whose newest segment has none: the newest one of an earlier segment."""
    continued = [session for session in found if session.title is None and session.relation == "compression"]
    titles = ((s.id, [seg.title for seg in db.lineage.segments(s.id) if seg.title]) for s in continued)
    return {session_id: known[-1] for session_id, known in titles if known}


def _show(invocation: Invocation, found: Sequence[Session], previews: dict[str, str]) -> None:
    now = datetime.now(UTC)
    if found:
        invocation.table(_COLUMNS, [_row(session, previews.get(session.id, ""), now) for session in found])


def _row(session: Session, preview: str, now: datetime) -> tuple[Cell | str, ...]:
    return (
        Cell(session.id, DIM),
        ago(session.last_active_at, now),
        f"{session.message_count:,}",
        one_line(session.source),
        one_line(session.model or ""),
        title_cell(session, preview),
    )


def title_cell(session: Session, preview: str) -> Cell:
    """The title, or how the conversation began, and what is special about it."""
    marks = [str(session.relation)] if session.relation in ("branch", "delegate") else []
    marks += ["archived"] if session.archived else []
    marks += ["continued"] if session.conversation_id != session.id else []
    marks += [f"#{one_line(tag)}" for tag in session.tags]
    note = f"[{', '.join(marks)}] " if marks else ""
    if session.title:
        return Cell(note + one_line(session.title), BOLD)
    return Cell(note + (one_line(preview) or "(no text)"), () if preview else DIM)


def _say_what_is_left(invocation: Invocation, shown: int, offset: int, total: int) -> None:
    if not shown:
        invocation.note("no conversation fits" if total == 0 else f"there are only {count(total, 'conversation')}")
    elif offset + shown < total:
        invocation.note(f"{shown} of {count(total, 'conversation')}; --limit 0 shows all")
