"""Room of deleted rows: made free for new ones, or given back with every trace of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_state.errors import StoreUnavailable

if TYPE_CHECKING:
    from hermes_state.engine.protocol import Engine

# Tables that hold rows of stores. A partition comes with its table.
_TABLES = """
SELECT quote_ident(c.relname), pg_has_role(c.relowner, 'USAGE')
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'store'
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
ORDER BY c.relname
"""


def vacuum(engine: Engine, *, rewrite: bool = False) -> None:
    """Vacuum and analyze the tables of all stores of the database.

    Args:
        rewrite: write tables and indexes anew, so that no bytes of deleted rows are left in them, which a plain VACUUM
            leaves in free room and in the words of a GIN index. Nobody else can use them meanwhile.

    Raises:
        StoreUnavailable: the role does not own the tables; the server would pass over them with a warning.
        StoreBusy: others used them for longer than the engine's budget.
    """
    with engine.read() as connection:
        tables = connection.exec_driver_sql(_TABLES).fetchall()
    if not all(is_ours for _, is_ours in tables):
        raise StoreUnavailable(
            f"{engine.shown}: only the role that owns the tables can vacuum them", hint="connect as that role"
        )
    names = ", ".join(name for name, _ in tables)
    engine.run_alone(f"VACUUM ({'FULL, ' if rewrite else ''}ANALYZE) {names}")
