"""A pack of a store on a server: the same text as of a file, and it joins any store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from hermes_state import SessionDB
from hermes_state.commands.root import cli
from hermes_state.copying.digest import digests
from hermes_state.portability.stored import content_of

if TYPE_CHECKING:
    from pathlib import Path


def _run(*arguments: object) -> dict[str, object]:
    done = CliRunner().invoke(cli, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def test_a_store_on_a_server_is_packed(db: SessionDB, url: str, tmp_path: Path) -> None:
    home, other, pack = tmp_path / "home", tmp_path / "other", tmp_path / "p.tar.zst"
    home.mkdir()
    session = db.sessions.create(source="cli", title="Reise nach 台北").id
    db.messages.append(session, role="user", content="an umbrella ☂, a NUL \0 and صباح الخير")
    db.messages.append(session, role="assistant", content="packed", reasoning="because")
    told = _run("pack", pack, "--all", "--home", home, "--db", url)
    assert told["parts"]["sessions"]["messages"] == 2  # type: ignore[index]
    with content_of(url) as ours, content_of(str(pack)) as packed:
        assert digests(ours).sessions == digests(packed).sessions
    other.mkdir()
    SessionDB.open(home=other).close()
    _run("unpack", pack, "--home", other)
    with SessionDB.open(home=other) as joined:
        assert [m.content for m in joined.messages.list(session)] == [m.content for m in db.messages.list(session)]


def test_one_conversation_of_a_server_is_packed(db: SessionDB, url: str, tmp_path: Path) -> None:
    home, pack = tmp_path / "home", tmp_path / "p.tar.zst"
    home.mkdir()
    ids = [db.sessions.create(source="cli", title=title).id for title in ("one", "two")]
    for session in ids:
        db.messages.append(session, role="user", content=session)
    _run("pack", pack, "--session", "two", "--only", "sessions", "--home", home, "--db", url)
    with content_of(str(pack)) as packed:
        assert list(digests(packed).sessions) == [ids[1]]
