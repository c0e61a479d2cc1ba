"""A throw-away PostgreSQL server for the tests: made in a temporary folder, on a free loopback port, gone afterwards.

`HERMES_STATE_TEST_POSTGRES` may name a database to use instead, as `postgresql://role@host/database`; the role must be
an ordinary one that owns it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

VARIABLE = "HERMES_STATE_TEST_POSTGRES"
# Where Debian keeps the server's programs, off the path.
_DEBIAN = "/usr/lib/postgresql"
_UNPRIVILEGED = ("postgres", "nobody")


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`; None when there is no server here."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(Path(_DEBIAN).glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return folders[-1].parent if folders else None


def engines() -> tuple[str, ...]:
    """The kinds of stores that tests run on here."""
    return ("sqlite", "postgresql") if is_here() else ("sqlite",)


def is_here() -> bool:
    """Whether the tests on PostgreSQL can run."""
    return bool(os.environ.get(VARIABLE)) or programs() is not None


# What stops and starts the servers that run, by URL.
_running: dict[str, Callable[[], None]] = {}


@contextmanager
def server(*, own: bool = False, settings: Sequence[str] = ("fsync=off", "max_connections=120")) -> Iterator[str]:
    """The URL of an empty database, owned by an ordinary role.

    Args:
        own: start one in any case, to be restarted or broken.
        settings: of the server, beside where it listens.
    """
    if (given := os.environ.get(VARIABLE)) and not own:
        yield given
        return
    found = programs()
    assert found is not None
    with tempfile.TemporaryDirectory(prefix="hermes-state-postgres-", ignore_cleanup_errors=True) as name:
        folder, port = Path(name), _free_port()
        identity = _identity(folder)
        _run(
            found / "initdb",
            "-D",
            folder / "data",
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            **identity,
        )
        options = " ".join([f"-p {port} -k {folder} -h 127.0.0.1", *(f"-c {setting}" for setting in settings)])
        start = ("-D", folder / "data", "-l", folder / "log", "-w", "-o", options, "start")
        _run(found / "pg_ctl", *start, **identity)
        url = f"postgresql+psycopg://hermes@127.0.0.1:{port}/hermes"
        _running[url] = lambda: _run(
            found / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-m", "fast", "-w", "restart", **identity
        )
        try:
            _make_database(port)
            yield url
        finally:
            del _running[url]
            _run(found / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop", **identity)


def restart(url: str) -> None:
    """Stop the server of `server` and start it again."""
    _running[url]()


def _identity(folder: Path) -> dict[str, Any]:
    """Whom the server runs as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    name = next(name for name in _UNPRIVILEGED if _exists(name))
    shutil.chown(folder, name)
    return {"user": name, "group": pwd.getpwnam(name).pw_gid}


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run(*command: object, **identity: Any) -> None:
    done = subprocess.run(
        list(map(str, command)), cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, **identity
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")


def _make_database(port: int) -> None:
    import psycopg

    with psycopg.connect(host="127.0.0.1", port=port, user="postgres", autocommit=True) as connection:
        connection.execute("CREATE ROLE hermes LOGIN")
        connection.execute("CREATE DATABASE hermes OWNER hermes")
