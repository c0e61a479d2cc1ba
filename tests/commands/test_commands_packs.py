"""`pack` and `unpack` on the command line: what they say, where, and how they exit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another home, not there yet."""
    return tmp_path / "other"


def test_there_and_back(call: Call, store: dict[str, str], home: Path, tmp_path: Path, other: Path) -> None:
    """Words on stdout for both; a second time adds nothing; what was packed is found."""
    (home / "config.yaml").write_text("# mine\nmodel: glm\n")
    made = call("pack", str(tmp_path / "p.tar.zst"), "--all")
    assert made.exit_code == 0, made.stderr
    assert "  config: 1 file" in made.stdout
    assert call("verify", str(tmp_path / "p.tar.zst")).exit_code == 0
    first = call("unpack", str(tmp_path / "p.tar.zst"), home=other)
    assert first.exit_code == 0, first.stderr
    assert "  added: config.yaml" in first.stdout
    again = call("unpack", str(tmp_path / "p.tar.zst"), "--json", home=other)
    assert (again.json["sessions_added"], again.json["files_added"], again.json["differences"]) == (0, [], [])
    assert (
        call("sessions", "list", "--json", home=other).json["total"] == call("sessions", "list", "--json").json["total"]
    )


def test_what_differs_exits_20(call: Call, store: dict[str, str], home: Path, tmp_path: Path, other: Path) -> None:
    """It is listed, and a dry run lists it without that."""
    (home / "config.yaml").write_text("model: glm\n")
    call("pack", str(tmp_path / "p.tar.zst"), "--all")
    other.mkdir()
    (other / "config.yaml").write_text("model: mine\n")
    told = call("unpack", str(tmp_path / "p.tar.zst"), "--dry-run", home=other)
    assert told.exit_code == 0
    assert "nothing was changed" in told.stderr
    done = call("unpack", str(tmp_path / "p.tar.zst"), home=other)
    assert done.exit_code == 20
    assert "left as it is here: config.yaml: here it has other settings: model" in done.stdout
    assert (other / "config.yaml").read_text() == "model: mine\n"


def test_a_session_by_its_title(call: Call, store: dict[str, str], tmp_path: Path, other: Path) -> None:
    """REF as everywhere; only its conversation comes along, and only the parts that were asked for."""
    title = call("sessions", "show", store["deploy"], "--json").json["session"]["title"]
    made = call("pack", str(tmp_path / "p.tar.zst"), "--session", title, "--only", "sessions", "--json")
    assert [*made.json["parts"]] == ["sessions"]
    assert made.json["parts"]["sessions"]["sessions"] == 1
    assert made.events[-1]["task"] == "packing"
    call("unpack", str(tmp_path / "p.tar.zst"), home=other)
    assert [one["id"] for one in call("sessions", "list", "--json", home=other).json["sessions"]] == [store["deploy"]]


@pytest.mark.parametrize("args", [(), ("--all", "--since", "2d"), ("--session", "deploy", "--all")])
def test_one_choice(call: Call, store: dict[str, str], tmp_path: Path, args: tuple[str, ...]) -> None:
    """Nothing is packed unless it is clear what."""
    assert call("pack", str(tmp_path / "p.tar.zst"), *args).exit_code == 2
    assert not (tmp_path / "p.tar.zst").exists()


def test_each_names_the_other(call: Call, store: dict[str, str], tmp_path: Path, other: Path) -> None:
    """A backup is no pack and a pack no backup."""
    call("pack", str(tmp_path / "p.tar.zst"), "--all")
    call("backup", str(tmp_path / "b.tar.zst"))
    refused = call("restore", str(tmp_path / "p.tar.zst"), "--into", str(other))
    assert (refused.exit_code, "hermes-state unpack" in refused.stderr) == (23, True)
    refused = call("unpack", str(tmp_path / "b.tar.zst"), home=other)
    assert (refused.exit_code, "hermes-state restore" in refused.stderr) == (23, True)


def test_encrypted(call: Call, store: dict[str, str], tmp_path: Path, other: Path) -> None:
    """With a passphrase, which only the right one opens."""
    (tmp_path / "right").write_text("correct horse\n")
    (tmp_path / "wrong").write_text("battery staple\n")
    path = str(tmp_path / "p.tar.zst.age")
    made = call("pack", path, "--all", "--passphrase-file", str(tmp_path / "right"))
    assert made.exit_code == 0, made.stderr
    assert call("unpack", path, "--passphrase-file", str(tmp_path / "wrong"), home=other).exit_code == 25
    assert not other.exists()
    assert call("unpack", path, "--passphrase-file", str(tmp_path / "right"), home=other).exit_code == 0
