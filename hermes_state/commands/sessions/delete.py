"""`sessions delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.invocation import NOT_CONFIRMED
from hermes_state.commands.sessions.references import REF
from hermes_state.commands.wording import count, name_of, span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_state.commands.invocation import Invocation
    from hermes_state.records import Deletion, Session


@command(
    "delete",
    examples=(
        'hermes-state sessions delete "redis deploy" --dry-run',
        "hermes-state sessions delete 20260720_1011 --yes",
    ),
)
@click.argument("refs", type=REF, nargs=-1, required=True)
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
@click.option("--yes", is_flag=True, help="Don't ask.")
def delete(invocation: Invocation, refs: tuple[str, ...], dry_run: bool, yes: bool) -> int | None:
    """Delete conversations.

    Every segment up to the one that REF names goes, and the sessions of their sub-agents. Branches stay.
    The text is out of every list and search at once, and out of the files after `db purge`.
    """
    with invocation.open_store() as db:
        # All are resolved and looked at before the first goes: a wrong or ambiguous REF deletes nothing.
        targets = list({session.id: session for session in map(db.sessions.resolve, refs)}.values())
        plans = [db.sessions.delete(session.id, dry_run=True) for session in targets]
        if not invocation.json:
            # A dry run's answer is data; before a question it is a word to the person.
            tell = invocation.say if dry_run else invocation.note
            previews = db.sessions.previews([session.id for session in targets])
            for session, plan in zip(targets, plans, strict=True):
                tell(_line(session, name_of(session, previews), plan))
        if not dry_run:
            if not invocation.confirm(f"Delete {_sum(plans)}?", yes=yes):
                invocation.note("nothing was deleted")
                return NOT_CONFIRMED
            # A target can have gone with an earlier one, as its sub-agent.
            plans = [db.sessions.delete(session.id) for session in targets if db.sessions.find(session.id)]
    _tell(invocation, plans, dry_run=dry_run)
    return None


def _line(session: Session, title: str, plan: Deletion) -> str:
    when = span(session.started_at, session.last_active_at)
    facts = [session.id, title, when, count(plan.messages, "message")]
    if len(plan.deleted) > 1:
        facts.append(f"with {len(plan.deleted) - 1} more of its segments and sub-agents' sessions")
    return "  ".join(facts)


def _sum(plans: Iterable[Deletion]) -> str:
    plans = list(plans)
    sessions = len({session_id for plan in plans for session_id in plan.deleted})
    return f"{count(sessions, 'session')} with {count(sum(plan.messages for plan in plans), 'message')}"


def _tell(invocation: Invocation, done: list[Deletion], *, dry_run: bool) -> None:
    if invocation.json:
        invocation.document(shapes.deletions(done, dry_run=dry_run))
    elif dry_run:
        invocation.note(f"would delete {_sum(done)}; nothing was changed")
    else:
        invocation.note(f"deleted {_sum(done)}; `hermes-state db purge` also takes the text out of the files")
