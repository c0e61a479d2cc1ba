"""Large stores on PostgreSQL in minutes: a store built through our interface, its rows multiplied by the server.

The copies differ in ids, titles and times, not in texts: words are as frequent as in the store that was built, lists of
the index as long as in a store of that size.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy.engine import make_url

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Microseconds between the copies of a message.
APART_US = 1_000_000
_INDEX = "ix_message_index_lexemes"
_ZONE = 32_768
#: Columns that differ in a copy; in both cases {k} is the number of the copy, {by} how many ids lie between two copies.
_SHIFTED = {
    "sessions": {
        "pk": "pk + {k} * {by}",
        "id": "id || '-' || {k}",
        "title": "title || ' x' || {k}",
        "conversation_pk": "conversation_pk + {k} * {by}",
        "parent_pk": "parent_pk + {k} * {by}",
        "last_active_at": "last_active_at + {k} * {apart}",
    },
    "messages": {
        "id": "id + {k} * {by}",
        "session_pk": "session_pk + {k} * {by}",
        "created_at": "created_at + {k} * {apart}",
    },
    "message_index": {"id": "id + {k} * {by}", "zone": "{zone}"},
}
_COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position
"""
_ZONES = """
INSERT INTO message_index_zones (store, zone, first_id, documents, tokens)
SELECT store, zone, CASE WHEN zone = 0 THEN 0 ELSE min(id) END, count(*), sum(words)
FROM message_index WHERE part <= 1 GROUP BY 1, 2
"""
_INDEX_ZONES = """
INSERT INTO index_zones (store, first_id, last_id, min_created_at, max_created_at)
SELECT store, min(id), max(id), min(created_at), max(created_at) FROM messages GROUP BY store, id / 2048
"""
_STATE = """
UPDATE store_state AS s SET indexed_through = m.newest, counted_through = m.newest, segmentation = t.segmentation
FROM (SELECT store, max(id) AS newest FROM messages GROUP BY store) AS m,
     (SELECT segmentation FROM store_state WHERE segmentation IS NOT NULL LIMIT 1) AS t
WHERE m.store = s.store
"""


def superuser(url: str, database: str | None = None) -> psycopg.Connection:
    """A connection that sees all stores of the server that the benchmark started; None: in the URL's database."""
    place = make_url(url)
    name = database or place.database
    return psycopg.connect(host=place.host, port=place.port, user="postgres", dbname=name, autocommit=True)


class Multiplied:
    """The store built first, and copies of its rows in it or in other stores."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self._index = str(self._one(f"SELECT pg_get_indexdef('{_INDEX}'::regclass)"))
        self.by = int(self._one("SELECT max(id) - min(id) + 1 FROM messages"))

    def _one(self, statement: str) -> object:
        row = self.connection.execute(statement).fetchone()
        assert row is not None
        return row[0]

    def grow(self, copies: Iterable[tuple[int, int]], source: int) -> None:
        """Add copies of the rows of one store.

        Args:
            copies: for each the store it goes to and its number, by which its ids are moved.
            source: the number of the store that is copied.
        """
        run = self.connection.execute
        run("SET synchronous_commit = off")
        run(f"DROP INDEX {_INDEX}")
        given = list(copies)
        run("CREATE TEMP TABLE copies (k bigint, target integer)")
        with self.connection.cursor().copy("COPY copies FROM STDIN") as rows:
            for target, number in given:
                rows.write_row((number, target))
        for table in _SHIFTED:
            run(self._insert(table, source))
        run("DROP TABLE copies")
        run(f"UPDATE message_index SET zone = id / {_ZONE} WHERE store = {source} AND zone <> id / {_ZONE}")
        for table, made in (("message_index_zones", _ZONES), ("index_zones", _INDEX_ZONES)):
            run(f"TRUNCATE {table}")
            run(made)
        run(_STATE)
        # With little memory the index is built in batches of some thousand messages, and its pages are as full as those
        # of an index that grew with its store. Built in one go, in the order of the words, they are half empty.
        run("SET maintenance_work_mem = '4MB'")
        run(self._index)
        run(f"ALTER INDEX {_INDEX} ALTER COLUMN 1 SET STATISTICS 0")
        run("SET maintenance_work_mem = '1GB'")
        for table, key in (("messages", "id"), ("sessions", "pk")):
            run(f"SELECT setval(pg_get_serial_sequence('{table}', '{key}'), (SELECT max({key}) FROM {table}))")
        run("VACUUM (ANALYZE) messages, sessions, message_index")

    def _insert(self, table: str, source: int) -> str:
        shifted = {
            name: form.format(k="c.k", by=self.by, apart=APART_US, zone=self._zone(source))
            for name, form in _SHIFTED[table].items()
        }
        columns = [str(row[0]) for row in self.connection.execute(_COLUMNS, (table,))]
        values = ["c.target" if name == "store" else shifted.get(name, f't."{name}"') for name in columns]
        names = ", ".join(f'"{name}"' for name in columns)
        # Copy after copy, as if they had been said one after another, and without sorting all of them. `c.k >= 0` makes
        # the rows depend on the copy: else the planner, which knows little of tables that are new, may join them the
        # other way round, and messages of all times lie side by side, with longer lists in the index.
        key = "pk" if table == "sessions" else "id"
        return (
            f"INSERT INTO {table} ({names}) SELECT {', '.join(values)} FROM (SELECT * FROM copies ORDER BY k) AS c"
            f" CROSS JOIN LATERAL (SELECT * FROM {table} WHERE store = {source} AND c.k >= 0 ORDER BY {key} OFFSET 0) t"
        )

    def _zone(self, source: int) -> str:
        """In the store itself zones go on; a copy in another store has the zones of the first."""
        return f"CASE WHEN c.target = {source} THEN (t.id + c.k * {self.by}) / {_ZONE} ELSE t.zone END"


def server_cpu_s(connection: psycopg.Connection) -> float:
    """CPU seconds of the server's processes on this machine, of those that ended too."""
    row = connection.execute("SELECT current_setting('data_directory')").fetchone()
    assert row is not None
    parent = int((Path(row[0]) / "postmaster.pid").read_text(encoding="utf-8").split()[0])
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except FileNotFoundError:  # it ended meanwhile; its time is the parent's by now
            continue
        if int(fields[1]) == parent:
            ticks += int(fields[11]) + int(fields[12])
        elif int(stat.parent.name) == parent:
            ticks += sum(map(int, fields[11:15]))
    return ticks / 100
