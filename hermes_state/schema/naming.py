"""One collection of tables, how their constraints and indexes are named, and the type of their keys."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer, MetaData

# SQLite numbers rows by itself only where the type is called INTEGER; it holds 64 bits there, too.
Key = BigInteger().with_variant(Integer, "sqlite")
# What a long conversation adds up to: tokens read from a cache pass 32 bits.
Counter = Key

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
