"""Which chunks a repository has, and reading them."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Self

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability.format import Finding
from hermes_state.portability.repository import frames
from hermes_state.portability.repository.packs import Stored, packs_in, read_frame, read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from types import TracebackType

# Packs that are kept open: a snapshot's chunks lie in as many packs as there were backups.
_MAX_OPEN = 64


class Place(NamedTuple):
    """Where a chunk is."""

    pack: Path
    stored: Stored


class Index:
    """The tables of all packs.

    Args:
        places: the chunks that can be read, their bases among them.
        damaged: packs whose table can't be read, and chunks whose bases are missing.
        unreadable: those packs.

    Attributes:
        spare: further copies of chunks, which two backups at once may have made.
    """

    def __init__(
        self, places: dict[bytes, Place], damaged: Iterable[Finding] = (), unreadable: Iterable[Path] = ()
    ) -> None:
        self.places, self.damaged, self.unreadable = places, list(damaged), set(unreadable)
        self.spare: dict[bytes, list[Place]] = {}
        self._open: OrderedDict[Path, int] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def of(cls, packs: Path) -> Self:
        """Read the tables of all packs in a folder."""
        places: dict[bytes, Place] = {}
        spare: dict[bytes, list[Place]] = {}
        damaged, unreadable = [], []
        for path in packs_in(packs):
            try:
                table = read_table(path)
            except ArchiveDamaged as error:
                damaged.append(Finding(code=error.code, message=error.message, member=path.name))
                unreadable.append(path)
                continue
            except FileNotFoundError:  # a repository that can't be locked, and somebody prunes it
                continue
            found = {stored.id: Place(path, stored) for stored in table}
            for chunk in places.keys() & found.keys():
                better, other = places[chunk], found[chunk]
                if better.stored.bases and not other.stored.bases:
                    better, other = other, better
                found[chunk] = better
                spare.setdefault(chunk, []).append(other)
            places |= found
        index = cls(places, [*damaged, *_drop_baseless(places)], unreadable)
        index.spare = spare
        return index

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all packs."""
        with self._lock:
            for descriptor in self._open.values():
                os.close(descriptor)
            self._open.clear()

    def __contains__(self, chunk: bytes) -> bool:
        return chunk in self.places

    def has_all(self, chunks: Iterable[bytes]) -> bool:
        """Whether all of them can be read."""
        return all(map(self.places.__contains__, chunks))

    def size(self, chunk: bytes) -> int:
        """Bytes of the content of a chunk that is there."""
        return self.places[chunk].stored.size

    def stored_bytes(self) -> int:
        """Bytes of all frames, for limits."""
        return sum(place.stored.stored for place in self.places.values())

    def read(self, chunk: bytes) -> bytes:
        """The content of a chunk, compared with its name; of another copy of it, where the first is damaged.

        Raises:
            ArchiveDamaged: it is missing, or not what was stored.
        """
        place = self.places.get(chunk)
        if place is None:
            raise ArchiveDamaged(f"the chunk {chunk.hex()} is in no pack", code="chunk-missing", hint=_HINT)
        try:
            return self.read_at(place)
        except ArchiveDamaged:
            for other in self.spare.get(chunk, ()):
                if not other.stored.bases:
                    return self.read_at(other)
            raise

    def read_at(self, place: Place) -> bytes:
        """As `read`, of one copy."""
        return self._read_with(place, [self.read(base) for base in place.stored.bases])

    def unfold(self, chunk: bytes) -> tuple[bytes, dict[bytes, bytes]]:
        """As `read`; and the whole chunks by which it is known, itself where it is whole."""
        place = self.places.get(chunk)
        if place is None or not place.stored.bases:
            content = self.read(chunk)
            return content, {chunk: content}
        bases = {base: self.read(base) for base in place.stored.bases}
        return self._read_with(place, [*bases.values()]), bases

    def _read_with(self, place: Place, bases: Sequence[bytes]) -> bytes:
        return proven(place, self.frame(place), bases)

    def frame(self, place: Place) -> bytes:
        """The bytes of a chunk's frame, whatever they are."""
        with self._lock:  # a descriptor must not be closed while it is read from
            return read_frame(self._descriptor(place.pack), place.stored, place.pack)

    def _descriptor(self, pack: Path) -> int:
        descriptor = self._open.get(pack)
        if descriptor is None:
            try:
                descriptor = os.open(pack, os.O_RDONLY)
            except FileNotFoundError as error:
                raise ArchiveDamaged(f"{pack} is missing", code="pack", member=pack.name, hint=_HINT) from error
            self._open[pack] = descriptor
            if len(self._open) > _MAX_OPEN:
                os.close(self._open.popitem(last=False)[1])
        self._open.move_to_end(pack)
        return descriptor


_HINT = "`hermes-state repo check` tells all that is wrong"


def proven(place: Place, frame: bytes, bases: Sequence[bytes]) -> bytes:
    """The content of a frame, compared with the name of its chunk.

    Raises:
        ArchiveDamaged: it is not what was stored.
    """
    try:
        content = frames.decode(frame, place.stored.size, bases)
    except ArchiveDamaged as error:
        message = f"{error.message}, in {place.pack}"
        raise ArchiveDamaged(message, code=error.code, member=place.pack.name, hint=_HINT) from error
    if frames.digest(content) != place.stored.id:
        raise ArchiveDamaged(
            f"the chunk {place.stored.id.hex()} in {place.pack} is not what was stored",
            code="chunk",
            member=place.pack.name,
            hint=_HINT,
        )
    return content


def _drop_baseless(places: dict[bytes, Place]) -> list[Finding]:
    """Take out differences that can't be read: a base is missing, or a difference itself."""
    whole = {chunk for chunk, place in places.items() if not place.stored.bases}
    findings = []
    for chunk, place in places.items():
        if not whole.issuperset(place.stored.bases):
            message = f"the chunk {chunk.hex()} can't be read: a base of it is missing"
            findings.append((chunk, Finding(code="base", message=message, member=place.pack.name)))
    for chunk, _ in findings:
        del places[chunk]
    return [finding for _, finding in findings]
