"""Packs that lie, bite or were cut off: refused with the right error, and nothing of the home is touched."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from archive_harness import file, flip_byte, folder, forge, link
from homes import look, make_home
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state import SessionDB
from hermes_state.check import check
from hermes_state.errors import ArchiveDamaged, ArchiveUnsupported, DiskFull, FormatError, HomeInUse
from hermes_state.portability import headers
from hermes_state.portability.format import PACK_FORMAT, PACK_ROOTS, PACK_VERSION, Entry, Limits
from hermes_state.portability.journal import Journal, State
from hermes_state.portability.manifest import Manifest
from hermes_state.portability.packs.pack import Wanted, pack
from hermes_state.portability.packs.unpack import unpack
from hermes_state.transfer.memories import merge_memories

if TYPE_CHECKING:
    from pathlib import Path

HEADER = b'{"type":"header","format":"hermes-state-sessions","version":1}\n'
MEMORIES = b'{"type":"header","format":"hermes-state-memories","version":1}\n'


def manifest(**changes: Any) -> dict[str, Any]:
    roots = dict.fromkeys(PACK_ROOTS, "")
    return Manifest(format=PACK_FORMAT, version=PACK_VERSION, roots=roots).as_json() | changes


def forged(path: Path, *members: Entry | bytes, **changes: Any) -> Path:
    """A pack with these members, digests right."""
    return forge(path / "p.tar.zst", members, **{"manifest": manifest()} | changes)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "h")


def refused(pack_: Path, home: Path, error: type[Exception], **more: Any) -> Exception:
    """Unpack; the home and its folder are as they were."""
    before, beside = look(home), {path.name for path in home.parent.iterdir()}
    with pytest.raises(error) as found:
        unpack(pack_, home, **more)
    assert look(home) == before
    assert {path.name for path in home.parent.iterdir()} == beside
    return found.value


@pytest.mark.parametrize(
    "name",
    ["skills/../../x", "/etc/x", "skills/..", "skills//x", "skills/./x", "..\\x", "C:/x", "other/x", "skills/a/b"],
)
def test_names_that_lead_out(tmp_path: Path, home: Path, name: str) -> None:
    """Traversal in every spelling, roots that were not declared, folders that were not there."""
    refused(forged(tmp_path, folder("skills"), file(name, b"x")), home, ArchiveDamaged)


def test_writing_through_a_link(tmp_path: Path, home: Path) -> None:
    """A link, and then something in it; and a name twice."""
    outside = tmp_path / "outside"
    outside.mkdir()
    members = folder("skills"), link("skills/l", str(outside)), file("skills/l/x", b"x")
    refused(forged(tmp_path, *members), home, ArchiveDamaged)
    refused(forged(tmp_path, folder("skills"), file("skills/x", b"1"), file("skills/x", b"2")), home, ArchiveDamaged)
    assert not list(outside.iterdir())


def test_a_link_here_is_not_written_through(tmp_path: Path, home: Path) -> None:
    """Where the home has a link, a folder of the pack stays out and is listed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (home / "skills/l").symlink_to(outside)
    path = forged(tmp_path, folder("skills"), folder("skills/l"), file("skills/l/x", b"x"))
    assert [item.path for item in unpack(path, home).differences] == ["skills/l"]
    assert not list(outside.iterdir())


def test_links_that_lead_out_are_not_made(tmp_path: Path, home: Path) -> None:
    """Absolute, or with too many `..`; listed. Those within are made."""
    members = link("skills/a", "/etc/passwd"), link("skills/b", "../../x"), link("skills/c", "deploy/SKILL.md")
    result = unpack(forged(tmp_path, folder("skills"), *members), home)
    assert [item.path for item in result.differences] == ["skills/a", "skills/b"]
    assert (home / "skills/c").read_text() == "# deploy\n"
    assert not os.path.lexists(home / "skills/a")


def test_members_that_are_not_known_are_listed(tmp_path: Path, home: Path) -> None:
    """Nothing of a pack gets a place of its choosing: no hooks, no credentials, no database."""
    names = ["config/.env", "config/hooks.py", "memories/x.md", "sessions/hermes_state.db"]
    path = forged(tmp_path, *(folder(root) for root in PACK_ROOTS), *(file(name, b"x") for name in names))
    before = look(home)
    assert {item.path for item in unpack(path, home).differences} == {*names}
    assert look(home) == before


