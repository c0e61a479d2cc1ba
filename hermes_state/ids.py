"""Session ids: sortable by start for people, random enough that no two ever meet."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from hermes_state.errors import InvalidValue

# Longest id taken, in characters; ids of other products are well below it.
MAX_ID_CHARS = 512


def new_session_id() -> str:
    """`YYYYMMDD_HHMMSS_` and 12 random hex digits (48 bits): never derived from the content, never guessable."""
    return f"{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(6)}"


def check_session_id(session_id: str) -> str:
    """The id as given, when the store can keep it.

    Raises:
        InvalidValue: empty, longer than `MAX_ID_CHARS`, or with control characters or lone surrogates.
    """
    if not isinstance(session_id, str) or not session_id:
        raise InvalidValue(f"a session id is a non-empty string, not {session_id!r}")
    if len(session_id) > MAX_ID_CHARS:
        raise InvalidValue(f"session id of {len(session_id)} characters; at most {MAX_ID_CHARS} are kept")
    if any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in session_id):
        raise InvalidValue(f"session id {session_id!r} has control characters or lone surrogates")
    return session_id
