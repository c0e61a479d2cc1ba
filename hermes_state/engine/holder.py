"""Who holds SQLite's write lock, where the system can tell (Linux: `/proc/locks`)."""

from __future__ import annotations

import os
from pathlib import Path

# Byte of the -shm file that a WAL writer locks: WALINDEX_LOCK_OFFSET of https://www.sqlite.org/walformat.html.
_WAL_WRITE_LOCK = 120


def write_lock_holder(database: Path) -> str:
    """`process 4711 (python agent.py)` for the process that holds the WAL write lock, or "" when nobody can tell."""
    try:
        inode = database.with_name(f"{database.name}-shm").stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:  # no /proc, or the lock file has gone: there is nothing to name
        return ""
    for line in locks.splitlines():
        pid = _writer_pid(line.split(), inode)
        if pid and pid != os.getpid():
            return f"process {pid}{_command_line(pid)}"
    return ""


def open_elsewhere(database: Path) -> list[str]:
    """The other processes that have the database open: [] also where nobody can tell."""
    try:
        inode = database.stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:  # no /proc, or no such file
        return []
    fields = (line.split() for line in locks.splitlines())
    pids = {int(words[-4]) for words in fields if len(words) >= 8 and words[-3].endswith(f":{inode}")}
    return [f"process {pid}{_command_line(pid)}" for pid in sorted(pids - {os.getpid(), 0, -1})]


def _writer_pid(fields: list[str], inode: int) -> int:
    """The pid of a `/proc/locks` line that write-locks the WAL writer's byte of `inode`, else 0."""
    # 1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 120 120
    if len(fields) < 8 or "WRITE" not in fields or "->" in fields:
        return 0
    pid, file, start, end = fields[-4:]
    if not file.endswith(f":{inode}") or not start.isdigit():
        return 0
    last = int(end) if end.isdigit() else int(start)
    return int(pid) if int(start) <= _WAL_WRITE_LOCK <= last else 0


def _command_line(pid: int) -> str:
    """` (python agent.py)`, or "" when the process has gone or may not be looked at."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # the process ended meanwhile
        return ""
    words = raw.replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return f" ({words[:80]})" if words else ""
