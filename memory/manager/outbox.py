"""What providers are still to be told, written down in the store: a killed process loses none of it.

A row is written before `sync_turn` returns and deleted when the provider has taken it. It belongs to the process that
wrote it until that process ends or its claim runs out; then the next one that starts the provider takes it over. A
call is counted before it is made, so one that kills the process each time ends after some attempts. So it is told at
least once; `turn_id` is the same each time, for a provider that wants to know it again.

Rows are written with `synchronous=NORMAL`, which survives the end of the process and costs 0.2 ms; before a row is
told, it is committed with the store's own durability, which also syncs the rows before it.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, case, delete, func, insert, or_, select, update

from hermes_state.clock import from_us_or_none, now_us
from hermes_state.engine import SqliteEngine
from hermes_state.leases import process_start, this_host
from hermes_state.schema import memory_outbox as table
from memory.manager.delivery import Delivery, decode, encode
from memory.manager.handoff import Handoff

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_state.engine import Engine

# Seconds a row belongs to a process that can't be seen to live (another machine), unless it says so again.
CLAIM_S = 600.0
# Seconds a turn waits for another writer of the store; after that the lane writes the row.
TURN_BUDGET_S = 0.02
# Rows kept for one provider: what waits (a provider that is gone for good must not fill the disk), and what was set
# aside. The oldest go first, and it is said.
WAITING_MAX, SET_ASIDE_MAX = 10_000, 1_000
# Characters of an error that are kept.
_ERROR_MAX = 500
# The statements of every turn, made once: making them costs more than running them.
_PUT = insert(table)
_BEGIN = (
    update(table)
    .where(table.c.pk == bindparam("row"), table.c.claimed_by == bindparam("owner"))
    .values(attempts=table.c.attempts + 1, claimed_until=bindparam("until"))
)
_DONE = delete(table).where(table.c.pk == bindparam("row"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """What is written down for one provider.

    Attributes:
        waiting: calls still to be told, by any process.
        set_aside: calls that were tried often enough and wait for a person.
        oldest_at: when the oldest of both was written.
        last_error: why the newest attempt of any of them failed.
    """

    waiting: int = 0
    set_aside: int = 0
    oldest_at: datetime | None = None
    last_error: str = ""


class Outbox:
    """The outbox of one process.

    Args:
        engine: the store's engine.
        attempts_max: attempts after which a call is set aside.
        redact: the store keeps placeholders in the place of secrets, so what is written down does, too.
    """

    def __init__(self, engine: Engine, *, attempts_max: int, redact: bool = False) -> None:
        self._handoff = Handoff(redact=redact)
        self.engine = engine
        self._attempts_max = attempts_max
        self._quick: Engine = engine
        if isinstance(engine, SqliteEngine):
            self._quick = SqliteEngine(engine.path, synchronous="NORMAL", busy_budget_s=engine.busy_budget_s)
        # Host and process for those who look whether it lives; the rest for two managers of one process.
        pid = os.getpid()
        self.owner = "|".join((this_host(), str(pid), process_start(pid), secrets.token_hex(8)))

    def close(self) -> None:
        """Give the connections back; the store's own stay open."""
        if self._quick is not self.engine:
            self._quick.close()

    # --- writing down ------------------------------------------------------------------------------------------------

    def put(self, provider: str, delivery: Delivery, *, budget_s: float | None = None) -> None:
        """Write a call down; gives it its `pk`.

        Args:
            budget_s: seconds to wait for another writer; None: the engine's budget.

        Raises:
            HermesStateError: as `Engine.write`; nothing was written.
        """
        with self._quick.write(budget_s=budget_s) as connection:
            row = connection.execute(
                _PUT,
                {
                    "turn_id": delivery.turn_id,
                    "provider": provider,
                    "kind": delivery.kind,
                    "session_id": delivery.session_id,
                    "created_at": now_us(),
                    "attempts": delivery.attempts,
                    "is_set_aside": 0,
                    "claimed_by": self.owner,
                    "claimed_until": _until(),
                    "payload": encode(self._handoff.value(delivery.said or {})),
                },
            )
            assert row.inserted_primary_key is not None
            delivery.pk = int(row.inserted_primary_key[0])

    def read(self, delivery: Delivery) -> dict[str, Any]:
        """The arguments of a call that was written down."""
        with self._quick.read() as connection:
            payload = connection.execute(select(table.c.payload).where(table.c.pk == delivery.pk)).scalar()
        return decode(payload or "")

    # --- telling -----------------------------------------------------------------------------------------------------

    def begin(self, delivery: Delivery) -> bool:
        """A call is about to be made: count it, durably. False when another process took it over, and makes it."""
        with self.engine.write() as connection:
            mine = connection.execute(_BEGIN, {"row": delivery.pk, "owner": self.owner, "until": _until()})
            return bool(mine.rowcount)

    def done(self, delivery: Delivery) -> None:
        """The provider has taken it."""
        with self._quick.write() as connection:
            connection.execute(_DONE, {"row": delivery.pk})

    def failed(self, provider: str, delivery: Delivery, error: str, *, set_aside: bool) -> None:
        """The provider did not take it; `set_aside`: it is not tried again until `revive`."""
        with self._quick.write() as connection:
            values: dict[str, Any] = {"last_error": error[:_ERROR_MAX]}
            if set_aside:
                values |= {"is_set_aside": 1, "claimed_by": None, "claimed_until": None}
            else:  # it did not end the process, and that is what the row counts
                values |= {"attempts": table.c.attempts - 1, "claimed_until": _until()}
            connection.execute(update(table).where(table.c.pk == delivery.pk).values(values))
            if set_aside:
                self._trim(connection, provider, is_set_aside=1, most=SET_ASIDE_MAX)

    def renew(self, provider: str) -> None:
        """Say that this process still means to tell what it has for a provider."""
        with self._quick.write() as connection:
            connection.execute(
                update(table)
                .where(table.c.provider == provider, table.c.claimed_by == self.owner)
                .values(claimed_until=_until())
            )

    # --- taking over -------------------------------------------------------------------------------------------------

    def claim(self, provider: str) -> list[Delivery]:
        """Take over what ended processes left for a provider, oldest first; the arguments stay written down."""
        with self._quick.write() as connection:
            self._trim(connection, provider, is_set_aside=0, most=WAITING_MAX)
            rows = connection.execute(
                select(table)
                .where(table.c.provider == provider, table.c.is_set_aside == 0)
                .where(or_(table.c.claimed_by.is_(None), table.c.claimed_by != self.owner))
                .order_by(table.c.pk)
            ).fetchall()
            alive: dict[str, bool] = {}
            free = [row for row in rows if _is_free(row, alive)]
            for row in free:
                values = {"claimed_by": self.owner, "claimed_until": _until()}
                if self._is_spent(row.attempts):  # the last attempt ended the process
                    values = {"claimed_by": None, "claimed_until": None, "is_set_aside": 1}
                connection.execute(update(table).where(table.c.pk == row.pk).values(values))
        return [
            Delivery(
                kind=row.kind,
                session_id=row.session_id,
                said=None,
                turn_id=row.turn_id,
                pk=row.pk,
                attempts=row.attempts,
                replayed=True,
            )
            for row in free
            if not self._is_spent(row.attempts)
        ]

    def release(self) -> None:
        """Leave everything to whoever comes next: this process tells no more."""
        with self.engine.write() as connection:
            connection.execute(
                update(table).where(table.c.claimed_by == self.owner).values(claimed_by=None, claimed_until=None)
            )

    def _is_spent(self, attempts: int) -> bool:
        return attempts >= self._attempts_max

    def _trim(self, connection: Any, provider: str, *, is_set_aside: int, most: int) -> None:
        kept = (
            select(table.c.pk)
            .where(table.c.provider == provider, table.c.is_set_aside == is_set_aside)
            .order_by(table.c.pk.desc())
            .offset(most)
            .limit(1)
        )
        oldest = connection.execute(kept).scalar()
        if oldest is not None:
            old = and_(table.c.provider == provider, table.c.is_set_aside == is_set_aside, table.c.pk <= oldest)
            connection.execute(delete(table).where(old))


