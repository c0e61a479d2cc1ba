"""`completion`: the scripts, and what they get to complete with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hermes_state.commands.completion import SHELLS, VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


@pytest.fixture
def complete(call: Call, monkeypatch: pytest.MonkeyPatch):
    """What fish would offer for a line that is being typed."""

    def offer(line: str) -> dict[str, str]:
        *_, word = line.split(" ")
        monkeypatch.setenv(VARIABLE, "fish_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", word)
        answer = call()
        assert answer.stderr == ""
        items = (item.split(",", 1)[1] for item in answer.stdout.splitlines() if item.startswith("plain,"))
        return {value: help_ for value, _, help_ in (item.partition("\t") for item in items)}

    return offer


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_its_script(call: Call, shell: str) -> None:
    answer = call("completion", shell)
    assert answer.exit_code == 0
    assert f"{VARIABLE}={shell}_complete" in answer.stdout
    assert call("completion", shell, "--json").json["install"]


def test_commands_options_and_choices(complete) -> None:
    assert complete("hermes-state se").keys() == {"search", "sessions"}
    assert "show" in complete("hermes-state sessions sh")
    assert "--older-than" in complete("hermes-state sessions prune --old")
    assert complete("hermes-state sessions list --order a").keys() == {"active"}
    assert complete("hermes-state completion z").keys() == {"zsh"}


def test_sessions_by_id_with_their_titles(complete, store: dict[str, str]) -> None:
    assert complete(f"hermes-state sessions show {store['deploy'][:8]}")[store["deploy"]] == "redis deploy"


def test_no_store_gives_no_suggestions_and_no_error(complete, home: Path) -> None:
    assert complete("hermes-state sessions show 2") == {}
    assert not home.exists()


def test_a_real_bash_completes(call: Call, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    program = tmp_path / "hermes-state"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from hermes_state.commands import main; main()' \"$@\"\n")
    program.chmod(0o755)
    script = "\n".join(
        (
            call("completion", "bash").stdout,
            "COMP_WORDS=(hermes-state sessions pru); COMP_CWORD=2",
            f"_hermes_state_completion {program}",
            'echo "${COMPREPLY[@]}"',
        )
    )
    ran = subprocess.run([bash, "--norc", "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["prune"], ran.stderr
