"""Leases: a named right that one owner holds until it expires, across processes and machines.

A lease whose owner is a process of this machine that has ended counts as expired at once.
"""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from hermes_state.clock import from_us, now_us
from hermes_state.errors import InvalidValue, LeaseHeld
from hermes_state.records import Lease
from hermes_state.schema import leases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# Default life of a lease without a heartbeat, in seconds: a summary call of a slow model takes minutes.
DEFAULT_TTL_S = 300.0


def compression_lease(session_id: str) -> str:
    """The name of the lease that whoever compresses a session holds."""
    return f"compress:{session_id}"


class Leases:
    """The leases of a store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def acquire(self, name: str, owner: str, *, ttl_s: float = DEFAULT_TTL_S) -> Lease:
        """Take a lease, or prolong one's own.

        Raises:
            LeaseHeld: another owner holds it; names the owner.
        """
        if not name or not owner or ttl_s <= 0:
            raise InvalidValue(
                f"a lease needs a name, an owner and a life above 0 s, not {name!r}, {owner!r}, {ttl_s!r}"
            )
        with self._engine.write() as connection:
            held = _live(connection, name)
            if held is not None and held.owner != owner:
                raise LeaseHeld(name, held.owner)
            now = now_us()
            acquired = now if held is None else held.acquired_at
            connection.execute(delete(leases).where(leases.c.name == name))
            row = {"acquired_at": acquired, "expires_at": now + round(ttl_s * 1e6), "name": name, "owner": owner}
            connection.execute(
                insert(leases).values(host=this_host(), pid=os.getpid(), pid_started=process_start(os.getpid()), **row)
            )
            return _record(_live(connection, name))

    def heartbeat(self, name: str, owner: str, *, ttl_s: float = DEFAULT_TTL_S) -> bool:
        """Prolong a lease. False when the owner no longer holds it, and then must stop what it was doing."""
        with self._engine.write() as connection:
            held = _live(connection, name)
            if held is None or held.owner != owner:
                return False
            connection.execute(
                update(leases).where(leases.c.name == name).values(expires_at=now_us() + round(ttl_s * 1e6))
            )
            return True

    def release(self, name: str, owner: str) -> bool:
        """Give a lease back. False when the owner did not hold it (any more)."""
        with self._engine.write() as connection:
            gone = connection.execute(delete(leases).where(leases.c.name == name, leases.c.owner == owner))
            return bool(gone.rowcount)

    def holder(self, name: str) -> Lease | None:
        """Who holds a lease now."""
        with self._engine.read() as connection:
            row = _live(connection, name)
            return None if row is None else _record(row)

    @contextmanager
    def hold(self, name: str, owner: str, *, ttl_s: float = DEFAULT_TTL_S) -> Iterator[Lease]:
        """Hold a lease for a block.

        Raises:
            LeaseHeld: another owner holds it; the block does not run.
        """
        lease = self.acquire(name, owner, ttl_s=ttl_s)
        try:
            yield lease
        finally:
            self.release(name, owner)


def is_held(connection: Connection, name: str, *, by_other_than: str | None = None) -> str | None:
    """The owner of a live lease, unless it is the one given; None when it is free."""
    row = _live(connection, name)
    return None if row is None or row.owner == by_other_than else str(row.owner)


def _live(connection: Connection, name: str) -> Any:
    """The row of a lease that has not expired and whose owner has not died on this machine."""
    row = connection.execute(select(leases).where(leases.c.name == name)).fetchone()
    if row is None or row.expires_at <= now_us():
        return None
    return None if row.host == this_host() and process_start(row.pid) != row.pid_started else row


def _record(row: Any) -> Lease:
    return Lease(
        name=row.name,
        owner=row.owner,
        acquired_at=from_us(row.acquired_at),
        expires_at=from_us(row.expires_at),
    )


@cache
def this_host() -> str:
    """This machine and boot: a process id means something only within one boot."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()}/{boot.read_text().strip() if boot.exists() else ''}"


def process_start(pid: int) -> str:
    """When a process started, in clock ticks since boot; "" when there is no such process, "?" when nobody can tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except FileNotFoundError:
        return "" if Path("/proc/self").exists() else "?"
    except OSError:  # it ended while it was read
        return ""
    fields = stat.rpartition(b")")[2].split()  # the command's name may hold blanks and parentheses
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
