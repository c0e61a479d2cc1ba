"""Revisions made for a test, in a folder of its own, and stores to run them on."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from hermes_state import migrate
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEMPLATE = '''"""{name}."""

from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
    {body}
'''


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The path of a closed store with a session of two messages, at the current head."""
    path = tmp_path / "home" / "hermes_state.db"
    with SessionDB.open(path) as db:
        db.sessions.create("s", source="cli", title="before")
        db.messages.append_many("s", [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}])
    return path


@pytest.fixture
def add_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Add a revision after the newest one; its body is one Python statement. Returns its name, the new head."""
    folder = tmp_path / "revisions"
    shutil.copytree(migrate.scripts_dir(), folder)
    monkeypatch.setattr(migrate, "scripts_dir", lambda: folder)

    def add(body: str) -> str:
        before = migrate.HEAD
        revision = f"{int(before) + 1:04}"
        text = TEMPLATE.format(name=f"revision {revision}", revision=revision, before=before, body=body)
        (folder / "versions" / f"{revision}_for_a_test.py").write_text(text)
        monkeypatch.setattr(migrate, "HEAD", revision)
        return revision

    return add
