"""Every command works on a store on a server as on a file: the same exit code, JSON of the same form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
import psycopg
import pytest
from sqlalchemy.engine import make_url

from hermes_state import SessionDB
from hermes_state.commands import run
from hermes_state.commands.root import cli
from hermes_state.copying.digest import digests
from hermes_state.engine.postgres.address import Address
from hermes_state.errors import StoreUnavailable
from hermes_state.portability.stored import content_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Call = Callable[..., tuple[int, Any]]

# In this order, in one home; {} is a folder for what they make.
COMMANDS = (
    "sessions list", "sessions show aa", "sessions resume aa", "sessions stats", "sessions rename aa new",
    "sessions archive bb", "sessions unarchive bb", "sessions tag aa x", "sessions untag aa x",
    "sessions export -o {}/all.jsonl", "sessions import {}/all.jsonl", "sessions prune --older-than 9000d --yes",
    "search needle", "import hermes {}/nothing",
    "memory add remembered", "memory list", "memory search remembered", "memory replace remembered changed",
    "memory history", "memory approve", "memory remove changed", "memory undo",
    "memory facts add Anna-lives-in-Kyoto", "memory facts list", "memory facts search Kyoto",
    "memory facts about Anna", "memory facts contradictions", "memory facts rebuild", "memory facts stats",
    "memory facts import {}/nothing", "memory use holographic", "memory status", "memory setup", "memory providers",
    "pack {}/a.pack --all", "unpack {}/a.pack --dry-run", "unpack {}/a.pack", "backup {}/a.tar.zst",
    "restore {}/a.tar.zst --into {}/restored --dry-run",
    "db migrate", "db status", "db check --full", "db reindex", "db optimize", "db vacuum", "db digest",
    "sessions delete aa --yes",
)  # fmt: skip
# Of two stores, with a model or a terminal, and what is done with archives and providers alone.
ELSEWHERE = {
    "copy", "db diff", "chat", "completion", "verify", "list", "show", "extract", "diff", "memory check",
    "repo list", "repo show", "repo check", "repo prune", "repo forget",
}  # fmt: skip
# What is another thing on a server, as other tests say.
OF_FILES = {"db recover", "db purge", "doctor"}


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command line: the exit code, and the JSON on stdout, or the error's on stderr."""

    def invoke(*arguments: str) -> tuple[int, Any]:
        code = run([*arguments, "--json"])
        told = capsys.readouterr()
        return code, json.loads(told.out or told.err.splitlines()[-1])

    return invoke


def form(value: Any) -> Any:
    """Names and kinds of a JSON document, without what it says."""
    if isinstance(value, dict):
        return {name: form(each) for name, each in value.items()}
    if isinstance(value, list):
        return [form(each) for each in value[:1]]
    return "number" if isinstance(value, int | float) else type(value).__name__


def named(group: click.Group, start: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from named(command, f"{start}{name} ")
        else:
            yield start + name


def test_every_command_is_tried() -> None:
    tried = {known for line in COMMANDS for known in named(cli) if line.startswith(known)}
    assert set(named(cli)) - tried == ELSEWHERE | OF_FILES


def test_commands_do_the_same_on_a_server(url: str, tmp_path: Path, call: Call) -> None:
    answers: dict[str, list[tuple[int, Any]]] = {line: [] for line in COMMANDS}
    for where in ("file", url):
        folder = tmp_path / ("file" if where == "file" else "server")
        home = folder / "home"
        home.mkdir(parents=True, mode=0o700)
        place = str(home / "hermes_state.db") if where == "file" else url
        with SessionDB.open(place) as db:
            for session in ("aa", "bb"):
                db.sessions.create(session, source="cli", title=f"title {session}")
                db.messages.append(session, role="user", content="a needle 针眼")
        options = ["--home", str(home), *([] if where == "file" else ["--db", url])]
        for line in COMMANDS:
            answers[line].append(call(*options, *line.replace("{}", str(folder)).split()))
    for line, (file, server) in answers.items():
        assert server[0] == file[0], (line, file, server)
        if line != "db status":  # a file has pages
            assert form(server[1]) == form(file[1]), line


def test_a_pack_comes_into_a_store_on_a_server(
    db: SessionDB, other_url: str, url: str, tmp_path: Path, call: Call
) -> None:
    home, pack = tmp_path / "home", str(tmp_path / "p.pack")
    home.mkdir()
    db.sessions.create("s", source="cli", title="Reise nach 台北")
    db.messages.append("s", role="user", content="an umbrella ☂, a NUL \0 and صباح الخير")
    assert call("pack", pack, "--all", "--home", str(home), "--db", url)[0] == 0
    SessionDB.open(other_url).close()
    into = ("unpack", pack, "--home", str(home), "--db", other_url)
    assert call(*into, "--dry-run")[1]["sessions_added"] == 1
    with content_of(other_url) as content:
        assert digests(content).messages == 0
    assert call(*into)[1]["sessions_added"] == 1
    with content_of(url) as ours, content_of(other_url) as theirs:
        assert digests(ours).sessions == digests(theirs).sessions
    assert call(*into)[1]["sessions_added"] == 0
    assert not (home / "hermes_state.db").exists()


def test_a_purged_word_is_in_no_table_and_no_index(db: SessionDB, url: str, postgres: str, call: Call) -> None:
    db.sessions.create("s", source="cli")
    db.messages.append("s", role="user", content="zqcanary7f3a91 was said")
    assert db.search.messages("zqcanary7f3a91")
    db.sessions.delete("s")
    db.index.close()
    code, told = call("db", "purge", "--yes", "--db", url)
    assert (code, told["complete"], told["wal_emptied"]) == (1, False, False)  # the server's log is not ours
    assert call("db", "purge", "--yes", "--find", "zqcanary7f3a91", "--db", url)[0] == 2
    if make_url(postgres).host != "127.0.0.1":
        pytest.skip("the server's files are somebody's own")
    user = make_url(postgres).set(username="postgres").render_as_string(hide_password=False)
    with psycopg.connect(Address.of(user).conninfo, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        for (name,) in connection.execute(
            "SELECT pg_relation_filepath(oid) FROM pg_class WHERE relkind IN ('r', 'i', 't') AND relfilenode <> 0"
        ).fetchall():
            held = connection.execute("SELECT position('zqcanary7f3a91' IN pg_read_binary_file(%s))", (name,))
            assert held.fetchone() == (0,), name


def test_a_database_without_tables_is_told_and_made(postgres: str, tmp_path: Path, call: Call) -> None:
    given = make_url(postgres)
    if given.host != "127.0.0.1":
        pytest.skip("the server is somebody's own")
    user = given.set(username="postgres").render_as_string(hide_password=False)
    with psycopg.connect(Address.of(user).conninfo, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE hermes_fresh OWNER {given.username}")
        fresh = ("--db", given.set(database="hermes_fresh").render_as_string(hide_password=False))
        try:
            for command in ("check", "status"):
                code, told = call("db", command, *fresh)
                assert (code, told["error"]["kind"]) == (StoreUnavailable.exit_code, "store_unavailable")
            assert [call("db", "migrate", *fresh)[1]["changed"] for _ in range(2)] == [True, False]
            assert call("db", "check", *fresh)[0] == 0
        finally:
            connection.execute("DROP DATABASE hermes_fresh WITH (FORCE)")
