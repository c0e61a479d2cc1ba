"""The rules put together and asked."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from hermes_state.text import fold
from memory.safety.english import (
    CONCEAL,
    ENGLISH,
    OVERRIDE,
    REVEAL,
    ROLE,
    SEND,
    is_negated,
)
from memory.safety.finding import Finding, excerpt
from memory.safety.lexicon import GLUED, SPACED, Language
from memory.safety.sentences import pieces, sentences
from memory.safety.shell import FORGED, SHELL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.safety.english import EnglishRule
    from memory.safety.sentences import Sentence

_DESTINATION = re.compile(
    r"(?:https?|ftps?|wss?)://|www\.|[\w.+-]+@[\w-]+\.\w+|webhook|pastebin|\d{1,3}(?:\.\d{1,3}){3}"
)
# An address may stand a long way from the verb.
_ADDRESS_REACH = 120
# A negation just before, or just behind, a verb turns *forget* into *remember*.
_NEGATED_BEFORE = re.compile(
    r"(?:\bnever|\bnot|n't|\bno|\bne|\bn'|\bnao|\bnon|\bне|\bnicht|不要|别|別|勿|不可|不能|不得|لا)\s*$"
)
_NEGATED_BEHIND = re.compile(
    r"\s*(?:pas\b|nicht\b|jamais\b|nie\b|しないで|しない|ないで|ない|지\s?(?:마|말|않)|मत|न करें)"
)
# Characters before a verb in which a negation is looked for.
_NEGATION_CHARS = 12
_TOKEN = re.compile(r"\w+")
# Occurrences of one column that are tried; more are repetition.
_MOST = 6


class _BagRule(NamedTuple):
    """Words that have to stand together.

    Attributes:
        starts: the first words of the first column, of which a text must have one; their first characters where words
            are not apart.
    """

    starts: frozenset[str]
    rule: str
    intent: str
    columns: tuple[re.Pattern[str], ...]
    reach: int
    is_latin: bool


def broken_rules(text: str) -> Iterator[Finding]:
    """What is found in a text, each rule once."""
    found: dict[str, Finding] = {}
    for line in text.splitlines():
        for piece in pieces(line):
            for each in (*SHELL, *FORGED):
                _note(found, each, piece, piece)
    for sentence in sentences(text):
        for form in sentence.latin:
            for each in ENGLISH:
                if each.may_match(form):
                    _note(found, each, form, sentence.raw)
        _ask_languages(found, sentence)
    yield from found.values()


def _note(found: dict[str, Finding], rule: EnglishRule, text: str, raw: str) -> None:
    if rule.rule in found:
        return
    for match in rule.pattern.finditer(text):
        if not (rule.negatable and is_negated(text, match.start())):
            shown = match.group() if text is raw else raw
            found[rule.rule] = Finding(rule=rule.rule, intent=rule.intent, excerpt=excerpt(shown))
            return


def _ask_languages(found: dict[str, Finding], sentence: Sentence) -> None:
    is_ascii = sentence.folded.isascii()
    tokens = frozenset(token for form in (sentence.folded, *sentence.latin) for token in _TOKEN.findall(form))
    characters = frozenset(sentence.folded)
    for rule in _bag_rules():
        if rule.rule in found or (is_ascii and not rule.is_latin):
            continue
        if rule.starts.isdisjoint(tokens if rule.is_latin else characters):
            continue
        forms = {sentence.folded, *sentence.latin} if rule.is_latin else {sentence.folded}
        if any(_stands_together(rule, form) for form in forms):
            found[rule.rule] = Finding(rule=rule.rule, intent=rule.intent, excerpt=excerpt(sentence.raw))


def _stands_together(rule: _BagRule, text: str) -> bool:
    """Whether a word of each column stands within the rule's reach, none of them inside another."""
    first = (match for match in rule.columns[0].finditer(text) if not _is_negated(text, match))
    for match in islice(first, _MOST):
        low, high = max(0, match.start() - rule.reach), match.end() + rule.reach
        window = text[low : match.start()] + "\x00" + text[match.end() : high]
        if _all_in(rule.columns[1:], window):
            return True
    return False


def _all_in(columns: tuple[re.Pattern[str], ...], window: str) -> bool:
    """Whether every column has a word in a text; a word counts for one column only."""
    if not columns:
        return True
    for match in islice(columns[0].finditer(window), _MOST):
        if _all_in(columns[1:], f"{window[: match.start()]}\x00{window[match.end() :]}"):
            return True
    return False


def _is_negated(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _NEGATION_CHARS) : match.start()]
    return bool(_NEGATED_BEFORE.search(before) or _NEGATED_BEHIND.match(text, match.end()))


@cache
def _bag_rules() -> tuple[_BagRule, ...]:
    glued = [rule for language in GLUED for rule in _rules_of(language, is_latin=False)]
    return (*glued, *(rule for language in SPACED for rule in _rules_of(language, is_latin=True)))


def _rules_of(language: Language, *, is_latin: bool) -> Iterator[_BagRule]:
    def rule(name: str, intent: str, reach: int, *columns: str) -> _BagRule:
        patterns = tuple(_words(column, whole=is_latin) for column in columns)
        phrases = [fold(phrase).strip() for phrase in columns[0].split("|")]
        first = {match.group() for phrase in phrases if (match := _TOKEN.search(phrase))}
        starts = first if is_latin else {phrase[0] for phrase in phrases}
        patterns += (_DESTINATION,) if name == "send_secrets" else ()
        return _BagRule(frozenset(starts), name, intent, patterns, reach, is_latin)

    reach = language.reach
    yield rule("override_instructions", OVERRIDE, reach, language.ignore, language.earlier, language.instructions)
    yield rule("override_instructions", OVERRIDE, 0, language.dismiss)
    yield rule("send_secrets", SEND, _ADDRESS_REACH, language.send, language.secrets)
    yield rule("conceal_from_user", CONCEAL, 0, language.conceal)
    yield rule("reveal_prompt", REVEAL, reach, language.reveal, language.prompt)
    yield rule("role_hijack", ROLE, 0, language.role)


def _words(column: str, *, whole: bool) -> re.Pattern[str]:
    """The words of a column, in their folded form."""
    parts = []
    for word in column.split("|"):
        stem, ending = (word[:-1], r"\w*") if word.endswith("*") else (word, "")
        parts.append(re.escape(" ".join(fold(stem).split())).replace(r"\ ", r"\s?") + ending)
    joined = "|".join(sorted(parts, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)" if whole else joined)
