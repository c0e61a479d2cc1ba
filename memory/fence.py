"""The fence around recalled memory, and how a fenced block is told from prose that only mentions it.

A model that was shown a block sometimes says it again. What it says passes here on its way to the person: the payload
is dropped, whatever pieces the text comes in. Whether an opening tag opens a block is told by what stands around it:

* alone on its line, or before the note that every block begins with: a block. It ends at its closing tag; a block that
  is never closed is dropped to the end.
* in quotation marks, before punctuation, or as a word inside a line: prose, and shown.
* anything else (a payload glued to the tag, a tag that ends a line of prose) is held back until a closing tag shows
  that it was a block. If none comes before another opening tag, the end, or `MAX_HELD` characters, it was prose.

A pair with nothing but a joining word between (`<memory-context> and </memory-context>`) hides nothing: prose too.
"""

from __future__ import annotations

import re
from enum import Enum, auto

TAG = "memory-context"
NOTE_START = "[System note: The following is recalled memory context"
# How far the closing tag of a doubtful block may be, in characters: four times what one turn recalls at most.
MAX_HELD = 32_768

_MAX_SPACES = 8  # inside a tag; more is no tag, so that what is held stays short
_SPACES = rf"[ \t]{{0,{_MAX_SPACES}}}"
TAGS = re.compile(rf"<{_SPACES}(?P<slash>/?){_SPACES}{TAG}{_SPACES}>", re.IGNORECASE)
_QUOTES = frozenset("`'\"‘’‚“”„«»‹›「」『』《》〈〉")
_ENDS = frozenset(".,;:!?)]}…。，、；：！？）］】")
_MAX_JOINING = 16
_JOINING = re.compile(
    r"[\W_]*(?:and|or|to|und|oder|y|o|et|ou|e|и|или|و|और|和|与|與|或|と|や|와|과)?[\W_]*", re.IGNORECASE
)


class _Verdict(Enum):
    BLOCK = auto()  # dropped until its closing tag
    PROSE = auto()
    DOUBTFUL = auto()  # a block if it is closed
    UNDECIDED = auto()  # more text decides


def _may_become_tag(tail: str) -> bool:
    """Whether a text that starts with `<` and has no end yet can still grow into a tag."""
    rest = tail[1:]
    for part in ("", "/"):
        rest = rest.removeprefix(part)
        bare = rest.lstrip(" \t")
        if len(rest) - len(bare) > _MAX_SPACES:
            return False
        rest = bare
    name = rest[: len(TAG)].lower()
    spaces = rest[len(TAG) :]
    return TAG.startswith(name) and len(spaces) <= _MAX_SPACES and not spaces.strip(" \t")


def _open_tail(text: str) -> int:
    """Where an unfinished tag at the end of a text begins; its length if there is none."""
    start = text.rfind("<", max(0, len(text) - len(TAG) - 3 * _MAX_SPACES - 2))
    return start if start >= 0 and _may_become_tag(text[start:]) else len(text)


class Scrubber:
    """Takes fenced blocks out of a text that comes in pieces.

    The pieces that `feed` and `flush` return, joined, are the same however the text was cut. One scrubber serves one
    answer; `reset` makes it ready for the next.

    Args:
        keep_unclosed: of a block that is never closed only the tag is dropped: for texts that a person wrote.
    """

    def __init__(self, *, keep_unclosed: bool = False) -> None:
        self._keep_unclosed = keep_unclosed
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next piece begins a new text."""
        self._held = ""
        self._searched = 0  # so much of a doubtful block has been looked through
        self._inside = False
        self._fresh_line = True
        self._last = ""
        self.removed = 0  # blocks taken out

    def feed(self, chunk: str) -> str:
        """What can be shown now. Text that may belong to a block is held back."""
        self._held += chunk
        return self._drain(final=False)

    def flush(self) -> str:
        """The text has ended: what was held back and is no block. An unclosed block is dropped."""
        shown = self._drain(final=True)
        removed = self.removed
        self.reset()
        self.removed = removed
        return shown

    def _drain(self, *, final: bool) -> str:
        shown: list[str] = []
        while self._held:
            progress = self._leave_block() if self._inside else self._next_tag(shown, final=final)
            if not progress:
                break
        if final and self._inside and self._keep_unclosed:
            self._show(shown, len(self._held))
        return "".join(shown)

    def _leave_block(self) -> bool:
        """Drop what is inside a block; True once it is behind us."""
        for tag in TAGS.finditer(self._held):
            if tag["slash"]:
                self._close(tag.end())
                return True
        if not self._keep_unclosed:
            self._held = self._held[_open_tail(self._held) :]
        return False

    def _close(self, end: int) -> None:
        self._held = self._held[end:]
        self._inside, self._fresh_line, self._last = False, True, ""
        self._searched = 0
        self.removed += 1

    def _next_tag(self, shown: list[str], *, final: bool) -> bool:
        """Show what comes before the next opening tag and decide about it; False if more text is needed."""
        tag = TAGS.search(self._held)
        if tag is None:
            self._show(shown, len(self._held) if final else _open_tail(self._held))
            return False
        if tag["slash"]:
            self._show(shown, tag.end())
            return True
        if tag.start():
            self._show(shown, tag.start())
        rest = self._held[tag.end() - tag.start() :]
        verdict = self._judge(rest, final=final)
        if verdict is _Verdict.DOUBTFUL:
            return self._settle(shown, rest, final=final)
        if verdict is _Verdict.PROSE:
            self._show(shown, len(self._held) - len(rest))
        elif verdict is _Verdict.BLOCK:
            self._held, self._inside = rest, True
        return verdict is not _Verdict.UNDECIDED

    def _judge(self, rest: str, *, final: bool) -> _Verdict:
        """What an opening tag is, by what stands before and after it."""
        follows = rest.lstrip(" \t")
        if not follows:
            return _Verdict.PROSE if final else _Verdict.UNDECIDED
        if follows[0] in "\r\n":
            return _Verdict.BLOCK if self._fresh_line else _Verdict.DOUBTFUL
        if follows.startswith(NOTE_START):
            return _Verdict.BLOCK
        if NOTE_START.startswith(follows) and not final:
            return _Verdict.UNDECIDED
        if rest[0] in _ENDS or (rest[0] in _QUOTES and self._last in _QUOTES):
            return _Verdict.PROSE
        if rest[0] in " \t" and not self._fresh_line:
            return _Verdict.PROSE
        return _Verdict.DOUBTFUL

    def _settle(self, shown: list[str], rest: str, *, final: bool) -> bool:
        """Decide a doubtful block by the tag that comes next; False if more text is needed."""
        start = len(self._held) - len(rest)
        tag = TAGS.search(rest, max(0, self._searched - len(TAG) - 3 * _MAX_SPACES - 3), MAX_HELD)
        if tag is None:
            if not final and len(rest) < MAX_HELD:
                self._searched = len(rest)
                return False
            self._show(shown, start)
        elif not tag["slash"]:
            self._show(shown, start)
        elif tag.start() <= _MAX_JOINING and _JOINING.fullmatch(rest, 0, tag.start()):
            self._show(shown, start + tag.end())
        else:
            self._close(start + tag.end())
        self._searched = 0
        return True

    def _show(self, shown: list[str], end: int) -> None:
        text, self._held = self._held[:end], self._held[end:]
        if not text:
            return
        shown.append(text)
        self._last = text[-1]
        line = re.split(r"[\r\n]", text)[-1]
        self._fresh_line = not line.strip() and (self._fresh_line or len(line) < len(text))
