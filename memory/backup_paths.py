"""What the memory providers of a home keep outside of it, for backups: entry-point group `hermes_state.backup_paths`.

Each provider that the settings name, of the home and of its profiles, is loaded and asked; none is started.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hermes_state.portability.external import KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A provider that has not answered by then is left behind and reported: a backup must not wait for one. [seconds]
DEADLINE_S = 10.0


def backup_paths(home: Path) -> Iterator[str]:
    """The paths, as the providers name them.

    Raises:
        MemoryFault: after all others: some could not be asked; names them with their reasons.
    """
    failures: list[str] = []
    for root in (home, *sorted(path for path in (home / "profiles").glob("*") if path.is_dir())):
        if not _may_name_one(root / "config.yaml"):
            continue
        from memory.settings import MemorySettings  # 25 ms with its YAML; most homes have no providers

        for name in MemorySettings.load(root).external:
            answer = _asked(root, name)
            if isinstance(answer, list):
                yield from answer
            else:
                failures.append(f"{name}: {answer}")
    if failures:
        from memory.errors import MemoryFault

        raise MemoryFault("; ".join(failures))


def _may_name_one(config: Path) -> bool:
    """Whether a settings file could name a provider; a backslash may hide any letter of the key."""
    if not config.is_file():
        return False
    try:
        text = config.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):  # whoever reads it will say so
        return True
    return "memory" in text or "\\" in text


def _asked(home: Path, name: str) -> list[str] | str:
    """What a provider says; or why it says nothing."""
    from memory.discovery import Discovery  # a home without providers need not wait for these
    from memory.errors import ProviderNotFound
    from memory.raised import named
    from memory.signatures import Adapted

    answers: list[list[str] | str] = []

    def ask() -> None:
        try:
            answers.append(Adapted(Discovery(home).load(name)).backup_paths())
        except ProviderNotFound as error:
            # Not installed here, so it can't be asked; for these it is known where they keep things.
            answers.append([] if name in KNOWN else error.message)
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything; the reason is kept and reported
            answers.append(named(error))

    thread = threading.Thread(target=ask, name=f"backup_paths {name}", daemon=True)
    thread.start()
    thread.join(DEADLINE_S)
    return answers[0] if answers else f"it has not answered within {DEADLINE_S:.0f} s"
