"""Homes for the tests of backups and restores, and what they look like as a whole."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import peer_database

from hermes_state import SessionDB
from hermes_state.portability.databases import SIDECARS


def make_home(home: Path, word: str = "redis") -> Path:
    """A small home with everything a home has: both stores, settings, secrets, skills, a profile, links, odd names."""
    home.mkdir(mode=0o700, parents=True)
    files = {
        "config.yaml": f"# mine\nmodel:\n  api_key: sk-test-{word}  # a comment\nterminal:\n  cwd: {home}/work\n",
        ".env": f"TOKEN=secret-{word}\n",
        "SOUL.md": f"I am {word}.\n",
        "memories/MEMORY.md": f"likes {word}\n§\n升级\n",
        "skills/deploy/SKILL.md": "# deploy\n",
        "skills/deploy/run.sh": "#!/bin/sh\n",
        "profiles/work/.env": "A=b\n",
        "profiles/work/config.yaml": "model: {}\n",
        "odd/\udcff\n": "odd",
    }
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (home / "empty").mkdir()
    (home / "skills/deploy/run.sh").chmod(0o755)
    (home / "skills/link").symlink_to("deploy/SKILL.md")
    (home / "gone").symlink_to("nowhere")
    peer_database.make(home / "state.db")
    peer_database.make(home / "profiles/work/state.db", messages=3)
    with SessionDB.open(home / "hermes_state.db", synchronous="NORMAL") as db:
        session = db.sessions.create(source="cli", title=word)
        db.messages.append_many(session.id, [{"role": "user", "content": f"{word} {n} 数据库"} for n in range(5)])
    return home


def look(home: Path) -> dict[str, object]:
    """What a home holds: texts, link targets, rows of databases. Equal for homes that are the same to their user."""
    found: dict[str, object] = {}
    for folder, folders, names in os.walk(home):
        for name in [*folders, *names]:
            path = Path(folder, name)
            key = str(path.relative_to(home))
            if path.is_symlink():
                found[key] = ("link", str(path.readlink()))
            elif path.is_dir():
                found[key] = "folder"
            elif name.endswith(".db"):
                found[key] = rows(path)
            elif not name.endswith((*SIDECARS, ".db.lock")):  # neither is part of what a home holds
                found[key] = path.read_bytes()
    return found


def rows(path: Path) -> dict[str, object]:
    """The rows of every ordinary table of a database, with none of the full-text indexes."""
    db = sqlite3.connect(path)
    try:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in names if "fts" not in name and "index" not in name and name != "store_state"]
        return {name: sorted(map(repr, db.execute(f'SELECT * FROM "{name}"').fetchall())) for name in kept}
    finally:
        db.close()


def mode(path: Path) -> int:
    """Permission bits."""
    return stat.S_IMODE(path.lstat().st_mode)
