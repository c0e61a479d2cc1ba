"""A process of its own that reads messages and makes them ready for the index, while the caller's puts others in.

Segmenting is Python's and numpy's work and inserting is SQLite's, about as long each, so two processors need half the
time. The child is a new interpreter, never a fork, and a reader of the database like any other; it ends when its pipe
does, so nobody who is killed leaves one behind. It is help that one can do without: when it can't be started or is
lost, whatever it has not given is read by the caller, who finds the true error then.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias
from urllib.parse import quote

from hermes_state.codec import searchable_text
from hermes_state.engine.fts import Document
from hermes_state.text import SEGMENTATION, index_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Self

# Fewer messages than these are indexed before a second interpreter has started and is warm.
WORTH_MESSAGES = 5_000
# How long the child waits for a writer. [ms]
_BUSY_MS = 20_000
# How long it may take to see that nobody wants it any more. [s]
_END_S = 5.0
# Characters of tokens that a character of a script without spaces gives: itself and a pair, with a blank behind each.
_GROWTH = 5
# Between two looks whether who started it still lives. [s]
_LOOK_EVERY_S = 1.0
_ROWS = "SELECT id, created_at, content, content_format, tool_calls FROM messages WHERE id > ? ORDER BY id LIMIT ?"
_START = "import sys; sys.path[:] = {path!r}; from hermes_state.index_worker import serve; serve()"

_log = logging.getLogger(__name__)


class Row(NamedTuple):
    """What the index needs of a row of `messages`."""

    id: int
    created_at: int
    content: str | bytes | None
    content_format: int | None
    tool_calls: str | bytes | None


class Prepared(NamedTuple):
    """Messages as the index takes them.

    Attributes:
        times: (id, created_at) of each, by rising id.
        documents: those that have something to find.
        chars: of all words and grams.
    """

    times: Sequence[tuple[int, int]]
    documents: list[Document]
    chars: int


# From texts to the columns of each.
Columns: TypeAlias = "Callable[[Sequence[str]], Iterable[tuple[str, str]]]"


def columns_of(row: Any) -> tuple[str, str]:
    """The columns of the index for a stored message; both empty for one with nothing to find."""
    return index_columns(_text_of(row))


def prepare(rows: Sequence[Any], max_chars: int, columns: Columns | None = None) -> Prepared:
    """Make rows of `messages` ready: as many as give about so many characters of tokens, and at least one.

    Args:
        columns: of texts; None: `index_columns` of one after the other.
    """
    texts: list[str] = []
    chars = 0
    for row in rows:
        texts.append(text := _text_of(row))
        chars += len(text) if text.isascii() else len(text) * _GROWTH
        if chars >= max_chars:
            break
    some = rows[: len(texts)]
    found = columns(texts) if columns is not None else map(index_columns, texts)
    all_of_them = (Document(row.id, *both) for row, both in zip(some, found, strict=True))
    documents = [document for document in all_of_them if document.words or document.grams]
    times = [(row.id, row.created_at) for row in some]
    return Prepared(times, documents, sum(len(document.words) + len(document.grams) for document in documents))


def _text_of(row: Any) -> str:
    return searchable_text(row.content, row.content_format, row.tool_calls)


class IndexWorker:
    """The child. Starting it does not wait until it has started.

    Attributes:
        is_usable: whether it lives and does what it is asked.
    """

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process
        self.is_usable = process is not None

    @classmethod
    def start(cls) -> Self:
        """Start one; where no interpreter can be started, one that is not usable."""
        if not sys.executable or getattr(sys, "frozen", False):
            return cls(None)
        try:
            process = subprocess.Popen(  # noqa: S603  our own interpreter
                [sys.executable, "-c", _START.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what goes wrong in it is told through the pipe
            )
        except OSError as error:
            _log.warning("the index is built by one process: no second one can be started: %s", error)
            return cls(None)
        return cls(process)

    @property
    def pid(self) -> int:
        """Its number; 0 when there is none."""
        return self._process.pid if self._process is not None else 0

    def prepared(self, database: Path, driver: str, *, after: int, messages: int, chars: int) -> Iterator[Prepared]:
        """All messages above an id, in batches. Ends early when the child is lost; then it is not usable any more.

        Args:
            driver: the module that opens the database.
            messages: rows read at a time; `chars`: characters of tokens after which a batch ends early.
        """
        if self._process is None or not self.is_usable:
            return
        question: dict[str, Any] = {"database": str(database), "driver": driver, "rules": SEGMENTATION}
        question |= {"after": after, "messages": messages, "chars": chars}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            while (batch := _receive(self._process.stdout)) is not None:
                yield batch
        except (OSError, _Lost) as error:
            self.is_usable = False
            _log.warning("the index is built by one process from here on: the second one is lost: %s", error)

    def close(self) -> None:
        """End the child, whatever it is at. Twice is once."""
        process, self._process, self.is_usable = self._process, None, False
        if process is None:
            return
        process.kill()  # it only reads
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _close(pipe)
        process.wait(_END_S)


class _Lost(Exception):
    """The child has ended, or can't go on."""


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError as error:  # what is left unsent is for a child that has ended
        _log.debug("closing the pipe of the index's second process: %s", error)


