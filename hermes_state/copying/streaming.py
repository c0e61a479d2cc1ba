"""Rows of a large result, some at a time. A server keeps the rest until it is asked, or told that nobody will ask."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Select


@contextmanager
def batches(
    connection: Connection, query: Select[Any], size: int, *, plain: bool = False
) -> Iterator[Iterator[Sequence[Any]]]:
    """The rows of a query, `size` at a time; what is left of them when the block ends is given up.

    Args:
        plain: as tuples in the order of the query's columns, and not as mappings.
    """
    with connection.execute(query.execution_options(yield_per=size)) as result:
        yield (result if plain else result.mappings()).partitions(size)
