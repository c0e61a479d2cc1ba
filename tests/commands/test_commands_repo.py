"""Repositories on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state.portability.repository.packs import packs_in

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


@pytest.fixture
def repo(call: Call, home: Path, store: dict[str, str], tmp_path: Path) -> Path:
    """A repository with one snapshot."""
    (home / "config.yaml").write_text("# 设置\nmodel: {}\n")
    assert call("backup", "--repo", str(tmp_path / "repo")).exit_code == 0
    return tmp_path / "repo"


def test_a_second_backup_tells_what_was_new(call: Call, home: Path, repo: Path) -> None:
    (home / "SOUL.md").write_text("new\n")
    answer = call("backup", "--repo", str(repo))
    assert "was there already" in answer.stdout
    assert "new chunk" in answer.stdout
    found = call("backup", "--repo", str(repo), "--json").json
    assert found["added_bytes"] < found["snapshot"]["content_bytes"] / 20
    assert len(call("repo", "list", str(repo), "--json").json["snapshots"]) == 3


def test_there_and_back(call: Call, home: Path, repo: Path, tmp_path: Path) -> None:
    assert call("verify", "--repo", str(repo)).stdout.startswith("sound")
    into = tmp_path / "again"
    assert call("restore", "--repo", str(repo), "--into", str(into)).exit_code == 0
    assert (into / "config.yaml").read_text() == (home / "config.yaml").read_text()
    assert call("search", "redis", home=into).exit_code == 0


def test_a_snapshot_where_an_archive_is_meant(call: Call, home: Path, repo: Path) -> None:
    assert "home/config.yaml" in call("list", f"{repo}/latest").stdout
    assert "database" in call("show", str(repo)).stdout
    assert call("diff", f"{repo}/latest").exit_code == 0
    (home / "config.yaml").write_text("changed\n")
    assert call("diff", f"{repo}/latest").exit_code == 1
    snapshot = call("repo", "list", str(repo), "--json").json["snapshots"][0]["id"]
    assert call("extract", f"{repo}/{snapshot[:10]}", "config.yaml", "-o", "-").stdout == "# 设置\nmodel: {}\n"


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("archive.tar.zst",), "OUTPUT does not go with --repo"),
        (("--to", "x"), "--to does not go"),
        (("--keep-daily", "3"), "repo prune"),
        (("-r", "age1x"), "can't be encrypted"),
        (("--passphrase-file", "x"), "can't be encrypted"),
    ],
)
def test_options_of_archives_are_refused(call: Call, repo: Path, option: tuple[str, ...], told: str) -> None:
    answer = call("backup", "--repo", str(repo), *option)
    assert (answer.exit_code, told in answer.stderr) == (2, True)


def test_a_partial_backup(call: Call, home: Path, repo: Path) -> None:
    """It is told, and listed; the latest stays the whole one."""
    whole = call("repo", "show", str(repo), "--json").json["snapshot"]["id"]
    (home / "broken.db").write_bytes(b"SQLite format 3\0" + bytes(2000))
    assert call("backup", "--repo", str(repo)).exit_code == 20
    assert "(partial)" in call("repo", "list", str(repo)).stdout
    assert call("repo", "show", str(repo), "--json").json["snapshot"]["id"] == whole


def test_damage(call: Call, repo: Path) -> None:
    assert call("repo", "check", str(repo)).stdout.startswith("sound")
    pack = next(packs_in(repo / "packs"))
    pack.write_bytes(pack.read_bytes()[:-1])
    answer = call("repo", "check", str(repo))
    assert (answer.exit_code, pack.name in answer.stdout) == (22, True)
    assert call("verify", "--repo", str(repo)).exit_code == 22
    assert call("restore", "--repo", str(repo), "--into", f"{repo}.home").exit_code == 22


def test_forget_and_prune(call: Call, home: Path, repo: Path) -> None:
    (home / "large.bin").write_bytes(bytes(range(256)) * 2000)
    call("backup", "--repo", str(repo))
    first = call("repo", "list", str(repo), "--json").json["snapshots"][0]["id"]
    assert "would forget" in call("repo", "prune", str(repo), "--keep-last", "1", "--dry-run").stdout
    assert call("repo", "forget", str(repo), first[:8]).exit_code == 0
    assert call("repo", "forget", str(repo), first[:8]).exit_code == 4
    assert call("repo", "forget", str(repo), "latest").exit_code == 2
    assert call("repo", "prune", str(repo)).exit_code == 0
    assert call("repo", "check", str(repo), "--read-data").exit_code == 0


def test_completion_of_snapshots(repo: Path, tmp_path: Path) -> None:
    """Newest first, and nothing where there is no repository."""
    import click

    from hermes_state.commands.repo.snapshots import SNAPSHOT

    context = click.Context(click.Command("show"))
    context.params = {"repository": repo}
    assert len(SNAPSHOT.shell_complete(context, click.Argument(["snapshot"]), "")) == 2
    context.params = {"repository": tmp_path / "nothing"}
    found = SNAPSHOT.shell_complete(context, click.Argument(["snapshot"]), "l")
    assert [item.value for item in found] == ["latest"]


def test_what_is_no_repository(call: Call, tmp_path: Path, repo: Path) -> None:
    (tmp_path / "other").mkdir()
    assert call("repo", "list", str(tmp_path / "nothing")).exit_code == 4
    assert call("repo", "check", str(tmp_path / "other")).exit_code == 23
    assert call("repo", "show", str(repo), "abcdef").exit_code == 4
    assert call("restore", "--repo", str(repo), "abcdef", "--into", str(tmp_path / "x")).exit_code == 4
    assert call("verify").exit_code == 2
