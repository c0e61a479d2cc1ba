"""Curated memory: MEMORY.md and USER.md, the tool `memory`, and the table that keeps every entry with its history."""

from __future__ import annotations

from memory.builtin.approval import Approval, Proposal
from memory.builtin.archive import Event, Memory
from memory.builtin.changes import Change, Operation, Outcome
from memory.builtin.entries import Entry
from memory.builtin.limits import Limits, Usage
from memory.builtin.memory import BuiltinMemory, Entries
from memory.builtin.provider import BuiltinProvider
from memory.builtin.tool import MemoryTool

__all__ = [
    "Approval",
    "BuiltinMemory",
    "BuiltinProvider",
    "Change",
    "Entries",
    "Entry",
    "Event",
    "Limits",
    "Memory",
    "MemoryTool",
    "Operation",
    "Outcome",
    "Proposal",
    "Usage",
]
