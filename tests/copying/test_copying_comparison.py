"""Digests are equal wherever the content lies, and a comparison names exactly what is not."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
import whole_store
from sqlalchemy import update

from hermes_state import schema
from hermes_state.copying import content
from hermes_state.copying.comparison import Change, Difference, differences
from hermes_state.copying.content import StoreContent
from hermes_state.copying.copy import copy_store
from hermes_state.copying.digest import digests
from hermes_state.errors import NotFound
from hermes_state.home import STORE_NAME
from hermes_state.portability.backup import backup
from hermes_state.portability.packs.pack import Wanted, pack
from hermes_state.portability.stored import content_of
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hermes_state.copying.digest import Digest


def digest_at(place: str | Path) -> Digest:
    with content_of(str(place)) as found:
        return digests(found).combined()


def compared(before: SessionDB, after: SessionDB) -> list[Difference]:
    with before.engine.read() as ours, after.engine.read() as theirs:
        return list(differences(StoreContent(ours), StoreContent(theirs)))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a store that has everything."""
    folder = tmp_path / "home"
    folder.mkdir()
    with SessionDB.open(home=folder) as db:
        whole_store.fill(db)
    return folder


def test_a_store_its_copy_and_its_backup_have_one_digest(home: Path, other_fresh: Callable[[], str]) -> None:
    place = other_fresh()
    with SessionDB.open(home=home) as db, SessionDB.open(place) as other:
        copy_store(db.engine, other.engine)
    backup(home, home.parent / "b.tar.zst")
    found = digest_at(home)
    assert found.messages > 0
    assert found.memories.items == 2
    assert found.facts.items == 3
    assert digest_at(home / STORE_NAME) == digest_at(place) == digest_at(home.parent / "b.tar.zst") == found


def test_a_pack_has_the_digest_of_its_sessions_and_memories(home: Path) -> None:
    pack(home, home.parent / "p.tar.zst", Wanted(everything=True))
    packed, found = digest_at(home.parent / "p.tar.zst"), digest_at(home)
    assert (packed.sessions, packed.messages, packed.memories) == (found.sessions, found.messages, found.memories)
    assert packed.facts.items == 0  # a pack carries none


def test_a_pack_of_a_store_without_facts_has_its_digest(tmp_path: Path) -> None:
    with SessionDB.open(home=tmp_path) as db:
        whole_store.add_conversation(db, "a", "שלום", "\ud800\0")
    pack(tmp_path, tmp_path / "p.tar.zst", Wanted(everything=True))
    assert digest_at(tmp_path / "p.tar.zst") == digest_at(tmp_path)


def test_the_digest_is_the_documented_one(source: SessionDB) -> None:
    source.sessions.create("a", source="cli", started_at=whole_store.NOON)
    source.messages.append("a", role="user", content="茶", created_at=whole_store.NOON)

    def sha(raw: bytes) -> bytes:
        return hashlib.sha256(raw).digest()

    at = b'"2026-01-01T12:00:00+00:00"'
    chain = sha(
        bytes(32) + b'{"content":"\\u8336","created_at":' + at + b',"position":0,"role":"user","type":"message"}'
    )
    line = {"id": "a", "messages": 1, "source": "cli", "started_at": json.loads(at), "type": "session"}
    session = sha(json.dumps(line, sort_keys=True, separators=(",", ":")).encode() + b"\n" + chain)
    whole = sha(b"hermes-state-content 1\n" + sha(session) + sha(b"") + sha(b"")).hex()
    with source.engine.read() as connection:
        assert digests(StoreContent(connection)).combined().digest == whole


def test_the_digest_does_not_depend_on_how_much_is_read_at_once(
    source: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_store.fill(source)
    with source.engine.read() as connection:
        whole = digests(StoreContent(connection))
        for sessions, rows in ((1, 1), (2, 2), (200, 3)):
            monkeypatch.setattr(content, "_SESSIONS", sessions)
            monkeypatch.setattr(content, "_FETCH", rows)
            assert digests(StoreContent(connection)) == whole


def test_a_backup_without_a_store_has_none(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("a: 1")
    backup(home, tmp_path / "b.tar.zst")
    with pytest.raises(NotFound, match="holds no"):
        digest_at(tmp_path / "b.tar.zst")


def test_equal_stores_have_no_difference(source: SessionDB, target: SessionDB) -> None:
    whole_store.fill(source)
    copy_store(source.engine, target.engine)
    assert compared(source, target) == []


def test_exactly_what_differs_is_named(source: SessionDB, target: SessionDB) -> None:
    whole_store.fill(source)
    whole_store.add_conversation(source, "gone", "x")
    copy_store(source.engine, target.engine)
    target.sessions.delete("gone")
    whole_store.add_conversation(target, "new", "x")
    target.sessions.update("root", cwd="/elsewhere")
    with target.engine.write() as connection:
        said = schema.messages.c
        root = connection.execute(
            schema.sessions.select().with_only_columns(schema.sessions.c.pk).where(schema.sessions.c.id == "root")
        ).scalar_one()
        at = (said.session_pk == root) & (said.position == 2)
        connection.execute(update(schema.messages).where(at).values(content="changed 変更"))
        connection.execute(update(schema.memories).where(schema.memories.c.id == "m1").values(content="likes chai"))
        connection.execute(update(schema.facts).where(schema.facts.c.pk == 6).values(trust=0.9))
        connection.execute(update(schema.entities).values(name="REDIS"))
    target.messages.append("new", role="user", content="more")
    assert compared(source, target) == [
        Difference(kind="session", name="gone", change=Change.REMOVED),
        Difference(kind="session", name="new", change=Change.ADDED),
        Difference(kind="session", name="root", change=Change.CHANGED, fields=("cwd",)),
        Difference(kind="message", name="root", position=2, change=Change.CHANGED, fields=("content",)),
        Difference(kind="memory", name="m1", change=Change.CHANGED, fields=("content",)),
        Difference(kind="entity", name="redis", change=Change.CHANGED, fields=("name",)),
        Difference(kind="fact", name="old", change=Change.CHANGED, fields=("trust",)),
    ]
