"""The async edge: the same store, with its work done in threads so that an event loop never waits on SQLite.

    async with await AsyncSessionDB.open() as db:
        session = await db.sessions.create(source="cli")
        await db.messages.append(session.id, role="user", content="hello")
        hits = await db.run(lambda sync: sync.search.messages("hello"))

There is no second implementation: every call runs the synchronous method in a worker thread. SQLite releases the
interpreter lock while it works, and reads take connections of their own, so calls run side by side.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

_T = TypeVar("_T")
# Threads per store: enough for a few slow searches beside the one writer, few enough to stay fair to the loop.
THREADS = 8


class AsyncNoun:
    """A noun of the store whose methods are awaited: `await db.sessions.get(id)`."""

    def __init__(self, noun: object, submit: Callable[[Callable[[], Any]], Awaitable[Any]]) -> None:
        self._noun = noun
        self._submit = submit

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._noun, name)
        if not callable(method):
            raise AttributeError(f"{name!r} is not a method of {type(self._noun).__name__}")  # noqa: TRY004  getattr's own

        def call(*args: Any, **kwargs: Any) -> Awaitable[Any]:
            return self._submit(partial(method, *args, **kwargs))

        return call


class AsyncSessionDB:
    """An open store for asyncio. `db.sessions`, `db.messages`, … have the methods of `SessionDB`'s nouns, awaited."""

    def __init__(self, db: SessionDB) -> None:
        self.sync = db
        self._executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="hermes-state")

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Open a store; arguments and errors as `SessionDB.open`."""
        return cls(await asyncio.to_thread(partial(SessionDB.open, *args, **kwargs)))

    async def run(self, work: Callable[[SessionDB], _T]) -> _T:
        """Run a function of the store in a thread; several calls in it are one trip."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, self.sync)

    def __getattr__(self, name: str) -> AsyncNoun:
        return AsyncNoun(getattr(self.sync, name), self._call)

    async def _call(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def close(self) -> None:
        """Wait for calls under way, then close the store."""
        await asyncio.to_thread(self._executor.shutdown)
        await asyncio.to_thread(self.sync.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
