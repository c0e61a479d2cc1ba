"""Checks of the tools, and of what is said of a recall."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memory.conformance.probe import BICYCLE
from memory.conformance.subject import SESSION, Skip
from memory.errors import ToolNotHandled
from memory.manager.tools import normalize_tool_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Subject

_SAMPLES: dict[str, Any] = {
    "string": "bicycle",
    "integer": 1,
    "number": 1.0,
    "boolean": False,
    "array": [],
    "object": {},
}


def results(subject: Subject) -> Iterator[tuple[str, str]]:
    """Every tool answers with JSON, for good arguments and for none."""
    instance = subject.started()
    schemas = [s for s in map(normalize_tool_schema, instance.call("get_tool_schemas").value or []) if s]
    if not schemas:
        raise Skip("it has no tools")
    for schema in schemas:
        for args in (_arguments(schema), {}):
            outcome = instance.call("handle_tool_call", schema["name"], args, session_id=SESSION)
            if outcome.hung:
                yield "hooks.hangs", f"the tool {schema['name']!r} {outcome.trouble}"
                return
            if outcome.error is not None and not isinstance(outcome.error, ToolNotHandled):
                yield "tools.raises", f"the tool {schema['name']!r} with {args} {outcome.trouble}"
            elif outcome.error is None and not _is_json(outcome.value):
                yield "tools.not-json", f"the tool {schema['name']!r} answers {repr(outcome.value)[:80]}"


def recall_status(subject: Subject) -> Iterator[tuple[str, str]]:
    """The recall that the user is told of is the one there was."""
    instance = subject.started()
    if not instance.adapted.implements("recall_status"):
        raise Skip("it does not say what it recalled")
    text = instance.recall(BICYCLE.question)
    status = instance.call("recall_status").value
    if not text.strip() and status is not None and status.count:
        yield "recall.status", f"nothing was recalled, and `recall_status` counts {status.count}"


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments that fit a schema."""
    parameters = schema.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return {
        name: (rule.get("enum") or [_SAMPLES.get(str(rule.get("type")), "bicycle")])[0]
        for name, rule in (properties.items() if isinstance(properties, dict) else ())
        if isinstance(rule, dict)
    }


def _is_json(value: object) -> bool:
    try:
        json.loads(value)  # type: ignore[arg-type]  # that it may be no text is the question
    except (TypeError, ValueError):
        return False
    return isinstance(value, str)


CHECKS: tuple[Check, ...] = (results, recall_status)
