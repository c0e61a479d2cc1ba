"""`list`: what an archive holds."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count, size
from hermes_state.portability.format import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.format import Entry

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES = {Kind.FILE: stat.S_IFREG, Kind.DIR: stat.S_IFDIR, Kind.LINK: stat.S_IFLNK}


@command(
    "list",
    examples=(
        "hermes-state list backup.tar.zst",
        "hermes-state list backup.tar.zst home/skills",
        "hermes-state list backup.tar.zst --json | jq '[.members[].bytes] | add'",
    ),
)
@click.argument("archive", type=archives.ARCHIVE)
@click.argument("below", required=False)
@archives.trust_option
@archives.key_options
def list_command(
    invocation: Invocation,
    archive: Path,
    below: str | None,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
) -> None:
    """List what an archive holds, all or below a folder.

    The archive is read to its end and proven on the way; what is printed before an error was read, and not proven.
    """
    from hermes_state.portability.reader import open_archive

    keys, limits = archives.keys(identities, passphrase_file), archives.limits(trust_size=trust_size)
    shown: list[dict[str, Any]] = []
    number = total = 0
    with open_archive(archive, keys=keys, limits=limits) as opened:
        for entry, _ in opened.members():
            if below is not None and not _is_below(entry.name, below):
                continue
            number += 1
            total += entry.length
            if invocation.json:
                shown.append(_shape(entry))
            else:
                invocation.say(_line(entry))
        archive_id = opened.manifest.archive_id
        tally = opened.tally
    # `verify` counts what the archive says of itself too.
    own = f"; with its manifest and report {count(tally.entries, 'member')}" if below is None else ""
    if invocation.json:
        invocation.document({"path": str(archive), "archive_id": archive_id, "members": shown})
    else:
        invocation.note(f"{count(number, 'member')}, {size(total)}{own}")


def _is_below(name: str, folder: str) -> bool:
    folder = folder.rstrip("/")
    return any(name == top or name.startswith(f"{top}/") for top in (folder, f"home/{folder}"))


def _shape(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "kind": entry.kind.name.lower(),
        "mode": entry.mode,
        "bytes": entry.length,
        "mtime_ns": entry.mtime_ns,
        "target": entry.target or None,
    }


def _line(entry: Entry) -> str:
    mode = stat.filemode(_TYPES[entry.kind] | entry.mode)
    target = f" -> {one_line(entry.target)}" if entry.kind is Kind.LINK else ""
    return f"{mode} {size(entry.length):>8} {_time(entry.mtime_ns)} {one_line(entry.name)}{target}"


def _time(mtime_ns: int) -> str:
    """Local time to the minute; a year that no calendar here knows as seconds."""
    try:
        return f"{(_EPOCH + timedelta(microseconds=mtime_ns // 1000)).astimezone():%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError):
        return f"{mtime_ns // 10**9:>16}"
