"""The table `memories`: every entry ever written, with its tags and history. The files say what is active; it follows.

A row is an entry of one target in these very words, so an entry that comes back is the same row again. What replaced it
is named by `replaced_by_pk`. Every change is an event; what the files hold that no event explains was an external edit.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from hermes_state import memory_index
from hermes_state.clock import now_us
from hermes_state.schema import memories, memory_events, memory_proposals, memory_tags
from memory.builtin.changes import EXTERNAL_EDIT, Change
from memory.builtin.entries import Entry, memory_id
from memory.builtin.planning import change

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from memory.builtin.changes import Origin

# Two ids in a hundred million million collide; rows for the later ones get `-2`, `-3`, … behind theirs.
_COLLISIONS = 4
# Likeness from which a new entry is taken for the edited form of one that is gone, from 0 to 1.
_EDITED = 0.6
# Entries that are compared for that, on each side; more are another file.
_MOST_COMPARED = 40
# Characters of each that are compared.
_COMPARED_CHARS = 500
_GONE = {"replace": "replaced", "merge": "replaced", "remove": "removed", "archive": "archived"}

_c, _t, _e = memories.c, memory_tags.c, memory_events.c


def new_batch() -> str:
    """A name for changes that are made, and undone, together."""
    return secrets.token_hex(6)


def record(connection: Connection, changes: Iterable[Change], *, undoes: str | None = None) -> None:
    """Write down changes, inside a write transaction.

    Args:
        undoes: the batch that they take back.
    """
    memory_index.catch_up(connection)
    for done in changes:
        _record(connection, done, undoes)


def _record(connection: Connection, done: Change, undoes: str | None) -> None:
    before = None if done.before is None else _row(connection, done.target, done.before)
    after = None if done.after is None else _row(connection, done.target, done.after)
    if before is not None:
        gone = {"status": _GONE.get(done.action, "removed"), "replaced_by_pk": after, "changed_at": now_us()}
        connection.execute(update(memories).where(_c.pk == before).values(gone))
    if after is not None:
        active = {"status": "active", "replaced_by_pk": None, "changed_at": now_us()}
        connection.execute(update(memories).where(_c.pk == after).values(active))
        tags = done.tags
        if tags is None and before is not None:
            tags = (*_tags(connection, before), *(_tags(connection, after) if done.action == "merge" else ()))
        if tags is not None:
            set_tags(connection, after, tags)
    pk = before if after is None else after
    values = {
        "memory_pk": pk,
        "batch": done.batch,
        "action": done.action,
        "at": now_us(),
        "position": done.position,
        "undoes": undoes,
        "before": None if done.before is None else done.before.text,
        "after": None if done.after is None else done.after.text,
        "origin": json.dumps(dict(done.origin), ensure_ascii=True, default=str) if done.origin else None,
    }
    connection.execute(insert(memory_events).values(values))


def reconcile(connection: Connection, target: str, entries: Sequence[Entry]) -> list[Change]:
    """Bring the table in line with a file, inside a write transaction; returns what others had changed."""
    found = external_changes(connection, target, entries)
    if found:
        record(connection, found)
    return found


def external_changes(connection: Connection, target: str, entries: Sequence[Entry]) -> list[Change]:
    """What a file holds that the table does not know as active, and the other way round. Reads only."""
    query = select(_c.content, _c.raw).where(_c.target == target, _c.status == "active").order_by(_c.pk)
    known = [_entry(row.content, row.raw) for row in connection.execute(query)]
    here = set(entries)
    gone = [entry for entry in known if entry not in here]
    new = [entry for entry in entries if entry not in set(known)]
    if not gone and not new:
        return []
    batch, origin = new_batch(), MappingProxyType({"write_origin": EXTERNAL_EDIT})
    places = {entry: place for place, entry in enumerate(entries)}
    edits = _edited(gone, new)
    changes = [change("replace", target, old, now, position=places[now]) for old, now in edits.items()]
    changes += [change("remove", target, old, None, position=0) for old in gone if old not in edits]
    changes += [change("add", target, None, now, position=places[now]) for now in new if now not in edits.values()]
    return [replace(each, batch=batch, origin=origin) for each in changes]


def _edited(gone: Sequence[Entry], new: Sequence[Entry]) -> dict[Entry, Entry]:
    """Which of the entries that are gone became which of the new ones."""
    if len(gone) > _MOST_COMPARED or len(new) > _MOST_COMPARED:
        return {}
    pairs = ((_likeness(old.text, now.text), old, now) for old in gone for now in new)
    edits: dict[Entry, Entry] = {}
    for score, old, now in sorted(pairs, key=lambda each: -each[0]):
        if score >= _EDITED and old not in edits and now not in edits.values():
            edits[old] = now
    return edits


def _likeness(one: str, other: str) -> float:
    """How much two texts share, from 0 to 1; below `_EDITED` it is only said that it is."""
    matcher = SequenceMatcher(None, one[:_COMPARED_CHARS], other[:_COMPARED_CHARS])
    if matcher.real_quick_ratio() < _EDITED or matcher.quick_ratio() < _EDITED:
        return 0.0
    return matcher.ratio()


def set_tags(connection: Connection, pk: int, tags: Iterable[str]) -> None:
    """Give an entry these tags instead of those it has, inside a write transaction."""
    connection.execute(delete(memory_tags).where(_t.memory_pk == pk))
    if rows := [{"memory_pk": pk, "tag": tag} for tag in dict.fromkeys(tags)]:
        connection.execute(insert(memory_tags), rows)


def forget(connection: Connection, pks: Sequence[int]) -> None:
    """Delete entries with their history, inside a write transaction. Their bytes go with the next purge."""
    memory_index.forget(connection, pks)
    connection.execute(update(memories).where(_c.replaced_by_pk.in_(pks)).values(replaced_by_pk=None))
    texts = connection.execute(select(_c.content).where(_c.pk.in_(pks))).scalars().all()
    connection.execute(delete(memory_events).where(_e.memory_pk.in_(pks)))
    # The history of what came after it quotes it.
    connection.execute(update(memory_events).where(_e.before.in_(texts)).values(before=None))
    connection.execute(delete(memories).where(_c.pk.in_(pks)))
    decided = select(memory_proposals.c.id, memory_proposals.c.operations).where(
        memory_proposals.c.decided_at.is_not(None)
    )
    quoting = [
        row.id for row in connection.execute(decided) if any(json.dumps(t)[1:-1] in row.operations for t in texts)
    ]
    connection.execute(delete(memory_proposals).where(memory_proposals.c.id.in_(quoting)))


# --- rows -------------------------------------------------------------------------------------------------------------


def _row(connection: Connection, target: str, entry: Entry) -> int:
    """The row of an entry; made when there is none."""
    name = memory_id(target, entry)
    names = [name, *(f"{name}-{number}" for number in range(2, _COLLISIONS + 2))]
    rows = connection.execute(select(_c.pk, _c.id, _c.target, _c.content, _c.raw).where(_c.id.in_(names))).fetchall()
    for row in rows:
        if row.target == target and _entry(row.content, row.raw) == entry:
            return int(row.pk)
    taken = {row.id for row in rows}
    now = now_us()
    values = {
        "id": next(each for each in names if each not in taken),
        "target": target,
        "status": "active",
        "created_at": now,
        "changed_at": now,
        "content": entry.text,
        "raw": entry.data if entry.is_odd else None,
    }
    pk = int(connection.execute(insert(memories).values(values).returning(_c.pk)).scalar_one())
    memory_index.add(connection, pk, entry.text)
    return pk


def _entry(content: str, raw: bytes | None) -> Entry:
    return Entry(content, content) if raw is None else Entry.of(raw.decode("utf-8", "surrogateescape"))


def _tags(connection: Connection, pk: int) -> tuple[str, ...]:
    return tuple(connection.execute(select(_t.tag).where(_t.memory_pk == pk).order_by(_t.tag)).scalars())


# --- what to undo -----------------------------------------------------------------------------------------------------


def undone(connection: Connection) -> set[str]:
    """The batches that are taken back now: an undo that was itself undone does not count."""
    query = select(_e.batch, _e.undoes).where(_e.undoes.is_not(None)).order_by(_e.pk.desc())
    taken: set[str] = set()
    for batch, undoes in connection.execute(query):
        if batch not in taken:  # newest first, so what undid it is known
            taken.add(undoes)
    return taken


def last_batch(connection: Connection) -> str | None:
    """The newest batch that is not taken back, is no undo itself, and was made through us."""
    taken = undone(connection)
    query = select(_e.batch, _e.origin).where(_e.undoes.is_(None)).order_by(_e.pk.desc())
    for batch, origin in connection.execute(query):
        if batch not in taken and origin_of(origin).get("write_origin") != EXTERNAL_EDIT:
            return str(batch)
    return None


def changes_of(connection: Connection, batch: str) -> list[Change]:
    """The changes of a batch, in order; empty when there is no such batch."""
    query = (
        select(memory_events, _c.target).join(memories, _c.pk == _e.memory_pk).where(_e.batch == batch).order_by(_e.pk)
    )
    return [
        replace(
            change(
                row.action,
                row.target,
                _as_stored(connection, row.target, row.before),
                _as_stored(connection, row.target, row.after),
                position=row.position or 0,
            ),
            batch=batch,
            origin=origin_of(row.origin),
        )
        for row in connection.execute(query).fetchall()
    ]


def _as_stored(connection: Connection, target: str, text: str | None) -> Entry | None:
    """The entry an event tells of, with its odd bytes."""
    if text is None:
        return None
    raw = None
    if "\\x" in text:
        query = select(_c.raw).where(_c.target == target, _c.content == text, _c.raw.is_not(None))
        raw = connection.execute(query).scalar()
    return _entry(text, raw)


def origin_of(stored: str | None) -> Origin:
    """The provenance of an event; empty when it tells none."""
    value: Any = json.loads(stored) if stored else {}
    return MappingProxyType(value if isinstance(value, dict) else {})
