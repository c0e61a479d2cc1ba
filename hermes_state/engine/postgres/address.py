"""Where a store on PostgreSQL is: the server, the database, and which of the stores in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.engine import make_url

from hermes_state.errors import InvalidValue

if TYPE_CHECKING:
    from sqlalchemy import URL

# The store that a URL without `?store=` means.
DEFAULT_STORE = "default"
_MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class Address:
    """A store's place.

    Attributes:
        conninfo: for libpq, the password in it; never to be shown.
        store: the store's name in the database.
        shown: the URL as it may be printed: without the password.
    """

    conninfo: str
    store: str
    shown: str

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    @classmethod
    def of(cls, url: str | URL) -> Address:
        """The address of `postgresql+psycopg://user@host/database?store=NAME&sslmode=verify-full`.

        Every parameter but `store` is libpq's: TLS, time-outs and several hosts are set as its manual says.

        Raises:
            InvalidValue: another driver, or a store without a usable name.
        """
        from psycopg.conninfo import make_conninfo

        given = make_url(url)
        if given.drivername not in ("postgresql", "postgresql+psycopg"):
            raise InvalidValue(
                f"no driver {given.drivername!r} here", hint="write postgresql+psycopg://user@host/database"
            )
        query = dict(given.query)
        # SQLAlchemy drops a parameter without a value, which would mean the default store without saying so.
        unnamed = "" if re.search(r"[?&]store=(&|$)", str(url)) else DEFAULT_STORE
        store = query.pop("store", unnamed)
        if not isinstance(store, str) or not store.strip() or len(store) > _MAX_NAME_CHARS or not store.isprintable():
            raise InvalidValue(f"{store!r} can't name a store", hint="give one name, as ?store=team-a")
        parts = {
            "host": given.host,
            "port": None if given.port is None else str(given.port),
            "user": given.username,
            "password": None if given.password is None else str(given.password),
            "dbname": given.database,
            "application_name": "hermes-state",
            **{name: value if isinstance(value, str) else ",".join(value) for name, value in query.items()},
        }
        conninfo = make_conninfo(**{name: value for name, value in parts.items() if value is not None})
        shown = given.set(query={**query, "store": store} if store != DEFAULT_STORE else query)
        return cls(conninfo, store, shown.difference_update_query(("password",)).render_as_string(hide_password=True))
