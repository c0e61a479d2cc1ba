"""The providers that ship with the package."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

from memory.discovery.found import Candidate, Found, Source
from memory.discovery.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_PACKAGE = "memory.providers"


def bundled_candidates() -> Iterator[Candidate]:
    """The packages below `memory.providers`; none is imported."""
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        for module in pkgutil.iter_modules([place]):
            if module.ispkg and not module.name.startswith("_"):
                directory = Path(place) / module.name
                found = Found(
                    name=module.name,
                    source=Source.BUNDLED,
                    origin=str(directory),
                    description=read_source(directory / "__init__.py").summary,
                )
                yield Candidate(found=found, open=_opener(module.name, directory))


def _opener(name: str, directory: Path) -> Callable[[], ModuleType]:
    """The provider's class is in the module `provider` of its package, or in the package."""
    module = ".provider" if (directory / "provider.py").is_file() else ""
    return lambda: importlib.import_module(f"{_PACKAGE}.{name}{module}")
