"""The peer's file format both ways, and what people and other editors make of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.errors import InvalidValue
from memory.builtin.entries import DELIMITER, Entry, memory_id, new_entry, parse, render, size


def peer_reads(data: bytes) -> list[str]:
    """What the peer makes of a file (reference §4.1)."""
    text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    return list(dict.fromkeys(part.strip() for part in text.split(DELIMITER) if part.strip()))


CONTENT = st.text(
    st.one_of(
        st.sampled_from("ab é中文한국어はい👍\u200dنعم§\n\t"),
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]),
    ),
    max_size=40,
)


@given(st.lists(CONTENT, max_size=6))
def test_what_is_written_is_read_back_by_us_and_by_the_peer(contents: list[str]) -> None:
    entries = []
    for content in contents:
        try:
            entry = new_entry(content)
        except InvalidValue:
            continue
        if entry not in entries:
            entries.append(entry)
    data = render(entries)
    assert list(parse(data).entries) == entries
    assert peer_reads(data) == [entry.text for entry in entries]
    assert size(entries) == len(data.decode())


def lines_of(data: bytes) -> set[str]:
    """What stands on the lines of a file, the lines between entries aside."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").replace("\r", "\n")
    return {line.strip() for line in text.split("\n")} - {"", "§"}


@given(st.binary(max_size=80))
def test_any_bytes_are_read_and_no_line_is_dropped(data: bytes) -> None:
    """Written again, a file still has every line with something on it, byte for byte."""
    entries = parse(data).entries
    assert lines_of(data) == lines_of(render(entries))
    assert parse(render(entries)).entries == entries


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"", []),
        ("one\n§\ntwo", ["one", "two"]),
        ("one\r\n§\r\ntwo\r\n", ["one", "two"]),
        ("\ufeffone\n§\ntwo\n\n", ["one", "two"]),
        ("one \n § \n\ttwo", ["one", "two"]),
        ("one\n§\n\n§\none\n§", ["one"]),
        ("§\none", ["one"]),
        ("costs 5 § each\nline two\n§\nnext", ["costs 5 § each\nline two", "next"]),
        (b"caf\xe9\n\xc2\xa7\nplain", ["caf\\xe9", "plain"]),
        (b"nul\x00byte", ["nul\\x00byte"]),
    ],
)
def test_what_editors_leave_behind_is_read(data: bytes | str, texts: list[str]) -> None:
    raw = data.encode() if isinstance(data, str) else data
    assert [entry.text for entry in parse(raw).entries] == texts


def test_bad_bytes_are_kept_and_reported() -> None:
    parsed = parse(b"ok\n\xc2\xa7\ncaf\xe9 \xff")
    assert render(parsed.entries) == b"ok\n\xc2\xa7\ncaf\xe9 \xff"
    assert parsed.problems == ("line 3 has bytes that are no UTF-8; they are kept as they are",)


@pytest.mark.parametrize(
    "content",
    ["", " \n ", "a\n§\nb", "a\n §\t\nb", "a\n§", "§", "nul\x00", "esc\x1b[0m", "lone \ud800", None, 5, ["a"]],
)
def test_what_no_entry_can_be_is_refused(content: object) -> None:
    with pytest.raises(InvalidValue):
        new_entry(content)


def test_an_id_depends_on_target_and_content_alone() -> None:
    entry = Entry("likes tea", "likes tea")
    assert memory_id("user", entry) == memory_id("user", new_entry(" likes tea\n"))
    assert memory_id("user", entry) != memory_id("memory", entry)
    assert len(memory_id("user", entry)) == 12
