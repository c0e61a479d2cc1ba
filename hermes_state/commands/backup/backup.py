"""`backup`: the whole home in one archive."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.backup.watching import give, watching
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count, size
from hermes_state.errors import Conflict, PartialSuccess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.backup import BackupReport, Wanted
    from hermes_state.portability.crypt import Lock
    from hermes_state.portability.progress import Step
    from hermes_state.portability.retention import Keep
    from hermes_state.portability.writer import Options

# How often a name is made up anew because another backup took it in the same second.
_TRIES = 20
# What is shown of each list; --json has more.
_SHOWN = 8


@command(
    "backup",
    examples=(
        "hermes-state backup                                   # into your home folder",
        "hermes-state backup /mnt/usb/laptop.tar.zst",
        "hermes-state backup --to /mnt/usb --keep-daily 7 --keep-weekly 4 --keep-monthly 12",
        "hermes-state backup --repo /mnt/usb/home               # daily: stores what changed",
        "hermes-state backup --no-secrets for-a-friend.tar.zst",
        "hermes-state backup --db 'postgresql+psycopg://ann@db/hermes?store=team' --to /mnt/usb",
        "hermes-state backup -r age1ql3z7hjy54pw… --to /mnt/cloud",
    ),
)
@click.argument("output", type=archives.ARCHIVE, required=False)
@click.option("--to", "folder", type=archives.ARCHIVE, metavar="DIR", help="A folder of backups: names itself, prunes.")
@archives.repo_option
@click.option("--keep", type=click.IntRange(0), default=0, metavar="N", help="With --to: keep the newest N.")
@click.option("--keep-daily", type=click.IntRange(0), default=0, metavar="N", help="… and one of each of N days.")
@click.option("--keep-weekly", type=click.IntRange(0), default=0, metavar="N", help="… and one of each of N weeks.")
@click.option("--keep-monthly", type=click.IntRange(0), default=0, metavar="N", help="… and one of each of N months.")
@click.option("--label", metavar="NAME", help="With --to: what its backups are called. Default: the home's folder.")
@click.option("--quick", is_flag=True, help="The state only: no skills, plugins, logs or media.")
@click.option("--keep-indexes", is_flag=True, help="Full-text indexes too: four times the size, a faster restore.")
@click.option("--secrets", type=click.Choice(["include", "exclude", "redact"]), help="Keys and passwords. Default: in.")
@click.option("--no-secrets", is_flag=True, help="As --secrets exclude.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Take what a rule leaves out; may be repeated.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave this out; may be repeated.")
@click.option("--also", type=archives.ARCHIVE, multiple=True, metavar="PATH", help="A path outside of the home.")
@archives.lock_options
@archives.level_option
@click.option("--reread", is_flag=True, help="With --repo: read every file, also those that look unchanged.")
@click.option("--force", is_flag=True, help="Replace OUTPUT when it is there.")
@click.option("--jsonl", is_flag=True, help="JSON Lines: what is being done while it is done, the result at last.")
def backup_command(
    invocation: Invocation,
    output: Path | None,
    folder: Path | None,
    repo: Path | None,
    level: int,
    force: bool,
    jsonl: bool,
    **chosen: Any,
) -> None:
    """Back up the whole home into one archive.

    Its agent may go on working. Databases are copied at one moment each. Caches, environments and earlier backups are
    left out and listed; a file `backup-rules` in the home, --include and --exclude change what. The archive is checked
    before it gets its name, opens with `tar --zstd -x`, and nobody else can read it. Exits 20 when something could not
    be read.

    With --repo it becomes a snapshot in a repository, which stores what changed since the last one; see `repo`.

    With --db the content of that store is in the archive, as it is at one moment, in the place of the home's own.
    """
    if repo is not None:
        from hermes_state.commands.repo import saving

        saving.refuse_others({"output": output, "folder": folder, "force": force, **chosen})
        saved = saving.save(invocation, repo, _wanted(invocation, chosen), level=level, jsonl=jsonl)
        _tell_and_finish(invocation, saved.backup, quiet=invocation.json or jsonl)
        return
    if output is not None and folder is not None:
        raise click.UsageError("give OUTPUT or --to, not both")
    lock = archives.lock(chosen["recipients"], chosen["passphrase_file"])
    wanted, keep = _wanted(invocation, chosen), _keep(chosen)
    if wanted.reread:
        raise click.UsageError("--reread goes with --repo: an archive is always read anew")
    if folder is None and not keep.is_everything:
        raise click.UsageError("--keep goes with --to DIR")
    home = invocation.home_path()
    place = _Place(home, output, folder, chosen["label"], encrypted=lock is not None)
    with watching(invocation, "backing up", jsonl=jsonl) as tell:
        report = place.make(wanted, _options(level, lock, replace=force), tell)
    pruned = place.tidy(report, keep)
    if invocation.json or jsonl:
        give(invocation, shape(report, pruned), jsonl=jsonl)
    else:
        for line in _lines(report, pruned):
            invocation.say(line)
    _tell_and_finish(invocation, report, quiet=invocation.json or jsonl)


def _tell_and_finish(invocation: Invocation, report: BackupReport, *, quiet: bool) -> None:
    """Tell what is not in it."""
    if not quiet:
        _tell_left_out(invocation, report)
    if report.is_partial:
        raise _partial(report)


class _Place:
    """Where the archive goes, and how it is called."""

    def __init__(
        self, home: Path, output: Path | None, folder: Path | None, label: str | None, *, encrypted: bool
    ) -> None:
        from hermes_state.portability.retention import label_of

        self.home, self.output, self.encrypted = home, output, encrypted
        self.is_kept = folder is not None
        self.folder = folder or (output if output is not None and output.is_dir() else Path.home())
        self.label = label or label_of(home)
        if output is not None and output.is_dir():
            self.output = None

    def make(self, wanted: Wanted, options: Options, tell: Callable[[Step], None]) -> BackupReport:
        """Write it; two backups that begin in one second get two names."""
        from hermes_state.portability.backup import backup
        from hermes_state.portability.retention import new_path

        if self.output is not None:
            return backup(self.home, self.output.absolute(), wanted, options=options, progress=tell)
        if self.is_kept:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for _ in range(_TRIES):
            target = new_path(self.folder.absolute(), self.label, encrypted=self.encrypted)
            try:
                return backup(self.home, target, wanted, options=options, progress=tell)
            except Conflict:
                if not os.path.lexists(target):
                    raise
        raise Conflict(f"every name for a backup in {self.folder} is taken", hint="give OUTPUT")

    def tidy(self, report: BackupReport, keep: Keep) -> list[Path]:
        """In a folder of backups: point `latest` to it, delete what need not stay. A partial one replaces nothing."""
        from hermes_state.portability.retention import point_latest, prune

        if not self.is_kept or report.is_partial:
            return []
        point_latest(report.written.path, self.label)
        return prune(self.folder.absolute(), self.label, keep)


def _wanted(invocation: Invocation, chosen: dict[str, Any]) -> Wanted:
    from hermes_state.portability.backup import Wanted
    from hermes_state.portability.policy import Policy

    if chosen["no_secrets"] and chosen["secrets"] not in (None, "exclude"):
        raise click.UsageError(f"--no-secrets and --secrets {chosen['secrets']} contradict each other")
    policy = "exclude" if chosen["no_secrets"] else chosen["secrets"] or "include"
    return Wanted(
        quick=chosen["quick"],
        keep_indexes=chosen["keep_indexes"],
        secrets=Policy(policy),
        include=chosen["include"],
        exclude=chosen["exclude"],
        external=chosen["also"],
        store=archives.store_elsewhere(invocation),
        reread=chosen["reread"],
    )


def _keep(chosen: dict[str, Any]) -> Keep:
    from hermes_state.portability.retention import Keep

    names = {"last": "keep", "daily": "keep_daily", "weekly": "keep_weekly", "monthly": "keep_monthly"}
    return Keep(**{name: chosen[option] for name, option in names.items()})


def _options(level: int, lock: Lock | None, *, replace: bool) -> Options:
    from hermes_state.portability.writer import Options

    return Options(level=level, lock=lock, replace=replace)


def _partial(report: BackupReport) -> PartialSuccess:
    missing = report.written.report
    lines = [f"{item['name']}: {item['reason']}" for item in [*missing.omitted, *missing.incomplete]]
    lines += [f"{name}: {damage}" for name, damage in report.unsound.items()]
    number = missing.omitted_count + missing.incomplete_count + len(report.unsound)
    shown = "; ".join(map(one_line, lines[:_SHOWN])) + ("; …" if number > _SHOWN else "")
    return PartialSuccess(
        f"the backup is partial: {count(number, 'file')} could not be read as they are: {shown}",
        hint="everything else is in it; its report.json lists all that is not",
    )


# --- what is said -------------------------------------------------------------------------------------------------


def shape(report: BackupReport, pruned: list[Path]) -> dict[str, Any]:
    """A backup as JSON."""
    written, manifest = report.written, report.manifest
    return {
        "path": str(written.path),
        "archive_id": manifest.archive_id,
        "bytes": written.size,
        "members": written.members,
        "content_bytes": written.content_bytes,
        "digest": written.whole,
        "duration_s": round(report.seconds, 3),
        "partial": report.is_partial,
        "omitted": written.report.omitted,
        "incomplete": written.report.incomplete,
        "unsound": report.unsound,
        "left_out": manifest.facts["left_out"],
        "secrets": manifest.facts["secrets"],
        "databases": [
            {"path": name, "kind": about["kind"], "schema": about["schema"], "rows": about["rows"]}
            for name, about in manifest.facts["databases"].items()
        ],
        "external_refused": written.report.facts.get("external_refused", []),
        "pruned": [str(path) for path in pruned],
    }


def _lines(report: BackupReport, pruned: list[Path]) -> Iterator[str]:
    written = report.written
    yield one_line(str(written.path))
    read = f"{count(written.members, 'member')} · {size(written.content_bytes)} in {size(written.size)}"
    yield f"  {read} · {report.seconds:.1f} s"
    for name, about in report.manifest.facts["databases"].items():
        rows = ", ".join(count(number, noun.rstrip("s")) for noun, number in about["rows"].items())
        yield f"  {one_line(name)}{f': {rows}' if rows else ''}"
    yield f"  digest {written.whole}"
    for path in pruned:
        yield f"  deleted {one_line(path.name)}"


def _tell_left_out(invocation: Invocation, report: BackupReport) -> None:
    left_out = report.manifest.facts["left_out"]
    for item in left_out[:_SHOWN]:
        invocation.note(f"left out: {one_line(item['path'])} ({item['reason']}, {size(item['bytes'])})")
    rest = report.manifest.facts["left_out_count"] - len(left_out[:_SHOWN])
    if rest > 0:
        invocation.note(f"  … and {rest:,} more")
    secret = report.manifest.facts["secrets"]
    for name in secret["left_out"]:
        invocation.note(f"secret left out: {one_line(name)}")
    for name, keys in secret["redacted"].items():
        invocation.note(f"secret taken out: {one_line(name)}: {', '.join(map(one_line, keys))}")
    for name, columns in secret["databases"].items():
        for column, number in columns.items():
            invocation.note(f"secrets taken out: {one_line(name)}: {column} ({count(number, 'row')})")
    for name in secret["unsearched"]:
        invocation.note(f"not searched for secrets: {one_line(name)}")
    for item in report.written.report.facts.get("external_refused", []):
        invocation.note(f"not taken: {one_line(item['path'])}: {item['reason']}")
