"""The skills of a home: what the prompt says of them, and the tool that reads one.

A skill is a folder under `$HERMES_HOME/skills/` with a `SKILL.md` that begins with YAML front matter (`name`,
`description`), as the peer keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from hermes_state.errors import NotFound
from memory.agent.tools import Tool

if TYPE_CHECKING:
    from pathlib import Path

_MARK = "---"
# Longest description shown in the prompt, in characters.
_MAX_DESCRIPTION = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """One skill: its name, when it helps, and its file."""

    name: str
    description: str
    path: Path


def find_skills(home: Path) -> list[Skill]:
    """The skills of a home, by name. One whose front matter can't be read is known by its folder."""
    found: dict[str, Skill] = {}
    for path in sorted((home / "skills").glob("**/SKILL.md")):
        front = _front_matter(path.read_text(encoding="utf-8", errors="replace"))
        name = str(front.get("name") or path.parent.name)
        description = " ".join(str(front.get("description") or "").split())[:_MAX_DESCRIPTION]
        found.setdefault(name, Skill(name=name, description=description, path=path))
    return [found[name] for name in sorted(found)]


def skills_block(skills: list[Skill]) -> str:
    """What the prompt says of skills; "" without any."""
    if not skills:
        return ""
    lines = [f"- {skill.name}: {skill.description}".rstrip(": ") for skill in skills]
    return "# Skills\nProcedures you know. Read one with `skill_view` before you follow it.\n" + "\n".join(lines)


def skill_tool(home: Path) -> Tool:
    """The tool that reads a skill."""

    def view(arguments: dict[str, Any]) -> str:
        wanted = str(arguments.get("name") or "")
        for skill in find_skills(home):
            if skill.name == wanted:
                return skill.path.read_text(encoding="utf-8", errors="replace")
        raise NotFound(f"there is no skill {wanted!r}", hint="the prompt lists the skills there are")

    return Tool(
        name="skill_view",
        description="Read one of your skills.",
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The skill's name."}},
            "required": ["name"],
            "additionalProperties": False,
        },
        run=view,
    )


def _front_matter(text: str) -> dict[str, Any]:
    first, _, rest = text.partition("\n")
    if first.strip() != _MARK:
        return {}
    front, mark, _ = rest.partition(f"\n{_MARK}")
    try:
        value = YAML(typ="safe", pure=True).load(front) if mark else None
    except YAMLError:  # the folder's name is left to know it by
        return {}
    return value if isinstance(value, dict) else {}
