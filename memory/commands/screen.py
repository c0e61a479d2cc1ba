"""A chat on a terminal: what is printed where, and lines read with history."""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Self

import click

from hermes_state.commands.plain import one_line, safe
from hermes_state.commands.streams import is_terminal, write
from memory.agent.surface import Surface

if TYPE_CHECKING:
    from pathlib import Path

_PROMPT = "› "
HISTORY_NAME, _HISTORY_LINES = ".chat_history", 2000
# Characters of a tool's arguments that are shown.
_ARGUMENTS_CHARS = 100


class Screen:
    """The terminal of a chat. The answer goes to stdout, every word about it to stderr.

    Args:
        color: whether stderr gets styles.
        is_quiet: nothing is printed, but for errors: a program reads.
    """

    def __init__(self, *, color: bool, is_quiet: bool = False) -> None:
        self._color = color
        self._is_quiet = is_quiet
        self._is_line_open = False
        self._later: deque[str] = deque()
        self._owner = threading.current_thread()

    def surface(self) -> Surface:
        """What the agent shows its work with."""
        if self._is_quiet:
            return Surface()
        return Surface(text=self.text, recall=self.note, notice=self.notice, tool=self.tool)

    def text(self, piece: str) -> None:
        """A piece of the answer."""
        shown = safe(piece)
        if shown:
            sys.stdout.write(shown)
            sys.stdout.flush()
            self._is_line_open = not shown.endswith("\n")

    def end_text(self) -> None:
        """The answer is over."""
        if self._is_line_open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._is_line_open = False

    def note(self, line: str) -> None:
        """A word about the conversation."""
        self.end_text()
        if not self._is_quiet:
            write(sys.stderr, click.style(safe(line), dim=True), color=self._color)

    def notice(self, line: str) -> None:
        """As `note`; from another thread it waits until nobody is typing."""
        if threading.current_thread() is self._owner:
            self.note(line)
        else:
            self._later.append(line)

    def tool(self, name: str, arguments: str) -> None:
        """A tool is about to run."""
        shown = one_line(arguments)
        cut = shown if len(shown) <= _ARGUMENTS_CHARS else f"{shown[:_ARGUMENTS_CHARS]}…"
        self.note(f"⚙ {name} {cut}")

    def error(self, message: str, hint: str = "") -> None:
        """Something went wrong; the chat goes on."""
        self.end_text()
        write(sys.stderr, f"{click.style('error:', fg='red', bold=True)} {safe(message)}", color=self._color)
        if hint:
            write(sys.stderr, f"{click.style('hint:', fg='cyan')} {safe(hint)}", color=self._color)

    def show_later(self) -> None:
        """Print what came from other threads meanwhile."""
        while self._later:
            self.note(self._later.popleft())

    def read(self) -> str:
        """A message. A line that ends in a backslash goes on in the next one.

        Raises:
            EOFError: the person is done.
            KeyboardInterrupt: the line was given up.
        """
        self.show_later()
        lines: list[str] = []
        while True:
            line = self._line(_PROMPT if not lines else "… ")
            lines.append(line.removesuffix("\\"))
            if not line.endswith("\\"):
                return "\n".join(lines)

    def _line(self, prompt: str) -> str:
        try:
            return input(prompt)
        except UnicodeDecodeError as error:
            self.error(f"the line is no text in {error.encoding}", "type it again")
            return ""


class LineHistory:
    """What was typed, kept in the home for the next chat, where readline is there.

    A context manager: the history is read at the start and written at the end.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / HISTORY_NAME
        self._readline: Any = None
        if is_terminal(sys.stdin):
            try:
                import readline
            except ImportError:  # not on every system; then lines are edited as the terminal does
                return
            self._readline = readline

    def __enter__(self) -> Self:
        if self._readline is not None and self._path.exists():
            try:
                self._readline.read_history_file(str(self._path))
            except OSError as error:  # what was typed before is no reason not to chat
                click.echo(f"{self._path} can't be read: {error}", err=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._readline is None:
            return
        try:
            self._path.touch(mode=0o600, exist_ok=True)
            self._readline.set_history_length(_HISTORY_LINES)
            self._readline.write_history_file(str(self._path))
        except OSError as error:
            click.echo(f"{self._path} can't be written: {error}", err=True)
