"""`unpack`: a pack into a home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.backup import archives, joined
from hermes_state.commands.backup.watching import watching
from hermes_state.commands.command import command
from hermes_state.commands.wording import count
from hermes_state.errors import PartialSuccess

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation


@command(
    "unpack",
    examples=(
        "hermes-state unpack move.tar.zst --dry-run            # what would be added, kept, and differs",
        "hermes-state unpack move.tar.zst",
        "hermes-state unpack move.tar.zst.age --identity key.txt --json | jq .differences",
    ),
)
@click.argument("pack", type=archives.ARCHIVE)
@click.option("--dry-run", is_flag=True, help="Prove the pack and say what would be done; change nothing.")
@archives.trust_option
@archives.key_options
def unpack_command(
    invocation: Invocation,
    pack: Path,
    dry_run: bool,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
) -> None:
    """Bring a pack into the home.

    What is new comes in, nothing that is there changes. All of the pack is proven before anything is touched. A
    session that went on elsewhere goes on here; one that went another way comes in beside yours. What is there
    with other content stays and is listed: that exits 20. To unpack again adds nothing. With --db, conversations and
    memories go into that store, a file or one on a server, and the rest into the home.
    """
    from hermes_state.portability.packs.unpack import unpack

    with watching(invocation, "unpacking") as tell:
        result = unpack(
            pack,
            invocation.home_path(),
            store=invocation.store,
            keys=archives.keys(identities, passphrase_file),
            limits=archives.limits(trust_size=trust_size),
            progress=tell,
            dry_run=dry_run,
        )
    if invocation.json:
        invocation.document(joined.shape(result, dry_run=dry_run))
    else:
        joined.tell(invocation, result, dry_run=dry_run)
    if result.differences and not dry_run:
        number = count(len(result.differences), "difference")
        raise PartialSuccess(
            f"unpacked, but for {number}: what is here stayed as it is",
            hint="`hermes-state unpack --dry-run` lists them; `hermes-state extract` gives a single file of the pack",
        )
