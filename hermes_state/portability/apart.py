"""Looking at files that this process has open, from a process of its own.

Closing any descriptor of a file drops every lock that the process has on it. SQLite minds that for itself, but a
process may hold two SQLite libraries (Python's and pysqlite3's), and neither knows of the other's locks. So when a
backup runs inside an agent, what the agent has open is read by a child.
"""

from __future__ import annotations

import filecmp
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state import errors
from hermes_state.portability.databases import MAGIC, Copy, Kind, copy
from hermes_state.portability.derived import DerivedIndex
from hermes_state.portability.ownership import own_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

_START = "import sys; sys.path[:] = {path!r}; from hermes_state.portability.apart import serve; serve()"


def is_database(path: str) -> bool:
    """Whether a file begins as a SQLite database does."""
    return bool(_ask({"do": "look", "path": path}))


def is_held(path: Path, held: AbstractSet[tuple[int, int]] | None = None) -> bool:
    """Whether this process has a file open, so that only SQLite, or another process, may open it.

    Args:
        held: what `own_files` said; None: it is asked.
    """
    status = path.stat(follow_symlinks=False)
    return (status.st_dev, status.st_ino) in (own_files() if held is None else held)


def copied(
    source: Path, target: Path, *, keep_indexes: bool = False, held: AbstractSet[tuple[int, int]] | None = None
) -> Copy:
    """As `databases.copy`; in a child where this process has the database open."""
    make = copy_apart if is_held(source, held) else copy
    return make(source, target, keep_indexes=keep_indexes)


def raw_copy(source: Path, target: Path) -> None:
    """Copy a file that this process has open, byte for byte."""
    _ask({"do": "raw", "source": str(source), "target": str(target)})


def are_equal(one: Path, other: Path) -> bool:
    """Whether two files have the same content."""
    if is_held(one) or is_held(other):
        return bool(_ask({"do": "compare", "source": str(one), "target": str(other)}))
    return filecmp.cmp(one, other, shallow=False)


def copy_apart(source: Path, target: Path, *, keep_indexes: bool) -> Copy:
    """As `databases.copy`."""
    found = _ask({"do": "copy", "source": str(source), "target": str(target), "keep_indexes": keep_indexes})
    indexes = tuple(DerivedIndex.from_dict(index) for index in found["indexes"])
    left_out = tuple(found["left_out"])
    return Copy(**{**found, "path": target, "kind": Kind(found["kind"]), "left_out": left_out, "indexes": indexes})


def _ask(question: Mapping[str, Any]) -> Any:
    start = _START.format(path=sys.path)
    asked = json.dumps(question)
    ran = subprocess.run(  # noqa: S603  our own interpreter
        [sys.executable, "-c", start], input=asked, capture_output=True, text=True, encoding="ascii", check=False
    )
    answer = json.loads(ran.stdout) if ran.returncode == 0 else {"kind": "HermesStateError", "message": ran.stderr}
    if "answer" in answer:
        return answer["answer"]
    kind = getattr(errors, answer["kind"], errors.HermesStateError)
    error = kind.__new__(kind)
    errors.HermesStateError.__init__(error, answer["message"], hint=answer.get("hint", ""))
    raise error


# --- the child ----------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer one question on stdin."""
    question = json.loads(sys.stdin.read())
    try:
        answer: dict[str, Any] = {"answer": _answer(question)}
    except errors.HermesStateError as error:
        answer = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
    json.dump(answer, sys.stdout)


def _answer(question: Mapping[str, Any]) -> Any:
    if question["do"] == "look":
        with Path(question["path"]).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    if question["do"] == "compare":
        return filecmp.cmp(question["source"], question["target"], shallow=False)
    if question["do"] == "raw":
        shutil.copyfile(question["source"], question["target"])
        return True
    made = copy(Path(question["source"]), Path(question["target"]), keep_indexes=question["keep_indexes"])
    indexes = [index.as_dict() for index in made.indexes]
    return {**asdict(made), "path": str(made.path), "kind": made.kind.value, "indexes": indexes}
