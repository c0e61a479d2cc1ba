"""Encoded data inside a text: nobody searches it, and it would fill the index."""

import re

# Shorter runs of base64 cost a few tokens, and could be an id that somebody looks for.
MIN_BLOB_CHARS = 200
_DATA_URL = re.compile(r"data:[\w.+-]{1,64}/[\w.+-]{1,64}[^,\s\"'<>]{0,128};base64,[A-Za-z0-9+/=_%-]*", re.IGNORECASE)
# Lines of wrapped base64 are 64 or 76 characters long, parted by real or escaped line ends; the last one is shorter.
_LINE_END = r"(?:[\r\n\t ]|\\[rnt])++"
_BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{{60,}}+(?:{_LINE_END}[A-Za-z0-9+/=]{{60,}}+)*+(?:{_LINE_END}(?:[A-Za-z0-9+/]{{20,}}|[A-Za-z0-9+/]+=))?"
)
_LOWER_UPPER = re.compile("[a-z](?=[A-Z])")
_LETTER_DIGIT = re.compile("[A-Za-z](?=[0-9])")
# Random base64 has 0.18 and 0.14 of these per character. A path has few digits, a list of hashes has one case.
_MIN_CHANGES = 0.08


def without_blobs(text: str) -> str:
    """The text with each data URL and each long run of base64 replaced by a space."""
    return _BASE64.sub(_blank, _DATA_URL.sub(" ", text))


def has_data_url(text: str) -> bool:
    """Whether a look at the text for data URLs is worth the time."""
    return ";base64," in text


def _blank(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) < MIN_BLOB_CHARS:
        return run
    fewest = len(run) * _MIN_CHANGES
    if len(_LOWER_UPPER.findall(run)) < fewest or len(_LETTER_DIGIT.findall(run)) < fewest:
        return run
    return " "
