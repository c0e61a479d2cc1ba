"""Results of tools as JSON."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["tool_error", "tool_result"]


def tool_error(message: Any, **extra: Any) -> str:
    """A failed call."""
    return _json({"error": str(message), **extra})


def tool_result(data: Any = None, **fields: Any) -> str:
    """What a tool gives: `data`, or the fields, or the fields added to a mapping."""
    if data is None:
        return _json(fields)
    return _json({**data, **fields} if isinstance(data, dict) else {"result": data, **fields} if fields else data)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
