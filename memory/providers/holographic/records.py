"""What the fact store gives and takes: plain frozen records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

DEFAULT_CATEGORY = "general"
CATEGORIES = ("user_pref", "project", "tool", "general")


class Scope(NamedTuple):
    """Whose facts are meant.

    Attributes:
        user_id: a user's and everybody's ("" is everybody's alone); None: any user's.
        session_id: likewise those kept to one conversation, and those that are not.
    """

    user_id: str | None = ""
    session_id: str | None = ""


# What a person sees who has the home: every fact there is.
EVERYTHING = Scope(None, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A stored fact.

    Attributes:
        id: never given out twice.
        category: one of `CATEGORIES`, or any other word.
        tags: separated by commas.
        trust: 0 to 1.
        source: how it came in: `tool`, `memory` or `user` (mirrored), `extracted`, `imported`, `command`.
        updated_at: of its content, category or tags, or of its last helpful mark.
        user_id, session_id: see `Scope`; "" when it is not kept to one.
        superseded_by: the fact that took its place; `superseded_at` is set as well. It is kept and not recalled.
    """

    id: int
    content: str
    category: str
    tags: str
    trust: float
    retrieval_count: int
    helpful_count: int
    created_at: datetime
    updated_at: datetime
    source: str
    user_id: str
    session_id: str
    superseded_by: int | None
    superseded_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewFact:
    """A fact to store.

    Attributes:
        trust: None: the store's default.
        created_at, updated_at: microseconds since 1970 UTC; None: now.
        user_id, session_id: whose it is; "" everybody's.
    """

    content: str
    category: str = DEFAULT_CATEGORY
    tags: str = ""
    trust: float | None = None
    source: str = "tool"
    user_id: str = ""
    session_id: str = ""
    retrieval_count: int = 0
    helpful_count: int = 0
    created_at: int | None = None
    updated_at: int | None = None


class Added(NamedTuple):
    """The fact's id, and whether it was new; the store keeps the same content once."""

    fact_id: int
    is_new: bool


class Marked(NamedTuple):
    """What a mark of feedback changed."""

    fact_id: int
    old_trust: float
    new_trust: float
    helpful_count: int


class Hit(NamedTuple):
    """A recalled fact.

    Attributes:
        score: what the order is by: relevance times trust times age.
        relevance: how well it answers, 0 to 1.
        signals: full text, token overlap and vector similarity, each 0 to 1; entity queries have the last only.
        via: for a fact that was reached over a shared entity, that entity; "" for a direct one.
    """

    fact: Fact
    score: float
    relevance: float
    signals: tuple[float, float, float]
    via: str = ""
