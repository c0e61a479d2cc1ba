"""Writing to the standard streams, whatever they are connected to and whatever they can encode."""

from __future__ import annotations

import json
import os
import sys
from typing import IO, Any

import click


def is_terminal(stream: Any) -> bool:
    """Whether somebody sits at the other end of a stream."""
    return bool(stream is not None and not stream.closed and stream.isatty())


def is_plain(*, no_color: bool) -> bool:
    """Whether styles are unwanted, terminal or not."""
    return no_color or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def write(stream: IO[str], line: str, *, color: bool = False) -> None:
    """A line; its styles are taken out unless `color`."""
    stream.write((line if color else click.unstyle(line)) + "\n")


def write_json(value: Any, *, indent: int | None = None, stream: IO[str] | None = None) -> None:
    """A JSON value and a line end, on stdout unless told. Readable in every script, lossless for any stream."""
    out = sys.stdout if stream is None else stream
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode(getattr(out, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # a lone surrogate, or a stream that is not UTF-8
        text = json.dumps(value, indent=indent)
    out.write(text + "\n")
