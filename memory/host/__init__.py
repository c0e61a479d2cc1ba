"""The import names that memory plug-ins of the Hermes family expect of their host, on request only.

Such plug-ins begin with `from agent.memory_provider import MemoryProvider`. `install` makes those names importable in
this process, thin and honest: each is this package's own object or does what its name says, and what is not offered is
an ImportError, as plug-ins expect of older hosts. `uninstall` takes them out again.

    with installed(home):
        import some_plugin

What is really installed under one of the names always comes first. If a real agent is importable, `install` refuses.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_state.home import resolve_home
from memory.errors import HostNamesTaken
from memory.host import home_scope as homes
from memory.host.home_scope import current_home, home_scope
from memory.host.importing import NAMES, HostFinder
from memory.host.plugin_source import PluginSource, sources

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

__all__ = [
    "HOST_NAMES",
    "PluginSource",
    "current_home",
    "home_scope",
    "install",
    "installed",
    "is_installed",
    "real_agent",
    "taken_names",
    "uninstall",
]

# The top-level names.
HOST_NAMES = frozenset(name for name in NAMES if "." not in name)

_lock = threading.RLock()
_finder = HostFinder()
_installed: list[tuple[Path, PluginSource | None]] = []


def install(
    home: str | os.PathLike[str] | None = None,
    *,
    plugins: PluginSource | None = None,
    beside_real: bool = False,
) -> None:
    """Make the names importable. A second installation for the same home changes nothing.

    Args:
        home: the home that the modules speak of.
        plugins: what `plugins.memory` finds and loads providers with.
        beside_real: install although a real agent is importable; what it has still comes first.

    Raises:
        HostNamesTaken: a real agent is importable; nothing was changed.
    """
    chosen = resolve_home(home)
    with _lock:
        place = real_agent()
        if place and not beside_real:
            raise HostNamesTaken(place)
        if any(known == chosen for known, _ in _installed):
            return
        if _finder not in sys.meta_path:
            sys.meta_path.append(_finder)
        homes.enter(chosen)
        if plugins is not None:
            sources.append(plugins)
        _installed.append((chosen, plugins))


def uninstall(home: str | os.PathLike[str] | None = None) -> None:
    """Take one home's installation back; with the last one the names are gone. A home without one is no error.

    Modules that imported the names keep what they have; they can't import more.
    """
    chosen = resolve_home(home)
    with _lock:
        for known, plugins in [entry for entry in _installed if entry[0] == chosen]:
            _installed.remove((known, plugins))
            homes.leave(known)
            if plugins is not None:
                sources.remove(plugins)
        if not _installed and _finder in sys.meta_path:
            sys.meta_path.remove(_finder)
            _finder.forget()


@contextmanager
def installed(
    home: str | os.PathLike[str] | None = None,
    *,
    plugins: PluginSource | None = None,
    beside_real: bool = False,
) -> Iterator[None]:
    """The names are importable inside the block. An installation that was there before stays."""
    before = is_installed(home)
    install(home, plugins=plugins, beside_real=beside_real)
    try:
        yield
    finally:
        if not before:
            uninstall(home)


def is_installed(home: str | os.PathLike[str] | None = None) -> bool:
    """Whether there is an installation for that home."""
    return any(known == resolve_home(home) for known, _ in _installed)


def real_agent() -> str:
    """Where a real agent lies that is importable; empty if there is none. Imports nothing."""
    spec = _foreign("agent")
    for place in (spec and spec.submodule_search_locations) or ():
        if (Path(place) / "memory_provider.py").is_file():
            return place
    return ""


def taken_names() -> dict[str, str]:
    """Top-level names that something else has, and where that lies: plug-ins get those modules and not ours."""
    specs = ((name, _foreign(name)) for name in sorted(HOST_NAMES))
    return {name: spec.origin or "a namespace package" for name, spec in specs if spec}


def _foreign(name: str) -> ModuleSpec | None:
    """Who else has a top-level name."""
    finders = (finder for finder in sys.meta_path if finder is not _finder)
    return next((spec for finder in finders if (spec := finder.find_spec(name, None))), None)
