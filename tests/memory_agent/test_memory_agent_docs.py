"""docs/agent.md: its program talks with a model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from endpoint import Endpoint, says

if TYPE_CHECKING:
    import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "agent.md").read_text(encoding="utf-8")


def test_the_program_runs(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands there, but for the address of the endpoint."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text("memory: {nudge_interval: 0, flush_min_turns: 0}\n")
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    endpoint.scenes.append(says("Tofu, and 乌龙茶 with it."))
    exec(program.replace("http://localhost:11434/v1", endpoint.url), {})
    assert capsys.readouterr().out == "Tofu, and 乌龙茶 with it.\n"
