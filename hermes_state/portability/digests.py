"""`digests.sha256`: the lines that prove an archive, and the threads that hash beside the work."""

from __future__ import annotations

import hashlib
import queue
import re
import threading
from typing import TYPE_CHECKING

from hermes_state.portability.format import Kind
from hermes_state.portability.headers import mtime_text
from hermes_state.portability.names import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.portability.format import Entry

FIRST_LINE = b"# hermes-state digests 1\n"
_ESCAPE = re.compile(rb"\\([\\nr])")
_ESCAPED = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}
_EMPTY = hashlib.sha256().hexdigest()
# [bytes] kept of each record's own digest, to find which record differs: 16 MB for a million members.
_SHORT = 16


def record(entry: Entry, digest: str) -> bytes:
    """The two lines of a member."""
    name = encoded(entry.name)
    escaped = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    head = f"# {entry.kind} {entry.mode:04o} {mtime_text(entry.mtime_ns)} {entry.size}\n".encode()
    mark = b"" if entry.kind is Kind.FILE else b"#"
    return b"%s%s%s%s  %s\n" % (head, mark, b"\\" if escaped != name else b"", digest.encode(), escaped)


def record_of_plain(name: bytes, mode: int, mtime_ns: int, size: bytes, digest: bytes) -> bytes:
    """The same of a file whose name needs no escapes; quicker, since there may be very many."""
    seconds, rest = divmod(mtime_ns, 10**9)
    if seconds < 0:
        return b"# f %04o %s %s\n%s  %s\n" % (mode, mtime_text(mtime_ns).encode(), size, digest, name)
    return b"# f %04o %d.%09d %s\n%s  %s\n" % (mode, seconds, rest, size, digest, name)


def name_in(text: bytes) -> str:
    """The name that two lines tell, for a message; whatever the lines are."""
    line = text.rstrip(b"\n").rpartition(b"\n")[2].removeprefix(b"#")
    mark, _, name = line.partition(b"  ")
    if mark.startswith(b"\\"):
        name = _ESCAPE.sub(lambda found: _ESCAPED[found[1]], name)
    return decoded(name)


def digest_of(entry: Entry) -> str:
    """The digest of a member without content: of a link's target, or of nothing."""
    return hashlib.sha256(encoded(entry.target)).hexdigest() if entry.target else _EMPTY


class Tally:
    """The text of `digests.sha256` while it grows: written out or only hashed, as `sink` is.

    Args:
        sink: gets every piece of the text but the last line; None: nobody needs it.
        is_compared: `has_at` will be asked.
    """

    def __init__(self, sink: Callable[[bytes], object] | None = None, *, is_compared: bool = False) -> None:
        self._sink, self._is_compared = sink, is_compared
        self._whole = hashlib.sha256()
        self._short = bytearray()
        self.entries = 0
        self.content_bytes = 0
        self.text_bytes = 0
        self._take(FIRST_LINE)

    def _take(self, text: bytes) -> None:
        self._whole.update(text)
        self.text_bytes += len(text)
        if self._sink is not None:
            self._sink(text)

    def add(self, entry: Entry, digest: str) -> None:
        """The next member."""
        text = record(entry, digest)
        self.add_records(text, 1, entry.length)
        if self._is_compared:
            self._short += _short(text)

    def add_records(self, text: bytes, entries: int, content_bytes: int) -> None:
        """The next members, by what `record` says of them; `has_at` does not know them."""
        self._take(text)
        self.entries += entries
        self.content_bytes += content_bytes

    @property
    def whole(self) -> str:
        """The digest of the text so far: at the end, the archive's name for its content."""
        return self._whole.hexdigest()

    def last_line(self) -> bytes:
        """What closes the text."""
        return f"# whole {self.entries} {self.content_bytes} {self.whole}\n".encode()

    def has_at(self, position: int, text: bytes) -> bool:
        """Whether the member at that position has these two lines."""
        start = position * _SHORT
        return bytes(self._short[start : start + _SHORT]) == _short(text)


def _short(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()[:_SHORT]


class Lane:
    """SHA-256 in a thread of its own, so that it costs no time beside decompression.

    Content comes in pieces; a piece must not change after it was given.
    """

    # [bytes] handed over at a time; contents below it are hashed where they are, since a hand-over costs more.
    _BATCH_BYTES = 1024 * 1024
    # [batches] waiting; more only takes memory.
    _BATCHES = 4

    def __init__(self) -> None:
        self._queue: queue.Queue[list[bytes | memoryview] | threading.Event | None] = queue.Queue(self._BATCHES)
        self._thread: threading.Thread | None = None
        self._hash = hashlib.sha256()
        self._batch: list[bytes | memoryview] = []
        self._batched = 0  # bytes
        self._waiting = False  # whether the thread has work of this content

    def update(self, piece: bytes | memoryview) -> None:
        """The next piece of the content."""
        self._batch.append(piece)
        self._batched += len(piece)
        if self._batched >= self._BATCH_BYTES:
            self._start()
            self._waiting = True
            self._queue.put(self._batch)
            self._batch, self._batched = [], 0

    def finish(self) -> str:
        """The digest of the content; the next piece starts another."""
        if self._waiting:
            done = threading.Event()
            self._queue.put(done)
            done.wait()
            self._waiting = False
        for piece in self._batch:
            self._hash.update(piece)
        digest = self._hash.hexdigest()
        self._hash, self._batch, self._batched = hashlib.sha256(), [], 0
        return digest

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="sha256", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            for piece in item:
                self._hash.update(piece)
