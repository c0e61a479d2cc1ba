"""The tool `memory`, as a model calls it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError, InvalidValue
from memory.builtin import replies
from memory.builtin.approval import operations_of
from memory.builtin.changes import tags_of, target_of
from memory.builtin.entries import TARGETS
from memory.errors import EntryNotFound, MemoryFull

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.builtin.changes import Operation, Origin
    from memory.builtin.memory import BuiltinMemory, Entries
    from memory.builtin.replies import Reply

TOOL_NAME = "memory"
# Failures of one turn after which the model is told to stop trying.
MAX_FAILURES = 3
MAX_RESULTS = 50
_NOT_AVAILABLE = "Memory is not available. It may be disabled in config or this environment."
# Facts of a call that are kept with what it wrote.
_ORIGIN = (
    "write_origin", "execution_context", "session_id", "parent_session_id", "platform", "task_id", "tool_call_id",
)  # fmt: skip

_DESCRIPTION = """\
Durable notes that are in your system prompt in every session. target 'user': who the user is (preferences, style, \
background); target 'memory': your own notes (environment, conventions, lessons).
Save what reduces future steering, as short declarative facts. Do not save task progress, diffs, ids, or what is \
easily found again; never secrets.
Actions: add (content). replace/update and patch (old_text, content): only the text old_text is replaced, the rest of \
its entry stays; to rewrite a whole entry give its id, or its whole text as old_text. remove/delete (old_text or id) \
takes the whole entry out. archive (old_text or id): out of the prompt, still found by search. search (query): \
everything ever saved, also what was removed. list: entries with ids. undo (batch): takes back the last change, or the \
batch named.
operations: several changes at once, all or none; use it to merge entries. Replies say how full memory is."""

_CHANGES = ["add", "replace", "update", "patch", "remove", "delete", "archive"]
_TAGS = {"type": "array", "items": {"type": "string"}, "description": "Tags to save, or to search for."}
_TARGET = {"type": "string", "enum": list(TARGETS)}
SCHEMA: dict[str, Any] = {
    "name": TOOL_NAME,
    "description": _DESCRIPTION,
    "parameters": {
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": [*_CHANGES, "batch", "search", "list", "undo"],
                "description": "What to do; left out when `operations` are given.",
            },
            "target": _TARGET
            | {"description": "'memory': your notes; 'user': the user profile. search and list: both if left out."},
            "content": {"type": "string", "description": "The new text; for add, replace, update, patch."},
            "old_text": {
                "type": "string",
                "description": "Text of the entry that is meant, exactly as shown. For replace, update, patch, remove, "
                "delete and archive, unless `id` is given.",
            },
            "id": {"type": "string", "description": "Id of the entry that is meant, from list or an earlier reply."},
            "tags": _TAGS,
            "operations": {
                "type": "array",
                "description": "Changes made together, all or none.",
                "items": {
                    "type": "object",
                    "properties": {
                        "action": {"type": "string", "enum": _CHANGES},
                        "target": _TARGET,
                        "content": {"type": "string"},
                        "old_text": {"type": "string"},
                        "id": {"type": "string"},
                        "tags": _TAGS,
                    },
                    "required": ["action"],
                },
            },
            "query": {"type": "string", "description": "What to search for, in any language."},
            "limit": {"type": "integer", "description": "At most so many results (10)."},
            "batch": {"type": "string", "description": "undo: the batch of an earlier reply; else the last."},
        },
        "required": [],
    },
}


class MemoryTool:
    """The tool of one conversation: it also counts failures, so that a model does not try forever.

    Attributes:
        on_notice: told what the user should know, such as that memory is full.
    """

    def __init__(self, memory: BuiltinMemory) -> None:
        self._memory = memory
        self.on_notice: Callable[[str], object] | None = None
        self._failures = 0

    def new_turn(self) -> None:
        """A turn begins: failures of the last one are forgotten."""
        self._failures = 0

    def call(self, args: Mapping[str, Any], **facts: Any) -> str:
        """Run one call; the result is a JSON document in any case.

        Args:
            args: what the model gave.
            facts: who calls: `write_origin`, `session_id`, `tool_call_id` and the like.
        """
        given = args if isinstance(args, Mapping) else {}
        try:
            return replies.encode(self._run(dict(given), facts))
        except HermesStateError as error:
            return replies.encode(self._failed(error, given))

    def _run(self, args: dict[str, Any], facts: Mapping[str, Any]) -> Reply:
        named = args.get("action")
        action = named.strip().lower() if isinstance(named, str) else named
        if not args.get("operations"):
            if action == "search":
                return self._search(args)
            if action == "list":
                return self._list(args)
            if action == "undo":
                outcome = self._memory.undo(_batch(args), origin=_origin(args, facts))
                return replies.saved(outcome, target=next(iter(outcome.usage)))
            if action == "batch":
                raise InvalidValue("batch needs `operations`: a list of changes")
            if action is None:
                raise InvalidValue("`action` is required", hint="or give `operations`")
        operations = operations_of(args)
        if switched_off := {each.target for each in operations} - set(self._memory.shown):
            raise InvalidValue(_NOT_AVAILABLE, hint=f"{', '.join(sorted(switched_off))} is switched off")
        outcome = self._memory.apply(operations, origin=_origin(args, facts))
        self._failures = 0
        reply = replies.saved(outcome, target=operations[0].target)
        if _wants_tags(operations) and not self._memory.has_history:
            reply["tags"] = "Tags were not saved: there is no store to keep them."
        return reply

    def _search(self, args: Mapping[str, Any]) -> Reply:
        query = args.get("query") or args.get("content") or args.get("old_text")
        if not isinstance(query, str) or not query.strip():
            raise InvalidValue("search needs `query`: what to look for")
        limit = args.get("limit")
        most = min(limit, MAX_RESULTS) if isinstance(limit, int) and limit > 0 else 10
        target = args.get("target")
        hits = self._memory.search(
            query, most, target=None if target is None else target_of(target), tags=tags_of(args.get("tags")) or ()
        )
        return replies.found(query, hits)

    def _list(self, args: Mapping[str, Any]) -> Reply:
        target = args.get("target")
        wanted = self._memory.shown if target is None else (target_of(target),)
        files = [self._memory.read(each) for each in wanted]
        if not self._memory.has_history:
            return replies.listing(files, {})
        tags = {each.id: each.tags for each in self._memory.entries(statuses=("active",))}
        if asked := set(tags_of(args.get("tags")) or ()):
            kept = {name for name, known in tags.items() if asked <= set(known)}
            return replies.listing([each.only(kept) for each in files], tags)
        return replies.listing(files, tags)

    def _failed(self, error: HermesStateError, args: Mapping[str, Any]) -> Reply:
        if isinstance(error, MemoryFull | EntryNotFound):
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                return replies.terminal(self._failures)
        reply = replies.failed(error, self._held(error, args))
        if "notice" in reply and self.on_notice is not None and self._failures == 1:
            self.on_notice(reply["notice"])
        return reply

    def _held(self, error: HermesStateError, args: Mapping[str, Any]) -> Entries | None:
        """What the target holds, for the reply to an error; None when that is what failed."""
        try:
            named = error.target if isinstance(error, MemoryFull) else args.get("target")
            return self._memory.read(target_of(named))
        except HermesStateError:  # the error that is told already says more
            return None


def _origin(args: Mapping[str, Any], facts: Mapping[str, Any]) -> Origin:
    kept = {name: facts[name] for name in _ORIGIN if facts.get(name)}
    old_text = args.get("old_text")
    return {
        "write_origin": "assistant_tool",
        **kept,
        "tool_name": TOOL_NAME,
        **({"old_text": old_text} if isinstance(old_text, str) and old_text else {}),
    }


def _batch(args: Mapping[str, Any]) -> str | None:
    """The batch that is to be undone; None: the last."""
    named = args.get("batch") or None
    if named is not None and not isinstance(named, str):
        raise InvalidValue(
            f"`batch` is a text, not {type(named).__name__}", hint="earlier replies have it; or leave it"
        )
    return named


def _wants_tags(operations: tuple[Operation, ...]) -> bool:
    return any(each.tags for each in operations)
