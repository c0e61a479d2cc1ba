"""Titles: unique, cleaned, and succeeding each other as `plan`, `plan #2`, `plan #3`."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import or_, select, update

from hermes_state.errors import InvalidValue, TitleTaken
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Longest title in characters, as the peer's; a number like ` #12` counts.
MAX_TITLE_CHARS = 100
_NUMBERED = re.compile(r"(?P<base>.*?) #(?P<number>[1-9][0-9]{0,8})", re.DOTALL)
# Format characters that a title may keep: joiners inside emoji and words of Persian, Hindi and the like.
_JOINERS = "\u200c\u200d"


def clean_title(title: str | None, *, cut: bool = False) -> str | None:
    """The title as it is kept: no control, bidi or surrogate characters, white space collapsed; None when empty.

    Args:
        cut: shorten one that is too long instead of refusing it.

    Raises:
        InvalidValue: longer than `MAX_TITLE_CHARS`.
    """
    if title is None:
        return None
    shown = "".join(
        " " if c in "\t\n\r" else c
        for c in title
        if unicodedata.category(c) not in _DROPPED or c in "\t\n\r" + _JOINERS
    )
    shown = " ".join(shown.split()).strip(_JOINERS + " ")
    if cut:
        shown = shown[:MAX_TITLE_CHARS].rstrip(_JOINERS + " ")
    if len(shown) > MAX_TITLE_CHARS:
        raise InvalidValue(f"a title of {len(shown)} characters; at most {MAX_TITLE_CHARS} are kept")
    return shown or None


_DROPPED = ("Cc", "Cf", "Cs")


def split_number(title: str) -> tuple[str, int]:
    """`plan #3` as (`plan`, 3); a title without a number is number 1 of itself."""
    match = _NUMBERED.fullmatch(title)
    return (match["base"], int(match["number"])) if match and match["base"] else (title, 1)


class _Titled(NamedTuple):
    """A member of a family: `plan` is number 1 of its own."""

    number: int
    title: str
    pk: int
    started_at: int


def _family(connection: Connection, base: str) -> list[_Titled]:
    """Every session titled `base` or `base #N`."""
    # A range instead of LIKE: no wildcard in a title can widen it, and the title index serves it.
    low, high = f"{base} #", f"{base} $"
    c = sessions.c
    rows = connection.execute(
        select(c.title, c.pk, c.started_at).where(or_(c.title == base, (c.title >= low) & (c.title < high)))
    )
    members = []
    for title, pk, started_at in rows:
        own_base, number = (base, 1) if title == base else split_number(title)
        if own_base == base:
            members.append(_Titled(number, title, pk, started_at))
    return members


def next_title(connection: Connection, title: str) -> str:
    """`title` if it is free, else its base with the next number; never longer than `MAX_TITLE_CHARS`.

    A number is a successor's only where its base is a title too: what follows `Fix issue #42` is `Fix issue #42 #2`.
    """
    if not _is_taken(connection, title):
        return title
    base, _ = split_number(title)
    if not _is_taken(connection, base):
        base = title
    highest = _highest(connection, base)
    while len(base) + len(suffix := f" #{highest + 1}") > MAX_TITLE_CHARS:
        base = base[: MAX_TITLE_CHARS - len(suffix)].rstrip()
        highest = max(highest, _highest(connection, base))
    return base + suffix


def _is_taken(connection: Connection, title: str) -> bool:
    return connection.execute(select(sessions.c.pk).where(sessions.c.title == title)).scalar() is not None


def _highest(connection: Connection, base: str) -> int:
    return max((member.number for member in _family(connection, base)), default=1)


def find_by_title(connection: Connection, title: str) -> int | None:
    """The pk of the session a title means: of `plan`, `plan #2`, … the one started last."""
    newest = max(_family(connection, title), key=lambda member: (member.started_at, member.number), default=None)
    return None if newest is None else newest.pk


def claim(connection: Connection, session_pk: int, title: str) -> None:
    """Give a session a title, moving it off an earlier segment of the same conversation.

    Raises:
        TitleTaken: another conversation has it.
    """
    c = sessions.c
    holder = connection.execute(
        select(c.pk, c.id, c.source, c.archived, c.conversation_pk).where(c.title == title)
    ).fetchone()
    if holder is not None and holder.pk != session_pk:
        own = connection.execute(select(c.conversation_pk).where(c.pk == session_pk)).scalar_one()
        if own != holder.conversation_pk:
            raise TitleTaken(title, holder=holder.id, source=holder.source, archived=holder.archived)
        connection.execute(update(sessions).where(c.pk == holder.pk).values(title=None))
    connection.execute(update(sessions).where(c.pk == session_pk).values(title=title))