def _receive(pipe: Any) -> Prepared | None:
    """The next batch; None behind the last one."""
    line = pipe.readline()
    if not line.endswith(b"\n"):
        raise _Lost("it was killed, or could not start")
    head = json.loads(line)
    if "error" in head:
        raise _Lost(head["error"])
    if not head["times"]:
        return None
    body = pipe.read(head["bytes"])
    if len(body) != head["bytes"]:
        raise _Lost("it was killed")
    documents: list[Document] = []
    place = 0
    for message_id, words, grams in head["documents"]:
        middle, end = place + words, place + words + grams
        documents.append(Document(message_id, body[place:middle].decode(), body[middle:end].decode()))
        place = end
    return Prepared(head["times"], documents, place)


# --- the child ----------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer questions on stdin until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started this; the pipe's end is for us
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from hermes_state.text.bulk import BulkColumns  # numpy: who only asks needs none

    columns = BulkColumns().of
    for line in sys.stdin.buffer:
        try:
            _answer(json.loads(line), columns, sys.stdout.buffer)
        except BrokenPipeError:
            return
        except Exception as error:  # noqa: BLE001  told to who asked, who then does the work
            sys.stdout.buffer.write(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode() + b"\n")
            sys.stdout.buffer.flush()
            return


def _end_with(parent: int) -> None:
    """End when the parent does: a fork of its own may hold the other ends of our pipes."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    os._exit(1)


def _answer(question: dict[str, Any], columns: Columns, out: BinaryIO) -> None:
    if question["rules"] != SEGMENTATION:
        raise ValueError(f"it segments by other rules: {SEGMENTATION}")
    module = importlib.import_module(question["driver"])
    address = f"file:{quote(os.fsencode(question['database']))}?mode=ro"
    with closing(module.connect(address, uri=True, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        after = question["after"]
        while rows := _read(connection, after, question["messages"]):
            while rows:
                batch = prepare(rows, question["chars"], columns)
                rows = rows[len(batch.times) :]
                _send(batch, out)
            after = batch.times[-1][0]
    _send(Prepared([], [], 0), out)


def _read(connection: Any, after: int, limit: int) -> list[Row]:
    return list(map(Row._make, connection.execute(_ROWS, (after, limit))))


def _send(batch: Prepared, out: BinaryIO) -> None:
    sizes: list[tuple[int, int, int]] = []
    texts: list[bytes] = []
    for message_id, words, grams in batch.documents:
        pair = words.encode(), grams.encode()
        sizes.append((message_id, len(pair[0]), len(pair[1])))
        texts += pair
    body = b"".join(texts)
    head = {"times": batch.times, "documents": sizes, "bytes": len(body)}
    out.write(json.dumps(head).encode() + b"\n")
    out.write(body)
    out.flush()
