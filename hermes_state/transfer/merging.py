"""Merging an export into a store that has sessions of its own: what either side has is here afterwards.

A session that is not here comes in. One that went on elsewhere goes on here. One that went on in both, each in its own
way, comes in beside ours as `ID~1a2b3c4d5e6f`, with what followed from it. What is here is never taken away, so merging
again adds nothing, and two stores merged into each other have the same conversations.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from sqlalchemy import delete, func, insert, select, update

from hermes_state import titles
from hermes_state.errors import InvalidValue
from hermes_state.schema import messages, session_tags, sessions, usage
from hermes_state.session_rows import tags_of
from hermes_state.transfer import kinship, records
from hermes_state.transfer.bulk import Bulk
from hermes_state.transfer.kinship import Standing
from hermes_state.transfer.lines import to_line
from hermes_state.transfer.load import load
from hermes_state.transfer.progress import Progress, no_progress
from hermes_state.transfer.reader import BadLine, Reader
from hermes_state.transfer.report import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from hermes_state.codec import Columns
    from hermes_state.engine import Engine
    from hermes_state.transfer.kinship import Kin
    from hermes_state.transfer.lines import Line

_c, _m = sessions.c, messages.c
# Messages that wait to be written together.
_PAGE = 500


@dataclass(kw_only=True, slots=True)
class MergeReport:
    """What a merge of sessions did.

    Attributes:
        sessions_added, messages_added: new here; messages of sessions that went on are among them.
        extended: ids of sessions that were here and went on elsewhere.
        beside: sessions that went another way here: id, and the id they came in under.
        equal: sessions that were here already, with everything the export has of them.
        differences: sessions whose title, tags or the like differ; they stay as they are here.
        retitled: sessions whose title another one has here: id and the title they got.
        problems: sessions that could not be read; nothing of them came in.
    """

    sessions_added: int = 0
    messages_added: int = 0
    extended: list[str] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)
    equal: int = 0
    differences: list[tuple[str, str]] = field(default_factory=list)
    retitled: list[tuple[str, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class _Plan:
    """What is to be done with each session line of the file, by its number."""

    dropped: dict[int, int] = field(default_factory=dict)  # first line of a session to the first behind it
    newer: dict[int, Kin] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)  # id in the file to id here
    lines: set[int] = field(default_factory=set)  # of all sessions

    def text(self, number: int, raw: bytes) -> bytes:
        """A line as it is to be loaded."""
        if number not in self.lines or not self.renamed:
            return raw
        line: Line = json.loads(raw)
        for name in ("id", "parent_id"):
            if line.get(name) in self.renamed:
                line[name] = self.renamed[line[name]]
        return to_line(line).encode()


def merge(engine: Engine, file: BinaryIO, *, progress: Progress = no_progress) -> MergeReport:
    """Merge an export, session by session.

    Args:
        file: the lines; read several times.

    Raises:
        FormatError: this is not such an export, or one of a newer version; nothing was changed.
    """
    report, plan = MergeReport(), _Plan()
    with engine.read() as connection:
        _look(connection, _from_start(file), plan, report)
    loaded = load(engine, _chosen(_from_start(file), plan), progress=progress)
    report.sessions_added, report.messages_added = loaded.sessions_added, loaded.messages_added
    report.equal += loaded.sessions_equal
    report.retitled += loaded.retitled
    report.problems += (*loaded.problems, *loaded.conflicts)
    _go_on(engine, _from_start(file), plan, report)
    return report


def _from_start(file: BinaryIO) -> BinaryIO:
    file.seek(0)
    return file


def _sessions(reader: Reader) -> Iterator[tuple[int, Line]]:
    """Every session line with its number; whoever takes it reads its messages. `load` reports what can't be read."""
    while True:
        try:
            line = reader.take()
        except BadLine:
            continue
        if line is None:
            return
        if line["type"] == "session" and isinstance(line.get("id"), str):
            yield reader.number, line


def _look(connection: Connection, file: BinaryIO, plan: _Plan, report: MergeReport) -> None:
    reader = Reader(file)
    for number, line in _sessions(reader):
        plan.lines.add(number)
        try:
            theirs = kinship.said(line, reader.messages())
            behind = reader.number if reader.peek() is not None else reader.number + 1
        except BadLine:  # `load` says so, and leaves the session out
            continue
        kin = kinship.find(connection, line["id"], theirs)
        if kin.standing is Standing.NEW:
            continue
        if kin.standing is Standing.PARTED:
            plan.renamed[line["id"]] = kinship.beside(line["id"], theirs)
            report.beside.append((line["id"], plan.renamed[line["id"]]))
            continue
        plan.dropped[number] = behind
        if kin.id != line["id"]:
            plan.renamed[line["id"]] = kin.id
        if kin.standing is Standing.NEWER:
            plan.newer[number] = kin
        elif kin.standing is Standing.CHANGED:
            report.differences.append((kin.id, f"here it has another {kin.what}"))
        else:
            report.equal += 1


