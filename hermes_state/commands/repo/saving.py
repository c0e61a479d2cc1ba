"""`backup --repo`: a home into a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.backup.watching import give, watching
from hermes_state.commands.plain import one_line
from hermes_state.commands.repo import snapshots as told
from hermes_state.commands.wording import count, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.backup import Wanted
    from hermes_state.portability.repository.backup import Saved

# Options of `backup` that have no meaning with --repo, and what they are called.
_OTHERS = {
    "output": "OUTPUT",
    "folder": "--to",
    "label": "--label",
    "keep": "--keep",
    "keep_daily": "--keep-daily",
    "keep_weekly": "--keep-weekly",
    "keep_monthly": "--keep-monthly",
    "force": "--force",
}


def refuse_others(chosen: Mapping[str, Any]) -> None:
    """Refuse options that belong to archives.

    Raises:
        UsageError: names the first.
    """
    for name, option in _OTHERS.items():
        if chosen.get(name):
            more = "; `hermes-state repo prune` deletes old snapshots" if name.startswith("keep") else ""
            raise click.UsageError(f"{option} does not go with --repo{more}")
    if chosen["recipients"] or chosen["passphrase_file"]:
        raise click.UsageError(
            "a repository can't be encrypted: put it on an encrypted disk, leave keys out with --no-secrets, or make "
            "encrypted archives with --to DIR"
        )


def save(invocation: Invocation, repository: Path, wanted: Wanted, *, level: int, jsonl: bool) -> Saved:
    """Back up into a repository, and tell what was done."""
    from hermes_state.portability.repository.backup import back_up

    root = repository.expanduser().absolute()
    with watching(invocation, "backing up", jsonl=jsonl) as tell:
        saved = back_up(invocation.home_path(), root, wanted, level=level, progress=tell)
    if invocation.json or jsonl:
        give(invocation, shape(root, saved), jsonl=jsonl)
    else:
        for line in _lines(root, saved):
            invocation.say(line)
        for what in saved.damaged:
            invocation.note(f"damaged, and done without: {one_line(what)}")
    return saved


def shape(root: Path, saved: Saved) -> dict[str, Any]:
    """A backup into a repository as JSON."""
    report = saved.backup
    return {
        "repository": str(root),
        "snapshot": told.shape(saved.snapshot),
        "duration_s": round(report.seconds, 3),
        "chunks": saved.chunks,
        "new_chunks": saved.new_chunks,
        "new_content_bytes": saved.new_content_bytes,
        "added_bytes": report.written.size,
        "unread_files": saved.unread,
        "repository_bytes": saved.repository_bytes,
        "is_new": saved.is_new,
        "damaged": saved.damaged,
        "omitted": report.written.report.omitted,
        "incomplete": report.written.report.incomplete,
        "unsound": report.unsound,
        "left_out": report.manifest.facts["left_out"],
        "secrets": report.manifest.facts["secrets"],
    }


def _lines(root: Path, saved: Saved) -> Iterator[str]:
    report, written = saved.backup, saved.backup.written
    yield f"{one_line(str(root))}  snapshot {told.short_id(saved.snapshot)}"
    read = f"{count(written.members, 'member')} · {size(written.content_bytes)}"
    yield f"  {read} · {report.seconds:.1f} s"
    new = f"{count(saved.new_chunks, 'new chunk')} with {size(saved.new_content_bytes)}, stored in {size(written.size)}"
    yield f"  {new}"
    if not saved.is_new:
        known = max(0, written.content_bytes - saved.new_content_bytes)
        yield f"  {size(known)} was there already; {count(saved.unread, 'unchanged file')} not read again"
    yield f"  the repository holds {size(saved.repository_bytes)}"
