"""`show`: what an archive says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.wording import count, local, size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.manifest import Manifest
    from hermes_state.portability.reader import Archive

# Items of each list that are shown; --json has all.
_SHOWN = 10


@command(
    "show",
    examples=("hermes-state show backup.tar.zst", "hermes-state show backup.tar.zst --json | jq .manifest.left_out"),
)
@click.argument("archive", type=archives.ARCHIVE)
@archives.key_options
def show_command(
    invocation: Invocation, archive: Path, identities: tuple[Path, ...], passphrase_file: Path | None
) -> None:
    """Tell what an archive says of itself.

    When and where it was made, which databases are in it, what was left out and why. Only its first member is read, so
    this takes no time; nothing is proven by it: `verify` does that.
    """
    from hermes_state.portability.reader import open_archive

    with open_archive(archive, keys=archives.keys(identities, passphrase_file)) as opened:
        if invocation.json:
            invocation.document(_document(opened))
            return
        for line in _lines(opened):
            invocation.say(line)


def _document(opened: Archive) -> dict[str, Any]:
    return {
        "path": str(opened.path),
        "bytes": opened.size,
        "encrypted": opened.encrypted,
        "manifest": opened.manifest.as_json(),
    }


def _lines(opened: Archive) -> Iterator[str]:
    manifest = opened.manifest
    yield f"{one_line(str(opened.path))}  {size(opened.size)}{' · encrypted' if opened.encrypted else ''}"
    yield f"  made     {local(manifest.created_at)} {_maker(manifest)}".rstrip()
    yield f"  id       {manifest.archive_id} · format {manifest.version}"
    for name, path in manifest.roots.items():
        yield f"  {name:<8} {one_line(path)}"
    yield from _databases(manifest)
    yield from _left_out(manifest)
    needs = ", ".join(one_line(name) for name in (*manifest.required_read, *manifest.required_restore))
    if needs:
        yield f"  needs    {needs}"


def _maker(manifest: Manifest) -> str:
    product = manifest.facts.get("product")
    if not isinstance(product, dict):
        return ""
    return one_line(f"by {product.get('name', '?')} {product.get('version', '')}")


def _databases(manifest: Manifest) -> Iterator[str]:
    found = manifest.facts.get("databases")
    for name, facts in list(found.items())[:_SHOWN] if isinstance(found, dict) else []:
        facts = facts if isinstance(facts, dict) else {}
        words = [str(facts[key]) for key in ("kind", "schema") if facts.get(key)]
        words += ["indexes left out"] if facts.get("indexes") == "left-out" else []
        yield f"  database {one_line(name)} ({one_line(', '.join(words))})"


def _left_out(manifest: Manifest) -> Iterator[str]:
    found = manifest.facts.get("left_out")
    if not isinstance(found, list) or not found:
        return
    total = manifest.facts.get("left_out_count", len(found))
    yield f"  left out {count(total, 'item') if isinstance(total, int) else ''}"
    for item in found[:_SHOWN]:
        if isinstance(item, dict):
            taken = size(item["bytes"]) if isinstance(item.get("bytes"), int) else ""
            yield f"    {one_line(str(item.get('path')))}  {one_line(str(item.get('reason')))}  {taken}".rstrip()
    if len(found) > _SHOWN:
        yield f"    … and {len(found) - _SHOWN:,} more"
