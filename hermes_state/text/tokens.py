"""One raw run of characters of a text, and the index tokens that it stands for."""

import re

from hermes_state.text.stem import stem

# A run of letters and digits longer than this is data (base64, a hex dump), not a word; SHA-256 in hex is 64.
MAX_TOKEN_CHARS = 64

# Entries of the token cache; cleared when full. Vocabulary is far smaller, ids are what fills it.
MAX_CACHED = 100_000

# `++` is kept on these and on names of one or two letters; elsewhere it is an increment (`counter++`).
_PLUS_PLUS_NAMES = frozenset({"libc", "libstdc", "clang", "notepad"})
# 'm 're … say nothing about the subject; n't does, so `can't` stays one token apart from `can`.
_DROPPED_SUFFIXES = frozenset({"s", "m", "d", "re", "ve", "ll"})
# 2026-01-31T10:00:00Z must be found by its date and by its time.
_TIMESTAMP = re.compile(r"(\d{2}|\d{8})t(\d{2,6})z?")
_ZULU = re.compile(r"(\d{2,6})z")
_VERSION = re.compile(r"v(\d{1,4})")

_CAMEL_HUMP = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_CAMEL_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_IDENTIFIER = re.compile("[A-Za-z0-9]+")
# Shorter humps on average mean a random id, whose parts nobody searches.
_MIN_HUMP_CHARS = 3
_MAX_HUMPS = 10


class TokenCache(dict[str, tuple[str, ...]]):
    """Raw run to its tokens; a run is parsed and stemmed once, not each time it is read."""

    def __missing__(self, raw: str) -> tuple[str, ...]:
        if len(self) >= MAX_CACHED:
            self.clear()
        self[raw] = tokens = expand(raw.lower())
        return tokens


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
    for pattern in (_VERSION, _TIMESTAMP, _ZULU):
        if match := pattern.fullmatch(raw):
            return ("v", *match.groups()) if pattern is _VERSION else match.groups()
    return (raw,) if len(raw) <= MAX_TOKEN_CHARS else ()


def _contraction(raw: str) -> tuple[str, ...]:
    head, _, tail = raw.partition("'")
    if tail == "t" and head.endswith("n"):
        return expand(head + tail)
    if tail in _DROPPED_SUFFIXES:
        return expand(head)
    return expand(head) + expand(tail)


def _plus_plus(name: str) -> tuple[str, ...]:
    if len(name) <= 2 or name in _PLUS_PLUS_NAMES:
        return (name + "++",)
    return expand(name)


def camel_parts(text: str) -> list[tuple[str, ...]]:
    """The humps of each distinct camelCase identifier of an unfolded text, as tokens; acronyms and ids give none."""
    if not _CAMEL_HUMP.search(text):
        return []
    names = dict.fromkeys(name for name in _IDENTIFIER.findall(text) if _CAMEL_HUMP.search(name))
    return [parts for name in names if (parts := _humps(name))]


def _humps(name: str) -> tuple[str, ...]:
    parts = _CAMEL_PART.findall(name) if len(name) <= MAX_TOKEN_CHARS else []
    if not 2 <= len(parts) <= _MAX_HUMPS or len(name) < _MIN_HUMP_CHARS * len(parts):
        return ()
    return tuple(stem(part.lower()) for part in parts)
