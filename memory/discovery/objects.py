"""A provider named by the place of its object, for packages that declare no entry point: `module:attribute`."""

from __future__ import annotations

import importlib
import re
from functools import reduce

from memory.discovery.found import Candidate, Found, Source

_PLACE = re.compile(r"(?P<module>[^\W\d][\w.]*):(?P<attribute>[^\W\d][\w.]*)?")


def object_candidate(name: str) -> Candidate | None:
    """The candidate for `module:attribute`, or `module:` for a module; None if the name has another form."""
    place = _PLACE.fullmatch(name)
    if place is None:
        return None

    def load() -> object:
        path = place["attribute"].split(".") if place["attribute"] else []
        return reduce(getattr, path, importlib.import_module(place["module"]))

    return Candidate(found=Found(name=name, source=Source.OBJECT, origin=name), open=load)
