"""`restore`: a home out of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.backup import archives, joined
from hermes_state.commands.backup.watching import give, watching
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count, size
from hermes_state.errors import HermesStateError, PartialSuccess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.crypt import Keys
    from hermes_state.portability.format import Limits
    from hermes_state.portability.recover import Recovered
    from hermes_state.portability.restore import Asked, Restored

# What is shown of each list; --json has more.
_SHOWN = 10


@command(
    "restore",
    examples=(
        "hermes-state restore backup.tar.zst --dry-run         # what would come, go and change",
        "hermes-state restore backup.tar.zst --force           # what was there stays beside",
        "hermes-state restore backup.tar.zst --into /srv/agent --map /home/ann=/home/bob",
        "hermes-state restore backup.tar.zst --only skills --only memories/MEMORY.md --force",
        "hermes-state restore hermes-backup-2026-01-31.zip     # a backup that Hermes made",
        "hermes-state restore old-laptop.tar.zst --merge       # its sessions and memories into this home",
        "hermes-state restore --repo /mnt/usb/home latest      # a snapshot of a repository",
        "hermes-state restore backup.tar.zst --db 'postgresql+psycopg://ann@db/hermes?store=team'",
        "hermes-state restore --recover                        # after a crash in the middle",
    ),
)
@click.argument("archive", type=archives.ARCHIVE, required=False)
@archives.repo_option
@click.option("--into", type=archives.ARCHIVE, metavar="DIR", help="The home to make. Default: the home.")
@click.option("--dry-run", is_flag=True, help="Prove the archive and say what would be done; change nothing.")
@click.option("--force", is_flag=True, help="Replace what is there; it is kept beside.")
@click.option("--no-keep", is_flag=True, help="Delete what is replaced when the restored home has been proven.")
@click.option(
    "--only", multiple=True, metavar="PART", help="sessions, memory, config, skills or a path; may be repeated."
)
@click.option(
    "--live", is_flag=True, help="Although processes have the home open: their databases are filled in place."
)
@click.option(
    "--map", "prefixes", multiple=True, metavar="OLD=NEW", help="A folder of the old machine, and what it is here."
)
@click.option(
    "--external/--no-external",
    default=None,
    help="Put files into your home folder that belong to the home. Default: from archives of ours only.",
)
@click.option(
    "--merge", is_flag=True, help="Into a home with content: bring in what is new, change nothing that is there."
)
@click.option("--recover", is_flag=True, help="Only finish, or take back, a restore that was cut off.")
@click.option("--jsonl", is_flag=True, help="JSON Lines: what is being done while it is done, the result at last.")
@archives.trust_option
@archives.key_options
def restore_command(
    invocation: Invocation,
    archive: Path | None,
    repo: Path | None,
    into: Path | None,
    dry_run: bool,
    merge: bool,
    recover: bool,
    jsonl: bool,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
    **chosen: Any,
) -> None:
    """Restore a home from an archive, wholly or not at all.

    The new home is built beside its place and every digest, database and schema is checked; then it is put in place in
    one step. A crash at any point leaves the old home or the new one; the next restore, or --recover, tidies up. Paths
    that led into the old home lead into the new one. A home that a live process has open is refused.

    Backups (zip) and profile exports (tar.gz) of Hermes are restored too; they carry no digests. With --repo, ARCHIVE
    is a snapshot of a repository: the beginning of its id, or `latest`, which is also the default.

    With --db the store goes into that one, which must be empty, and not into the home.
    """
    home = (into or invocation.home_path()).expanduser().absolute()
    if recover:
        _recover(invocation, home)
        return
    if repo is not None:
        archive = archives.in_repository(repo, archive)
    if archive is None:
        raise click.UsageError("restore what? Give an archive, or --repo DIR")
    asked = _asked(chosen)
    store = archives.store_elsewhere(invocation)
    if store:
        _refuse_with_store(store, merge=merge, live=asked.live, dry_run=dry_run)
    keys, limits = archives.keys(identities, passphrase_file), archives.limits(trust_size=trust_size)
    if merge:
        _merge(invocation, archive, home, asked, keys, limits, jsonl=jsonl, dry_run=dry_run)
        return
    from hermes_state.portability import restore

    with watching(invocation, "restoring", jsonl=jsonl) as tell:
        if dry_run:
            result = restore.plan(archive, home, asked, keys=keys, limits=limits)
        else:
            result = restore.restore(archive, home, asked, keys=keys, limits=limits, progress=tell)
    placed = _place_store(result, store) if store and not dry_run else None
    if invocation.json or jsonl:
        give(invocation, shape(result, dry_run=dry_run) | {"store": placed}, jsonl=jsonl)
    else:
        _tell(invocation, result, dry_run=dry_run)
        if placed is not None:
            invocation.say(f"  the store: {one_line(placed)}")
    if result.is_partial and not dry_run:
        raise _partial(result)


def _refuse_with_store(store: str, *, merge: bool, live: bool, dry_run: bool) -> None:
    """What can't be put elsewhere; told before anything is changed."""
    from hermes_state.portability.elsewhere import refuse_full

    if merge or live:
        raise click.UsageError(
            f"--db and --{'merge' if merge else 'live'} don't go together; restore into an empty folder,"
            " then `hermes-state copy --merge`"
        )
    if not dry_run:  # to look into a store that is not there yet would make it
        refuse_full(store)


