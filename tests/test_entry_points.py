"""What packages advertise is found as `importlib.metadata` finds it, without its import."""

from __future__ import annotations

import os
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING

from hermes_state import entry_points

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

GROUP = "hermes_state.testing"
TEXT = f"""[console_scripts]
x = y:z

[{GROUP}]
# a comment
one = os.path:join
two = os [extra]
not a point
[other]
three = os
"""


def package(folder: Path, name: str, text: str) -> None:
    info = folder / name
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(text)


def test_what_is_advertised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "site", "some_thing-1.0.dist-info", TEXT)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    one, two = entry_points.of_group(GROUP)
    assert (one.name, one.load()) == ("one", os.path.join)
    assert (two.name, two.place, two.load()) == ("two", "os", os)


def test_a_package_that_is_there_twice_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first on the path is the one that would be imported; two packages may use the same name."""
    package(tmp_path / "later", "Some.Thing-2.0.dist-info", f"[{GROUP}]\nold = os\n")
    package(tmp_path / "later", "another-2.0.egg-info", f"[{GROUP}]\none = sys\n")
    package(tmp_path / "first", "some_thing-1.0.dist-info", f"[{GROUP}]\none = os\n")
    for folder in ("later", "first"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    assert entry_points.of_group(GROUP) == [("one", "os"), ("one", "sys")]


def test_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("packed-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: packed\nVersion: 1.0\n")
        archive.writestr("packed-1.0.dist-info/entry_points.txt", TEXT)
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    assert [point.name for point in entry_points.of_group(GROUP)] == ["one", "two"]


def test_what_is_installed_here() -> None:
    """The same as the standard library says."""
    for group in ("hermes_state.commands", "hermes_state.backup_paths", "pytest11"):
        expected = {(point.name, point.value) for point in metadata.entry_points(group=group)}
        assert {(point.name, point.place) for point in entry_points.of_group(group)} == expected
