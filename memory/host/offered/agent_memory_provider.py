"""The provider contract, under the name plug-ins import it by."""

from __future__ import annotations

from memory.provider import (
    CORE_MEMORY_PROVIDER_SENTINELS,
    PRE_COMPRESS_CHECKPOINT_API_VERSION,
    MemoryProvider,
    RecallStatus,
    is_core_memory_provider,
)
from memory.threads import ctx_bound, spawn_context_thread
from memory.trivial import TRIVIAL_PROMPT_RE, is_trivial_prompt

__all__ = [
    "CORE_MEMORY_PROVIDER_SENTINELS",
    "PRE_COMPRESS_CHECKPOINT_API_VERSION",
    "TRIVIAL_PROMPT_RE",
    "MemoryProvider",
    "RecallStatus",
    "ctx_bound",
    "is_core_memory_provider",
    "is_trivial_prompt",
    "spawn_context_thread",
]
