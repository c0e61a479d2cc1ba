"""The tool's four shapes, told apart by the arguments: discover, scroll, read, browse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError, InvalidValue, MessageNotFound
from hermes_state.home import store_path
from hermes_state.listing import SessionFilter
from hermes_state.records import MessageState
from hermes_state.session_search.budget import fit
from hermes_state.session_search.shapes import SPEAKING, message_shape, session_shape
from hermes_state.store import SessionDB
from hermes_state.text import highlights

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_state.records import Message, Session
    from hermes_state.search import MessageHit

# Tokens an answer may take unless the caller says otherwise: three hits with their surroundings.
DEFAULT_BUDGET_TOKENS = 6000
MAX_RESULTS = 10
MAX_WINDOW = 20
# Messages shown of the start and the end of a conversation beside a hit, and of a whole conversation that is read.
_BOOKENDS = 3
_READ_HEAD, _READ_TAIL = 20, 10
_VISIBLE = (MessageState.ACTIVE, MessageState.COMPACTED)
# Automation is found when asked for by its source; browsing is about what people did.
_AUTOMATION = ("cron", "subagent", "tool", "webhook")

SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "session_search",
        "description": (
            "Search and read earlier conversations, in any language. With `query`: the best matching conversations, "
            "each with the passage found. With `session_id` and `around_message_id`: the messages around one. With "
            "`session_id` alone: read a conversation. With nothing: the conversations active last."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": (
                        'Words or a question; all words are optional. "exact phrase", AND, OR, NOT, prefix*, and '
                        "filters role: source: tool: title: after:2026-01-31 before: narrow it."
                    ),
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "default": 3},
                "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Results to skip: next page."},
                "sort": {"type": "string", "enum": ["relevance", "newest", "oldest"], "default": "relevance"},
                "role_filter": {
                    "type": "string",
                    "description": "Roles to search, separated by commas; user,assistant unless given.",
                },
                "session_id": {"type": "string", "description": "A session's id, the start of one, or its title."},
                "around_message_id": {"type": "integer", "description": "A message id from an earlier answer."},
                "window": {"type": "integer", "minimum": 1, "maximum": MAX_WINDOW, "default": 5},
                "profile": {"type": "string", "description": "Search another profile of this home."},
            },
            "additionalProperties": False,
        },
    },
}


class SessionSearch:
    """The tool bound to a store.

    Args:
        db: the store to search.
        current_session_id: the conversation the agent is in; all of its segments are left out of results.
        home: where other profiles lie (`profiles/<name>/`); None: there are none.
        budget_tokens: the most an answer may take.
    """

    schema = SCHEMA

    def __init__(
        self,
        db: SessionDB,
        *,
        current_session_id: str | None = None,
        home: Path | None = None,
        budget_tokens: int = DEFAULT_BUDGET_TOKENS,
    ) -> None:
        self._db = db
        self._current = current_session_id
        self._home = home
        self._budget = budget_tokens

    def call(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a call. The result is always a JSON object with `success`; an error says what to do instead.

        Args:
            arguments: the arguments, or their JSON text as a model sends it.
        """
        try:
            given = _arguments(arguments)
            with self._store(given) as db:
                return self._answer(db, given)
        except HermesStateError as error:
            return json.dumps({"success": False, "error": str(error), "kind": error.kind, "hint": error.hint})

    def _answer(self, db: SessionDB, given: dict[str, Any]) -> str:
        if given.get("session_id") and given.get("around_message_id") is not None:
            return self._scroll(db, given)
        if given.get("session_id"):
            return self._read(db, given)
        if (given.get("query") or "").strip():
            return self._discover(db, given)
        return self._browse(db, given)

    @contextmanager
    def _store(self, given: dict[str, Any]) -> Iterator[SessionDB]:
        """The store of the profile that the arguments name; `profile/id` names it inside a session id."""
        profile, session = given.get("profile"), given.get("session_id")
        if not profile and session and "/" in session and self._db.sessions.find(session) is None:
            profile, given["session_id"] = session.split("/", 1)
        if not profile:
            yield self._db
            return
        if self._home is None or profile in (".", "..") or "/" in profile or "\\" in profile:
            raise InvalidValue(f"there is no profile {profile!r} here")
        with SessionDB.open(store_path(self._home / "profiles" / profile), read_only=True) as db:
            yield db

    # --- discover -----------------------------------------------------------------------------------------------

    def _discover(self, db: SessionDB, given: dict[str, Any]) -> str:
        roles = [role.strip() for role in (given.get("role_filter") or "user,assistant").split(",") if role.strip()]
        current = self._current if self._current and db.sessions.find(self._current) else None
        hits = db.search.conversations(
            given["query"],
            limit=given["limit"],
            offset=given["offset"],
            sort=given["sort"],
            role=roles,
            exclude_conversation=current,
        )
        found = [(hit, db.sessions.get(hit.session_id)) for hit in hits]

        def build(cap: int, window: int) -> dict[str, Any]:
            results = [self._result(db, session, hit.best, given["query"], cap, window) for hit, session in found]
            answer = {"success": True, "mode": "discover", "query": given["query"], "results": results}
            answer |= {"count": len(results), "sessions_searched": db.sessions.count()}
            remarks = {"degraded": list(hits.degraded), "notes": list(hits.notes)}
            return answer | {name: texts for name, texts in remarks.items() if texts}

        return fit(build, windows=(min(given["window"], 5), 2, 1, 0), tokens=self._budget)

    def _result(
        self, db: SessionDB, session: Session, best: MessageHit | None, query: str, cap: int, window: int
    ) -> dict[str, Any]:
        """One conversation found; without a message that matches (its title does), only its start and end."""
        shown_ids: set[int] = set()
        shown = session_shape(session)
        if best is not None:
            around = db.messages.window(session.id, best.message_id, before=window, after=window)
            shown_ids = {message.id for message in around.messages}
            offset = _offset_of(around.messages, best, query)
            shown |= {
                "when": best.created_at.isoformat(),
                "matched_role": best.role,
                "match_message_id": best.message_id,
                "snippet": best.snippet,
                "messages": [
                    message_shape(message, cap, anchor=best.message_id, around=offset) for message in around.messages
                ],
                "messages_before": around.before,
                "messages_after": around.after,
            }
        start, end = self._bookends(db, session.id, shown_ids) if window > 1 or best is None else ([], [])
        return shown | {
            "bookend_start": [message_shape(message, min(cap, 500)) for message in start],
            "bookend_end": [message_shape(message, min(cap, 500)) for message in end],
        }

    def _bookends(self, db: SessionDB, session_id: str, shown: set[int]) -> tuple[list[Message], list[Message]]:
        """The first and last things said in a session, without those that are shown anyway."""
        read = db.messages.list
        start = read(session_id, states=_VISIBLE, roles=SPEAKING, limit=_BOOKENDS)
        end = read(session_id, states=_VISIBLE, roles=SPEAKING, limit=_BOOKENDS, newest_first=True)[::-1]
        first = {message.id for message in start}
        return (
            [message for message in start if message.id not in shown],
            [message for message in end if message.id not in shown | first],
        )

    # --- scroll, read, browse -----------------------------------------------------------------------------------

    def _scroll(self, db: SessionDB, given: dict[str, Any]) -> str:
        session = db.sessions.resolve(given["session_id"])
        anchor = given["around_message_id"]
        warning = None
        owner = db.messages.get(anchor).session_id
        if owner != session.id:
            other = db.sessions.get(owner)
            if other.conversation_id != session.conversation_id:
                raise MessageNotFound(anchor, session.id)
            warning = f"message {anchor} is in an earlier or later segment of this conversation: {owner}"
            session = other
        self._refuse_current(session)

        def build(cap: int, window: int) -> dict[str, Any]:
            around = db.messages.window(session.id, anchor, before=window, after=window)
            answer = {
                "success": True,
                "mode": "scroll",
                "session_id": session.id,
                "around_message_id": anchor,
                "session_meta": session_shape(session),
                "window": window,
                "messages": [message_shape(message, cap, anchor=anchor) for message in around.messages],
                "messages_before": around.before,
                "messages_after": around.after,
            }
            return answer | ({"warning": warning} if warning else {})

        asked = given["window"]
        return fit(build, windows=tuple(dict.fromkeys((asked, asked // 2, 1, 0))), tokens=self._budget)

    def _read(self, db: SessionDB, given: dict[str, Any]) -> str:
        session = db.sessions.resolve(given["session_id"])
        total = db.messages.count(session.id, states=_VISIBLE)
        read = db.messages.list

        def build(cap: int, window: int) -> dict[str, Any]:
            head, tail = max(1, _READ_HEAD * window // 4), max(1, _READ_TAIL * window // 4)
            shown = read(session.id, states=_VISIBLE, limit=head)
            if total > head:
                rest = read(session.id, states=_VISIBLE, limit=min(tail, total - head), newest_first=True)
                shown += rest[::-1]
            return {
                "success": True,
                "mode": "read",
                "session_id": session.id,
                "session_meta": session_shape(session),
                "message_count": total,
                "truncated": len(shown) < total,
                "messages": [message_shape(message, cap) for message in shown],
            }

        return fit(build, windows=(4, 2, 1, 0), tokens=self._budget)

    def _browse(self, db: SessionDB, given: dict[str, Any]) -> str:
        wanted = SessionFilter(exclude_sources=_AUTOMATION)
        current = db.sessions.find(self._current) if self._current else None
        listed = db.sessions.list(wanted, limit=given["limit"] + 1, offset=given["offset"])
        if current is not None:
            listed = [session for session in listed if session.conversation_id != current.conversation_id]
        listed = listed[: given["limit"]]
        previews = db.sessions.previews([session.id for session in listed])
        results = [session_shape(session) | {"preview": previews.get(session.id, "")} for session in listed]
        answer = {"success": True, "mode": "browse", "results": results, "count": len(results)}
        return fit(lambda _cap, _window: answer, windows=(0,), tokens=self._budget)

    def _refuse_current(self, session: Session) -> None:
        if not self._current:
            return
        current = self._db.sessions.find(self._current)
        if current is not None and current.conversation_id == session.conversation_id:
            raise InvalidValue("that is the current conversation; it is in your context already")


def _offset_of(messages: tuple[Message, ...], best: MessageHit, query: str) -> int | None:
    """Where the first match begins in the text of a hit, for cutting a long text around it."""
    text = next((m.content for m in messages if m.id == best.message_id and isinstance(m.content, str)), "")
    spans = highlights(text, query)
    return spans[0][0] if spans else None


def _arguments(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """Arguments as the four shapes take them: numbers within their bounds, blanks as absent.

    Raises:
        InvalidValue: not an object, or a value of the wrong kind; names it.
    """
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except json.JSONDecodeError as error:
            raise InvalidValue(f"the arguments are not JSON: {error}") from error
    if not isinstance(arguments, Mapping):
        raise InvalidValue(f"the arguments are a JSON object, not {arguments!r}")
    unknown = arguments.keys() - SCHEMA["function"]["parameters"]["properties"].keys()
    if unknown:
        raise InvalidValue(f"unknown argument {min(unknown)!r}")
    given = {name: value for name, value in arguments.items() if value not in (None, "")}
    for name in ("query", "role_filter", "session_id", "profile"):
        if name in given and not isinstance(given[name], str):
            raise InvalidValue(f"{name} is a string, not {given[name]!r}")
    given["limit"] = _integer(given, "limit", 3, 1, MAX_RESULTS)
    given["offset"] = _integer(given, "offset", 0, 0, 10_000)
    given["window"] = _integer(given, "window", 5, 1, MAX_WINDOW)
    if "around_message_id" in given:
        given["around_message_id"] = _integer(given, "around_message_id", 0, 0, 2**62)
    given["sort"] = given.get("sort", "relevance")
    if given["sort"] not in ("relevance", "newest", "oldest"):
        raise InvalidValue(f"sort is relevance, newest or oldest, not {given['sort']!r}")
    return given


def _integer(given: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    """A whole number, held to its bounds; models send "5" and 5.0 as well as 5."""
    value = given.get(name, default)
    try:
        number = int(float(value)) if isinstance(value, str) else int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValue(f"{name} is a whole number, not {value!r}") from error
    return max(low, min(number, high))
