"""The README tells the truth: its commands print what it shows, its Python runs, its `make` targets exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def readme(monkeypatch: pytest.MonkeyPatch):
    """The module that runs the README's commands."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import readme

    return readme


def test_every_output_is_what_the_command_prints(readme, tmp_path: Path) -> None:
    """`make docs` writes them anew."""
    readme.write(tmp_path)
    assert readme.SIZE.sub("SIZE", readme.refreshed(README, tmp_path)) == readme.SIZE.sub("SIZE", README)


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_the_python_runs(code: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"HERMES_HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "升级" in ran.stdout


@pytest.mark.parametrize("target", sorted(set(re.findall(r"make ([a-z]+)", README))))
def test_the_make_targets_exist(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_linked_pages_are_there() -> None:
    missing = [link for link in re.findall(r"\]\(([\w./-]+)\)", README) if not (ROOT / link).exists()]
    assert missing == []
