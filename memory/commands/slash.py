"""The slash commands of a chat: `/search`, `/memory`, `/undo`, … Each is a function of the chat and its argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_state.commands.hits import show_conversations
from hermes_state.commands.wording import count
from hermes_state.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state import SessionDB
    from hermes_state.commands.invocation import Invocation
    from memory.agent.wiring import Wired
    from memory.commands.screen import Screen

# Conversations that `/search` shows.
_HITS = 5


class LeaveChat(Exception):
    """Raised by `/exit`."""


@dataclass(frozen=True, slots=True)
class Chat:
    """What the commands work with."""

    invocation: Invocation
    db: SessionDB
    wired: Wired
    screen: Screen


def run_slash(chat: Chat, line: str) -> None:
    """Run one.

    Raises:
        InvalidValue: there is no such command.
        HermesStateError: it failed; the chat goes on.
    """
    name, _, argument = line[1:].partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        raise InvalidValue(f"there is no command /{name}", hint="/help lists them; a message may not begin with /")
    command(chat, argument.strip())


def _help(chat: Chat, _argument: str) -> None:
    """what there is"""
    for name, command in COMMANDS.items():
        chat.screen.note(f"/{name:<10} {command.__doc__}")
    chat.screen.note("A line that ends in \\ goes on in the next one. Ctrl-C ends an answer, Ctrl-D the chat.")


def _search(chat: Chat, query: str) -> None:
    """WORDS: earlier conversations in which they were said"""
    if not query:
        raise InvalidValue("/search needs words to search for")
    hits = chat.db.search.conversations(query, limit=_HITS)
    if not show_conversations(chat.invocation, hits, with_context=False):
        chat.screen.note("nothing found")


def _memory(chat: Chat, query: str) -> None:
    """[WORDS | undo]: what is in memory, what it has on these words; undo its last change"""
    if query == "undo":
        for change in chat.wired.builtin.undo().changes:
            chat.screen.note(f"{change.target}: {change.action} {change.content or change.previous}")
        return
    if query:
        found = chat.wired.builtin.search(query, limit=10)
        for memory in found:
            chat.screen.note(f"{memory.target}: {memory.text}")
        if not found:
            chat.screen.note("nothing found")
        return
    for target in ("user", "memory"):
        entries = chat.wired.builtin.read(target).texts
        chat.screen.note(f"{target}: {count(len(entries), 'entry', 'entries')}")
        for entry in entries:
            chat.screen.note(f"  - {entry}")
    for provider in chat.wired.manager.status().providers:
        chat.screen.note(f"{provider.name}: {provider.state}" + (f" ({provider.reason})" if provider.reason else ""))


def _undo(chat: Chat, _argument: str) -> None:
    """take back the last turn"""
    taken = chat.wired.agent.rewind()
    chat.screen.note(f"taken back: {count(len(taken), 'message')}")


def _branch(chat: Chat, title: str) -> None:
    """[TITLE]: go on in a copy of this conversation"""
    child = chat.wired.agent.branch(title or None)
    chat.screen.note(f"a copy of the conversation: {child.title or child.id}")


def _new(chat: Chat, title: str) -> None:
    """[TITLE]: end this conversation and begin another one"""
    chat.wired.agent.new(title or None)
    chat.screen.note("a new conversation")


def _resume(chat: Chat, ref: str) -> None:
    """ID|TITLE: go on in another conversation"""
    if not ref:
        raise InvalidValue("/resume needs an id, the start of one, or a title")
    session = chat.wired.agent.resume(ref)
    chat.screen.note(f"{session.title or session.id}: {count(session.message_count, 'message')}")


def _title(chat: Chat, title: str) -> None:
    """TITLE: name this conversation"""
    if not title:
        raise InvalidValue("/title needs a title")
    session = chat.wired.agent.rename(title)
    chat.screen.note(f"titled {session.title}")


def _compress(chat: Chat, _argument: str) -> None:
    """make a summary of what was said so far"""
    done = chat.wired.agent.compress()
    chat.screen.note("there is nothing to compress" if done is None else f"{done.summarised} messages became a summary")


def _exit(_chat: Chat, _argument: str) -> None:
    """leave; Ctrl-D does too"""
    raise LeaveChat


COMMANDS: dict[str, Callable[[Chat, str], None]] = {
    "search": _search,
    "memory": _memory,
    "undo": _undo,
    "branch": _branch,
    "new": _new,
    "resume": _resume,
    "title": _title,
    "compress": _compress,
    "help": _help,
    "exit": _exit,
}
