"""The writes of an import, gathered while the foreign store is read and done together in short transactions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hermes_state.importers.sink import Sink

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.engine import Engine

# A transaction takes so many messages, or bytes of them: some 100 ms, and the memory an import needs.
MAX_ROWS = 2000
MAX_BYTES = 8_000_000


class Batch:
    """Steps that are done in order, in one transaction, when there are enough of them.

    Args:
        before_commit: raises when what was read may be torn; then nothing of the batch is done.
        counts: gets what the steps counted, once they are committed.
        pks: foreign session ids and our keys; gets those of sessions that the steps make.

    Attributes:
        source_pk: which foreign store it is.
    """

    def __init__(
        self,
        engine: Engine,
        source_pk: int,
        *,
        before_commit: Callable[[], None],
        counts: Counter[str],
        pks: dict[str, int],
    ) -> None:
        self._engine = engine
        self.source_pk = source_pk
        self._before_commit = before_commit
        self._counts = counts
        self._pks = pks
        self._fresh: dict[str, int] = {}
        self._steps: list[Callable[[Step], None]] = []
        self._rows = 0
        self._bytes = 0

    def add(self, step: Callable[[Step], None], *, rows: int = 0, size: int = 0) -> None:
        """Add a step; does all that were added when it makes them enough."""
        self._steps.append(step)
        self._rows += rows + 1
        self._bytes += size
        if self._rows >= MAX_ROWS or self._bytes >= MAX_BYTES:
            self.flush()

    def flush(self) -> None:
        """Do the steps and commit."""
        steps, self._steps = self._steps, []
        self._rows = self._bytes = 0
        if not steps:
            return
        self._fresh = {}
        with self._engine.write() as connection:
            doing = Step(Sink(connection, self.source_pk), Counter(), self)
            for step in steps:
                step(doing)
            doing.sink.finish()
            self._before_commit()
        self._pks.update(self._fresh)
        self._counts.update(doing.counts)

    def pk_of(self, foreign_id: str) -> int | None:
        """Our key of a foreign session, also of one that the running transaction makes."""
        return self._fresh.get(foreign_id) or self._pks.get(foreign_id)

    def made(self, foreign_id: str, session_pk: int) -> None:
        """Note the key of a session that was made."""
        self._fresh[foreign_id] = session_pk


class Step:
    """What a step works with.

    Attributes:
        sink: the writes of the running transaction.
        counts: what was done; counts only when the transaction is committed.
        batch: to look up and note sessions.
    """

    def __init__(self, sink: Sink, counts: Counter[str], batch: Batch) -> None:
        self.sink = sink
        self.counts = counts
        self.batch = batch
