"""Runs of the command line inside the test's process, and a home with something in it."""

from __future__ import annotations

import io
import json
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from hermes_state import SessionDB
from hermes_state.commands import run
from hermes_state.home import STORE_NAME

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class CallResult:
    """What one run gave."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Stdout as the one JSON document it has to be."""
        return json.loads(self.stdout)

    @property
    def error(self) -> dict[str, Any]:
        """The error of a `--json` run."""
        found: dict[str, Any] = json.loads(self.stderr.splitlines()[-1])["error"]
        return found

    @property
    def events(self) -> list[dict[str, Any]]:
        """What a `--json` run told on stderr while it worked."""
        lines = map(json.loads, self.stderr.splitlines())
        return [line for line in lines if "error" not in line]


class Call(Protocol):
    """The `call` fixture."""

    def __call__(
        self, *args: str, stdin: str = "", terminal: bool = False, encoding: str = "utf-8", home: Path | None = None
    ) -> CallResult: ...


class _Stream(io.TextIOWrapper):
    """A standard stream in memory."""

    def __init__(self, encoding: str, *, terminal: bool, content: bytes = b"") -> None:
        self.bytes = io.BytesIO(content)
        self._terminal = terminal
        super().__init__(self.bytes, encoding=encoding, newline="" if content == b"" else None, write_through=True)

    def isatty(self) -> bool:
        return self._terminal

    def text(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode(self.encoding)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home that `call` uses; empty."""
    return tmp_path / "agent-home"


@pytest.fixture
def call(home: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run the command line on the test's home: `call("sessions", "list", "--json").json`."""
    default_home = home

    def invoke(
        *args: str, stdin: str = "", terminal: bool = False, encoding: str = "utf-8", home: Path | None = None
    ) -> CallResult:
        out, err = _Stream(encoding, terminal=terminal), _Stream(encoding, terminal=terminal)
        with monkeypatch.context() as patch:
            patch.setenv("HERMES_HOME", str(home or default_home))
            patch.setattr(sys, "stdin", _Stream("utf-8", terminal=terminal, content=stdin.encode()))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = run(args)
        return CallResult(code, out.text(), err.text())

    return invoke


SPOKEN = {
    "deploy": ("cli", "redis deploy", ["请把 redis 升级到 7.2", "Done: redis runs 7.2 now."]),
    "arabic": ("telegram", None, ["مرحبا، كيف حال الخادم db-07 اليوم؟", "الخادم يعمل جيدا."]),
    "report": ("cron", "日次レポート", ["この設定ファイルは古い"]),
}


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A store with three conversations, made once; names to session ids."""
    folder = tmp_path_factory.mktemp("template")
    ids: dict[str, str] = {}
    with SessionDB.open(home=folder) as db:
        for n, (name, (source, title, texts)) in enumerate(SPOKEN.items()):
            started = datetime(2026, 1, n + 1, 9, tzinfo=UTC)
            session = db.sessions.create(source=source, title=title, model="glm-4.6", started_at=started)
            roles = ("user", "assistant")
            db.messages.append_many(
                session.id,
                [
                    {"role": roles[i % 2], "content": text, "created_at": started.replace(minute=i)}
                    for i, text in enumerate(texts)
                ],
            )
            ids[name] = session.id
    return folder / STORE_NAME, ids


@pytest.fixture
def store(home: Path, template: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """Three conversations in the home; names to session ids."""
    file, ids = template
    home.mkdir(mode=0o700)
    shutil.copy2(file, home)
    return dict(ids)
