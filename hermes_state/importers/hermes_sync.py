"""One Hermes session: what has to be written so that it is here as it is there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.codec import from_json, to_json
from hermes_state.importers.adoption import match, own_messages
from hermes_state.importers.digests import GONE, digest, fingerprint, short
from hermes_state.importers.following import KEPT_TITLE, follow, kept_title, store_handoff
from hermes_state.importers.hermes_messages import Thread
from hermes_state.importers.hermes_usage import add_usage, store_usage, usage_of
from hermes_state.importers.ledger import Known, KnownMessage, known_messages, platform_ids
from hermes_state.records import Relation
from hermes_state.transfer.placing import UNRESOLVED, link, unresolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hermes_state.engine import Engine
    from hermes_state.importers.batch import Batch, Step
    from hermes_state.importers.hermes_messages import ForeignMessage, MessageShape
    from hermes_state.importers.hermes_reader import HermesReader, Row
    from hermes_state.importers.hermes_sessions import ForeignSession
    from hermes_state.importers.report import Tally

# Messages that are read at a time.
_PAGE = 500


class Plan(NamedTuple):
    """A foreign session and how it is to be stored.

    Attributes:
        relation: to its parent, or what its markers say when the parent is not there.
        parent_id: the foreign id of the parent, None when there is none or it is not linked.
        ledger: its rows of usage.
    """

    session: ForeignSession
    relation: Relation | None
    parent_id: str | None
    ledger: Sequence[Row]


class HermesSync:
    """Brings in the sessions of one state.db, through one batch.

    Args:
        location: the file, which tells two sessions with one id apart.
        shape: how messages are read.

    Attributes:
        changed: known sessions of which something was taken over.
    """

    def __init__(
        self, engine: Engine, reader: HermesReader, batch: Batch, shape: MessageShape, tally: Tally, location: str
    ) -> None:
        self.changed: set[str] = set()
        self._engine = engine
        self._reader = reader
        self._batch = batch
        self._shape = shape
        self._tally = tally
        self._location = location

    # --- new sessions -------------------------------------------------------------------------------------------

    def add(self, plan: Plan, session_id: str, parts: dict[str, str]) -> None:
        """Bring in a session that is not here.

        Args:
            session_id: the id it gets here.
            parts: the digests of its parts.
        """
        ids = self._reader.message_ids(plan.session.foreign_id)
        self._batch.add(partial(self._create, plan, session_id, parts))
        thread = Thread(plan.session.values["started_at"])
        for page in self._pages(ids, thread):
            step = partial(self._append, plan.session.foreign_id, page)
            self._batch.add(step, rows=len(page), size=sum(message.size for message in page))
        self._batch.add(partial(self._note, plan.session.foreign_id, parts))

    def _create(self, plan: Plan, session_id: str, parts: dict[str, str], step: Step) -> None:
        session = plan.session
        parent_pk = self._batch.pk_of(plan.parent_id) if plan.parent_id else None
        values = dict(session.values)
        if session.parent_id and parent_pk is None:
            extras = from_json(values["extras"]) or {}
            if plan.parent_id:
                extras[UNRESOLVED] = unresolved(session.parent_id, plan.relation)
            else:
                extras["parent_session_id"] = session.parent_id
            values["extras"] = to_json(extras, "extras")
        pk, title = step.sink.create(
            session_id,
            values,
            title=session.title,
            system_prompt=session.system_prompt,
            parent_pk=parent_pk,
            relation=plan.relation if parent_pk or plan.relation == Relation.DELEGATE else None,
        )
        if title != session.title:
            what = f"the title {session.title!r} is taken; it is {title!r} here"
            self._tally.warn("title_taken", session.foreign_id, what)
        parts[KEPT_TITLE] = kept_title(title)
        self._batch.made(session.foreign_id, pk)
        step.counts["sessions_added"] += 1
        step.counts["usage_rows"] += add_usage(step.sink.connection, pk, usage_of(session, plan.ledger))
        step.counts["handoffs"] += session.handoff is not None and store_handoff(step.sink, pk, session)
        # Not whole before its last message is in: an import that was cut off here reads the messages again.
        step.sink.note_session(session.foreign_id, pk, fingerprint(_without_messages(parts)))

    def _append(self, foreign_id: str, page: Sequence[ForeignMessage], step: Step) -> None:
        step.sink.add(self._pk(foreign_id), page)
        step.counts["messages_added"] += len(page)

    def _note(self, foreign_id: str, parts: dict[str, str], step: Step) -> None:
        step.sink.note_session(foreign_id, self._pk(foreign_id), fingerprint(parts))

    def _pk(self, foreign_id: str) -> int:
        pk = self._batch.pk_of(foreign_id)
        assert pk is not None, foreign_id
        return pk

    def _pages(self, ids: Sequence[int], thread: Thread) -> Iterator[list[ForeignMessage]]:
        """Messages as they are read, in lists that are short in number and in bytes."""
        lossy = self._reader.database.lossy_texts
        page: list[ForeignMessage] = []
        size = 0
        for start in range(0, len(ids), _PAGE):
            for row in self._reader.message_rows(ids[start : start + _PAGE]):
                message = self._shape.read(row, thread)
                lossy = self._warn_lossy(lossy, row)
                page.append(message)
                size += message.size
                if len(page) >= _PAGE or size > _PAGE_BYTES:
                    yield page
                    page, size = [], 0
        if page:
            yield page

    def _warn_lossy(self, before: int, row: Sequence[Any]) -> int:
        now = self._reader.database.lossy_texts
        if now != before:
            where = dict(zip(self._reader.messages.columns, row, strict=True))
            what = "a text is not UTF-8; its odd bytes are kept as lone surrogates"
            self._tally.warn("not_utf8", f"{where['session_id']} message {where['id']}", what)
        return now

    # --- sessions that have the same id here --------------------------------------------------------------------

    def adopt(self, plan: Plan, session_pk: int, parts: dict[str, str], known: Known | None) -> None:
        """Take a session that is here for the foreign one, when what both hold says so; else bring it in beside it.

        Args:
            known: what is known of it from another source.
        """
        session = plan.session
        with self._engine.read() as connection:
            own = own_messages(connection, session_pk)
        ids = self._reader.message_ids(session.foreign_id)
        quiet = self._shape.muted()
        thread = Thread(session.values["started_at"])
        found = match(own, (quiet.read(row, thread) for row in self._rows(ids)))
        if not found.is_same_session:
            other_id = f"{session.id}~{short(self._location)}"
            what = f"another session has this id here; it is {other_id} here"
            self._tally.warn("id_taken", session.foreign_id, what)
            self.add(plan, other_id, parts)
            return
        old = known.parts if known else _without_messages(parts)
        self._batch.add(partial(self._adopted, session.foreign_id, session_pk, found.pairs, old))
        same = {message.foreign_id: KnownMessage(message_id, message.digest) for message, message_id in found.pairs}
        self.update(plan, Known(session_pk, fingerprint(old)), parts, same)
        if not found.is_in_order:
            self._batch.add(lambda step: step.sink.order_as_there(session_pk))

    def _rows(self, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(ids), _PAGE):
            yield from self._reader.message_rows(ids[start : start + _PAGE])

    def _adopted(
        self,
        foreign_id: str,
        session_pk: int,
        same: Sequence[tuple[ForeignMessage, int]],
        old: dict[str, str],
        step: Step,
    ) -> None:
        step.sink.adopt(session_pk, same)
        self._batch.made(foreign_id, session_pk)
        step.sink.note_session(foreign_id, session_pk, fingerprint(_without_messages(old)))

    # --- known sessions -----------------------------------------------------------------------------------------

    def update(
        self, plan: Plan, known: Known, parts: dict[str, str], same: dict[int, KnownMessage] | None = None
    ) -> None:
        """Follow what changed there in a session since it was brought in.

        Args:
            same: which messages are here, by foreign id; None: those that were brought in.
        """
        assert known.session_pk is not None
        old = known.parts
        self._batch.add(partial(self._follow, plan, known.session_pk, old, parts))
        if old.get("messages") != parts["messages"]:
            self._messages(plan, known.session_pk, same)
        self._batch.add(partial(self._note, plan.session.foreign_id, parts))

    def _follow(self, plan: Plan, pk: int, old: dict[str, str], parts: dict[str, str], step: Step) -> None:
        session = plan.session
        changed = follow(step.sink, pk, session, old, parts, self._tally)
        if old.get("usage") != parts["usage"]:
            written = store_usage(step.sink.connection, pk, usage_of(session, plan.ledger))
            step.counts["usage_rows"] += written
            changed = changed or written > 0
        if old.get("lineage") != parts["lineage"] and plan.parent_id and plan.relation:
            parent_pk = self._batch.pk_of(plan.parent_id)
            if parent_pk is not None:
                changed = link(step.sink.connection, pk, parent_pk, plan.relation) or changed
        if changed:
            self.changed.add(session.foreign_id)

    def _messages(self, plan: Plan, session_pk: int, known: dict[int, KnownMessage] | None) -> None:
        session = plan.session
        ids = self._reader.message_ids(session.foreign_id)
        with self._engine.read() as connection:
            if known is None:
                known = known_messages(connection, session_pk, self._batch.source_pk)
            taken = platform_ids(connection, session_pk, {message.id: f for f, message in known.items()})
        there = set(ids)
        gone = sorted(f for f, message in known.items() if f not in there and message.digest != GONE)
        new = [i for i in ids if i not in known]
        moved = self._renumbered(session_pk, gone, new, known) if gone and new else []
        known |= {there_now: known[was]._replace(digest=GONE) for was, there_now, _ in moved}
        lost = gone[len(moved) :]
        taken = {key: f for key, f in taken.items() if f not in gone}
        if moved or lost:
            self.changed.add(session.foreign_id)
            self._batch.add(partial(self._lost, session_pk, moved, lost))
        for page in self._pages(ids, Thread(session.values["started_at"], taken)):
            different = [m for m in page if m.foreign_id not in known or known[m.foreign_id].digest != m.digest]
            if different:
                self.changed.add(session.foreign_id)
                step = partial(self._compare, session_pk, different, known)
                self._batch.add(step, rows=len(different), size=sum(message.size for message in different))

    def _renumbered(
        self, session_pk: int, gone: Sequence[int], new: Sequence[int], known: dict[int, KnownMessage]
    ) -> list[tuple[int, int, int]]:
        """Messages that went and came again under other ids, as rewriting a transcript does: an equal start of both."""
        with self._engine.read() as connection:
            essences = dict(own_messages(connection, session_pk))
        quiet = self._shape.muted()
        thread = Thread(0)
        moved: list[tuple[int, int, int]] = []
        for was, row in zip(gone, self._rows(new), strict=False):
            message = quiet.read(row, thread)
            if essences.get(known[was].id) != message.essence:
                break
            moved.append((was, message.foreign_id, known[was].id))
        return moved

    def _lost(self, session_pk: int, moved: Sequence[tuple[int, int, int]], lost: Sequence[int], step: Step) -> None:
        step.sink.reassign(session_pk, moved)
        step.sink.lose(session_pk, lost)
        step.counts["messages_gone"] += len(lost)

    def _compare(
        self, session_pk: int, different: Sequence[ForeignMessage], known: dict[int, KnownMessage], step: Step
    ) -> None:
        new: list[ForeignMessage] = []
        for message in different:
            before = known.get(message.foreign_id)
            if before is None:
                new.append(message)
            else:
                step.sink.change(session_pk, before.id, message, before.digest)
                step.counts["messages_changed"] += before.digest != GONE
        step.sink.add(session_pk, new)
        step.counts["messages_added"] += len(new)


# Bytes of messages that are read at a time, beside the largest one.
_PAGE_BYTES = 2_000_000


def _without_messages(parts: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in parts.items() if name != "messages"}


def parts_of_session(plan: Plan, stats: tuple[int, ...] | None) -> dict[str, str]:
    """The digests of all parts of a foreign session.

    Args:
        stats: the numbers of its messages.
    """
    parts = dict(plan.session.parts)
    parts["messages"] = digest(stats)
    parts["lineage"] = digest((parts["lineage"], plan.relation and str(plan.relation)))
    parts["usage"] = digest((parts["usage"], [sorted(row.items()) for row in plan.ledger]))
    return parts
