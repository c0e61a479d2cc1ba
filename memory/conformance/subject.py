"""The provider under test: made anew for each check, in a home of its own, every call with a deadline."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.host.home_scope import home_scope
from memory.manager.caller import BoundedCaller, Overdue, StillStuck, unwrapped
from memory.signatures import Adapted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Seconds that any hook may take; providers that call a model need some.
DEADLINE_S = 20.0
SESSION = "conformance-1"


class Skip(Exception):
    """A check that can't be made with this provider; the text says why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended.

    Attributes:
        value: what it returned.
        error: what it raised.
        hung: it did not come back in time.
        seconds: how long it took.
    """

    value: Any = None
    error: BaseException | None = None
    hung: bool = False
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """Whether it came back without an error."""
        return self.error is None and not self.hung

    @property
    def trouble(self) -> str:
        """What went wrong, in words."""
        if self.hung:
            return f"did not come back within {self.seconds:.0f} s"
        return f"raised {type(self.error).__name__}: {self.error}"


class Instance:
    """One provider object.

    Args:
        raw: the provider.
        home: the home it works in.
        deadline_s: seconds each call may take.
    """

    def __init__(self, raw: object, home: Path, *, deadline_s: float) -> None:
        self.adapted = Adapted(raw)
        self.home = home
        self._deadline_s = deadline_s
        self._caller = BoundedCaller("memory-conformance", idle_s=1.0)

    def call(self, hook: str, *args: Any, **kwargs: Any) -> Outcome:
        """Call a hook through its newest signature."""
        return self.run(hook, lambda: getattr(self.adapted, hook)(*args, **kwargs))

    def run(self, hook: str, function: Callable[[], Any]) -> Outcome:
        """Run something on the instance's thread."""
        started = time.monotonic()

        def inside() -> Any:
            with home_scope(self.home):
                return function()

        try:
            value = self._caller.call(hook, inside, deadline_s=self._deadline_s)
        except (Overdue, StillStuck):
            return Outcome(hung=True, seconds=time.monotonic() - started)
        except Exception as error:  # noqa: BLE001  whatever a provider raises is what is being found out
            return Outcome(error=unwrapped(error), seconds=time.monotonic() - started)
        return Outcome(value=value, seconds=time.monotonic() - started)

    def start(self, *, session_id: str = SESSION, **facts: Any) -> Outcome:
        """`initialize` as a host calls it."""
        known = {"platform": "cli", "agent_context": "primary", "hermes_home": str(self.home), **facts}
        return self.call("initialize", session_id, **known)

    def remember(self, user: str, assistant: str = "OK.", *, session_id: str = SESSION, turn_id: str = "") -> Outcome:
        """`sync_turn` as a host calls it."""
        messages = [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
        return self.call(
            "sync_turn", user, assistant, session_id=session_id, messages=messages, turn_id=turn_id or f"turn {user}"
        )

    def recall(self, query: str, *, session_id: str = SESSION) -> str:
        """What a prefetch brings; empty when it fails, which other checks find."""
        outcome = self.call("prefetch", query, session_id=session_id)
        return outcome.value if outcome.is_good and isinstance(outcome.value, str) else ""

    def end(self) -> Outcome:
        """`shutdown`, and no more calls."""
        outcome = self.call("shutdown")
        self._caller.close()
        return outcome


def name_of(raw: object) -> str:
    """A provider's name, or its type's where it has none."""
    try:
        return Adapted(raw).name
    except Exception:  # noqa: BLE001  its own check finds that
        return type(raw).__name__


class Subject:
    """Makes providers.

    Args:
        make: a new provider.
        home: the home of the check; empty at first.
        deadline_s: seconds each call may take.
        known: what was learned about the provider, for the checks that come.
    """

    def __init__(
        self,
        make: Callable[[], object],
        home: Path,
        *,
        deadline_s: float = DEADLINE_S,
        known: dict[str, str] | None = None,
    ) -> None:
        self._make = make
        self.known = {} if known is None else known
        self.home = home
        self.deadline_s = deadline_s
        self._made: list[Instance] = []

    def new(self, home: Path | None = None) -> Instance:
        """An instance that was not started; in the check's own home unless another is given."""
        instance = Instance(self._make(), home or self.home, deadline_s=self.deadline_s)
        self._made.append(instance)
        return instance

    def started(self, home: Path | None = None, *, session_id: str = SESSION, **facts: Any) -> Instance:
        """A started one.

        Raises:
            Skip: it is not available or does not start; its own check finds that.
        """
        instance = self.new(home)
        available = instance.call("is_available")
        if not available.is_good or not available.value:
            why = instance.call("unavailable_reason").value or "`is_available` says no"
            raise Skip(f"not available: {why}")
        outcome = instance.start(session_id=session_id, **facts)
        if not outcome.is_good:
            raise Skip(f"`initialize` {outcome.trouble}")
        return instance

    def end_all(self) -> None:
        """End what a check left running."""
        for instance in self._made:
            instance.end()


@contextmanager
def private_world(folder: Path) -> Iterator[Path]:
    """HOME and HERMES_HOME below a folder, for the time of a check; gives the agent home."""
    home = folder / "person" / ".hermes"
    home.mkdir(parents=True, exist_ok=True)
    before = {name: os.environ.get(name) for name in ("HOME", "HERMES_HOME")}
    os.environ |= {"HOME": str(home.parent), "HERMES_HOME": str(home)}
    try:
        yield home
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
