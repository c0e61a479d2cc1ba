"""Titles: unique, cleaned, and succeeding each other as `plan`, `plan #2`, `plan #3`."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from sqlalchemy import func, or_, select, update

from hermes_state.errors import InvalidValue, TitleTaken
from hermes_state.schema import sessions

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Longest title in characters, as the peer's; a number like ` #12` counts.
MAX_TITLE_CHARS = 100
_NUMBERED = re.compile(r"(?P<base>.*?) #(?P<number>[1-9][0-9]{0,8})", re.DOTALL)
# Format characters that a title may keep: joiners inside emoji and words of Persian, Hindi and the like.
_JOINERS = "\u200c\u200d"


def clean_title(title: str | None) -> str | None:
    """The title as it is kept: no control, bidi or surrogate characters, white space collapsed; None when empty.

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
    if len(shown) > MAX_TITLE_CHARS:
        raise InvalidValue(f"a title of {len(shown)} characters; at most {MAX_TITLE_CHARS} are kept")
    return shown or None


_DROPPED = ("Cc", "Cf", "Cs")


def split_number(title: str) -> tuple[str, int]:
    """`plan #3` as (`plan`, 3); a title without a number is number 1 of itself."""
    match = _NUMBERED.fullmatch(title)
    return (match["base"], int(match["number"])) if match and match["base"] else (title, 1)


def _family(connection: Connection, base: str) -> list[tuple[int, str, int]]:
    """(number, title, session pk) of every session titled `base` or `base #N`."""
    # A range instead of LIKE: no wildcard in a title can widen it, and the title index serves it.
    low, high = f"{base} #", f"{base} $"
    rows = connection.execute(
        select(sessions.c.title, sessions.c.pk).where(
            or_(sessions.c.title == base, (sessions.c.title >= low) & (sessions.c.title < high))
        )
    )
    return [(split_number(t)[1], t, pk) for t, pk in rows if t == base or split_number(t)[0] == base]


def next_title(connection: Connection, title: str) -> str:
    """`title` if it is free, else its base with the next number; never longer than `MAX_TITLE_CHARS`."""
    base, _ = split_number(title)
    numbers = {number for number, _, _ in _family(connection, base)}
    if not numbers:
        return base
    while True:
        suffix = f" #{max(numbers) + 1}"
        if len(base) + len(suffix) <= MAX_TITLE_CHARS:
            return base + suffix
        base = base[: MAX_TITLE_CHARS - len(suffix)].rstrip()
        numbers |= {number for number, _, _ in _family(connection, base)}


def find_by_title(connection: Connection, title: str) -> int | None:
    """The pk of the session a title means: of `plan`, `plan #2`, … the one started last; exact when it has a number."""
    if split_number(title)[1] > 1:
        exact = connection.execute(select(sessions.c.pk).where(sessions.c.title == title)).scalar()
        if exact is not None:
            return int(exact)
    pks = [pk for _, _, pk in _family(connection, title)]
    if not pks:
        return None
    newest = (
        select(sessions.c.pk)
        .where(sessions.c.pk.in_(pks))
        .order_by(sessions.c.started_at.desc(), func.length(sessions.c.title).desc(), sessions.c.title.desc())
    )
    found = connection.execute(newest.limit(1)).scalar()
    return None if found is None else int(found)


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
