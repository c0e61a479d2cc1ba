"""One recalled text from what several providers recalled: scanned, deduplicated, within a budget.

A recalled text is taken apart into *units*: a heading, a list item with the lines indented below it, a fenced piece of
code, a line. Units are what is withheld, dropped as repeated, or cut; none is ever broken, unless it alone is
longer than the budget.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from memory.safety import scan as safety_scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memory.safety import Finding

# Characters of recall that one turn gets, all providers together: some 2,000 tokens of Latin text, 6,000 of Chinese.
MAX_RECALL_CHARS = 8_000
# A provider's text beyond this many budgets is not even looked at.
_MAX_BUDGETS = 8
# Units with fewer letters and digits (`---`, `}`) may repeat.
_MIN_KEY_CHARS = 4

_HEADING = re.compile(r"#{1,6}\s|\*\*[^*]+\*\*:?\s*\Z|[^\W\d_][^\n.!?。！？]{0,60}[:：]\Z")
_ITEM = re.compile(r"\s*(?:[-*+•‣·–—]|\(?\d{1,3}[.)、]|[①-⑳])\s*")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Withheld:
    """A unit that reads like an attack and was left out; `label` is the provider."""

    label: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is left of a recall.

    Attributes:
        text: what the model may see, not fenced; empty if nothing is left.
        withheld: what the scan refused.
        repeated: units left out since they are in the conversation already.
        cut: units left out for the budget.
    """

    text: str
    withheld: tuple[Withheld, ...] = ()
    repeated: int = 0
    cut: int = 0


class _Unit(NamedTuple):
    text: str
    apart: bool = False  # a blank line stands before it

    @property
    def size(self) -> int:
        return len(self.text) + 1 + self.apart


@dataclass(slots=True)
class _Part:
    label: str
    units: list[_Unit]
    cut: int = 0

    @property
    def size(self) -> int:
        return sum(unit.size for unit in self.units)


def merge_recall(
    parts: Iterable[tuple[str, str]],
    seen: set[str],
    *,
    max_chars: int = MAX_RECALL_CHARS,
    scan: Callable[[str], list[Finding]] = safety_scan,
) -> str:
    """The text of `merge`."""
    return merge(parts, seen, max_chars=max_chars, scan=scan).text


def merge(
    parts: Iterable[tuple[str, str]],
    seen: set[str],
    *,
    max_chars: int = MAX_RECALL_CHARS,
    scan: Callable[[str], list[Finding]] = safety_scan,
) -> Recalled:
    """One text from several, in their order; a heading names each provider where there are several.

    Args:
        parts: (label, text) per provider; the texts without fences.
        seen: keys of units that are in the conversation already; those shown now are added. Keep one per session and
            clear it when the context is compressed, or pass a new set where recall does not stay in the context.
        max_chars: the budget. A part that needs less than its share leaves the rest to the others.
        scan: what finds attacks in a text.
    """
    withheld: list[Withheld] = []
    shown: set[str] = set()
    repeated = 0
    kept: list[_Part] = []
    for label, text in parts:
        safe, refused = _scanned(label, list(_units(text[: max_chars * _MAX_BUDGETS])), scan)
        withheld += refused
        units = [unit for unit in safe if not _repeats(unit.text, seen, shown)]
        repeated += len(safe) - len(units)
        kept.append(_Part(label, _without_empty_headings(units)))
    kept = [part for part in kept if part.units]
    _fit(kept, max_chars)
    seen.update(key for part in kept for unit in part.units if (key := _key(unit.text)))
    return Recalled(_joined(kept), tuple(withheld), repeated, sum(part.cut for part in kept))


def _units(text: str) -> Iterator[_Unit]:
    """The units of a text; blank lines are none."""
    lines: list[str] = []
    apart = blank = False
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            fence = "" if mark and mark[1] == fence else fence
            continue
        if not line.strip():
            blank = True
            continue
        belongs = bool(lines) and line[0] in " \t" and _ITEM.match(lines[0]) and not _ITEM.match(line)
        if not belongs:
            if lines:
                yield _Unit("\n".join(lines), apart)
            lines, apart = [], blank
        lines.append(line.rstrip())
        blank = False
        fence = mark[1] if mark else ""
    if lines:
        yield _Unit("\n".join(lines), apart)


