"""What all commands that read an archive take: where it is, and what opens it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.streams import is_plain, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_state.commands.invocation import Invocation
    from hermes_state.portability.crypt import Keys, Lock
    from hermes_state.portability.format import Limits

ARCHIVE = click.Path(path_type=Path)


def key_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--identity` and `--passphrase-file`, for archives that are encrypted."""
    for option in (
        click.option(
            "--passphrase-file",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The passphrase is the first line of FILE. Asked for on a terminal.",
        ),
        click.option(
            "--identity",
            "-i",
            "identities",
            type=click.Path(path_type=Path),
            multiple=True,
            metavar="FILE",
            help="An age identity file or SSH private key that opens the archive; may be repeated.",
        ),
    ):
        function = option(function)
    return function


repo_option = click.option(
    "--repo", type=ARCHIVE, metavar="DIR", help="A repository: a folder of snapshots that stores what changed."
)


def in_repository(repo: Path, snapshot: Path | None) -> Path:
    """The path by which a snapshot is opened as archives are."""
    return repo.expanduser().absolute() / (snapshot or "latest")


# Of zstd. Texts get 11 % smaller than with its own default, 3, for 1.8 s of CPU more per 100 MB; 9 and 10 gain 1 and
# 3 % more for another 0.8 and 1.6 s. Long-distance matching gains nothing on conversations.
LEVEL = 8
level_option = click.option(
    "--level", type=click.IntRange(1, 19), default=LEVEL, show_default=True, help="Of compression."
)


def lock_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--recipient` and `--passphrase-file`, for archives that are to be encrypted."""
    for option in (
        click.option(
            "--passphrase-file", type=ARCHIVE, metavar="FILE", help="Encrypt with the first line of FILE as passphrase."
        ),
        click.option(
            "--recipient", "-r", "recipients", multiple=True, metavar="KEY", help="Encrypt to an age or SSH key."
        ),
    ):
        function = option(function)
    return function


def lock(recipients: tuple[str, ...], passphrase_file: Path | None) -> Lock | None:
    """For whom an archive is to be encrypted; None: for nobody."""
    from hermes_state.portability.crypt import Lock

    if not recipients and passphrase_file is None:
        return None
    return Lock(recipients=recipients, passphrase=passphrase_in(passphrase_file) if passphrase_file else None)


trust_option = click.option(
    "--trust-size", is_flag=True, help="Expand it however much it grows. Default: at most 1,000 times its size."
)


def limits(*, trust_size: bool) -> Limits:
    """What to put up with."""
    from hermes_state.portability.format import Limits

    return Limits(ratio=None) if trust_size else Limits()


def store_elsewhere(invocation: Invocation) -> str:
    """The store that `--db` names in the place of the home's own; "": the home's own."""
    from hermes_state.home import store_path

    if invocation.db is None or (
        not invocation.is_on_server and invocation.store_path() == store_path(invocation.home_path())
    ):
        return ""
    return invocation.db


def keys(identities: tuple[Path, ...], passphrase_file: Path | None) -> Keys:
    """What was given to open an archive. A passphrase is asked for only when it turns out to be needed."""
    from hermes_state.portability.crypt import Keys

    return Keys(
        identities=tuple(path.read_text(encoding="utf-8") for path in identities),
        passphrase=passphrase_in(passphrase_file) if passphrase_file is not None else _ask,
    )


def passphrase_in(path: Path) -> str:
    """The first line of a file."""
    return path.read_text(encoding="utf-8").split("\n", 1)[0].rstrip("\r")


def _ask() -> str:
    if not is_terminal(sys.stdin):
        return ""
    return str(click.prompt("passphrase", hide_input=True, err=True))


@contextmanager
def byte_progress(invocation: Invocation, what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of bytes with its rate, told (done, in all). Silent with --json and where nobody watches."""
    if invocation.json or not is_terminal(sys.stderr):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True, no_color=is_plain(no_color=invocation.no_color))
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        yield tell


def _silent(done: int, total: int) -> None:
    """Nobody watches."""
