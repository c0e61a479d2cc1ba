"""The tools `fact_store` and `fact_feedback`: schemas, and actions with the peer's arguments and results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hermes_state.errors import HermesStateError, InvalidValue
from memory.providers.holographic.records import CATEGORIES, DEFAULT_CATEGORY, NewFact, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memory.provider import ToolSchema
    from memory.providers.holographic.association import Association
    from memory.providers.holographic.conflicts import Conflict
    from memory.providers.holographic.records import Fact, Hit
    from memory.providers.holographic.retrieval import Retrieval
    from memory.providers.holographic.store import FactStore

ACTIONS = ("add", "search", "probe", "related", "reason", "contradict", "update", "remove", "list")
_STORE_TEXT = """\
Long-term facts with entities. Keep what will still matter in another conversation: preferences, decisions, names, how
things are set up.
- add: keep a fact, said in one sentence that names what it is about
- search: facts that answer a question, in any language
- probe: everything about one person, project or thing
- related: the same, then what shares facts with it
- reason: what connects several entities; a result with "via" is reached over that shared entity
- contradict: pairs of facts that can't both be true; settle them with update (superseded_by) or remove
- update: change content, tags, category or trust; superseded_by keeps the fact and stops recalling it
- remove, list: delete one; show the most trusted"""
_FEEDBACK_TEXT = """\
Say whether a recalled fact helped, so that it is trusted more or less. Mark a wrong or outdated one as unhelpful."""

FACT_STORE: ToolSchema = {
    "name": "fact_store",
    "description": _STORE_TEXT,
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "content": {"type": "string", "description": "The fact, for add and update."},
            "query": {"type": "string", "description": "The question, for search."},
            "entity": {"type": "string", "description": "The name, for probe and related."},
            "entities": {"type": "array", "items": {"type": "string"}, "description": "The names, for reason."},
            "fact_id": {"type": "integer", "description": "Which fact, for update and remove."},
            "category": {"type": "string", "enum": list(CATEGORIES)},
            "tags": {"type": "string", "description": "Separated by commas."},
            "trust_delta": {"type": "number", "description": "Added to the trust, for update."},
            "superseded_by": {"type": "integer", "description": "The fact that took its place, for update."},
            "min_trust": {"type": "number", "description": "Leave out facts trusted less. Default for search: 0.3."},
            "limit": {"type": "integer", "description": "Most results. Default: 10."},
        },
        "required": ["action"],
    },
}
FACT_FEEDBACK: ToolSchema = {
    "name": "fact_feedback",
    "description": _FEEDBACK_TEXT,
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["helpful", "unhelpful"]},
            "fact_id": {"type": "integer"},
        },
        "required": ["action", "fact_id"],
    },
}
SCHEMAS = (FACT_STORE, FACT_FEEDBACK)
# More results than this are a dump, not an answer.
MAX_LIMIT = 200
# Seconds that a tool call compares facts, after an import of very many; the next call goes on.
COMPARING_S = 5.0


class FactTools:
    """The tools over one store.

    Args:
        min_trust: what `search` leaves out unless told.
        scope: whose facts are seen, asked for at each call.
        owner: whose new facts are, likewise.
    """

    def __init__(
        self,
        store: FactStore,
        retrieval: Retrieval,
        association: Association,
        *,
        min_trust: float,
        scope: Callable[[], Scope],
        owner: Callable[[], Scope],
    ) -> None:
        self._store = store
        self._retrieval = retrieval
        self._association = association
        self._min_trust = min_trust
        self._scope = scope
        self._owner = owner
        self._actions: dict[str, Callable[[_Arguments], dict[str, Any]]] = {
            name: getattr(self, f"_{name}") for name in ACTIONS
        }

    def fact_store(self, args: Mapping[str, Any]) -> str:
        """Run an action; the result is a JSON document, an error one with `error`."""

        def run(arguments: _Arguments) -> dict[str, Any]:
            action = arguments.text("action")
            if action not in self._actions:
                raise InvalidValue(f"Unknown action: {action!r}", hint=f"one of {', '.join(ACTIONS)}")
            return self._actions[action](arguments)

        return _answer(run, args)

    def fact_feedback(self, args: Mapping[str, Any]) -> str:
        """Mark a fact; the result is a JSON document, an error one with `error`."""

        def run(arguments: _Arguments) -> dict[str, Any]:
            action, fact_id = arguments.text("action"), arguments.integer("fact_id")
            if action not in ("helpful", "unhelpful"):
                raise InvalidValue(f"Unknown feedback: {action!r}", hint="helpful or unhelpful")
            return self._store.feedback(fact_id, helpful=action == "helpful", scope=self._scope())._asdict()

        return _answer(run, args)

    # --- actions -------------------------------------------------------------------------------------------------

    def _add(self, arguments: _Arguments) -> dict[str, Any]:
        owner = self._owner()
        added = self._store.add(
            NewFact(
                content=arguments.text("content"),
                category=arguments.text("category", DEFAULT_CATEGORY),
                tags=arguments.tags() or "",
                user_id=owner.user_id or "",
                session_id=owner.session_id or "",
            )
        )
        return {"fact_id": added.fact_id, "status": "added"} | ({} if added.is_new else {"duplicate": True})

    def _search(self, arguments: _Arguments) -> dict[str, Any]:
        hits = self._retrieval.search(
            arguments.text("query"),
            category=arguments.text("category", "") or None,
            min_trust=arguments.number("min_trust", self._min_trust),
            limit=arguments.limit(),
            scope=self._scope(),
        )
        return _results(hits)

    def _probe(self, arguments: _Arguments) -> dict[str, Any]:
        category = arguments.text("category", "") or None
        entity = arguments.text("entity")
        hits = self._association.probe(entity, category=category, limit=arguments.limit(), scope=self._scope())
        return _results(hits) | self._association.bank_answer(entity, category)

    def _related(self, arguments: _Arguments) -> dict[str, Any]:
        hits, neighbours = self._association.related(
            arguments.text("entity"),
            category=arguments.text("category", "") or None,
            limit=arguments.limit(),
            scope=self._scope(),
        )
        return _results(hits) | {"entities": [each._asdict() for each in neighbours[: arguments.limit()]]}

    def _reason(self, arguments: _Arguments) -> dict[str, Any]:
        hits = self._association.reason(
            arguments.names("entities"),
            category=arguments.text("category", "") or None,
            limit=arguments.limit(),
            scope=self._scope(),
        )
        return _results(hits)

    def _contradict(self, arguments: _Arguments) -> dict[str, Any]:
        pairs, left = self._store.contradictions(
            scope=self._scope(),
            category=arguments.text("category", "") or None,
            limit=arguments.limit(),
            budget_s=COMPARING_S,
        )
        answer = {"results": [conflict_shape(*pair) for pair in pairs], "count": len(pairs)}
        return answer | ({"not_compared_yet": left} if left else {})

    def _update(self, arguments: _Arguments) -> dict[str, Any]:
        fact_id, scope = arguments.integer("fact_id"), self._scope()
        updated = self._store.update(
            fact_id,
            content=arguments.text("content", "") or None,
            trust_delta=arguments.number("trust_delta", 0.0) or None,
            tags=arguments.tags(),
            category=arguments.text("category", "") or None,
            scope=scope,
        )
        if updated and arguments.has("superseded_by"):
            self._store.supersede(fact_id, arguments.integer("superseded_by"), scope=scope)
        return {"updated": updated}

    def _remove(self, arguments: _Arguments) -> dict[str, Any]:
        return {"removed": self._store.remove(arguments.integer("fact_id"), scope=self._scope())}

    def _list(self, arguments: _Arguments) -> dict[str, Any]:
        found = self._store.list(
            category=arguments.text("category", "") or None,
            min_trust=arguments.number("min_trust", 0.0),
            limit=arguments.limit(),
            scope=self._scope(),
        )
        return {"facts": [fact_shape(fact) for fact in found], "count": len(found)}


class _Arguments:
    """What a model gave: missing, of another type, or a number as a string."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def has(self, name: str) -> bool:
        return self._given.get(name) not in (None, "", [])

    def _required(self, name: str) -> Any:
        if not self.has(name):
            raise InvalidValue(f"Missing required argument: '{name}'")
        return self._given[name]

    def text(self, name: str, default: str | None = None) -> str:
        value = self._given.get(name) if default is not None and not self.has(name) else self._required(name)
        return default if value in (None, "", []) and default is not None else str(value)

    def integer(self, name: str) -> int:
        value = self._required(name)
        try:
            return int(value)
        except (TypeError, ValueError):
            raise InvalidValue(f"'{name}' is a whole number, not {value!r}") from None

    def number(self, name: str, default: float) -> float:
        if not self.has(name):
            return default
        try:
            return float(self._given[name])
        except (TypeError, ValueError):
            raise InvalidValue(f"'{name}' is a number, not {self._given[name]!r}") from None

    def limit(self) -> int:
        return min(MAX_LIMIT, max(1, self.integer("limit"))) if self.has("limit") else 10

    def tags(self) -> str | None:
        value = self._given.get("tags")
        return None if value is None else ",".join(map(str, value)) if isinstance(value, list) else str(value)

    def names(self, name: str) -> list[str]:
        value = self._required(name)
        return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]


