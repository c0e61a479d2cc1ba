"""The provider as a host runs it: found by its name, in the manager, through a whole session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hermes_state.store import SessionDB
from memory.discovery import Discovery
from memory.manager import MemoryManager
from memory.providers.holographic.store import FactStore
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def manager(home: Path) -> Iterator[MemoryManager]:
    """A manager with the provider that the home's configuration names, started for a session."""
    (home / "config.yaml").write_text(
        "memory:\n  provider: holographic\nplugins:\n  hermes-memory-store:\n    auto_extract: 'true'\n"
    )
    settings = MemorySettings.load(home)
    with SessionDB.open(home=home, synchronous="NORMAL") as db:
        made = MemoryManager(db, home=home, settings=settings)
        made.add_configured(Discovery(home))
        made.initialize("s1", platform="cli")
        yield made
        made.shutdown(timeout_s=20.0)


def contents(home: Path) -> set[str]:
    with SessionDB.open(home=home, read_only=True) as db:
        return {fact.content for fact in FactStore(db.engine).list(limit=100)}


def test_b118_a_session_from_start_to_end(manager: MemoryManager, home: Path) -> None:
    assert {"fact_store", "fact_feedback"} <= manager.tool_names()
    for content in ("The deploy key is in the vault", "Dana Okafor likes jazz", "王伟负责净值报表"):
        answer = json.loads(manager.handle_tool_call("fact_store", {"action": "add", "content": content}))
        assert answer["status"] == "added"
    assert "3 facts" in manager.system_prompt()
    recalled = manager.prefetch("where is the deploy key?", session_id="s1")
    assert "[0.5] The deploy key is in the vault" in recalled
    assert "jazz" not in recalled
    assert [status.count for status in manager.recall_status()] == [1]
    manager.on_memory_write("replace", "user", "Likes blues", {"previous_content": "Likes jazz"})
    manager.on_session_end([{"role": "user", "content": "I prefer tabs over spaces."}])
    assert manager.flush(20.0)
    assert "Likes blues" in contents(home)
    assert any("tabs over spaces" in content for content in contents(home))
    assert not [each for each in manager.status().providers if each.last_error]


def test_a_checkpoint_is_there_before_the_transcript_goes(manager: MemoryManager, home: Path) -> None:
    assert manager.supports_pre_compress_checkpoint()
    said = [
        {"role": "user", "content": "I always deploy on Tuesdays."},
        {"role": "tool", "content": "I always deploy on Fridays."},
    ]
    kept = manager.on_pre_compress(said, evidence_messages=said, require_checkpoint=True)
    assert "Tuesdays" in kept
    assert any("Tuesdays" in content for content in contents(home))
    assert not any("Fridays" in content for content in contents(home))
