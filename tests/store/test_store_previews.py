"""How a conversation began, for a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.listing import PREVIEW_CHARS

if TYPE_CHECKING:
    from hermes_state.store import SessionDB


def test_a_preview_shows_the_words_of_a_multimodal_message(db: SessionDB) -> None:
    session = db.sessions.create(source="cli")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    db.messages.append(session.id, role="user", content=[image, {"type": "text", "text": "看这张\n图"}])
    db.messages.append(session.id, role="user", content="and then?")
    assert db.sessions.previews([session.id]) == {session.id: "看这张 图"}


def test_a_preview_of_a_long_packed_text_is_its_start(db: SessionDB) -> None:
    session = db.sessions.create(source="cli")
    db.messages.append(session.id, role="user", content="the same words again " * 500)
    preview = db.sessions.previews([session.id])[session.id]
    assert preview.startswith("the same words again the same")
    assert len(preview) <= PREVIEW_CHARS


def test_what_has_no_words_has_no_preview(db: SessionDB) -> None:
    """An image alone, white space, or no user message at all."""
    session = db.sessions.create(source="cli")
    db.messages.append(session.id, role="user", content=[{"type": "image_url", "image_url": {"url": "data:,"}}])
    empty = db.sessions.create(source="cli")
    assert db.sessions.previews([session.id, empty.id]) == {}


def test_previews_of_more_sessions_than_one_query_may_name(db: SessionDB) -> None:
    """SQLite takes at most 32,766 values in a statement."""
    session = db.sessions.create(source="cli")
    db.messages.append(session.id, role="user", content="hello")
    ids = [*(f"nobody-{n}" for n in range(33_000)), session.id]
    assert db.sessions.previews(ids) == {session.id: "hello"}
