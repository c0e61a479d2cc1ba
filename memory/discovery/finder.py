"""`Discovery`: which memory providers there are, and the one that was chosen."""

from __future__ import annotations

import logging
import os
import threading
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hermes_state.errors import HermesStateError
from hermes_state.home import resolve_home
from memory.config import read_config
from memory.discovery.bundled import bundled_candidates
from memory.discovery.directories import directory_candidates
from memory.discovery.found import Candidate, Found, Source, State
from memory.discovery.objects import object_candidate
from memory.discovery.packages import package_candidates
from memory.discovery.reading import syntax_error
from memory.discovery.registration import provider_of
from memory.errors import HostNamesTaken, MemoryFault, ProviderNotFound, ProviderUnavailable
from memory.host import HOST_NAMES, install
from memory.raised import named
from memory.signatures import Adapted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.provider import MemoryProvider

_log = logging.getLogger(__name__)
# Plug-ins of the directory the agent was started in run only if this variable says so: the directory can be anybody's.
PROJECT_PLUGINS_VARIABLE = "HERMES_ENABLE_PROJECT_PLUGINS"


class Discovery:
    """The providers of a home. Listing them imports nothing; only the chosen one is imported.

    Args:
        home: the agent's home; `$HERMES_HOME`, else `~/.hermes`, unless told. A profile's home is a home of its own.
        host_modules: let providers that do not ship with the package find the import names that they expect
            (`memory.host`), from the first such provider that is loaded; False: only those that are really installed.

    Attributes:
        failures: why a provider could not be loaded, by name, newest try; also the `reason` of `names()`.
    """

    def __init__(self, home: str | os.PathLike[str] | None = None, *, host_modules: bool = True) -> None:
        self.home = resolve_home(home)
        self.failures: dict[str, str] = {}
        self._host_modules = host_modules
        self._lock = threading.RLock()

    # ── what there is ─────────────────────────────────────────────────────────

    def names(self) -> list[Found]:
        """Everything that is or looks like a memory provider, those that can be chosen first."""
        found = [self._told(candidate.found) for candidate in self._candidates()]
        return sorted(found, key=lambda f: f.state is not State.READY)

    def find(self, name: str) -> Found | None:
        """The find that `load(name)` would take; None if there is none."""
        candidate = self._choose(name)
        return self._told(candidate.found) if candidate else None

    def directory(self, name: str) -> Path | None:
        """Where a provider's files lie, for one that lies in a directory."""
        found = self.find(name)
        return Path(found.origin) if found and Path(found.origin).is_dir() else None

    def _candidates(self) -> Iterator[Candidate]:
        """Every candidate, later ones of a name that is taken as ignored."""
        taken: dict[str, Found] = {}
        disabled = self._disabled()
        for candidate in self._sources():
            found = candidate.found
            if found.state is State.READY and found.name in taken:
                reason = f"the name is taken by {taken[found.name].source} {taken[found.name].origin}"
                found = replace(found, state=State.IGNORED, reason=reason)
            elif found.state is State.READY and found.name in disabled:
                reason = "`plugins.disabled` of config.yaml names it"
                found = replace(found, state=State.DISABLED, reason=reason)
            if found.state is not State.IGNORED:
                taken.setdefault(found.name, found)
            yield replace(candidate, found=found)

    def _sources(self) -> Iterator[Candidate]:
        yield from bundled_candidates()
        yield from directory_candidates(self.home / "plugins", Source.HOME)
        if os.environ.get(PROJECT_PLUGINS_VARIABLE, "").strip().lower() in ("1", "true", "yes", "on"):
            yield from directory_candidates(Path.cwd() / ".hermes" / "plugins", Source.PROJECT)
        yield from package_candidates()

    def _disabled(self) -> frozenset[str]:
        """Names that config.yaml switches off; a file that can't be read switches nothing off and is told elsewhere."""
        try:
            plugins = read_config(self.home).get("plugins")
        except HermesStateError as error:
            _log.warning("%s", error.message)
            return frozenset()
        names = plugins.get("disabled") if isinstance(plugins, dict) else None
        return frozenset(str(name) for name in names) if isinstance(names, list) else frozenset()

    def _told(self, found: Found) -> Found:
        reason = self.failures.get(found.name)
        return replace(found, state=State.FAILED, reason=reason) if reason and found.state is State.READY else found

    def _choose(self, name: str) -> Candidate | None:
        """The candidate for a configured name: by its exact name, by one that differs in case or `-_`, or by the
        distribution's name. What is ready goes before what is ignored."""
        candidates = sorted(self._candidates(), key=lambda c: c.found.state is State.IGNORED)
        for same in (
            lambda found: found.name == name,
            lambda found: _plain(found.name) == _plain(name),
            lambda found: _plain(found.distribution) == _plain(name),
        ):
            for candidate in candidates:
                if same(candidate.found):
                    return candidate
        return object_candidate(name) if ":" in name else None

    # ── the chosen one ────────────────────────────────────────────────────────

    def load(self, name: str) -> MemoryProvider:
        """Import a provider and check its contract. Each call makes a new one.

        Args:
            name: a name of `names()`, a distribution's, or `module:attribute`.

        Returns:
            The provider. It may be of a class that does not derive from `MemoryProvider` but has its members.

        Raises:
            ProviderNotFound: nothing has that name.
            ProviderUnavailable: it can't be loaded; the reason says what failed and in which file, `hint` what helps.
            ContractBroken: it is no provider.
        """
        with self._lock:
            try:
                provider = self._load(name)
            except MemoryFault as fault:
                self.failures[name] = fault.reason if isinstance(fault, ProviderUnavailable) else fault.message
                raise
            self.failures.pop(name, None)
            return provider

    def _load(self, name: str) -> MemoryProvider:
        candidate = self._choose(name)
        if candidate is None:
            known = ", ".join(sorted(f.name for f in self.names() if f.state is State.READY)) or "none"
            raise ProviderNotFound(name, self._absence(name), hint=f"there are: {known}")
        found = candidate.found
        if candidate.open is None or found.state is State.DISABLED:
            raise ProviderUnavailable(name, found.reason, hint=found.hint)
        if found.source is not Source.BUNDLED:
            self._offer_host_modules()
        try:
            provider = provider_of(candidate.open(), found.name)
            Adapted(provider).check()
        except MemoryFault:
            raise
        except (Exception, SystemExit) as error:
            raise _unavailable(candidate, error) from error
        return cast("MemoryProvider", provider)  # by its members; `Adapted` has checked them

    def _absence(self, name: str) -> str:
        directory = self.home / "plugins" / name
        if name.strip(".") and os.sep not in name and directory.is_dir():
            return f"{directory} is no memory provider: nothing in it mentions MemoryProvider"
        return "no memory provider has that name"

    def _offer_host_modules(self) -> None:
        """Put the host's import names into place, for as long as the process runs: plug-ins import late, in hooks."""
        if not self._host_modules:
            return
        try:
            install(self.home, plugins=self)
        except HostNamesTaken as error:
            _log.info("%s", error.message)


def _unavailable(candidate: Candidate, error: BaseException) -> ProviderUnavailable:
    found = candidate.found
    hint = found.hint
    reason = syntax_error(error) if isinstance(error, SyntaxError) else named(error) + _where(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = error.name.partition(".")[0]
        needed = [item for item in candidate.requirements if _plain(item).startswith(_plain(missing))]
        if module := _named_module(found.name, error.name):
            hint = f"there is no module {module}: check the name, and where Python looks for it"
        elif missing in HOST_NAMES:
            hint = f"it needs {error.name!r} of its own host, which is not offered here"
        else:
            hint = f"install what it needs: pip install {' '.join(needed or candidate.requirements) or missing}"
    return ProviderUnavailable(found.name, reason, hint=hint)


def _named_module(name: str, missing: str) -> str:
    """The module of a `module:attribute` that is missing itself; empty when something it imports is."""
    module = name.partition(":")[0] if ":" in name else ""
    return module if module == missing or module.startswith(f"{missing}.") else ""


def _where(error: BaseException) -> str:
    """The innermost place of an error that is not ours: file and line."""
    ours = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith((ours, "<"))]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _plain(name: str) -> str:
    return name.casefold().replace("_", "-")
