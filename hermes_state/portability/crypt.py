"""age around an archive: to recipients through pyrage, with a passphrase through `passphrase`. Both stream.

What is written opens with the `age` program, and what that writes is read.
"""

from __future__ import annotations

import io
import os
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from hermes_state.errors import ArchiveDamaged, InvalidValue, MissingExtra, WrongKey
from hermes_state.portability import passphrase as by_passphrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAGIC = b"age-encryption.org/v1\n"
_ARMOURED = b"-----BEGIN AGE ENCRYPTED FILE-----"
# [bytes] moved between Python and pyrage at a time; pyrage itself asks for 8 KiB.
_BUFFER = 128 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Lock:
    """For whom an archive is encrypted: recipients, or whoever knows a passphrase.

    Attributes:
        recipients: `age1…`, `ssh-ed25519 …` or `ssh-rsa …`, as the age program takes them.
        passphrase: instead of recipients; age allows only one of both.
    """

    recipients: tuple[str, ...] = ()
    passphrase: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if bool(self.recipients) == bool(self.passphrase):
            raise InvalidValue("encryption takes recipients or a passphrase: one of both, not empty")


@dataclass(frozen=True, kw_only=True, slots=True)
class Keys:
    """What may open an archive.

    Attributes:
        identities: texts of identity files (`AGE-SECRET-KEY-1…` lines) or of SSH private keys.
        passphrase: asked for only when the archive has one; a text, or what to call for it.
        made: identities of pyrage, for the writer's own check.
    """

    identities: tuple[str, ...] = field(default=(), repr=False)
    passphrase: str | Callable[[], str] | None = field(default=None, repr=False)
    made: tuple[Any, ...] = field(default=(), repr=False)


class Sink(Protocol):
    """Takes the bytes to be encrypted."""

    def write(self, piece: bytes, /) -> object: ...

    def finish(self) -> None:
        """Write what is left and the authenticated end."""

    def abandon(self) -> None:
        """Stop; what was written so far is no age file."""


def is_encrypted(head: bytes) -> bool:
    """Whether a file that starts so is encrypted by age."""
    return head.startswith(MAGIC)


def is_armoured(head: bytes) -> bool:
    """Whether it is the text form of an age file, which we don't read."""
    return head.startswith(_ARMOURED)


def encrypting(file: BinaryIO, lock: Lock) -> tuple[Sink, Keys]:
    """Encrypt into a file.

    Returns:
        Where to write, and the keys that open it again: the passphrase, or a key made for this one archive.

    Raises:
        MissingExtra: the packages are not installed.
        InvalidValue: a recipient is none.
    """
    if lock.passphrase is not None:
        return by_passphrase.Writer(file, lock.passphrase), Keys(passphrase=lock.passphrase)
    pyrage = _pyrage()
    own = pyrage.x25519.Identity.generate()
    recipients = [*(_recipient(pyrage, text) for text in lock.recipients), own.to_public()]
    return _Encrypting(file, recipients), Keys(made=(own,))


def decrypting(file: BinaryIO, keys: Keys) -> BinaryIO:
    """The content of an age file, from its start.

    Raises:
        WrongKey: none of the keys opens it. Both errors may come from later reads too.
        ArchiveDamaged: it is not as it was written.
        MissingExtra: the packages are not installed.
    """
    header = by_passphrase.read_header(file)
    if header.is_passphrase:
        secret = keys.passphrase() if callable(keys.passphrase) else keys.passphrase
        if not secret:
            raise WrongKey("the archive is encrypted with a passphrase", hint="give it: --passphrase-file FILE")
        return io.BufferedReader(by_passphrase.Reader(file, header, secret), _BUFFER)
    pyrage = _pyrage()
    identities = [*keys.made, *(found for text in keys.identities for found in _identities(pyrage, text))]
    if not identities:
        raise WrongKey("the archive is encrypted to recipients", hint="give an identity file: --identity FILE")
    file.seek(0)
    return io.BufferedReader(_Decrypting(file, identities), _BUFFER)


