"""A change of several files that survives a kill: written down whole, carried out, crossed out.

Two files can't be replaced in one step. What a process that was killed had begun is carried out by whoever opens the
files next, except in a file that somebody changed since. A live writer holds the locks of all files in its journal, so
a journal that is there while one holds these locks is a dead process's.
"""

from __future__ import annotations

import hashlib
import json
import logging
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.atomic import whole_file
from memory.errors import MemoryReadFailed, MemoryWriteFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

JOURNAL_NAME = ".batch.json"

_log = logging.getLogger(__name__)


class Step(NamedTuple):
    """One file of the change: the digest of what it held, and what it is to hold."""

    before: str
    data: bytes


def digest(data: bytes) -> str:
    """What tells whether a file is as it was."""
    return hashlib.sha256(data).hexdigest()


class Journal:
    """The journal of one folder of memory files.

    Args:
        folder: where the files are.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL_NAME

    @property
    def is_open(self) -> bool:
        """Whether a change was begun and not crossed out."""
        return self._path.exists()

    def begin(self, wanted: Mapping[str, bytes], before: Mapping[str, bytes]) -> None:
        """Write a change down; call it with the files locked.

        Args:
            wanted: what each file is to hold, by target.
            before: what each holds.

        Raises:
            MemoryWriteFailed: nothing was changed.
        """
        steps = {
            target: {"before": digest(before[target]), "text": data.decode("utf-8", "surrogateescape")}
            for target, data in wanted.items()
        }
        try:
            with whole_file(self._path, mode=0o600) as file:
                file.write(json.dumps(steps))  # ASCII: lone surrogates, which stand for odd bytes, come back
        except OSError as error:
            raise MemoryWriteFailed(str(self._path), error.strerror or str(error)) from error

    def steps(self) -> dict[str, Step]:
        """What was begun; empty when nothing was.

        Raises:
            MemoryReadFailed: the journal can't be read.
        """
        try:
            found = json.loads(self._path.read_bytes())
            return {
                target: Step(step["before"], step["text"].encode("utf-8", "surrogateescape"))
                for target, step in found.items()
            }
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise MemoryReadFailed(str(self._path), error.strerror or str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # not ours: we write it in one step
            _log.warning("%s is no journal and is not followed: %s", self._path, error)
            return {}

    def cross_out(self) -> None:
        """The change is made.

        Raises:
            MemoryWriteFailed: the journal can't be deleted.
        """
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise MemoryWriteFailed(str(self._path), error.strerror or str(error)) from error
