"""What operations make of the entries, worked out before anything is written: all of them, or an error and none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_state.errors import HermesStateError, InvalidValue
from memory.builtin.changes import Change
from memory.builtin.entries import ID_CHARS, memory_id, new_entry
from memory.builtin.limits import Usage
from memory.builtin.matching import Place, find, is_same, nearest
from memory.errors import AmbiguousMatch, EntryNotFound, MemoryFull, UnsafeMemory
from memory.safety import scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memory.builtin.changes import Operation
    from memory.builtin.entries import Entry
    from memory.builtin.limits import Limits

# Fewest digits of an id that name an entry.
_MIN_ID_CHARS = 4
# What a list shows of an entry: its id, alone or before its text.
_SHOWN = re.compile(rf"\s*\[?([0-9a-f]{{{ID_CHARS}}})\]?(?:\s+(.+))?\s*\Z", re.DOTALL)


def change(
    action: str,
    target: str,
    before: Entry | None,
    after: Entry | None,
    *,
    position: int,
    tags: tuple[str, ...] | None = None,
) -> Change:
    """The record of a change, with the ids of both entries; its `id` is that of the one that is, or was, there."""
    ids = {entry: memory_id(target, entry) for entry in (before, after) if entry is not None}
    return Change(
        action=action,
        target=target,
        before=before,
        after=after,
        id=ids[after] if after is not None else ids[before] if before is not None else "",
        previous_id=ids[before] if before is not None else "",
        position=position,
        tags=tags,
    )


def check_safe(text: str) -> None:
    """Refuse a text that would turn the agent against its user.

    Raises:
        UnsafeMemory: names the first rule it breaks.
    """
    for finding in scan(text):
        raise UnsafeMemory(finding.rule, finding.excerpt, intent=finding.intent)


@dataclass(slots=True)
class Plan:
    """A working copy of the files.

    Attributes:
        entries: the entries of each target, as they will be.
        changes: what the operations did so far.
        notes: what they left out.
        warnings: what somebody should know about what they did.
        redact: put placeholders in the place of keys, tokens and passwords.
    """

    entries: dict[str, list[Entry]]
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    redact: bool = False

    def run(self, operations: Sequence[Operation]) -> None:
        """Take the operations in order.

        Raises:
            InvalidValue, EntryNotFound, AmbiguousMatch, UnsafeMemory: one can't be done; a note on it says which.
        """
        for number, operation in enumerate(operations, 1):
            try:
                self._take(operation)
            except HermesStateError as error:
                if len(operations) > 1:
                    error.add_note(f"Operation {number} of {len(operations)} ({operation.action}) failed.")
                raise

    def check_limits(self, before: Mapping[str, Sequence[Entry]], limits: Limits) -> None:
        """Refuse what makes a file larger than its limit; one that is over it already may shrink.

        Raises:
            MemoryFull: says how much there is and how much there would be.
        """
        for target in dict.fromkeys(change.target for change in self.changes):
            used = Usage.of(before[target], limits.of(target))
            needed = Usage.of(self.entries[target], limits.of(target)).used
            if needed > used.limit and needed >= used.used:
                raise MemoryFull(target, used=used.used, needed=needed, limit=used.limit)

    def _take(self, operation: Operation) -> None:
        match operation.action:
            case "add":
                self._add(operation)
            case "replace" | "patch":
                self._replace(operation)
            case "remove" | "archive":
                index = meant(operation, self.entries[operation.target], whole_words=True).index
                before = self.entries[operation.target].pop(index)
                self._changed(operation, index, before, None)
            case _:
                raise InvalidValue(f"unknown action {operation.action!r}")

    def _add(self, operation: Operation) -> None:
        entry = self._checked(new_entry(operation.content))
        entries = self.entries[operation.target]
        same = next((known for known in entries if is_same(known.text, entry.text)), None)
        if same is not None:
            self.notes.append(f"Entry already exists (no duplicate added): {same.text}")
            return
        index = len(entries) if operation.position is None else min(operation.position, len(entries))
        entries.insert(index, entry)
        self._changed(operation, index, None, entry)

    def _replace(self, operation: Operation) -> None:
        if operation.content is None:
            raise InvalidValue(f"{operation.action} needs `content`: the new text", hint="use `remove` to take it out")
        entries = self.entries[operation.target]
        place = meant(operation, entries)
        before = entries[place.index]
        is_whole = operation.whole or operation.old_text is None or (place.start, place.end) == (0, len(before.text))
        if operation.action == "replace" or is_whole:
            new_entry(operation.content)  # a blank text replaces nothing
        after = new_entry(operation.content if is_whole else _spliced(before.text, place, operation.content))
        if before.is_odd and not is_whole:
            raise InvalidValue("the entry has bytes that are no UTF-8", hint="replace it as a whole, by its id")
        after = self._checked(after)
        if after == before:
            self.notes.append(f"Entry is so already: {before.text}")
            return
        if after in entries:
            entries.pop(place.index)
            self.notes.append(f"Entry already exists; the two are now one: {after.text}")
            self._changed(operation, place.index, before, after, action="merge")
        else:
            entries[place.index] = after
            self._changed(operation, place.index, before, after, action="replace")

    def _checked(self, entry: Entry) -> Entry:
        """A new entry that may go into the prompt; without its secrets, if they are not to be kept."""
        from hermes_state.redact import redact_text  # its patterns cost 10 ms to compile

        check_safe(entry.text)
        cleaned = redact_text(entry.text)
        if cleaned == entry.text:
            return entry
        if self.redact:
            self.warnings.append("The entry held a secret; a placeholder was saved in its place.")
            return new_entry(cleaned)
        self.warnings.append("The entry seems to hold a secret; memory is sent to the model with every request.")
        return entry

    def _changed(
        self, operation: Operation, index: int, before: Entry | None, after: Entry | None, *, action: str = ""
    ) -> None:
        action = action or operation.action
        self.changes.append(change(action, operation.target, before, after, position=index, tags=operation.tags))

    def drop(self, target: str, name: str) -> None:
        """Take out the entry with this id, if it is there."""
        entries = self.entries[target]
        for index, entry in enumerate(entries):
            if memory_id(target, entry) == name:
                entries.pop(index)
                self.changes.append(change("remove", target, entry, None, position=index))
                return

    # --- taking back ----------------------------------------------------------------------------------------------

    def take_back(self, changes: Sequence[Change]) -> None:
        """Undo changes, the last one first.

        Raises:
            EntryNotFound: an entry that a change made is not there any more.
            InvalidValue: memory is already as it was before.
            UnsafeMemory: an entry that would come back is not safe.
        """
        known = len(self.changes)
        for done in reversed(changes):
            entries = self.entries[done.target]
            index = done.position
            if done.after is not None and done.action != "merge":
                if done.after not in entries:
                    raise EntryNotFound(done.after.text)
                index = entries.index(done.after)
                entries.remove(done.after)
            back = done.before if done.before not in entries else None
            if back is not None:
                check_safe(back.text)
                index = min(index, len(entries))
                entries.insert(index, back)
            gone = None if done.action == "merge" else done.after
            if gone is not None or back is not None:
                action = "replace" if gone and back else "remove" if gone else "add"
                self.changes.append(change(action, done.target, gone, back, position=index))
        if len(self.changes) == known:
            raise InvalidValue("there is nothing to take back: memory is as it was before that change already")


# --- which entry is meant ---------------------------------------------------------------------------------------------


def meant(operation: Operation, entries: Sequence[Entry], *, whole_words: bool = False) -> Place:
    """The entry, and the part of it, that an operation names by id or text.

    Raises:
        InvalidValue, EntryNotFound, AmbiguousMatch: it names none, or several.
    """
    if operation.id:
        index = _by_id(operation.target, entries, operation.id)
        if operation.old_text is None:
            return Place(index, 0, len(entries[index].text))
        return _by_text(operation.target, entries, operation.old_text, [index], whole_words=whole_words)
    text = operation.old_text
    if text is None or not text.strip():
        raise InvalidValue(
            f"{operation.action} needs `old_text`: a text of the entry that is meant, or its `id`; "
            + ("an empty text is in every entry" if text is not None else "neither was given"),
            hint="the entries are listed with their ids",
        )
    if (named := _SHOWN.match(text)) is not None:
        for index, entry in enumerate(entries):
            if memory_id(operation.target, entry) == named[1] and (not named[2] or is_same(named[2], entry.text)):
                return Place(index, 0, len(entry.text))
    return _by_text(operation.target, entries, text, None, whole_words=whole_words)


def _by_id(target: str, entries: Sequence[Entry], wanted: str) -> int:
    start = wanted.strip().lower()
    ids = [memory_id(target, entry) for entry in entries]
    found = [index for index, each in enumerate(ids) if each.startswith(start)] if len(start) >= _MIN_ID_CHARS else []
    if len(found) > 1:
        raise AmbiguousMatch(wanted, [shown(target, entries[index]) for index in found])
    if not found:
        raise EntryNotFound(wanted)
    return found[0]


def _by_text(
    target: str, entries: Sequence[Entry], wanted: str, within: Sequence[int] | None, *, whole_words: bool
) -> Place:
    places = [p for p in find(entries, wanted, whole_words=whole_words) if within is None or p.index in within]
    whole = [p for p in places if (p.start, p.end) == (0, len(entries[p.index].text))]
    if len(whole) == 1:
        places = whole  # the text of one entry may stand in another
    indexes = list(dict.fromkeys(place.index for place in places))
    if not indexes:
        near = nearest(entries, wanted)
        raise EntryNotFound(wanted, [shown(target, entries[index]) for index in near])
    if len(indexes) == 1 and len(places) > 1 and not whole_words:
        raise InvalidValue(
            f"{wanted!r} stands {len(places)} times in that entry", hint="give more of the text around it"
        )
    if len(indexes) > 1:
        raise AmbiguousMatch(wanted, [shown(target, entries[index]) for index in indexes])
    place = places[0]
    return Place(place.index, place.start, place.end)


def shown(target: str, entry: Entry) -> str:
    """An entry as a list of candidates shows it: its id and its exact text."""
    return f"[{memory_id(target, entry)}] {entry.text}"


def _spliced(text: str, place: Place, content: str) -> str:
    """The entry with one part of it replaced.

    A text that repeats what stands around the part is the whole new entry: put in as it is, it would say that twice.
    """
    head, tail = text[: place.start], text[place.end :]
    repeats = content.strip().startswith(head.lstrip()) and content.strip().endswith(tail.rstrip())
    if (head.strip() or tail.strip()) and repeats and len(content.strip()) >= len(head.strip()) + len(tail.strip()):
        return content
    return f"{head}{content}{tail}"
