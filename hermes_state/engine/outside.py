"""A program of its own that looks at and copies files raw, which this process must not do with a live database.

Closing any descriptor of a database in a process drops the locks that SQLite holds on it there, and another process may
then remove the WAL under our feet. So whatever must be done byte by byte is done in a child; see `ask`.

The program reads one JSON request on stdin and writes one JSON answer on stdout. It imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# Bytes looked at or copied at a time.
_BLOCK = 1 << 20


def ask(request: dict[str, Any]) -> Any:
    """Run the program for one request: `{"find": [words], "below": folder}` or `{"copy": [[from, to], …]}`.

    Raises:
        OSError: a copy could not be made; nothing of it is left.
    """
    import subprocess  # costs the start of every command 10 ms otherwise

    done = subprocess.run(  # noqa: S603  our own interpreter and this very file
        [sys.executable, "-I", __file__], input=json.dumps(request).encode(), stdout=subprocess.PIPE, check=True
    )
    answer = json.loads(done.stdout)
    if "errno" in answer:
        raise OSError(answer["errno"], answer["strerror"], answer["filename"])
    return answer["answer"]


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    try:
        if "find" in request:
            answer: Any = find(request["below"], request["find"])
        else:
            answer = copy(request["copy"])
    except OSError as error:
        json.dump({"errno": error.errno, "strerror": error.strerror, "filename": error.filename}, sys.stdout)
    else:
        json.dump({"answer": answer}, sys.stdout)


def find(home: str, words: list[str]) -> list[list[str]]:
    """For each word the regular files below a folder that hold it, whatever the case of ASCII letters."""
    wanted = [word.encode("utf-8", "surrogatepass").lower() for word in words]
    found: list[list[str]] = [[] for _ in wanted]
    for folder, _, names in os.walk(home):
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118  names as the system gives them
            for place in _hits(path, wanted):
                found[place].append(path)
    return found


def _hits(path: str, words: list[bytes]) -> set[int]:
    if os.path.islink(path) or not os.path.isfile(path):  # noqa: PTH113, PTH114
        return set()
    longest = max(map(len, words), default=0)
    hits: set[int] = set()
    tail = b""
    with open(path, "rb") as file:  # noqa: PTH123
        while block := file.read(_BLOCK):
            block = tail + block.lower()
            hits.update(place for place, word in enumerate(words) if word and word in block)
            tail = block[-(longest - 1) :] if longest > 1 else b""
    return hits


def copy(pairs: list[list[str]]) -> int:
    """Copy files to new names with mode 0600, all or none; returns the bytes copied. A missing source is left out."""
    made: list[str] = []
    try:
        return sum(_copy_one(source, target, made) for source, target in pairs)
    except OSError:
        for target in made:
            os.unlink(target)  # noqa: PTH108
        raise


def _copy_one(source: str, target: str, made: list[str]) -> int:
    try:
        reading = open(source, "rb")  # noqa: PTH123, SIM115
    except FileNotFoundError:
        return 0
    with reading, os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as writing:
        made.append(target)
        while block := reading.read(_BLOCK):
            writing.write(block)
        writing.flush()
        os.fsync(writing.fileno())
        return writing.tell()


if __name__ == "__main__":
    main()
