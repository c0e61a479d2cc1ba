"""Finding memory providers: those that ship, a home's plug-ins, and those of installed packages.

Names are listed without importing anything. A provider is imported when it is chosen, and what went wrong is kept with
its reason.
"""

from __future__ import annotations

from memory.discovery.finder import PROJECT_PLUGINS_VARIABLE, Discovery
from memory.discovery.found import Found, Source, State
from memory.discovery.packages import GROUP
from memory.discovery.registration import PluginContext

__all__ = ["GROUP", "PROJECT_PLUGINS_VARIABLE", "Discovery", "Found", "PluginContext", "Source", "State"]
