"""`docs/cli.md` leaves no command out, and has none of other packages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from test_commands_frame import COMMANDS

from hermes_state.commands.reference import reference, registered, shapes_of
from hermes_state.commands.registry import OURS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PLACES = OURS | registered()


def test_every_command_has_a_section() -> None:
    headings = re.findall(r"^##+ (.*)$", reference(), re.MULTILINE)
    assert [name for name in map(" ".join, COMMANDS) if name not in headings] == []


def test_every_command_has_its_json() -> None:
    shapes = {key.partition(" --")[0] for key in shapes_of(PLACES)}
    leaves = {" ".join(path) for path, command in COMMANDS.items() if not isinstance(command, click.Group)}
    assert leaves == shapes


def test_what_else_is_installed_is_not_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "stranger-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[hermes_state.commands]\nstranger = stranger.commands:main\n")
    before = reference()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert registered().keys() == {"chat", "memory"}
    assert reference() == before
