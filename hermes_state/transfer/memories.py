"""Curated memories to JSON Lines and back: every entry with its tags and its history, as in `docs/pack-format.md`.

Entries are the same when their target and content are: two homes that noted the same thing have noted one thing. So
what comes in is what is not here in these words, and nothing here changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from hermes_state.codec import clean, from_json, to_json
from hermes_state.errors import FormatError, InvalidValue
from hermes_state.schema import memories, memory_events, memory_tags
from hermes_state.transfer.lines import instant, moment, to_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from hermes_state.redact import Redactor
    from hermes_state.transfer.lines import Line

FORMAT = "hermes-state-memories"
VERSION = 1
_c, _t, _e = memories.c, memory_tags.c, memory_events.c
_TEXTS = ("content", "before", "after")


@dataclass(kw_only=True, slots=True)
class MemoryReport:
    """What bringing in memories did.

    Attributes:
        added: entries that are new here.
        equal: those that were here in the same words.
        differences: ids that are here with other words; they stay as they are here.
        problems: lines that could not be read: number and what is wrong.
    """

    added: int = 0
    equal: int = 0
    differences: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)


def dump_memories(engine: Engine, out: IO[str], *, redactor: Redactor | None = None) -> int:
    """Write every entry, in order of time; returns how many there are.

    Args:
        redactor: takes secrets out of the texts.
    """
    count = 0
    with engine.read() as connection:
        out.write(to_line(header()))
        for line in memory_lines(connection):
            out.write(to_line(_redacted(line, redactor)))
            count += 1
    out.write(to_line({"type": "end", "memories": count}))
    return count


def header() -> Line:
    """The first line."""
    return {"type": "header", "format": FORMAT, "version": VERSION}


def memory_lines(connection: Connection) -> Iterator[Line]:
    """The line of every entry, in order of time."""
    rows = connection.execute(select(memories).order_by(_c.created_at, _c.id)).fetchall()
    names = {row.pk: row.id for row in rows}
    for row in rows:
        yield _line(connection, row, names)


def _line(connection: Connection, row: Any, names: dict[int, str]) -> Line:
    values = {
        "type": "memory",
        "id": row.id,
        "target": row.target,
        "status": row.status,
        "replaced_by": names.get(row.replaced_by_pk),
        "created_at": moment(row.created_at),
        "changed_at": moment(row.changed_at),
        "content": row.content,
        "tags": sorted(connection.execute(select(_t.tag).where(_t.memory_pk == row.pk)).scalars()),
        "events": [_event_line(event) for event in _events(connection, row.pk)],
    }
    return {name: value for name, value in values.items() if value not in (None, [])}


def _events(connection: Connection, memory_pk: int) -> list[Any]:
    query = select(memory_events).where(_e.memory_pk == memory_pk).order_by(_e.at, _e.pk)
    return list(connection.execute(query).fetchall())


def _event_line(event: Any) -> Line:
    values = {"batch": event.batch, "action": event.action, "at": moment(event.at), "before": event.before}
    values |= {"after": event.after, "origin": from_json(event.origin)}
    return {name: value for name, value in values.items() if value is not None}


def _redacted(line: Line, redactor: Redactor | None) -> Line:
    if redactor is None:
        return line
    events = [
        {n: redactor.text(v) if n in _TEXTS else redactor.value(v) if n == "origin" else v for n, v in event.items()}
        for event in line.get("events", ())
    ]
    return line | {"content": redactor.text(line["content"])} | ({"events": events} if events else {})


# --- back ---------------------------------------------------------------------------------------------------------


def merge_memories(engine: Engine, lines: Iterable[bytes]) -> MemoryReport:
    """Bring in the entries that are not here, in one transaction.

    Raises:
        FormatError: these are not such lines, or of a newer version; nothing was changed.
    """
    report = MemoryReport()
    parsed = _parsed(lines, report)
    with engine.write() as connection:
        here = {(row.target, row.content): row.pk for row in connection.execute(select(memories))}
        ids = set(connection.execute(select(_c.id)).scalars())
        placed: dict[str, int] = {}
        waiting: dict[int, str] = {}
        for number, line in parsed:
            try:
                _take(connection, line, here, ids, placed, waiting, report)
            except InvalidValue as error:
                report.problems.append((number, error.message))
        for pk, name in waiting.items():
            if name in placed:
                connection.execute(update(memories).where(_c.pk == pk).values(replaced_by_pk=placed[name]))
    return report


def _take(
    connection: Connection,
    line: Line,
    here: dict[tuple[str, str], int],
    ids: set[str],
    placed: dict[str, int],
    waiting: dict[int, str],
    report: MemoryReport,
) -> None:
    values = _values(line)
    known = here.get((values["target"], values["content"]))
    if known is not None:
        placed[values["id"]] = known
        report.equal += 1
        return
    if values["id"] in ids:
        report.differences.append((values["id"], "here it says something else"))
        return
    pk = int(connection.execute(insert(memories).values(values).returning(_c.pk)).scalar_one())
    here[values["target"], values["content"]] = placed[values["id"]] = pk
    ids.add(values["id"])
    if isinstance(line.get("replaced_by"), str):
        waiting[pk] = line["replaced_by"]
    tags, events = _tags(line), _event_rows(line)
    if tags:
        connection.execute(insert(memory_tags), [{"memory_pk": pk, "tag": tag} for tag in tags])
    if events:
        connection.execute(insert(memory_events), [row | {"memory_pk": pk} for row in events])
    report.added += 1


def _parsed(lines: Iterable[bytes], report: MemoryReport) -> list[tuple[int, Line]]:
    numbered = enumerate(lines, 1)
    header = next(_objects(numbered, MemoryReport()), (0, {}))[1]
    version = header.get("version")
    if header.get("format") != FORMAT or not isinstance(version, int) or version > VERSION:
        raise FormatError(
            f"memories of the format {header.get('format')!r}, version {version!r}; {FORMAT!r} up to {VERSION} is read",
            hint="upgrade hermes-state, or write them anew with `hermes-state pack`",
        )
    found: list[tuple[int, Line]] = []
    end: Line | None = None
    for number, line in _objects(numbered, report):
        if line.get("type") == "memory":
            found.append((number, line))
        elif line.get("type") == "end":
            end = line
        else:
            report.problems.append((number, f"a line of type {line.get('type')!r} is not known here"))
    if end is None or end.get("memories") != len(found):
        what = "the closing line is missing" if end is None else f"there should be {end.get('memories')!r} memories"
        report.problems.append((0, f"{what}, and {len(found)} were found: lines were lost or added"))
    return found


def _objects(numbered: Iterator[tuple[int, bytes]], report: MemoryReport) -> Iterator[tuple[int, Line]]:
    for number, raw in numbered:
        if not raw.strip():
            continue
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError) as error:
            report.problems.append((number, f"the line is not JSON: {error}"))
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            report.problems.append((number, "the line is no JSON object"))


def _values(line: Line) -> dict[str, Any]:
    values: dict[str, Any] = {name: _text(line, name) for name in ("id", "target", "status", "content")}
    return values | {name: instant(line.get(name)) for name in ("created_at", "changed_at")}


def _text(line: Line, name: str) -> str:
    value = line.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidValue(f"{name} is {value!r}, not a text")
    return clean(value) or ""


def _tags(line: Line) -> list[str]:
    tags = line.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag for tag in tags):
        raise InvalidValue(f"tags are {tags!r}, not a list of texts")
    return sorted({clean(tag) or "" for tag in tags} - {""})


def _event_rows(line: Line) -> list[dict[str, Any]]:
    events = line.get("events", [])
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise InvalidValue("events are no list of objects")
    return [
        {
            "batch": _text(event, "batch"),
            "action": _text(event, "action"),
            "at": instant(event.get("at")),
            "before": _optional(event, "before"),
            "after": _optional(event, "after"),
            "origin": None if event.get("origin") is None else to_json(event["origin"], "origin"),
        }
        for event in events
    ]


def _optional(line: Line, name: str) -> str | None:
    value = line.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidValue(f"{name} is {value!r}, not a text")
    return clean(value)
