"""Relocation hints: a restore elsewhere knows every absolute path beforehand, moves what it can, lists the rest."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from homes import make_home

from hermes_state.portability import hints
from hermes_state.portability.backup import Wanted, backup
from hermes_state.portability.policy import Policy
from hermes_state.portability.restore import plan, restore


@pytest.fixture
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ann's home, with folders of hers that it mentions."""
    user = tmp_path / "home/ann"
    monkeypatch.setenv("HOME", str(user))
    home = make_home(user / ".hermes")
    (user / "work/深").mkdir(parents=True)
    (home / "config.yaml").write_text(
        f"terminal:\n  cwd: {user}/work/深   # mine\n  home: {home}\nother: /nowhere/at/all\n"
        f"windows: C:\\Users\\ann\nprose: |\n  look into {user}/work\n"
    )
    with sqlite3.connect(home / "state.db") as db:
        db.execute("UPDATE sessions SET cwd = ? WHERE id = 's1'", (f"{user}/work/深",))
        db.execute("UPDATE sessions SET cwd = ? WHERE id = 's2'", (f"{user}/gone",))
    db.close()
    return home


def bob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another machine: ann's folders are not there, and Bob has a folder of the same name."""
    (tmp_path / "home/ann").rename(tmp_path / "far-away")
    (tmp_path / "home/bob/work/深").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home/bob"))
    return tmp_path / "home/bob/.hermes"


def test_the_manifest_tells_paths_of_settings_and_stores(ann: Path, tmp_path: Path) -> None:
    """With where they stand; the user's home folder and the platform too."""
    facts = backup(ann, tmp_path / "b.tar.zst").manifest.facts
    user = ann.parent
    found = {(item["path"], item["key"], item["value"]) for item in facts["relocation"]}
    assert found >= {
        ("home/config.yaml", "terminal.cwd", f"{user}/work/深"),
        ("home/config.yaml", "other", "/nowhere/at/all"),
        ("home/config.yaml", "windows", "C:\\Users\\ann"),
        ("home/state.db", "sessions.cwd", f"{user}/gone"),
    }
    assert not [key for _, key, _ in found if key == "prose"]
    assert facts["origin"]["home"] == str(user)


def test_what_was_taken_out_is_not_told(ann: Path, tmp_path: Path) -> None:
    """A secret that looks like a path stays out of the manifest as well."""
    (ann / "config.yaml").write_text("model:\n  api_key: /secret/path\n  cwd: /work\n")
    facts = backup(ann, tmp_path / "b.tar.zst", Wanted(secrets=Policy.EXCLUDE)).manifest.facts
    assert "/secret/path" not in str(facts)
    assert "/work" in {item["value"] for item in facts["relocation"]}


def test_another_user(ann: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is below Bob's home folder too leads there; the rest is listed; a plan says the same before."""
    backup(ann, tmp_path / "b.tar.zst")
    old = ann.parent
    home = bob(tmp_path, monkeypatch)
    told, done = plan(tmp_path / "b.tar.zst", home), restore(tmp_path / "b.tar.zst", home)
    config = (home / "config.yaml").read_text()
    assert f'cwd: "{home.parent}/work/深"   # mine' in config
    assert f"look into {old}/work" in config
    for result in (told, done):
        moved = {(item.path, item.key, item.new) for item in result.moved}
        assert moved >= {
            ("config.yaml", "terminal.cwd", f"{home.parent}/work/深"),
            ("config.yaml", "terminal.home", str(home)),
            ("state.db", "sessions.cwd", f"{home.parent}/work/深"),
        }
        assert {*result.missing} >= {
            ("config.yaml", "other", "/nowhere/at/all"),
            ("config.yaml", "windows", "C:\\Users\\ann"),
            ("state.db", "sessions.cwd", f"{old}/gone"),
        }
    db = sqlite3.connect(home / "state.db")
    assert db.execute("SELECT cwd FROM sessions WHERE id = 's1'").fetchone() == (f"{home.parent}/work/深",)
    db.close()


def test_hints_of_a_stranger_can_not_hurt() -> None:
    """A manifest may say anything; moves lead below this user's home folder only."""
    wild = {"relocation": [5, {}, {"path": 1, "key": "k", "value": "v"}, {"path": "a", "key": "b", "value": "/x/../y"}]}
    assert [hint.value for hint in hints.of_manifest(wild)] == ["/x/../y"]
    assert hints.of_manifest({"relocation": "x", "databases": []}) == []
    found = hints.of_manifest(wild | {"databases": {"a": {}}})
    assert hints.moves(found, "/x", Path.home()) == {}
    assert hints.moves(found, "/", Path.home()) == {}
