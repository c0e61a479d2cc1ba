"""`sessions prune`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.invocation import NOT_CONFIRMED
from hermes_state.commands.plain import one_line
from hermes_state.commands.sessions.filters import filter_options, is_empty, make_filter
from hermes_state.commands.values import INSTANT
from hermes_state.commands.wording import count, local, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hermes_state.commands.invocation import Invocation
    from hermes_state.records import Deletion
    from hermes_state.store import SessionDB

# So many are named before the question; a dry run names all.
SHOWN = 10


@command(
    "prune",
    examples=(
        "hermes-state sessions prune --older-than 90d --dry-run",
        "hermes-state sessions prune --source cron --yes",
    ),
)
@filter_options
@click.option("--older-than", type=INSTANT, metavar="AGE", help="Last active longer ago than this (30d, 12w).")
@click.option("--all", "everything", is_flag=True, help="Archived ones and sub-agents' too.")
@click.option("--include-open", is_flag=True, help="Also sessions that have not ended.")
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
@click.option("--yes", is_flag=True, help="Don't ask.")
def prune(
    invocation: Invocation,
    older_than: datetime | None,
    everything: bool,
    include_open: bool,
    dry_run: bool,
    yes: bool,
    **chosen: Any,
) -> int | None:
    """Delete every session that fits the filters. There is no hidden limit of age.

    Sessions that have not ended are left, and it is said how many. A long conversation goes segment by segment: old
    segments can go while the newest stays. What a tip stands for goes with it.
    """
    if is_empty(chosen) and older_than is None:
        raise click.UsageError("prune what? Give at least one filter, such as --older-than 90d")
    wanted = make_filter(chosen, everything=everything)
    if older_than is not None:
        wanted = replace(wanted, active_before=min(filter(None, (older_than, wanted.active_before))))
    with invocation.open_store() as db:
        done = db.sessions.prune(wanted, include_open=include_open, dry_run=True)
        if not invocation.json:
            _announce(invocation, done)
            _show(invocation, db, done.deleted, dry_run=dry_run)
        if done.deleted and not dry_run:
            question = f"Delete {count(len(done.deleted), 'session')} with {count(done.messages, 'message')}?"
            if not invocation.confirm(question, yes=yes):
                invocation.note("nothing was deleted")
                return NOT_CONFIRMED
            done = db.sessions.prune(wanted, include_open=include_open)
    _tell(invocation, done, dry_run=dry_run)
    return None


def _announce(invocation: Invocation, plan: Deletion) -> None:
    if plan.oldest_at and plan.newest_at:
        invocation.note(
            f"{count(len(plan.deleted), 'session')} with {count(plan.messages, 'message')}: "
            f"oldest {local(plan.oldest_at)}, newest {local(plan.newest_at)}"
        )
    else:
        invocation.note("no session to delete")
    if plan.kept:
        invocation.note(f"{count(len(plan.kept), 'open session')} skipped; --include-open takes them too")


def _show(invocation: Invocation, db: SessionDB, session_ids: Sequence[str], *, dry_run: bool) -> None:
    """What would go: all of it as a dry run's data, the first ones before a question."""
    shown = session_ids if dry_run else session_ids[:SHOWN]
    previews = db.sessions.previews(shown)
    for session_id in shown:
        session = db.sessions.get(session_id)
        facts = (session_id, local(session.last_active_at), one_line(session.source), name_of(session, previews))
        line = "  ".join(facts)
        if dry_run:
            invocation.say(line)
        else:
            invocation.note(f"  {line}")
    if len(shown) < len(session_ids):
        invocation.note(f"  … and {len(session_ids) - len(shown):,} more")


def _tell(invocation: Invocation, done: Deletion, *, dry_run: bool) -> None:
    if invocation.json:
        invocation.document(shapes.deletions([done], dry_run=dry_run))
    elif done.deleted and dry_run:
        invocation.note("nothing was changed")
    elif done.deleted:
        invocation.note(f"deleted {count(len(done.deleted), 'session')} with {count(done.messages, 'message')}")
