"""Snippets and highlights."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_harness import TEXTS, Index, render_term

from hermes_state.text import fold, highlights, parse, snippet
from hermes_state.text.matches import find_term
from hermes_state.text.offsets import FoldedText, extends


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("We deployed it", "deploy", ["deployed"]),
        ("memories released", "memory* release*", ["memories", "released"]),
        ("dying possibilities", "die possible", ["dying", "possibilities"]),
        ("see lib/util.rs, not util", "lib/util.rs", ["lib/util.rs"]),
        ("green blue, blue-green", "blue-green", ["blue-green"]),
        ("call parseHttpRequest", "http", ["Http"]),
        ("call parseHttpRequest", "parsehttprequest", ["parseHttpRequest"]),
        ("v1.2.3 on 2026-01-31T10:00Z", "1.2.3 2026-01-31", ["1.2.3", "2026-01-31"]),
        ("an e\u0301te\u0301 with GRÖSSE", "été größe", ["e\u0301te\u0301", "GRÖSSE"]),
        ("ﬁnal Ｄｏｃｋｅｒ", "final docker", ["ﬁnal", "Ｄｏｃｋｅｒ"]),
        ("half-width ﾊﾞｯｸ", "バック", ["ﾊﾞｯｸ"]),
        ("会议纪要里的预算超支问题", "预算超支", ["预算超支"]),
        ("修改youer服务端", "youer", ["youer"]),
        ("时间线的扩展", "哪个时间线得到了扩展", ["时间线", "扩展"]),
        ("你好👍🏽 👨‍👩‍👧 🇩🇪❤️", "👍 👨‍👩‍👧 🇩🇪 ❤", ["👍🏽", "👨‍👩‍👧", "🇩🇪❤️"]),
        ("مَرحَبًا", "مرحبا", ["مَرحَبًا"]),
        ("the cat", "the cat", ["cat"]),
        ("the cat", "the", ["the"]),
        ("C++ or C", "C++", ["C++"]),
        ("I can’t", "can't", ["can’t"]),
        ("dog NOT here", "dog NOT cat", ["dog"]),
        ("nothing", "else", []),
    ],
)
def test_highlights_stand_in_the_original(text, query, marked):
    """What the query finds is marked as it is written in the text, whatever folding did to its length."""
    assert [text[start:end] for start, end in highlights(text, query)] == marked


def test_snippet_shows_the_match_with_marks():
    """The match is marked, line ends become spaces and cuts are shown."""
    text = "first line\n\n" + "filler words " * 40 + "the needle\nis here " + "more filler " * 40

    shown = snippet(text, "needle", width=60)

    assert ">>>needle<<< is here" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "\n" not in shown


def test_snippet_takes_the_stretch_with_most_terms():
    """Two different terms near each other beat one term many times."""
    text = "alpha " * 100 + "filler " * 100 + "alpha beta" + " filler" * 100

    assert ">>>alpha<<< >>>beta<<<" in snippet(text, "alpha beta") or ">>>alpha beta<<<" in snippet(text, "alpha beta")


def test_letters_shared_with_other_words_do_not_hide_the_needle():
    """A rare word is found behind thousands of others that begin like it."""
    text = "lorem loud lodge " * 5000 + "the log ends"

    assert ">>>log<<<" in snippet(text, "log")


def test_snippet_of_a_short_text_is_the_text():
    """Nothing is cut that fits."""
    assert snippet("short text", "absent") == "short text"


def test_snippet_without_a_match_is_the_beginning():
    """A text that is shown for another reason begins at its beginning."""
    assert snippet("one two three four", "absent", width=10) == "one two…"


def test_marks_are_the_callers():
    """Any two strings can be the marks."""
    assert snippet("a needle", "needle", marks=("<b>", "</b>")) == "a <b>needle</b>"


def test_cuts_fall_between_words():
    """A word is not cut when a space is near."""
    words = {"elephant", "giraffe", "needle", "…"}
    shown = snippet("elephant giraffe " * 30 + "needle " + "elephant giraffe " * 30, "needle", marks=("", ""))

    assert set(shown.replace("…", "").split()) <= words


@pytest.mark.parametrize("unit", ["e\u0301", "👨‍👩‍👧", "👍🏽", "🇩🇪", "❤️", "ที่", "\ud83d\ude00"])
def test_no_cut_inside_a_character(unit):
    """What is seen as one character is never taken apart."""
    for width in range(1, 12):
        shown = snippet(unit * 40, "absent", width=width).removesuffix("…")

        assert shown == unit * (len(shown) // len(unit))


@pytest.mark.parametrize(
    "filler", ["lorem ipsum dolor sit amet ", "会议纪要里的问题需要解决，", "naïve café — déjà vu "]
)
def test_needle_in_a_long_tool_result(filler):
    """A needle at 90,000 of 100,000 characters is shown."""
    text = (filler * 9000)[:90_000] + " needle 针头 " + (filler * 900)[:10_000]

    shown = snippet(text, "needle 针头")

    assert ">>>needle<<<" in shown


def test_text_that_repeats_a_word_is_no_slow_path():
    """Spam and hostile texts take no longer than their length asks for."""
    for text in (
        "alpha " * 20_000,
        "a" * 100_000,
        "预" * 100_000,
        "'" * 100_000,
        "a'" * 50_000,
        "\u0301" * 100_000,
        "🇩" * 50_000,
    ):
        started = time.process_time()  # what others do meanwhile does not count
        snippet(text, "alpha 预算 a 预 'a 🇩🇪")
        assert time.process_time() - started < 10


@given(TEXTS)
def test_folding_in_pieces_is_folding(text):
    """The folded form with offsets is the folded form."""
    assert FoldedText(text).folded == fold(text)


@given(TEXTS, TEXTS)
def test_highlights_are_spans_of_the_text(text, query):
    """Spans lie in the text, in order, apart, and never cut a character."""
    end = -1
    for first, last in highlights(text, query):
        assert end < first < last <= len(text)
        assert last == len(text) or not extends(text, last)
        end = last


@given(TEXTS, TEXTS, st.integers(1, 40))
def test_snippet_shows_a_match_if_there_is_one(text, query, width):
    """A text that is found shows why."""
    found = highlights(text, query)

    assert ("«" in snippet(text, query, width=width, marks=("«", "»"))) >= bool(found)


@given(TEXTS, st.data())
def test_whatever_an_index_finds_is_highlighted(text, data):
    """A word of a text, put as a query, is found by the index and marked in the text."""
    pieces = text.split()
    if pieces:
        query = f'"{data.draw(st.sampled_from(pieces)).replace(chr(34), " ")}"'
        leaves = list(parse(query).leaves())
        if leaves and Index("sqlite3").add(text).search(query):
            assert highlights(text, query)


@given(TEXTS, TEXTS, st.data())
def test_a_text_is_matched_as_its_index_would_match_it(text, other, data):
    """What is not indexed yet can be searched directly, with the same answer for every term."""
    pieces = (text + " " + other).split()
    query = data.draw(st.sampled_from(pieces)) if pieces else ""
    if len(query) > 1:
        start = data.draw(st.integers(0, len(query) - 1))
        query = query[start : data.draw(st.integers(start + 1, len(query)))] + data.draw(st.sampled_from(["", "*"]))
    for leaf in parse(query).leaves():
        for term in leaf.exact + leaf.bag:
            assert bool(Index("sqlite3").add(text).match(render_term(term))) == any(find_term(FoldedText(text), term))
