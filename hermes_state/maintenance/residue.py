"""A program of its own: which files of a folder hold which words. Imports nothing of ours; see `purge.find_words`.

Reads `{"home": …, "words": […]}` on stdin and writes a list of file names for each word on stdout.
"""

from __future__ import annotations

import json
import os
import sys

# Bytes looked at at a time.
_BLOCK = 1 << 20


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    words = [word.encode("utf-8", "surrogatepass").lower() for word in request["words"]]
    found: list[list[str]] = [[] for _ in words]
    for folder, _, names in os.walk(request["home"]):
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118  bytes and strange names as the system gives them
            for place in _hits(path, words):
                found[place].append(path)
    json.dump(found, sys.stdout)


def _hits(path: str, words: list[bytes]) -> set[int]:
    """Which words a regular file holds."""
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


if __name__ == "__main__":
    main()
