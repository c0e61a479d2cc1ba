"""age around an archive: to recipients or a passphrase, as the age program understands it."""

from __future__ import annotations

import base64
import io
import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from archive_harness import file, flip_byte, folder, write

from hermes_state.errors import ArchiveDamaged, InvalidValue, MissingExtra, WrongKey
from hermes_state.portability import crypt, passphrase
from hermes_state.portability.crypt import Keys, Lock
from hermes_state.portability.reader import open_archive
from hermes_state.portability.verify import Verdict, verify

if TYPE_CHECKING:
    from pathlib import Path

pyrage = pytest.importorskip("pyrage")

SECRET = "correct horse – 電池"
# `pyrage.passphrase.encrypt` with that passphrase.
BY_PYRAGE = (
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBKZmNnTUxNcVVISnZydTNqTVVaZlp3IDE3Cjd3YU03YVhTNnE1ek9lcVc4"
    "V3hiM0xJMXZWUnFhVTFxWjRmdDdNbDRXMlUKLS0tIEluMG1PTzZSRnhlSEJ6ZE1YRUNtck1GSlNTSXpGUUZMRW5leStveGlTdHMK"
    "+3xKeP/EBJIXDLxHnoVH9QytksePT+B6RM8odR5ME3jCMJdriBt2hc0iDP1nZu1PXh8RHJRW81A7"
)


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """scrypt as weak as it gets: its strength is not what is tested."""
    monkeypatch.setattr(passphrase, "WORK_FACTOR", 4)


@pytest.fixture(scope="module")
def identity() -> Any:
    """A key pair."""
    return pyrage.x25519.Identity.generate()


@pytest.fixture(params=["recipient", "passphrase"])
def pair(request: pytest.FixtureRequest, identity: Any) -> tuple[Lock, Keys]:
    """Both ways to encrypt, and what opens it."""
    if request.param == "recipient":
        return Lock(recipients=(str(identity.to_public()),)), Keys(identities=(f"# a comment\n\n{identity}\n",))
    return Lock(passphrase=SECRET), Keys(passphrase=SECRET)


def encrypted(content: bytes, lock: Lock) -> bytes:
    out = io.BytesIO()
    sink, _ = crypt.encrypting(out, lock)
    for at in range(0, len(content), 50_000):
        sink.write(content[at : at + 50_000])
    sink.finish()
    return out.getvalue()


def decrypted(raw: bytes, keys: Keys) -> bytes:
    with crypt.decrypting(io.BytesIO(raw), keys) as stream:
        return stream.read()


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 131072, 300_000])
def test_any_size_comes_back(pair: tuple[Lock, Keys], size: int) -> None:
    """Around age's blocks of 64 KiB."""
    content = random.Random(size).randbytes(size)
    assert decrypted(encrypted(content, pair[0]), pair[1]) == content


@pytest.mark.parametrize("size", [0, 65536, 200_000])
def test_pyrage_reads_what_we_write_with_a_passphrase(size: int) -> None:
    """Two implementations of one format."""
    content = random.Random(size).randbytes(size)
    assert pyrage.passphrase.decrypt(encrypted(content, Lock(passphrase=SECRET)), SECRET) == content


def test_what_pyrage_writes_with_a_passphrase_is_read() -> None:
    """As it was written once: making one takes seconds on purpose."""
    assert decrypted(base64.b64decode(BY_PYRAGE), Keys(passphrase=SECRET)).decode() == "written by pyrage – 電"


def test_an_encrypted_archive_is_verified_with_its_key(pair: tuple[Lock, Keys], tmp_path: Path) -> None:
    """And nothing of its content can be seen in the file."""
    lock, keys = pair
    written = write(tmp_path / "a.tar.zst.age", lock=lock)
    result = verify(tmp_path / "a.tar.zst.age", keys=keys)
    assert (result.verdict, result.encrypted, result.whole) == (Verdict.SOUND, True, written.whole)
    assert b"config.yaml" not in (tmp_path / "a.tar.zst.age").read_bytes()


def test_a_wrong_key_or_none_is_told(pair: tuple[Lock, Keys], tmp_path: Path) -> None:
    """As that, never as damage."""
    write(tmp_path / "a.tar.zst.age", lock=pair[0])
    other = pyrage.x25519.Identity.generate()
    for keys in (Keys(), Keys(passphrase="wrong", identities=(str(other),)), Keys(passphrase=lambda: "")):
        assert verify(tmp_path / "a.tar.zst.age", keys=keys).verdict is Verdict.WRONG_KEY
        with pytest.raises(WrongKey), open_archive(tmp_path / "a.tar.zst.age", keys=keys):
            pass


