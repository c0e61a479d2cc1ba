"""What phase vectors really carry, beside what theory says they should.

    python benchmarks/holographic_algebra.py [--seed N] [--json] [--svg docs/holographic-snr.svg]

Measured: how far one part of a bundle stands out from what is not in it (signal to noise) by dimension and number of
parts; how a fact answers for its text, its words and its entities; what packing costs; how many wrong answers a bank
gives by its load; how long the operations take, in CPU time. ``--svg`` draws the first as a picture. The same seed
gives the same figures, times apart.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memory.providers.holographic import algebra, banks, vector_codec

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20261130
DIMS = (256, 1024, 4096)
PARTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
TRIALS = 12
OUTSIDERS = 200
FACTS = 400
LOADS = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
BANKS = 40


class Point(NamedTuple):
    """The signal to noise of bundles of one size."""

    dim: int
    parts: int
    measured: float
    predicted: float


def snr(seed: int) -> list[Point]:
    """Mean similarity of a part in standard deviations of the similarity of what is no part."""
    rng = Random(seed)
    points = []
    for dim in DIMS:
        outside = algebra.encode_atoms([f"outside {rng.random()}" for _ in range(OUTSIDERS)], dim)
        for parts in PARTS:
            inside, noise = [], []
            for _ in range(TRIALS):
                vectors = algebra.encode_atoms([f"part {rng.random()}" for _ in range(parts)], dim)
                bundled = algebra.bundle(vectors)
                inside.append(float(algebra.similarities(vectors, bundled).mean()))
                noise.append(float(algebra.similarities(outside, bundled).std()))
            measured = float(np.mean(inside) / np.mean(noise))
            points.append(Point(dim, parts, round(measured, 2), round(algebra.snr_estimate(dim, parts), 2)))
    return points


def facts(seed: int) -> list[dict[str, Any]]:
    """How facts of 12 words answer, by how many entities they have: mean similarity, and its spread elsewhere."""
    rng = Random(seed)
    rows = []
    for entities in (1, 2, 4):
        words = [[f"w{rng.randrange(40_000)}" for _ in range(12)] for _ in range(FACTS)]
        names = [[f"name {rng.randrange(10**9)}" for _ in range(entities)] for _ in range(FACTS)]
        matrix = np.stack([algebra.encode_fact(w, n) for w, n in zip(words, names, strict=True)])
        asked = {
            "the same text": algebra.content_probe(words[0]),
            "three of its words": algebra.content_probe(words[0][:3]),
            "one of its entities": algebra.entity_probe(names[0][0]),
            "the peer's query (no role)": algebra.encode_tokens(words[0]),
        }
        for what, probe in asked.items():
            scores = algebra.similarities(matrix, probe)
            row = {"entities": entities, "asked": what, "fact": float(scores[0]), "others": float(scores[1:].std())}
            rows.append({name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()})
    return rows


def packing(seed: int) -> list[dict[str, Any]]:
    """What is left of a similarity after packing, and the bytes of a vector of 1024 phases."""
    rng = Random(seed)
    vectors = [algebra.encode_fact([f"w{rng.random()}" for _ in range(9)], ["a", "b"]) for _ in range(200)]
    rows = []
    for bits in vector_codec.BITS:
        kept = [algebra.similarity(vector_codec.unpack(vector_codec.pack(each, bits)), each) for each in vectors]
        step = math.pi / 2**bits
        rows.append(
            {
                "bits": bits,
                "bytes": vector_codec.packed_size(1024, bits),
                "kept": round(float(np.mean(kept)), 4),
                "predicted": round(math.sin(step) / step, 4),
            }
        )
    return rows


def bank_errors(seed: int) -> list[dict[str, Any]]:
    """Wrong answers (missing or too many facts) a query, by the load of a bank."""
    rng = Random(seed)
    rows = []
    for load in LOADS:
        size = round(banks.capacity(banks.BANK_DIM) * load)
        wrong = asked = 0
        for number in range(BANKS):
            links = [banks.Link(f"e{number}-{rng.randrange(size)}", fact) for fact in range(size)]
            bank = banks.Bank.empty()
            bank.add(links)
            for entity in dict.fromkeys(entity for entity, _ in links[:8]):
                found = {fact for fact, _ in bank.recall(entity, range(size)).facts}
                wrong += len(found ^ {link.fact for link in links if link.entity == entity})
                asked += 1
        tail = math.erfc(bank.snr * banks.THRESHOLD / math.sqrt(2)) / 2
        row = {"load": load, "links": size, "snr": bank.snr, "measured": wrong / asked, "predicted": size * tail}
        rows.append({name: round(value, 3) for name, value in row.items()})
    return rows


def speed() -> list[dict[str, Any]]:
    """CPU microseconds of one operation at 1024 phases."""
    words = [f"w{n}" for n in range(12)]
    matrix = np.stack([algebra.encode_fact([f"x{n}"], ["e"]) for n in range(300)])
    blobs = [vector_codec.pack(row) for row in matrix]
    probe = algebra.entity_probe("e")
    numbers = iter(range(10**9))
    operations: dict[str, Callable[[], object]] = {
        "a new atom": lambda: algebra.encode_atom(f"fresh {next(numbers)}"),
        "a fact of 12 known words and 2 entities": lambda: algebra.encode_fact(words, ["a", "b"]),
        "pack": lambda: vector_codec.pack(matrix[0]),
        "unpack 300 rows": lambda: vector_codec.unpack_rows(blobs, 1024),
        "compare with 300 rows": lambda: algebra.similarities(matrix, probe),
    }
    rows = []
    for name, operation in operations.items():
        operation()
        started, rounds = time.process_time(), 0
        while time.process_time() - started < 0.2:
            operation()
            rounds += 1
        rows.append({"operation": name, "cpu_us": round((time.process_time() - started) / rounds * 1e6, 1)})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table."""
    names = list(rows[0])
    body = [[str(row[name]) for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in [names, ["---"] * len(names), *body])


def drawing(points: list[Point]) -> str:
    """Measured points on predicted lines, both axes logarithmic, as an SVG."""
    left, top, width, height = 56, 16, 560, 320
    lowest, highest = 0.5, 100.0

    def place(parts: int, value: float) -> str:
        x = left + width * math.log2(parts) / 8
        y = top + height * (1 - math.log(value / lowest) / math.log(highest / lowest))
        return f"{x:.1f},{y:.1f}"

    colours = dict(zip(DIMS, ("#b5532a", "#2a6fb5", "#3a7d44"), strict=True))
    shapes = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#999"/>']
    for mark in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        x, y = place(mark, lowest).split(",")
        shapes.append(f'<text x="{x}" y="{float(y) + 16:.1f}" text-anchor="middle">{mark}</text>')
    for mark in (1, 2, 5, 10, 20, 50, 100):
        x, y = place(1, mark).split(",")
        shapes.append(f'<text x="{float(x) - 8:.1f}" y="{float(y) + 4:.1f}" text-anchor="end">{mark}</text>')
        shapes.append(f'<line x1="{x}" y1="{y}" x2="{left + width}" y2="{y}" stroke="#ddd"/>')
    for dim, colour in colours.items():
        mine = [point for point in points if point.dim == dim]
        line = " ".join(place(point.parts, point.predicted) for point in mine)
        shapes.append(f'<polyline points="{line}" fill="none" stroke="{colour}"/>')
        for point in mine:
            x, y = place(point.parts, point.measured).split(",")
            shapes.append(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>')
        x, y = place(mine[-1].parts, mine[-1].predicted).split(",")
        shapes.append(f'<text x="{float(x) + 6:.1f}" y="{float(y) + 4:.1f}" fill="{colour}">{dim} phases</text>')
    caption = "parts of the bundle (across) and standard deviations above the noise (up): line predicted, dots measured"
    shapes.append(f'<text x="{left}" y="{top + height + 36}">{caption}</text>')
    inside = "\n".join(shapes)
    size = f'width="{left + width + 90}" height="{top + height + 48}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    background = '<rect width="100%" height="100%" fill="white"/>'
    return f"{opening}\n{background}\n{inside}\n</svg>\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--svg", type=Path, help="where to write the picture of signal to noise")
    chosen = parser.parse_args()
    points = snr(chosen.seed)
    found = {
        "signal to noise": [point._asdict() for point in points],
        "facts": facts(chosen.seed),
        "packing": packing(chosen.seed),
        "banks": bank_errors(chosen.seed),
        "speed": speed(),
    }
    if chosen.svg:
        chosen.svg.write_text(drawing(points), encoding="utf-8")
    if chosen.json:
        print(json.dumps({"seed": chosen.seed, **found}, indent=2))
        return
    for name, rows in found.items():
        print(f"## {name}\n\n{table(rows)}\n")


if __name__ == "__main__":
    main()
