"""The type of columns whose long texts may come compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, TypeDecorator

from hermes_state.packing import unpack

if TYPE_CHECKING:
    from sqlalchemy import Dialect


class StoredText(TypeDecorator[Any]):
    """Text, or on SQLite the frame that `hermes_state.packing` made of it. PostgreSQL compresses by itself."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """What the database is given."""
        return unpack(value) if isinstance(value, bytes) and dialect.name == "postgresql" else value
