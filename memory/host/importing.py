"""A finder for the import names that plug-ins expect.

It stands last in `sys.meta_path`: whatever is really installed under such a name comes first, and nothing is shadowed.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

OFFERED = "memory.host.offered"
# Import name -> module of `memory.host.offered`; an empty one is a package that only holds others.
NAMES: Mapping[str, str] = {
    "agent": "",
    "agent.memory_provider": "agent_memory_provider",
    "agent.secret_scope": "agent_secret_scope",
    "gateway": "",
    "gateway.session_context": "gateway_session_context",
    "hermes_cli": "",
    "hermes_cli.config": "hermes_cli_config",
    "hermes_cli.profiles": "hermes_cli_profiles",
    "hermes_constants": "hermes_constants",
    "plugins": "",
    "plugins.memory": "plugins_memory",
    "tools": "",
    "tools.registry": "tools_registry",
    "utils": "utils",
}


class HostFinder(MetaPathFinder, Loader):
    """Finds `NAMES`; also the loader of what it finds."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """The spec of one of the names; None for every other."""
        if fullname not in NAMES:
            return None
        return ModuleSpec(fullname, self, origin=OFFERED, is_package=not NAMES[fullname])

    def exec_module(self, module: ModuleType) -> None:
        """Give a module the public names of ours."""
        source = NAMES[module.__name__]
        if not source:
            module.__doc__ = "A package of the host that plug-ins expect; offered by hermes-state."
            return
        ours = importlib.import_module(f"{OFFERED}.{source}")
        module.__doc__ = ours.__doc__
        module.__dict__["__all__"] = list(ours.__all__)
        for name in ours.__all__:
            module.__dict__[name] = getattr(ours, name)

    def forget(self) -> None:
        """Take every module that this finder made out of `sys.modules` and out of its package."""
        for name in sorted(NAMES, reverse=True):
            module = sys.modules.get(name)
            if module is None or getattr(module.__spec__, "loader", None) is not self:
                continue
            del sys.modules[name]
            package, _, leaf = name.rpartition(".")
            if getattr(sys.modules.get(package), leaf, None) is module:
                delattr(sys.modules[package], leaf)
