"""How many tokens a conversation takes, estimated.

No tokenizer is asked, since every model has its own: 4 characters of ASCII count for a token and every other character
for 0.7 (`hermes_state.session_search.budget`), plus 4 tokens of framing for each message and 1,000 for a picture.
Against the tokenizers of current models that is a few per cent high for English, up to a third high for Chinese: an
estimate that errs on the side of compressing early.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from hermes_state.session_search.budget import estimate_tokens

FRAMING_TOKENS = 4
IMAGE_TOKENS = 1000


@lru_cache(maxsize=8)
def prompt_tokens(text: str) -> int:
    """About how many tokens a system prompt takes; asked for each turn, and the same for most."""
    return FRAMING_TOKENS + estimate_tokens(text)


def message_tokens(message: Mapping[str, Any]) -> int:
    """About how many tokens a message takes."""
    total = FRAMING_TOKENS + _content_tokens(message.get("content"))
    if message.get("tool_calls"):
        total += estimate_tokens(json.dumps(message["tool_calls"], ensure_ascii=False, default=str))
    return total


def schema_tokens(tools: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens the schemas of tools take."""
    return sum(estimate_tokens(json.dumps(tool, ensure_ascii=False)) for tool in tools)


def _content_tokens(content: Any) -> int:
    if not content:
        return 0
    if isinstance(content, str):
        return estimate_tokens(content)
    if isinstance(content, list):
        return sum(_part_tokens(part) for part in content)
    return estimate_tokens(json.dumps(content, ensure_ascii=False, default=str))


def _part_tokens(part: Any) -> int:
    if isinstance(part, Mapping):
        text = part.get("text")
        return estimate_tokens(text) if isinstance(text, str) else IMAGE_TOKENS
    return estimate_tokens(str(part))
