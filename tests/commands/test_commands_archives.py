"""verify, list, show, extract and diff on the command line."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from hermes_state.portability.crypt import Lock
from hermes_state.portability.format import Entry, Kind
from hermes_state.portability.manifest import Manifest
from hermes_state.portability.writer import Options, write_archive

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


def write(path: Path, content: bytes = b"model: x\n", **options: object) -> str:
    entries = [
        Entry(name="home", kind=Kind.DIR, mode=0o700),
        Entry(name="home/config.yaml", size=len(content), opener=lambda: io.BytesIO(content)),
        Entry(name="home/\x1b[31mred\udcff", size=0, opener=io.BytesIO),
        Entry(name="home/out", kind=Kind.LINK, mode=0o777, target="/etc"),
    ]
    facts = {"left_out": [{"path": "home/.venv", "reason": "virtual environment", "files": 9, "bytes": 1234}]}
    manifest = Manifest(roots={"home": "/home/ann/.hermes"}, facts=facts)
    return write_archive(path, manifest, entries, options=Options(**options)).whole  # type: ignore[arg-type]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A small archive."""
    write(tmp_path / "a.tar.zst")
    return tmp_path / "a.tar.zst"


def test_a_sound_archive(call: Call, archive: Path) -> None:
    """The verdict comes first; what is worth knowing goes to stderr."""
    answer = call("verify", str(archive))
    assert answer.exit_code == 0
    assert answer.stdout.startswith("sound  ")
    assert "a link that leads out: /etc" in answer.stderr


@pytest.mark.parametrize(
    ("damage", "code", "verdict"),
    [
        (lambda raw: raw[:-1], 22, "damaged"),
        (lambda raw: raw + b"x", 22, "damaged"),
        (lambda _: b"", 22, "damaged"),
        (lambda _: b"hello", 23, "foreign"),
    ],
)
def test_the_exit_code_says_what_an_archive_is(
    call: Call, archive: Path, damage: object, code: int, verdict: str
) -> None:
    """With words and with --json alike."""
    archive.write_bytes(damage(archive.read_bytes()))  # type: ignore[operator]
    answer = call("verify", str(archive), "--json")
    assert (answer.exit_code, answer.json["verdict"]) == (code, verdict)
    assert answer.json["findings"]
    words = call("verify", str(archive))
    assert (words.exit_code, words.stdout.split()[0]) == (code, verdict)


def test_a_noted_digest_is_compared(call: Call, archive: Path) -> None:
    """Another archive under the same name proves itself, but is not the noted one."""
    digest = call("verify", str(archive), "--json").json["digest"]
    assert call("verify", str(archive), "--expect", digest.upper()).exit_code == 0
    archive.unlink()
    write(archive, b"forged")
    assert call("verify", str(archive), "--expect", digest).exit_code == 22


def test_an_archive_that_is_not_there(call: Call, tmp_path: Path) -> None:
    """The system's own words, as an error of the contract."""
    answer = call("verify", str(tmp_path / "none"), "--json")
    assert (answer.exit_code, answer.error["kind"]) == (17, "store_unavailable")


def test_names_reach_no_terminal_as_commands(call: Call, archive: Path) -> None:
    """Escape sequences go; JSON has the name as it is."""
    words = call("list", str(archive))
    assert "\x1b" not in words.stdout
    assert "home/out -> /etc" in words.stdout
    names = [member["name"] for member in call("list", str(archive), "--json").json["members"]]
    assert names == ["home", "home/config.yaml", "home/\x1b[31mred\udcff", "home/out"]


def test_a_folder_is_listed(call: Call, archive: Path) -> None:
    """By its name in the archive, or below the home."""
    for below in ("home/config.yaml", "config.yaml"):
        members = call("list", str(archive), below, "--json").json["members"]
        assert [member["name"] for member in members] == ["home/config.yaml"]


def test_show_reads_the_manifest_alone(call: Call, archive: Path) -> None:
    """Also of an archive that is cut off: it is the first thing that is wanted then."""
    answer = call("show", str(archive))
    assert "home/.venv" in answer.stdout
    assert "virtual environment" in answer.stdout
    document = call("show", str(archive), "--json").json
    assert document["manifest"]["roots"] == {"home": {"path": "/home/ann/.hermes"}}


def test_extract_to_a_file_and_to_stdout(call: Call, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each refusal has its exit code."""
    monkeypatch.chdir(archive.parent)
    assert call("extract", str(archive), "config.yaml").exit_code == 0
    assert (archive.parent / "config.yaml").read_bytes() == b"model: x\n"
    assert call("extract", str(archive), "config.yaml").exit_code == 6  # it is there
    assert call("extract", str(archive), "config.yaml", "-o", "-").stdout == "model: x\n"
    assert call("extract", str(archive), "nothing").exit_code == 4


def test_diff_of_archives_and_of_a_home(call: Call, archive: Path, tmp_path: Path) -> None:
    """Exit code 1 and a line for each difference."""
    write(tmp_path / "b.tar.zst", b"model: y\n")
    same = call("diff", str(archive), str(archive))
    assert (same.exit_code, same.stdout) == (0, "")
    answer = call("diff", str(archive), str(tmp_path / "b.tar.zst"))
    assert (answer.exit_code, answer.stdout) == (1, "~ home/config.yaml  (content, 9 B -> 9 B)\n")
    home = tmp_path / "other-home"
    home.mkdir()
    (home / "config.yaml").write_text("model: x\n")
    (home / "config.yaml").chmod(0o600)
    home.chmod(0o700)
    document = call("diff", str(archive), str(home), "--json").json
    assert {change["name"]: change["change"] for change in document["changes"]} == {
        "home/\x1b[31mred\udcff": "removed",
        "home/out": "removed",
    }


def test_an_encrypted_archive_needs_its_passphrase(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file; nobody is asked where nobody can answer."""
    pytest.importorskip("cryptography")
    monkeypatch.setattr("hermes_state.portability.passphrase.WORK_FACTOR", 4)
    path = tmp_path / "a.tar.zst.age"
    write(path, lock=Lock(passphrase="open sesame"))
    (tmp_path / "secret").write_text("open sesame\nand more\n")
    assert call("verify", str(path), "--passphrase-file", str(tmp_path / "secret")).exit_code == 0
    (tmp_path / "secret").write_text("wrong")
    for options in (("--passphrase-file", str(tmp_path / "secret")), ()):
        assert call("verify", str(path), *options).exit_code == 25
        answer = call("list", str(path), *options, "--json")
        assert (answer.exit_code, json.loads(answer.stderr)["error"]["kind"]) == (25, "wrong_key")
