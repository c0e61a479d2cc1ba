"""age files with a passphrase, as a stream.

pyrage does this for bytes in memory only, and an archive is larger than that. The format is age's own
(https://age-encryption.org/v1): a header with the file key wrapped by scrypt, then blocks of 64 KiB sealed with
ChaCha20-Poly1305. The ciphers are those of OpenSSL, through `cryptography` and `hashlib`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import io
import os
import re
from dataclasses import dataclass
from typing import Any, BinaryIO

from hermes_state.errors import ArchiveDamaged, MissingExtra, WrongKey

_INTRO = b"age-encryption.org/v1\n"
_CHUNK, _TAG = 64 * 1024, 16  # bytes, as age has them
# [log2] of scrypt's N: 128 MiB, one second. age's own default of 18 needs 256 MiB, more than we let any archive take.
WORK_FACTOR = 17
# [log2] 1 GiB: what age writes by default is 18; above 20 a file could eat a machine.
MAX_WORK_FACTOR = 20
# [bytes] a recipient takes about 100; some hundred of them are no header any more.
_MAX_HEADER = 64 * 1024
_SCRYPT = re.compile(rb"-> scrypt ([A-Za-z0-9+/]{22}) ([1-9][0-9]?)\n([A-Za-z0-9+/]{43})\n--- ([A-Za-z0-9+/]{43})\n\Z")
_KEY_BYTES, _NONCE_BYTES, _SALT_BYTES = 16, 16, 16


@dataclass(frozen=True, slots=True)
class Header:
    """The head of an age file, as read."""

    raw: bytes

    @property
    def is_passphrase(self) -> bool:
        """Whether a passphrase opens it."""
        return b"\n-> scrypt " in self.raw


def read_header(file: BinaryIO) -> Header:
    """The header of an age file; the file is then at its payload.

    Raises:
        ArchiveDamaged: there is no whole one.
    """
    raw = file.readline(_MAX_HEADER)
    while len(raw) < _MAX_HEADER:
        line = file.readline(_MAX_HEADER - len(raw))
        raw += line
        if line.startswith(b"---") and line.endswith(b"\n"):
            return Header(raw)
        if not line.endswith(b"\n"):
            break
    raise ArchiveDamaged("the header of the encryption is cut off or too long", code="encryption")


class Writer:
    """Bytes in, age file out."""

    def __init__(self, file: BinaryIO, secret: str) -> None:
        self._file = file
        self._counter = 0
        self._pending = bytearray()
        key, salt, nonce = os.urandom(_KEY_BYTES), os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES)
        self._cipher = _cipher(_derived(key, nonce, b"payload"))
        wrapped = _cipher(_stretched(secret, salt, WORK_FACTOR)).encrypt(bytes(12), key, None)
        head = _INTRO + b"-> scrypt %s %d\n%s\n---" % (_to_base64(salt), WORK_FACTOR, _to_base64(wrapped))
        file.write(head + b" " + _to_base64(_mac(key, head)) + b"\n" + nonce)

    def write(self, piece: bytes, /) -> None:
        """The next bytes; the last full block waits, since only the end tells whether it is the last."""
        self._pending += piece
        while len(self._pending) > _CHUNK:
            self._seal(bytes(self._pending[:_CHUNK]), last=False)
            del self._pending[:_CHUNK]

    def finish(self) -> None:
        """Write the last block, which is marked as such."""
        self._seal(bytes(self._pending), last=True)

    def abandon(self) -> None:
        """Nothing to undo: without a last block it is no age file."""

    def _seal(self, chunk: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._counter, last=last), chunk, None))
        self._counter += 1


class Reader(io.RawIOBase):
    """Age file in, bytes out. Each block is authenticated before any byte of it is given."""

    def __init__(self, file: BinaryIO, header: Header, secret: str) -> None:
        super().__init__()
        self._file = file
        key = _unwrapped(header, secret)
        nonce = file.read(_NONCE_BYTES)
        self._cipher = _cipher(_derived(key, nonce, b"payload"))
        self._counter = 0
        self._ahead: bytes | None = file.read(_CHUNK + _TAG)  # None: the last block was read
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._plain and self._ahead is not None:
            self._plain = memoryview(self._open(self._ahead))
        size = min(len(buffer), len(self._plain))
        buffer[:size], self._plain = self._plain[:size], self._plain[size:]
        return size

    def _open(self, chunk: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        following = self._file.read(_CHUNK + _TAG)
        try:
            plain: bytes = self._cipher.decrypt(_nonce(self._counter, last=not following), chunk, None)
        except (InvalidTag, ValueError) as error:
            message = "an encrypted block is damaged, or the file is cut off or goes on behind its end"
            raise ArchiveDamaged(message, code="encryption") from error
        self._counter += 1
        self._ahead = following or None
        return plain


def _unwrapped(header: Header, secret: str) -> bytes:
    """The key of the file."""
    from cryptography.exceptions import InvalidTag

    found = _SCRYPT.match(header.raw.removeprefix(_INTRO))
    if found is None:
        raise ArchiveDamaged("the header of the encryption is not age's", code="encryption")
    salt, factor, wrapped, mac = _from_base64(found[1]), int(found[2]), _from_base64(found[3]), _from_base64(found[4])
    if factor > MAX_WORK_FACTOR:
        raise ArchiveDamaged(f"opening it would take {128 << factor >> 17} MiB of memory or more", code="bomb")
    try:
        key: bytes = _cipher(_stretched(secret, salt, factor)).decrypt(bytes(12), wrapped, None)
    except InvalidTag:
        raise WrongKey("the passphrase does not open the archive") from None
    if not hmac.compare_digest(mac, _mac(key, header.raw[: header.raw.rindex(b"---") + 3])):
        raise ArchiveDamaged("the header of the encryption is damaged", code="encryption")
    return key


def _cipher(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    except ImportError as error:
        raise MissingExtra("encryption", "crypt") from error
    return ChaCha20Poly1305(key)


def _stretched(secret: str, salt: bytes, factor: int) -> bytes:
    r = 8
    memory = 128 * r * (2**factor + 2) + 4096  # OpenSSL wants to be told the limit; a little more than it needs
    label = b"age-encryption.org/v1/scrypt" + salt
    return hashlib.scrypt(secret.encode(), salt=label, n=2**factor, r=r, p=1, maxmem=memory, dklen=32)


def _derived(key: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF-SHA-256, one block."""
    extracted = hmac.digest(salt or bytes(32), key, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def _mac(key: bytes, head: bytes) -> bytes:
    return hmac.digest(_derived(key, b"", b"header"), head, "sha256")


def _nonce(counter: int, *, last: bool) -> bytes:
    return counter.to_bytes(11, "big") + bytes([last])


def _to_base64(raw: bytes) -> bytes:
    return base64.b64encode(raw).rstrip(b"=")


def _from_base64(text: bytes) -> bytes:
    """Strictly: one text for one value, or a flipped bit could go unseen."""
    try:
        raw = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise ArchiveDamaged("the header of the encryption is not base64", code="encryption") from error
    if _to_base64(raw) != text:
        raise ArchiveDamaged("the header of the encryption is not canonical base64", code="encryption")
    return raw
