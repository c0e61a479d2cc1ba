"""The README's outputs are real: `python examples/readme.py` runs its commands on the demo's store again.

In a block of the README that starts with ```console, a line `$ hermes-state …` is a command, and what follows is what
it printed. A test fails when a block is stale.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
import time
from pathlib import Path

from demo import write

from hermes_state.commands import run

README = Path(__file__).parents[1] / "README.md"
# The home as a reader has it; sizes differ between versions of SQLite.
SHOWN_HOME = "~/.hermes"
SIZE = re.compile(r"\b\d+(\.\d)? [kM]B\b")
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


def refreshed(text: str, home: Path) -> str:
    """The page with every command's output as it is now, on the demo's store in `home`."""
    return _BLOCK.sub(lambda block: _rerun(block.group(), home), text)


def _rerun(block: str, home: Path) -> str:
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    outputs = (f"$ {command}\n{_output(command, home)}" for command in commands)
    return "\n".join(outputs)


def _output(command: str, home: Path) -> str:
    program, *args = shlex.split(command)
    if program != "hermes-state":
        raise ValueError(f"the README runs {program!r}, not hermes-state")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        run([*args, "--home", str(home)])
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().replace(str(home), SHOWN_HOME).splitlines())


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        README.write_text(refreshed(README.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