def _place_store(result: Restored, store: str) -> str:
    """Move the store of the restored home to where it is wanted; the address it has there."""
    from hermes_state.home import STORE_NAME
    from hermes_state.portability.elsewhere import give as give_store

    if STORE_NAME not in result.prepared:
        raise PartialSuccess("restored, but no sound store was in the archive, so nothing went into the one of --db")
    try:
        return give_store(result.home / STORE_NAME, store).target
    except HermesStateError as error:
        raise PartialSuccess(
            f"{result.home} is restored with its store in it, which did not get where --db wants it: {error.message}",
            hint=f"`hermes-state copy {result.home} URL` goes on with it; then remove {STORE_NAME} there",
        ) from error


def _asked(chosen: dict[str, Any]) -> Asked:
    from hermes_state.portability.restore import Asked

    prefixes = {}
    for text in chosen["prefixes"]:
        old, equals, new = text.partition("=")
        if not equals or not old.startswith("/") or not new.startswith("/"):
            raise click.UsageError(f"--map takes two absolute folders, as /home/ann=/home/bob; not {text!r}")
        prefixes[old] = new
    return Asked(
        force=chosen["force"],
        live=chosen["live"],
        only=chosen["only"],
        external=chosen["external"],
        keep=not chosen["no_keep"],
        prefixes=prefixes,
    )


def _partial(result: Restored) -> PartialSuccess:
    reasons = [f"{path} is open in a process and stays as it was" for path in result.left_open]
    reasons += [f"{path} could not be put into your home folder" for path in result.not_placed]
    reasons += [f"{path} was damaged when it was backed up" for path in result.damaged]
    if result.source.is_partial:
        reasons.append("the backup itself was partial")
    return PartialSuccess(f"restored, but {'; '.join(map(one_line, reasons[:_SHOWN]))}")


def _merge(
    invocation: Invocation,
    archive: Path,
    home: Path,
    asked: Asked,
    keys: Keys,
    limits: Limits,
    *,
    jsonl: bool,
    dry_run: bool,
) -> None:
    from hermes_state.portability.merge import merge

    with watching(invocation, "merging", jsonl=jsonl) as tell:
        result = merge(archive, home, asked, keys=keys, limits=limits, progress=tell, dry_run=dry_run)
    if invocation.json or jsonl:
        give(invocation, joined.shape(result, dry_run=dry_run), jsonl=jsonl)
        return
    joined.tell(invocation, result, dry_run=dry_run)


def _recover(invocation: Invocation, home: Path) -> None:
    from hermes_state.portability.recover import recover

    found = recover(home)
    if invocation.json:
        invocation.document({"home": str(home), "recovered": [_recovered(item) for item in found]})
        return
    for item in found:
        invocation.say(_recovered_line(home, item))
    if not found:
        invocation.note(f"no interrupted restore into {home}")


