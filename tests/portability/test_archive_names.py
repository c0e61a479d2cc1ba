"""Names of members: traversal in every spelling is refused everywhere; odd names that are sound are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from archive_harness import file, folder, forge, link, sample, write
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.errors import ArchiveDamaged
from hermes_state.portability import names
from hermes_state.portability.reader import open_archive
from hermes_state.portability.verify import Verdict, verify

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.portability.format import Entry

HOSTILE = [
    "",
    ".",
    "..",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "../evil",
    "home/../evil",
    "home/..",
    "home/.",
    "home/./x",
    "home//x",
    "home/x/",
    "home/x/../../../evil",
    "home/..\\..\\evil",
    "home/\\evil",
    "home/\\\\server\\share",
    "home/a\\..\\..\\b",
    "home/.\\x",
    "C:\\evil",
    "home/C:\\evil",
    "home/c:",
    "C:/evil",
    "home/C:/evil",
    "home/a\0b",
    "home/" + "x" * 256,
    "home/" + "深" * 86,
    "home/" + "a/" * 128 + "b",
    "home/" + "a" * 250 + ("/" + "a" * 250) * 16,
    "home/\ud800",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_no_system_should_see_are_refused(name: str) -> None:
    """Traversal, absolute, drives, backslashes, NUL, and names that are too long."""
    assert names.fault(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "home/..x",
        "home/x..",
        "home/...",
        "home/.hidden",
        "home/ space ",
        "home/a\nb",
        "home/a\\b",
        "home/T: urgent.md",
        "home/aux.md",
        "home/" + "x" * 255,
        "home/" + "深" * 85,
        "home/\udcff",
        "home/مرحبا",
        "home/🦊",
        "home/-rf",
        'home/*?"<>|',
    ],
)
def test_odd_names_that_are_sound_are_kept(name: str, tmp_path: Path) -> None:
    """Homes have them: any script, 255 bytes, bytes that are no UTF-8."""
    write(tmp_path / "a.tar.zst", [folder("home"), file(name, b"x")])
    with open_archive(tmp_path / "a.tar.zst") as archive:
        assert [entry.name for entry, _ in archive.members()] == ["home", name]


@pytest.mark.parametrize("name", [name for name in HOSTILE if "\ud800" not in name and "\0" not in name and name])
def test_an_archive_with_a_hostile_name_is_damaged_and_the_name_is_never_given(name: str, tmp_path: Path) -> None:
    """Digests are right, so the name alone is what is wrong."""
    path = forge(tmp_path / "a.tar.zst", [folder("home"), file(name, b"evil"), file("home/good", b"x")])
    result = verify(path)
    assert result.verdict is Verdict.DAMAGED
    assert {finding.code for finding in result.findings.listed} == {"name"}
    seen: list[str] = []
    with open_archive(path) as archive, pytest.raises(ArchiveDamaged) as caught:
        seen.extend(entry.name for entry, _ in archive.members())
    assert seen == ["home"]
    assert (caught.value.code, caught.value.member) == ("name", name)


@pytest.mark.parametrize(
    ("members", "what"),
    [
        ([folder("home"), file("home/a"), file("home/a")], "was there before"),
        ([folder("home"), folder("home")], "was there before"),
        ([folder("home"), file("home/a/b")], "no folder that came before"),
        ([file("home/a")], "no folder that came before"),
        ([folder("home"), link("home/l", "/etc"), file("home/l/passwd")], "no folder that came before"),
        ([folder("home"), file("home/f"), file("home/f/g")], "no folder that came before"),
        ([folder("home"), link("home/l", "/tmp"), folder("home/l")], "was there before"),
        ([folder("home"), folder("other")], "under no root"),
        ([folder("home"), file("stray")], "under no root"),
        ([link("home", "/etc")], "is a root and no folder"),
        ([file("home")], "is a root and no folder"),
        ([folder("home"), link("home/l", "")], "is empty"),
        ([folder("home"), link("home/l", "x" * 4097)], "longer than"),
        ([folder("home"), file("manifest.json", b"{}")], "under no root"),
    ],
)
def test_members_that_stand_where_they_must_not_are_refused(members: list[Entry], what: str, tmp_path: Path) -> None:
    """Nothing can be written through a link, and nothing twice."""
    result = verify(forge(tmp_path / "a.tar.zst", members))
    assert result.verdict is Verdict.DAMAGED
    assert what in result.findings.listed[0].message


def test_the_writer_leaves_out_what_a_reader_would_refuse_and_says_so(tmp_path: Path) -> None:
    """One bad name is no reason to have no backup."""
    bad = [file("home/../evil"), file("home/nowhere/x"), file("home/zero"), link("home/l", ""), file("home/m", mode=-1)]
    written = write(tmp_path / "a.tar.zst", [*sample(), *bad])
    assert [item["name"] for item in written.report.omitted] == [entry.name for entry in bad]
    assert verify(tmp_path / "a.tar.zst").verdict is Verdict.SOUND


def test_clashes_devices_and_links_out_are_told_and_not_wrong(tmp_path: Path) -> None:
    """They are sound where they come from, and may surprise elsewhere."""
    members = [
        folder("home"),
        file("home/A.md"),
        file("home/a.MD"),
        file("home/é"),
        file("home/e\u0301"),
        file("home/CON.txt"),
        link("home/out", "../.."),
        file("home/run", mode=0o4755),
    ]
    write(tmp_path / "a.tar.zst", members)
    result = verify(tmp_path / "a.tar.zst")
    assert result.verdict is Verdict.SOUND
    told = [(notice.code, notice.member) for notice in result.notices.listed]
    assert told == [
        ("clash", "home/a.MD"),
        ("clash", "home/e\u0301"),
        ("windows-name", "home/CON.txt"),
        ("link-out", "home/out"),
        ("set-id", "home/run"),
    ]


@pytest.mark.parametrize(
    ("name", "target", "out"),
    [
        ("home/l", "x", False),
        ("home/l", "..", True),
        ("home/d/l", "..", False),
        ("home/d/l", "../..", True),
        ("home/d/l", "../x/../y", False),
        ("home/l", "./x", False),
        ("home/l", "/etc", True),
        ("home/l", "C:\\x", True),
        ("home/l", "a/../../b", True),
    ],
)
def test_a_link_leads_out_by_its_text(name: str, target: str, out: bool) -> None:
    """Counted from the folder it lies in."""
    assert names.leads_out(name, target) is out


@given(st.text())
def test_a_name_that_passes_stays_below_its_root(name: str) -> None:
    """Whatever separator the reader's system has."""
    if names.fault(name) is None:
        for component in name.replace("\\", "/").split("/"):
            assert component not in (".", "..")
        assert not name.startswith(("/", "\\"))
