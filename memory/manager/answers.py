"""What a provider answers, made harmless: text that is text, and tool results that are JSON."""

from __future__ import annotations

import json
import re
from typing import Any

# Characters of a provider's text that are looked at; recall is cut to its budget later.
TEXT_MAX_CHARS = 200_000
# Characters of a tool result that reach the model.
TOOL_RESULT_MAX_CHARS = 100_000
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")


class Junk(Exception):
    """An answer that is nothing the contract knows; the text says what it is."""


def text_of(answer: object) -> str:
    """A provider's text: None is none, lone surrogates and NUL are replaced, what is huge is cut.

    Raises:
        Junk: it is no text.
    """
    if answer is None:
        return ""
    if not isinstance(answer, str):
        raise Junk(f"a text is wanted, not {type(answer).__name__}")
    return encodable(answer[:TEXT_MAX_CHARS])


def encodable(text: str) -> str:
    """The text with U+FFFD in the place of what UTF-8 or a model's API can't hold."""
    return _UNSENDABLE.sub("\ufffd", text)


def tool_result(answer: object) -> str:
    """A tool's answer as one JSON document that any API takes, whatever the provider gave.

    A text that is JSON stays as it is; any other text becomes `{"result": text}`; objects are written out; what is
    longer than `TOOL_RESULT_MAX_CHARS` is cut and says so.
    """
    if isinstance(answer, bytes | bytearray):
        answer = bytes(answer).decode("utf-8", "replace")
    if isinstance(answer, str):
        text = encodable(answer)
        if len(text) <= TOOL_RESULT_MAX_CHARS:
            return text if _is_json(text) else dumped({"result": text})
        return _cut(text)
    text = dumped(answer if isinstance(answer, dict | list) else {"result": answer})
    return text if len(text) <= TOOL_RESULT_MAX_CHARS else _cut(text)


def tool_error(message: str) -> str:
    """A tool result that tells the model what went wrong."""
    return dumped({"error": encodable(message)})


def dumped(value: object) -> str:
    """A value as strict JSON; what JSON does not know is told by its text."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except (TypeError, ValueError, RecursionError):  # keys that are no text, NaN, a circle
        text = json.dumps({"result": repr(value)[:TOOL_RESULT_MAX_CHARS]}, ensure_ascii=False)
    return encodable(text)


def _cut(text: str) -> str:
    return dumped({"result": text[:TOOL_RESULT_MAX_CHARS], "truncated": True, "characters": len(text)})


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> Any:
    raise ValueError(constant)  # NaN and Infinity: Python reads them, no other reader has to
