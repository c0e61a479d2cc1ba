"""Bring a store's schema up to date at open: one transaction, a snapshot before, checks before the commit.

Opening a store that is up to date reads one row and imports no Alembic.
"""

from __future__ import annotations

import glob
import re
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.engine import SqliteEngine
from hermes_state.engine.catalog import table_names
from hermes_state.errors import HermesStateError, MigrationFailed, SchemaOutdated, SchemaTooNew, StoreDamaged

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hermes_state.engine import Engine

# The newest revision this code works with; a test holds it equal to the head of the revisions.
HEAD = "0005"
# The revision of which PostgreSQL has the whole schema as one script; older ones were SQLite's alone.
_FOUNDATION = "0004"
# How many snapshots taken before an upgrade are kept beside the store.
SNAPSHOTS_KEPT = 2
SNAPSHOT_DIR = "state-snapshots"
# Alembic keeps the environment it runs in a module's global.
_one_at_a_time = threading.Lock()
_REVISION_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.py")


def scripts_dir() -> Path:
    """The folder of the revisions: inside the package when installed, beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def revision_of(connection: Connection) -> str | None:
    """The revision a store stands at; None for a store without tables.

    Raises:
        StoreDamaged: there are tables but no revision: this is some other program's database.
    """
    names = table_names(connection)
    if not names:
        return None
    if "alembic_version" in names:
        row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").fetchone()
        if row is not None:
            return str(row[0])
    raise StoreDamaged(
        "the database has tables but no schema revision: it is not a hermes-state store",
        hint="a Hermes state.db is read with `hermes-state import hermes PATH`",
    )


def upgrade(engine: Engine) -> bool:
    """Make the schema current. True when something was changed.

    Raises:
        SchemaTooNew: a newer version wrote it; nothing was touched.
        SchemaOutdated: it needs an upgrade but is open read-only.
        MigrationFailed: a revision failed; the store is as it was.
    """
    with engine.read() as connection:
        found = revision_of(connection)
    if found == HEAD:
        return False
    _refuse_unknown(engine, found)
    if engine.read_only:
        raise SchemaOutdated(engine.shown, found=found or "none", known=HEAD)
    with engine.migration() as connection:
        found = revision_of(connection)
        if found == HEAD:  # another process was faster
            return False
        _refuse_unknown(engine, found)
        if found is not None and isinstance(engine, SqliteEngine):
            _snapshot(engine, found)  # through a connection of its own; nobody writes between it and the upgrade
        _run(engine, connection)
    return True


def _refuse_unknown(engine: Engine, found: str | None) -> None:
    if found is None or found in known_revisions():
        return
    raise SchemaTooNew(engine.shown, found=found, known=HEAD)


def known_revisions() -> list[str]:
    """Every revision this code has, oldest first."""
    return sorted(m[1] for p in (scripts_dir() / "versions").iterdir() if (m := _REVISION_FILE.fullmatch(p.name)))


def _run(engine: Engine, connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(scripts_dir()).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        with _one_at_a_time:
            if engine.dialect == "postgresql" and revision_of(connection) is None:
                _lay_foundation(connection)
                command.stamp(config, _FOUNDATION)
            command.upgrade(config, "head")
        if engine.dialect == "sqlite":
            _check(connection)
    except HermesStateError:
        raise
    except Exception as error:
        raise MigrationFailed(
            f"{engine.shown} could not be brought to schema {HEAD}: {error}", hint="the store is as it was before"
        ) from error


def _lay_foundation(connection: Connection) -> None:
    """Make the schema that PostgreSQL began with; later revisions change it."""
    script = (scripts_dir() / "postgres" / f"{_FOUNDATION}.sql").read_text(encoding="utf-8")
    connection.exec_driver_sql(script.replace("%", "%%"))


def _check(connection: Connection) -> None:
    """What must hold before a migration is committed."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if broken:
        raise MigrationFailed(
            f"the migration left {len(broken)} dangling references, the first in table {broken[0][0]}"
        )
    damage = [row[0] for row in connection.exec_driver_sql("PRAGMA quick_check(3)") if row[0] != "ok"]
    if damage:
        raise MigrationFailed(f"the migrated database is not sound: {damage[0]}")


def _snapshot(engine: SqliteEngine, revision: str) -> None:
    """Copy the store as it is before an upgrade; older snapshots beyond `SNAPSHOTS_KEPT` go."""
    folder = engine.path.parent / SNAPSHOT_DIR
    folder.mkdir(mode=0o700, exist_ok=True)
    engine.copy_to(folder / f"{engine.path.stem}-{revision}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.db")
    for old in snapshots_of(engine.path)[:-SNAPSHOTS_KEPT]:
        old.unlink()


def snapshots_of(store: Path) -> list[Path]:
    """The snapshots that upgrades of a store left beside it, the oldest first."""
    # The revision and the time, so that another store whose name only begins alike keeps its own.
    pattern = f"{glob.escape(store.stem)}-[0-9][0-9][0-9][0-9]-[0-9]*T[0-9]*Z.db"
    found = (store.parent / SNAPSHOT_DIR).glob(pattern)
    return sorted(found, key=lambda snapshot: snapshot.stat().st_mtime)
