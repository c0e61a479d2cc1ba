"""`pack`: chosen conversations, memories, settings and skills as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.backup import archives
from hermes_state.commands.backup.watching import watching
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.sessions.references import REF
from hermes_state.commands.values import INSTANT
from hermes_state.commands.wording import count, size
from hermes_state.errors import PartialSuccess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.packs.pack import PackReport, Wanted

# What can be chosen with --only, as in `restore`, and the roots of a pack.
_PARTS = {"sessions": "sessions", "memory": "memories", "config": "config", "skills": "skills"}
_SHOWN = 8


@command(
    "pack",
    examples=(
        'hermes-state pack trip.tar.zst --session "Cairo trip" --only sessions',
        "hermes-state pack week.tar.zst --since 7d",
        "hermes-state pack for-a-friend.tar.zst --all --only skills --only memory --no-secrets",
        "hermes-state pack move.tar.zst.age --all --recipient age1ql3z7hjy54pw…",
    ),
)
@click.argument("output", type=archives.ARCHIVE)
@click.option("--session", "refs", type=REF, multiple=True, metavar="REF", help="This conversation; may be repeated.")
@click.option("--since", type=INSTANT, help="The conversations that were active since then (2026-01-31, 5h, 7d).")
@click.option("--all", "everything", is_flag=True, help="Every session.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(_PARTS)),
    help="Only this part; may be repeated. Default: all parts.",
)
@click.option("--redact", is_flag=True, help="Put placeholders in the place of keys, tokens and passwords.")
@click.option("--no-secrets", is_flag=True, help="As --redact, and leave out files that exist for secrets.")
@archives.lock_options
@archives.level_option
@click.option("--force", is_flag=True, help="Replace OUTPUT when it is there.")
def pack_command(
    invocation: Invocation,
    output: Path,
    refs: tuple[str, ...],
    since: datetime | None,
    everything: bool,
    only: tuple[str, ...],
    redact: bool,
    no_secrets: bool,
    level: int,
    force: bool,
    **lock: Any,
) -> None:
    """Pack conversations, memories, settings and skills.

    All of it is text that any program can read. A conversation comes with its lineage: what it was compressed
    from, its sub-agents, where it came from. Sessions and memories are JSON Lines, the working memory Markdown,
    settings YAML with their comments. No database is in a pack, so it belongs to no version and no engine;
    `unpack` brings it into a home that has content. `docs/pack-format.md` says what is where, and `verify`,
    `list` and `extract` read packs too. Credentials of the home are never in it.
    """
    from hermes_state.portability.packs.pack import pack
    from hermes_state.portability.writer import Options

    if [bool(refs), since is not None, everything].count(True) != 1:
        raise click.UsageError("what is to be packed? Give --session REF, --since WHEN or --all, one of them")
    wanted = _wanted(invocation, refs, since, everything, only, redact=redact, no_secrets=no_secrets)
    options = Options(level=level, lock=archives.lock(**lock), replace=force)
    with watching(invocation, "packing") as tell:
        report = pack(
            invocation.home_path(),
            output.absolute(),
            wanted,
            store=invocation.store,
            options=options,
            progress=tell,
        )
    if invocation.json:
        invocation.document(shape(report))
    else:
        for line in _lines(report):
            invocation.say(line)
        _tell_secrets(invocation, report)
    if report.written.report.is_partial:
        raise _partial(report)


def _wanted(
    invocation: Invocation,
    refs: tuple[str, ...],
    since: datetime | None,
    everything: bool,
    only: tuple[str, ...],
    *,
    redact: bool,
    no_secrets: bool,
) -> Wanted:
    from hermes_state.portability.format import PACK_ROOTS
    from hermes_state.portability.packs.pack import Wanted
    from hermes_state.portability.policy import Policy

    ids: tuple[str, ...] = ()
    if refs:
        with invocation.open_store(only_reads=True) as db:
            ids = tuple(db.sessions.resolve(ref).id for ref in refs)
    parts = frozenset(_PARTS[name] for name in only) if only else frozenset(PACK_ROOTS)
    policy = Policy.EXCLUDE if no_secrets else Policy.REDACT if redact else Policy.INCLUDE
    return Wanted(ids=ids, since=since, everything=everything, parts=parts, secrets=policy)


def _partial(report: PackReport) -> PartialSuccess:
    missing = report.written.report
    items = [*missing.omitted, *missing.incomplete][:_SHOWN]
    shown = "; ".join(one_line(f"{item['name']}: {item['reason']}") for item in items)
    return PartialSuccess(
        f"the pack is partial: {count(missing.omitted_count + missing.incomplete_count, 'file')} could not be read as "
        f"they are: {shown}",
        hint="everything else is in it; its report.json lists all that is not",
    )


def shape(report: PackReport) -> dict[str, Any]:
    """A pack as JSON."""
    written, facts = report.written, report.manifest.facts
    return {
        "path": str(written.path),
        "pack_id": report.manifest.archive_id,
        "bytes": written.size,
        "members": written.members,
        "digest": written.whole,
        "duration_s": round(report.seconds, 3),
        "partial": written.report.is_partial,
        "omitted": written.report.omitted,
        "incomplete": written.report.incomplete,
        "parts": facts["parts"],
        "secrets": facts["secrets"],
    }


def _lines(report: PackReport) -> Iterator[str]:
    written, parts = report.written, report.manifest.facts["parts"]
    yield one_line(str(written.path))
    yield f"  {count(written.members, 'member')} · {size(written.content_bytes)} in {size(written.size)}"
    for name, about in parts.items():
        nouns = (("sessions", "session"), ("messages", "message"), ("memories", "memory"), ("files", "file"))
        said = [count(about[key], noun, key if key == "memories" else None) for key, noun in nouns if key in about]
        yield f"  {name}: {', '.join(said)}"
    yield f"  digest {written.whole}"


def _tell_secrets(invocation: Invocation, report: PackReport) -> None:
    secret = report.manifest.facts["secrets"]
    for name in secret["left_out"][:_SHOWN]:
        invocation.note(f"secret left out: {one_line(name)}")
    for name, keys in list(secret["redacted"].items())[:_SHOWN]:
        invocation.note(f"secret taken out: {one_line(name)}: {', '.join(map(one_line, keys))}")
    if report.replaced:
        invocation.note(f"{count(report.replaced, 'secret')} in messages and memories replaced by placeholders")
