"""`search`: finding again what was said."""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.invocation import FOUND_NOTHING
from hermes_state.commands.sessions.references import REF
from hermes_state.commands.values import COUNT, FOLDER, INSTANT, limit_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.search import Hits
    from hermes_state.store import SessionDB

# Hits fetched at a time; more are streamed page by page.
_PAGE = 500
_EPILOG = """\
\b
The query's words rank, none of them is required. It also knows
  "a phrase"   AND  OR  NOT  -word   prefix*   ( )
  role: source: session: tool: model: cwd: title: after: before:
  is:archived|active|compacted|open|ended|child
"""


@command(
    "search",
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    epilog=_EPILOG,
    examples=(
        "hermes-state search redis 升级",
        "hermes-state search 'why did the deploy fail?' --after 2w --conversations",
        "hermes-state search '\"blue-green\" -staging role:user' --json | jq -r '.hits[].session_id'",
    ),
)
@click.argument("words", nargs=-1, metavar="QUERY...")
@limit_option
@click.option("--offset", type=COUNT, default=0, metavar="N", help="Leave out the first N.")
@click.option("--sort", type=click.Choice(("relevance", "newest", "oldest")), default="relevance", metavar="ORDER",
              help="relevance (the default), newest or oldest first.")  # fmt: skip
@click.option("--conversations", is_flag=True, help="A hit per conversation, with its best messages.")
@click.option("--role", multiple=True, metavar="ROLE", help="Only messages of this role; may be repeated.")
@click.option("--source", multiple=True, metavar="NAME", help="Only from this surface; may be repeated.")
@click.option("--session", type=REF, multiple=True, metavar="REF", help="Only in this conversation; may be repeated.")
@click.option("--tool", multiple=True, metavar="NAME", help="Only output of this tool; may be repeated.")
@click.option("--model", metavar="TEXT", help="The model's name has this in it.")
@click.option("--cwd", type=FOLDER, metavar="DIR", help="Worked in this folder or below it.")
@click.option("--after", type=INSTANT, help="Said at or after this date (2026-01-31, 2026-01, 5h, 2d).")
@click.option("--before", type=INSTANT, help="Said before this date.")
@click.option("--archived/--no-archived", "archived", default=None, help="Only in archived ones, or in none of them.")
@click.option("--delegates", is_flag=True, help="Also in what sub-agents did.")
@click.option("--all", "everything", is_flag=True, help="Everywhere: archived ones and sub-agents' too.")
@click.option("--context", type=COUNT, metavar="N", help="Show N messages on each side of a hit.")
@click.option("--explain", is_flag=True, help="Say why each hit stands where it does.")
@click.option("--jsonl", is_flag=True, help="JSON Lines: a hit a line.")
def search(
    invocation: Invocation,
    words: tuple[str, ...],
    limit: int,
    offset: int,
    conversations: bool,
    jsonl: bool,
    **options: Any,
) -> int | None:
    """Find messages in every conversation, in any script.

    Words need no quotes: all arguments together are the query. Exits 1 when nothing is found.
    """
    query = _query(words)
    from hermes_state.commands.neighbour import offer_import, say_pending

    offer_import(invocation)
    with invocation.open_store(only_reads=True) as db:
        ask, arguments = _ask(db, query, conversations=conversations, options=options)
        answer = _Answer(ask, arguments, limit or None, offset)
        found = _write(invocation, query, answer, conversations=conversations, jsonl=jsonl, options=options)
        say_pending(invocation, db)
    return None if found else FOUND_NOTHING


def _query(words: tuple[str, ...]) -> str:
    """The query. An option that there is not is no word of it: `--limt 5` must not be searched for."""
    for word in words:
        if word.startswith("--") and word != "--":
            context = click.get_current_context()
            known = [name for option in context.command.params for name in option.opts]
            raise click.NoSuchOption(word, possibilities=difflib.get_close_matches(word, known), ctx=context)
    query = " ".join(words)
    if not query.strip():
        raise click.UsageError("search for what?")
    return query


def _ask(
    db: SessionDB, query: str, *, conversations: bool, options: dict[str, Any]
) -> tuple[Callable[..., Hits[Any]], dict[str, Any]]:
    """The store's search that is meant, and its arguments but for the page."""
    archived, everything = options["archived"], options["everything"]
    names = ("role", "source", "session", "tool", "model", "cwd", "after", "before")
    filters = {name: options[name] for name in names if options[name] not in (None, ())}
    filters["include_children"] = options["delegates"] or everything
    filters["include_archived"] = archived is not False or everything
    text = f"is:archived {query}" if archived else query
    context = 1 if options["context"] is None else options["context"]
    arguments = {"query": text, "sort": options["sort"], "explain": options["explain"], "context": context, **filters}
    return (db.search.conversations if conversations else db.search.messages), arguments


class _Answer:
    """The hits of a search, fetched page by page as they are read, and what was said about the search."""

    def __init__(
        self, ask: Callable[..., Hits[Any]], arguments: dict[str, Any], limit: int | None, offset: int
    ) -> None:
        self._ask = ask
        self._arguments = arguments
        self._limit = limit
        self._offset = offset
        self.degraded: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.explanation: Any = None

    def __iter__(self) -> Iterator[Any]:
        return islice(self._pages(), self._limit)

    def _pages(self) -> Iterator[Any]:
        offset = self._offset
        size = min(self._limit or _PAGE, _PAGE)
        while True:
            page = self._ask(**self._arguments, limit=size, offset=offset)
            if offset == self._offset:
                self.degraded, self.notes, self.explanation = page.degraded, page.notes, page.explanation
            yield from page
            if len(page) < size:
                return
            offset += size


def _write(
    invocation: Invocation, query: str, answer: _Answer, *, conversations: bool, jsonl: bool, options: dict[str, Any]
) -> int:
    """Write the answer in the form asked for; returns how many hits there were."""
    shape = shapes.conversation_hit if conversations else shapes.message_hit
    if jsonl:
        found = invocation.stream(shape(hit) for hit in answer)
        for line in (*answer.degraded, *answer.notes):
            invocation.note(line)
        return found
    if invocation.json:
        hits = [shape(hit) for hit in answer]
        document: dict[str, Any] = {"query": query, "conversations" if conversations else "hits": hits}
        document |= {"degraded": list(answer.degraded), "notes": list(answer.notes)}
        if options["explain"]:
            document["explanation"] = shapes.explanation(answer.explanation)
        invocation.document(document)
        return len(hits)
    from hermes_state.commands.hits import show_conversations, show_messages

    show = show_conversations if conversations else show_messages
    found = show(invocation, answer, with_context=options["context"] is not None)
    for line in (*answer.degraded, *answer.notes):
        invocation.note(line)
    if options["explain"]:
        from hermes_state.commands.hits import explain

        explain(invocation, answer.explanation)
    if not found:
        invocation.note("nothing found")
    return found
