"""Normalised evidence: what both sides said, nothing else, and the transcript stays as it is."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.checkpoint import evidence
from memory.errors import BLOCKED_PREFIX, CHECKPOINT_REMEDY, CompressionCheckpointUnavailable

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_only_what_the_two_sides_said_is_evidence() -> None:
    transcript: list[Any] = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "清洁烤箱", "id": 7},
        {"role": "assistant", "content": "Looking.", "tool_calls": [CALL], "reasoning": "r"},
        {"role": "tool", "tool_call_id": "c1", "content": "result"},
        {"role": "assistant", "content": "  \n", "tool_calls": [CALL]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "content": [{"type": "text", "text": " "}], "tool_calls": [CALL]},
        {"role": "assistant", "content": [{"type": "text", "text": "seen"}], "tool_calls": [CALL]},
        {"role": "user", "content": "summary of before", "_compressed_summary": True},
        {"role": "assistant", "content": "Done.", "tool_calls": []},
        {"role": "User", "content": "no such role"},
        {"role": ["user"], "content": "x"},
        {"content": "no role"},
        "a text",
        None,
    ]
    before = pickle.dumps(transcript)
    assert evidence(transcript) == [
        {"role": "user", "content": "清洁烤箱", "id": 7},
        {"role": "assistant", "content": "Looking.", "reasoning": "r"},
        {"role": "assistant", "content": [{"type": "text", "text": "seen"}]},
        {"role": "assistant", "content": "Done.", "tool_calls": []},
    ]
    assert pickle.dumps(transcript) == before


def test_a_provider_that_changes_its_evidence_changes_no_transcript() -> None:
    transcript = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    rows = evidence(transcript)
    rows[0]["content"][0]["text"] = "changed"
    rows[0]["role"] = "system"
    assert transcript == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


VALUES = st.recursive(st.none() | st.text(max_size=5) | st.integers(), lambda v: st.lists(v, max_size=3), max_leaves=5)
ROWS = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool"]), "content": VALUES},
    optional={"tool_calls": st.sampled_from([[], [CALL]]), "_compressed_summary": st.booleans(), "name": VALUES},
)


@given(st.lists(ROWS | VALUES, max_size=8))
def test_evidence_never_changes_a_transcript_and_is_evidence_already(transcript: list[Any]) -> None:
    before = copy.deepcopy(transcript)
    rows = evidence(transcript)
    assert transcript == before
    assert evidence(rows) == rows
    assert all(
        (row["role"] in ("user", "assistant") and not row.get("tool_calls")) or row["role"] == "user" for row in rows
    )


def test_a_refusal_to_compress_tells_the_remedy_where_there_is_one() -> None:
    never = CompressionCheckpointUnavailable("no active provider", capability=True)
    failed = CompressionCheckpointUnavailable("disk full")
    assert str(never) == f"{BLOCKED_PREFIX}no active provider; {CHECKPOINT_REMEDY}"
    assert str(failed) == f"{BLOCKED_PREFIX}disk full"
    for error in (never, failed):
        with pytest.raises(RuntimeError, match="BLOCKED_MISSING_PREREQUISITE: required pre-compress checkpoint"):
            raise error
