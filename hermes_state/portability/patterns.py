"""Patterns of paths in a home, in the manner of `.gitignore`.

`name` or `*.ext` fits at any depth, `/name` at the top of the home and of each profile, a `/` at the end fits folders
only, `**` fits any number of folders. What fits a folder holds for all that is in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# A profile is a home in the home: what holds at the top holds there too.
PROFILE = re.compile(r"profiles/[^/]+/", re.S)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern, as it was written."""

    text: str

    def fits(self, path: str, *, is_dir: bool) -> bool:
        """Whether it fits a path, relative to the home and with `/` between its parts; not whether it fits a parent."""
        text = self.text
        if text.endswith("/"):
            if not is_dir:
                return False
            text = text.rstrip("/")
        expression = _compiled(text)
        if not self.is_anchored:
            return bool(expression.fullmatch(path, path.rfind("/") + 1))
        profile = PROFILE.match(path)
        return bool(expression.fullmatch(path) or (profile and expression.fullmatch(path, profile.end())))

    @property
    def expression(self) -> str:
        """As a regular expression: over paths when it is anchored, else over names. It fits files and folders."""
        return _compiled(self.text.rstrip("/")).pattern

    @property
    def is_anchored(self) -> bool:
        """Whether it begins at the top."""
        return "/" in self.text.rstrip("/")

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
