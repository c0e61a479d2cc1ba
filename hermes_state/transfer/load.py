"""JSON Lines of our own export into a store."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_state.engine import Engine
    from hermes_state.transfer.report import LoadReport


def load(engine: Engine, lines: IO[bytes]) -> LoadReport:
    """Bring in an export, session by session, each wholly or not at all.

    A session that is here already with equal content is skipped; one with other content is reported and left alone.

    Raises:
        FormatError: this is not such an export, or one of a newer version; nothing was changed.
    """
    raise NotImplementedError
