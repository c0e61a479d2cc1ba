"""An agent of a home, put together: built-in memory, the configured provider, the model, skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.agent.agent import DEFAULT_CONTEXT_TOKENS, Agent
from memory.agent.prompt import BASE_INSTRUCTIONS
from memory.agent.skills import find_skills, skill_tool, skills_block
from memory.builtin import BuiltinMemory, BuiltinProvider
from memory.discovery import Discovery
from memory.manager.manager import MemoryManager

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hermes_state import SessionDB
    from memory.agent.model import Model
    from memory.agent.surface import Surface
    from memory.agent.tools import Tool
    from memory.settings import MemorySettings

# The persona of a home, as the peer keeps it; it comes before our own instructions.
PERSONA_NAME = "SOUL.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wired:
    """An agent and what remembers for it."""

    agent: Agent
    manager: MemoryManager
    builtin: BuiltinMemory


def open_memory(db: SessionDB, home: Path, settings: MemorySettings) -> tuple[MemoryManager, BuiltinMemory]:
    """The memory of a home: built-in first, then what the settings name. A provider that fails is in `status()`."""
    builtin = BuiltinMemory.configured(home, db, settings)
    manager = MemoryManager(db, home=home, settings=settings, reserved_tools=("session_search", "skill_view"))
    manager.add_provider(BuiltinProvider(builtin))
    manager.add_configured(Discovery(home))
    return manager, builtin


def open_agent(
    db: SessionDB,
    home: Path,
    model: Model,
    settings: MemorySettings,
    *,
    surface: Surface | None = None,
    session_id: str | None = None,
    review_model: Model | None = None,
    context_tokens: int | None = None,
    platform: str = "cli",
    tools: Sequence[Tool] = (),
    facts: dict[str, Any] | None = None,
) -> Wired:
    """An agent with the memory, the persona and the skills of a home.

    Raises:
        SessionNotFound: there is no session `session_id`.
    """
    manager, builtin = open_memory(db, home, settings)
    agent = Agent(
        db,
        model,
        memory=manager,
        session_id=session_id,
        settings=settings,
        tools=[*tools, *([skill_tool(home)] if find_skills(home) else [])],
        home=home,
        instructions=_instructions(home),
        skills=lambda: skills_block(find_skills(home)),
        surface=surface,
        platform=platform,
        review_model=review_model,
        context_tokens=context_tokens or DEFAULT_CONTEXT_TOKENS,
        facts=facts,
    )
    return Wired(agent=agent, manager=manager, builtin=builtin)


def _instructions(home: Path) -> str:
    path = home / PERSONA_NAME
    persona = path.read_text(encoding="utf-8", errors="replace").strip() if path.is_file() else ""
    return f"{persona}\n\n{BASE_INSTRUCTIONS}" if persona else BASE_INSTRUCTIONS
