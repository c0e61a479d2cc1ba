"""The JSON of every command is what `docs/cli.md` promises; the page is made from the commands; codes are unique."""

from __future__ import annotations

import io
import re
import shutil
import sqlite3
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_commands_import import SCHEMA

from hermes_state import SessionDB
from hermes_state.commands.contract import ERROR, RECORDS, SHAPES
from hermes_state.commands.contract_packs import EVENT
from hermes_state.commands.reference import reference
from hermes_state.errors import HermesStateError
from hermes_state.home import STORE_NAME
from hermes_state.portability.format import Entry, Kind
from hermes_state.portability.manifest import Manifest
from hermes_state.portability.packs.pack import Wanted, pack
from hermes_state.portability.repository.backup import back_up
from hermes_state.portability.writer import write_archive
from hermes_state.transfer import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Call

# Long work, which tells programs how far it is.
WATCHED = {
    "backup",
    "backup --repo DIR",
    "verify",
    "restore",
    "restore --merge",
    "restore --merge --dry-run",
    "pack",
    "unpack",
}
# Records of which only some fields are always there.
OPEN = {"Message"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
WORDS: dict[str, Any] = {
    "text": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "time": lambda v: bool(TIME.fullmatch(v)) and datetime.fromisoformat(v).tzinfo is not None,
    "true or false": lambda v: isinstance(v, bool),
    "any": lambda _: True,
}


def conform(value: Any, shape: Any, where: str = "$", *, is_open: bool = False) -> None:
    """Fail unless the value has exactly the documented keys with values of the documented kinds."""
    if isinstance(shape, dict):
        assert isinstance(value, dict), where
        if len(shape) == 1 and next(iter(shape)).startswith("<"):
            for key, item in value.items():
                conform(item, next(iter(shape.values())), f"{where}.{key}")
            return
        assert set(shape) <= set(value), f"{where}: {set(shape) - set(value)} missing"
        assert is_open or set(value) <= set(shape), f"{where}: {set(value) - set(shape)} not documented"
        for key in shape:
            conform(value[key], shape[key], f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        for n, item in enumerate(value):
            conform(item, shape[0], f"{where}[{n}]")
    elif shape.removesuffix(" or null") in RECORDS:
        if value is not None or shape in RECORDS:
            conform(value, RECORDS[shape.removesuffix(" or null")], where, is_open=shape in OPEN)
    else:
        word = shape.removesuffix(" or null")
        assert (value is None and word != shape) or WORDS[word](value), f"{where}: {value!r} is no {shape}"


@pytest.fixture
def everything(home: Path, store: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A store with something in every field, and a copy of what it was before."""
    shutil.copy2(home / STORE_NAME, tmp_path / "old.db")
    with SessionDB.open(home=home) as db:
        tip = db.lineage.rotate(store["deploy"], [{"role": "user", "content": "summary"}]).child
        db.sessions.tag(tip.id, "ops")
        db.sessions.end(store["arabic"], "idle")
        db.usage.record(tip.id, model="glm-4.6", input_tokens=3, estimated_cost_usd=0.1)
        db.lineage.branch(tip.id)
        with (tmp_path / "all.jsonl").open("w", encoding="utf-8") as file:
            dump(db.engine, file)
    with sqlite3.connect(home / "state.db") as connection:
        connection.executescript(SCHEMA)
    connection.close()
    return (
        store
        | {
            "tip": tip.id,
            "export": str(tmp_path / "all.jsonl"),
            "new": str(tmp_path / "new"),
            "old": str(tmp_path / "old.db"),
        }
        | archives(home.parent)
        | repository(home)
        | {"packed": packed(home)}
    )


def packed(home: Path) -> str:
    """A pack of everything."""
    target = home.parent / "packed.tar.zst"
    pack(home, target, Wanted(everything=True))
    return str(target)


def archives(folder: Path) -> dict[str, str]:
    """Two archives that differ, with something to notice."""
    paths = {name: folder / f"{name}.tar.zst" for name in ("archive", "other")}
    for content, path in enumerate(paths.values()):
        entries = [
            Entry(name="home", kind=Kind.DIR, mode=0o700),
            Entry(name="home/config.yaml", size=1, opener=lambda raw=b"%d" % content: io.BytesIO(raw)),
            Entry(name=f"home/link-{content}", kind=Kind.LINK, mode=0o777, target="/etc/hosts"),
        ]
        write_archive(path, Manifest(roots={"home": str(folder)}), entries)
    return {name: str(path) for name, path in paths.items()}


def repository(home: Path) -> dict[str, str]:
    """A repository with two snapshots."""
    repo = home.parent / "repo"
    back_up(home, repo)
    snapshot = back_up(home, repo).snapshot.id
    return {"repo": str(repo), "snapshot": snapshot}


RUNS = {
    "search": ("redis",),
    "search --conversations": ("redis",),
    "sessions list": ("--all",),
    "sessions show": ("{tip}",),
    "sessions resume": ("{deploy}",),
    "sessions rename": ("{arabic}", "a name"),
    "sessions tag": ("{arabic}", "a-tag"),
    "sessions untag": ("{arabic}", "a-tag"),
    "sessions archive": ("{arabic}",),
    "sessions unarchive": ("{arabic}",),
    "sessions export --output FILE": (),
    "sessions export --output FOLDER/": ("--format", "html"),
    "sessions import": ("{export}",),
    "sessions delete": ("{arabic}", "--yes"),
    "sessions prune": ("--source", "telegram", "--source", "cron", "--yes"),
    "sessions stats": (),
    "import hermes": (),
    "db status": (),
    "db digest": (),
    "db diff": ("{old}",),
    "copy": ("{old}", "{new}.db"),
    "db check": ("--full",),
    "db optimize": (),
    "db vacuum": (),
    "db purge": ("--find", "redis", "--yes"),
    "db recover": (),
    "db migrate": (),
    "db reindex": (),
    "doctor": (),
    "backup": (),
    "backup --repo DIR": (),
    "repo list": ("{repo}",),
    "repo show": ("{repo}",),
    "repo check": ("{repo}", "--read-data"),
    "repo prune": ("{repo}", "--keep-last", "1"),
    "repo forget": ("{repo}", "{snapshot}"),
    "restore": ("{archive}", "--into", "{archive}.home"),
    "restore --merge": ("{archive}",),
    "restore --merge --dry-run": ("{archive}",),
    "pack": ("{new}.pack", "--all", "--redact"),
    "unpack": ("{packed}",),
    "verify": ("{archive}",),
    "list": ("{archive}",),
    "show": ("{archive}",),
    "extract": ("{archive}", "config.yaml", "-o", "{archive}.out"),
    "diff": ("{archive}", "{other}"),
    "completion": ("fish",),
}


def test_every_documented_shape_is_held() -> None:
    assert RUNS.keys() == SHAPES.keys()


@pytest.mark.parametrize("command", RUNS)
def test_the_json_of_a_command_is_as_documented(call: Call, everything: dict[str, str], command: str) -> None:
    args = [arg.format(**everything) for arg in RUNS[command]]
    words = [
        {"FILE": everything["new"], "DIR": everything["new"], "FOLDER/": everything["new"] + "/"}.get(word, word)
        for word in command.split()
    ]
    answer = call(*words, *args, "--json")
    assert answer.exit_code in (0, 1), answer.stderr
    for event in answer.events:
        conform(event, EVENT)
    assert not answer.events or command in WATCHED
    conform(answer.json, SHAPES[command])


def test_the_json_of_an_error_is_as_documented(call: Call) -> None:
    import json

    conform(json.loads(call("sessions", "show", "--json").stderr), ERROR)


def errors(root: type[HermesStateError] = HermesStateError) -> Iterator[type[HermesStateError]]:
    for child in root.__subclasses__():
        if child.__module__.startswith("hermes_state.errors"):
            yield child
            yield from errors(child)


def test_exit_codes_are_unique_by_class_and_in_range() -> None:
    """A code means one branch of the tree; 2 is for what the caller said wrong; 128 and above are signals."""
    branches: defaultdict[int, set[type]] = defaultdict(set)
    for error in errors():
        owner = next(c for c in error.__mro__ if "exit_code" in vars(c))
        branches[error.exit_code].add(owner)
    assert {code: owners for code, owners in branches.items() if len(owners) > 1} == {}
    assert all(code == 2 or 3 < code < 100 for code in branches)


def test_the_reference_page_is_not_stale() -> None:
    """`python -m hermes_state.commands.reference > docs/cli.md` brings it up to date."""
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    assert page.read_text(encoding="utf-8") == reference()
