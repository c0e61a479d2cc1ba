"""Secrets out of texts: known shapes of tokens, keys and passwords become stable placeholders."""

from __future__ import annotations

from typing import Any


def redact_text(text: str) -> str:
    """The text with a placeholder like `[redacted:openai-key:1a2b3c4d]` for every secret that has a known shape.

    The same secret always gives the same placeholder, so that two messages about it can still be told to be about the
    same one; the words around it stay as they are.
    """
    raise NotImplementedError


def redact_value(value: Any) -> Any:
    """A copy of a JSON value with every text in it redacted; values under keys such as `api_key` too."""
    raise NotImplementedError
