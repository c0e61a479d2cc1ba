"""`sessions show`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.plain import one_line
from hermes_state.commands.sessions.references import REF
from hermes_state.commands.table import BOLD, DIM, paint
from hermes_state.commands.values import AT_LEAST_ONE, COUNT
from hermes_state.commands.wording import count, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hermes_state.commands.invocation import Invocation
    from hermes_state.commands.transcript import Detail
    from hermes_state.records import Message, Session
    from hermes_state.store import SessionDB


@command(
    "show",
    examples=(
        'hermes-state sessions show "redis deploy"',
        "hermes-state sessions show 20260720_1011 --last 10 --full",
        "hermes-state sessions show --around 4711 --context 3",
    ),
)
@click.argument("ref", type=REF, required=False)
@click.option(
    "--around", type=int, metavar="MESSAGE_ID", help="Only the messages around this one (REF may be left out)."
)
@click.option("--context", type=COUNT, default=5, show_default=True, metavar="N",
              help="With --around: how many before and after.")  # fmt: skip
@click.option("--last", type=AT_LEAST_ONE, metavar="N", help="Only the last N messages.")
@click.option("--role", "roles", multiple=True, metavar="ROLE", help="Only this role; may be repeated.")
@click.option("--rewound", is_flag=True, help="Also what was taken back.")
@click.option("--full", is_flag=True, help="Tool output and arguments whole.")
@click.option("--reasoning", is_flag=True, help="Also what the model thought.")
@click.option("--no-pager", is_flag=True, help="Straight to the terminal. The pager is $PAGER.")
def show(
    invocation: Invocation,
    ref: str | None,
    around: int | None,
    context: int,
    last: int | None,
    roles: tuple[str, ...],
    rewound: bool,
    full: bool,
    reasoning: bool,
    no_pager: bool,
) -> None:
    """Read a conversation.

    All of it, from its first segment to where it stands now; or the messages around one.
    """
    from hermes_state.commands.transcript import Detail

    if ref is None and around is None:
        raise click.UsageError("which conversation? Give REF, or --around MESSAGE_ID")
    with invocation.open_store(only_reads=True) as db:
        view = _window(db, ref, around, context) if around is not None else _whole(db, ref or "", rewound=rewound)
        preview = db.sessions.previews([view.session.id]).get(view.session.id)
    view = _narrowed(view, roles, last)
    if invocation.json:
        invocation.document(_document(view, preview, around))
    else:
        detail = Detail(full=full, reasoning=reasoning, marked=around)
        invocation.page(_lines(view, detail), pager=not no_pager)


@dataclass(frozen=True, kw_only=True, slots=True)
class _View:
    """What is shown of a conversation: messages in order, and how many more there are on each side."""

    session: Session
    segments: list[Session]
    messages: list[Message]
    before: int = 0
    after: int = 0

    @property
    def title(self) -> str | None:
        """The session's title, else the newest one of a segment before it."""
        return self.session.title or next((s.title for s in reversed(self.segments) if s.title), None)


def _whole(db: SessionDB, ref: str, *, rewound: bool) -> _View:
    from hermes_state.messages import ANY_STATE, VISIBLE

    session = db.sessions.resume(ref)
    segments = db.lineage.segments(session.id)
    messages = db.messages.history(session.id, states=ANY_STATE if rewound else VISIBLE)
    return _View(session=session, segments=segments, messages=messages)


def _window(db: SessionDB, ref: str | None, anchor: int, context: int) -> _View:
    from hermes_state.errors import MessageNotFound

    holder = db.messages.get(anchor).session_id
    segments = db.lineage.segments(holder)
    if ref is not None and (named := db.sessions.resolve(ref).id) not in {segment.id for segment in segments}:
        raise MessageNotFound(anchor, named)
    window = db.messages.window(holder, anchor, before=context, after=context)
    session = db.sessions.get(holder)
    messages = list(window.messages)
    return _View(session=session, segments=segments, messages=messages, before=window.before, after=window.after)


def _narrowed(view: _View, roles: Sequence[str], last: int | None) -> _View:
    messages = [message for message in view.messages if not roles or message.role in roles]
    cut = max(0, len(messages) - last) if last is not None else 0
    return replace(view, messages=messages[cut:], before=view.before + cut)


def _document(view: _View, preview: str | None, anchor: int | None) -> dict[str, object]:
    return {
        "session": shapes.session(view.session, preview),
        "segments": [segment.id for segment in view.segments],
        "anchor_id": anchor,
        "before": view.before,
        "messages": [shapes.message(message) for message in view.messages],
        "after": view.after,
    }


def _lines(view: _View, detail: Detail) -> Iterator[str]:
    from hermes_state.commands.transcript import lines_of

    yield from _header(view)
    if view.before:
        yield paint(f"·· {count(view.before, 'earlier message')}", DIM)
        yield ""
    yield from lines_of(view.messages, detail)
    if view.after:
        yield ""
        yield paint(f"·· {count(view.after, 'later message')}", DIM)


def _header(view: _View) -> Iterator[str]:
    session = view.session
    yield paint(one_line(view.title or "(untitled)"), BOLD)
    facts = [session.id, one_line(session.source), one_line(session.model or "")]
    facts.append(span(session.started_at, session.last_active_at))
    facts += [count(len(view.segments), "segment")] if len(view.segments) > 1 else []
    facts += ["archived"] if session.archived else []
    facts += [f"#{one_line(tag)}" for tag in session.tags]
    yield paint(" · ".join(fact for fact in facts if fact), DIM)
    if session.cwd:
        branch = f" ({one_line(session.git_branch)})" if session.git_branch else ""
        yield paint(one_line(session.cwd) + branch, DIM)
    yield ""
    if not view.messages:
        yield paint("(no messages)", DIM)
