"""What is left out of a backup: junk by evidence or place, never something a person made."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.errors import InvalidValue
from hermes_state.portability.collect import Collection, collect
from hermes_state.portability.format import Kind
from hermes_state.portability.patterns import Pattern, Sieve
from hermes_state.portability.rules import Rules

if TYPE_CHECKING:
    from pathlib import Path


def put(home: Path, *names: str) -> None:
    """Make files (or, with a slash at the end, folders) with some content."""
    for name in names:
        path = home / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"content of {name}")


def paths(collection: Collection) -> set[str]:
    return {found.path for found in collection.found}


def left_out(collection: Collection) -> dict[str, str]:
    return {item.path: item.reason for item in collection.left_out}


def test_junk_is_left_out_and_listed(tmp_path: Path) -> None:
    """Caches, environments, packages and earlier backups are left out, each listed with its size, and nothing else."""
    junk = (
        *(
            ".venv/lib/a.py",
            "plugins/p/node_modules/x/i.js",
            "plugins/p/__pycache__/m.pyc",
            ".cache/a",
            ".npm/b",
            ".bun/c",
        ),
        *("checkpoints/d", "backups/old.zip", "state-snapshots/e", "update-backups/f", "hermes-backup-2026.zip"),
        *("env/pyvenv.cfg", "env/lib/a.py", "cache/models.json", "profiles/a/backups/g", "profiles/a/cache/h"),
        *("gateway.pid", "auth.lock", "processes.json", "hermes-agent/cli.py"),
    )
    kept = ("skills/.archive/x", "skills/foo/cache/data.md", "cache/images/1.png", "config.yaml", "plugins/p/p.py")
    put(tmp_path, *junk, *kept)
    found = collect(tmp_path, Rules())
    assert {path for path in paths(found) if (tmp_path / path).is_file()} == set(kept)
    sizes = {item.path: (item.files, item.bytes) for item in found.left_out}
    assert sizes["backups"] == (1, len("content of backups/old.zip"))
    for name in junk:
        assert any(name == path or name.startswith(f"{path}/") for path in sizes), name


@pytest.mark.parametrize(
    "name", ["venv", "backups", "cache", "checkpoints", "node_modules", ".venv", "build", "hermes-agent"]
)
def test_no_skill_is_lost_by_its_name(tmp_path: Path, name: str) -> None:
    """A skill may be called like anything that is left out elsewhere."""
    put(tmp_path, f"skills/{name}/SKILL.md", f"skills/{name}/scripts/run.sh", f"profiles/{name}/skills/x/SKILL.md")
    found = collect(tmp_path, Rules())
    assert {f"skills/{name}/scripts/run.sh", f"profiles/{name}/skills/x/SKILL.md"} <= paths(found)
    assert found.left_out == []


def test_locks_of_projects_are_no_locks(tmp_path: Path) -> None:
    """`poetry.lock` and `.pid` files with other content stay; locks beside what they lock and process ids go."""
    put(tmp_path, "skills/a/poetry.lock", "skills/a/notes.pid", "memories/USER.md", "memories/USER.md.lock")
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/server.pid").write_text("4711\n")
    (tmp_path / "plugins/empty.lock").touch()
    found = collect(tmp_path, Rules())
    assert {"skills/a/poetry.lock", "skills/a/notes.pid"} <= paths(found)
    assert set(left_out(found)) == {"memories/USER.md.lock", "plugins/server.pid", "plugins/empty.lock"}


def test_sockets_and_pipes(tmp_path: Path) -> None:
    """A socket and a named pipe are listed as left out, and nothing waits for them."""
    os.mkfifo(tmp_path / "x.fifo")
    os.mkfifo(tmp_path / "y.pid")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "agent.sock"))
        found = collect(tmp_path, Rules())
    assert left_out(found) == {"agent.sock": "socket", "x.fifo": "named pipe", "y.pid": "process id"}
    assert found.found == []


def test_a_person_decides(tmp_path: Path) -> None:
    """Patterns given for a run beat the home's own rule file, and that beats ours."""
    put(tmp_path, "cache/models/big.bin", "cache/other", "logs/agent.log", "logs/keep.log", "skills/x/big.bin", "tmp/a")
    (tmp_path / "backup-rules").write_text("# mine\n*.log\n!/cache/models/\n/tmp/\n")
    rules = Rules.of_home(tmp_path, include=["keep.log"], exclude=["*.bin"])
    found = collect(tmp_path, rules)
    assert {p for p in paths(found) if (tmp_path / p).is_file()} == {"backup-rules", "logs/keep.log"}
    assert left_out(found)["logs/agent.log"] == "rule '*.log'"
    rules = Rules.of_home(tmp_path)
    assert {"cache", "cache/models", "cache/models/big.bin"} <= paths(collect(tmp_path, rules))
    assert "cache/other" not in paths(collect(tmp_path, rules))


def test_folders_come_before_what_they_hold(tmp_path: Path) -> None:
    """Every path's folder was found before it, also when only something deep inside is taken."""
    put(tmp_path, "cache/a/b/c.txt", "cache/a/d", "z/y/x", "z.txt")
    found = collect(tmp_path, Rules(include=["/cache/a/b/"]))
    seen = {""}
    for item in found.found:
        assert item.path.rpartition("/")[0] in seen
        if item.kind is Kind.DIR:
            seen.add(item.path)
    assert "cache/a/b/c.txt" in paths(found)
    assert "cache/a/d" not in paths(found)


@pytest.mark.parametrize("text", ["", "/", "!", "!/"])
def test_a_pattern_names_something(text: str) -> None:
    """An empty pattern would fit everything or nothing; it is refused."""
    with pytest.raises(InvalidValue):
        Rules(exclude=[text])


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.log", "a/b/c.log", True),
        ("*.log", "c.log.txt", False),
        ("/a/*", "a/b", True),
        ("/a/*", "a/b/c", False),
        ("/a/*", "x/a/b", False),
        ("/a/*", "profiles/p/a/b", True),
        ("a/**", "a/b/c", True),
        ("**/x", "a/b/x", True),
        ("a/**/x", "a/x", True),
        ("[ab].md", "a.md", True),
        ("[!ab].md", "a.md", False),
        ("[", "[", True),
        ("a+b(", "a+b(", True),
        ("升级*", "skills/升级数据", True),
        ("x\ny", "a/x\ny", True),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:
    """Patterns mean what they mean in `.gitignore`; every other character means itself."""
    assert Pattern(pattern).fits(path, is_dir=False) is fits


@given(
    patterns=st.lists(st.text("ab*/[]?x", min_size=1, max_size=8).filter(lambda text: text.strip("/")), max_size=4),
    path=st.lists(st.text("abx[]", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join),
    profile=st.sampled_from(["", "profiles/a/", "profiles/"]),
)
def test_who_is_sorted_out_fits_none(patterns: list[str], path: str, profile: str) -> None:
    """The quick look at the ends of names never passes over what a pattern fits."""
    made = [Pattern(text) for text in patterns]
    folder, _, name = (profile + path).rpartition("/")
    if any(pattern.fits(profile + path, is_dir=True) for pattern in made):
        assert Sieve(made).inside(folder).may_fit(name)
