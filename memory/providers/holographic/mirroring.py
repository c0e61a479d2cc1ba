"""The built-in memory's changes, followed exactly: what is added, replaced and removed there is so among the facts.

A fact that mirrors an entry belongs to whoever spoke when it was written, so that nobody is told what somebody else
said. The entry itself is the home's: when it goes, all its copies go.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, or_, select

from hermes_state.schema import facts
from memory.providers.holographic.analysis import digest
from memory.providers.holographic.records import NewFact
from memory.providers.holographic.rows import visible
from memory.providers.holographic.store import FactExists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memory.providers.holographic.records import Scope
    from memory.providers.holographic.store import FactStore

_CATEGORIES = {"user": "user_pref"}
_f = facts.c
_log = logging.getLogger(__name__)


class Mirror:
    """Follows the built-in memory into one store."""

    def __init__(self, store: FactStore) -> None:
        self._store = store

    def follow(self, action: str, target: str, content: str, metadata: Mapping[str, Any], owner: Scope) -> None:
        """Do to the facts what was done to the entries.

        Args:
            action: `add`, `replace` or `remove`; anything else is ignored.
            target: `memory` or `user`.
            content: the new text; for `remove`, hosts of the older contract give the text that named the entry.
            metadata: `previous_content`, the whole text that went, or `old_text`, a part of it.
            owner: whose new facts are.
        """
        content = content.strip()
        if action == "add":
            self._add(target, content, owner)
        elif action in ("replace", "patch"):
            gone = self._gone(target, metadata, "", owner)
            if not gone:
                self._add(target, content, owner)
            elif content:
                self._replace(gone[0], content)
            for fact_id in gone[bool(content) :]:
                self._store.remove(fact_id)
        elif action == "remove":
            for fact_id in self._gone(target, metadata, content, owner):
                self._store.remove(fact_id)

    def _add(self, target: str, content: str, owner: Scope) -> None:
        if content:
            self._store.add(
                NewFact(
                    content=content,
                    category=_CATEGORIES.get(target, "general"),
                    source="user" if target == "user" else "memory",
                    user_id=owner.user_id or "",
                    session_id=owner.session_id or "",
                )
            )

    def _replace(self, fact_id: int, content: str) -> None:
        try:
            self._store.update(fact_id, content=content)
        except FactExists:  # another fact says that already: what was replaced goes, that one stays
            self._store.remove(fact_id)

    def _gone(self, target: str, metadata: Mapping[str, Any], named: str, owner: Scope) -> list[int]:
        """The facts of the entry that went, the owner's own first: by its whole text, else by the part that is told.

        A part has to tell one text; of several none is taken.
        """
        whole = str(metadata.get("previous_content") or "").strip()
        part = str(metadata.get("old_text") or named).strip()
        # An entry is the home's, whoever speaks: its copies go, whoever they were made for.
        mine_or_mirrored = or_(and_(*visible(owner, superseded=True)), _f.source.in_(("memory", "user")))
        with self._store.engine.read() as connection:
            for text in filter(None, (whole, part)):
                query = select(_f.pk).where(_f.digest == digest(text), mine_or_mirrored)
                mine_first = query.order_by((_f.user_id == (owner.user_id or "")).desc(), _f.pk.desc())
                if found := list(connection.execute(mine_first).scalars().all()):
                    return found
            if whole or not part:
                return []
            source = "user" if target == "user" else "memory"
            rows = connection.execute(select(_f.pk, _f.content, _f.digest).where(_f.source == source)).all()
        having = [row for row in rows if part in row.content]
        if len({bytes(row.digest) for row in having}) > 1:
            _log.warning("%d facts have the text of an entry that was removed; none was changed", len(having))
            return []
        return [row.pk for row in having]
