"""How far a copy has come: one value in the target's `meta`, moved in the transaction that adds the messages."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update

from hermes_state.schema import meta

if TYPE_CHECKING:
    from sqlalchemy import Connection

# The key it lies under. While it is there, the store is not whole.
MARK = "copying"
_key = meta.c.key == MARK


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A copy that is under way.

    Attributes:
        source: the store it is of.
        through: the highest message id of the source that is in the target.
        newest: the highest message id of the target when it was written.
    """

    source: str
    through: int = 0
    newest: int = 0

    @classmethod
    def read(cls, connection: Connection) -> Mark | None:
        """The mark of a store; None where no copy is under way."""
        value = connection.execute(select(meta.c.value).where(_key)).scalar()
        return None if value is None else cls(**json.loads(value))

    def write(self, connection: Connection) -> None:
        """Set it."""
        value = json.dumps(asdict(self))
        if not connection.execute(update(meta).where(_key).values(value=value)).rowcount:
            connection.execute(insert(meta).values(key=MARK, value=value))


def remove(connection: Connection) -> None:
    """The copy is whole."""
    connection.execute(delete(meta).where(_key))
