"""What installed packages advertise under an entry-point group, read straight from their `entry_points.txt`.

`importlib.metadata` takes 15 ms to import, more than all that is read here; only archives on the path are left to it.
"""

from __future__ import annotations

import os
import sys
from functools import cache, reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class EntryPoint(NamedTuple):
    """One thing that a package advertises; `place` is `module:attribute`."""

    name: str
    place: str

    def load(self) -> Any:
        """The thing itself; raises what importing it raises."""
        module, _, attributes = self.place.partition(":")
        return reduce(getattr, filter(None, attributes.split(".")), import_module(module))


def of_group(group: str) -> list[EntryPoint]:
    """What is advertised under a group, in the order of the path; a package that is installed twice counts once."""
    return [point for text in _texts(tuple(sys.path)) for point in _in_group(text, group)]


def _in_group(text: str, group: str) -> Iterator[EntryPoint]:
    is_inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            is_inside = line == f"[{group}]"
        elif is_inside and line and not line.startswith("#"):
            name, equals, place = line.partition("=")
            if equals:
                yield EntryPoint(name.strip(), place.partition("[")[0].strip())


@cache
def _texts(folders: tuple[str, ...]) -> list[str]:
    """The `entry_points.txt` of all packages that have one."""
    texts: dict[str, str] = {}
    for folder in folders:
        for package, text in _packages(folder):
            texts.setdefault(package, text)
    return [text for text in texts.values() if text]


def _packages(folder: str) -> Iterator[tuple[str, str]]:
    """The packages in a folder of the path, by the name that is the same in all spellings."""
    try:
        with os.scandir(folder or ".") as entries:
            infos = sorted(entry.name for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
    except NotADirectoryError:
        yield from _in_archive(folder)
        return
    except OSError:  # a folder on the path that is not there
        return
    for info in infos:
        try:
            with open(os.path.join(folder, info, "entry_points.txt"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
                text = file.read()
        except (OSError, UnicodeDecodeError):  # most packages have none; a broken file is not this program's trouble
            text = ""
        yield _normal(info.partition("-")[0]), text


def _in_archive(path: str) -> Iterator[tuple[str, str]]:
    from importlib.metadata import distributions  # see above

    for found in distributions(path=[path]):
        yield _normal(found.metadata["Name"] or ""), found.read_text("entry_points.txt") or ""


def _normal(name: str) -> str:
    return name.removesuffix(".egg").lower().replace("-", "_").replace(".", "_")
