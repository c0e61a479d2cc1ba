"""Checks of what a backup would take along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memory.conformance.probe import BICYCLE, OVEN, tell
from memory.conformance.subject import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Subject


def paths(subject: Subject) -> Iterator[tuple[str, str]]:
    """`backup_paths` works before a start, and names absolute paths."""
    outcome = subject.new().call("backup_paths")
    if not outcome.is_good:
        yield "backup.uninitialised", f"before a start, `backup_paths` {outcome.trouble}"
        return
    for path in outcome.value:
        if not Path(path).expanduser().is_absolute():
            yield "backup.relative", f"the path {path!r}"


def everything_is_named(subject: Subject) -> Iterator[tuple[str, str]]:
    """What is written lies in the home, or is named."""
    instance = subject.started()
    tell(instance, BICYCLE)
    tell(instance, OVEN, turn_id="oven")
    instance.call("on_memory_write", "add", "memory", "x", {})
    instance.end()
    outcome = subject.new().call("backup_paths")
    if not outcome.is_good:
        raise Skip("`backup_paths` can't be asked; its own check finds that")
    person = subject.home.parent
    named = [subject.home, *(Path(path).expanduser() for path in outcome.value)]
    outside = [
        file
        for file in sorted(person.rglob("*"))
        if file.is_file() and not any(file == place or place in file.parents for place in named)
    ]
    # caches and settings of libraries are no memory
    left_out = [f for f in outside if f.relative_to(person).parts[0] not in (".cache", ".config", ".local")]
    if left_out:
        yield "backup.unlisted", f"~/{left_out[0].relative_to(person)} is outside the home and not in `backup_paths`"


CHECKS: tuple[Check, ...] = (paths, everything_is_named)
