"""The B-trees of a database: their pages, and where these name other pages.

Format: https://sqlite.org/fileformat2.html#b_tree_pages. What is not as it says is refused, so that a damaged tree is
left to SQLite.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.portability.pages.errors import Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hermes_state.portability.pages.reading import Pages

INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
INNER = (INDEX_INNER, TABLE_INNER)
_HEAD = struct.Struct(">BHHHB")  # kind, first free block, cells, where their content begins, bytes in fragments
_INNER_BYTES, _LEAF_BYTES = 12, 8
_RIGHTMOST = 8
_NUMBER = struct.Struct(">I")
_FREE = struct.Struct(">HH")  # where the next free block is, and bytes of this one
# A row of a table goes on elsewhere when it fills a page but for so many bytes.
_TABLE_HEAD = 35
# SQLite's own bound of a tree's depth.
_MAX_DEPTH = 20


# Where a page names another one, and that one's number.
Pointer = tuple[int, int]


class Page(NamedTuple):
    """A page of a tree.

    Attributes:
        raw: as it is.
        content: the same, of which what is free is zeros.
        children: where it names pages of the tree.
        chained: where it names pages on which a long row goes on.
    """

    raw: bytes
    content: bytes
    children: Sequence[Pointer]
    chained: Sequence[Pointer]


def pages_below(pages: Pages, root: int) -> Iterator[tuple[int, Page]]:
    """All pages of a tree, each before those that it names; pages of long rows follow the page with their beginning.

    Raises:
        Unfit: it is no sound tree.
    """
    waiting = [(root, 0)]
    while waiting:
        number, depth = waiting.pop()
        page = page_of_tree(pages.page(number))
        waiting += [(child, depth + 1) for _, child in reversed(page.children)]
        yield number, page
        for _, first in page.chained:
            yield from _chain(pages, first)
        if depth > _MAX_DEPTH:
            raise Unfit("a tree without end")


def page_of_tree(raw: bytes) -> Page:
    """A page with keys or rows.

    Raises:
        Unfit: it is none.
    """
    try:
        kind, free, cells, begin, _ = _HEAD.unpack_from(raw)
        if kind not in INNER:
            long = _overflows(raw, kind, _offsets(raw, _LEAF_BYTES, cells))
            return Page(raw, _cleaned(raw, free, _LEAF_BYTES + 2 * cells, begin), (), long)
        offsets = _offsets(raw, _INNER_BYTES, cells)
        children = [(place, _NUMBER.unpack_from(raw, place)[0]) for place in (*offsets, _RIGHTMOST)]
        long = _overflows(raw, kind, offsets) if kind == INDEX_INNER else []
        return Page(raw, _cleaned(raw, free, _INNER_BYTES + 2 * cells, begin), children, long)
    except (IndexError, struct.error) as error:
        raise Unfit(f"a page that names places outside of it: {error}") from error


def page_of_chain(raw: bytes) -> Page:
    """A page on which a row goes on."""
    following = _NUMBER.unpack_from(raw)[0]
    return Page(raw, raw, (), [(0, following)] if following else [])


def is_inner(pages: Pages, root: int) -> bool:
    """Whether a tree has more than one page with rows."""
    return pages.page(root)[0] in INNER


def _offsets(raw: bytes, start: int, cells: int) -> tuple[int, ...]:
    return _numbers(cells).unpack_from(raw, start)


@cache
def _numbers(count: int) -> struct.Struct:
    return struct.Struct(f">{count}H")


def _overflows(raw: bytes, kind: int, offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Where cells name the page on which they go on, and that page."""
    if kind == TABLE_LEAF:
        # Nearly all rows are short: of these, the first byte of their length tells so, or the first two do.
        least = 0x80 | (len(raw) - _TABLE_HEAD >> 7)
        offsets = [o for o in offsets if raw[o] > 0x7F and (raw[o] >= least or raw[o + 1] > 0x7F)]
    elif kind not in (INDEX_LEAF, INDEX_INNER):
        raise Unfit(f"a page of kind {kind}")
    places = (_overflow(raw, offset + 4 * (kind == INDEX_INNER), is_table=kind == TABLE_LEAF) for offset in offsets)
    return [(place, _NUMBER.unpack_from(raw, place)[0]) for place in places if place]


def _overflow(raw: bytes, at: int, *, is_table: bool) -> int:
    """Where a cell's page number stands; 0: the cell is whole."""
    payload, at = _varint(raw, at)
    if is_table:
        _, at = _varint(raw, at)
    size = len(raw)
    most = size - _TABLE_HEAD if is_table else (size - 12) * 64 // 255 - 23
    if payload <= most:
        return 0
    least = (size - 12) * 32 // 255 - 23
    local = least + (payload - least) % (size - 4)
    return at + (local if local <= most else least)


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for number, byte in enumerate(raw[at : at + 9]):
        if number == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + number + 1
    raise Unfit("a number that leaves its page")


def _chain(pages: Pages, first: int) -> Iterator[tuple[int, Page]]:
    """The pages on which a row goes on."""
    number, left = first, pages.count
    while number:
        page = page_of_chain(pages.page(number))
        yield number, page
        number, left = page.chained[0][1] if page.chained else 0, left - 1
        if left < 0:
            raise Unfit("a row without end")


def _cleaned(raw: bytes, free: int, start: int, begin: int) -> bytes:
    """A page without what was deleted from it."""
    begin = begin or 65536
    if begin > len(raw) or begin < start:
        raise Unfit("cells that overlap their page's head")
    nothing = bytes(begin - start)
    if not free:
        return raw if raw[start:begin] == nothing else b"".join((raw[:start], nothing, raw[begin:]))
    cleaned = bytearray(raw)
    cleaned[start:begin] = nothing
    for place, size in _free_blocks(raw, free, begin):
        cleaned[place + _FREE.size : place + size] = bytes(size - _FREE.size)
    return bytes(cleaned)


def _free_blocks(raw: bytes, first: int, begin: int) -> Iterable[tuple[int, int]]:
    place, least = first, begin
    while place:
        if place < least or place + _FREE.size > len(raw):
            raise Unfit("a free block outside of its page")
        following, size = _FREE.unpack_from(raw, place)
        if size < _FREE.size or place + size > len(raw):
            raise Unfit("a free block that leaves its page")
        yield place, size
        place, least = following, place + size
