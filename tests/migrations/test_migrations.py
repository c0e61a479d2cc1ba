"""The schema: fresh equals declared, upgrades are all or nothing, and nothing newer is touched."""

from __future__ import annotations

import ast
import re
import sqlite3
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine

from hermes_state import migrate
from hermes_state.engine import SqliteEngine
from hermes_state.errors import DiskFull, MigrationFailed, SchemaOutdated, SchemaTooNew, StoreDamaged
from hermes_state.schema import metadata
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What the index engine makes lies in the schema too, but is derived data and no revision's business.
_OURS = (
    "SELECT type, name, tbl_name, sql FROM sqlite_master"
    " WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE 'message_index%'"
)


def normalised(rows: list[tuple[str, str, str, str]]) -> dict[tuple[str, str], str]:
    """The schema by kind and name, blind to white space and quotes."""
    found = {}
    for kind, name, table, sql in rows:
        if table != "alembic_version":
            words = re.sub(r'["\s]+', " ", sql).replace("( ", "(").replace(" )", ")").replace(" ,", ",")
            found[kind, name] = re.sub(r"\(\s*", "(", words).strip()
    return found


def schema_of(path: Path) -> dict[tuple[str, str], str]:
    with sqlite3.connect(path) as connection:
        return normalised(connection.execute(_OURS).fetchall())


def content_of(path: Path) -> list[str]:
    """All rows, schema and version of a store, to compare before and after."""
    connection = sqlite3.connect(path)
    try:
        return [line for line in connection.iterdump() if "message_index" not in line]
    finally:
        connection.close()


def test_a_fresh_store_has_the_declared_schema(store: Path) -> None:
    """What the revisions make is what `hermes_state.schema` says, to the word of each table and index."""
    declared = create_engine("sqlite://")
    metadata.create_all(declared)
    with declared.connect() as connection:
        expected = normalised([tuple(row) for row in connection.exec_driver_sql(_OURS)])
    declared.dispose()
    assert schema_of(store) == expected


def test_revision_files_are_numbered_and_frozen() -> None:
    """Names are NNNN_slug.py without a gap, and no revision imports anything of ours."""
    files = sorted((migrate.scripts_dir() / "versions").glob("*.py"))
    assert [file.name[:5] for file in files] == [f"{n:04}_" for n in range(1, len(files) + 1)]
    for file in files:
        assert re.fullmatch(r"\d{4}_[a-z0-9_]+\.py", file.name)
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.startswith(("hermes_state", "memory", "migrations"))]


