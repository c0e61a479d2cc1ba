"""What a copy did, and whether both stores say the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_state.errors import PartialSuccess

if TYPE_CHECKING:
    from hermes_state.copying.digest import Digest

# Conflicts that are named; all are counted.
NAMED = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Clash:
    """Something of the source that is not in the target as it is in the source; the target's stays."""

    where: str
    what: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """Rows of one table: in the source, in the target at the end, and how many of these came now."""

    source: int
    target: int
    added: int


@dataclass(kw_only=True, slots=True)
class CopyReport:
    """The outcome of a copy.

    Attributes:
        source, target: the stores, without passwords.
        merged: the target had content of its own.
        resumed: an earlier run had begun it.
        counts: rows by table.
        conflicts: the first `NAMED` that there were; `conflict_count` counts all.
        beside: sessions that went another way in the target: id, and the id they came in under.
        source_digest, target_digest: at the end.
    """

    source: str
    target: str
    merged: bool = False
    resumed: bool = False
    counts: dict[str, Count] = field(default_factory=dict)
    conflicts: list[Clash] = field(default_factory=list)
    conflict_count: int = 0
    beside: list[tuple[str, str]] = field(default_factory=list)
    source_digest: Digest | None = None
    target_digest: Digest | None = None
    seconds: float = 0.0

    def clash(self, where: str, what: str) -> None:
        """Note a conflict."""
        self.conflict_count += 1
        if len(self.conflicts) < NAMED:
            self.conflicts.append(Clash(where=where, what=what))

    @property
    def is_equal(self) -> bool:
        """Whether both stores have the same digest."""
        return self.source_digest is not None and self.source_digest == self.target_digest

    @property
    def is_whole(self) -> bool:
        """Whether everything of the source is in the target as it is there."""
        return not self.conflict_count and (self.merged or self.is_equal)

    def raise_for_problems(self) -> None:
        """Raise `PartialSuccess` unless the copy is whole."""
        if self.is_whole:
            return
        if self.conflict_count:
            first = self.conflicts[0]
            raise PartialSuccess(
                f"{self.conflict_count} things of {self.source} are not in {self.target} as they are there; the first:"
                f" {first.where}: {first.what}",
                hint="what was in the target stays; `hermes-state db diff` names every difference",
            )
        raise PartialSuccess(
            f"{self.target} does not say the same as {self.source}: one of them changed while it was copied",
            hint="`hermes-state copy --merge` brings in what is new; `hermes-state db diff` names the rest",
        )
