"""What a search for providers finds, before anything is imported."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Source(StrEnum):
    """Where a provider comes from; of two with one name the first kind in this order is taken."""

    BUNDLED = "bundled"  # memory.providers
    HOME = "home"  # $HERMES_HOME/plugins
    PROJECT = "project"  # ./.hermes/plugins, where that is allowed
    PACKAGE = "package"  # the entry points of an installed distribution
    OBJECT = "object"  # named as `module:attribute`


class State(StrEnum):
    """What can be done with it."""

    READY = "ready"  # it looks like a provider; it has not been imported
    IGNORED = "ignored"  # not offered, `reason` says why; some can be used by naming them
    FAILED = "failed"  # it can't be loaded, or could not when that was tried
    DISABLED = "disabled"  # switched off in config.yaml


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One provider, as far as it is known without importing it.

    Attributes:
        name: what `memory.provider` has to say to get it; the provider's own `name` may differ.
        origin: the directory, or the distribution with its version.
        reason: why it is ignored, failed or disabled; of a ready one, what is odd about it.
        hint: what to do about that.
        distribution: the distribution's name, for one of a package.
    """

    name: str
    source: Source
    origin: str
    state: State = State.READY
    reason: str = ""
    hint: str = ""
    version: str = ""
    description: str = ""
    distribution: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A find and how to open it.

    Attributes:
        open: imports it and gives what was registered: module, class, function or instance; None: it can't be loaded.
        requirements: distributions that it says it needs.
    """

    found: Found
    open: Callable[[], object] | None = None
    requirements: tuple[str, ...] = ()
