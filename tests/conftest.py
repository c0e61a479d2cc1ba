"""Every test starts from the same world: no settings of the person who runs it, and a home that is not theirs."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from hermes_state.engine.driver import newest_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

# What could change what the code under test prints or where it looks.
_SETTINGS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PAGER", "LESS", "PYTHONIOENCODING", "TERM")


def pytest_report_header() -> str:
    """The SQLite that everything below ran on."""
    return newest_driver().describe()


@pytest.fixture(autouse=True)
def _hermetic(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    for name in [*_SETTINGS, *(name for name in os.environ if name.startswith("HERMES_"))]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    host = sys.modules.get("memory.host")  # a plug-in that was loaded leaves the import names it expects
    for home in [place for place, _ in host._installed] if host else []:
        host.uninstall(home)
    monkeypatch.undo()
    time.tzset()
