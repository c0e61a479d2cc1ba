"""The vectors of some facts, compared with what an entity or a text looks like inside a fact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memory.providers.holographic import algebra
from memory.providers.holographic.vector_codec import unpack_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

# Similarity to an entity, as a part of what a fact about it has, from which on it is about it.
HAS = 0.5


class Candidate(NamedTuple):
    """A row of `facts` with its vector, if it has one."""

    row: Any
    dim: int
    parts: int
    phases: bytes | None


class Vectors:
    """The vectors of candidates, read once. They may be of several dimensions: each is compared at its own."""

    def __init__(self, found: Sequence[Candidate]) -> None:
        self._count = len(found)
        self._groups: list[tuple[int, NDArray[np.intp], algebra.Phases, NDArray[np.float32]]] = []
        for dim in {candidate.dim for candidate in found if candidate.phases is not None}:
            places = [i for i, candidate in enumerate(found) if candidate.dim == dim]
            rows, readable = unpack_rows([found[i].phases for i in places], dim)
            parts = np.array([algebra.part_similarity(found[i].parts) for i in places], np.float32)
            self._groups.append((dim, np.array(places)[readable], rows[readable], parts[readable]))

    def near(self, probe: Callable[[int], algebra.Phases]) -> NDArray[np.float32]:
        """How near each is to a probe, as a part of what its own parts have, 0 to 1; NaN without a readable vector.

        Args:
            probe: gives what to compare with for a dimension.
        """
        result = np.full(self._count, np.nan, np.float32)
        for dim, places, rows, parts in self._groups:
            result[places] = np.clip(algebra.similarities(rows, probe(dim)) / parts, 0.0, 1.0)
        return result

    def about(self, keys: Iterable[str], role: str = algebra.ROLE_ENTITY) -> NDArray[np.float32]:
        """How far each has an entity with one of these keys in a role, 0 to 1; NaN without a readable vector."""
        best = np.full(self._count, np.nan, np.float32)
        for key in keys:
            best = np.fmax(best, self.near(partial(algebra.entity_probe, key, role=role)))
        return best
