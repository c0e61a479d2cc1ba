"""Writes that wait for a person's yes: a table in the store, and the files in which the peer keeps its own.

Where there is no store, what waits is a file as well, so that nothing that was asked for is lost.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from hermes_state.atomic import whole_file
from hermes_state.clock import from_us, now_us
from hermes_state.errors import InvalidValue
from hermes_state.schema import memory_proposals
from memory.builtin.changes import Operation
from memory.builtin.ledger import origin_of
from memory.errors import AmbiguousMatch, MemoryReadFailed, NothingWaits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hermes_state.engine import Engine
    from memory.builtin.changes import Origin

APPROVED, REJECTED = "approved", "rejected"
# Under which names a file of the peer's may hold the arguments of the call.
_WRAPPERS = ("payload", "args", "arguments", "params", "tool_args")
_p = memory_proposals.c


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """Whether writes need a yes, and who can be asked at once.

    Attributes:
        required: every write has to be approved.
        ask: asks a person who is there now; None: what is written is staged.
    """

    required: bool = False
    ask: Callable[[Sequence[Operation]], bool] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A write that waits.

    Attributes:
        id: names it for `approve` and `reject`.
        path: its file; None for one in the store.
        problem: why it can't be read; empty when it can.
    """

    id: str
    requested_at: datetime
    operations: tuple[Operation, ...] = ()
    origin: Origin = field(default_factory=lambda: MappingProxyType({}))
    path: Path | None = None
    problem: str = ""


class Proposals:
    """The writes that wait in one home.

    Args:
        engine: of the store; None: there is none.
        folder: where the peer's files are, and ours without a store.
    """

    def __init__(self, engine: Engine | None, folder: Path) -> None:
        self._engine = engine
        self._folder = folder

    def stage(self, operations: Sequence[Operation], origin: Origin) -> str:
        """Keep a write until somebody decides; returns its id."""
        name = secrets.token_hex(4)
        asked = json.dumps([operation.as_dict() for operation in operations])
        if self._engine is None:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            document = {
                "id": name,
                "subsystem": "memory",
                "action": "batch",
                "summary": "; ".join(
                    f"{each.action} {each.content or each.old_text or each.id}" for each in operations
                ),
                "origin": origin.get("write_origin", "foreground"),
                "created_at": time.time(),
                "payload": {"action": "batch", "target": operations[0].target, "operations": json.loads(asked)},
                "provenance": dict(origin),
            }
            with whole_file(self._folder / f"{name}.json") as file:
                json.dump(document, file, ensure_ascii=False, indent=2, default=str)
            return name
        values = {"id": name, "requested_at": now_us(), "operations": asked}
        with self._engine.write() as connection:
            origin_text = json.dumps(dict(origin), default=str) if origin else None
            connection.execute(insert(memory_proposals).values(values | {"origin": origin_text}))
        return name

    def pending(self) -> list[Proposal]:
        """What waits, oldest first; a file that can't be read is among them and says why."""
        found = [_from_file(path) for path in sorted(self._folder.glob("*.json"))] if self._folder.is_dir() else []
        if self._engine is not None:
            with self._engine.read() as connection:
                query = select(memory_proposals).where(_p.decided_at.is_(None))
                found += [_from_row(row) for row in connection.execute(query)]
        return sorted(found, key=lambda each: (each.requested_at, each.id))

    def get(self, name: str) -> Proposal:
        """The waiting write with this id, or the only one whose id begins so.

        Raises:
            NothingWaits, AmbiguousMatch: there is none, or there are several.
        """
        found = [each for each in self.pending() if each.id.startswith(name.strip().lower())] if name.strip() else []
        if not found:
            raise NothingWaits(name)
        if len(found) > 1:
            raise AmbiguousMatch(name, [each.id for each in found])
        return found[0]

    def decide(self, proposal: Proposal, decision: str) -> None:
        """It waits no more; the store keeps what was decided."""
        if self._engine is not None:
            with self._engine.write() as connection:
                done = {"decided_at": now_us(), "decision": decision}
                made = update(memory_proposals).where(_p.id == proposal.id).values(done)
                if not connection.execute(made).rowcount:
                    asked = json.dumps([operation.as_dict() for operation in proposal.operations])
                    values = {"id": proposal.id, "requested_at": now_us(), "operations": asked} | done
                    connection.execute(insert(memory_proposals).values(values))
        if proposal.path is not None:
            proposal.path.unlink(missing_ok=True)


def without_secrets(operation: Operation) -> Operation:
    """The operation with placeholders in the place of keys, tokens and passwords in its new text."""
    from hermes_state.redact import redact_text  # its patterns cost 10 ms to compile

    return operation if operation.content is None else replace(operation, content=redact_text(operation.content))


def operations_of(value: Any, *, target: str | None = None) -> tuple[Operation, ...]:
    """The operations that a call asks for.

    Raises:
        InvalidValue: it asks for none.
    """
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(Operation.of(each, target=target) for each in value)
    if not isinstance(value, Mapping):
        raise InvalidValue("an operation is an object")
    target = value.get("target") or target
    if value.get("operations"):
        return operations_of(value["operations"], target=target)
    if "action" in value:
        return (Operation.of(value, target=target),)
    raise InvalidValue("it names no action and no operations")


def _from_row(row: Any) -> Proposal:
    at, origin = from_us(row.requested_at), origin_of(row.origin)
    try:
        operations, problem = operations_of(json.loads(row.operations)), ""
    except (ValueError, InvalidValue) as error:
        operations, problem = (), str(error)
    return Proposal(id=row.id, requested_at=at, operations=operations, origin=origin, problem=problem)


def _from_file(path: Path) -> Proposal:
    """A staged call: `{id, subsystem, action, summary, origin, created_at, payload: its arguments}`."""
    try:
        at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise MemoryReadFailed(str(path), error.strerror or str(error)) from error
    origin: dict[str, Any] = {"write_origin": "pending file", "file": path.name}
    operations: tuple[Operation, ...] = ()
    problem = ""
    try:
        document = json.loads(text)
        operations = operations_of(_arguments(document))
        origin |= (ours := _provenance(document))
        if not ours:
            operations = tuple(replace(each, whole=each.action == "replace") for each in operations)
    except ValueError as error:
        problem = f"it is no JSON: {error}"
    except InvalidValue as error:
        problem = error.message
    facts = MappingProxyType(origin)
    return Proposal(id=path.stem, requested_at=at, operations=operations, origin=facts, path=path, problem=problem)


def _arguments(document: Any) -> Any:
    """The arguments of the call; the names beside them, such as `id`, are the file's."""
    if not isinstance(document, Mapping):
        return document
    for name in _WRAPPERS:
        if isinstance(document.get(name), Mapping):
            return document[name]
    return {name: value for name, value in document.items() if name != "id"}


def _provenance(document: Any) -> dict[str, Any]:
    known = document.get("provenance") if isinstance(document, Mapping) else None
    return dict(known) if isinstance(known, Mapping) else {}
