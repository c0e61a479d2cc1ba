"""backup and restore on the command line."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.portability import steps
from hermes_state.portability.restore import Asked, restore

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


@pytest.fixture
def agent(home: Path, store: dict[str, str]) -> Path:
    """A home with settings, a secret and a skill beside its store."""
    (home / "config.yaml").write_text(f"model:\n  api_key: sk-1  # mine\nterminal:\n  cwd: {home}/work\n")
    (home / ".env").write_text("TOKEN=abcdefgh1234\n")
    (home / "skills/x").mkdir(parents=True)
    (home / "skills/x/SKILL.md").write_text("x")
    (home / "backups").mkdir()
    (home / "backups/old.zip").write_text("old")
    return home


def test_there_and_back(call: Call, agent: Path, store: dict[str, str], tmp_path: Path) -> None:
    """Back up, verify, restore elsewhere, search there."""
    made = call("backup", str(tmp_path / "b.tar.zst"))
    assert made.exit_code == 0, made.stderr
    assert made.stdout.startswith(str(tmp_path / "b.tar.zst"))
    assert "left out: home/backups (earlier backup, 3 B)" in made.stderr
    assert call("verify", str(tmp_path / "b.tar.zst")).exit_code == 0
    back = call("restore", str(tmp_path / "b.tar.zst"), "--into", str(tmp_path / "else/where"))
    assert back.exit_code == 0, back.stderr
    assert f"config.yaml: terminal.cwd: {agent}/work → {tmp_path}/else/where/work" in back.stdout
    found = call("search", "redis", "--json", home=tmp_path / "else/where").json
    assert found["hits"]
    assert len(found["hits"]) == len(call("search", "redis", "--json").json["hits"])


def test_without_a_name(call: Call, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OUTPUT the archive lies in the user's home folder, under a name of its own; two do not collide."""
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    paths = {call("backup", "--json").json["path"] for _ in range(3)}
    assert len(paths) == 3
    assert {str(path) for path in user.iterdir()} == paths


def test_a_folder_of_backups(call: Call, agent: Path, tmp_path: Path) -> None:
    """`--to` names, links the latest and keeps as many as it is told."""
    folder = tmp_path / "usb"
    results = [call("backup", "--to", str(folder), "--keep", "2", "--json").json for _ in range(4)]
    assert [len(result["pruned"]) for result in results] == [0, 0, 1, 1]
    latest = next(path for path in folder.iterdir() if path.is_symlink())
    assert str(latest.resolve()) == results[-1]["path"]
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize(
    "args",
    [
        ("a.tar.zst", "--to", "x"),
        ("--keep", "3"),
        ("--no-secrets", "--secrets", "redact"),
        ("--level", "99"),
        ("--keep-daily", "-1", "--to", "x"),
    ],
)
def test_what_makes_no_sense(call: Call, agent: Path, args: tuple[str, ...]) -> None:
    """Options that contradict each other are refused before anything is done."""
    assert call("backup", *args).exit_code == 2


def test_secrets(call: Call, agent: Path, tmp_path: Path) -> None:
    """What was taken out is said when it is backed up, and what must be entered again when it is restored."""
    made = call("backup", str(tmp_path / "b.tar.zst"), "--no-secrets")
    assert "secret left out: home/.env" in made.stderr
    assert "secret taken out: home/config.yaml: model.api_key" in made.stderr
    back = call("restore", str(tmp_path / "b.tar.zst"), "--into", str(tmp_path / "h"))
    assert "to be entered again: home/config.yaml: model.api_key" in back.stderr
    assert "to be entered again: home/.env" in back.stderr


def test_a_partial_backup_says_so(call: Call, agent: Path, tmp_path: Path) -> None:
    """A damaged database is named, the exit code is 20, and the result is there all the same."""
    (agent / "broken.db").write_bytes(b"SQLite format 3\0" + b"\x55" * 5000)
    made = call("backup", str(tmp_path / "b.tar.zst"), "--json")
    assert made.exit_code == 20
    assert "broken.db" in made.error["message"]
    assert set(made.json["unsound"]) == {"home/broken.db"}
    back = call("restore", str(tmp_path / "b.tar.zst"), "--into", str(tmp_path / "h"), "--json")
    assert back.exit_code == 20
    assert back.json["damaged"] == ["broken.db"]


def test_encrypted(call: Call, agent: Path, tmp_path: Path) -> None:
    """An archive with a passphrase opens with that passphrase only."""
    (tmp_path / "right").write_text("correct horse\n")
    (tmp_path / "wrong").write_text("battery staple\n")
    made = call("backup", "--to", str(tmp_path / "usb"), "--passphrase-file", str(tmp_path / "right"), "--json").json
    assert made["path"].endswith(".tar.zst.age")
    wrong = call("restore", made["path"], "--into", str(tmp_path / "h"), "--passphrase-file", str(tmp_path / "wrong"))
    assert wrong.exit_code == 25
    right = call("restore", made["path"], "--into", str(tmp_path / "h"), "--passphrase-file", str(tmp_path / "right"))
    assert right.exit_code == 0, right.stderr


