"""Folding: what counts as the same spelling."""

import pytest
from hypothesis import given
from text_harness import TEXTS

from hermes_state.text import fold


@given(TEXTS)
def test_folding_twice_changes_nothing(text):
    """A folded text is its own folded form."""
    assert fold(fold(text)) == fold(text)


@given(TEXTS)
def test_folded_text_is_valid_unicode(text):
    """Whatever the text holds, its folded form can be encoded."""
    fold(text).encode()


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Straße", "strasse"),
        ("Ñandú", "nandu"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("ёлка", "елка"),
        ("Łódź Øre", "lodz ore"),
        ("ＡＢＣ１２３", "abc123"),
        ("أحمد", "احمد"),
        ("كتـــاب", "كتاب"),
        ("مدرسة", "مدرسه"),
        ("שָׁלוֹם", "שלום"),
        ("re\u00adpair", "repair"),
        ("a\u202eb", "ab"),
        ("٢٠٢٦", "2026"),
        ("can’t", "can't"),
        ("👍🏽", "👍"),
        ("❤️", "❤"),
    ],
)
def test_spelling_variants_fold(text, folded):
    """Variants that people type for one another become equal."""
    assert fold(text) == folded


@pytest.mark.parametrize("text", ["мой", "їжак", "नमस्ते", "ที่นี่", "வணக்கம்", "ガギグ", "👨‍👩‍👧", "🇩🇪"])
def test_what_makes_another_letter_stays(text):
    """Letters of their own, vowel signs, voicing marks and joined emoji are kept."""
    assert fold(text) == text


def test_lone_surrogate_becomes_a_space():
    """Half a code point is nothing to search for, and no reason to fail."""
    assert fold("a\ud800b") == "a b"
