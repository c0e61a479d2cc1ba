"""The async edge."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hermes_state.aio import AsyncSessionDB
from hermes_state.errors import HandleUnusable, SessionNotFound

if TYPE_CHECKING:
    from pathlib import Path


def test_nouns_are_awaited(tmp_path: Path) -> None:
    """Every method of the store's nouns can be awaited, with the same records and the same errors."""

    async def use() -> None:
        async with await AsyncSessionDB.open(tmp_path / "store.db", synchronous="NORMAL") as db:
            session = await db.sessions.create(source="cli", title="水曜日")
            message = await db.messages.append(session.id, role="user", content="こんにちは")
            assert await db.messages.list(session.id) == [message]
            assert await db.run(lambda sync: sync.sessions.count()) == 1
            with pytest.raises(SessionNotFound):
                await db.sessions.get("nobody")
            with pytest.raises(AttributeError):
                db.sessions.no_such_method  # noqa: B018
        with pytest.raises(HandleUnusable):
            db.sync.sessions.count()

    asyncio.run(use())


def test_the_loop_goes_on_while_the_store_works(tmp_path: Path) -> None:
    """A task of the loop keeps running while searches are under way; a blocked loop would let it run never (B172)."""

    async def use() -> int:
        async with await AsyncSessionDB.open(tmp_path / "store.db", synchronous="NORMAL") as db:
            session = await db.sessions.create(source="cli")
            texts = [{"role": "user", "content": f"alpha beta gamma {number} " * 20} for number in range(2000)]
            await db.messages.append_many(session.id, texts)
            searches = [
                asyncio.ensure_future(db.run(lambda sync: sync.search.messages("alpha gamma"))) for _ in range(20)
            ]
            beats = 0
            while not all(search.done() for search in searches):
                await asyncio.sleep(0.001)
                beats += 1
            assert [len(hits) for hits in await asyncio.gather(*searches)] == [20] * 20
            return beats

    assert asyncio.run(use()) >= 5
