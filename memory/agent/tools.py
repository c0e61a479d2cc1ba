"""The tools of a turn: the memory's, the host's own; every answer is JSON, whatever a tool does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_state.errors import HermesStateError
from hermes_state.session_search import SCHEMA as SESSION_SEARCH
from hermes_state.session_search import SessionSearch
from memory.agent.tokens import schema_tokens
from memory.raised import named

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state import SessionDB
    from memory.agent.model import ToolCall
    from memory.agent.ports import Memory

Schema: TypeAlias = dict[str, Any]
# Characters of a tool's answer that the model gets to see.
MAX_RESULT_CHARS = 50_000
MEMORY_TOOL, SKILL_TOOL = "memory", "skill_manage"
# Actions of the memory tool that change nothing.
_READING = frozenset(("search", "list", "read"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool of the host.

    Attributes:
        parameters: JSON schema of the arguments.
        run: gets the arguments; what it returns goes to the model, as JSON. It may raise.
        reviews: a background review may call it too, as it may the memory tool.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[dict[str, Any]], Any]
    reviews: bool = False

    @property
    def schema(self) -> Schema:
        """As a chat completion endpoint takes it."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """What a tool answered.

    Attributes:
        text: JSON.
        wrote_memory: the call changed built-in memory.
        saved: a line for a person about what was saved; "" when nothing was.
    """

    text: str
    wrote_memory: bool = False
    saved: str = ""


class Toolbox:
    """The tools that are on offer. The memory's names win over the host's, and each name is there once.

    Args:
        facts: go with every call to the memory: the session, the platform, who writes.
        allowed: None: all; else only these names, whatever the memory offers.
    """

    def __init__(
        self,
        memory: Memory,
        tools: Iterable[Tool] = (),
        *,
        facts: Callable[[], Mapping[str, Any]] = dict,
        allowed: Callable[[str], bool] = lambda _name: True,
    ) -> None:
        self._memory = memory
        self._tools = {tool.name: tool for tool in tools}
        self._facts = facts
        self._allowed = allowed
        self._counted: tuple[list[Schema], int] = ([], 0)

    def schemas(self) -> list[Schema]:
        """The schemas, the memory's first, in an order that stays."""
        found = {_name_of(schema): schema for schema in map(_wrapped, self._memory.tool_schemas())}
        for tool in self._tools.values():
            found.setdefault(tool.name, tool.schema)
        return [schema for name, schema in found.items() if self._allowed(name)]

    @property
    def tokens(self) -> int:
        """About how many tokens the schemas take."""
        schemas = self.schemas()
        if schemas != self._counted[0]:
            self._counted = (schemas, schema_tokens(schemas))
        return self._counted[1]

    def call(self, wanted: ToolCall) -> ToolResult:
        """Run a tool. Its failure is an answer too: the model reads it and goes on."""
        if not self._allowed(wanted.name):
            return _error(f"the tool {wanted.name!r} is not available here")
        try:
            arguments = json.loads(wanted.arguments or "{}")
        except ValueError as error:
            return _error(f"the arguments of {wanted.name!r} are no JSON: {error}", hint="call it again")
        if not isinstance(arguments, dict):
            return _error(f"the arguments of {wanted.name!r} are no object", hint="call it again")
        tool = self._tools.get(wanted.name)
        if any(_name_of(_wrapped(schema)) == wanted.name for schema in self._memory.tool_schemas()):
            facts = dict(self._facts()) | {"tool_call_id": wanted.id}
            return _of_memory(wanted.name, arguments, self._memory.handle_tool_call(wanted.name, arguments, **facts))
        if tool is None:
            return _error(f"there is no tool {wanted.name!r}", hint="call one of the tools that are listed")
        return _run(tool, arguments)


def session_search_tool(db: SessionDB, current: Callable[[], str], home: Path | None) -> Tool:
    """`session_search`: earlier conversations, without the one the agent is in."""
    function = SESSION_SEARCH["function"]

    def search(arguments: dict[str, Any]) -> str:
        return SessionSearch(db, current_session_id=current(), home=home).call(arguments)

    return Tool(
        name=function["name"], description=function["description"], parameters=function["parameters"], run=search
    )


def _run(tool: Tool, arguments: dict[str, Any]) -> ToolResult:
    try:
        return ToolResult(text=as_json(tool.run(arguments)))
    except HermesStateError as error:
        return _error(error.message, hint=error.hint)
    except Exception as error:  # noqa: BLE001  a tool may raise anything; the model is told
        return _error(f"{tool.name} failed: {named(error)}")


def as_json(answer: Any) -> str:
    """What a tool returned as JSON text; text that is no JSON, or too much of it, comes in an object."""
    if not isinstance(answer, str):
        text = json.dumps(answer, ensure_ascii=False, default=str)
    else:
        text = answer if _is_json(answer) else json.dumps({"result": answer}, ensure_ascii=False)
    if len(text) <= MAX_RESULT_CHARS:
        return text
    return json.dumps(
        {"result": text[:MAX_RESULT_CHARS], "truncated": True, "total_chars": len(text)}, ensure_ascii=False
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _of_memory(name: str, arguments: dict[str, Any], answer: str) -> ToolResult:
    """The memory's answer, and whether it changed anything."""
    text = as_json(answer)
    if name != MEMORY_TOOL or arguments.get("action") in _READING:
        return ToolResult(text=text)
    outcome = json.loads(text)
    if not isinstance(outcome, dict) or outcome.get("success") is not True:
        return ToolResult(text=text)
    staged = outcome.get("staged") is True
    return ToolResult(text=text, wrote_memory=not staged, saved=_saved(arguments, staged=staged))


def _saved(arguments: Mapping[str, Any], *, staged: bool) -> str:
    """What a person reads of a write: `memory: + likes tea`."""
    target = arguments.get("target") or "memory"
    operations = arguments.get("operations") or [arguments]
    shown = " · ".join(_operation(operation) for operation in operations if isinstance(operation, Mapping))
    return f"{'waits for approval, ' if staged else ''}{target}: {shown}"


def _operation(operation: Mapping[str, Any]) -> str:
    sign = {"add": "+", "remove": "−", "delete": "−"}.get(str(operation.get("action")), "±")
    text = operation.get("content") or operation.get("old_text") or operation.get("id") or operation.get("action") or ""
    return f"{sign} {' '.join(str(text).split())}"


def _error(message: str, *, hint: str = "") -> ToolResult:
    return ToolResult(text=json.dumps({"error": message} | ({"hint": hint} if hint else {}), ensure_ascii=False))


def _wrapped(schema: Mapping[str, Any]) -> Schema:
    """A schema in the form of an endpoint; providers give the bare function."""
    return (
        dict(schema) if isinstance(schema.get("function"), Mapping) else {"type": "function", "function": dict(schema)}
    )


def _name_of(schema: Mapping[str, Any]) -> str:
    return str(schema["function"].get("name") or "")
