"""The options that say which sessions: the same for `list`, `export` and `prune`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from hermes_state.commands.values import COUNT, FOLDER, INSTANT

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.listing import SessionFilter

_F = TypeVar("_F", bound="Callable[..., Any]")

_OPTIONS = (
    click.option("--source", "sources", multiple=True, metavar="NAME", help="Only from this surface; may be repeated."),
    click.option("--title", metavar="TEXT", help="The title has this in it."),
    click.option("--model", metavar="TEXT", help="The model's name has this in it."),
    click.option("--tag", metavar="TAG", help="Has this tag."),
    click.option("--cwd", type=FOLDER, metavar="DIR", help="Worked in this folder or below it."),
    click.option("--branch", metavar="TEXT", help="The git branch has this in it."),
    click.option("--after", "active_after", type=INSTANT, help="Active at or after this date (2026-01-31, 5h, 2d)."),
    click.option("--before", "active_before", type=INSTANT, help="Last active before this date."),
    click.option("--started-after", type=INSTANT, help="Started at or after this date."),
    click.option("--started-before", type=INSTANT, help="Started before this date."),
    click.option("--min-messages", type=COUNT, metavar="N", help="Has at least so many messages."),
    click.option("--max-messages", type=COUNT, metavar="N", help="Has at most so many messages."),
    click.option("--ended/--open", "ended", default=None, help="Only those that have ended, or only open ones."),
    click.option("--archived", is_flag=True, help="Only archived ones."),
)
NAMES = (
    "sources", "title", "model", "tag", "cwd", "branch", "active_after", "active_before", "started_after",
    "started_before", "min_messages", "max_messages", "ended", "archived",
)  # fmt: skip


def filter_options(function: _F) -> _F:
    """Add every option of `NAMES` to a command; its function takes them as `**chosen`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def is_empty(chosen: dict[str, Any]) -> bool:
    """Whether no filter was given at all; `--open` is one, though its value is False."""
    return not chosen["archived"] and all(
        value is None or value == () for name, value in chosen.items() if name != "archived"
    )


def make_filter(chosen: dict[str, Any], *, everything: bool = False, every_segment: bool = False) -> SessionFilter:
    """The filter that the options describe.

    Args:
        everything: archived ones and sub-agents' too, where `archived` was not asked for.
        every_segment: each session row, also the earlier segments of compressed conversations.
    """
    from hermes_state.listing import SessionFilter

    values = dict(chosen)
    archived = values.pop("archived")
    sources = values.pop("sources")
    return SessionFilter(
        sources=sources or None,
        archived=True if archived else None if everything else False,
        include_delegates=everything,
        every_segment=every_segment,
        **values,
    )
