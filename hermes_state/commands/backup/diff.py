"""`diff`: an archive against another, or against a home."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.command import command
from hermes_state.commands.invocation import HAS_FINDINGS
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import paint
from hermes_state.commands.wording import listed, size

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.backup import Wanted
    from hermes_state.portability.diff import Change, Side
    from hermes_state.portability.manifest import Manifest

_MARKS = {"added": ("+", "green"), "removed": ("-", "red")}
_CHANGED = ("~", "yellow")


@command(
    "diff",
    examples=(
        "hermes-state diff backup.tar.zst                     # against the home as it is now",
        "hermes-state diff monday.tar.zst tuesday.tar.zst",
        "hermes-state diff backup.tar.zst /srv/agent --json",
    ),
)
@click.argument("archive", type=archives.ARCHIVE)
@click.argument("other", type=archives.ARCHIVE, required=False)
@archives.trust_option
@archives.key_options
def diff_command(
    invocation: Invocation,
    archive: Path,
    other: Path | None,
    trust_size: bool,
    identities: tuple[Path, ...],
    passphrase_file: Path | None,
) -> int | None:
    """Compare an archive with another, or with a home.

    OTHER is an archive or a home; without it, the home as it is now. What is told is how OTHER differs from ARCHIVE.
    Content is compared by digest, not by time, and a database by its rows; a home is read as a backup would read it.
    Exits 1 when they differ.
    """
    from hermes_state.portability.diff import changes, of_archive

    keys, limits = archives.keys(identities, passphrase_file), archives.limits(trust_size=trust_size)
    before = of_archive(archive, keys=keys, limits=limits)
    place = other or invocation.home_path()
    folder = archive.absolute().parent
    if place.is_dir():
        found = _of_home(before, place, folder)
    else:
        found = changes(before, of_archive(place, keys=keys, limits=limits), folder)
    if invocation.json:
        items = [change.as_json() for change in found]
        invocation.document({"before": str(archive), "after": str(place), "changes": items})
    else:
        for change in found:
            invocation.say(_line(change))
        invocation.note(_summary(found))
    return HAS_FINDINGS if found else None


def _of_home(before: Side, home: Path, folder: Path) -> list[Change]:
    from hermes_state.portability.backup import preview
    from hermes_state.portability.diff import changes, of_entries

    with preview(home, folder, _wanted(before.manifest)) as (entries, copies):
        return changes(before, of_entries(entries, copies), folder)


def _wanted(manifest: Manifest | None) -> Wanted:
    """What the archive took, so that the home is read in the same way."""
    from hermes_state.portability.backup import Wanted
    from hermes_state.portability.policy import Policy

    facts = manifest.facts if manifest is not None else {}
    databases = [item for item in _mapping(facts.get("databases")).values() if isinstance(item, dict)]
    policy = _mapping(facts.get("secrets")).get("policy")
    return Wanted(
        quick=facts.get("quick") is True,
        keep_indexes=bool(databases) and all(item.get("indexes") == "kept" for item in databases),
        secrets=Policy(policy) if policy in {item.value for item in Policy} else Policy.INCLUDE,
    )


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _line(change: Change) -> str:
    mark, color = _MARKS.get(change.what.value, _CHANGED)
    sizes = " -> ".join(size(state.size) for state in (change.before, change.after) if state is not None)
    what = "" if change.what.value in _MARKS else f"{change.what.value}, "
    if change.what.value == "mode" and change.before is not None and change.after is not None:
        what, sizes = "mode ", f"{change.before.mode:04o} -> {change.after.mode:04o}"
    return f"{paint(mark, (('fg', color),))} {one_line(change.name)}  ({what}{sizes})"


def _summary(found: list[Change]) -> str:
    counts = Counter(_MARKS.get(change.what.value, ("changed",))[0] for change in found)
    words = {"+": "added", "-": "removed", "changed": "changed"}
    return listed(f"{number:,} {words[mark]}" for mark, number in counts.items()) if found else "no difference"
