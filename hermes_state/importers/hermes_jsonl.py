"""Import of what `hermes sessions export` writes: a session a line, with its active messages.

Such a file tells less than a state.db (no archived messages, no ledger) and may be old, so it only ever adds: sessions
that are not here, and messages that a session here does not have yet.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from hermes_state.codec import from_json, to_json
from hermes_state.errors import InvalidValue, LeaseHeld
from hermes_state.importers import ledger, moments
from hermes_state.importers.adoption import match, own_messages
from hermes_state.importers.batch import Batch
from hermes_state.importers.cleaning import Cleaning
from hermes_state.importers.digests import digest, fingerprint, short
from hermes_state.importers.following import KEPT_TITLE, kept_title, store_handoff
from hermes_state.importers.hermes_lineage import marked
from hermes_state.importers.hermes_messages import MessageShape, Thread
from hermes_state.importers.hermes_sessions import session_from_row
from hermes_state.importers.hermes_usage import add_usage, usage_of
from hermes_state.importers.kin import kin_of, relate
from hermes_state.importers.report import Tally
from hermes_state.records import Relation
from hermes_state.schema import sessions
from hermes_state.transfer.placing import UNRESOLVED, link_waiting, unresolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hermes_state.importers.adoption import Match
    from hermes_state.importers.batch import Step
    from hermes_state.importers.hermes_messages import ForeignMessage
    from hermes_state.importers.hermes_sessions import ForeignSession
    from hermes_state.importers.report import ImportReport
    from hermes_state.store import SessionDB
    from hermes_state.transfer.progress import Progress

KIND = "hermes-jsonl"
# Sessions after which the lease is prolonged; a session takes milliseconds, and the lease lives for minutes.
_HEARTBEAT_EVERY = 200
# Columns that say nothing when they are 0; a state.db tells that by itself.
_DEFAULTS = dict.fromkeys(
    (
        "expiry_finalized", "compression_fallback_streak", "compression_ineffective_count",
        "compression_overload_streak", "git_metadata_generation", "pinned", "hidden", "_compressed_summary",
    ),
    0,
)  # fmt: skip


def is_hermes_session(found: dict[str, Any]) -> bool:
    """Whether an object is a line of such an export."""
    return isinstance(found.get("id"), str) and isinstance(found.get("messages", found.get("segments")), list)


def import_hermes_jsonl(db: SessionDB, lines: Iterable[bytes], *, name: str, progress: Progress) -> ImportReport:
    """Bring in the lines of an export of Hermes; see `file.import_file`."""
    started = time.monotonic()
    tally = Tally(name, KIND)
    owner = f"import-{os.getpid()}-{secrets.token_hex(4)}"
    with db.leases.hold("import", owner):
        _JsonlImport(db, tally, partial(db.leases.heartbeat, "import", owner), progress).run(lines)
    return tally.report(time.monotonic() - started)


class _JsonlImport:
    """One file on its way in."""

    def __init__(self, db: SessionDB, tally: Tally, heartbeat: Callable[[], bool], progress: Progress) -> None:
        self._engine = db.engine
        self._cleaning = Cleaning(db)
        self._tally = tally
        self._heartbeat = heartbeat
        self._progress = progress
        with db.engine.write() as connection:
            source_pk = ledger.source_pk(connection, KIND, "")
        self._batch = Batch(db.engine, source_pk, before_commit=lambda: None, counts=tally.counts, pks={})

    def run(self, lines: Iterable[bytes]) -> None:
        """Read to the end; a line that can't be read is reported and passed over."""
        for number, raw in enumerate(lines, 1):
            for found in self._sessions_in(raw, number):
                self._tally.counts["sessions_found"] += 1
                try:
                    self._session(found)
                except InvalidValue as error:
                    self._tally.fail(f"line {number}", f"session {found.get('id')!r} can't be stored: {error.message}")
                found_so_far = self._tally.counts["sessions_found"]
                if found_so_far % _HEARTBEAT_EVERY == 0 and not self._heartbeat():
                    raise LeaseHeld("import", "another import, which took this one for dead")
                self._progress(found_so_far, 0)
        self._batch.flush()
        with self._engine.write() as connection:
            link_waiting(connection, relate)

    def _sessions_in(self, raw: bytes, number: int) -> Iterator[dict[str, Any]]:
        """The session of a line; the segments where it is a whole conversation."""
        if not raw.strip():
            return
        try:
            found = json.loads(raw.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError) as error:
            self._tally.fail(f"line {number}", f"it is not JSON ({error}); repair it and import the file again")
            return
        segments = found.get("segments") if isinstance(found, dict) else None
        for part in segments if isinstance(segments, list) else [found]:
            if isinstance(part, dict) and is_hermes_session(part):
                yield part
            else:
                self._tally.fail(f"line {number}", "it is not a session with `id` and `messages`")

    def _session(self, found: dict[str, Any]) -> None:
        rows = [row for row in found["messages"] if isinstance(row, dict)]
        if len(rows) < len(found["messages"]):
            self._tally.warn("bad_message", found["id"], "messages that are no objects were left out")
        first = moments.instant(rows[0].get("timestamp")) if rows else None
        session = session_from_row(found, profile=None, fallback_us=first or 0, defaults=_DEFAULTS, tally=self._tally)
        session = self._cleaning.session(session)
        said = self._messages(session, rows)
        with self._engine.read() as connection:
            known = ledger.known_elsewhere(connection, 0, [session.foreign_id]).get(session.foreign_id)
            here = ledger.sessions_here(connection, [session.id]).get(session.id)
        pending = self._batch.pk_of(session.foreign_id)
        if pending is None and here is None and known is not None and known.session_pk is None:
            self._tally.counts["sessions_deleted_here"] += 1
            return
        candidate = pending or (known and known.session_pk) or here
        if candidate is None:
            self._create(session, session.id, said)
        else:
            self._extend(session, candidate, said)

    def _messages(self, session: ForeignSession, rows: Sequence[dict[str, Any]]) -> list[ForeignMessage]:
        shape = MessageShape((), _DEFAULTS, self._tally, self._cleaning.fields)
        thread = Thread(session.values["started_at"])
        said = []
        for n, row in enumerate(rows):
            given = {name: value for name, value in row.items() if value is not None}
            number = given.get("id")
            given["id"] = number if isinstance(number, int) else n
            said.append(shape.read_mapping(given | {"session_id": session.foreign_id}, thread))
        return said

    def _create(self, session: ForeignSession, session_id: str, said: Sequence[ForeignMessage]) -> None:
        size = sum(message.size for message in said)
        self._batch.add(partial(self._store, session, session_id, said), rows=len(said), size=size)

    def _store(self, session: ForeignSession, session_id: str, said: Sequence[ForeignMessage], step: Step) -> None:
        values = dict(session.values)
        relation = marked(kin_of(session))
        if session.parent_id:
            extras = from_json(values["extras"]) or {}
            values["extras"] = to_json(extras | {UNRESOLVED: unresolved(session.parent_id, None)}, "extras")
        pk, title = step.sink.create(
            session_id,
            values,
            title=session.title,
            system_prompt=session.system_prompt,
            parent_pk=None,
            relation=relation if relation == Relation.DELEGATE else None,
        )
        if title != session.title:
            what = f"the title {session.title!r} is taken; it is {title!r} here"
            self._tally.warn("title_taken", session.foreign_id, what)
        self._batch.made(session.foreign_id, pk)
        step.sink.add(pk, said, remember=False)
        parts = session.parts | {KEPT_TITLE: kept_title(title)}
        step.sink.note_session(session.foreign_id, pk, fingerprint(parts))
        step.counts["sessions_added"] += 1
        step.counts["messages_added"] += len(said)
        step.counts["usage_rows"] += add_usage(step.sink.connection, pk, usage_of(session, ()))
        step.counts["handoffs"] += session.handoff is not None and store_handoff(step.sink, pk, session)

    def _extend(self, session: ForeignSession, session_pk: int, said: Sequence[ForeignMessage]) -> None:
        """Add what a session here lacks; when it is another session, bring this one in beside it."""
        self._batch.flush()
        with self._engine.read() as connection:
            found = match(own_messages(connection, session_pk), said)
            if not found.is_same_session:
                other_id = f"{session.id}~{short(digest([message.essence for message in said[:3]]))}"
                other = connection.execute(select(sessions.c.pk).where(sessions.c.id == other_id)).scalar()
        if found.is_same_session:
            self._add(session_pk, said, found)
        elif other is None:
            what = f"another session has this id here; it is {other_id} here"
            self._tally.warn("id_taken", session.foreign_id, what)
            self._create(session, other_id, said)
        elif other != session_pk:
            self._extend(session, int(other), said)
        else:
            self._tally.fail(session.foreign_id, f"it differs from {other_id}, which came from another file, too")

    def _add(self, session_pk: int, said: Sequence[ForeignMessage], found: Match) -> None:
        if len(found.same) == len(said):
            self._tally.counts["sessions_unchanged"] += 1
        else:
            self._batch.add(partial(self._append, session_pk, said, found), rows=len(said) - len(found.same))

    def _append(self, session_pk: int, said: Sequence[ForeignMessage], found: Match, step: Step) -> None:
        new = [n for n in range(len(said)) if n not in found.same]
        ids = dict(zip(new, step.sink.add(session_pk, [said[n] for n in new], remember=False), strict=True))
        if not found.is_in_order:
            step.sink.order(session_pk, [message_id for _, message_id in sorted((found.same | ids).items())])
        step.counts["sessions_changed"] += 1
        step.counts["messages_added"] += len(new)
