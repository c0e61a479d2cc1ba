"""One recall out of several: weighted reciprocal rank fusion under one budget.

Scores of different providers can't be compared, ranks can. A line at rank r of a provider with weight w counts
w / (60 + r); a line that several providers bring counts the sum (Cormack, Clarke and Büttcher, SIGIR 2009). The best
lines that fit the budget are kept, each with its provider and in that provider's order, under the heading it stood
under.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_state.text import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

RANK_CONSTANT = 60
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+")
_HEADING = re.compile(r"^\s*#|[:：]\s*$")


@dataclass(frozen=True, slots=True)
class Part:
    """What one provider recalled.

    Attributes:
        provider: its name.
        text: its recall, best first.
        weight: how much its ranks count.
    """

    provider: str
    text: str
    weight: float = 1.0


@dataclass(slots=True)
class _Line:
    text: str
    heading: str
    rank: int


def fuse(parts: Sequence[Part], *, budget_chars: int) -> list[tuple[str, str]]:
    """The fused recall as (provider, text), in the order of the parts.

    Args:
        parts: a single one is returned whole: the caller cuts it.
        budget_chars: characters that all texts may have together.
    """
    parts = [part for part in parts if part.text.strip()]
    if len(parts) <= 1:
        return [(part.provider, part.text) for part in parts]
    lines = {part.provider: _lines(part.text) for part in parts}
    scores: dict[str, float] = {}
    best: dict[str, tuple[float, str]] = {}
    for part in parts:
        for line in lines[part.provider]:
            key, gain = _key(line.text), part.weight / (RANK_CONSTANT + line.rank)
            scores[key] = scores.get(key, 0.0) + gain
            best[key] = max(best.get(key, (-1.0, "")), (gain, part.provider), key=lambda found: found[0])
    kept = _within(budget_chars, scores, {_key(line.text): line for found in lines.values() for line in found})
    texts = [
        (p.provider, _text([line for line in lines[p.provider] if _is_kept(line, p.provider, kept, best)]))
        for p in parts
    ]
    return [(provider, text) for provider, text in texts if text]


def _lines(text: str) -> list[_Line]:
    """The lines that say something, each with the heading above it. A line that goes on from a bullet belongs to it."""
    found: list[_Line] = []
    heading = ""
    for raw in text.splitlines():
        if not raw.strip():
            continue
        if _HEADING.search(raw) and not _BULLET.match(raw):
            heading = raw
        elif found and raw[:1].isspace() and not _BULLET.match(raw) and found[-1].heading == heading:
            found[-1].text += f"\n{raw}"
        else:
            found.append(_Line(raw, heading, len(found) + 1))
    return found


def _key(text: str) -> str:
    return " ".join(fold(_BULLET.sub("", text)).split())


def _within(budget_chars: int, scores: dict[str, float], lines: dict[str, _Line]) -> set[str]:
    """The best lines that fit the budget."""
    left = budget_chars
    kept = set()
    for key in sorted(scores, key=lambda key: -scores[key]):
        size = len(lines[key].text) + 1
        if size <= left:
            kept.add(key)
            left -= size
    return kept


def _is_kept(line: _Line, provider: str, kept: set[str], best: dict[str, tuple[float, str]]) -> bool:
    key = _key(line.text)
    return key in kept and best[key][1] == provider


def _text(lines: list[_Line]) -> str:
    out: list[str] = []
    heading = ""
    for line in lines:
        if line.heading != heading:
            heading = line.heading
            out.append(heading)
        out.append(line.text)
    return "\n".join(out)
