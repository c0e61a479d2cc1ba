"""Checks of threads: hooks come from several, as a host calls them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memory.conformance.probe import BICYCLE
from memory.conformance.subject import SESSION
from memory.raised import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Instance, Subject

_THREADS, _ROUNDS = 4, 5


def several(subject: Subject) -> Iterator[tuple[str, str]]:
    """Told on one thread and asked on others, at the same time."""
    instance = subject.started()
    faults: list[str] = []
    workers = [
        threading.Thread(target=_use, args=(instance, n, faults), name=f"memory-conformance-{n}", daemon=True)
        for n in range(_THREADS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(subject.deadline_s)
    for fault in list(dict.fromkeys(faults))[:3]:
        yield "threads.raises", fault
    if any(worker.is_alive() for worker in workers):
        yield "hooks.hangs", f"with {_THREADS} threads at once the hooks did not come back"


def _use(instance: Instance, number: int, faults: list[str]) -> None:
    adapted = instance.adapted
    for n in range(_ROUNDS):
        for hook, call in (
            ("sync_turn", lambda n=n: adapted.sync_turn(f"turn {number}.{n}", "OK.", session_id=SESSION)),
            ("prefetch", lambda: adapted.prefetch(BICYCLE.question, session_id=SESSION)),
            ("system_prompt_block", adapted.system_prompt_block),
        ):
            try:
                call()
            except BaseException as error:  # noqa: BLE001  whatever a provider raises is what is being found out
                faults.append(f"on another thread `{hook}` raised {named(error)}")


CHECKS: tuple[Check, ...] = (several,)
