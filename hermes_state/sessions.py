"""Sessions: create, look at, rename, end, reopen, archive, tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from hermes_state import titles
from hermes_state.clock import now_us, to_us
from hermes_state.codec import clean, to_json
from hermes_state.conversation import COMPRESSION_END, retip
from hermes_state.creation import check_source, find_origin, intern_prompt, put_session
from hermes_state.deletion import delete, prune
from hermes_state.errors import InvalidValue, SessionNotFound
from hermes_state.ids import check_session_id, new_session_id
from hermes_state.listing import SessionFilter, count_sessions, list_sessions, previews
from hermes_state.records import Deletion, Relation, Session
from hermes_state.resolve import resolve, tip_of
from hermes_state.schema import session_tags, sessions, system_prompts
from hermes_state.session_rows import ORIGIN_FIELDS, load, load_new, pk_of, tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

JSON_FIELDS = ("model_config", "origin", "extras")
# What `create` and `update` take and store as it is, text or JSON.
_GIVEN = frozenset((*ORIGIN_FIELDS, *JSON_FIELDS))
SessionList = list[Session]  # inside the class, `list` is the method


class Sessions:
    """The sessions of a store."""

    def __init__(self, engine: Engine, cleaned: Callable[[Any], Any] = lambda value: value) -> None:
        self._engine = engine
        self._cleaned = cleaned  # what is stored of a text or JSON value that is given: all of it, or without secrets

    def create(
        self,
        id: str | None = None,  # noqa: A002  the contract's name
        *,
        source: str,
        title: str | None = None,
        parent_id: str | None = None,
        relation: Relation | str | None = None,
        started_at: datetime | None = None,
        system_prompt: str | None = None,
        model_config: Mapping[str, Any] | None = None,
        origin: Mapping[str, Any] | None = None,
        extras: Mapping[str, Any] | None = None,
        model: str | None = None,
        user_id: str | None = None,
        chat_id: str | None = None,
        chat_type: str | None = None,
        thread_id: str | None = None,
        display_name: str | None = None,
        cwd: str | None = None,
        git_branch: str | None = None,
        git_root: str | None = None,
        profile: str | None = None,
    ) -> Session:
        """Make a session, or complete the one that has this id: fields it lacks are filled, none is overwritten.

        Args:
            id: the session's id; None makes one.
            source: the surface it runs on: `cli`, `telegram`, `cron`, …
            parent_id: the session it came from; `relation` says how. When it does not, the parent's end does:
                `compression` makes a compression child, `branched` a branch, anything else a reset.
            started_at: an aware time; None: now.

        Raises:
            SessionExists: the id belongs to another user's session.
            SessionNotFound: there is no such parent.
            TitleTaken, InvalidValue: nothing was made.
        """
        given = {name: value for name, value in locals().items() if name in _GIVEN and value is not None}
        values = self._columns(given)
        session_id = new_session_id() if id is None else check_session_id(id)
        title = titles.clean_title(self._cleaned(title))
        with self._engine.write() as connection:
            if system_prompt is not None:
                values["system_prompt_pk"] = intern_prompt(connection, self._cleaned(system_prompt))
            came_from = find_origin(connection, parent_id, relation, source)
            started = now_us() if started_at is None else to_us(started_at)
            put = put_session(connection, session_id, source, started, came_from, values)
            if title and not put.has_title:
                titles.claim(connection, put.pk, title)
            return load_new(connection, put.pk) if put.is_new else load(connection, put.pk)

    def _columns(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Columns of `_GIVEN` with these values, as they are stored."""
        values: dict[str, Any] = {}
        for name, value in fields.items():
            if value is None:
                values[name] = None
            elif name in JSON_FIELDS:
                values[name] = to_json(self._cleaned(value), name)
            else:
                values[name] = clean(str(value))  # platforms number their users and chats
        return values

    # --- looking ------------------------------------------------------------------------------------------------

    def get(self, session_id: str) -> Session:
        """The session with exactly this id.

        Raises:
            SessionNotFound: there is none.
        """
        with self._engine.read() as connection:
            return load(connection, pk_of(connection, session_id))

    def find(self, session_id: str) -> Session | None:
        """As `get`; None when there is none."""
        try:
            return self.get(session_id)
        except SessionNotFound:
            return None

    def system_prompt(self, session_id: str) -> str | None:
        """The system prompt the session runs with."""
        p = system_prompts.c
        query = select(p.text).join(sessions, sessions.c.system_prompt_pk == p.pk).where(sessions.c.id == session_id)
        with self._engine.read() as connection:
            pk_of(connection, session_id)
            return connection.execute(query).scalar()

    def resolve(self, ref: str) -> Session:
        """The session that an id, a unique id prefix or a title names; a title means the newest of its family.

        Raises:
            SessionNotFound, Ambiguous: none or several; the error lists the candidates.
        """
        with self._engine.read() as connection:
            return load(connection, resolve(connection, ref))

    def resume(self, ref: str) -> Session:
        """The session in which the conversation that `ref` names goes on: the tip of its compression chain.

        Raises:
            As `resolve`.
        """
        with self._engine.read() as connection:
            return load(connection, tip_of(connection, resolve(connection, ref)))

    def list(
        self,
        wanted: SessionFilter | None = None,
        *,
        order: str = "active",
        limit: int | None = 20,
        offset: int = 0,
    ) -> SessionList:
        """Conversations, one session each: the tip.

        Args:
            wanted: a filter; None: every conversation that is neither archived nor a delegate's.
            order: `active` (last active first), `started`, `oldest`, `messages` or `title`.
            limit, offset: a page; None: all.
        """
        with self._engine.read() as connection:
            return list_sessions(connection, wanted or SessionFilter(), order=order, limit=limit, offset=offset)

    def count(self, wanted: SessionFilter | None = None) -> int:
        """How many `list` would give without a limit."""
        with self._engine.read() as connection:
            return count_sessions(connection, wanted or SessionFilter())

    def previews(self, session_ids: Sequence[str]) -> dict[str, str]:
        """The start of the first user message of each session that has one, on one line."""
        with self._engine.read() as connection:
            return previews(connection, session_ids)

    # --- deleting -----------------------------------------------------------------------------------------------

    def delete(self, ref: str, *, dry_run: bool = False) -> Deletion:
        """Delete the conversation up to and including the session that `ref` names, and its delegates.

        What a list shows is the tip, so deleting that deletes the whole conversation. An earlier segment can be
        deleted too; the later ones then go on. Branches stay.

        Raises:
            SessionNotFound, Ambiguous: nothing was deleted.
        """
        return delete(self._engine, ref, dry_run=dry_run)

    def prune(self, wanted: SessionFilter, *, include_open: bool = False, dry_run: bool = False) -> Deletion:
        """Delete every session that passes a filter, segment by segment.

        Args:
            wanted: there is no hidden limit of age: what the filter takes is what goes.
            include_open: also sessions that have not ended; else they are named in `kept`.
            dry_run: change nothing, say what would go.

        Raises:
            StoreBusy, DiskFull: some of them may be gone already; the next prune goes on.
        """
        return prune(self._engine, wanted, include_open=include_open, dry_run=dry_run)

    # --- changing -----------------------------------------------------------------------------------------------

    def update(self, session_id: str, *, system_prompt: str | None = None, **fields: Any) -> Session:
        """Overwrite fields: `source`, any of `ORIGIN_FIELDS`, `model_config`, `origin`, `extras`, `system_prompt`.

        Raises:
            InvalidValue: a field that can't be set here; titles go through `rename`.
        """
        unknown = fields.keys() - _GIVEN - {"source"}
        if unknown:
            raise InvalidValue(f"{min(unknown)!r} is not a field that `update` sets")
        values = self._columns({name: value for name, value in fields.items() if name in _GIVEN})
        if "source" in fields:
            values["source"] = check_source(fields["source"])
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            if system_prompt is not None:
                values["system_prompt_pk"] = intern_prompt(connection, self._cleaned(system_prompt))
            if values:
                connection.execute(update(sessions).where(sessions.c.pk == pk).values(values))
            return load(connection, pk)

    def rename(self, session_id: str, title: str | None) -> Session:
        """Give a session a title, or take it away with None or an empty one. An earlier segment yields its title.

        Raises:
            TitleTaken: another conversation has it; names the holder.
        """
        title = titles.clean_title(self._cleaned(title))
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            if title is None:
                connection.execute(update(sessions).where(sessions.c.pk == pk).values(title=None))
            else:
                titles.claim(connection, pk, title)
            return load(connection, pk)

    def auto_title(self, session_id: str, title: str) -> Session:
        """Title a session that has none, with the next free number when the title is taken; never an error for that."""
        cleaned = titles.clean_title(self._cleaned(title), cut=True)
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            has_title = connection.execute(select(sessions.c.title).where(sessions.c.pk == pk)).scalar()
            if cleaned and not has_title:
                titles.claim(connection, pk, titles.next_title(connection, cleaned))
            return load(connection, pk)

    def end(self, session_id: str, reason: str) -> Session:
        """End a session. The first reason wins: ending an ended session changes nothing."""
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            ended = (
                update(sessions)
                .where(sessions.c.pk == pk, sessions.c.ended_at.is_(None))
                .values(ended_at=now_us(), end_reason=clean(reason), sealed=reason == COMPRESSION_END)
            )
            if connection.execute(ended).rowcount:
                retip(connection, _conversation(connection, pk))
            return load(connection, pk)

    def reopen(self, session_id: str) -> Session:
        """Make an ended session live again. A compressed one with a child stays sealed: write to its tip."""
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            continued = select(func.count()).where(
                sessions.c.parent_pk == pk, sessions.c.relation == Relation.COMPRESSION
            )
            sealed = bool(connection.execute(continued).scalar())
            values = {"ended_at": None, "end_reason": None, "sealed": False}
            if not sealed:
                connection.execute(update(sessions).where(sessions.c.pk == pk).values(values))
                retip(connection, _conversation(connection, pk))
            return load(connection, pk)

    def archive(self, session_id: str, archived: bool = True) -> Session:
        """Hide the whole conversation of a session from lists, or show it again."""
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            whole = sessions.c.conversation_pk == _conversation(connection, pk)
            connection.execute(update(sessions).where(whole).values(archived=archived))
            return load(connection, pk)

    def tag(self, session_id: str, *tags: str) -> Session:
        """Add tags; one it has already is fine."""
        cleaned = _clean_tags(tags)
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            missing = cleaned - set(tags_of(connection, [pk]).get(pk, ()))
            if missing:
                connection.execute(insert(session_tags), [{"session_pk": pk, "tag": tag} for tag in sorted(missing)])
            return load(connection, pk)

    def untag(self, session_id: str, *tags: str) -> Session:
        """Take tags away; one it does not have is fine."""
        with self._engine.write() as connection:
            pk = pk_of(connection, session_id)
            t = session_tags.c
            connection.execute(session_tags.delete().where(t.session_pk == pk, t.tag.in_(_clean_tags(tags))))
            return load(connection, pk)


def _clean_tags(tags: Iterable[str]) -> set[str]:
    return {" ".join((clean(tag) or "").split()) for tag in tags} - {""}


def _conversation(connection: Connection, session_pk: int) -> int:
    return int(connection.execute(select(sessions.c.conversation_pk).where(sessions.c.pk == session_pk)).scalar_one())


__all__ = ["JSON_FIELDS", "Sessions", "check_source", "intern_prompt"]