def _chosen(file: BinaryIO, plan: _Plan) -> Iterator[bytes]:
    """The lines to load; empty ones stand for those that are not, so that the numbers stay right."""
    until = 0
    for number, raw in enumerate(file, 1):
        until = plan.dropped.get(number, until)
        if number < until:
            yield b"\n"
        elif raw.startswith(b'{"type":"end"'):
            yield _end(raw, len(plan.dropped))
        else:
            yield plan.text(number, raw)


def _end(raw: bytes, dropped: int) -> bytes:
    """The closing line, with the sessions that are left."""
    try:
        line = json.loads(raw)
        line["sessions"] -= dropped
    except (ValueError, TypeError, KeyError):  # `load` says what is wrong with it
        return raw
    return to_line(line).encode()


# --- sessions that went on ----------------------------------------------------------------------------------------


def _go_on(engine: Engine, file: BinaryIO, plan: _Plan, report: MergeReport) -> None:
    if not plan.newer:
        return
    reader = Reader(file)
    for number, line in _sessions(reader):
        kin = plan.newer.get(number)
        if kin is None:
            continue
        try:
            with engine.write() as connection:
                added = _extend(connection, kin, line, reader)
        except (BadLine, InvalidValue) as error:
            what = error.what if isinstance(error, BadLine) else error.message
            hint = error.hint or "nothing of it was added; export it again"
            report.problems.append(Problem(line=number, session_id=line["id"], what=what, hint=hint))
            continue
        report.extended.append(kin.id)
        report.messages_added += added


def _extend(connection: Connection, kin: Kin, line: Line, reader: Reader) -> int:
    """Add what was said later, and take over how things stand with what was said before."""
    pk, title, count = _here(connection, kin.id)
    if count != kin.known:
        raise InvalidValue(f"session {kin.id} went on here while it was merged", hint="merge again")
    values = records.session_values(line)
    kept = {"id", "title", "source", "started_at"}
    connection.execute(update(sessions).where(_c.pk == pk).values({n: v for n, v in values.items() if n not in kept}))
    if title is None and values["title"] is not None:
        _name(connection, pk, values["title"])
    _belongings(connection, pk, line)
    bulk = Bulk(connection)
    added = 0
    page: list[Columns] = []
    for place, message in enumerate(reader.messages()):
        columns = records.message_columns(message)
        if place < count:
            _restate(connection, pk, columns)
            continue
        page.append(columns)
        added += 1
        if len(page) >= _PAGE:
            bulk.add(pk, page)
            bulk.write()
            page = []
    bulk.add(pk, page)
    bulk.recount_later(pk)
    bulk.retip_later(connection.execute(select(_c.conversation_pk).where(_c.pk == pk)).scalar_one())
    bulk.finish()
    return added


def _here(connection: Connection, session_id: str) -> tuple[int, str | None, int]:
    row = connection.execute(select(_c.pk, _c.title).where(_c.id == session_id)).one()
    count = select(func.count()).select_from(messages).where(_m.session_pk == row.pk)
    return row.pk, row.title, connection.execute(count).scalar_one()


def _name(connection: Connection, pk: int, title: str) -> None:
    connection.execute(update(sessions).where(_c.pk == pk).values(title=titles.next_title(connection, title)))


def _restate(connection: Connection, pk: int, columns: Columns) -> None:
    """A message that is here was compacted or taken back since, or not any more."""
    values = {"state": int(columns.get("state", 0)), "rewind_number": columns.get("rewind_number")}
    where = (_m.session_pk == pk) & (_m.position == columns["position"])
    changed = (_m.state != values["state"]) | _m.rewind_number.is_distinct_from(values["rewind_number"])
    connection.execute(update(messages).where(where & changed).values(values))


def _belongings(connection: Connection, pk: int, line: Line) -> None:
    """Tags of both; the usage of the longer one, which counts all that the shorter one counts."""
    known = {*tags_of(connection, [pk]).get(pk, ())}
    tags = [{"session_pk": pk, "tag": tag} for tag in records.tags_in(line) if tag not in known]
    if tags:
        connection.execute(insert(session_tags), tags)
    used = [row | {"session_pk": pk} for row in records.usage_rows(line)]
    if used:
        connection.execute(delete(usage).where(usage.c.session_pk == pk))
        connection.execute(insert(usage), used)
