"""Foreign values: texts that hold JSON, and what has no place of its own here."""

from __future__ import annotations

import base64
import json
from typing import Any

from hermes_state.codec import MAX_DEPTH, to_json
from hermes_state.errors import InvalidValue

# How Hermes marks content that is a list or an object: this, then JSON.
JSON_MARK = "\0json:"


def decoded(value: Any) -> Any:
    """A message text with the JSON mark as its value; anything else, and a marked text that is not JSON, as it is."""
    if isinstance(value, str) and value.startswith(JSON_MARK):
        try:
            return _loads(value[len(JSON_MARK) :])
        except (ValueError, RecursionError):
            return value
    return kept(value)


def parsed(value: Any) -> Any:
    """A JSON text as its value; a text that is not JSON as it is."""
    if isinstance(value, str) and value[:1] in ("[", "{", '"'):
        try:
            return _loads(value)
        except (ValueError, RecursionError):
            return value
    return kept(value)


def _loads(json_text: str) -> Any:
    """As `json.loads`; JSON that is nested too deep to be stored as such is a ValueError too."""
    value = json.loads(json_text)
    if json_text.count("[") + json_text.count("{") > MAX_DEPTH:
        try:
            to_json(value, "")
        except InvalidValue as error:
            raise ValueError from error
    return value


def json_object(value: Any) -> dict[str, Any] | None:
    """The object that a JSON text holds; None when it holds anything else."""
    found = parsed(value)
    return found if isinstance(found, dict) else None


def kept(value: Any) -> Any:
    """A value of any SQLite type in a form that JSON can hold."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, float) and value != value:  # NaN, which SQLite stores as NULL anyway
        return None
    return value


def text(value: Any) -> str | None:
    """A value that should be a text; None when it is empty."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else str(kept(value))


def count(value: Any) -> int:
    """A value that should be a number that is not negative."""
    if isinstance(value, float | int) and 0 < value < 2**62:
        return int(value)
    return 0


def cost(value: Any) -> float | None:
    """A value that should be US dollars."""
    return float(value) if isinstance(value, float | int) else None
