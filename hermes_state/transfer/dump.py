"""Sessions to JSON Lines, losslessly. The format is described in `docs/export-format.md`."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from sqlalchemy import func, select

from hermes_state.redact import Redactor
from hermes_state.schema import handoffs, messages, routes, sessions, system_prompts, usage
from hermes_state.session_rows import tags_of
from hermes_state.transfer.lines import (
    HEADER,
    USAGE_KEYS,
    Line,
    handoff_line,
    message_line,
    route_line,
    session_line,
    to_line,
    usage_line,
)
from hermes_state.transfer.progress import Progress, no_progress
from hermes_state.transfer.report import ExportReport
from hermes_state.transfer.selection import EVERYTHING, Selection, selected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

_c, _m = sessions.c, messages.c
_parent = sessions.alias("parent")
# Rows fetched at a time.
_FETCH = 500


def dump(
    engine: Engine,
    out: IO[str],
    selection: Selection = EVERYTHING,
    *,
    redact: bool = False,
    progress: Progress = no_progress,
) -> ExportReport:
    """Write sessions as JSON Lines: a header, then each session and its messages, then a closing line with counts.

    Everything is written as it was at one moment, whatever happens in the store meanwhile. Messages of every state are
    written; ids of messages are not, since another store gives them its own. An export of everything has the routes
    too.

    Args:
        out: a text file; its encoding must be UTF-8.
        redact: put placeholders in the place of secrets.

    Raises:
        SessionNotFound: a session that was asked for is not here; nothing was written.
    """
    with engine.read() as connection:
        return dump_lines(connection, out, selection, redact=redact, progress=progress)


def dump_lines(
    connection: Connection,
    out: IO[str],
    selection: Selection = EVERYTHING,
    *,
    redact: bool = False,
    progress: Progress = no_progress,
) -> ExportReport:
    """As `dump`, of the snapshot that a connection sees."""
    redactor = Redactor() if redact else None
    written = 0
    pks = selected(connection, selection)
    _put(out, HEADER, None)
    prompts: set[str] = set()
    for n, pk in enumerate(pks, 1):
        prompt = _prompt_of(connection, pk)
        if prompt is not None and prompt["sha256"] not in prompts:
            prompts.add(prompt["sha256"])
            _put(out, prompt, redactor)
        for line in session_lines(connection, pk):
            _put(out, line, redactor)
            written += line["type"] == "message"
        progress(n, len(pks))
    if selection.is_everything:
        for line in _routes(connection):
            _put(out, line, redactor)
    _put(out, {"type": "end", "sessions": len(pks), "messages": written}, None)
    return ExportReport(sessions=len(pks), messages=written, redacted=redactor.count if redactor else 0)


def _put(out: IO[str], line: Line, redactor: Redactor | None) -> None:
    out.write(to_line(line if redactor is None else _redacted(line, redactor)))


# Names whose values nobody said and that a line is told apart by.
_KEPT = frozenset(("type", "id", "parent_id", "session_id", "sha256", "key", "scope"))


def _redacted(line: Line, redactor: Redactor) -> Line:
    kept = {name: value for name, value in line.items() if name in _KEPT}
    return redactor.fields(line) | kept


def session_lines(connection: Connection, session_pk: int) -> Iterator[Line]:
    """The line of a session, and the lines of its messages in order."""
    query = select(sessions, _parent.c.id.label("parent_id"), system_prompts.c.sha256).where(_c.pk == session_pk)
    query = query.outerjoin(_parent, _parent.c.pk == _c.parent_pk)
    row = connection.execute(query.outerjoin(system_prompts, system_prompts.c.pk == _c.system_prompt_pk)).one()
    count = select(func.count()).select_from(messages).where(_m.session_pk == session_pk)
    yield session_line(
        row,
        prompt=None if row.sha256 is None else row.sha256.hex(),
        tags=tags_of(connection, [session_pk]).get(session_pk, ()),
        usage=_usage(connection, session_pk),
        handoff=_handoff(connection, session_pk),
        messages=connection.execute(count).scalar_one(),
    )
    found = select(messages).where(_m.session_pk == session_pk).order_by(_m.position)
    for message in connection.execute(found.execution_options(yield_per=_FETCH)):
        yield message_line(message)


def _prompt_of(connection: Connection, session_pk: int) -> dict[str, Any] | None:
    p = system_prompts.c
    query = select(p.sha256, p.text).join(sessions, _c.system_prompt_pk == p.pk).where(_c.pk == session_pk)
    row = connection.execute(query).fetchone()
    return None if row is None else {"type": "system_prompt", "sha256": row.sha256.hex(), "text": row.text}


def _usage(connection: Connection, session_pk: int) -> list[Line]:
    query = select(usage).where(usage.c.session_pk == session_pk).order_by(*(usage.c[name] for name in USAGE_KEYS))
    return [usage_line(row) for row in connection.execute(query)]


def _handoff(connection: Connection, session_pk: int) -> Line | None:
    row = connection.execute(select(handoffs).where(handoffs.c.session_pk == session_pk)).fetchone()
    return None if row is None else handoff_line(row)


def _routes(connection: Connection) -> Iterator[Line]:
    query = select(routes, _c.id.label("session_id")).outerjoin(sessions, _c.pk == routes.c.session_pk)
    for row in connection.execute(query.order_by(routes.c.scope, routes.c.key)):
        yield route_line(row)
