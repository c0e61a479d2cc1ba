"""Any home comes back from its archive as it was."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.portability.backup import backup
from hermes_state.portability.restore import restore

# Bytes that a file name can have; no name that a rule of ours leaves out or that the format refuses.
_NAMES = st.binary(min_size=1, max_size=20).filter(
    lambda name: not set(name) & {0, ord("/"), ord("\\"), ord(":")} and name not in (b".", b"..") and name[:1] != b"."
)
_CONTENTS = st.one_of(st.binary(max_size=3000), st.binary(min_size=1, max_size=40).map(lambda b: b * 900))
_TIMES = st.integers(-(2**33), 2**34).map(lambda s: s * 10**9 + 123_456_789)
_MODES = st.integers(0, 0o777).map(lambda mode: mode | 0o600)


@st.composite
def trees(draw: st.DrawFn) -> dict[bytes, tuple[bytes, int, int]]:
    """Paths below `skills/x` to contents, modes and times."""
    names = draw(st.lists(st.lists(_NAMES, min_size=1, max_size=3), max_size=8))
    files: dict[bytes, tuple[bytes, int, int]] = {}
    folders: set[bytes] = set()
    for parts in names:
        path = b"/".join(parts)
        parents = {b"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if path in files or path in folders or parents & set(files) or parts[-1].endswith((b".lock", b".pid")):
            continue
        folders |= parents
        files[path] = (draw(_CONTENTS), draw(_MODES), draw(_TIMES))
    return files


@settings(max_examples=25)
@given(trees())
def test_files(tree: dict[bytes, tuple[bytes, int, int]]) -> None:
    """Names in any bytes, contents, times, and what the owner could do with a file survive."""
    with tempfile.TemporaryDirectory() as folder:
        home, again = Path(folder, "home"), Path(folder, "again")
        (home / "skills/x").mkdir(parents=True)
        (home / "skills/x/SKILL.md").touch()
        root = os.fsencode(home / "skills/x")
        times = {}
        for name, (content, mode, when) in tree.items():
            path = os.path.join(root, name)  # noqa: PTH118  bytes
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120  bytes
            with open(path, "wb") as file:  # noqa: PTH123  bytes
                file.write(content)
            os.chmod(path, mode)  # noqa: PTH101  bytes
            os.utime(path, ns=(when, when))
            times[name] = os.stat(path).st_mtime_ns  # noqa: PTH116  bytes; what the file system made of it
        backup(home, Path(folder, "b.tar.zst"))
        restore(Path(folder, "b.tar.zst"), again)
        for name, (content, mode, _) in tree.items():
            path = os.path.join(os.fsencode(again / "skills/x"), name)  # noqa: PTH118  bytes
            with open(path, "rb") as file:  # noqa: PTH123  bytes
                assert file.read() == content
            status = os.stat(path)  # noqa: PTH116  bytes
            assert (status.st_mode & 0o777, status.st_mtime_ns) == (mode & 0o700, times[name])