def _recovered(item: Recovered) -> dict[str, Any]:
    return {
        "archive": item.archive,
        "home": "new" if item.is_new else "old",
        "kept": str(item.kept) if item.kept else None,
    }


def _recovered_line(home: Path, item: Recovered) -> str:
    what = f"restore of {one_line(item.archive)}" if item.archive else "restore"
    end = "was finished" if item.is_new else "had not begun to replace anything; the home is as it was"
    return f"{one_line(str(home))}: the interrupted {what} {end}"


# --- what is said -------------------------------------------------------------------------------------------------


def shape(result: Restored, *, dry_run: bool) -> dict[str, Any]:
    """A restore as JSON."""
    return {
        "home": str(result.home),
        "archive": str(result.source.path),
        "kind": result.source.kind,
        "dry_run": dry_run,
        "proven": result.source.is_proven,
        "partial": result.is_partial,
        "files": result.built.files,
        "bytes": result.built.bytes,
        "duration_s": round(result.seconds, 3),
        "databases": sorted({*result.databases, *result.prepared, *result.damaged}),
        "damaged": result.damaged,
        "moved": [
            {"path": item.path, "key": item.key, "old": item.old, "new": item.new, "count": item.count}
            for item in result.moved
        ],
        "missing": [{"path": path, "key": key, "value": value} for path, key, value in result.missing],
        "replaced": result.replaced,
        "kept": str(result.kept) if result.kept else None,
        "carried": result.carried,
        "filled": result.filled,
        "left_open": result.left_open,
        "external": result.built.external,
        "not_placed": result.not_placed,
        "refused": [{"path": path, "reason": reason} for path, reason in result.built.refused],
        "runtime": result.built.runtime,
        "secrets": result.secrets,
        "notices": list(result.source.notices),
        "recovered": [_recovered(item) for item in result.recovered],
    }


def _tell(invocation: Invocation, result: Restored, *, dry_run: bool) -> None:
    for line in _lines(result, dry_run=dry_run):
        invocation.say(line)
    for notice in result.source.notices:
        invocation.note(f"note: {notice}")
    for line in _notes(result):
        invocation.note(line)
    if dry_run:
        invocation.note("nothing was changed")


def _lines(result: Restored, *, dry_run: bool) -> Iterator[str]:
    built = result.built
    will = "would be restored" if dry_run else f"restored in {result.seconds:.1f} s"
    yield f"{one_line(str(result.home))}: {count(built.files, 'file')}, {size(built.bytes)} {will}"
    if result.replaced:
        yield f"  {'would replace' if dry_run else 'replaced'}: {_shown(result.replaced)}"
    if result.kept:
        yield f"  what was there: {one_line(str(result.kept))}"
    if result.filled:
        yield f"  filled in place: {_shown(result.filled)}"
    for item in result.moved[:_SHOWN]:
        times = f" ({count(item.count, 'row')})" if item.count > 1 else ""
        yield f"  {one_line(item.path)}: {one_line(item.key)}: {one_line(item.old)} → {one_line(item.new)}{times}"
    yield from _more(result.moved)
    if built.external:
        yield f"  in your home folder: {_shown(built.external)}"


def _notes(result: Restored) -> Iterator[str]:
    for path, key, value in result.missing[:_SHOWN]:
        yield f"not on this machine: {one_line(value)} ({one_line(path)}: {one_line(key)})"
    yield from _more(result.missing)
    for path, reason in result.built.refused[:_SHOWN]:
        yield f"not restored: {one_line(path)}: {reason}"
    yield from _more(result.built.refused)
    for name, keys in result.secrets.items():
        yield f"to be entered again: {one_line(name)}{': ' if keys else ''}{', '.join(map(one_line, keys))}"


def _shown(names: list[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(map(one_line, names[:_SHOWN])) + (f" and {rest:,} more" if rest > 0 else "")


def _more(items: list[Any]) -> Iterator[str]:
    if len(items) > _SHOWN:
        yield f"  … and {len(items) - _SHOWN:,} more"
