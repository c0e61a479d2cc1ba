"""Fitting an answer into a number of tokens: long fields are cut and say so, then edges of windows go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Characters a message field may have, tried in turn until the answer fits.
FIELD_CAPS = (4000, 2000, 1000, 500, 240, 120)
# A token is about 4 ASCII characters; of other scripts about 0.7 tokens go to a character.
_ASCII_PER_TOKEN = 4.0
_TOKENS_PER_OTHER = 0.7


def estimate_tokens(text: str) -> int:
    """About how many tokens a model counts for a text; no tokenizer is asked, so that none has to be installed."""
    others = sum(character > "\x7f" for character in text) if not text.isascii() else 0
    return int((len(text) - others) / _ASCII_PER_TOKEN + others * _TOKENS_PER_OTHER) + 1


def cut(text: str, cap: int, around: int | None = None) -> str:
    """At most `cap` characters of a text: its start and end, or the surroundings of the offset `around`."""
    if len(text) <= cap:
        return text
    if around is None:
        head = cap * 2 // 3
        return f"{text[:head]} … {text[len(text) - (cap - head) :]}"
    start = max(0, min(around - cap // 3, len(text) - cap))
    return ("… " if start else "") + text[start : start + cap] + (" …" if start + cap < len(text) else "")


def fit(build: Callable[[int, int], dict[str, Any]], *, windows: tuple[int, ...], tokens: int) -> str:
    """The richest answer within a budget, as JSON.

    Args:
        build: makes the answer for a cap on fields (characters) and a size of windows (messages on each side).
        windows: sizes to try, the largest first; every cap is tried with one before the next.
        tokens: the budget. When even the poorest answer is over it, that one is returned, marked `over_budget`.
    """
    for window in windows:
        for cap in FIELD_CAPS:
            answer = build(cap, window)
            text = json.dumps(answer, ensure_ascii=False)
            if estimate_tokens(text) <= tokens:
                return _safe(text)
    return _safe(json.dumps(answer | {"over_budget": True}, ensure_ascii=False))


def _safe(text: str) -> str:
    """JSON that every transport takes: lone surrogates are escaped."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text))
    return text
