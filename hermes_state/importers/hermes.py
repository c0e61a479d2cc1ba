"""Import of a Hermes state.db."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hermes_state.errors import LeaseHeld, StoreUnavailable
from hermes_state.importers import foreign, ledger, moments
from hermes_state.importers.batch import Batch
from hermes_state.importers.cleaning import Cleaning
from hermes_state.importers.foreign import ForeignChanged, ForeignDatabase
from hermes_state.importers.hermes_gateway import store_routes, store_settings
from hermes_state.importers.hermes_lineage import Kin, Order, marked, parents_first, relation, worker
from hermes_state.importers.hermes_messages import MessageShape
from hermes_state.importers.hermes_reader import HermesReader
from hermes_state.importers.hermes_sessions import session_from_row
from hermes_state.importers.hermes_sync import HermesSync, Plan, parts_of_session
from hermes_state.importers.home import KIND, Source, source
from hermes_state.importers.kin import kin_of, relate
from hermes_state.importers.report import Tally
from hermes_state.records import Relation
from hermes_state.transfer.placing import link_waiting
from hermes_state.transfer.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hermes_state.importers.hermes_reader import Row
    from hermes_state.importers.hermes_sessions import ForeignSession
    from hermes_state.importers.report import ImportReport
    from hermes_state.store import SessionDB

LEASE = "import"
# Session rows that are read at a time; each may hold a system prompt of some 50 KB.
_CHUNK = 100


def import_hermes(
    db: SessionDB,
    path: str | os.PathLike[str] | None = None,
    *,
    profile: str | None = None,
    include_deleted: bool = False,
    progress: Progress = no_progress,
) -> ImportReport:
    """Bring in everything a Hermes state.db holds; a second run brings in what changed since.

    The foreign home is only read, also while the agent runs. Killed at any point, the next run goes on.

    What was deleted there stays here: a whole session as it is, a message that is no longer in its session as taken
    back (`messages.undo_rewind` brings it back), one that was compacted before as compacted. What was deleted here is
    not brought back.

    Args:
        path: a home or a state.db; None: `$HERMES_HOME`, else `~/.hermes`.
        profile: of the home's profiles, this one's.
        include_deleted: also sessions that were imported before and deleted here since.

    Raises:
        StoreUnavailable: there is no state.db, or it can't be read.
        FormatError: it is a database, but not a Hermes state.db.
        StoreDamaged: it is not sound; what came in before the damage stays.
        LeaseHeld: another import into this store is running.
    """
    chosen = source(path, profile)
    started = time.monotonic()
    tally = Tally(str(chosen.path), KIND)
    owner = f"import-{os.getpid()}-{secrets.token_hex(4)}"
    with db.leases.hold(LEASE, owner):
        _HermesImport(db, chosen, tally, partial(db.leases.heartbeat, LEASE, owner), include_deleted, progress).run()
    return tally.report(time.monotonic() - started)


class _HermesImport:
    """One run over one state.db."""

    def __init__(
        self,
        db: SessionDB,
        chosen: Source,
        tally: Tally,
        heartbeat: Callable[[], bool],
        include_deleted: bool,
        progress: Progress,
    ) -> None:
        self._engine = db.engine
        self._cleaning = Cleaning(db)
        self._source = chosen
        self._tally = tally
        self._heartbeat = heartbeat
        self._include_deleted = include_deleted
        self._progress = progress
        self._kin: dict[str, Kin] = {}  # of sessions that have children
        with db.engine.write() as connection:
            self._source_pk = ledger.source_pk(connection, KIND, str(chosen.path))

    def run(self) -> None:
        """Read until the end was reached with nobody writing into what was read without locks."""
        for _ in range(foreign.ATTEMPTS):
            try:
                with foreign.opened(self._source.path) as database:
                    self._bring_in(database)
                    return
            except ForeignChanged:
                time.sleep(foreign.PAUSE_S)
        raise StoreUnavailable(
            f"{self._source.path} changes faster than it can be read", hint="try again when the agent is idle"
        )

    def _bring_in(self, database: ForeignDatabase) -> None:
        reader = HermesReader(database)
        self._tally.schema_version = reader.schema_version
        order = parents_first(reader.session_keys())
        if reader.nameless:
            what = f"{reader.nameless} sessions without an id were left out; no message can name them"
            self._tally.warn("no_id", "sessions", what)
        for session_id in order.cut:
            self._tally.warn("lineage_circle", session_id, "it is its own ancestor; it was left without a parent")
        with self._engine.read() as connection:
            self._known = ledger.known_sessions(connection, self._source_pk)
        pks = {foreign_id: known.session_pk for foreign_id, known in self._known.items() if known.session_pk}
        self._batch = Batch(
            self._engine, self._source_pk, before_commit=database.verify, counts=self._tally.counts, pks=pks
        )
        columns, defaults = reader.messages
        shape = MessageShape(columns, defaults, self._tally, self._cleaning.fields)
        self._sync = HermesSync(self._engine, reader, self._batch, shape, self._tally, str(self._source.path))
        self._sessions(reader, order)
        self._the_rest(database, reader)

    def _sessions(self, reader: HermesReader, order: Order) -> None:
        stats = reader.message_stats()
        there = {key.id for key in order.keys}
        parents = {key.parent_id for key in order.keys}
        counts = self._tally.counts
        counts["sessions_found"] = len(there)
        counts["sessions_gone"] = sum(1 for i, known in self._known.items() if i not in there and known.session_pk)
        counts["sessions_deleted_here"] = 0
        for start in range(0, len(order.keys), _CHUNK):
            ids = [key.id for key in order.keys[start : start + _CHUNK]]
            rows, usage = reader.session_rows(ids), reader.usage(ids)
            with self._engine.read() as connection:
                elsewhere = ledger.known_elsewhere(connection, self._source_pk, ids)
                here = ledger.sessions_here(connection, ids)
            for session_id in ids:
                notes = self._tally.muted()
                session = self._session(reader, session_id, rows.get(session_id), notes)
                if session_id in parents:
                    self._kin[session_id] = kin_of(session)
                plan = self._plan(session, order, there, usage.get(session_id, ()), notes)
                parts = parts_of_session(plan, stats.get(session_id))
                if self._one(reader, plan, parts, elsewhere.get(session_id), here.get(session.id)):
                    self._tally.absorb(notes)
            if not self._heartbeat():
                raise LeaseHeld(LEASE, "another import, which took this one for dead")
            self._progress(start + len(ids), len(order.keys))
        self._batch.flush()
        counts["sessions_changed"] = len(self._sync.changed)
        touched = ("sessions_added", "sessions_changed", "sessions_deleted_here")
        counts["sessions_unchanged"] = max(len(there) - sum(counts[name] for name in touched), 0)

    def _session(self, reader: HermesReader, session_id: str, row: Row | None, notes: Tally) -> ForeignSession:
        if row is None:
            row = {"id": session_id, "started_at": reader.first_time(session_id)}
            notes.warn("missing_session", session_id, "there are messages of it but no row; it was made anew")
        fallback = 0
        if moments.instant(row.get("started_at")) is None:
            fallback = moments.instant(reader.first_time(session_id)) or 0
        session = session_from_row(
            row,
            profile=self._source.profile,
            fallback_us=fallback,
            defaults=reader.sessions.defaults,
            tally=notes,
        )
        return self._cleaning.session(session)

    def _plan(
        self, session: ForeignSession, order: Order, there: Collection[str], usage: Sequence[Row], notes: Tally
    ) -> Plan:
        own, parent_id = kin_of(session), session.parent_id
        if parent_id is None:
            alone = marked(own)
            return Plan(session, alone if alone == Relation.DELEGATE else None, None, usage)
        if session.foreign_id in order.cut:
            return Plan(session, None, None, usage)
        parent = self._kin.get(parent_id)
        if parent is not None:
            return Plan(session, relation(own, parent), parent_id, usage)
        if parent_id not in there and parent_id not in self._known:
            notes.warn(
                "missing_parent", session.foreign_id, f"its parent {parent_id} is not there; linked when it comes"
            )
        return Plan(session, marked(own) or worker(own), parent_id, usage)

    def _one(
        self, reader: HermesReader, plan: Plan, parts: dict[str, str], elsewhere: ledger.Known | None, here: int | None
    ) -> bool:
        """Bring in one session, as what is known of it asks for. False when there is nothing to do."""
        session_id = plan.session.foreign_id
        known = self._known.get(session_id)
        if known is not None and known.session_pk is not None:
            if known.parts | parts != known.parts:
                self._sync.update(self._with_prompt(reader, plan), known, parts)
                return True
            return False
        if here is None and not self._include_deleted and (known or (elsewhere and elsewhere.session_pk is None)):
            self._tally.counts["sessions_deleted_here"] += 1
            return False
        plan = self._with_prompt(reader, plan)
        candidate = elsewhere.session_pk if elsewhere and elsewhere.session_pk else here
        if candidate is None:
            self._sync.add(plan, plan.session.id, parts)
        else:
            self._sync.adopt(plan, candidate, parts, elsewhere)
        return True

    def _with_prompt(self, reader: HermesReader, plan: Plan) -> Plan:
        """The plan with a system prompt that is stored once for many sessions."""
        session = plan.session
        digest = session.row.get("system_prompt_hash")
        if session.system_prompt is not None or digest is None:
            return plan
        prompt = reader.prompt(digest)
        if prompt is None:
            self._tally.warn("missing_prompt", session.foreign_id, f"its system prompt {digest} is not there")
            return plan
        return plan._replace(session=self._cleaning.session(replace(session, system_prompt=prompt)))

    def _the_rest(self, database: ForeignDatabase, reader: HermesReader) -> None:
        routes, settings, left_out = list(reader.routes()), reader.settings(), reader.left_out()
        last_message_id = reader.last_message_id
        counts = self._tally.counts
        with self._engine.write() as connection:
            counts["routes"] += store_routes(connection, routes, self._batch.pk_of, self._tally)
            counts["settings"] += store_settings(connection, settings, self._source.profile)
            link_waiting(connection, relate)
            ledger.finish(connection, self._source_pk, last_message_id=last_message_id, signature=database.signature)
            database.verify()
        self._tally.left_out = left_out
