"""What leaves for a provider: copies, and without keys, tokens and passwords of known shapes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

# Texts above this many characters are redacted anew each time instead of being remembered.
_REMEMBERED_MAX_CHARS = 8_000


class Handoff:
    """Makes what a provider gets out of what was said.

    Args:
        redact: put placeholders in the place of secrets; what the agent itself keeps stays as it is.
    """

    def __init__(self, *, redact: bool) -> None:
        self._redact = redact

    def text(self, text: str) -> str:
        """A text as a provider gets it."""
        if not self._redact or not text:
            return text
        return _known(text) if len(text) <= _REMEMBERED_MAX_CHARS else _redacted(text)

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it as a provider gets it; one that contains itself, as its text."""
        if not self._redact:
            return value
        try:
            return self._walked(value)
        except RecursionError:
            return {"text": self.text(repr(value))}

    def _walked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self._walked(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._walked(inner) for inner in value]
        return value

    def messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """A transcript; what is no message is left out."""
        if not self._redact:
            return [dict(message) for message in messages if isinstance(message, dict)]
        return [self.value(message) for message in messages if isinstance(message, dict)]


def _redacted(text: str) -> str:
    from hermes_state.redact import redact_text  # its patterns cost 10 ms to compile

    return redact_text(text)


# A transcript is handed over after each turn, and all but its end is as it was.
_known = lru_cache(maxsize=1024)(_redacted)