def test_bombs_and_false_sizes(tmp_path: Path, home: Path) -> None:
    """Refused by the limits, before anything is written; sizes that do not add up are damage."""
    zeros = forged(tmp_path, folder("skills"), file("skills/zeros", bytes(10_000_000)))
    refused(zeros, home, ArchiveDamaged, limits=Limits(ratio=100, ratio_from_bytes=1000))
    for size in (0, 4, 600, 10**12):
        entry = headers.encode(file("skills/a", size=size))
        refused(forged(tmp_path, folder("skills"), entry + b"hello" * 200 + bytes(24)), home, ArchiveDamaged)


def test_any_flip_and_any_cut(tmp_path: Path, home: Path) -> None:
    """Of a sound pack: every cut and flip is damage, and nothing came in."""
    pack(home, tmp_path / "p.tar.zst", Wanted(everything=True))
    raw = (tmp_path / "p.tar.zst").read_bytes()
    bad = tmp_path / "bad.tar.zst"
    for at in range(7, len(raw), 41):
        for content in (raw[:at], flip_byte(raw, at, at % 8)):
            bad.write_bytes(content)
            with pytest.raises(ArchiveDamaged):
                unpack(bad, tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"version": 2}, "version 2"),
        ({"required": {"read": ["brotli"], "restore": []}}, "'brotli'"),
        ({"required": {"read": [], "restore": ["telepathy"]}}, "'telepathy'"),
    ],
)
def test_what_is_not_known_is_refused_by_name(tmp_path: Path, home: Path, changes: dict[str, Any], word: str) -> None:
    """A newer version, and features."""
    error = refused(forged(tmp_path, manifest=manifest(**changes)), home, ArchiveUnsupported)
    assert word in str(error)


@pytest.mark.parametrize(
    "changes", [{"format": ["hermes-state-pack"]}, {"format": "hermes-state-pakc"}, {"roots": {"..": {"path": ""}}}]
)
def test_a_manifest_that_lies(tmp_path: Path, home: Path, changes: dict[str, Any]) -> None:
    """Ours, and damaged."""
    refused(forged(tmp_path, manifest=manifest(**changes)), home, ArchiveDamaged)


def session(session_id: str, **more: Any) -> bytes:
    line = {
        "type": "session",
        "id": session_id,
        "source": "cli",
        "started_at": "2026-01-01T00:00:00+00:00",
        "messages": 0,
    }
    return json.dumps(line | more).encode() + b"\n"


def end(sessions: int) -> bytes:
    return b'{"type":"end","sessions":%d,"messages":0}\n' % sessions


@pytest.mark.parametrize(
    ("lines", "listed", "here"),
    [
        (HEADER + session("a\x00b") + session("good") + end(2), 1, ["good"]),
        (HEADER + session("x" * 600) + session("good") + end(2), 1, ["good"]),
        (HEADER + b"not json\n" + session("good") + end(1), 1, ["good"]),
        (HEADER + session("short", messages=3) + session("good") + end(2), 1, ["good"]),
        (HEADER + session("good"), 1, ["good"]),  # the closing line is missing
        (HEADER + session("loop", parent_id="loop", relation="branch") + end(1), 0, ["loop"]),
        (HEADER + session("good") + session("good") + end(2), 0, ["good"]),
        (HEADER + b"[" * 5000 + b"\n" + session("good") + end(1), 1, ["good"]),
    ],
)
def test_lines_that_lie_cost_their_session_only(
    tmp_path: Path, home: Path, lines: bytes, listed: int, here: list[str]
) -> None:
    """What can be read comes in, what can't is listed."""
    path = forged(tmp_path, folder("sessions"), file("sessions/sessions.jsonl", lines))
    result = unpack(path, home)
    assert len(result.differences) == listed
    with SessionDB.open(home=home) as db, db.engine.read() as connection:
        found = set(connection.exec_driver_sql("SELECT id FROM sessions WHERE title IS NULL").scalars())
    assert found == {*here}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("sessions/sessions.jsonl", b""),
        ("sessions/sessions.jsonl", HEADER.replace(b'"version":1', b'"version":2')),
        ("memories/memories.jsonl", b"{}\n"),
        ("memories/memories.jsonl", MEMORIES.replace(b'"version":1', b'"version":9')),
    ],
)
def test_lines_of_another_format_are_refused(tmp_path: Path, home: Path, name: str, lines: bytes) -> None:
    """By name and version."""
    path = forged(tmp_path, folder(name.partition("/")[0]), file(name, lines))
    with pytest.raises(FormatError):
        unpack(path, home)


