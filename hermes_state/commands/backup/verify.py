"""`verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.backup.watching import watching
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import bold_in, paint
from hermes_state.commands.wording import count, local, size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.verify import Findings, Verification

# Notices that are shown; --json has more.
_SHOWN_NOTICES = 10
_COLORS = {"sound": "green", "damaged": "red", "foreign": "yellow", "unsupported": "yellow", "wrong_key": "yellow"}


@command(
    "verify",
    examples=(
        "hermes-state verify backup.tar.zst",
        "hermes-state verify backup.tar.zst.age --identity key.txt",
        "hermes-state verify --repo /mnt/usb/home 3fa91b              # a snapshot of a repository",
        "hermes-state verify backup.tar.zst --json | jq -r .digest    # note it elsewhere",
        "hermes-state verify backup.tar.zst --expect 5f3c…            # and prove that it is still that one",
    ),
)
@click.argument("archive", type=archives.ARCHIVE, required=False)
@archives.repo_option
@click.option("--expect", metavar="DIGEST", help="The digest that it must have, as noted when it was made.")
@archives.trust_option
@archives.key_options
def verify_command(
    invocation: Invocation,
    archive: Path | None,
    repo: Path | None,
    expect: str | None,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int:
    """Prove that an archive is what was written.

    All of it is read and compared with the digests it carries; nothing is written, and no store is needed. Exits 0
    when it is sound, 22 damaged, 23 foreign, 24 made by a newer version, 25 encrypted with another key.

    A sound archive is whole. Who made it is not proven: for that, note its digest elsewhere and give it with --expect.
    """
    from hermes_state.portability.progress import Step
    from hermes_state.portability.verify import verify

    if repo is not None:
        archive = archives.in_repository(repo, archive)
    if archive is None:
        raise click.UsageError("verify what? Give an archive, or --repo DIR")
    keys = archives.keys(identities, passphrase_file)
    limits = archives.limits(trust_size=trust_size)
    with watching(invocation, "reading") as tell:
        result = verify(
            archive,
            keys=keys,
            limits=limits,
            expect=expect,
            progress=lambda done, total: tell(Step(what=str(archive), done=done, total=total)),
        )
    if invocation.json:
        invocation.document(result.as_json())
    else:
        for line in _lines(result):
            invocation.say(line)
        _tell_notices(invocation, result)
    return result.verdict.value


def _lines(result: Verification) -> Iterator[str]:
    verdict = result.verdict.name.lower()
    word = paint(verdict.replace("_", " "), bold_in(_COLORS[verdict]))
    yield f"{word}  {one_line(str(result.path))}"
    for finding in result.findings.listed:
        member = f"{one_line(finding.member)}: " if finding.member else ""
        yield f"  {member}{one_line(finding.message)}"
    yield from _more(result.findings, len(result.findings.listed))
    if result.manifest is not None or result.foreign is not None:
        made = f" · made {local(result.manifest.created_at)}" if result.manifest else ""
        read = f"{count(result.members, 'member')} · {size(result.content_bytes)} in {size(result.size)}"
        yield f"  {read}{made}{' · encrypted' if result.encrypted else ''}"
    if result.whole is not None:
        yield f"  digest {result.whole}"


def _tell_notices(invocation: Invocation, result: Verification) -> None:
    for notice in result.notices.listed[:_SHOWN_NOTICES]:
        member = f"{one_line(notice.member)}: " if notice.member else ""
        invocation.note(f"note: {member}{one_line(notice.message)}")
    for line in _more(result.notices, min(_SHOWN_NOTICES, len(result.notices.listed))):
        invocation.note(line)


def _more(found: Findings, shown: int) -> Iterator[str]:
    if found.count > shown:
        yield f"  … and {found.count - shown:,} more"
