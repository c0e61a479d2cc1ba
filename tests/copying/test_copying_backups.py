"""A home whose store is elsewhere: its backup carries that store's content, and a restore puts it on either engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import whole_store

from hermes_state.commands import run
from hermes_state.copying.digest import Digest, digests
from hermes_state.errors import Conflict, PartialSuccess, StoreUnavailable
from hermes_state.home import STORE_NAME
from hermes_state.portability import elsewhere
from hermes_state.portability.stored import content_of
from hermes_state.store import SessionDB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


Capture = pytest.CaptureFixture[str]


def digest_at(place: str | Path) -> Digest:
    with content_of(str(place)) as content:
        return digests(content).combined()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with settings, and an old store of its own that nobody uses any more."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "config.yaml").write_text("model: glm\n")
    with SessionDB.open(home=folder) as db:
        whole_store.add_conversation(db, "old", "из прошлого")
    return folder


def test_a_backup_goes_from_either_engine_to_either(
    home: Path,
    fresh: Callable[[], str],
    other_fresh: Callable[[], str],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    used, archive, place = fresh(), str(tmp_path / "b.tar.zst"), other_fresh()
    with SessionDB.open(used) as db:
        whole_store.fill(db)
    assert run(["backup", "--home", str(home), "--db", used, archive, "--json"]) == 0
    left_out = json.loads(capsys.readouterr().out)["left_out"]
    assert {"home/hermes_state.db": "the home uses another store"}.items() <= {
        item["path"]: item["reason"] for item in left_out
    }.items()
    assert digest_at(archive) == digest_at(used)
    into = tmp_path / "new"
    assert run(["restore", archive, "--into", str(into), "--db", place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["store"]
    assert (into / "config.yaml").exists()
    assert not (into / STORE_NAME).exists()
    assert digest_at(place) == digest_at(used)
    assert run(["restore", archive, "--into", str(tmp_path / "plain")]) == 0
    assert digest_at(tmp_path / "plain") == digest_at(used)


def test_a_store_with_content_is_not_restored_into(
    home: Path, other_fresh: Callable[[], str], tmp_path: Path, capsys: Capture
) -> None:
    archive, place = str(tmp_path / "b.tar.zst"), other_fresh()
    assert run(["backup", "--home", str(home), archive]) == 0
    with SessionDB.open(place) as db:
        whole_store.add_conversation(db, "mine", "x")
    before = digest_at(place)
    code = run(["restore", archive, "--into", str(tmp_path / "new"), "--db", place])
    assert code == Conflict.exit_code
    assert not (tmp_path / "new").exists()
    assert digest_at(place) == before
    assert run(["restore", archive, "--into", str(home), "--db", place, "--merge"]) == 2
    capsys.readouterr()


def test_copy_and_diff_on_the_command_line(home: Path, other_fresh: Callable[[], str], capsys: Capture) -> None:
    place = other_fresh()
    assert run(["copy", str(home), place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"] is True
    assert run(["db", "diff", str(home), place]) == 0
    with SessionDB.open(place) as db:
        db.messages.append("old", role="user", content="more")
    assert run(["db", "diff", str(home), place]) == 1
    assert "+ message 1 of session old" in capsys.readouterr().out
    assert run(["copy", str(home), place]) == Conflict.exit_code
    with SessionDB.open(home=home) as db:
        db.messages.append("old", role="user", content="another way")
    assert run(["copy", str(home), place, "--merge"]) == PartialSuccess.exit_code
    told = capsys.readouterr()
    assert "session old: it went another way" in told.err
    assert run(["db", "digest", str(home), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == 2


def test_a_restore_whose_server_goes_away_leaves_the_store_in_the_home(
    home: Path, other_fresh: Callable[[], str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, into = str(tmp_path / "b.tar.zst"), tmp_path / "new"
    assert run(["backup", "--home", str(home), archive]) == 0

    def gone(*_: object) -> None:
        raise StoreUnavailable("the server is gone")

    monkeypatch.setattr(elsewhere, "copy_store", gone)
    assert run(["restore", archive, "--into", str(into), "--db", other_fresh()]) == PartialSuccess.exit_code
    assert "the server is gone" in capsys.readouterr().err
    assert digest_at(into) == digest_at(home)
