"""Exit codes tell kinds of errors apart, so no two kinds have one."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict

import hermes_state
import memory
from hermes_state.errors import HermesStateError

# Any error may be told as a finding or as wrong usage.
_FREE = frozenset({1, 2})


def _kinds(root: type[HermesStateError]) -> list[type[HermesStateError]]:
    return [root, *(kind for child in root.__subclasses__() for kind in _kinds(child))]


def test_each_code_belongs_to_one_kind_of_error() -> None:
    for package in (hermes_state, memory):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "otel" not in module.name and "migrations" not in module.name:
                importlib.import_module(module.name)
    own: defaultdict[int, list[str]] = defaultdict(list)
    for kind in set(_kinds(HermesStateError)):
        if (
            "exit_code" in vars(kind)
            and kind.exit_code not in _FREE
            and kind.__module__.startswith(("hermes", "memory"))
        ):
            own[kind.exit_code].append(f"{kind.__module__}.{kind.__name__}")
    assert {code: kinds for code, kinds in own.items() if len(kinds) > 1} == {}
