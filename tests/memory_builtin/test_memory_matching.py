"""Finding the entry somebody means by text that was retyped."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.builtin.entries import Entry
from memory.builtin.matching import find, is_same, nearest


def entries(*texts: str) -> list[Entry]:
    return [Entry(text, text) for text in texts]


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("Limits – “soft” quota", 'Limits - "soft" quota', "Limits – “soft” quota"),
        ("uses\u00a0  two spaces", "uses two", "uses\u00a0  two"),
        ("caf\u00e9 au lait", "cafe\u0301", "caf\u00e9"),
        (unicodedata.normalize("NFD", "한국어 답변"), "한국어", unicodedata.normalize("NFD", "한국어")),
        ("wait… then go", "wait... then", "wait… then"),
        ("Prefers TABS", "prefers tabs", "Prefers TABS"),
        ("他喜欢喝茶。", "喜欢", "喜欢"),
        ("ｆｕｌｌ width", "full", "ｆｕｌｌ"),
        ("line one\nline two", "one line two", "one\nline two"),
        ("soft\u00adhyphen", "softhyphen", "soft\u00adhyphen"),
    ],
)
def test_retyped_text_is_found_where_it_stands(text: str, wanted: str, found: str) -> None:
    (place,) = find(entries("other", text), wanted)
    assert place.index == 1
    assert text[place.start : place.end] == found


def test_an_exact_match_wins_over_a_similar_one() -> None:
    places = find(entries("Editor: Vim", "editor: vim"), "editor: vim")
    assert [place.index for place in places] == [1]


@pytest.mark.parametrize(("text", "wanted", "is_found"), [
    ("likes tea", "e", False), ("likes tea", "tea", True), ("喜欢喝茶", "茶", True), ("C++ and Go", "C++", True),
    ("ชอบกาแฟ", "กาแฟ", True),
])  # fmt: skip
def test_part_of_a_word_is_not_the_word(text: str, wanted: str, is_found: bool) -> None:
    assert bool(find(entries(text), wanted, whole_words=True)) is is_found


def test_the_nearest_entries_are_offered() -> None:
    known = entries("The deploy host is db-07", "User likes tea", "Editor is helix")
    assert nearest(known, "deploy host was db-7")[0] == 0
    assert nearest(known, "completely different thing zzz") == []


def test_sameness_ignores_form() -> None:
    assert is_same(" Likes  TEA ", "likes tea")
    assert not is_same("likes tea", "likes teas")


@given(st.text(max_size=30), st.text(min_size=1, max_size=10))
def test_places_are_places_of_the_text(text: str, wanted: str) -> None:
    for place in find(entries(text), wanted):
        assert 0 <= place.start < place.end <= len(text)


@given(st.text(min_size=1, max_size=30))
def test_every_text_finds_itself(text: str) -> None:
    if text.strip():
        assert find(entries(text.strip()), text)
