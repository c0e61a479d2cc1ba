"""The tools that providers bring: which names the model may call, and whose they are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

# Names of ours and of agents of the peer's kind; a provider's tool never takes the place of one.
RESERVED = frozenset({"memory", "session_search", "skill_manage"})
# What the APIs of model vendors take as a name; one bad name makes them refuse the whole request.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its schema, and the provider that runs it."""

    provider: str
    schema: dict[str, Any]


def normalize_tool_schema(schema: object) -> dict[str, Any] | None:
    """The bare function schema: `{"type": "function", "function": {…}}` is unwrapped once. None when it has no name."""
    if isinstance(schema, dict) and schema.get("type") == "function" and isinstance(schema.get("function"), dict):
        schema = schema["function"]
    if not isinstance(schema, dict) or not isinstance(schema.get("name"), str) or not schema["name"].strip():
        return None
    return schema


class ToolTable:
    """The tools of all providers, the first of each name.

    Args:
        reserved: names that only the built-in memory may have.
        is_off: no tool is taken; for an agent that is to have none of memory.
    """

    def __init__(self, reserved: Iterable[str] = (), *, is_off: bool = False) -> None:
        self._reserved = RESERVED | set(reserved)
        self.is_off = is_off
        self._tools: dict[str, Tool] = {}

    def put(self, provider: str, schemas: Iterable[object], *, is_builtin: bool) -> list[str]:
        """Take the tools of a provider, in the place of those it had; returns what was refused, in words."""
        others = {name: tool for name, tool in self._tools.items() if tool.provider != provider}
        mine: dict[str, Tool] = {}
        refused = []
        for given in () if self.is_off else schemas:
            schema, why = self._fit(given)
            name = schema["name"]
            if not why and name in others:
                why = f"{others[name].provider!r} has a tool of that name"
            if not why and name in self._reserved and not is_builtin:
                why = "the name is reserved"
            if why:
                refused.append(f"memory provider {provider!r}: tool {name!r} is not offered: {why}")
            elif name not in mine:
                mine[name] = Tool(provider, schema)
        self._tools = others | mine
        return refused

    def remove(self, provider: str) -> None:
        """Forget the tools of a provider."""
        self._tools = {name: tool for name, tool in self._tools.items() if tool.provider != provider}

    def owner(self, name: str) -> str | None:
        """The provider that runs a tool."""
        found = self._tools.get(name)
        return None if found is None else found.provider

    def names(self, provider: str | None = None) -> tuple[str, ...]:
        """All names, or those of one provider."""
        return tuple(n for n, tool in self._tools.items() if provider in (None, tool.provider))

    def schemas(self, providers: Iterable[str]) -> list[dict[str, Any]]:
        """The function schemas of some providers, each a copy."""
        wanted = set(providers)
        return [json.loads(json.dumps(t.schema)) for t in self._tools.values() if t.provider in wanted]

    @staticmethod
    def _fit(given: object) -> tuple[dict[str, Any], str]:
        """A schema that every API takes, and why there is none."""
        schema = normalize_tool_schema(given)
        if schema is None:
            return {"name": ""}, f"a schema with a name is wanted, not {repr(given)[:80]}"
        name = schema["name"].strip()
        if not _NAME.fullmatch(name):
            return {"name": name}, "a name has 1 to 64 letters, digits, - and _"
        parameters = schema.get("parameters")
        if not isinstance(parameters, dict):
            parameters = {"type": "object", "properties": {}}
        whole = {**schema, "name": name, "description": str(schema.get("description", "")), "parameters": parameters}
        try:
            return json.loads(json.dumps(whole, allow_nan=False)), ""
        except (TypeError, ValueError, RecursionError) as error:
            return {"name": name}, f"its schema is no JSON: {error}"
