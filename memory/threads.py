"""Threads that carry the context variables of whoever starts them: the profile's home, the scope of secrets."""

from __future__ import annotations

import contextvars
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

P = ParamSpec("P")
R = TypeVar("R")


def ctx_bound(fn: Callable[P, R]) -> Callable[P, R]:
    """`fn` bound to the context of this moment, for a pool or a thread that would start with an empty one.

    Each call runs in a copy of its own, so that the result can be called from several threads at once.
    """
    context = contextvars.copy_context()

    @wraps(fn)
    def bound(*args: P.args, **kwargs: P.kwargs) -> R:
        return context.copy().run(fn, *args, **kwargs)

    return bound


def spawn_context_thread(
    target: Callable[..., object],
    *,
    name: str | None = None,
    daemon: bool = True,
    args: Iterable[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> threading.Thread:
    """A thread that runs `target` in a copy of the caller's context.

    Returns:
        The thread, not started: providers call `start()` themselves.
    """
    return threading.Thread(target=ctx_bound(target), name=name, daemon=daemon, args=tuple(args), kwargs=kwargs)