def fact_shape(fact: Fact) -> dict[str, Any]:
    """A fact as the peer's tools show it."""
    shape = {
        "fact_id": fact.id,
        "content": fact.content,
        "category": fact.category,
        "tags": fact.tags,
        "trust_score": fact.trust,
        "retrieval_count": fact.retrieval_count,
        "helpful_count": fact.helpful_count,
        "created_at": f"{fact.created_at:%Y-%m-%d %H:%M:%S}",
        "updated_at": f"{fact.updated_at:%Y-%m-%d %H:%M:%S}",
    }
    return shape | ({"superseded_by": fact.superseded_by} if fact.superseded_at else {})


def hit_shape(hit: Hit) -> dict[str, Any]:
    """A recalled fact: with its rank in full text and its score; `via` when it was reached over another entity."""
    shape = fact_shape(hit.fact) | {"fts_rank": round(hit.signals[0], 4), "score": round(hit.score, 4)}
    return shape | ({"via": hit.via} if hit.via else {})


def conflict_shape(conflict: Conflict, older: Fact, newer: Fact) -> dict[str, Any]:
    """Two facts that contradict each other; `fact_a` is the older."""
    return {
        "fact_a": fact_shape(older),
        "fact_b": fact_shape(newer),
        "newer": newer.id,
        "kind": conflict.kind,
        "reason": conflict.reason,
        "entity_overlap": conflict.entity_overlap,
        "content_similarity": conflict.content_similarity,
        "contradiction_score": round(conflict.confidence, 4),
        "shared_entities": list(conflict.shared),
    }


def _results(hits: list[Hit]) -> dict[str, Any]:
    return {"results": [hit_shape(hit) for hit in hits], "count": len(hits)}


def _answer(run: Callable[[_Arguments], dict[str, Any]], args: Mapping[str, Any]) -> str:
    try:
        answer = run(_Arguments(args))
    except HermesStateError as error:
        answer = {"error": error.message} | ({"hint": error.hint} if error.hint else {})
    return json.dumps(answer, ensure_ascii=False)
