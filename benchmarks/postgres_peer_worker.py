"""Peers on PostgreSQL as benchmark workers, each run by an interpreter of its own environment.

    PEER/bin/python -I benchmarks/postgres_peer_worker.py SEED agents       # openai-agents[sqlalchemy]
    PEER/bin/python -I benchmarks/postgres_peer_worker.py SEED langgraph    # langgraph-checkpoint-postgres

Then requests on stdin. Both are used as their manuals show: a session's `add_items` with one item; a checkpoint of the
conversation after each message.
"""

from __future__ import annotations

import asyncio
import os
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.operations import Operations
from harness.serving import serve

if TYPE_CHECKING:
    from corpus import Message, Session


def _item(message: Message) -> dict[str, Any]:
    item: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        item["tool_calls"] = message.calls_json()
    if message.tool_call_id is not None:
        item |= {"tool_call_id": message.tool_call_id, "name": message.tool_name}
    return item


class AgentsSession:
    """`SQLAlchemySession` of openai-agents, through asyncpg."""

    def __init__(self) -> None:
        os.environ.setdefault("OPENAI_API_KEY", "none")
        self.sqlite_version = f"openai-agents {metadata.version('openai-agents')}"
        self._loop = asyncio.new_event_loop()
        self._engine: Any = None
        self._sessions: dict[str, Any] = {}

    def open(self, path: str, synchronous: str) -> None:
        """An engine for all sessions."""
        from sqlalchemy.ext.asyncio import create_async_engine

        commit = {"synchronous_commit": "on" if synchronous == "FULL" else "off"}
        url = path.replace("+psycopg", "+asyncpg")
        self._engine = create_async_engine(url, connect_args={"server_settings": commit})

    def close(self) -> None:
        """Close the engine."""
        self._loop.run_until_complete(self._engine.dispose())

    def create(self, session: Session) -> str:
        """A session object; its row is made by the first message."""
        from agents.extensions.memory import SQLAlchemySession

        self._sessions[session.id] = SQLAlchemySession(session.id, engine=self._engine, create_tables=True)
        return session.id

    def append(self, session_id: str, message: Message) -> None:
        """One item."""
        self._loop.run_until_complete(self._sessions[session_id].add_items([_item(message)]))

    def settle(self) -> None:
        """Nothing runs in the background."""


class Checkpoints:
    """`PostgresSaver` of langgraph: a checkpoint after each message, with the conversation in it."""

    def __init__(self) -> None:
        name = "langgraph-checkpoint-postgres"
        self.sqlite_version = f"{name} {metadata.version(name)}"
        self._connection: Any = None
        self._saver: Any = None
        self._states: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}

    def open(self, path: str, synchronous: str) -> None:
        """Connect and make the tables."""
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg import Connection
        from psycopg.rows import dict_row

        url = path.replace("+psycopg", "")
        self._connection = Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row)
        self._connection.execute(f"SET synchronous_commit = {'on' if synchronous == 'FULL' else 'off'}")
        self._saver = PostgresSaver(self._connection)
        self._connection.execute("SELECT pg_advisory_lock(2)")
        self._saver.setup()
        self._connection.execute("SELECT pg_advisory_unlock(2)")

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def create(self, session: Session) -> str:
        """A thread without checkpoints."""
        self._states[session.id] = ({"configurable": {"thread_id": session.id, "checkpoint_ns": ""}}, [])
        return session.id

    def append(self, session_id: str, message: Message) -> None:
        """The checkpoint after this message."""
        from langgraph.checkpoint.base import empty_checkpoint

        config, messages = self._states[session_id]
        messages.append(_item(message))
        version = f"{len(messages):032}.0"
        checkpoint = empty_checkpoint() | {
            "channel_values": {"messages": messages},
            "channel_versions": {"messages": version},
        }
        step = {"source": "loop", "step": len(messages), "writes": {}, "parents": {}}
        after = self._saver.put(config, checkpoint, step, {"messages": version})
        self._states[session_id] = (after, messages)

    def settle(self) -> None:
        """Nothing runs in the background."""


if __name__ == "__main__":
    store = {"agents": AgentsSession, "langgraph": Checkpoints}[sys.argv[2]]()
    serve(Operations(store, int(sys.argv[1])))  # type: ignore[arg-type]  # they can't search, and are not asked to
