"""What a search gives: hits with their context, and what a person should know about how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from hermes_state.records import Relation

_Hit = TypeVar("_Hit")
_new, _set = object.__new__, object.__setattr__


@dataclass(frozen=True, kw_only=True)
class ContextMessage:
    """A message beside a hit, or the hit itself, cut to a few lines.

    Attributes:
        is_hit: It is the hit.
        is_cut: The message goes on.
    """

    message_id: int
    role: str
    text: str
    created_at: datetime
    is_hit: bool = False
    is_cut: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PieceScore:
    """What one word or phrase of the query did for a hit.

    Attributes:
        piece: As typed.
        messages: How many messages hold it; a guess when `is_cut`.
        worth: What holding it is worth.
        part: What it gave this hit.
        is_cut: So many messages hold it that only the newest were looked at.
    """

    piece: str
    messages: int
    worth: float
    part: float
    is_cut: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Why:
    """Why a hit stands where it stands: score = own * factor + beside + date.

    Attributes:
        own: What its words are worth.
        factor: How much such a message counts, by role, source and age.
        beside: What the messages next to it gave.
        date: What a date named in the query gave.
        pieces: What its words are made of.
    """

    own: float
    factor: float
    beside: float
    date: float
    pieces: tuple[PieceScore, ...]


@dataclass(frozen=True, kw_only=True)
class MessageHit:
    """A message that was found.

    Attributes:
        session_id: Where it is; `conversation_id` is the session to resume.
        snippet: The stretch of its text that shows why, on one line, matches between `>>>` and `<<<`.
        context: Messages around it in its session, itself among them.
        parent_id, relation: Of its session: who delegated it, where it branched off.
        is_compacted: It was summarised away since.
        why: Only when asked for.
    """

    message_id: int
    session_id: str
    conversation_id: str
    role: str
    snippet: str
    score: float
    created_at: datetime
    source: str
    title: str | None = None
    position: int = 0
    tool_name: str | None = None
    model: str | None = None
    context: tuple[ContextMessage, ...] = ()
    parent_id: str | None = None
    relation: Relation | None = None
    is_archived: bool = False
    is_compacted: bool = False
    why: Why | None = None


def context_message_of(fields: dict[str, Any]) -> ContextMessage:
    """A record with these fields, the others at their defaults; `fields` becomes its own dictionary.

    A frozen dataclass sets each field through a guarded call. A search makes sixty of these and twenty hits, which
    would be a tenth of its time.
    """
    message = _new(ContextMessage)
    _set(message, "__dict__", fields)
    return message


def message_hit_of(fields: dict[str, Any]) -> MessageHit:
    """As `context_message_of`."""
    hit = _new(MessageHit)
    _set(hit, "__dict__", fields)
    return hit


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationHit:
    """A conversation that was found.

    Attributes:
        conversation_id: The session to resume.
        session_id: Where its best hit is.
        title: Of the session to resume, or of that where the best hit is.
        best: Its best message; None when only its title matches.
        hits: Its best messages, best first.
        hit_count: How many of its messages were among those ranked.
        context: Around the best message.
        title_matches: The title holds words of the query.
    """

    conversation_id: str
    session_id: str
    title: str | None
    source: str
    score: float
    started_at: datetime
    last_active_at: datetime
    hits: tuple[MessageHit, ...] = ()
    hit_count: int = 0
    snippet: str = ""
    context: tuple[ContextMessage, ...] = ()
    model: str | None = None
    parent_id: str | None = None
    relation: Relation | None = None
    is_archived: bool = False
    title_matches: bool = False

    @property
    def best(self) -> MessageHit | None:
        """The message that tells most."""
        return self.hits[0] if self.hits else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """How a search went, for `--explain`.

    Attributes:
        pieces: What was looked for: how many messages hold it, what it is worth, whether its list was cut off.
        candidates: Messages that were ranked.
        is_whole: Whether those were all that match.
        scanned: Messages read because they are not in the index.
    """

    pieces: tuple[PieceScore, ...] = ()
    candidates: int = 0
    is_whole: bool = True
    scanned: int = 0


class Hits(list[_Hit]):
    """Hits, best first or in the order asked for.

    Attributes:
        query: As typed.
        degraded: What kept the search from being what it should be: no index, an index being built. Empty is good.
        notes: How the query was read, where that may not be as meant.
    """

    def __init__(
        self,
        hits: Iterable[_Hit] = (),
        *,
        query: str = "",
        degraded: Sequence[str] = (),
        notes: Sequence[str] = (),
        explain: Callable[[], Explanation] | None = None,
    ) -> None:
        super().__init__(hits)
        self.query = query
        self.degraded = tuple(degraded)
        self.notes = tuple(notes)
        self._explain = explain or Explanation

    @cached_property
    def explanation(self) -> Explanation:
        """How the search went."""
        return self._explain()  # few ask, and it would be a twentieth of a search that finds nothing


__all__ = ["ContextMessage", "ConversationHit", "Explanation", "Hits", "MessageHit", "PieceScore", "Why"]
