"""The reference agent: a turn loop that uses the store, the provider contract and built-in memory.

`open_agent` puts one together for a home; `Agent` takes each part by itself. `docs/agent.md` tells how a turn goes.
"""

from memory.agent.agent import Agent
from memory.agent.failures import ModelFault
from memory.agent.surface import Surface
from memory.agent.tools import Tool
from memory.agent.turn import Answer
from memory.agent.wiring import Wired, open_agent

__all__ = ["Agent", "Answer", "ModelFault", "Surface", "Tool", "Wired", "open_agent"]
