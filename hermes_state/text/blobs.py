"""Encoded data inside a text: nobody searches it, and it would fill the index."""

import re

# Shorter runs of base64 cost a few tokens, and could be an id that somebody looks for.
MIN_BLOB_CHARS = 200
# One line of wrapped base64 is 64 or 76 characters.
_MIN_LINE_CHARS = 60

_DATA_URL = re.compile(r"data:[\w.+-]{1,64}/[\w.+-]{1,64}[^,\s\"'<>]{0,128};base64,[A-Za-z0-9+/=_%-]*", re.IGNORECASE)
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{60,}+(?:(?:\s|\\[rn])+[A-Za-z0-9+/=]{60,}+)*+(?:(?:\s|\\[rn])+[A-Za-z0-9+/]+={1,2})?"
)
_LOWER_UPPER = re.compile("[a-z](?=[A-Z])")
_LETTER_DIGIT = re.compile("[A-Za-z](?=[0-9])")
# Random base64 has 0.18 and 0.14 of these per character. A path has few digits, a list of hashes has one case.
_MIN_CHANGES = 0.08


def without_blobs(text: str) -> str:
    """The text with each data URL and each long run of base64 replaced by a space."""
    if len(text) < MIN_BLOB_CHARS:
        return text
    if ";base64," in text:
        text = _DATA_URL.sub(" ", text)
    if max(map(len, text.split()), default=0) >= _MIN_LINE_CHARS:
        text = _BASE64.sub(_blank, text)
    return text


def _blank(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) < MIN_BLOB_CHARS:
        return run
    fewest = len(run) * _MIN_CHANGES
    if len(_LOWER_UPPER.findall(run)) < fewest or len(_LETTER_DIGIT.findall(run)) < fewest:
        return run
    return " "
