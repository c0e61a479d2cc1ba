"""Phase vectors as bytes: our compact form, and the two forms the peer has written.

Ours is four header bytes, `HRP` and the bits a phase has, then the phases, rounded to so many bits, first phase in the
high bits. At four bits a vector of 1024 phases is 516 bytes. Rounding to b bits turns each phase by up to half a step,
evenly spread, so every similarity keeps sin(x)/x of its size with x = π/2^b: 0.9936 at four bits, 0.9003 at two, while
the noise stays as it is. (The peer keeps 64 bits a phase.)

A header decides. The peer's float64 form has none; one such vector in four thousand million begins like a header by
chance, and then its length must be possible too.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hermes_state.errors import InvalidValue
from memory.errors import MemoryFault
from memory.providers.holographic.algebra import DIM_STEP, TURN, Phases, check_dim

DEFAULT_BITS = 4
BITS = (2, 4, 8)
_MAGIC = b"HRP"
_HEADER_BYTES = len(_MAGIC) + 1
_PEER_MAGIC = b"HRR1"
_PHASE_BITS = 16


class VectorUnreadable(MemoryFault):
    """These bytes are no vector in any form we know."""


def pack(vector: Phases, bits: int = DEFAULT_BITS) -> bytes:
    """The compact form of one vector, of `packed_size(dim, bits)` bytes.

    Raises:
        InvalidValue: Not one vector of a possible dimension, or bits other than 2, 4 or 8.
    """
    if vector.ndim != 1 or bits not in BITS:
        raise InvalidValue(f"one vector at 2, 4 or 8 bits a phase can be stored, not shape {vector.shape} at {bits}")
    check_dim(len(vector))
    step = 1 << (_PHASE_BITS - bits)
    levels = (((vector.astype(np.uint32) + step // 2) // step) % (1 << bits)).astype(np.uint8)
    shifts = _shifts(bits)
    packed: NDArray[np.uint8] = levels[:: len(shifts)] << shifts[0]
    for place in range(1, len(shifts)):
        packed |= levels[place :: len(shifts)] << shifts[place]
    return _MAGIC + bytes([bits]) + bytes(packed.tobytes())


def packed_size(dim: int, bits: int = DEFAULT_BITS) -> int:
    """Bytes of a packed vector."""
    return _HEADER_BYTES + dim * bits // 8


def unpack(blob: bytes) -> Phases:
    """The vector in these bytes, in our form or the peer's (float64 radians, or float32 radians behind `HRR1`).

    Raises:
        VectorUnreadable: Not such bytes: cut, of an impossible length, or with a phase that is no number.
    """
    if _has_our_header(blob):
        return _levels_to_phases(np.frombuffer(blob, np.uint8, offset=_HEADER_BYTES), blob[len(_MAGIC)])
    if blob.startswith(_PEER_MAGIC) and len(blob) > len(_PEER_MAGIC) and len(blob) % 4 == 0:
        return _from_radians(np.frombuffer(blob, "<f4", offset=len(_PEER_MAGIC)).astype(np.float64))
    if blob and len(blob) % 8 == 0:
        return _from_radians(np.frombuffer(blob, "<f8"))
    raise VectorUnreadable(f"{len(blob)} bytes are no phase vector", hint="Rebuild the vectors.")


def _has_our_header(blob: bytes) -> bool:
    if not blob.startswith(_MAGIC) or len(blob) <= _HEADER_BYTES or blob[len(_MAGIC)] not in BITS:
        return False
    return (len(blob) - _HEADER_BYTES) * 8 // blob[len(_MAGIC)] % DIM_STEP == 0


def unpack_rows(blobs: Sequence[bytes | None], dim: int) -> tuple[Phases, NDArray[np.bool_]]:
    """Many vectors as rows, for `similarities`.

    Returns:
        The rows, shape (n, dim), and which of them could be read at this dimension. A blob that is absent, damaged or
        of another dimension is a row of zeros and False, so a store whose dimension is being changed stays readable.
    """
    rows = np.zeros((len(blobs), dim), np.uint16)
    readable = np.zeros(len(blobs), np.bool_)
    for bits in BITS:
        header, size = _MAGIC + bytes([bits]), packed_size(dim, bits)
        places = [i for i, blob in enumerate(blobs) if blob and len(blob) == size and blob.startswith(header)]
        if places:
            joined = np.frombuffer(b"".join(blobs[i] or b"" for i in places), np.uint8).reshape(len(places), size)
            rows[places] = _levels_to_phases(joined[:, _HEADER_BYTES:], bits)
            readable[places] = True
    for i, blob in enumerate(blobs):
        if blob and not readable[i]:
            rows[i], readable[i] = _at_dimension(blob, dim)
    return rows, readable


def _at_dimension(blob: bytes, dim: int) -> tuple[Phases, bool]:
    try:
        vector = unpack(blob)
    except VectorUnreadable:
        vector = np.zeros(0, np.uint16)
    return (vector, True) if len(vector) == dim else (np.zeros(dim, np.uint16), False)


def to_radians(vector: Phases) -> NDArray[np.float64]:
    """The vector as the peer holds it: angles in [0, 2π)."""
    return vector.astype(np.float64) * (2.0 * math.pi / TURN)


def _from_radians(angles: NDArray[np.float64]) -> Phases:
    if not np.isfinite(angles).all():
        raise VectorUnreadable("a phase of the vector is not a number", hint="Rebuild the vectors.")
    turns = np.mod(angles / math.tau, 1.0)
    phases: Phases = (np.rint(turns * TURN).astype(np.int64) % TURN).astype(np.uint16)
    return phases


def _levels_to_phases(packed: NDArray[np.uint8], bits: int) -> Phases:
    """Packed bytes, of one vector or of rows of them, as phases."""
    phases: Phases = np.take(_bytes_to_phases(bits), packed).view(np.uint16)
    return phases


@cache
def _bytes_to_phases(bits: int) -> NDArray[np.unsignedinteger[Any]]:
    """The phases of each byte there is, those of one byte together as one number."""
    levels = (np.arange(256, dtype=np.uint8)[:, None] >> _shifts(bits)) & np.uint8((1 << bits) - 1)
    phases = levels.astype(np.uint16) << np.uint16(_PHASE_BITS - bits)
    together: NDArray[np.unsignedinteger[Any]] = phases.view(f"u{2 * 8 // bits}").reshape(256)
    return together


def _shifts(bits: int) -> NDArray[np.uint8]:
    """How far left each phase of one byte stands, first phase first."""
    return np.arange(8 - bits, -1, -bits, dtype=np.uint8)
