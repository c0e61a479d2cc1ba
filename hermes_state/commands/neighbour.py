"""A Hermes home beside our store: seen, named, and offered to be imported."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hermes_state.commands.streams import is_terminal
from hermes_state.commands.wording import count
from hermes_state.errors import StoreUnavailable

if TYPE_CHECKING:
    from hermes_state.commands.invocation import Invocation
    from hermes_state.importers import Pending
    from hermes_state.store import SessionDB

# What a home has that may hold a Hermes store: its own, or those of its profiles.
HERMES_SIGNS = ("state.db", "profiles")


def pending(invocation: Invocation, db: SessionDB | None) -> list[Pending]:
    """What the home's Hermes stores hold that ours has not seen; nothing when `--db` names a store by itself."""
    home = invocation.home_path()
    # A home that is no Hermes agent's does not wait for the importers to load.
    if invocation.db or not any((home / name).exists() for name in HERMES_SIGNS):
        return []
    from hermes_state.importers import detect

    return detect(db, home)


def missing_store(invocation: Invocation) -> StoreUnavailable:
    """There is no store yet; the hint names the one step that makes one."""
    found = pending(invocation, None)
    if found:
        hint = f"`{import_command(invocation)}` brings in {_what(found)}"
    else:
        hint = f"an agent makes it when it first writes; is {'--db' if invocation.db else '--home'} right?"
    return StoreUnavailable(f"there is no store at {invocation.store_path()}", hint=hint)


def import_command(invocation: Invocation) -> str:
    """The command that imports the home's Hermes stores, as it would be typed here."""
    return f"hermes-state import hermes{f' --home {invocation.home}' if invocation.home else ''}"


def _what(found: list[Pending]) -> str:
    sessions = sum(each.sessions for each in found)
    return f"{count(sessions, 'session')} of {found[0].source.path}"


def offer_import(invocation: Invocation) -> None:
    """Before a search in a home that has a Hermes store and none of ours: ask a person whether to import it now.

    Anybody else is told by the error that follows.
    """
    if invocation.json or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return
    if invocation.may_have_store:
        return
    found = pending(invocation, None)
    if found and click.confirm(f"Nothing is imported yet. Bring in {_what(found)} now?", default=True, err=True):
        from hermes_state.commands.imports import import_home

        import_home(invocation)


def say_pending(invocation: Invocation, db: SessionDB) -> None:
    """After a search: one line when the home's Hermes stores have something that was not searched."""
    if invocation.json:
        return
    for each in pending(invocation, db):
        news = count(each.new_sessions, "session") if each.new_sessions else "new messages"
        invocation.note(f"not searched: {news} of {each.source.path}; `{import_command(invocation)}` brings them in")
