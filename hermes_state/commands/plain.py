"""Stored text made safe for a terminal: what it says stays, what it could do to the terminal goes.

A message can hold anything an agent ever read: colour codes, cursor movements, a sequence that sets the window's
title, bidirectional overrides that reorder the line they stand in.
"""

from __future__ import annotations

import re

# A control string (window title, hyperlink, …) ends at BEL or ST. One that does not end soon hides nothing: then only
# its introducer goes, so that no text can swallow what follows it.
_MAX_STRING = 2048
_SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    rf"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]{{0,{_MAX_STRING}}}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, …
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
# C0 but tab and line feed, DEL, C1, bidi embeddings, overrides and isolates, invisible operators, tag characters.
_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
_SURROGATE = "[\ud800-\udfff]"
_LINE_BREAK = "\r\n|[\r\x0b\x0c\x85\u2028\u2029]"
# Most text has none of these, and one scan tells.
_SUSPECT = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    """Text with its lines kept and nothing in it that a terminal acts on; lone surrogates become U+FFFD."""
    if text.isprintable() or not re.search(_SUSPECT, text):  # the patterns are compiled when they are needed
        return text
    text = re.sub(_SEQUENCE, "", text)
    text = re.sub(_LINE_BREAK, "\n", text)
    return re.sub(_SURROGATE, "\ufffd", re.sub(_CONTROL, "", text))


def one_line(text: str) -> str:
    """As `safe`, with all white space collapsed to single spaces."""
    return " ".join(safe(text).split())