def _scanned(
    label: str, units: list[_Unit], scan: Callable[[str], list[Finding]]
) -> tuple[list[_Unit], list[Withheld]]:
    """The harmless units, and what was found in the others. An attack over several units refuses the whole part."""
    if not scan("\n".join(unit.text for unit in units)):
        return units, []
    safe, withheld = [], []
    for unit in units:
        findings = scan(unit.text)
        withheld += [Withheld(label, finding) for finding in findings]
        if not findings:
            safe.append(unit)
    if spread := scan("\n".join(unit.text for unit in safe)):
        return [], withheld + [Withheld(label, finding) for finding in spread]
    return safe, withheld


def _key(unit: str) -> str:
    """What makes two units the same: letters and digits, not bullets, case, width or spacing. Empty: may repeat."""
    if _HEADING.match(unit) or _FENCE.match(unit):
        return ""
    folded = unicodedata.normalize("NFKC", _ITEM.sub("", unit, count=1)).casefold()
    key = " ".join(folded.split()).strip(" .。;；,，")
    telling = sum(1 for _ in islice(filter(str.isalnum, key), _MIN_KEY_CHARS))
    return key if telling == _MIN_KEY_CHARS else ""


def _repeats(unit: str, seen: set[str], shown: set[str]) -> bool:
    key = _key(unit)
    if not key:
        return False
    if key in seen or key in shown:
        return True
    shown.add(key)
    return False


def _without_empty_headings(units: list[_Unit]) -> list[_Unit]:
    """A heading stays only where something stands below it."""
    kept: list[_Unit] = []
    for unit in reversed(units):
        level = _level(unit)
        if level and (not kept or 0 < _level(kept[-1]) <= level):
            continue
        kept.append(unit)
    return kept[::-1]


def _level(unit: _Unit) -> int:
    """1 to 6 for `#` to `######`, 7 for other headings, 0 for anything else."""
    if not _HEADING.match(unit.text):
        return 0
    return len(unit.text) - len(unit.text.lstrip("#")) or 7


def _fit(parts: list[_Part], max_chars: int) -> None:
    """Cut the parts to the budget, the smallest first, so that what one leaves goes to the larger ones."""
    budget = max_chars - sum(len(_heading(part.label)) + 2 for part in parts if len(parts) > 1)
    for waiting, part in zip(range(len(parts), 0, -1), sorted(parts, key=lambda p: p.size), strict=True):
        share = max(budget // waiting, 0)
        _cut(part, share)
        budget -= part.size
    parts[:] = [part for part in parts if part.units]


def _cut(part: _Part, budget: int) -> None:
    if part.size <= budget:
        return
    whole, used = part.units, 0
    part.units = []
    for unit in whole:
        if used + unit.size > budget:
            break
        part.units.append(unit)
        used += unit.size
    if not part.units and budget > 1:
        part.units = [_Unit(_shortened(whole[0].text, budget - 1))]
    part.units = _without_empty_headings(part.units)
    part.cut = len(whole) - len(part.units)


def _shortened(unit: str, size: int) -> str:
    """The beginning of a unit, cut between words where it has any, and never before a mark that joins."""
    end = max(size - 1, 0)
    while end and (unicodedata.combining(unit[end]) or unit[end] in "\u200d\ufe0f" or unit[end - 1] == "\u200d"):
        end -= 1
    space = unit.rfind(" ", end // 2, end)
    return f"{unit[: space if space > 0 else end].rstrip()}…"


def _heading(label: str) -> str:
    return f"## {label}"


def _text(units: list[_Unit]) -> str:
    return "".join(("\n\n" if unit.apart else "\n") + unit.text for unit in units).lstrip("\n")


def _joined(parts: list[_Part]) -> str:
    if len(parts) == 1:
        return _text(parts[0].units)
    return "\n\n".join(f"{_heading(part.label)}\n{_text(part.units)}" for part in parts)
