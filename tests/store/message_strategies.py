"""Hypothesis strategies for what a message may hold."""

from __future__ import annotations

import datetime as dt
from typing import Any

from hypothesis import strategies as st

# Every code point, lone surrogates and NUL included.
any_text = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=60)
long_text = st.builds(lambda unit, times: unit * times, st.text(min_size=1, max_size=5), st.integers(1, 3000))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)
parts = st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, any_text)
    | st.builds(lambda data: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}, any_text),
    max_size=4,
)
contents = st.none() | any_text | long_text | parts | st.dictionaries(any_text, json_values, max_size=3)
names = st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=20)
instants = st.datetimes(
    min_value=dt.datetime(1, 1, 2),  # noqa: DTZ001  hypothesis wants naive bounds
    max_value=dt.datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.just(dt.UTC),
)
calls = st.lists(
    st.builds(
        lambda id_, name, arguments: {
            "id": id_,
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        },
        any_text,
        any_text,
        any_text,
    ),
    max_size=3,
)
UNKNOWN = ("mood", "x_provider", "meta", "id", "position", "session_id")


def messages() -> st.SearchStrategy[dict[str, Any]]:
    """Mappings that `append_many` takes; `platform_message_id` is left to tests of its own."""
    optional = {
        "content": contents,
        "created_at": instants,
        "tool_name": names,
        "tool_call_id": names,
        "tool_calls": calls,
        "token_count": st.integers(0, 2**40),
        "finish_reason": any_text,
        "reasoning": json_values,
        "reasoning_content": any_text,
        "reasoning_details": json_values,
        "codex_reasoning_items": json_values,
        "codex_message_items": json_values,
        "api_content": contents,
        "effect_disposition": any_text,
        "observed": st.booleans(),
        "extras": st.dictionaries(any_text, json_values, max_size=3),
        **dict.fromkeys(UNKNOWN, json_values),
    }
    roles = st.sampled_from(["user", "assistant", "tool", "system", "développeur"])
    return st.fixed_dictionaries({"role": roles}, optional=optional)
