"""The PostgreSQL engine: the same store in a database that many machines share."""

from hermes_state.engine.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
