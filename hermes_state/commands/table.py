"""Columns of text that line up whatever script it is in. No frames: what is printed can be read, cut and grepped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GAP = "  "
# A last column narrower than this says nothing; the line then grows past the terminal's edge instead.
_MIN_LAST = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column.

    Attributes:
        head: its heading.
        right: numbers line up on the right.
        most: cells it may take on a terminal; what is longer is cut with an ellipsis. None: as much as it needs.
        from_width: a terminal with fewer cells does without the column, so that the last one has room.
    """

    head: str
    right: bool = False
    most: int | None = None
    from_width: int = 0


class Cell(NamedTuple):
    """The text of a cell and how it is shown (keyword arguments of `click.style`)."""

    text: str
    style: tuple[tuple[str, str | bool], ...] = ()


DIM = (("dim", True),)
BOLD = (("bold", True),)


def bold_in(color: str) -> tuple[tuple[str, str | bool], ...]:
    """The style of a word that a reader must not miss."""
    return (("fg", color), ("bold", True))


def paint(text: str, style: tuple[tuple[str, str | bool], ...]) -> str:
    """The text with its style as escape sequences, which `click.echo` takes out where they don't belong."""
    return click.style(text, **dict(style)) if style and text else text  # type: ignore[arg-type]  # pairs of one call


def render(columns: Sequence[Column], rows: Sequence[Sequence[Cell | str]], width: int | None) -> Iterator[str]:
    """The lines of a table: a heading, then the rows.

    Args:
        width: cells of the terminal, to which the last column is cut; None: nothing is cut.
    """
    from rich.cells import cell_len

    table = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    kept = [
        n
        for n, column in enumerate(columns)
        if any(row[n].text for row in table) and (width is None or width >= column.from_width)
    ]
    shown = [columns[n] for n in kept]
    table = [[Cell(c.head, DIM) for c in shown], *([row[n] for n in kept] for row in table)]
    widths = [max(cell_len(row[n].text) for row in table) for n in range(len(shown))]
    if width is not None:
        widths = _fitted(widths, shown, width)
    for row in table:
        yield _GAP.join(
            paint(_padded(cell.text, widths[n], right=shown[n].right, last=n == len(shown) - 1), cell.style)
            for n, cell in enumerate(row)
        ).rstrip()


def _fitted(widths: list[int], columns: Sequence[Column], width: int) -> list[int]:
    capped = [min(w, c.most) if c.most else w for w, c in zip(widths, columns, strict=True)]
    if capped:
        room = width - sum(capped[:-1]) - len(_GAP) * (len(capped) - 1)
        capped[-1] = min(capped[-1], max(room, _MIN_LAST))
    return capped


def _padded(text: str, width: int, *, right: bool, last: bool) -> str:
    from rich.cells import cell_len

    text = cut(text, width)
    space = " " * (width - cell_len(text))
    if right:
        return space + text
    return text if last else text + space


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells; one that was cut ends in an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def wrap(text: str, width: int | None, *, indent: int) -> Iterator[tuple[str, int]]:
    """The lines of a text in what `indent` leaves of a width (None: one line), each with where in the text it starts.

    Lines break at spaces, or anywhere in a script that has none.
    """
    from rich.cells import cell_len

    if width is None:
        yield text, 0
        return
    room = max(width - indent, _MIN_LAST)
    start = 0
    while start < len(text):
        cells, end, space = 0, start, -1
        while end < len(text) and (cells := cells + cell_len(text[end])) <= room:
            if text[end] == " ":
                space = end
            end += 1
        if end < len(text) and space > start and text[end] != " ":
            breaks_word = cell_len(text[end]) == 1 and cell_len(text[end - 1]) == 1
            end = space if breaks_word else end
        yield text[start:end].rstrip(" "), start
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
