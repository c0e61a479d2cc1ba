"""Text on a terminal: made harmless, lined up, cut and wrapped in every script."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hermes_state.commands.calendar import calendar, shade
from hermes_state.commands.plain import one_line, safe
from hermes_state.commands.table import Cell, Column, cut, render, wrap
from hermes_state.commands.wording import ago, count, duration, listed, money, short_number, size, span

ANY_TEXT = st.text(
    st.characters() | st.sampled_from("\x1b[]0;m\x07\\\x9b\x9d\x9c\u202e\u2066\r\n\t ") | st.just("\ud800")
)
MAY_STAY = {"\n", "\t"}


@given(ANY_TEXT)
def test_safe_text_has_nothing_a_terminal_acts_on(text: str) -> None:
    """Whatever is stored: no control character but tab and line feed, no override, nothing UTF-8 can't hold."""
    made = safe(text)
    made.encode()
    assert not [c for c in made if unicodedata.category(c) == "Cc" and c not in MAY_STAY]
    assert not set(made) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert safe(made) == made


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("\x1b[31mred\x1b[0m \x1b[1;4mbold\x1b[m", "red bold"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1b]0;never ends", "0;never ends"),
        ("a\x1b(Bb\x1b7c", "abc"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("\u202egnp.exe", "gnp.exe"),
        ("نمی\u200cدانم", "نمی\u200cدانم"),
        ("👨\u200d👩\u200d👧 e\u0301", "👨\u200d👩\u200d👧 e\u0301"),
        ("\ud83d!", "\ufffd!"),
        ("tag\U000e0041\ufeff", "tag"),
    ],
)
def test_what_text_says_stays(stored: str, shown: str) -> None:
    """Joiners that words and emoji need are no control characters; no text swallows what follows it."""
    assert safe(stored) == shown


def test_one_line() -> None:
    assert one_line(" a\n\n b\tc\x00 ") == "a b c"


WRAPPED = st.characters(exclude_categories=["Cc", "Cs", "Cf", "Mn", "Me"]) | st.sampled_from("字 a\u3000\u00a0🇦🇧👩🏽")


@given(st.text(WRAPPED), st.integers(12, 60))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    lines = list(wrap(text, width, indent=0))
    assert all(cell_len(line) <= width for line, _ in lines)
    assert all(text[at : at + len(line)] == line for line, at in lines)
    assert "".join(line for line, _ in lines).replace(" ", "") == text.replace(" ", "")


def test_words_break_at_spaces_and_chinese_anywhere() -> None:
    assert [line for line, _ in wrap("the quick brown fox", 12, indent=0)] == ["the quick", "brown fox"]
    assert [line for line, _ in wrap("请把数据库升级到新的版本", 12, indent=0)] == ["请把数据库升", "级到新的版本"]
    assert [line for line, _ in wrap("unbreakable_identifier", 12, indent=0)] == ["unbreakable_", "identifier"]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(1, 40))
def test_cut_text_fits(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= width


def test_columns_line_up_in_cells_and_empty_ones_are_left_out() -> None:
    columns = (Column(head="A"), Column(head="B"), Column(head="N", right=True), Column(head="T"))
    lines = list(render(columns, [("设置", "", "7", "x"), (Cell("ab"), "", "1,000", "مرحبا")], None))
    assert lines[1] == "设置      7  x"
    assert lines[2] == "ab    1,000  مرحبا"


def test_the_last_column_is_cut_to_the_terminal() -> None:
    lines = list(render((Column(head="A"), Column(head="T")), [("ab", "字" * 40)], 30))
    assert cell_len(lines[1]) <= 30
    assert lines[1].endswith("…")


def test_a_narrow_terminal_does_without_a_column() -> None:
    columns = (Column(head="A"), Column(head="M", from_width=100), Column(head="T"))
    assert "M" not in next(iter(render(columns, [("a", "m", "t")], 80)))
    assert "M" in next(iter(render(columns, [("a", "m", "t")], None)))


NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5m ago"),
        (timedelta(hours=30), "1d ago"),
        (timedelta(days=13), "1w ago"),
        (timedelta(days=20), "2026-05-26"),
        (timedelta(days=-2), "2026-06-17"),
    ],
)
def test_ages(age: timedelta, words: str) -> None:
    assert ago(NOW - age, NOW) == words


def test_numbers() -> None:
    assert [size(n) for n in (0, 999, 1000, 1_400_000, 3e12)] == ["0 B", "999 B", "1.0 kB", "1.4 MB", "3.0 TB"]
    assert [short_number(n) for n in (9_999, 14_200, 3_100_000)] == ["9,999", "14.2k", "3.1M"]
    assert [money(n) for n in (None, 0, 12.5, 0.0421)] == ["–", "$0.00", "$12.50", "$0.0421"]
    assert [count(n, "reply", "replies") for n in (1, 1204)] == ["1 reply", "1,204 replies"]
    assert [listed(words) for words in ([], ["a"], ["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert duration(timedelta(days=9)) == "1w"


def test_spans_of_time() -> None:
    assert span(NOW, NOW) == "2026-06-15 12:00"
    assert span(NOW, NOW + timedelta(hours=2)) == "2026-06-15 12:00 – 14:00"
    assert span(NOW, NOW + timedelta(days=1)) == "2026-06-15 12:00 – 2026-06-16 12:00"


def test_a_calendar_has_a_row_a_weekday_and_darkens_with_what_was_said() -> None:
    lines = [
        line.plain for line in calendar({date(2026, 6, 15): 100, date(2026, 6, 9): 1}, last=date(2026, 6, 17), weeks=4)
    ]
    assert lines[0] == "       Jun"
    assert lines[1].split() == ["Mon", "·", "·", "·", "█"]
    assert lines[2].split() == ["Tue", "·", "·", "░", "·"]
    assert lines[7].split() == ["Sun", "·", "·", "·"]
    assert [shade(n, 100) for n in (0, 1, 30, 100)] == [0, 1, 2, 4]