def _pyrage() -> Any:
    try:
        import pyrage
    except ImportError as error:
        raise MissingExtra("encryption", "crypt") from error
    return pyrage


def _recipient(pyrage: Any, text: str) -> Any:
    parse = pyrage.ssh.Recipient.from_str if text.startswith("ssh-") else pyrage.x25519.Recipient.from_str
    try:
        return parse(text)
    except pyrage.RecipientError as error:
        raise InvalidValue(f"{text!r} is no recipient: {error}", hint="`age-keygen` makes keys") from error


def _identities(pyrage: Any, text: str) -> Sequence[Any]:
    """The identities in the text of a file."""
    try:
        if "-----BEGIN" in text:
            return [pyrage.ssh.Identity.from_buffer(text.encode())]
        lines = (line.strip() for line in text.splitlines())
        return [pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except pyrage.IdentityError as error:
        raise InvalidValue(f"an identity can't be read: {error}") from error


class _Remembering:
    """A file whose own error is kept, since pyrage turns it into words."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, piece: bytes) -> int:
        with self._kept():
            return self._file.write(piece)

    def read(self, size: int = -1) -> bytes:
        with self._kept():
            return self._file.read(size)

    def flush(self) -> None:
        with self._kept():
            self._file.flush()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = error
            raise


class _Piped(ABC):
    """pyrage at one end of a pipe, in a thread, and we at the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = _Remembering(file)
        self._error: BaseException | None = None
        self._reading, self._writing = os.pipe()
        self._thread = threading.Thread(target=self._run, name="age", daemon=True)

    @abstractmethod
    def _work(self) -> None:
        """Run pyrage from one end to the other; in the thread."""

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001  raised at our end of the pipe
            self._error = error

    def _join(self) -> BaseException | None:
        """The thread's error once it has ended: the file's own when there is one."""
        self._thread.join()
        return self._file.error or self._error


class _Encrypting(_Piped):
    """Bytes in, age file out."""

    def __init__(self, file: BinaryIO, recipients: Sequence[Any]) -> None:
        super().__init__(file)
        self._recipients = recipients
        self._pipe = open(self._writing, "wb", buffering=_BUFFER)  # noqa: PTH123, SIM115  a descriptor; `finish` closes
        self._thread.start()

    def _work(self) -> None:
        with open(self._reading, "rb", buffering=_BUFFER) as source:  # noqa: PTH123  a descriptor
            _pyrage().encrypt_io(source, self._file, self._recipients)

    def write(self, piece: bytes, /) -> None:
        try:
            self._pipe.write(piece)
        except BrokenPipeError:  # the thread has ended: `finish` tells why
            self.finish()

    def finish(self) -> None:
        self._close()
        error = self._join()
        if error is not None:
            raise error

    def abandon(self) -> None:
        self._close()
        self._join()

    def _close(self) -> None:
        try:
            self._pipe.close()
        except BrokenPipeError:  # the thread has ended before: its error is what counts
            return


class _Decrypting(_Piped, io.RawIOBase):
    """Age file in, bytes out."""

    def __init__(self, file: BinaryIO, identities: Sequence[Any]) -> None:
        super().__init__(file)
        self._identities = identities
        self._thread.start()

    def _work(self) -> None:
        try:
            with open(self._writing, "wb", buffering=_BUFFER) as pipe:  # noqa: PTH123  a descriptor
                _pyrage().decrypt_io(self._file, pipe, self._identities)
        except BrokenPipeError:  # nobody reads any more
            return

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        found = os.read(self._reading, len(buffer))
        buffer[: len(found)] = found
        if not found and (error := self._join()) is not None:
            raise _translated(error) from error
        return len(found)

    def close(self) -> None:
        if not self.closed:
            os.close(self._reading)
            self._thread.join()
        super().close()


def _translated(error: BaseException) -> BaseException:
    if "No matching keys" in str(error):
        return WrongKey("none of the identities opens the archive", hint="it is for other recipients")
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return ArchiveDamaged(f"the encryption is damaged: {error}", code="encryption")
