"""Looking at files that this process has open, from a process of its own.

Closing any descriptor of a file drops every lock that the process has on it. SQLite minds that for itself, but a
process may hold two SQLite libraries (Python's and pysqlite3's), and neither knows of the other's locks. So when a
backup runs inside an agent, what the agent has open is read by a child.
"""

from __future__ import annotations

import filecmp
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state import errors
from hermes_state.portability.databases import MAGIC, Copy, Kind, Part, copy, remove
from hermes_state.portability.derived import from_dict
from hermes_state.portability.ownership import own_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from subprocess import CompletedProcess

# What needs no SQLite is asked of a bare interpreter, which starts in 20 ms. The answer is the exit code.
_YES, _NO = 0, 9
_LOOK = f"import sys; sys.exit({_YES} if open(sys.argv[1], 'rb').read({len(MAGIC)}) == {MAGIC!r} else {_NO})"
_COMPARE = f"import filecmp, sys; sys.exit({_YES} if filecmp.cmp(sys.argv[1], sys.argv[2], shallow=False) else {_NO})"
_COPY = f"import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2]); sys.exit({_YES})"
_START = "import sys; sys.path[:] = {path!r}; from hermes_state.portability.apart import serve; serve()"


def is_database(path: str) -> bool:
    """Whether a file begins as a SQLite database does.

    Raises:
        FileNotFoundError: it went meanwhile.
        StoreUnavailable: it can't be read.
    """
    try:
        return _is_so(_LOOK, path)
    except errors.StoreUnavailable:
        os.lstat(path)
        raise


def is_held(path: Path, held: AbstractSet[tuple[int, int]] | None = None) -> bool:
    """Whether this process has a file open, so that only SQLite, or another process, may open it.

    Args:
        held: what `own_files` said; None: it is asked.
    """
    status = path.stat(follow_symlinks=False)
    return (status.st_dev, status.st_ino) in (own_files() if held is None else held)


def copied(
    source: Path,
    target: Path,
    *,
    keep_indexes: bool = False,
    remembered: Path | None = None,
    beside: Callable[[Path], object] | None = None,
    held: AbstractSet[tuple[int, int]] | None = None,
) -> Copy:
    """As `databases.copy`; in a child where this process has the database open, and then `beside` is not called."""
    if is_held(source, held):
        return copy_apart(source, target, keep_indexes=keep_indexes, remembered=remembered)
    return copy(source, target, keep_indexes=keep_indexes, remembered=remembered, beside=beside)


def refreshed(
    source: Path,
    target: Path,
    remembered: Path,
    take: Callable[[int, Sequence[int]], bool],
    held: AbstractSet[tuple[int, int]] | None = None,
) -> Copy | None:
    """As `partial.refresh`; in a child where this process has the database open."""
    if not is_held(source, held):
        from hermes_state.portability.partial import refresh

        return refresh(source, target, remembered, take)
    paths = {"source": str(source), "target": str(target), "remembered": str(remembered)}
    found = _ask({**paths, "is_part": True})
    made = None if found is None else _copy_of(found, target)
    if made is not None and made.part is not None and take(made.part.page_size, made.part.pages):
        return made
    remove(target)
    return None


def raw_copy(source: Path, target: Path) -> None:
    """Copy a file that this process has open, byte for byte."""
    _is_so(_COPY, source, target)


def are_equal(one: Path, other: Path) -> bool:
    """Whether two files have the same content."""
    if is_held(one) or is_held(other):
        return _is_so(_COMPARE, one, other)
    return filecmp.cmp(one, other, shallow=False)


def copy_apart(source: Path, target: Path, *, keep_indexes: bool, remembered: Path | None = None) -> Copy:
    """As `databases.copy`, in a child."""
    paths = {"source": str(source), "target": str(target), "remembered": str(remembered or "")}
    return _copy_of(_ask({**paths, "keep_indexes": keep_indexes}), target)


def _copy_of(found: Mapping[str, Any], target: Path) -> Copy:
    indexes = tuple(from_dict(index) for index in found["indexes"])
    part = None if found["part"] is None else Part(*found["part"])
    made = {"kind": Kind(found["kind"]), "left_out": tuple(found["left_out"]), "indexes": indexes, "part": part}
    return Copy(**{**found, "path": target, **made})


def _run(arguments: Sequence[str | Path], asked: str = "") -> CompletedProcess[str]:
    if not sys.executable or getattr(sys, "frozen", False):
        raise errors.StoreUnavailable(
            "this process has a file of the home open, and there is no interpreter that could read it apart",
            hint="run `hermes-state` as a program of its own",
        )
    import subprocess  # 2 ms, and only agents that back up themselves need it

    return subprocess.run(  # noqa: S603  our own interpreter
        [sys.executable, *arguments], input=asked, capture_output=True, text=True, encoding="utf-8", check=False
    )


def _is_so(script: str, *paths: str | Path) -> bool:
    ran = _run(["-I", "-S", "-c", script, *paths])
    if ran.returncode not in (_YES, _NO):
        reason = (ran.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise errors.StoreUnavailable(f"{paths[0]} can't be read: {reason}", hint="check its modes and the free space")
    return ran.returncode == _YES


def _ask(question: Mapping[str, Any]) -> Any:
    ran = _run(["-c", _START.format(path=sys.path)], json.dumps(question))
    answer = json.loads(ran.stdout) if ran.returncode == 0 else {"kind": "HermesStateError", "message": ran.stderr}
    if "answer" in answer:
        return answer["answer"]
    kind = getattr(errors, answer["kind"], errors.HermesStateError)
    error = kind.__new__(kind)
    errors.HermesStateError.__init__(error, answer["message"], hint=answer.get("hint", ""))
    raise error


# --- the child ----------------------------------------------------------------------------------------------------


def serve() -> None:
    """Copy the database that stdin names."""
    question = json.loads(sys.stdin.read())
    try:
        answer: dict[str, Any] = {"answer": _answer(question)}
    except errors.HermesStateError as error:
        answer = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
    json.dump(answer, sys.stdout)


def _answer(question: Mapping[str, Any]) -> Any:
    source, target = Path(question["source"]), Path(question["target"])
    remembered = Path(question["remembered"]) if question["remembered"] else None
    made: Copy | None
    if question.get("is_part") and remembered is not None:
        from hermes_state.portability.partial import refresh

        made = refresh(source, target, remembered)
    else:
        made = copy(source, target, keep_indexes=question["keep_indexes"], remembered=remembered)
    if made is None:
        return None
    indexes = [index.as_dict() for index in made.indexes]
    return {**asdict(made), "path": str(made.path), "kind": made.kind.value, "indexes": indexes}
