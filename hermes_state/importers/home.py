"""What there is to import: the state.db of a Hermes home and of its profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from hermes_state.store import SessionDB


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A Hermes state.db. `profile` is None for the home's own."""

    path: Path
    profile: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """A Hermes state.db with something this store has not seen.

    Attributes:
        source: which.
        sessions: how many it holds.
        new_sessions: how many of them were never imported.
        has_news: whether known sessions may have new messages.
        imported_before: whether an import of it was ever finished.
    """

    source: Source
    sessions: int
    new_sessions: int
    has_news: bool
    imported_before: bool


def sources(path: str | os.PathLike[str] | None = None) -> list[Source]:
    """The state.db of a home and of each of its profiles, those that exist; a file given by name is one by itself.

    Args:
        path: a home or a state.db; None: `$HERMES_HOME`, else `~/.hermes`.
    """
    raise NotImplementedError


def detect(db: SessionDB | None, path: str | os.PathLike[str] | None = None) -> list[Pending]:
    """Sources with something to import, the home's own first; cheap enough to ask before every search.

    Args:
        db: the store; None when there is none yet.
        path: as for `sources`.
    """
    raise NotImplementedError
