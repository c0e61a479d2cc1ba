"""The packages that are tried: what they are called, how a person puts them into a home, what is expected of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Placing = Literal["entry point", "directory", "shim"]


@dataclass(frozen=True, kw_only=True)
class Package:
    """One distribution of the package index.

    Attributes:
        name: the distribution.
        provider: what `memory.provider` says.
        placing: found by its entry point, or its package is copied into the home's plug-ins as its manual says, or it
            writes a shim there.
        module: the package that is copied, or that writes the shim.
        works: it has to load, initialize and get through the conversation; otherwise it may fail, with a reason.
        recalls: languages in which it has to recall offline what was said; `tools`: what its own tools stored.
        also: distributions that it imports and does not declare.
        config: the home's config.yaml, with `{home}` for the home.
        directories: directories that have to be there, below the home.
        needs: what it needs beside itself to work, for the table.
    """

    name: str
    provider: str
    placing: Placing = "entry point"
    module: str = ""
    works: bool = False
    recalls: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    config: str = ""
    directories: tuple[str, ...] = ()
    needs: str = ""


# Lightest first.
PACKAGES = (
    Package(
        name="hermes-local-memory",
        provider="local_memory",
        placing="shim",
        module="hermes_local_memory",
        works=True,
        recalls=("tools",),
        needs="nothing; it recalls what its tools concluded",
    ),
    Package(
        name="hermes-llmwiki",
        provider="llmwiki",
        works=True,
        recalls=("tools",),
        also=("pyyaml",),
        config="memory:\n  llmwiki:\n    vault_path: {home}/wiki\n",
        directories=("wiki",),
        needs="PyYAML, which it does not declare, and a wiki; it recalls what its tools wrote there",
    ),
    Package(name="nyx-memory", provider="nyx", works=True, recalls=("en", "zh"), needs="nothing"),
    Package(
        name="verbatim-memory",
        provider="verbatim",
        works=True,
        needs="a judge model for its evidence: without one it recalls nothing",
    ),
    Package(
        name="harness-memory-hermes",
        provider="harnessmemory",
        placing="directory",
        module="harnessmemory",
        works=True,
        recalls=("en", "zh"),
        needs="nothing",
    ),
    # Named by the distribution: their entry points are in groups where no host looks.
    Package(
        name="hermes-okf",
        provider="hermes-okf",
        works=True,
        needs="nothing; it stored the turns, and its own search found none of them",
    ),
    Package(name="atomicmemory-hermes", provider="atomicmemory-hermes", needs="its server"),
    Package(name="colony-hermes", provider="colony-hermes", needs="its sidecar, as apsimo-hermes"),
    Package(name="betterdb-hermes-memory", provider="betterdb", needs="a Valkey server"),
    Package(
        name="apsimo-hermes",
        provider="apsimo-memory",
        needs="its sidecar; the strict checkpoint is refused without it, as it should be",
    ),
    Package(
        name="recall-memory-hermes",
        provider="recall_memory_hermes",
        placing="directory",
        module="recall_memory_hermes",
        needs="a Python whose sqlite3 loads extensions",
    ),
    Package(name="hermes-scope-recall", provider="scope-recall", needs="its own installation step"),
)
