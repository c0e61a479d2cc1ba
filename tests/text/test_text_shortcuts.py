"""The quick ways for what is common give what the thorough ways give."""

from __future__ import annotations

import unicodedata
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from hermes_state.clock import EPOCH, from_us
from hermes_state.text import fold, parse, scripts
from hermes_state.text import query as language
from hermes_state.text.snippet import _BLANKS, one_line

_EVERYDAY = st.text("aZ 1,.我们在数据库の は カタ한국어，。！？：；（）…「」“”‘’—·\n", max_size=40)


@given(_EVERYDAY)
def test_everyday_east_asian_text_folds_as_any_other(text: str) -> None:
    # A mark with a character of no consequence beside it takes the thorough way.
    assert fold(text) == fold(f"{text}\u200b")


def test_each_everyday_character_folds_to_what_unicode_says() -> None:
    for point in range(0x80, 0x10000):
        character = chr(point)
        if scripts._EVERYDAY.fullmatch(character):
            normal = unicodedata.normalize("NFKC", character).casefold()
            assert fold(character) == normal.translate(scripts._FOLDED), hex(point)


@given(st.integers(-(2**40), 2**53) | st.integers(2**32 * 10**6 - 3, 2**32 * 10**6 + 3))
def test_times_are_exact_to_the_microsecond(microseconds: int) -> None:
    assert from_us(microseconds) == EPOCH + timedelta(microseconds=microseconds)


@given(
    st.text('ab "*AND-()好（“1.', max_size=12).flatmap(lambda text: st.sampled_from([text, f'"{text}"', f"{text}*"]))
)
def test_one_word_prefix_or_phrase_is_read_as_the_language_reads_it(query: str) -> None:
    # In parentheses it is no lone leaf to begin with.
    quick = parse(query)
    leaf = language._only_leaf(query.strip())
    if leaf is not None:
        assert quick.node == parse(f"({query.strip()})").node


@given(st.text(" a\t\n\x00\x1f\x85\xa0\u3000\u200b好é", max_size=40))
def test_one_line_has_no_blanks_but_single_spaces(text: str) -> None:
    assert one_line(text) == _BLANKS.sub(" ", text).strip()