@pytest.mark.parametrize(
    "line",
    [
        {"id": 5},
        {"content": ""},
        {"created_at": "yesterday"},
        {"tags": "x"},
        {"tags": [5]},
        {"events": {}},
        {"events": [{"batch": "b"}]},
    ],
)
def test_memories_that_lie_are_listed(tmp_path: Path, home: Path, line: dict[str, Any]) -> None:
    """One bad entry; the good one comes in."""
    good = {"type": "memory", "id": "g", "target": "user", "status": "active", "content": "好"}
    good |= {"created_at": "2026-01-01T00:00:00Z", "changed_at": "2026-01-01T00:00:00Z"}
    lines = [good | {"id": "bad", "content": "bad"} | line, good, {"type": "end", "memories": 2}]
    raw = MEMORIES + b"".join(json.dumps(value).encode() + b"\n" for value in lines)
    result = unpack(forged(tmp_path, folder("memories"), file("memories/memories.jsonl", raw)), home)
    assert result.entries == 1
    assert len(result.differences) == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_NAMES = ("id", "target", "status", "content", "created_at", "changed_at", "tags", "events", "replaced_by")


@settings(max_examples=40)
@given(lines=st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(_NAMES, _JSON)), max_size=4))
def test_any_json_as_a_memory(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    """Is taken or listed; nothing else happens, and the store stays sound."""
    raw = [MEMORIES, *(json.dumps({"type": "memory"} | line).encode() + b"\n" for line in lines)]
    with SessionDB.open(tmp_path / "store.db", synchronous="NORMAL") as db:
        report = merge_memories(db.engine, raw)
        assert not check(db.engine).findings
    assert report.added + report.equal + len(report.differences) + len(report.problems) == len(lines) + 1


def test_a_home_of_two_minds_is_left_alone(tmp_path: Path, home: Path) -> None:
    """While a restore is half in place, nothing is packed or unpacked."""
    path = forged(tmp_path, folder("skills"), file("skills/x", b"x"))
    stage = tmp_path / ".h.abc.restore"
    stage.mkdir()
    (stage / "lock").touch()
    journal = Journal(stage=stage, home=home)
    journal.state = State.SWAPPING
    journal.write()
    with pytest.raises(HomeInUse):
        unpack(path, home)
    with pytest.raises(HomeInUse):
        pack(home, tmp_path / "q.tar.zst", Wanted(everything=True))


def test_a_full_disk(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is read: ours, with a hint, and nothing is left or touched."""
    import errno

    from hermes_state.portability.packs import unpack as module

    pack(home, tmp_path / "p.tar.zst", Wanted(everything=True))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "write_file", full)
    refused(tmp_path / "p.tar.zst", home, DiskFull)


def test_a_kill_in_the_middle(tmp_path: Path, home: Path) -> None:
    """What was joined stays, unpacking again brings in the rest, and the stage of the dead is cleared away."""
    import multiprocessing
    import signal

    pack(home, tmp_path / "p.tar.zst", Wanted(everything=True))
    process = multiprocessing.get_context("spawn").Process(
        target=_die, args=(str(tmp_path / "p.tar.zst"), str(tmp_path / "n"))
    )
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert list(tmp_path.glob(".n.unpack.*"))
    result = unpack(tmp_path / "p.tar.zst", tmp_path / "n")
    assert (result.sessions, result.differences) == (1, [])
    assert not list(tmp_path.glob(".n.unpack.*"))
    assert (tmp_path / "n/SOUL.md").exists()


def _die(path: str, home: str) -> None:
    """Unpack, and be killed between the files and the store."""
    import signal
    from pathlib import Path

    from hermes_state.portability.joining import Joining

    def kill(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    Joining.store = kill  # type: ignore[method-assign]
    unpack(Path(path), Path(home))
