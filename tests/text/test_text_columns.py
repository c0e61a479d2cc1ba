"""The columns of the index: the same tokens as segmentation's, whatever the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_harness import PARTS, TEXTS

from hermes_state.text import columns, index_columns, index_text, segment


def columns_of(text):
    return index_text(segment(text))


@given(st.lists(PARTS, max_size=12).map("".join))
def test_what_the_rules_turn_on(text):
    """Pieces that touch each other in every order are cut as segmentation cuts them."""
    assert index_columns(text) == columns_of(text)


@given(TEXTS)
def test_any_text(text):
    """No text has other tokens in the index than a query asks for."""
    assert index_columns(text) == columns_of(text)


@given(st.lists(st.one_of(PARTS, TEXTS), max_size=20))
def test_a_vocabulary_that_grows(texts):
    """What a piece was found to be in one text is true in the next, in any order."""
    assert [index_columns(text) for text in texts * 2] == [columns_of(text) for text in texts * 2]


def test_a_full_vocabulary_starts_afresh(monkeypatch):
    """A store of nothing but new words does not fill the memory."""
    monkeypatch.setattr(columns, "MAX_REMEMBERED", 50)
    for number in range(200):
        assert index_columns(f"word{number} getHTTPResponse{number}x") == columns_of(
            f"word{number} getHTTPResponse{number}x"
        )
    assert len(columns._pieces[0]) <= 53


@pytest.mark.parametrize("text", ["# Title\n\n## 2 + 3 = 'five'\n* item", "'", "# #", "", " \n "])
def test_pieces_without_a_token(text):
    """Signs that stand alone leave no blank behind."""
    words, _ = index_columns(text)
    assert words == " ".join(words.split())
    assert (words, "") == columns_of(text)
