"""What is read of providers that print, fail to load, or are configured wrongly: said once, on stderr."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from memory.commands.plugin_output import plugin_output_on_stderr
from memory.errors import ProviderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memory.manager import MemoryManager

    Manage = Callable[..., MemoryManager]

_PRINTING = """
print("noise at the import")
from memory.provider import MemoryProvider


class Loud(MemoryProvider):
    name = "loud"

    def is_available(self):
        print("noise of is_available")
        return True

    def initialize(self, session_id, **kwargs): ...

    def get_tool_schemas(self):
        print("noise of get_tool_schemas")
        return []
"""


_MAIN = "from hermes_state.commands import main; main()"


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _MAIN, "--home", str(home), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


def test_other_threads_print_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with plugin_output_on_stderr():
        thread = threading.Thread(target=print, args=("噪音",))
        thread.start()
        thread.join()
        print("data")
    assert capsys.readouterr() == ("data\n", "噪音\n")


def test_what_a_plug_in_prints_is_not_in_the_json(home: Path) -> None:
    folder = home / "plugins" / "loud"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(_PRINTING)
    used = run(home, "memory", "use", "loud", "--json")
    assert json.loads(used.stdout)["providers"] == ["loud"]
    seen = run(home, "memory", "status", "--json")
    assert json.loads(seen.stdout)["works"] is True
    assert "noise at the import" in seen.stderr


class Absent:
    def load(self, name: str) -> object:
        raise ProviderUnavailable(name, "it is not there")


def test_that_a_provider_is_not_used_is_said_once(manage: Manage, caplog: pytest.LogCaptureFixture) -> None:
    manager = manage(provider="gone", start=False)
    with caplog.at_level(logging.WARNING):
        manager.add_configured(Absent())
    (notice,) = manager.notices()
    assert notice == "memory: gone is not used: it is not there. See `hermes-state memory status`."
    assert [record.getMessage() for record in caplog.records] == [notice]


@pytest.mark.parametrize(
    "text", ["x: !!python/object/apply:os.getcwd []\n", "memory: [1]\n", "- a\n", "memory:\n\tx: 1\n"]
)
def test_a_configuration_that_is_not_understood_is_not_changed(home: Path, text: str) -> None:
    path = home / "config.yaml"
    path.write_text(text)
    done = run(home, "memory", "use", "off")
    assert done.returncode == 19
    assert "hint:" in done.stderr
    assert path.read_text() == text


def test_a_configuration_in_another_encoding_says_what_to_do(home: Path) -> None:
    (home / "config.yaml").write_bytes("memory:\n  provider: é\n".encode("latin-1"))
    done = run(home, "memory", "status")
    assert "save it as UTF-8" in done.stderr


def test_what_is_wrong_with_a_setting_is_said_once(home: Path) -> None:
    (home / "config.yaml").write_text("memory:\n  zzz: 1\n")
    assert run(home, "memory", "status").stderr.count("memory.zzz") == 1
