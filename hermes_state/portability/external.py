"""What belongs to a home and lies outside of it: the files of memory providers in the user's home folder.

They come from three places: what the caller names (a runtime asks its provider for `backup_paths()`), the packages that
advertise a function under `hermes_state.backup_paths`, and the places where the providers that a home's `config.yaml`
names are known to keep things.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hermes_state import entry_points
from hermes_state.portability.collect import Collection, collect, folder, moved
from hermes_state.portability.rules import Rules
from hermes_state.portability.settings import values_of

if TYPE_CHECKING:
    from collections.abc import Iterable

# Functions that take the home and give paths.
GROUP = "hermes_state.backup_paths"
# Where providers of Hermes keep what they know, below the user's home folder.
KNOWN = {"honcho": (".honcho",), "hindsight": (".hindsight",), "openviking": (".openviking/ovcli.conf",)}
# No archive may put anything here, nor take it along: who can write these acts for the user, or is the user.
FORBIDDEN = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass", ".git-credentials", ".gitconfig"),
    *(".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv"),
    *(".zprofile", ".zlogin", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xinitrc", ".xsession"),
    *(".xprofile", ".pam_environment", ".vimrc", ".emacs", ".emacs.d", ".npmrc", ".pypirc", ".config/autostart"),
    *(
        ".config/systemd",
        ".config/environment.d",
        ".config/fish",
        ".config/git",
        ".config/pip",
        ".local/bin",
        ".local/lib",
    ),
    *(".local/share/applications", ".local/share/systemd", "bin", "Library", "AppData", ".config/nvim", ".vim"),
)


@dataclass(kw_only=True, slots=True)
class Chosen:
    """The paths to take, below `base`, and those that are refused, with the reason."""

    base: Path
    paths: list[Path] = field(default_factory=list)
    refused: list[tuple[Path, str]] = field(default_factory=list)


def paths(home: Path, given: Iterable[Path] = ()) -> Chosen:
    """What belongs to a home outside of it. Paths that are not there are no matter."""
    chosen = Chosen(base=Path.home().resolve())
    for path in dict.fromkeys([*_absolute(given), *_advertised(home, chosen), *_known(home, chosen.base)]):
        if not os.path.lexists(path):
            continue
        reason = _refusal(path, home, chosen.base)
        if reason == "":
            chosen.paths.append(path)
        elif reason is not None:
            chosen.refused.append((path, reason))
    return chosen


def _absolute(given: Iterable[Path]) -> list[Path]:
    return [Path(os.path.abspath(path.expanduser())) for path in given]  # noqa: PTH100  links are not followed


def _advertised(home: Path, chosen: Chosen) -> list[Path]:
    found: list[Path] = []
    for point in entry_points.of_group(GROUP):
        try:
            for path in point.load()(home):  # one after the other: what came before a failure is taken
                found += _absolute([Path(path)])
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything; the reason is kept and reported
            chosen.refused.append((Path(point.name), f"its function failed: {type(error).__name__}: {error}"))
    return found


def _known(home: Path, base: Path) -> list[Path]:
    configs = [home / "config.yaml", *sorted((home / "profiles").glob("*/config.yaml"))]
    providers = {values_of(config).get("memory.provider", "") for config in configs if _may_name_one(config)}
    return [base / place for provider in sorted(providers) for place in KNOWN.get(provider, ())]


def _may_name_one(config: Path) -> bool:
    """Whether a settings file could name one of these: most don't, and to understand YAML takes a while.

    A backslash may hide any letter.
    """
    try:
        raw = config.read_bytes()
    except OSError:  # it is not there, or whoever copies it will say so
        return False
    return b"\\" in raw or any(name.encode() in raw for name in KNOWN)


def _refusal(path: Path, home: Path, base: Path) -> str | None:
    """Why a path can't be taken; "": it can; None: it is in the home, so it is taken anyway."""
    if path == home or home in path.parents:
        return None
    if base not in path.parents:
        return f"it is not below {base}"
    if path in home.parents:
        return "the home itself lies in it"
    return f"{path.relative_to(base)} is never part of a backup" if is_forbidden(str(path.relative_to(base))) else ""


def is_forbidden(path: str) -> bool:
    """Whether a path below the user's home folder is one through which an archive could act for the user."""
    parts = PurePosixPath(path.lower()).parts
    return any(parts[: len(bad)] == bad for bad in (PurePosixPath(text.lower()).parts for text in FORBIDDEN))


def collect_paths(chosen: Chosen, *, skip: Iterable[Path] = ()) -> Collection:
    """Walk the chosen paths; what is found is relative to their base, with the folders above each."""
    result = Collection()
    above: set[str] = set()
    for path in sorted(chosen.paths):
        relative = path.relative_to(chosen.base)
        for parent in reversed(relative.parents[:-1]):
            if str(parent) not in above:
                above.add(str(parent))
                result.found.append(folder(str(parent), chosen.base / parent))
        inner = collect(path.parent, Rules(), skip=skip, only=[path.name])
        prefix = "" if str(relative.parent) == "." else f"{relative.parent}/"
        result.found += [found for found in moved(inner.found, prefix) if found.path not in above]
        result.left_out += moved(inner.left_out, prefix)
        result.unreadable += moved(inner.unreadable, prefix)
        above |= {found.path for found in result.found}
    return result
