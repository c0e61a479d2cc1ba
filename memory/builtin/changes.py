"""What somebody wants changed in built-in memory, and what then did change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_state.errors import InvalidValue
from memory.builtin.entries import TARGETS

if TYPE_CHECKING:
    from memory.builtin.entries import Entry
    from memory.builtin.limits import Usage

# Provenance: who wrote, in which session, by which call. The keys are the peer's (`write_origin`, `session_id`, …).
Origin: TypeAlias = Mapping[str, Any]

ACTIONS = ("add", "replace", "patch", "remove", "archive")
# Characters of a tag at most, and what can't be in one.
MAX_TAG_CHARS = 100
_NO_TAG = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")
# The origin of what nobody told us: somebody else changed the file, or we did while the store was away.
EXTERNAL_EDIT = "external edit"
# What models also write for an action.
_ALIASES = {
    "update": "replace", "edit": "replace", "delete": "remove", "create": "add", "insert": "add", "append": "add",
}  # fmt: skip
_OLD = ("old_text", "old_string", "old", "match")
_NEW = ("content", "new_text", "new_string", "new", "text", "value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One change that is wanted.

    Attributes:
        action: one of `ACTIONS`.
        target: `memory` or `user`.
        content: the new text.
        old_text: a text of the entry that is meant; `replace` and `patch` change this text and nothing else.
        id: the id of the entry that is meant, or its beginning.
        tags: tags of the new entry; None keeps those of the entry it replaces.
        whole: `replace` takes the whole entry in which `old_text` stands, as the peer does.
        position: where a new entry goes; None: behind the others.
    """

    action: str
    target: str = "memory"
    content: str | None = None
    old_text: str | None = None
    id: str | None = None
    tags: tuple[str, ...] | None = None
    whole: bool = False
    position: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any], *, target: str | None = None) -> Operation:
        """The operation that a tool call means.

        Args:
            values: `action`, `target`, `content`, `old_text`, `id`, `tags`, under these names or the usual aliases.
            target: of an operation that names none.

        Raises:
            InvalidValue: it means none; the message says what is missing.
        """
        if not isinstance(values, Mapping):
            raise InvalidValue(f"an operation is an object, not {type(values).__name__}")
        named = values.get("action")
        action = named.strip().lower() if isinstance(named, str) else named
        action = _ALIASES.get(action, action) if isinstance(action, str) else action
        if action not in ACTIONS:
            raise InvalidValue(f"unknown action {named!r}", hint=f"use one of {', '.join(ACTIONS)}")
        return cls(
            action=str(action),
            target=target_of(values.get("target") or target),
            content=_text(values, _NEW),
            old_text=_text(values, _OLD),
            id=_text(values, ("id", "entry_id")),
            tags=tags_of(values.get("tags")),
            whole=values.get("whole") is True,
        )

    def as_dict(self) -> dict[str, Any]:
        """As `of` takes it; what is not given is left out."""
        fields = ("action", "target", "content", "old_text", "id")
        values = {name: getattr(self, name) for name in fields}
        given = {name: value for name, value in values.items() if value is not None}
        given |= {} if self.tags is None else {"tags": list(self.tags)}
        return given | ({"whole": True} if self.whole else {})


def target_of(value: object) -> str:
    """A target by name; None means `memory`.

    Raises:
        InvalidValue: there is no such target.
    """
    if value is None:
        return "memory"
    name = value.strip().lower() if isinstance(value, str) else value
    if name not in TARGETS:
        raise InvalidValue(f"unknown target {value!r}", hint="use 'memory' or 'user'")
    return str(name)


def tags_of(value: object) -> tuple[str, ...] | None:
    """Tags from a list or from one text with commas; in lower case, without `#`, each once.

    Raises:
        InvalidValue: they are something else.
    """
    if value is None:
        return None
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise InvalidValue("tags are a list of words")
    tags = tuple(dict.fromkeys(tag for part in parts if (tag := part.strip().lstrip("#").casefold())))
    for tag in tags:
        if len(tag) > MAX_TAG_CHARS or _NO_TAG.search(tag):
            raise InvalidValue(f"{tag[:MAX_TAG_CHARS]!r} is no tag", hint="a tag is a short word")
    return tags


def _text(values: Mapping[str, Any], names: Sequence[str]) -> str | None:
    for name in names:
        value = values.get(name)
        if value is not None:
            if not isinstance(value, str):
                raise InvalidValue(f"{name} is a text, not {type(value).__name__}")
            return value
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What one operation did to a file.

    Attributes:
        action: `add`, `replace`, `merge` (replaced by what was an entry already), `remove` or `archive`.
        target: `memory` or `user`.
        before, after: the whole entry before and after; None where there was none.
        id, previous_id: their ids.
        position: where in the file the entry stands, or stood.
        tags: tags of the entry; None: those it has.
        batch: changes made together have the same, and are undone together.
        origin: who wrote.
    """

    action: str
    target: str
    before: Entry | None = None
    after: Entry | None = None
    id: str = ""
    previous_id: str = ""
    position: int = 0
    tags: tuple[str, ...] | None = None
    batch: str = ""
    origin: Origin = field(default_factory=lambda: MappingProxyType({}))

    @property
    def mirrored(self) -> str:
        """The action as `on_memory_write` takes it: `add`, `replace` or `remove`.

        What is archived is still true, so a provider is not told to forget it: that is `archive`, which none takes.
        """
        return "replace" if self.action == "merge" else self.action

    @property
    def metadata(self) -> dict[str, Any]:
        """The provenance as `on_memory_write` takes it, with the whole text that went."""
        facts = dict(self.origin)
        if self.before is not None:
            facts |= {"old_text": facts.get("old_text") or self.previous, "previous_content": self.previous}
        return facts | {"entry_id": self.id, "batch": self.batch}

    @property
    def content(self) -> str:
        """The new text; empty when the entry is gone."""
        return self.after.text if self.after else ""

    @property
    def previous(self) -> str:
        """The whole text before; empty for a new entry."""
        return self.before.text if self.before else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What `apply` did.

    Attributes:
        changes: what changed, in order; empty when everything was there already.
        notes: what was left out, in words.
        warnings: what somebody should know about what was written.
        usage: how full each file is now that was written to.
        counts: how many entries each of them has.
        batch: names the changes for `undo`; empty when nothing changed.
        degraded: why the change is not in the history yet; empty when it is.
        proposal: the id under which the write waits for approval; empty when it was made.
        external: changes that others had made to the files before.
    """

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    usage: Mapping[str, Usage] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    batch: str = ""
    degraded: str = ""
    proposal: str = ""
    external: tuple[Change, ...] = ()
