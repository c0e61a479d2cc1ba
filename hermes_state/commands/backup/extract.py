"""`extract`: one file out of an archive."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import size

if TYPE_CHECKING:
    from typing import BinaryIO

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.extract import Extracted


@command(
    "extract",
    examples=(
        "hermes-state extract backup.tar.zst config.yaml",
        "hermes-state extract backup.tar.zst home/memories/MEMORY.md -o - | less",
    ),
)
@click.argument("archive", type=archives.ARCHIVE)
@click.argument("name")
@click.option(
    "--output", "-o", metavar="FILE", help="Write it here; - is stdout. Default: its own name in the current folder."
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option(
    "--anyway", is_flag=True, help="When the archive is damaged: give what can be read. Exits 22 all the same."
)
@archives.trust_option
@archives.key_options
def extract_command(
    invocation: Invocation,
    archive: Path,
    name: str,
    output: str | None,
    force: bool,
    anyway: bool,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int | None:
    """Take one file out of an archive.

    NAME is as `list` shows it, or without `home/` before it. The file appears when the whole archive was proven.
    """
    from hermes_state.portability.extract import extract

    if output == "-" and invocation.json:
        raise click.UsageError("--json and the file itself can't both go to stdout")
    target: Path | BinaryIO = sys.stdout.buffer if output == "-" else Path(output or name.rpartition("/")[2])
    found = extract(
        archive,
        name,
        target,
        keys=archives.keys(identities, passphrase_file),
        limits=archives.limits(trust_size=trust_size),
        replace=force,
        even_if_damaged=anyway,
    )
    _tell(invocation, found, target)
    if found.damage is not None:
        invocation.note(f"the archive is damaged: {one_line(found.damage.message)}")
        return found.damage.exit_code
    return None


def _tell(invocation: Invocation, found: Extracted, target: Path | BinaryIO) -> None:
    if invocation.json:
        damage = found.damage.message if found.damage is not None else None
        path = str(target.absolute()) if isinstance(target, Path) else ""
        document = {"name": found.entry.name, "path": path, "bytes": found.entry.length, "damage": damage}
        invocation.document(document)
    elif isinstance(target, Path):
        invocation.note(f"{one_line(found.entry.name)} -> {one_line(str(target))} ({size(found.entry.length)})")
