"""The built-in memory that a command works on, and the entry that its argument means."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from hermes_state.errors import StoreUnavailable
from memory.builtin import BuiltinMemory, BuiltinProvider, Limits, Operation
from memory.builtin.entries import TARGETS
from memory.commands.settings import settings_of
from memory.errors import AmbiguousMatch, EntryNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.store import SessionDB
    from memory.settings import MemorySettings

ORIGIN = {"write_origin": "command line", "execution_context": "foreground"}

target_option = click.option(
    "--target", type=click.Choice(TARGETS), metavar="TARGET", help="memory (MEMORY.md) or user (USER.md)."
)


@contextmanager
def opened(invocation: Invocation, *, writes: bool, past: bool = False) -> Iterator[BuiltinMemory]:
    """The memory of the home. A person at the command line needs nobody's approval.

    Args:
        writes: a store is made where there is none, and what changes is told to the configured providers; without it
            the files alone are read when there is no store, or none that can be opened.
        past: what was is asked for, which only the store knows: one that is there has to open.
    """
    settings = settings_of(invocation)
    if not writes and not invocation.may_have_store:
        yield _memory(invocation, None, settings)
        return
    with ExitStack() as stack:
        try:
            db = stack.enter_context(invocation.open_store(create=writes, only_reads=not writes))
        except StoreUnavailable as error:  # a full disk, a home that is read-only
            if writes or past:
                raise
            invocation.note(f"only the files are read: {error.message}")
            yield _memory(invocation, None, settings)
            return
        memory = _memory(invocation, db, settings)
        if writes and settings.external:
            with _mirrored(invocation, db, settings, memory):
                yield memory
        else:
            yield memory


def _memory(invocation: Invocation, db: SessionDB | None, settings: MemorySettings) -> BuiltinMemory:
    limits = Limits(memory=settings.memory_char_limit, user=settings.user_char_limit)
    return BuiltinMemory(invocation.home_path(), db, limits=limits)


@contextmanager
def _mirrored(invocation: Invocation, db: SessionDB, settings: MemorySettings, memory: BuiltinMemory) -> Iterator[None]:
    """Have what changes told to the external providers; what they can't take now waits in the outbox."""
    from memory.manager.manager import MemoryManager

    with MemoryManager(db, home=invocation.home_path(), settings=settings, notify=invocation.note) as manager:
        manager.add_provider(BuiltinProvider(memory))
        manager.add_configured()
        manager.initialize("", platform="cli", agent_context="primary")
        yield


def located(memory: BuiltinMemory, what: str, target: str | None, *, action: str) -> tuple[str, Operation]:
    """The entry that an argument means, by id or text, in either file; returns its target and an operation on it.

    Raises:
        EntryNotFound, AmbiguousMatch: no entry, or several, are meant.
    """
    found = [
        (each, name)
        for each in ((target,) if target else TARGETS)
        for name in memory.read(each).ids
        if len(what) >= 4 and name.startswith(what.strip().lower())
    ]
    if len(found) == 1:
        return found[0][0], Operation(action=action, target=found[0][0], id=found[0][1])
    fits: list[tuple[str, Operation]] = []
    nearest: list[str] = []
    for each in (target,) if target else TARGETS:
        operation = Operation(action=action, target=each, old_text=what)
        try:
            memory.find(operation)
        except EntryNotFound as error:
            nearest += error.nearest
        else:
            fits.append((each, operation))
    if len(fits) > 1:
        raise AmbiguousMatch(what, [f"an entry of {each}" for each, _ in fits])
    if not fits:
        raise EntryNotFound(what, nearest)
    return fits[0]
