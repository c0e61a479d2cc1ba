"""English stems, the same from the compiled and from the pure stemmer."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from threading import Lock

from snowballstemmer.english_stemmer import EnglishStemmer

# A shorter token has no suffix worth cutting; a longer one is no English word.
MIN_LETTERS = 3
MAX_LETTERS = 32

# Whatever the algorithm cuts or changes ends so. Half of all words end otherwise and are their own stems.
_ENDINGS = (
    *("s", "e", "y", "ed", "ng", "al", "ul", "ll", "er", "or"),
    *("sm", "on", "ic", "nt", "st", "ci", "gi", "li", "ti"),
)

# The release of the algorithm: rules change with major and minor versions only.
VERSION = ".".join(version("snowballstemmer").split(".")[:2])


def stem(token: str) -> str:
    """The English stem of a folded token; a token that is not an ASCII word is its own stem."""
    is_word = MIN_LETTERS <= len(token) <= MAX_LETTERS and token.isascii() and token.isalpha()
    if is_word and token.endswith(_ENDINGS):
        with _LOCK:
            return _stem_word(token)
    return token


def _choose_stemmer() -> Callable[[str], str]:
    """The compiled stemmer if it is installed in the same release, 50 times as fast; another would stem otherwise."""
    try:
        compiled = import_module("Stemmer")
    except ImportError:
        compiled = None
    if compiled is not None and compiled.version().startswith(f"{VERSION}."):
        chosen: Callable[[str], str] = compiled.Stemmer("english").stemWord
    else:
        chosen = EnglishStemmer().stemWord
    return chosen


# A stemmer keeps the word it works on in itself, so two threads must not share a call.
_LOCK = Lock()
_stem_word = _choose_stemmer()
