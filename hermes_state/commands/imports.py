"""`import`: bringing in what other programs kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import Group, command
from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.importers import ImportReport, Source
    from hermes_state.store import SessionDB

# Warnings of each import that are shown; --json has more.
SHOWN_WARNINGS = 8


@click.group("import", cls=Group, examples=("hermes-state import hermes", "hermes-state import hermes ~/old/.hermes"))
def import_group() -> None:
    """Bring in what other programs kept."""


@command(
    "hermes",
    examples=(
        "hermes-state import hermes",
        "hermes-state import hermes /mnt/old-laptop/.hermes --json",
        "hermes-state import hermes --profile work",
    ),
)
@click.argument("path", type=click.Path(), required=False)
@click.option(
    "--profile", metavar="NAME", help="Only this profile of the home. Default: the home's own and all others."
)
@click.option("--include-deleted", is_flag=True, help="Also sessions that were imported once and deleted here since.")
def import_hermes_command(invocation: Invocation, path: str | None, profile: str | None, include_deleted: bool) -> None:
    """Import the conversations of a Hermes home.

    PATH is a home or a state.db; without it, the home's own. It is only read, also while its agent runs. Run it again
    to bring in what is new.
    """
    import_home(invocation, path, profile=profile, include_deleted=include_deleted)


import_group.add_command(import_hermes_command)


def import_home(
    invocation: Invocation, path: str | None = None, *, profile: str | None = None, include_deleted: bool = False
) -> None:
    """Import every store that a home holds, and tell what came in."""
    from hermes_state.commands.progress import progress
    from hermes_state.importers import import_hermes
    from hermes_state.importers import sources as sources_of

    place = path or invocation.home_path()
    chosen = [source for source in sources_of(place) if profile is None or source.profile == profile]
    if not chosen:
        raise _nothing_there(place, profile)
    reports: list[ImportReport] = []
    with invocation.open_store(create=True) as db:
        for source in chosen:
            with progress(invocation, _name(source)) as tell:
                reports.append(import_hermes(db, source.path, include_deleted=include_deleted, progress=tell))
            if not invocation.json:
                tell_import(invocation, reports[-1])
        bring_index_up(invocation, db)
    if invocation.json:
        invocation.document({"imports": [shapes.record(report) for report in reports]})
    raise_for_failures(reports)


def bring_index_up(invocation: Invocation, db: SessionDB) -> None:
    """Index what came in now, with a bar, so that the first search does not have to wait for it."""
    from hermes_state.commands.progress import progress

    if db.index.is_available and db.index.pending():
        with progress(invocation, "indexing") as tell:
            db.index.catch_up(progress=tell)


def _nothing_there(place: str | Path, profile: str | None) -> Exception:
    from hermes_state.errors import StoreUnavailable

    what = f"profile {profile!r}" if profile else "state.db"
    return StoreUnavailable(
        f"there is no Hermes {what} in {place}", hint="give the path of the home or of its state.db"
    )


def _name(source: Source) -> str:
    return f"profile {source.profile}" if source.profile else source.path.name


def raise_for_failures(reports: Sequence[ImportReport]) -> None:
    """The error of an import that could not take over every session; what it could is in.

    Raises:
        PartialSuccess: some session was not taken over.
    """
    from hermes_state.errors import PartialSuccess

    failed = sum(report.sessions_failed for report in reports)
    if failed:
        came_in = count(sum(report.sessions_found for report in reports) - failed, "session")
        raise PartialSuccess(
            f"{came_in} taken over, {failed:,} not",
            hint="the warnings say why; what is in stays, and the rest can be tried again",
        )


def tell_import(invocation: Invocation, report: ImportReport) -> None:
    added, changed = report.sessions_added, report.sessions_changed
    if report.changed_anything:
        line = f"{count(added, 'session')} and {count(report.messages_added, 'message')} added"
        line += f", {count(changed, 'session')} brought up to date" if changed else ""
    else:
        line = f"nothing new in {count(report.sessions_found, 'session')}"
    invocation.say(f"{one_line(report.origin)}: {line} ({report.duration_s:.1f} s)")
    for number, what in (
        (report.sessions_deleted_here, "deleted here before, left out; --include-deleted takes them"),
        (report.sessions_gone, "no longer there, kept here"),
    ):
        if number:
            invocation.note(f"  {count(number, 'session')} {what}")
    _warn(invocation, report)


def _warn(invocation: Invocation, report: ImportReport) -> None:
    shown: Sequence[Any] = report.warnings[:SHOWN_WARNINGS]
    for notice in shown:
        invocation.note(f"  {notice.kind} · {one_line(notice.where)}: {one_line(notice.what)}")
    rest = sum(report.warning_counts.values()) - len(shown)
    if rest > 0:
        invocation.note(f"  and {count(rest, 'more warning')}; --json has them")
