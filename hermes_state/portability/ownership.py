"""Which files this process, and other processes, hold open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_DESCRIPTORS = ("/proc/self/fd", "/dev/fd")
_MAX_DESCRIPTORS = 4096


class Holder(NamedTuple):
    """A process and a file that it has open."""

    pid: int
    command: str
    path: str

    def __str__(self) -> str:
        command = f" ({self.command})" if self.command else ""
        return f"process {self.pid}{command} has {self.path} open"


def own_files() -> set[tuple[int, int]]:
    """Device and inode of every file this process has open.

    Closing any descriptor of a file drops all locks the process has on it, SQLite's too. So a file in this set must not
    be opened but through SQLite.
    """
    found = set()
    for descriptor in _own_descriptors():
        try:
            status = os.fstat(descriptor)
        except OSError:  # closed meanwhile, as the one that listed the folder is
            continue
        found.add((status.st_dev, status.st_ino))
    return found


def _own_descriptors() -> list[int]:
    for folder in _DESCRIPTORS:
        try:
            return [int(name) for name in os.listdir(folder) if name.isdigit()]  # noqa: PTH208  names only
        except OSError:  # another system
            continue
    return list(range(_MAX_DESCRIPTORS))


def can_tell() -> bool:
    """Whether this system says which process has a file open."""
    return Path("/proc/self/fd").is_dir()


def holders(folder: Path) -> list[Holder]:
    """Which files in a folder are open in which process, this one too, where the system can tell (Linux)."""
    root = os.path.realpath(folder)
    return [Holder(pid, _command(pid), path) for pid in _processes() for path in _held_by(pid, root)]


def _processes() -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208  names only
    except OSError:  # no /proc
        return []


def _held_by(pid: int, root: str) -> list[str]:
    """The files below a folder that a process has open; none when it can't be looked at."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208  names only
    except OSError:  # it ended, or is another user's
        return []
    found = set()
    for name in names:
        try:
            path = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115  it is text, not a path of ours
        except OSError:  # closed meanwhile
            continue
        if path.startswith(f"{root}/") and not path.endswith(" (deleted)"):
            found.add(path)
    return sorted(found)


def _command(pid: int) -> str:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it ended meanwhile
        return ""
    return raw.replace(b"\0", b" ").decode("utf-8", "replace").strip()[:80]
