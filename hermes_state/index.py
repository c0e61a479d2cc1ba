"""The full-text index of messages: derived data, brought up to date behind the appends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection


def forget(connection: Connection, rows: Sequence[Any]) -> None:
    """Take messages out of the index, inside the transaction that deletes them.

    Args:
        rows: with `id`, `content`, `content_format` and `tool_calls`, as they are stored.
    """
