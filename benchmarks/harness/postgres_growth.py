"""Many stores of short messages on PostgreSQL that grow tenfold, and a database of the time before to compare with.

The texts are the corpus's, cut to a dozen words around what the queries look for, so that ten million messages take
minutes and some gigabytes. One store is filled through the public interface, with our segmentation; its rows are
multiplied by the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import corpus
import psycopg

from harness.postgres_store import Multiplied

if TYPE_CHECKING:
    from corpus import Corpus

    from hermes_state import SessionDB

#: Words and characters that are kept of a text.
_WORDS, _CHARS = 12, 100
_NEEDLES = (corpus.RARE_WORD, corpus.PHRASE, corpus.PREFIX_STEM, corpus.HAN_QUAD, corpus.HAN_PAIR)
#: Ids between two copies of the store.
_ROOM = 1_000
_TENANTS = """
INSERT INTO stores (name) SELECT 'tenant-' || n FROM generate_series(1, %s) AS n
"""
_STATES = """
INSERT INTO store_state (store, id, store_id, created_at, id_floor, counted_through, indexed_through)
SELECT number, 1, gen_random_uuid()::text, 0, 0, 0, 0 FROM stores WHERE name LIKE 'tenant-%'
"""
_NUMBERS = "SELECT number FROM stores WHERE name LIKE 'tenant-%' ORDER BY number"


def short(text: str) -> str:
    """A dozen words of a text, from the first thing on that is looked for."""
    found = [place for place in map(text.find, _NEEDLES) if place >= 0]
    return " ".join(text[min(found, default=0) :].split(maxsplit=_WORDS)[:_WORDS])[:_CHARS]


def fill(db: SessionDB, source: Corpus, count: int) -> int:
    """Store the first so many messages of the corpus, cut short, and index them; the bytes of their texts."""
    size = 0
    for session in source.sessions(messages=count):
        texts = [short(message.content) for message in session.messages]
        told = [{"role": m.role, "content": text} for m, text in zip(session.messages, texts, strict=True)]
        db.sessions.create(session.id, source=session.source, title=session.title)
        db.messages.append_many(session.id, told)
        size += sum(len(text.encode()) for text in texts)
    db.search.index.catch_up()
    return size


class Tenants:
    """Stores with copies of the rows of one.

    Args:
        connection: a superuser's.
        source: the number of the store that is copied.
        count: how many stores.
    """

    def __init__(self, connection: psycopg.Connection, source: int, count: int, each: int) -> None:
        connection.execute(_TENANTS, (count,))
        connection.execute(_STATES)
        self._numbers = [int(row[0]) for row in connection.execute(_NUMBERS)]
        self._rounds = 0
        self._source = source
        self._multiplied = Multiplied(connection)
        self._multiplied.by = each + _ROOM

    def move(self, connection: psycopg.Connection) -> None:
        """Go on with another connection."""
        self._multiplied.connection = connection

    def grow(self, rounds: int) -> None:
        """Give each store so many further copies, one round of all stores after another."""
        count = len(self._numbers)
        first = self._rounds * count + 1
        copies = [(self._numbers[place % count], first + place) for place in range(rounds * count)]
        self._rounds += rounds
        self._multiplied.grow(copies, self._source)


def clone(connection: psycopg.Connection, name: str) -> psycopg.Connection:
    """Copy the database that a superuser is connected to. The connection is closed, and another one given back."""
    dsn, dbname = connection.info.dsn, connection.info.dbname
    connection.close()
    with psycopg.connect(dsn, dbname="postgres", autocommit=True) as other:
        other.execute(f'CREATE DATABASE "{name}" TEMPLATE "{dbname}" OWNER hermes STRATEGY file_copy')
    return psycopg.connect(dsn, autocommit=True)
