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


# The servers of `server` that run, by URL.
_running: dict[str, Cluster] = {}


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
    with _folder() as folder, Cluster(folder / "data").made().running(settings) as cluster:
        cluster.make_database()
        _running[cluster.url] = cluster
        try:
            yield cluster.url
        finally:
            del _running[cluster.url]


def restart(url: str) -> None:
    """Stop the server of `server` and start it again."""
    _running[url].control("-m", "fast", "restart")


@contextmanager
def server_and_standby() -> Iterator[tuple[str, Callable[[], None]]]:
    """A URL with two servers, of which the second follows the first, and what makes it take the first one's place."""
    settings = ("max_connections=20", "fsync=off")
    with _folder() as folder, Cluster(folder / "first").made().running(settings) as first:
        first.make_database()
        with first.copied(folder / "second").running(settings) as second:
            # From now on a commit is on both before it is told.
            first.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")

            def fail_over() -> None:
                first.control("-m", "immediate", "stop")
                second.control("promote")

            hosts = f"host=127.0.0.1,127.0.0.1&port={first.port},{second.port}&target_session_attrs=read-write"
            yield f"postgresql+psycopg://hermes@/hermes?{hosts}", fail_over


@contextmanager
def server_with_tls() -> Iterator[tuple[str, Path]]:
    """The URL of a server that takes TLS only, and the certificate that it has for 127.0.0.1, signed by itself."""
    with _folder() as folder:
        cluster = Cluster(folder / "data").made()
        certificate, key = cluster.folder / "server.crt", cluster.folder / "server.key"
        names = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
        new = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
        _run("openssl", *new, *names, "-keyout", key, "-out", certificate, **cluster.identity)
        shown = shutil.copy(certificate, folder)
        (cluster.folder / "pg_hba.conf").write_text("local all all trust\nhostssl all all all trust\n")
        with cluster.running(("fsync=off", "ssl=on")) as running:
            running.make_database()
            yield running.url, Path(shown)


class Cluster:
    """The files of a server, and the server while it runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, _free_port()
        self.identity = _identity(folder.parent)

    @property
    def url(self) -> str:
        """The address of its database."""
        return f"postgresql+psycopg://hermes@127.0.0.1:{self.port}/hermes"

    def made(self) -> Cluster:
        """With the files of an empty server."""
        options = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
        _run(_program("initdb"), "-D", self.folder, *options, **self.identity)
        return self

    def copied(self, folder: Path) -> Cluster:
        """Another one that follows this one, which runs."""
        other = Cluster(folder)
        source = ("-h", "127.0.0.1", "-p", self.port, "-U", "postgres")
        _run(_program("pg_basebackup"), *source, "-D", folder, "-R", "-X", "stream", "-c", "fast", **self.identity)
        return other

    @contextmanager
    def running(self, settings: Sequence[str]) -> Iterator[Cluster]:
        """Started, and stopped at the end unless it is down by then."""
        options = [f"-p {self.port} -k {self.folder.parent} -h 127.0.0.1", *(f"-c {setting}" for setting in settings)]
        self.control("-o", " ".join(options), "start")
        try:
            yield self
        finally:
            if (self.folder / "postmaster.pid").exists():
                self.control("-m", "immediate", "stop")

    def control(self, *arguments: str) -> None:
        """Have `pg_ctl` do it, and wait until it is done."""
        _run(_program("pg_ctl"), "-D", self.folder, "-l", f"{self.folder}.log", "-w", *arguments, **self.identity)

    def make_database(self) -> None:
        """Make an ordinary role and its database."""
        self.execute("CREATE ROLE hermes LOGIN", "CREATE DATABASE hermes OWNER hermes")

    def execute(self, *statements: str) -> None:
        """Run statements as its superuser."""
        import psycopg

        with psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hermes-state-postgres-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _program(name: str) -> Path:
    found = programs()
    assert found is not None
    return found / name


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