def waiting(engine: Engine) -> dict[str, Waiting]:
    """What is written down in a store, by provider; without a manager, for whoever only looks."""
    with engine.read() as connection:
        counts = connection.execute(
            select(
                table.c.provider,
                func.sum(case((table.c.is_set_aside == 0, 1), else_=0)),
                func.sum(table.c.is_set_aside),
                func.min(table.c.created_at),
            ).group_by(table.c.provider)
        ).fetchall()
        newest = select(func.max(table.c.pk)).where(table.c.last_error.is_not(None)).group_by(table.c.provider)
        errors = connection.execute(select(table.c.provider, table.c.last_error).where(table.c.pk.in_(newest)))
        reasons = {row.provider: row.last_error for row in errors}
    return {
        provider: Waiting(
            waiting=int(left),
            set_aside=int(set_aside),
            oldest_at=from_us_or_none(oldest),
            last_error=reasons.get(provider, ""),
        )
        for provider, left, set_aside, oldest in counts
    }


def revive(engine: Engine, provider: str) -> int:
    """Have what was set aside tried again from the start, by whoever starts the provider next; how many calls."""
    with engine.write() as connection:
        set_aside = and_(table.c.provider == provider, table.c.is_set_aside == 1)
        fresh = {"is_set_aside": 0, "attempts": 0, "claimed_by": None, "claimed_until": None}
        return int(connection.execute(update(table).where(set_aside).values(fresh)).rowcount)


def _until() -> int:
    return now_us() + round(CLAIM_S * 1e6)


def _is_free(row: Any, alive: dict[str, bool]) -> bool:
    """Whether nobody is going to tell a row: it has no claim, one that ran out, or one of a process that ended."""
    if row.claimed_by is None or row.claimed_until is None or row.claimed_until <= now_us():
        return True
    if row.claimed_by not in alive:
        alive[row.claimed_by] = _may_live(row.claimed_by)
    return not alive[row.claimed_by]


def _may_live(owner: str) -> bool:
    host, pid, started = [*owner.split("|"), "", "", ""][:3]
    return host != this_host() or not pid.isdigit() or process_start(int(pid)) == started