def test_head_is_the_newest_revision() -> None:
    """The revision the code works with is the only head there is."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(migrate.scripts_dir()))
    assert ScriptDirectory.from_config(config).get_heads() == [migrate.HEAD]
    assert migrate.known_revisions()[-1] == migrate.HEAD


def test_opening_a_current_store_imports_no_alembic(store: Path) -> None:
    """Start-up of every command would pay for it."""
    code = (
        "import sys; from hermes_state.store import SessionDB\n"
        f"SessionDB.open({str(store)!r}).close()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_upgrade_keeps_every_row_and_leaves_a_snapshot(store: Path, add_revision: Callable[[str], str]) -> None:
    """B049, B053: the column is there after opening, with its default; the snapshot is the store as it was before."""
    old = content_of(store)
    head = add_revision("op.execute('ALTER TABLE messages ADD COLUMN mood VARCHAR NOT NULL DEFAULT \"calm\"')")
    with SessionDB.open(store) as db:
        assert [m.content for m in db.messages.list("s")] == ["one", "two"]
        db.messages.append("s", role="user", content="three")
        with db.engine.read() as connection:
            assert migrate.revision_of(connection) == head
            moods = connection.exec_driver_sql("SELECT DISTINCT mood FROM messages").scalars().all()
    assert moods == ["calm"]
    (snapshot,) = migrate.snapshots_of(store)
    assert content_of(snapshot) == old
    assert snapshot.stat().st_mode & 0o777 == 0o600
    assert snapshot.parent.stat().st_mode & 0o777 == 0o700
    SessionDB.open(store).close()
    assert migrate.snapshots_of(store) == [snapshot]


def test_only_the_newest_snapshots_are_kept(store: Path, add_revision: Callable[[str], str]) -> None:
    """A store that is upgraded for years does not fill its disk."""
    for n in range(4):
        add_revision(f"op.execute('CREATE TABLE extra_{n} (a)')")
        SessionDB.open(store).close()
    revisions = [path.name.split("-")[1] for path in migrate.snapshots_of(store)]
    assert revisions == migrate.known_revisions()[-1 - migrate.SNAPSHOTS_KEPT : -1]


@pytest.mark.parametrize(
    "body",
    [
        "op.execute('CREATE TABLE half (a)'); op.execute('DELETE FROM messages'); raise RuntimeError('power cut')",
        "op.execute('ALTER TABLE messages DROP COLUMN role'); op.execute('SELECT nothing FROM nowhere')",
        "op.execute('DELETE FROM sessions')",
    ],
    ids=["raises", "bad SQL", "dangling references"],
)
def test_a_failing_revision_changes_nothing(store: Path, add_revision: Callable[[str], str], body: str) -> None:
    """Schema, rows and version are as they were, whatever the revision had done before it failed."""
    old = content_of(store)
    add_revision(body)
    with pytest.raises(MigrationFailed, match=r"hermes_state\.db|dangling"):
        SessionDB.open(store)
    assert content_of(store) == old


def test_foreign_keys_are_on_again_after_a_migration(tmp_path: Path) -> None:
    """The handle that migrated enforces references like any other."""
    with SessionDB.open(tmp_path / "new.db") as db, db.engine.write() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_rebuilding_a_parent_table_cascades_nowhere(store: Path, add_revision: Callable[[str], str]) -> None:
    """A batch rebuild of `sessions`, which others reference with ON DELETE CASCADE, keeps the rows of those."""
    with SessionDB.open(store) as db:
        db.sessions.tag("s", "kept")
        db.usage.record("s", model="m", input_tokens=7)
    add_revision(
        'exec(\'with op.batch_alter_table("sessions", recreate="always") as batch: batch.drop_column("display_name")\')'
    )
    with SessionDB.open(store) as db, db.engine.read() as connection:
        assert connection.exec_driver_sql("SELECT tag FROM session_tags").scalars().all() == ["kept"]
        assert connection.exec_driver_sql("SELECT input_tokens FROM usage").scalars().all() == [7]
        assert connection.exec_driver_sql("SELECT count(*) FROM messages").scalar() == 2


def test_a_newer_schema_is_refused_by_name(store: Path, tmp_path: Path) -> None:
    """B052: the error names both revisions, nothing is touched, and a copy can still be taken."""
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'zzzz'")
    connection.close()
    old = content_of(store)
    for read_only in (False, True):
        with pytest.raises(SchemaTooNew) as refused:
            SessionDB.open(store, read_only=read_only)
        assert (refused.value.found, refused.value.known) == ("zzzz", migrate.HEAD)
        assert "zzzz" in str(refused.value)
    assert content_of(store) == old
    engine = SqliteEngine(store, read_only=True)
    engine.copy_to(tmp_path / "copy.db")
    engine.close()
    assert content_of(tmp_path / "copy.db") == old


def test_an_older_schema_opened_read_only_says_so(store: Path, add_revision: Callable[[str], str]) -> None:
    """B050: never an empty list; the error tells to open it once for writing."""
    old = content_of(store)
    add_revision("op.execute('CREATE TABLE extra (a)')")
    with pytest.raises(SchemaOutdated) as refused:
        SessionDB.open(store, read_only=True)
    assert refused.value.found == migrate.known_revisions()[-2]
    assert "migrate" in refused.value.hint
    assert content_of(store) == old


def test_another_programs_database_is_not_touched(tmp_path: Path) -> None:
    """A state.db of another product, given by mistake, keeps its tables and gets none of ours."""
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT)")
    connection.close()
    old = content_of(path)
    with pytest.raises(StoreDamaged, match="not a hermes-state store"):
        SessionDB.open(path)
    assert content_of(path) == old


def test_no_room_for_the_snapshot_means_no_upgrade(
    store: Path, add_revision: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the copy to go back to, the schema stays as it is and the error is about the disk."""
    old = content_of(store)
    add_revision("op.execute('CREATE TABLE extra (a)')")

    def full(engine: SqliteEngine, target: Path) -> None:
        raise DiskFull("no space left")

    monkeypatch.setattr(SqliteEngine, "copy_to", full)
    with pytest.raises(DiskFull):
        SessionDB.open(store)
    assert content_of(store) == old


def test_threads_that_open_an_old_store_at_once_upgrade_it_once(
    store: Path, add_revision: Callable[[str], str]
) -> None:
    """Eight handles, one upgrade, one snapshot, no error."""
    add_revision("op.execute('CREATE TABLE extra (a)')")
    errors: list[BaseException] = []

    def open_and_look() -> None:
        try:
            with SessionDB.open(store) as db:
                assert db.sessions.get("s").message_count == 2
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=open_and_look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(migrate.snapshots_of(store)) == 1


def test_threads_may_make_different_stores_at_once(tmp_path: Path) -> None:
    """Alembic's environment is global; two first opens in two threads must not mix their databases up."""
    errors: list[BaseException] = []

    def make(number: int) -> None:
        try:
            with SessionDB.open(tmp_path / f"{number}.db") as db:
                db.sessions.create(f"s{number}", source="cli")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=make, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for n in range(6):
        with SessionDB.open(tmp_path / f"{n}.db", read_only=True) as db:
            assert [s.id for s in db.sessions.list()] == [f"s{n}"]
