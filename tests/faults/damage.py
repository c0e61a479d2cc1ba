"""Damage that is sure to hit: pages of a closed database by what they hold."""

from __future__ import annotations

import random
import sqlite3
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

INTERIOR = (0x02, 0x05)


def page_size(path: Path) -> int:
    """Bytes of a page of the database."""
    (size,) = struct.unpack(">H", path.read_bytes()[16:18])
    return 65536 if size == 1 else int(size)


def leaves_of(path: Path, name: str) -> list[int]:
    """The numbers of the leaf pages of a table or index, in order."""
    return [number for number, interior in _pages(path, name) if not interior]


def interiors_of(path: Path, name: str) -> list[int]:
    """The numbers of its interior pages, the root first; [] for a tree of one page."""
    return [number for number, interior in _pages(path, name) if interior]


def _pages(path: Path, name: str) -> list[tuple[int, bool]]:
    connection = sqlite3.connect(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    connection.close()
    data, size = path.read_bytes(), page_size(path)
    found: list[tuple[int, bool]] = []

    def walk(number: int) -> None:
        start = (number - 1) * size
        header = start + (100 if number == 1 else 0)
        interior = data[header] in INTERIOR
        found.append((number, interior))
        if interior:
            (cells,) = struct.unpack(">H", data[header + 3 : header + 5])
            for cell in range(cells):
                at = header + 12 + 2 * cell
                (offset,) = struct.unpack(">H", data[at : at + 2])
                walk(struct.unpack(">I", data[start + offset : start + offset + 4])[0])
            walk(struct.unpack(">I", data[header + 8 : header + 12])[0])

    walk(root)
    return found


def overwrite(path: Path, *numbers: int, seed: int = 7) -> None:
    """Fill pages with bytes that are no page of any kind."""
    size = page_size(path)
    noise = random.Random(seed)
    with path.open("r+b") as file:
        for number in numbers:
            file.seek((number - 1) * size)
            file.write(b"\xff" + noise.randbytes(size - 1))


def flip(path: Path, needle: bytes) -> int:
    """Change one bit of every place that holds the needle; returns how many there were."""
    data = bytearray(path.read_bytes())
    count, start = 0, 0
    while (at := data.find(needle, start)) >= 0:
        data[at] ^= 0x80
        count, start = count + 1, at + 1
    path.write_bytes(bytes(data))
    return count
