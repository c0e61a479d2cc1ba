"""What Hermes sessions used: its ledger per model, and the totals of the session where the ledger is short of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from hermes_state.codec import clean
from hermes_state.importers import moments
from hermes_state.importers.values import cost, count, text
from hermes_state.schema import usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from hermes_state.importers.hermes_sessions import ForeignSession

Entry = dict[str, Any]
Key = tuple[str, ...]
# Foreign column of both tables -> ours.
_COUNTERS = {
    "api_call_count": "api_calls",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "reasoning_tokens": "reasoning_tokens",
}
_COSTS = ("estimated_cost_usd", "actual_cost_usd")
_NUMBERS = (*_COUNTERS.values(), *_COSTS)
_KEY = {
    "model": "model",
    "task": "task",
    "billing_provider": "provider",
    "billing_base_url": "base_url",
    "billing_mode": "mode",
}
# With these `cost_status` a cost of 0.0 is known; else nobody knows it, since the ledger's columns have no NULL.
_KNOWN_AS = {"estimated_cost_usd": ("estimated", "included", "actual"), "actual_cost_usd": ("included", "actual")}


def usage_of(session: ForeignSession, ledger: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """The usage of a session, one entry per model, task and route.

    The session's own totals count the calls of the main loop only. What they have more than the ledger (old versions
    kept no ledger, gateways book past it) is added to the session's own model and route.
    """
    started = session.values["started_at"]
    ended = session.values["ended_at"] or started
    entries: dict[Key, Entry] = {}
    for row in ledger:
        _merge(entries, _entry(row, started, ended))
    total = _entry(session.row, started, ended) | {"task": ""}
    main = [entry for entry in entries.values() if entry["task"] == ""]
    rest = {name: (total[name] or 0) - sum(entry[name] or 0 for entry in main) for name in _COUNTERS.values()}
    costs = {name: _more(total[name], [entry[name] for entry in main]) for name in _COSTS}
    short = {name: max(value, 0) for name, value in rest.items()} | costs
    if any(short.values()):
        _merge(entries, total | short)
    return list(entries.values())


def _more(total: float | None, booked: Sequence[float | None]) -> float | None:
    """What a cost has more than its parts, beyond rounding; None when that is nothing."""
    known = sum(value or 0.0 for value in booked)
    return total - known if total is not None and total - known > 1e-9 else None


def _entry(row: Mapping[str, Any], started: int, ended: int) -> Entry:
    entry: Entry = {ours: clean(text(row.get(theirs))) or "" for theirs, ours in _KEY.items()}
    entry |= {ours: count(row.get(theirs)) for theirs, ours in _COUNTERS.items()}
    entry |= {"cost_status": clean(text(row.get("cost_status"))), "cost_source": clean(text(row.get("cost_source")))}
    for name in _COSTS:
        value = cost(row.get(name))
        entry[name] = value if value or entry["cost_status"] in _KNOWN_AS[name] else None
    entry["first_at"] = moments.instant(row.get("first_seen")) or started
    entry["last_at"] = max(moments.instant(row.get("last_seen")) or ended, entry["first_at"])
    return entry


def _merge(entries: dict[Key, Entry], entry: Entry) -> None:
    key = tuple(entry[name] for name in _KEY.values())
    known = entries.setdefault(key, entry)
    if known is entry:
        return
    for name in _NUMBERS:
        if entry[name] is not None:
            known[name] = (known[name] or 0) + entry[name]
    known["first_at"] = min(known["first_at"], entry["first_at"])
    known["last_at"] = max(known["last_at"], entry["last_at"])


def add_usage(connection: Connection, session_pk: int, entries: Sequence[Entry]) -> int:
    """Write the usage of a session that has none yet; returns how many rows that are."""
    if entries:
        connection.execute(insert(usage), [entry | {"session_pk": session_pk} for entry in entries])
    return len(entries)


def store_usage(connection: Connection, session_pk: int, entries: Sequence[Entry]) -> int:
    """Write the usage of a session that may have some; returns how many rows are new or changed.

    Counters only grow, so of a number that both sides have the larger one stays: what was booked here is not lost.
    """
    written = 0
    for entry in entries:
        where = usage.c.session_pk == session_pk
        for name in _KEY.values():
            where &= usage.c[name] == entry[name]
        row = connection.execute(select(usage).where(where)).mappings().fetchone()
        if row is None:
            connection.execute(insert(usage).values(session_pk=session_pk, **entry))
            written += 1
            continue
        grown = {name: entry[name] for name in _NUMBERS if (entry[name] or 0) > (row[name] or 0)}
        if grown:
            described = {name: entry[name] or row[name] for name in ("cost_status", "cost_source")}
            values = grown | described | {"last_at": max(entry["last_at"], row["last_at"])}
            connection.execute(update(usage).where(where).values(values))
            written += 1
    return written
