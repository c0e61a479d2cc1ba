"""JSON Lines of our own export into a store, session by session, each wholly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy import insert, select

from hermes_state import titles
from hermes_state.codec import from_json, to_json
from hermes_state.creation import intern_prompt
from hermes_state.errors import InvalidValue
from hermes_state.ids import check_session_id
from hermes_state.records import Relation
from hermes_state.schema import handoffs, routes, session_tags, sessions, usage
from hermes_state.transfer import records
from hermes_state.transfer.bulk import Bulk
from hermes_state.transfer.compare import difference
from hermes_state.transfer.lines import relation_of
from hermes_state.transfer.placing import UNRESOLVED, link_waiting, place, unresolved
from hermes_state.transfer.progress import Progress, no_progress
from hermes_state.transfer.reader import BadLine, Reader
from hermes_state.transfer.report import LoadReport, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from hermes_state.engine import Engine
    from hermes_state.transfer.lines import Line

_c = sessions.c
# Messages after which a transaction ends, at the end of a session.
_ROWS = 2000
# Messages that wait to be written together; bounds memory within a huge session.
_PAGE = 500


def load(engine: Engine, lines: Iterable[bytes], *, progress: Progress = no_progress) -> LoadReport:
    """Bring in an export, session by session, each wholly or not at all.

    A session that is here already with equal content is skipped; one with other content is reported and left alone. A
    title that another session has gets the next number. Routes that are here stay.

    Raises:
        FormatError: this is not such an export, or one of a newer version; nothing was changed.
    """
    reader = Reader(lines)
    return _Load(engine, reader, progress).run()


class _Load:
    """One file on its way in."""

    def __init__(self, engine: Engine, reader: Reader, progress: Progress) -> None:
        self._engine = engine
        self._reader = reader
        self._progress = progress
        self._prompts: dict[str, str] = {}
        self._sessions = self._messages = self._equal = self._seen = 0
        self._conflicts: list[Problem] = []
        self._retitled: list[tuple[str, str]] = []
        self._problems: list[Problem] = []
        self._linked: dict[str, str] = {}

    def run(self) -> LoadReport:
        """Read to the end of the file, or to where it was cut off."""
        ended = False
        while not ended:
            with self._engine.write() as connection:
                ended = self._some(connection)
        with self._engine.write() as connection:
            self._linked = link_waiting(connection)
        return LoadReport(
            sessions_added=self._sessions,
            messages_added=self._messages,
            sessions_equal=self._equal,
            conflicts=tuple(self._conflicts),
            retitled=tuple(self._retitled),
            unlinked=tuple(self._linked.items()),
            problems=tuple(self._problems),
        )

    def _some(self, connection: Connection) -> bool:
        """Bring in sessions up to the size of a transaction. True at the end of the file."""
        bulk = Bulk(connection)
        before = self._messages
        ended = False
        while not ended and self._messages - before < _ROWS:
            ended = self._next(connection, bulk)
        bulk.finish()
        return ended

    def _next(self, connection: Connection, bulk: Bulk) -> bool:
        try:
            line = self._reader.take()
        except BadLine as error:
            self._problem(error.number, "", error.what, error.hint)
            self._reader.skip_session()
            return False
        if line is None:
            self._problem(
                self._reader.number, "", "the file ends before its closing line: it was cut off", "export again"
            )
            return True
        at = self._reader.number
        match line["type"]:
            case "system_prompt":
                self._prompt(line)
            case "session":
                self._session(connection, bulk, line, at)
            case "route":
                self._route(connection, line, at)
            case "end":
                self._end(line, at)
                return True
            case _:
                self._problem(at, "", f"a {line['type']} line stands before any session", "remove it")
                self._reader.skip_session()
        return False

    def _problem(self, number: int, session_id: str, what: str, hint: str) -> None:
        self._problems.append(Problem(line=number, session_id=session_id, what=what, hint=hint))

    def _prompt(self, line: Line) -> None:
        if isinstance(line.get("sha256"), str) and isinstance(line.get("text"), str):
            self._prompts[line["sha256"]] = line["text"]
        else:
            self._problem(self._reader.number, "", "a system prompt without its text", "remove the line")

    def _end(self, line: Line, number: int) -> None:
        if line.get("sessions") != self._seen:
            what = f"the file says it has {line.get('sessions')!r} sessions, and {self._seen} were found in it"
            self._problem(number, "", what, "lines were lost or added; export again")

    # --- one session --------------------------------------------------------------------------------------------

    def _session(self, connection: Connection, bulk: Bulk, line: Line, number: int) -> None:
        self._seen += 1
        session_id = str(line.get("id", ""))
        bulk.write()
        pk: int | None = None
        try:
            here = _key_of(connection, check_session_id(line.get("id", "")))
            if here is not None:
                self._already_here(connection, here, line, number)
                return
            with self._engine.write() as part:  # a savepoint: all of the session, or nothing of it
                pk, title = self._place(part, line)
                bulk.is_new(pk)
                added = self._add_messages(bulk, pk, line)
                bulk.write()
        except (BadLine, InvalidValue) as error:
            if pk is not None:
                bulk.discard(pk)
            at, hint = (error.number, error.hint) if isinstance(error, BadLine) else (self._reader.number, error.hint)
            what = error.what if isinstance(error, BadLine) else error.message
            self._problem(at, session_id, what, hint or f"repair line {at}, or export the session again")
            self._reader.skip_session()
            return
        if title is not None:
            self._retitled.append((session_id, title))
        bulk.retip_later(connection.execute(select(_c.conversation_pk).where(_c.pk == pk)).scalar_one())
        self._sessions += 1
        self._messages += added
        self._progress(self._seen, 0)

    def _already_here(self, connection: Connection, session_pk: int, line: Line, number: int) -> None:
        found = difference(connection, session_pk, line, self._reader.messages())
        if found is None:
            self._equal += 1
            return
        self._reader.skip_session()
        hint = "it was left as it is here; delete it first to take the one in the file"
        self._conflicts.append(Problem(line=number, session_id=line["id"], what=found, hint=hint))

    def _place(self, connection: Connection, line: Line) -> tuple[int, str | None]:
        """Add the session's row and what belongs to it; its key, and its title when it is another than the line's."""
        values = records.session_values(line)
        wanted = values["title"]
        values["title"] = wanted and titles.next_title(connection, wanted)
        prompt = line.get("system_prompt")
        if prompt is not None and prompt not in self._prompts:
            raise InvalidValue(f"the system prompt {prompt} is not in the file")
        values["system_prompt_pk"] = None if prompt is None else intern_prompt(connection, self._prompts[prompt])
        parent_id, relation = line.get("parent_id"), relation_of(line.get("relation"))
        parent_pk = None
        if parent_id is not None:
            parent_pk = _key_of(connection, str(parent_id))
            if parent_pk is None:
                extras = from_json(values["extras"]) or {}
                values["extras"] = to_json(extras | {UNRESOLVED: unresolved(str(parent_id), relation)}, "extras")
                relation = relation if relation == Relation.DELEGATE else None  # which is hidden without its parent too
        flags = {name: values[name] for name in ("delegated", "sealed")}
        pk = place(connection, values, parent_pk=parent_pk, relation=relation)
        connection.execute(sessions.update().where(_c.pk == pk).values(flags))
        self._belongings(connection, pk, line)
        return pk, None if values["title"] == wanted else values["title"]

    def _belongings(self, connection: Connection, pk: int, line: Line) -> None:
        tags = [{"session_pk": pk, "tag": tag} for tag in records.tags_in(line)]
        used = [row | {"session_pk": pk} for row in records.usage_rows(line)]
        handoff = records.handoff_row(line)
        if tags:
            connection.execute(insert(session_tags), tags)
        if used:
            connection.execute(insert(usage), used)
        if handoff is not None:
            connection.execute(insert(handoffs).values(session_pk=pk, **handoff))

    def _add_messages(self, bulk: Bulk, pk: int, line: Line) -> int:
        expected = records.number(line, "messages")
        added, last = 0, -1
        keys: set[str] = set()
        for page in self._pages():
            for columns in page:
                key = columns.get("platform_message_id")
                if columns["position"] <= last:
                    raise InvalidValue(f"position {columns['position']} does not come after {last}")
                if key in keys:
                    raise InvalidValue(f"two messages have the platform id {key!r}")
                last = columns["position"]
                keys.update([key] if key else [])
            bulk.add(pk, page)
            bulk.write()
            added += len(page)
        if added != expected:
            _fail(f"the session should have {expected} messages and has {added}: lines were lost or added")
        return added

    def _pages(self) -> Iterator[list[dict[str, Any]]]:
        page: list[dict[str, Any]] = []
        for line in self._reader.messages():
            page.append(records.message_columns(line))
            if len(page) >= _PAGE:
                yield page
                page = []
        yield page

    # --- routes -------------------------------------------------------------------------------------------------

    def _route(self, connection: Connection, line: Line, number: int) -> None:
        try:
            values = records.route_values(line)
        except InvalidValue as error:
            self._problem(number, "", error.message, error.hint or "repair or remove the line")
            return
        where = (routes.c.scope == values["scope"]) & (routes.c.key == values["key"])
        if connection.execute(select(routes.c.key).where(where)).scalar() is None:
            pk = _key_of(connection, line["session_id"]) if isinstance(line.get("session_id"), str) else None
            connection.execute(insert(routes).values(session_pk=pk, **values))


def _fail(what: str) -> NoReturn:
    raise InvalidValue(what, hint="export the session again")


def _key_of(connection: Connection, session_id: str) -> int | None:
    found = connection.execute(select(_c.pk).where(_c.id == session_id)).scalar()
    return None if found is None else int(found)
