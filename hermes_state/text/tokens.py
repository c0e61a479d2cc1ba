"""One raw run of letters and digits, and the index tokens that it stands for."""

import re
from dataclasses import dataclass, field

from hermes_state.text.stem import stem

# A longer run without separators is data (base64, a hex dump), not a word; SHA-256 in hex is 64.
MAX_TOKEN_CHARS = 64
# A run this long of mixed case and digits may be a line of base64; the text is then looked at as a whole.
SUSPECT_CHARS = 40
# Raw runs remembered before starting afresh: the vocabulary of a store fits, its ids need not.
MAX_REMEMBERED = 100_000

# `++` is kept on these and on names of one or two letters; elsewhere it is an increment (`counter++`).
_PLUS_PLUS_NAMES = frozenset({"libc", "libstdc", "clang", "notepad"})
# 'm 're … say nothing about the subject; n't does, so `can't` stays one token apart from `can`.
_DROPPED_SUFFIXES = frozenset({"s", "m", "d", "re", "ve", "ll"})

# 2026-01-31T10:00:00Z must be found by its date and by its time, v1.2.3 by its number.
_COMPOUND = re.compile(r"(v)(\d{1,4})|(\d{2}|\d{8})t(\d{2,6})z?|(\d{2,6})z")
_HUMP = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Shorter parts on average, or more of them, mean a random id.
_MIN_PART_CHARS = 3
_MAX_PARTS = 10


def expand(raw: str) -> tuple[str, ...]:
    """The tokens of one folded raw run, in order; none for opaque data.

    One run gives more than one token where people search for a part: `v1` gives v and 1, `31t10` gives 31 and 10.
    """
    if raw.isalpha():
        return (stem(raw),) if len(raw) <= MAX_TOKEN_CHARS else ()
    if "'" in raw:
        return _contraction(raw)
    if raw.endswith("++"):
        return _plus_plus(raw[:-2])
    if raw.endswith("#"):
        return (raw,) if len(raw) == 2 and raw[0].isalpha() else expand(raw[:-1])
    if match := _COMPOUND.fullmatch(raw):
        return tuple(filter(None, match.groups()))
    return (raw,) if len(raw) <= MAX_TOKEN_CHARS else ()


def _contraction(raw: str) -> tuple[str, ...]:
    head, _, tail = raw.partition("'")
    if tail == "t" and head.endswith("n") and head.isascii() and head.isalpha():
        return expand(head + tail)
    if tail in _DROPPED_SUFFIXES:
        return expand(head)
    return expand(head) + expand(tail)


def _plus_plus(name: str) -> tuple[str, ...]:
    if len(name) <= 2 or name in _PLUS_PLUS_NAMES:
        return (name + "++",)
    return expand(name)


def camel_spans(name: str) -> list[tuple[int, int]]:
    """Where the parts of an unfolded camelCase identifier stand in it; none for a plain word, an acronym, an id."""
    if len(name) > MAX_TOKEN_CHARS or not _HUMP.search(name):
        return []
    spans = [match.span() for match in _PART.finditer(name)]
    if not 2 <= len(spans) <= _MAX_PARTS or len(name) < _MIN_PART_CHARS * len(spans):
        return []
    return spans


def camel_parts(name: str) -> tuple[str, ...]:
    """The tokens of the parts of an unfolded camelCase identifier."""
    return tuple(stem(name[start:end].lower()) for start, end in camel_spans(name))


class _Singles(dict[str, str]):
    """Raw run, ASCII as typed or else folded, to its one token; runs that are not so simple are specials too."""

    def __init__(self, specials: "dict[str, Special]") -> None:
        super().__init__()
        self.specials = specials

    def __missing__(self, raw: str) -> str:
        tokens, parts = self._tokens(raw), camel_parts(raw)
        suspect = len(raw) >= SUSPECT_CHARS and not (raw.islower() or raw.isupper() or raw.isalpha())
        if len(tokens) != 1 or parts or suspect:
            self.specials[raw] = Special(tokens, parts, suspect)
        self[raw] = token = tokens[0] if tokens else ""
        return token

    def _tokens(self, raw: str) -> tuple[str, ...]:
        """A word at the beginning of a sentence is stemmed as the one within, once."""
        lower = raw.lower() if raw.isascii() else raw
        if lower == raw:
            return expand(raw)
        token = self[lower]
        return self.specials[lower].tokens if lower in self.specials else (token,)


@dataclass(frozen=True, slots=True)
class Special:
    """A raw run that is not one token: its tokens in order, its camelCase parts, whether it may be encoded data."""

    tokens: tuple[str, ...]
    parts: tuple[str, ...]
    suspect: bool


@dataclass(slots=True)
class Vocabulary:
    """Every raw run met so far: parsed and stemmed once, then two dictionary look-ups.

    Attributes:
        singles: The token of a run; to be trusted for runs that are not in specials. Reading it fills both tables.
        specials: The runs with none, many or additional tokens.
    """

    specials: dict[str, Special] = field(default_factory=dict)
    singles: _Singles = field(init=False)

    def __post_init__(self) -> None:
        self.singles = _Singles(self.specials)

    def tokens(self, raw: str) -> tuple[str, ...]:
        """The tokens of one raw run."""
        token = self.singles[raw]
        special = self.specials.get(raw)
        return special.tokens if special else (token,)


_vocabularies = [Vocabulary()]


def vocabulary() -> Vocabulary:
    """The vocabulary that this process shares; a new one when the old has grown too large.

    Callers keep the one they got for the whole text, so that its two tables stay in step while other threads go on.
    """
    if len(_vocabularies[0].singles) > MAX_REMEMBERED:
        _vocabularies[0] = Vocabulary()
    return _vocabularies[0]