def test_events(call: Call, agent: Path, tmp_path: Path) -> None:
    """`--jsonl` tells what is being done and gives the result at last."""
    made = call("backup", str(tmp_path / "b.tar.zst"), "--jsonl")
    events: list[dict[str, Any]] = [json.loads(line) for line in made.stdout.splitlines()]
    assert [event["event"] for event in events][-1] == "result"
    assert events[-1]["path"] == str(tmp_path / "b.tar.zst")
    back = call("restore", str(tmp_path / "b.tar.zst"), "--into", str(tmp_path / "h"), "--jsonl")
    assert json.loads(back.stdout.splitlines()[-1])["files"] > 3


def test_events_beside_the_document(call: Call, agent: Path, tmp_path: Path) -> None:
    """With `--json` stdout has one document, and stderr tells how far it is: the last event is the end."""
    archive = str(tmp_path / "b.tar.zst")
    made = call("backup", archive, "--json")
    assert made.json["path"] == archive
    first, last = made.events[0], made.events[-1]
    assert (first["event"], first["task"]) == ("progress", "backing up")
    assert last["done"] == last["total"] > 0
    assert call("verify", archive, "--json").events[-1]["done"] > 0
    assert call("restore", archive, "--into", str(tmp_path / "h"), "--json").events[-1]["task"] == "restoring"


def test_a_home_is_replaced_only_when_told(call: Call, agent: Path, tmp_path: Path) -> None:
    """Without --force 6, with it 0 and a word on where the old home is; what no backup holds is still there."""
    call("backup", str(tmp_path / "b.tar.zst"))
    (agent / "config.yaml").write_text("changed: since\n")
    refused = call("restore", str(tmp_path / "b.tar.zst"))
    assert (refused.exit_code, (agent / "config.yaml").read_text()) == (6, "changed: since\n")
    done = call("restore", str(tmp_path / "b.tar.zst"), "--force")
    assert done.exit_code == 0, done.stderr
    assert "what was there: " in done.stdout
    assert "api_key" in (agent / "config.yaml").read_text()
    assert (agent / "backups/old.zip").exists()


def test_the_home_that_is_meant(call: Call, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With HERMES_HOME elsewhere the home in the default place is not touched."""
    call("backup", str(tmp_path / "b.tar.zst"))
    user = tmp_path / "user"
    (user / ".hermes").mkdir(parents=True)
    (user / ".hermes/config.yaml").write_text("orig")
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "alt"))
    from hermes_state.commands import run

    assert run(["restore", str(tmp_path / "b.tar.zst"), "--force"]) == 0
    assert (tmp_path / "alt/config.yaml").exists()
    assert [path.name for path in (user / ".hermes").iterdir()] == ["config.yaml"]
    assert (user / ".hermes/config.yaml").read_text() == "orig"


def test_a_plan(call: Call, agent: Path, tmp_path: Path) -> None:
    """--dry-run says what would be replaced and changes nothing, also where --force would be needed."""
    call("backup", str(tmp_path / "b.tar.zst"))
    (agent / "mine").touch()
    planned = call("restore", str(tmp_path / "b.tar.zst"), "--dry-run")
    assert planned.exit_code == 0, planned.stderr
    assert "would replace: " in planned.stdout
    assert "nothing was changed" in planned.stderr
    assert (agent / "mine").exists()
    assert call("restore", str(tmp_path / "b.tar.zst"), "--dry-run", "--json").json["dry_run"] is True


def test_a_held_home(call: Call, agent: Path, tmp_path: Path) -> None:
    """A home that a process has open is refused with 26, and the process is named."""
    call("backup", str(tmp_path / "b.tar.zst"))
    db = sqlite3.connect(agent / "side.db")
    db.execute("CREATE TABLE t (x)")
    held = call("restore", str(tmp_path / "b.tar.zst"), "--force", "--json")
    db.close()
    assert held.exit_code == 26
    assert "side.db" in held.error["message"]


def test_recover(call: Call, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a crash --recover says how it ended, and then that there is nothing more to do."""
    call("backup", str(tmp_path / "b.tar.zst"))

    def crash(name: str) -> None:
        if name == "swapped":
            raise KeyboardInterrupt

    monkeypatch.setattr(steps, "on_step", crash)
    with pytest.raises(KeyboardInterrupt):
        restore(tmp_path / "b.tar.zst", agent, Asked(force=True))
    monkeypatch.undo()
    first = call("restore", "--recover")
    assert "was finished" in first.stdout
    assert call("restore", "--recover", "--json").json["recovered"] == []
    assert (agent / "config.yaml").exists()


def test_maps(call: Call, agent: Path, tmp_path: Path) -> None:
    """--map takes two absolute folders."""
    call("backup", str(tmp_path / "b.tar.zst"))
    for bad in ("x", "a=b", "/a", "/a=b"):
        assert call("restore", str(tmp_path / "b.tar.zst"), "--into", str(tmp_path / "h"), "--map", bad).exit_code == 2


def test_an_archive_that_is_not_there(call: Call, agent: Path, tmp_path: Path) -> None:
    """The error names the archive, and the home is as it was."""
    missing = call("restore", str(tmp_path / "none.tar.zst"), "--force")
    assert missing.exit_code == 17
    assert str(tmp_path / "none.tar.zst") in missing.stderr
    assert (agent / "config.yaml").exists()


def test_without_an_archive(call: Call, agent: Path) -> None:
    """`restore` alone is a question, not a command."""
    assert call("restore").exit_code == 2
