"""docs/memory.md: its program runs, and its table has every action of the tool."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from memory.builtin import BuiltinMemory, Operation
from memory.builtin.tool import SCHEMA

if TYPE_CHECKING:
    import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text(encoding="utf-8")


def test_the_program_runs(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HERMES_HOME", str(home))
    BuiltinMemory(home).apply([Operation(action="add", target="user", content="has an old nickname")])
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "docs/memory.md", "exec"), {})
    assert "add The deploy host is db-07\nremove" in capsys.readouterr().out


def test_every_action_is_in_the_table() -> None:
    named = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))))
    assert set(SCHEMA["parameters"]["properties"]["action"]["enum"]) <= named
