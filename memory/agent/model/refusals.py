"""What an endpoint's refusal means: a status, a body, sometimes only words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from memory.agent.failures import ContextTooLong, ModelFault, ModelOverloaded, ModelRefused

# Request time-out, too early, too many requests; from 500 on the fault is the server's (529: "overloaded").
_BUSY = frozenset((408, 425, 429))
_TOO_LONG = (
    "context_length_exceeded", "context length", "context window", "maximum context", "too many tokens",
    "prompt is too long", "exceeds the available context", "input is too long",
)  # fmt: skip
_NO_MONEY = ("insufficient_quota", "insufficient credits", "billing", "payment required")
# Longest wait that an endpoint may ask for, in seconds; a longer one is for the caller to decide.
_MAX_RETRY_AFTER_S = 120.0


def refusal(status: int, body: str, *, retry_after: str | None = None, model: str = "", url: str = "") -> ModelFault:
    """The error that an HTTP answer, or an error object inside a stream, stands for.

    Args:
        status: the HTTP status, or the `code` inside the object where that is one.
        body: the body's text.
        retry_after: the header of that name: seconds, or an HTTP date.
    """
    said = _message(body)
    words = f"{said} {body[:2000]}".casefold()
    where = f"{url} answered {status}: {said}"
    if any(mark in words for mark in _NO_MONEY) and status in (402, 403, 429):
        return ModelRefused(where, hint="the account has no credit left, or its plan does not cover this model")
    if status in _BUSY or status >= 500:
        hint = "the endpoint is busy or failing; try again later, or use another model"
        return ModelOverloaded(where, hint=hint, retry_after_s=wait_of(retry_after))
    if any(mark in words for mark in _TOO_LONG):
        return ContextTooLong(where, hint="compress the conversation, or start a new one")
    return ModelRefused(where, hint=_hint(status, model))


def _hint(status: int, model: str) -> str:
    if status in (401, 403):
        return "check the API key: OPENAI_API_KEY, or model.api_key in config.yaml"
    if status == 404:
        return f"check the model's name ({model!r}) and the base URL, which usually ends in /v1"
    return "the endpoint does not take this request"


def _message(body: str) -> str:
    """The words of an error body in any of its usual shapes."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return " ".join(body.split())[:300] or "(nothing)"
    while isinstance(value, Mapping):
        for name in ("error", "message", "detail", "msg"):
            if value.get(name):
                value = value[name]
                break
        else:
            break
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:300]


def wait_of(retry_after: str | None) -> float | None:
    """Seconds to wait as a `Retry-After` header says (RFC 9110, 10.2.3); None when it says nothing one can read."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, min(seconds, _MAX_RETRY_AFTER_S)) if seconds == seconds else None
