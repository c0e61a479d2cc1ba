"""How a session of an export stands to the sessions that are here: the same, older, newer, or gone another way.

Two homes that were one once have sessions in common, and each may have gone on. What tells is the messages: when one
side's are the beginning of the other's, the longer one has everything; the marks that a message was compacted or taken
back are those of the longer one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sqlalchemy import select

from hermes_state.schema import sessions
from hermes_state.titles import split_number
from hermes_state.transfer.dump import session_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.transfer.lines import Line

_c = sessions.c
# Between a session's id and the digest of its messages, in the id of one that went another way elsewhere.
MARK = "~"
# [hex digits] of that digest.
_SHOWN = 12
# Of a message, what changes when the conversation goes on.
_STATES = ("state", "rewind_number")
# Of a session line, what is not its own: ids differ where it came in beside another, and the count follows.
_PLACED = frozenset(("id", "parent_id", "relation", "messages", "title"))


class Standing(Enum):
    """What the export's session is, seen from here."""

    NEW = "new"
    EQUAL = "equal"
    OLDER = "older"  # it is here and went on here
    NEWER = "newer"  # it is here and went on there
    CHANGED = "changed"  # the same messages; title, tags or the like differ
    PARTED = "parted"  # both went on, each in its own way


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What was said in a session: a digest of each message without its state, and the fields of its own line."""

    messages: tuple[bytes, ...]
    states: tuple[tuple[object, ...], ...]
    fields: Line

    @property
    def digest(self) -> str:
        """The same for the same messages, in any store."""
        return hashlib.sha256(b"".join(self.messages)).hexdigest()[:_SHOWN]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kin:
    """The session here that an export's session is compared with, and how it stands to it.

    Attributes:
        id: of the session here; "" for a new one.
        known: how many messages it has.
        what: which fields differ, for `CHANGED`.
    """

    standing: Standing
    id: str = ""
    known: int = 0
    what: str = ""


def said(line: Line, messages: Iterable[Line]) -> Said:
    """What a session line and its message lines say."""
    digests, states = [], []
    for message in messages:
        fields = {name: value for name, value in message.items() if name not in _STATES}
        digests.append(hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).digest()[:16])
        states.append(tuple(message.get(name) for name in _STATES))
    fields = {name: value for name, value in line.items() if name not in _PLACED} | {"title": _title(line)}
    return Said(messages=tuple(digests), states=tuple(states), fields=fields)


def _title(line: Line) -> str | None:
    """The title without the number it may have got because another session has it."""
    title = line.get("title")
    return split_number(title)[0] if isinstance(title, str) else None


def base_of(session_id: str) -> str:
    """The id a session had before it came in beside another."""
    return session_id.partition(MARK)[0]


def beside(session_id: str, what: Said) -> str:
    """The id under which a session comes in beside the one here that went another way."""
    return f"{base_of(session_id)}{MARK}{what.digest}"


def find(connection: Connection, session_id: str, theirs: Said) -> Kin:
    """The session here that is an export's, or was it once."""
    family = _family(connection, session_id)
    if not family:
        return Kin(standing=Standing.NEW)
    found = [_compared(connection, pk, own_id, theirs) for own_id, pk in family]
    order = (Standing.EQUAL, Standing.OLDER, Standing.CHANGED, Standing.NEWER)
    known = [kin for standing in order for kin in found if kin.standing is standing]
    if known:
        return known[0]
    is_here = any(own_id == session_id for own_id, _ in family)
    return Kin(standing=Standing.PARTED, id=session_id) if is_here else Kin(standing=Standing.NEW)


def _family(connection: Connection, session_id: str) -> Sequence[tuple[str, int]]:
    base = base_of(session_id)
    prefix = f"{base}{MARK}"
    named = select(_c.id, _c.pk).where(_c.id == base)
    beside_it = select(_c.id, _c.pk).where(
        _c.id > prefix, _c.id < f"{base}{chr(ord(MARK) + 1)}"
    )  # a range of the index
    found = [*connection.execute(named), *connection.execute(beside_it)]
    return sorted((row.id, row.pk) for row in found if row.id == base or row.id.startswith(prefix))


def _compared(connection: Connection, session_pk: int, own_id: str, theirs: Said) -> Kin:
    own = session_lines(connection, session_pk)
    ours = said(next(own), own)
    shared = min(len(ours.messages), len(theirs.messages))
    if ours.messages[:shared] != theirs.messages[:shared]:
        return Kin(standing=Standing.PARTED, id=own_id)
    if len(ours.messages) > shared:
        return Kin(standing=Standing.OLDER, id=own_id)
    if len(theirs.messages) > shared:
        return Kin(standing=Standing.NEWER, id=own_id, known=shared)
    names = sorted({*ours.fields, *theirs.fields})
    changed = [name for name in names if ours.fields.get(name) != theirs.fields.get(name)]
    if ours.states != theirs.states:
        changed.append("states of messages")
    if changed:
        return Kin(standing=Standing.CHANGED, id=own_id, what=", ".join(changed))
    return Kin(standing=Standing.EQUAL, id=own_id)
