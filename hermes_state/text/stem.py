"""English stems, the same from the compiled and from the pure stemmer."""

from importlib.metadata import version
from threading import Lock

import snowballstemmer

# A shorter token has no suffix worth cutting; a longer one is no English word.
MIN_LETTERS = 3
MAX_LETTERS = 32

# The release of the algorithm: its rules change with major and minor versions only.
VERSION = ".".join(version("snowballstemmer").split(".")[:2])

# A stemmer keeps the word it works on in itself, so two threads must not share a call.
_STEMMER = snowballstemmer.stemmer("english")
_STEMMER_LOCK = Lock()


def stem(token: str) -> str:
    """The English stem of a folded token; a token that is not an ASCII word is its own stem."""
    if MIN_LETTERS <= len(token) <= MAX_LETTERS and token.isascii() and token.isalpha():
        with _STEMMER_LOCK:
            return str(_STEMMER.stemWord(token))
    return token
