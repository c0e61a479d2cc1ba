"""Conversations as one HTML page for reading: it loads nothing, runs nothing, and lays out every writing system."""

from __future__ import annotations

import re
from html import escape
from typing import IO, TYPE_CHECKING

from hermes_state.transfer.document import shown_time

if TYPE_CHECKING:
    from hermes_state.transfer.document import Conversation, Piece, Turn

# A result or reasoning up to so many lines is shown open.
_OPEN_LINES = 8
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_ROLES = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_STYLE = """
:root { color-scheme: light dark; --bg: #fbfaf8; --fg: #1d1d1f; --dim: #6b6b70; --line: #e2dfd9; --card: #ffffff;
  --user: #eef4ff; --code: #f4f2ee; --mark: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --bg: #17181a; --fg: #e6e4e0; --dim: #9a9a9f; --line: #33353a;
  --card: #1e2023; --user: #1c2635; --code: #26282c; --mark: #e0b060; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg); line-height: 1.6;
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Hiragino Sans",
  "Noto Sans CJK SC", "Noto Sans Arabic", sans-serif; overflow-wrap: anywhere; }
main { max-width: 48rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 2.5rem 0 .75rem; }
article:first-of-type h1 { margin-top: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 1.5rem; color: var(--dim);
  font-size: .875rem; }
dd { margin: 0; }
.turn { margin: .9rem 0; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: .6rem;
  background: var(--card); }
.user { background: var(--user); }
.compacted { border-style: dashed; opacity: .8; }
.who { display: flex; gap: .75rem; align-items: baseline; font-size: .8rem; color: var(--dim);
  margin-block-end: .3rem; }
.who b { color: var(--fg); }
.who .mark { color: var(--mark); }
.who time { margin-inline-start: auto; }
.text { white-space: pre-wrap; }
pre, code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono CJK SC", monospace;
  font-size: .85em; }
pre { background: var(--code); border-radius: .4rem; padding: .7rem .9rem; margin: .5rem 0; overflow-x: auto;
  white-space: pre-wrap; }
code { background: var(--code); border-radius: .25rem; padding: .1em .3em; }
pre code { padding: 0; }
details { margin: .5rem 0; }
summary { cursor: pointer; color: var(--dim); font-size: .875rem; }
img { max-width: 100%; border-radius: .4rem; }
.part { text-align: center; color: var(--dim); font-size: .875rem; margin: 2rem 0; }
@media print { body { font-size: 10pt; } .turn { break-inside: avoid-page; } }
"""
# Even a mistake in the escaping could neither run a script nor load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class HtmlWriter:
    """Writes conversations one after the other into one page."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._in_conversation = False

    def start(self, title: str) -> None:
        """Begin the page."""
        self._out.write(
            "<!DOCTYPE html>\n<html>\n<head>\n"
            '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
            f'<meta name="referrer" content="no-referrer">\n<title>{escape(title)}</title>\n'
            f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        )

    def conversation(self, found: Conversation) -> None:
        """Begin a conversation."""
        self._end_conversation()
        self._in_conversation = True
        self._out.write(f'<article>\n<h1 dir="auto">{escape(found.title)}</h1>\n<dl>\n')
        for name, value in found.facts:
            self._out.write(f"<dt>{escape(name)}</dt><dd><bdi>{escape(value)}</bdi></dd>\n")
        self._out.write("</dl>\n")

    def segment(self, number: int) -> None:
        """Begin a further segment of the conversation."""
        self._out.write(f'<p class="part">The conversation was compressed here and went on (part {number}).</p>\n')

    def turn(self, turn: Turn) -> None:
        """Write a message."""
        kind = turn.role if turn.role in _ROLES else "other"
        mark = '<span class="mark">compacted</span>' if turn.compacted else ""
        self._out.write(
            f'<section class="turn {kind}{" compacted" if turn.compacted else ""}">\n<div class="who">'
            f"<b>{escape(_ROLES.get(turn.role, turn.role))}</b>{mark}"
            f'<time datetime="{turn.at.isoformat()}">{shown_time(turn.at)}</time></div>\n'
        )
        for piece in turn.pieces:
            self._out.write(_piece(piece) + "\n")
        self._out.write("</section>\n")

    def finish(self) -> None:
        """End the page."""
        self._end_conversation()
        self._out.write("</main>\n</body>\n</html>\n")

    def _end_conversation(self) -> None:
        if self._in_conversation:
            self._out.write("</article>\n")


def _piece(piece: Piece) -> str:
    match piece.kind:
        case "text":
            return _text(piece.text)
        case "reasoning":
            return _folded("Reasoning", f'<div class="text" dir="auto">{escape(piece.text)}</div>', piece.text)
        case "call":
            return _folded(f"Calls <b>{escape(piece.name)}</b>", _code(piece.text), piece.text)
        case "result":
            return _folded(f"Result of <b>{escape(piece.name)}</b>", _code(piece.text), piece.text)
        case "picture":
            return f'<img alt="picture" src="{escape(piece.text)}">'
        case _:
            return f'<p class="text">[file: <bdi>{escape(piece.text)}</bdi>]</p>'


def _folded(summary: str, body: str, text: str) -> str:
    if not text:
        return f"<p>{summary}</p>"
    opened = " open" if text.count("\n") < _OPEN_LINES and len(text) < 100 * _OPEN_LINES else ""
    return f"<details{opened}><summary>{summary}</summary>{body}</details>"


def _code(text: str) -> str:
    return f'<pre dir="auto"><code>{escape(text)}</code></pre>'


def _text(text: str) -> str:
    """A text with its fenced blocks and code spans shown as code; every other markup stays as it was typed."""
    out, at = [], 0
    for block in _FENCED.finditer(text):
        out += [_prose(text[at : block.start()]), _code(block[2].rstrip("\n"))]
        at = block.end()
    return "".join([*out, _prose(text[at:])])


def _prose(text: str) -> str:
    text = text.strip("\n")
    if not text:
        return ""
    shown = _SPAN.sub(r"<code>\1</code>", escape(text))
    return f'<div class="text" dir="auto">{shown}</div>'
