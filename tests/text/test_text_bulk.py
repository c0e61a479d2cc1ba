"""Many texts at once have the tokens that each has alone, whatever stands beside it and whatever came before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_harness import PARTS, TEXTS

from hermes_state.text import bulk, index_columns, piece_table
from hermes_state.text.bulk import BulkColumns

# Half of them in ASCII, which is what is done in bulk.
PLAIN = st.lists(PARTS.filter(str.isascii), max_size=12).map("".join)
ANY = st.lists(st.one_of(PLAIN, st.lists(PARTS, max_size=12).map("".join), TEXTS), max_size=12)


def assert_same(columns, texts):
    found = columns.of(texts)
    assert [tuple(map(str.split, pair)) for pair in found] == [
        tuple(map(str.split, index_columns(text))) for text in texts
    ]
    assert [bool(words) for words, _ in found] == [bool(index_columns(text)[0]) for text in texts]


@given(ANY)
def test_any_texts(texts):
    """Pieces are known the second time, and stand at other places."""
    columns = BulkColumns()
    assert_same(columns, texts)
    assert_same(columns, [*reversed(texts), *texts])


@pytest.mark.parametrize("kind", ["full", "colliding", "forgetful"])
@given(texts=st.lists(st.one_of(PLAIN, TEXTS), max_size=6))
def test_pieces_without_a_place(texts, kind):
    """A full table, words made to collide and a vocabulary that starts afresh cost time and no token."""
    with pytest.MonkeyPatch.context() as patched:
        if kind == "full":
            patched.setattr(piece_table, "_MAX_TAKEN", 3)
        elif kind == "colliding":
            patched.setattr(piece_table, "_MAX_STEPS", 3)
            patched.setattr(piece_table, "_LOW_FACTOR", 0)
            patched.setattr(piece_table, "_HIGH_FACTOR", 0)
        else:
            patched.setattr(bulk, "MAX_PIECES", 3)
        columns = BulkColumns()
        for batch in (texts, texts[::-1]):
            assert_same(columns, batch)


def test_pieces_that_differ_at_one_end():
    """Words of every length, of which one is the other's beginning or all but its first letter."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = [letters[:size] for size in range(1, 36)] + [letters[start:20] for start in range(20)]
    words += [word.upper() for word in words] + [f"{word}ing" for word in words] + [f"{word}X" for word in words]
    columns = BulkColumns()
    for _ in range(2):
        assert_same(columns, [" ".join(words), *words])


def test_stems_in_their_place():
    """What becomes shorter leaves nothing of itself behind, and what becomes longer pushes the rest on."""
    text = "The studies were running; v1 of getHTTPResponse can't 31T10 relational-databases operationalising"
    assert_same(BulkColumns(), [text, text.upper(), text.title()] * 2)


@pytest.mark.parametrize("text", ["", "'", " + # '", "\0", "\n"])
def test_texts_without_a_token(text):
    """A message with nothing to find is not in the index: its columns are empty, not blank."""
    assert BulkColumns().of([text, "word", text]) == [("", ""), ("word", ""), ("", "")]
    assert BulkColumns().of([text]) == [("", "")]
    assert BulkColumns().of([]) == []


def test_long_texts(monkeypatch):
    """A text too long for the arrays is done alone."""
    monkeypatch.setattr(bulk, "MAX_CHARS", 50)
    assert_same(BulkColumns(), ["running " * 20, "walking " * 6, "base64 " + "aB3dE5" * 60, "walks"])
