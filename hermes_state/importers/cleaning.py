"""Imports into a store that keeps no secrets: foreign sessions and messages without theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_state.codec import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_state.importers.hermes_sessions import ForeignSession
    from hermes_state.store import SessionDB

_OBJECTS = ("model_config", "origin", "extras")


class Cleaning:
    """What a store wants taken out; nothing, unless it was opened to redact."""

    def __init__(self, db: SessionDB) -> None:
        self.fields: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
        self._value: Callable[[Any], Any] | None = None
        if db.redact:
            from hermes_state.redact import redact_value, redacted_fields  # its patterns cost 10 ms to compile

            self.fields, self._value = redacted_fields, redact_value

    def session(self, session: ForeignSession) -> ForeignSession:
        """A foreign session as it may be stored."""
        if self._value is None:
            return session
        values = dict(session.values)
        for name in _OBJECTS:
            if values[name] is not None:
                values[name] = to_json(self._value(from_json(values[name])), name)
        title, prompt = self._value(session.title), self._value(session.system_prompt)
        return replace(session, values=values, title=title, system_prompt=prompt)
