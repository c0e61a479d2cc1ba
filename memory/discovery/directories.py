"""Plug-ins that lie in a directory: `$HERMES_HOME/plugins/<name>/`, and a project's own."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from memory.discovery.found import Candidate, Found, Source, State
from memory.discovery.reading import Reading, read_manifest, read_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

_PREFIX = "_memory_plugin_"


def directory_candidates(plugins: Path, source: Source) -> Iterator[Candidate]:
    """The memory providers below a plug-in directory; plug-ins of other kinds are passed over.

    What looks like a provider and lies where it is not looked for is there too, as ignored.
    """
    try:
        entries = sorted(plugins.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        yield _candidate(plugins, source, state=State.FAILED, reason=f"{plugins} can't be read: {error}")
        return
    for entry in entries:
        if not entry.name.startswith(("_", ".")):
            yield from _candidates_at(entry, source)


def _candidates_at(entry: Path, source: Source) -> Iterator[Candidate]:
    try:
        if entry.is_dir():
            yield from _in_directory(entry, source)
        elif entry.suffix == ".py" and read_source(entry).is_provider:
            yield _candidate(
                entry.with_suffix(""),
                source,
                state=State.IGNORED,
                reason="a file, not a directory",
                hint=f"move it to {entry.with_suffix('') / '__init__.py'}",
            )
    except OSError as error:
        yield _candidate(entry, source, state=State.FAILED, reason=f"{entry} can't be read: {error}")


def _in_directory(directory: Path, source: Source) -> Iterator[Candidate]:
    if not (directory / "__init__.py").is_file():
        yield from _too_deep(directory, source)
        return
    reading = _reading(directory)
    if not reading.is_provider and not reading.error:
        return
    manifest = read_manifest(directory)
    candidate = _candidate(
        directory,
        source,
        state=State.FAILED if reading.error else State.READY,
        reason=reading.error or manifest.error,
    )
    yield replace(
        candidate,
        found=replace(candidate.found, version=manifest.version, description=manifest.description or reading.summary),
        open=lambda: import_directory(directory),
        requirements=manifest.requirements,
    )


def _reading(directory: Path) -> Reading:
    """What the package says of itself: its `__init__.py`, and the modules beside it where that says nothing."""
    first = read_source(directory / "__init__.py")
    if first.is_provider or first.error:
        return first
    others = [read_source(path) for path in sorted(directory.glob("*.py")) if path.name != "__init__.py"]
    return replace(first, is_provider=any(other.is_provider for other in others))


def _too_deep(directory: Path, source: Source) -> Iterator[Candidate]:
    for child in sorted(directory.iterdir()):
        if (child / "__init__.py").is_file() and _reading(child).is_provider:
            yield _candidate(
                child,
                source,
                state=State.IGNORED,
                reason=f"wrong depth: {child} is one directory too deep",
                hint=f"move it to {directory.parent / child.name}",
            )


def _candidate(path: Path, source: Source, *, state: State, reason: str, hint: str = "") -> Candidate:
    return Candidate(
        found=Found(name=path.name, source=source, origin=str(path), state=state, reason=reason, hint=hint)
    )


def import_directory(directory: Path) -> ModuleType:
    """Import a plug-in under a name made of its place and content.

    So a changed plug-in is loaded anew, and the plug-ins of two homes that share a name do not meet.
    """
    plain = re.sub(r"\W", "_", directory.name)
    name = f"{_PREFIX}{plain}_{_digest(directory)}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        name, directory / "__init__.py", submodule_search_locations=[str(directory)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{directory} can't be imported")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        forget(name)
        raise
    return module


def forget(name: str) -> None:
    """Take a half-imported package out of `sys.modules`, so that another try begins anew."""
    for loaded in [loaded for loaded in sys.modules if loaded == name or loaded.startswith(f"{name}.")]:
        del sys.modules[loaded]


def _digest(directory: Path) -> str:
    digest = hashlib.sha256(str(directory.resolve()).encode("utf-8", "surrogatepass"))
    for path in sorted(directory.rglob("*.py")):
        digest.update(b"\0" + str(path.relative_to(directory)).encode("utf-8", "surrogatepass") + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