def test_a_flip_a_cut_and_a_tail_are_seen(pair: tuple[Lock, Keys], tmp_path: Path) -> None:
    """At both ends, at age's block boundaries, and in its header."""
    lock, keys = pair
    path = tmp_path / "a.tar.zst.age"
    write(path, [folder("home"), file("home/x", random.Random(1).randbytes(150_000))], lock=lock)
    raw = path.read_bytes()
    payload = raw.index(b"\n---") + 1
    start = raw.index(b"\n", payload) + 17
    edges = [0, 21, 22, 30, payload, payload + 10, start - 1, start, start + 65552, len(raw)]
    for at in sorted({edge + step for edge in edges for step in (-1, 0, 1)} & {*range(len(raw))}):
        for bad in (flip_byte(raw, at), raw[:at]):
            path.write_bytes(bad)
            assert verify(path, keys=keys).verdict is not Verdict.SOUND, at
    for tail in (b"x", raw):
        path.write_bytes(raw + tail)
        assert verify(path, keys=keys).verdict is Verdict.DAMAGED


def test_a_passphrase_that_would_eat_the_memory_is_refused() -> None:
    """Before scrypt begins: the header says what it would take."""
    raw = encrypted(b"x", Lock(passphrase=SECRET))
    with pytest.raises(ArchiveDamaged, match="MiB of memory") as caught:
        decrypted(raw.replace(b" 4\n", b" 30\n", 1), Keys(passphrase=SECRET))
    assert caught.value.code == "bomb"


def test_headers_that_never_end_are_refused() -> None:
    """Before they fill the memory."""
    for raw in (crypt.MAGIC + b"-> X25519 " + b"a" * 100_000, crypt.MAGIC + b"-> a\n" * 50_000, crypt.MAGIC):
        with pytest.raises(ArchiveDamaged):
            decrypted(raw, Keys(passphrase=SECRET))


def test_a_full_disk_under_encryption_is_told_as_such(pair: tuple[Lock, Keys]) -> None:
    """And the threads end."""

    class Full(io.BytesIO):
        def write(self, piece: Any) -> int:
            if self.tell() > 200_000:
                raise OSError(28, "No space left on device")
            return super().write(piece)

    sink, _ = crypt.encrypting(Full(), pair[0])
    content = os.urandom(100_000)
    with pytest.raises(OSError, match="No space left"):
        _write_and_finish(sink, content)
    sink.abandon()


def _write_and_finish(sink: Any, content: bytes) -> None:
    for _ in range(30):
        sink.write(content)
    sink.finish()


@pytest.mark.parametrize("given", [{}, {"recipients": ("age1x",), "passphrase": "x"}, {"passphrase": ""}])
def test_recipients_or_a_passphrase_and_not_both(given: dict[str, Any]) -> None:
    """age has no file for both."""
    with pytest.raises(InvalidValue):
        Lock(**given)


def test_what_is_no_recipient_or_identity_is_told(tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(InvalidValue, match="no recipient"):
        write(tmp_path / "a.age", lock=Lock(recipients=("age1nonsense",)))
    assert list(tmp_path.iterdir()) == []
    raw = encrypted(b"x", Lock(recipients=(str(pyrage.x25519.Identity.generate().to_public()),)))
    with pytest.raises(InvalidValue, match="identity"):
        decrypted(raw, Keys(identities=("AGE-SECRET-KEY-1NONSENSE",)))


@pytest.mark.skipif(shutil.which("age") is None, reason="needs the age program")
def test_the_age_program_opens_it(tmp_path: Path, identity: Any) -> None:
    """And gives the very tar.zst that would stand there without encryption."""
    write(tmp_path / "a.tar.zst.age", lock=Lock(recipients=(str(identity.to_public()),)))
    (tmp_path / "key").write_text(str(identity))
    with (tmp_path / "a.tar.zst").open("wb") as out:
        subprocess.run(["age", "-d", "-i", "key", "a.tar.zst.age"], cwd=tmp_path, stdout=out, check=True)
    assert verify(tmp_path / "a.tar.zst").verdict is Verdict.SOUND


@pytest.mark.skipif(shutil.which("age") is None, reason="needs the age program")
def test_what_the_age_program_encrypts_is_read(tmp_path: Path, identity: Any) -> None:
    """A sound archive that somebody encrypted later."""
    write(tmp_path / "a.tar.zst")
    recipient = str(identity.to_public())
    command = ["age", "-r", recipient, "-o", "a.tar.zst.age", "a.tar.zst"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert verify(tmp_path / "a.tar.zst.age", keys=Keys(identities=(str(identity),))).verdict is Verdict.SOUND


def test_without_the_extra_the_command_to_install_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing optional package is no traceback."""
    monkeypatch.setitem(sys.modules, "pyrage", None)
    with pytest.raises(MissingExtra) as caught:
        crypt.encrypting(io.BytesIO(), Lock(recipients=("age1x",)))
    assert "hermes-state[crypt]" in caught.value.hint
