"""What a home's memory providers keep outside of it goes into its backups, as they name it themselves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from homes import look, make_home

from hermes_state.portability.backup import backup
from hermes_state.portability.diff import of_archive
from hermes_state.portability.merge import merge
from hermes_state.portability.packs.pack import Wanted, pack
from hermes_state.portability.packs.unpack import unpack
from hermes_state.portability.restore import restore
from hermes_state.portability.verify import Verdict, verify
from memory.backup_paths import backup_paths

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = """
from memory.provider import MemoryProvider

class Provider(MemoryProvider):
    name = "{name}"
    def is_available(self): return True
    def initialize(self, session_id, **kwargs): raise RuntimeError("a backup starts nothing")
    def get_tool_schemas(self): return []
    def backup_paths(self): {body}

def register(context):
    context.register_memory_provider(Provider())
"""


def plugin(home: Path, name: str, body: str) -> None:
    """A provider in a home, chosen by its settings."""
    folder = home / "plugins" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(PLUGIN.format(name=name, body=body))
    (folder / "plugin.yaml").write_text(f"name: {name}\nkind: memory\n")
    (home / "config.yaml").write_text(f"memory:\n  provider: {name}\n")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in the home folder of its user."""
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    return make_home(tmp_path / "ann/.hermes")


def test_a_provider_is_asked(home: Path, tmp_path: Path) -> None:
    """Of the home and of a profile; it is not started."""
    for name in (".cellar", ".attic"):
        (home.parent / name).mkdir()
        (home.parent / name / "facts.json").write_text("{}")
    plugin(home, "cellar", f"return [{str(home.parent / '.cellar')!r}, '/etc/hosts']")
    plugin(home / "profiles/work", "attic", f"return [{str(home.parent / '.attic/facts.json')!r}]")
    report = backup(home, tmp_path / "b.tar.zst")
    members = of_archive(tmp_path / "b.tar.zst").states
    assert {"external/.cellar/facts.json", "external/.attic/facts.json"} <= {*members}
    assert [item["path"] for item in report.written.report.facts["external_refused"]] == ["/etc/hosts"]


def test_a_provider_that_fails_is_named(home: Path, tmp_path: Path) -> None:
    """The backup is made, and says whose paths it does not know."""
    plugin(home, "broken", "raise RuntimeError('no cellar')")
    report = backup(home, tmp_path / "b.tar.zst")
    (refused,) = report.written.report.facts["external_refused"]
    assert "broken" in refused["reason"]
    assert "no cellar" in refused["reason"]


def test_a_provider_that_hangs_is_left_behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a deadline."""
    plugin(home, "slow", "import threading; threading.Event().wait(30)")
    monkeypatch.setattr("memory.backup_paths.DEADLINE_S", 0.2)
    with pytest.raises(Exception, match="slow: it has not answered"):
        list(backup_paths(home))


# --- names as long as file systems take them ------------------------------------------------------------------------

LONGEST = ["n" * 255, "名" * 85, "ا" * 127, "🦊" * 63, "é" * 127]


@pytest.mark.parametrize("name", LONGEST, ids=["latin", "cjk", "arabic", "emoji", "accents"])
def test_names_of_255_bytes(home: Path, tmp_path: Path, name: str) -> None:
    """As file, as skill, as link, as the archive's and the home's own name; through every verb that writes."""
    (home / "skills" / name).mkdir()
    (home / "skills" / name / name).write_text(name)
    (home / "skills/to").symlink_to(name)
    archive = tmp_path / (os.fsencode(name)[:238].decode("utf-8", "ignore") + ".tar.zst")
    backup(home, archive)
    assert verify(archive).verdict is Verdict.SOUND
    target = tmp_path / name
    restore(archive, target)
    assert (target / "skills" / name / name).read_text() == name
    (target / "skills" / name / name).unlink()
    assert merge(archive, target).files == [f"skills/{name}/{name}"]
    pack(home, tmp_path / "p.tar.zst", Wanted(everything=True))
    unpack(tmp_path / "p.tar.zst", tmp_path / "other")
    assert look(tmp_path / "other")[f"skills/{name}/{name}"] == name.encode()
