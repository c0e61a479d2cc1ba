"""The worker's end of the pipe: JSON requests on stdin, JSON answers on a private copy of stdout.

Standard library only. One request is ``{"call": name, "with": {argument: value}}``; one answer is
``{"value": ...}`` or ``{"error": traceback}``. An error ends the call, never the worker.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.operations import Operations


def serve(operations: Operations) -> None:
    """Answer calls until stdin ends. What a library prints goes to stderr, so it cannot break the protocol."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        answers.write(json.dumps(_answer(operations, json.loads(line))) + "\n")
        answers.flush()


def _answer(operations: Operations, request: dict[str, Any]) -> dict[str, Any]:
    try:
        call = getattr(operations, request["call"])
        return {"value": call(**request["with"])}
    except Exception:
        return {"error": traceback.format_exc()}
