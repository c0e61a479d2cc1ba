"""Patterns of paths in a home, in the manner of `.gitignore`.

`name` or `*.ext` fits at any depth, `/name` at the top of the home and of each profile, a `/` at the end fits folders
only, `**` fits any number of folders. What fits a folder holds for all that is in it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# A profile is a home in the home: what holds at the top holds there too.
PROFILE = re.compile(r"profiles/[^/]+/", re.S)
_WILD = re.compile(r"[*?\[]")


class Pattern:
    """One pattern.

    Attributes:
        text: as it was written.
        is_anchored: it begins at the top; else it is one of names, at any depth.
        folder: what stands before the last part.
        start, end: what every name begins and ends with that it fits.
    """

    __slots__ = ("_bare", "end", "folder", "is_anchored", "start", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._bare = text.rstrip("/")
        self.is_anchored = "/" in self._bare
        self.folder, _, name = self._bare.lstrip("/").rpartition("/")
        self.start = name[: min(at for at in (*map(name.find, "*?["), len(name)) if at >= 0)]
        self.end = name[max(map(name.rfind, "*?]")) + 1 :]

    @property
    def fits_files(self) -> bool:
        """Whether it fits more than folders."""
        return self.text == self._bare

    def fits(self, path: str, *, is_dir: bool) -> bool:
        """Whether it fits a path, relative to the home and with `/` between its parts; not whether it fits a parent."""
        if not is_dir and not self.fits_files:
            return False
        at = path.rfind("/") + 1
        if not (path.startswith(self.start, at) and path.endswith(self.end, at)):  # so most need not be compiled
            return False
        expression = _compiled(self._bare)
        if not self.is_anchored:
            return bool(expression.fullmatch(path, at))
        profile = PROFILE.match(path)
        return bool(expression.fullmatch(path) or (profile and expression.fullmatch(path, profile.end())))

    def may_fit_below(self, folder: str) -> bool:
        """Whether it could fit something inside a folder."""
        if not self.is_anchored:
            return False
        parts = self.text.strip("/").split("/")
        for path in {folder, PROFILE.sub("", f"{folder}/", count=1).rstrip("/")}:
            components = path.split("/") if path else []
            if "**" in parts[: len(components)]:
                return True
            if len(components) < len(parts) and all(
                _compiled(f"/{part}").fullmatch(component) for part, component in zip(parts, components, strict=False)
            ):
                return True
        return False


class Ends(NamedTuple):
    """How the names begin or end that one of many patterns may fit."""

    starts: tuple[str, ...]
    ends: tuple[str, ...]

    @classmethod
    def of(cls, patterns: Iterable[Pattern]) -> Ends:
        """Those of patterns of names in one folder."""
        listed = [*patterns]
        ends = {pattern.end for pattern in listed if pattern.end}
        return cls(tuple({pattern.start for pattern in listed if not pattern.end}), tuple(ends))

    def may_fit(self, name: str) -> bool:
        """Whether a pattern may fit a name; where it says no, none does."""
        return name.endswith(self.ends) or name.startswith(self.starts)


class Sieve:
    """Many patterns at once: most names are sorted out without asking each."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._anywhere: list[Pattern] = []
        self._placed: dict[str, list[Pattern]] = {}
        self._deep: list[Pattern] = []
        for pattern in patterns:
            if not pattern.is_anchored:
                self._anywhere.append(pattern)
            elif _WILD.search(pattern.folder) or pattern.text.rstrip("/").endswith("**"):
                self._deep.append(pattern)
            else:
                self._placed.setdefault(pattern.folder, []).append(pattern)
        self._common = Ends.of(self._anywhere)

    def inside(self, folder: str) -> Ends:
        """What may be fitted right inside a folder."""
        placed = [*self._placed.get(folder, ()), *(one for one in self._deep if one.may_fit_below(folder))]
        profile = PROFILE.match(f"{folder}/")
        if profile:
            placed += self._placed.get(folder[profile.end() :], ())
        return Ends.of([*self._anywhere, *placed]) if placed else self._common


@lru_cache(maxsize=512)
def _compiled(text: str) -> re.Pattern[str]:
    parts = text.lstrip("/").split("/")
    out = ""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            out += ".+" if last else "(?:[^/]+/)*"
        else:
            out += _component(part) + ("" if last else "/")
    return re.compile(out, re.S)


def _component(part: str) -> str:
    out = ""
    at = 0
    while at < len(part):
        character = part[at]
        closing = part.find("]", at + 2)
        if character == "*":
            out += "[^/]*"
        elif character == "?":
            out += "[^/]"
        elif character == "[" and closing > 0:
            inside = part[at + 1 : closing].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            out += f"[{'^' + inside[1:] if inside.startswith('!') else inside}]"
            at = closing
        else:
            out += re.escape(character)
        at += 1
    return out
