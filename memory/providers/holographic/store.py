"""The facts of a store: every change is one transaction, so a crash leaves a whole fact or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, func, insert, or_, select, update

from hermes_state.clock import now_us
from hermes_state.codec import clean
from hermes_state.errors import Conflict, InvalidValue, NotFound
from hermes_state.schema import fact_conflicts, fact_slots, fact_vectors, facts
from memory.providers.holographic import conflicts, entity_table, state
from memory.providers.holographic.algebra import DEFAULT_DIM, check_dim
from memory.providers.holographic.analysis import Analysis, analyse, digest, joined_tags
from memory.providers.holographic.bank_table import BankTable
from memory.providers.holographic.counting import FLUSH_BUDGET_S, RetrievalCounts
from memory.providers.holographic.fulltext import FactIndex
from memory.providers.holographic.incoming import cleaned, content_of, known_ids
from memory.providers.holographic.records import EVERYTHING, Added, Fact, Marked, NewFact, Scope
from memory.providers.holographic.rows import fact_of, load, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from hermes_state.engine import Engine


class Disagreements(NamedTuple):
    """Contradictions: each with its older and its newer fact, and about how many facts were not compared yet."""

    pairs: list[tuple[conflicts.Conflict, Fact, Fact]]
    left: int


HELPFUL_DELTA, UNHELPFUL_DELTA = 0.05, -0.10
DEFAULT_TRUST = 0.5
# Facts written in one transaction: some 50 ms under the write lock.
BATCH = 100
_f = facts.c


class FactNotFound(NotFound):
    """No fact has that id, or not in this scope."""

    def __init__(self, fact_id: int) -> None:
        super().__init__(f"there is no fact {fact_id}", hint="`list` or `search` give the ids there are")
        self.fact_id = fact_id


class FactExists(Conflict):
    """Another fact says that already; nothing was changed."""

    def __init__(self, fact_id: int, holder: int) -> None:
        super().__init__(
            f"fact {holder} says so already; fact {fact_id} was not changed", hint=f"remove one, or supersede {fact_id}"
        )
        self.fact_id = fact_id
        self.holder = holder


class FactStore:
    """The facts of one open store. Share it between threads.

    Args:
        engine: of a `SessionDB`.
        dim: phases of the vectors that are made from now on; those that are there stay readable whatever theirs is.
        default_trust: of a fact that is added without one.

    Attributes:
        index, banks, conflicts: what is derived from the facts.
        retrieved: how often each was recalled.
    """

    def __init__(self, engine: Engine, *, dim: int = DEFAULT_DIM, default_trust: float = DEFAULT_TRUST) -> None:
        self.engine = engine
        self.dim = check_dim(dim)
        self.default_trust = clamped(default_trust)
        self.index = FactIndex(engine)
        self.banks = BankTable(engine)
        self.conflicts = conflicts.Conflicts(engine)
        self.retrieved = RetrievalCounts(engine)

    # --- adding --------------------------------------------------------------------------------------------------

    def add(self, fact: NewFact) -> Added:
        """Store a fact; one that is there already stays as it is, and comes back if it was superseded.

        Raises:
            InvalidValue: the content is blank.
        """
        return self.add_many([fact])[0]

    def add_many(self, new: Iterable[NewFact]) -> list[Added]:
        """Store facts, `BATCH` of them in each transaction; the results are in their order."""
        given = [cleaned(fact) for fact in new]
        added: list[Added] = []
        for start in range(0, len(given), BATCH):
            batch = given[start : start + BATCH]
            added += self._add_batch(batch, [analyse(fact.content, self.dim) for fact in batch])
        return added

    def _add_batch(self, batch: Sequence[NewFact], analysed: Sequence[Analysis]) -> list[Added]:
        with self.engine.write() as connection:
            known = known_ids(connection, batch, analysed)
            stand = state.read(connection)
            next_pk = max(stand.newest, stand.id_floor) + 1
            added: list[Added] = []
            rows: list[dict[str, Any]] = []
            new: dict[int, Analysis] = {}
            for fact, analysis in zip(batch, analysed, strict=True):
                key = (analysis.digest, fact.user_id, fact.session_id)
                added.append(Added(known.get(key, next_pk), key not in known))
                if key not in known:
                    known[key] = next_pk
                    rows.append(self._row(next_pk, fact, analysis))
                    new[next_pk] = analysis
                    next_pk += 1
            if rows:
                connection.execute(insert(facts), rows)
                self._derive(connection, new)
                self.index.add(connection, [(row["pk"], row["content"], row["tags"]) for row in rows])
                state.changed(connection)
            self._revive(connection, [each.fact_id for each in added if not each.is_new])
        return added

    def _row(self, pk: int, fact: NewFact, analysis: Analysis) -> dict[str, Any]:
        now = now_us()
        created = now if fact.created_at is None else fact.created_at
        return {
            "pk": pk,
            "user_id": fact.user_id,
            "session_id": fact.session_id,
            "digest": analysis.digest,
            "category": fact.category,
            "source": fact.source,
            "trust": self.default_trust if fact.trust is None else clamped(fact.trust),
            "retrieval_count": fact.retrieval_count,
            "helpful_count": fact.helpful_count,
            "created_at": created,
            "updated_at": created if fact.updated_at is None else fact.updated_at,
            "tags": fact.tags,
            "content": fact.content,
        }

    def _derive(self, connection: Connection, analysed: dict[int, Analysis]) -> None:
        """Write what follows from the texts of new facts, or of facts whose derived rows were taken away."""
        entity_table.link(connection, analysed)
        vectors = [vector_row(pk, self.dim, each) for pk, each in analysed.items()]
        connection.execute(insert(fact_vectors), vectors)

    def _revive(self, connection: Connection, pks: Sequence[int]) -> None:
        """What is said again holds again."""
        gone = select(_f.pk, _f.category).where(_f.pk.in_(pks), _f.superseded_at.is_not(None))
        for row in connection.execute(gone).all() if pks else ():
            values = {"superseded_by": None, "superseded_at": None, "updated_at": now_us()}
            connection.execute(update(facts).where(_f.pk == row.pk).values(**values))
            self.banks.add(connection, row.category, row.pk)
            self.conflicts.compare_again(connection, row.pk)
            state.changed(connection)

    # --- changing ------------------------------------------------------------------------------------------------

    def update(
        self,
        fact_id: int,
        *,
        content: str | None = None,
        trust_delta: float | None = None,
        tags: str | None = None,
        category: str | None = None,
        scope: Scope = EVERYTHING,
    ) -> bool:
        """Change a fact; what is None stays. False when there is no such fact in the scope.

        Raises:
            FactExists: another fact has the new content already.
            InvalidValue: the new content is blank.
        """
        text = None if content is None else content_of(content)
        analysis = None if text is None else analyse(text, self.dim)
        with self.engine.write() as connection:
            row = self._find(connection, fact_id, scope)
            if row is None:
                return False
            values: dict[str, Any] = {}
            if analysis is not None and analysis.content != row.content:
                self._refuse_double(connection, row, analysis.digest)
                values |= {"content": analysis.content, "digest": analysis.digest}
            if tags is not None and joined_tags(tags) != row.tags:
                values["tags"] = clean(joined_tags(tags))
            if category and clean(category) != row.category:
                values["category"] = clean(category)
            if values:
                values["updated_at"] = now_us()
            if trust_delta:
                values["trust"] = clamped(row.trust + trust_delta)
            if values:
                self._change(connection, row, values, analysis if "content" in values else None)
            return True

    def _change(self, connection: Connection, row: Any, values: dict[str, Any], analysis: Analysis | None) -> None:
        rebanked = row.superseded_at is None and (analysis is not None or "category" in values)
        reindexed = analysis is not None or "tags" in values
        if rebanked:
            self.banks.remove(connection, row.category, row.pk)
        if reindexed:
            self.index.remove(connection, [(row.pk, row.content, row.tags)])
        connection.execute(update(facts).where(_f.pk == row.pk).values(**values))
        if analysis is not None:
            self.derive_again(connection, {row.pk: analysis})
            self.conflicts.compare_again(connection, row.pk)
        if reindexed:
            texts = [(row.pk, values.get("content", row.content), values.get("tags", row.tags))]
            self.index.add(connection, texts)
        if rebanked:
            self.banks.add(connection, values.get("category", row.category), row.pk)
        state.changed(connection)

    def derive_again(self, connection: Connection, analysed: dict[int, Analysis]) -> None:
        """Write anew what follows from the texts of facts that are there, inside a write transaction."""
        self._underive(connection, list(analysed))
        if analysed:
            self._derive(connection, analysed)

    @staticmethod
    def _underive(connection: Connection, pks: Sequence[int]) -> None:
        """Take away what follows from the texts of facts."""
        entity_table.unlink(connection, pks)
        connection.execute(delete(fact_vectors).where(fact_vectors.c.fact_pk.in_(pks)))
        connection.execute(delete(fact_slots).where(fact_slots.c.fact_pk.in_(pks)))

    @staticmethod
    def _refuse_double(connection: Connection, row: Any, wanted: bytes) -> None:
        same = (_f.digest == wanted, _f.user_id == row.user_id, _f.session_id == row.session_id, _f.pk != row.pk)
        holder = connection.execute(select(_f.pk).where(*same)).scalar()
        if holder is not None:
            raise FactExists(row.pk, holder)

    def remove(self, fact_id: int, *, scope: Scope = EVERYTHING) -> bool:
        """Delete a fact with all that follows from it. False when there is no such fact in the scope."""
        with self.engine.write() as connection:
            row = self._find(connection, fact_id, scope)
            if row is None:
                return False
            if row.superseded_at is None:
                self.banks.remove(connection, row.category, row.pk)
            self.index.remove(connection, [(row.pk, row.content, row.tags)])
            self._underive(connection, [row.pk])
            stand = state.read(connection)
            both = or_(fact_conflicts.c.older_pk == row.pk, fact_conflicts.c.newer_pk == row.pk)
            connection.execute(delete(fact_conflicts).where(both))
            connection.execute(update(facts).where(_f.superseded_by == row.pk).values(superseded_by=None))
            connection.execute(delete(facts).where(_f.pk == row.pk))
            state.move(connection, id_floor=max(stand.id_floor, row.pk))
            state.changed(connection)
            return True

    def supersede(self, fact_id: int, by: int, *, scope: Scope = EVERYTHING) -> None:
        """Let one fact take the place of another, which is kept and no longer recalled.

        Raises:
            FactNotFound: one of them is not there.
            InvalidValue: they are the same.
        """
        if fact_id == by:
            raise InvalidValue(f"fact {fact_id} can't supersede itself")
        with self.engine.write() as connection:
            row = self._find(connection, fact_id, scope)
            for pk, found in ((fact_id, row), (by, self._find(connection, by, scope))):
                if found is None:
                    raise FactNotFound(pk)
            assert row is not None
            if row.superseded_at is None:
                self.banks.remove(connection, row.category, row.pk)
            values = {"superseded_by": by, "superseded_at": now_us()}
            connection.execute(update(facts).where(_f.pk == fact_id).values(**values))
            state.changed(connection)

    def feedback(self, fact_id: int, *, helpful: bool, scope: Scope = EVERYTHING) -> Marked:
        """Trust a fact a little more, or less. Only a helpful mark makes it fresher.

        Raises:
            FactNotFound: it is not there.
        """
        with self.engine.write() as connection:
            row = self._find(connection, fact_id, scope)
            if row is None:
                raise FactNotFound(fact_id)
            trust = clamped(row.trust + (HELPFUL_DELTA if helpful else UNHELPFUL_DELTA))
            count = row.helpful_count + helpful
            values: dict[str, Any] = {"trust": trust, "helpful_count": count}
            if helpful:
                values["updated_at"] = now_us()
            connection.execute(update(facts).where(_f.pk == fact_id).values(**values))
            state.changed(connection)
        return Marked(fact_id, row.trust, trust, count)

    def flush(self, *, budget_s: float | None = None) -> None:
        """Write the counts of retrievals that wait. With a budget in seconds they wait on when others write so long."""
        self.retrieved.flush(budget_s=budget_s)

    # --- reading -------------------------------------------------------------------------------------------------

    def get(self, fact_id: int, *, scope: Scope = EVERYTHING) -> Fact:
        """A fact.

        Raises:
            FactNotFound: it is not there.
        """
        self.flush(budget_s=FLUSH_BUDGET_S)
        with self.engine.read() as connection:
            row = self._find(connection, fact_id, scope)
        if row is None:
            raise FactNotFound(fact_id)
        return fact_of(row)

    def find(self, content: str, *, scope: Scope = EVERYTHING) -> Fact | None:
        """The fact with this content, spacing aside; of several scopes' the newest."""
        query = select(facts).where(_f.digest == digest(content), *visible(scope, superseded=True))
        with self.engine.read() as connection:
            row = connection.execute(query.order_by(_f.pk.desc()).limit(1)).first()
        return None if row is None else fact_of(row)

    def count(self, *, scope: Scope = EVERYTHING) -> int:
        """How many facts there are, without those superseded."""
        query = select(func.count()).select_from(facts).where(*visible(scope))
        with self.engine.read() as connection:
            return int(connection.execute(query).scalar_one())

    def contradictions(
        self,
        *,
        scope: Scope = EVERYTHING,
        category: str | None = None,
        limit: int = 10,
        budget_s: float | None = None,
    ) -> Disagreements:
        """Pairs of facts that can't both hold, surest first.

        Args:
            budget_s: seconds for comparing facts that were not compared before; None: as long as it takes.
        """
        left = 0 if self.engine.read_only else self.conflicts.catch_up(budget_s=budget_s)
        with self.engine.read() as connection:
            found = self.conflicts.found(connection, visible(scope, category=category), limit)
            by_id = load(connection, [pk for each in found for pk in (each.older, each.newer)])
        return Disagreements([(each, by_id[each.older], by_id[each.newer]) for each in found], left)

    @staticmethod
    def _find(connection: Connection, fact_id: int, scope: Scope) -> Any:
        query = select(facts).where(_f.pk == fact_id, *visible(scope, superseded=True))
        return connection.execute(query).first()

    def list(
        self,
        *,
        category: str | None = None,
        min_trust: float = 0.0,
        limit: int = 10,
        scope: Scope = EVERYTHING,
        superseded: bool = False,
    ) -> list[Fact]:
        """Facts by falling trust, the newest first among equals."""
        self.flush(budget_s=FLUSH_BUDGET_S)
        conditions = visible(scope, category=category, superseded=superseded)
        query = select(facts).where(_f.trust >= min_trust, *conditions).order_by(_f.trust.desc(), _f.pk.desc())
        with self.engine.read() as connection:
            return [fact_of(row) for row in connection.execute(query.limit(limit))]


def vector_row(pk: int, dim: int, analysis: Analysis) -> dict[str, Any]:
    """The row of `fact_vectors` for a fact."""
    return {"fact_pk": pk, "dim": dim, "parts": analysis.parts, "phases": analysis.vector}


def clamped(trust: float) -> float:
    """Trust is 0 to 1. Rounded, so that marks that cancel out leave what was there."""
    return round(min(1.0, max(0.0, trust)), 6)
