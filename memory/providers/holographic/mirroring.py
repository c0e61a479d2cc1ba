"""The built-in memory's changes, followed exactly: what is added, replaced and removed there is so among the facts.

The built-in memory is the home's, whoever speaks, and so are the facts that mirror it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from hermes_state.schema import facts
from memory.providers.holographic.analysis import digest
from memory.providers.holographic.records import NewFact, Scope
from memory.providers.holographic.rows import visible
from memory.providers.holographic.store import FactExists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memory.providers.holographic.store import FactStore

_CATEGORIES = {"user": "user_pref"}
_EVERYBODY = Scope("", "")
_f = facts.c
_log = logging.getLogger(__name__)


class Mirror:
    """Follows the built-in memory into one store."""

    def __init__(self, store: FactStore) -> None:
        self._store = store

    def follow(self, action: str, target: str, content: str, metadata: Mapping[str, Any]) -> None:
        """Do to the facts what was done to the entries.

        Args:
            action: `add`, `replace` or `remove`; anything else is ignored.
            target: `memory` or `user`.
            content: the new text; for `remove`, hosts of the older contract give the text that named the entry.
            metadata: `previous_content`, the whole text that went, or `old_text`, a part of it.
        """
        content = content.strip()
        if action == "add":
            self._add(target, content)
        elif action in ("replace", "patch"):
            gone = self._gone(target, metadata, "")
            if gone is None or not content:
                self._add(target, content)
            else:
                self._replace(gone, content)
        elif action == "remove":
            gone = self._gone(target, metadata, content)
            if gone is not None:
                self._store.remove(gone)

    def _add(self, target: str, content: str) -> None:
        if content:
            self._store.add(
                NewFact(
                    content=content,
                    category=_CATEGORIES.get(target, "general"),
                    source="user" if target == "user" else "memory",
                )
            )

    def _replace(self, fact_id: int, content: str) -> None:
        try:
            self._store.update(fact_id, content=content)
        except FactExists:  # another fact says that already: what was replaced goes, that one stays
            self._store.remove(fact_id)

    def _gone(self, target: str, metadata: Mapping[str, Any], named: str) -> int | None:
        """The fact of the entry that went: by its whole text, else the only mirrored one that has the part told."""
        whole = str(metadata.get("previous_content") or "").strip()
        part = str(metadata.get("old_text") or named).strip()
        with self._store.engine.read() as connection:
            for text in filter(None, (whole, part)):
                query = select(_f.pk).where(_f.digest == digest(text), *visible(_EVERYBODY, superseded=True))
                found = connection.execute(query.order_by(_f.pk.desc())).scalar()
                if found is not None:
                    return int(found)
            if whole or not part:
                return None
            source = "user" if target == "user" else "memory"
            mirrored = select(_f.pk, _f.content).where(_f.source == source, *visible(_EVERYBODY, superseded=True))
            found_in = [row.pk for row in connection.execute(mirrored) if part in row.content]
        if len(found_in) == 1:
            return int(found_in[0])
        if found_in:
            _log.warning("%d facts have the text of an entry that was removed; none was changed", len(found_in))
        return None
