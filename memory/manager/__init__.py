"""The manager: providers called so that none of them can hurt a turn."""

from memory.manager.checkpoint import CheckpointIncomplete
from memory.manager.latency import Latency
from memory.manager.manager import MemoryManager
from memory.manager.outbox import Waiting
from memory.manager.status import LastRecall, ManagerStatus, ProviderStatus, ShutdownReport
from memory.manager.tools import normalize_tool_schema

__all__ = [
    "CheckpointIncomplete",
    "LastRecall",
    "Latency",
    "ManagerStatus",
    "MemoryManager",
    "ProviderStatus",
    "ShutdownReport",
    "Waiting",
    "normalize_tool_schema",
]
