"""What people type as option values: dates and ages, numbers of rows."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

import click

DATE_FORMS = "2026-01-31, 2026-01, an ISO time, 30m, 5h, 2d, 1w, today or yesterday"


class InstantType(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A moment: a date, or an age before now. Read by the same function as `after:` in a search."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        from hermes_state.text.filters import instant

        try:
            return instant(value, datetime.now().astimezone())
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no date; known are {DATE_FORMS}", param, ctx)


class WholeType(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A whole number that is not too small. Not click's `IntRange`, which adds its bounds to every line of help."""

    name = "number"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if number < self.least:
            self.fail(f"{number} is less than {self.least}", param, ctx)
        return number


class FolderType(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A folder that a session worked in. Only `.`, `..` and `~` are resolved: it may be one of another machine."""

    name = "dir"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        text = os.path.expanduser(str(value))  # noqa: PTH111  a Path would drop what it does not understand
        return os.path.abspath(text) if text.startswith(".") else text  # noqa: PTH100


INSTANT = InstantType()
FOLDER = FolderType()
COUNT = WholeType(0)
AT_LEAST_ONE = WholeType(1)

limit_option = click.option("--limit", type=COUNT, default=20, show_default=True, help="At most so many; 0 for all.")


def limit_of(rows: int) -> int | None:
    """A `--limit` as the store takes it."""
    return rows or None
