"""Before a compression: the table of the contract, line by line."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from recording import CheckpointRecorder, Recorder

from memory.errors import ProviderFailed

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from memory.manager import MemoryManager

    Manage = Callable[..., MemoryManager]

TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "system", "content": "be helpful"},
    {"role": "user", "content": "第一个问题"},
    {"role": "assistant", "content": "let me look", "tool_calls": [{"id": "1"}]},
    {"role": "tool", "content": "result"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "2"}]},
    {"role": "user", "content": "earlier", "_compressed_summary": True},
    {"role": "assistant", "content": "answer"},
]
EVIDENCE = [
    {"role": "user", "content": "第一个问题"},
    {"role": "assistant", "content": "let me look"},
    {"role": "assistant", "content": "answer"},
]


class OwnError(RuntimeError):
    """A provider's own."""


def raising(**_: Any) -> str:
    raise OwnError("durable checkpoint failed")


def test_version_1_gets_the_transcript_and_version_2_the_evidence(manage: Manage) -> None:
    """In the same call; the transcript is as it was."""
    old, new = Recorder("old", on_pre_compress=lambda **_: "from old"), CheckpointRecorder("new")
    manager = manage(old, new, providers=("old", "new"))
    before = copy.deepcopy(TRANSCRIPT)
    assert manager.on_pre_compress(TRANSCRIPT, require_checkpoint=True) == "from old"
    assert old.of("on_pre_compress")[0][1]["messages"] == TRANSCRIPT == before
    assert new.of("on_pre_compress")[0][1] == {"messages": EVIDENCE, "require_checkpoint": True}
    manager.on_pre_compress(TRANSCRIPT, evidence_messages=EVIDENCE[:1])
    assert new.of("on_pre_compress")[1][1] == {"messages": EVIDENCE[:1], "require_checkpoint": False}


def test_best_effort_swallows_both_and_returns_the_rest(manage: Manage) -> None:
    """Texts are joined by a blank line."""
    one = CheckpointRecorder("one", on_pre_compress=raising)
    two = Recorder("two", on_pre_compress=lambda **_: " kept ")
    three = CheckpointRecorder("three", on_pre_compress=lambda **_: "三")
    manager = manage(one, two, three, providers=("one", "two", "three"))
    assert manager.on_pre_compress(TRANSCRIPT) == "kept\n\n三"
    assert manager.status().providers[0].failures == 1


def test_strict_lets_the_error_of_a_version_2_provider_through_unchanged(manage: Manage) -> None:
    """The very class."""
    manager = manage(CheckpointRecorder("p", on_pre_compress=raising))
    with pytest.raises(OwnError, match=r"^durable checkpoint failed$"):
        manager.on_pre_compress(TRANSCRIPT, require_checkpoint=True)


def test_strict_swallows_the_error_of_a_version_1_provider(manage: Manage) -> None:
    """One version 2 provider that succeeds is enough, also one that returns None."""
    old, new = Recorder("old", on_pre_compress=raising), CheckpointRecorder("new", on_pre_compress=lambda **_: None)
    assert manage(old, new, providers=("old", "new")).on_pre_compress(TRANSCRIPT, require_checkpoint=True) == ""


@pytest.mark.parametrize("providers", [[], [Recorder("old")]], ids=["none", "version 1 alone"])
def test_strict_without_a_version_2_provider_fails(manage: Manage, providers: list[Recorder]) -> None:
    """With the contract's very words."""
    manager = manage(*providers)
    assert manager.supports_pre_compress_checkpoint() is False
    with pytest.raises(RuntimeError) as caught:
        manager.on_pre_compress(TRANSCRIPT, require_checkpoint=True)
    assert str(caught.value) == "No active memory provider completed pre-compress checkpoint API v2"


def test_a_provider_that_did_not_start_completes_nothing(manage: Manage) -> None:
    """Whatever it could do."""
    manager = manage(CheckpointRecorder("p", initialize=raising))
    assert manager.supports_pre_compress_checkpoint() is False


def test_strict_and_hanging_is_a_failure_within_the_deadline(manage: Manage, released: threading.Event) -> None:
    """A checkpoint that does not come is none."""
    manager = manage(CheckpointRecorder("p", on_pre_compress=lambda **_: released.wait(20)), checkpoint_timeout_s=0.1)
    assert manager.supports_pre_compress_checkpoint() is True
    with pytest.raises(ProviderFailed, match="no answer"):
        manager.on_pre_compress(TRANSCRIPT, require_checkpoint=True)


def test_strict_and_exiting_is_a_failure_of_the_provider(manage: Manage) -> None:
    """It does not end the agent."""

    def leave(**_: Any) -> str:
        raise SystemExit(0)

    with pytest.raises(ProviderFailed, match="SystemExit"):
        manage(CheckpointRecorder("p", on_pre_compress=leave)).on_pre_compress(TRANSCRIPT, require_checkpoint=True)


@pytest.mark.parametrize(
    ("version", "acknowledges"), [("2", True), (3, True), ("two", False), (None, False), (1.9, False)]
)
def test_the_version_is_read_as_a_number(manage: Manage, version: Any, acknowledges: bool) -> None:
    """What is none means version 1."""
    provider = CheckpointRecorder("p")
    provider.pre_compress_checkpoint_api_version = version
    assert manage(provider).supports_pre_compress_checkpoint() is acknowledges
