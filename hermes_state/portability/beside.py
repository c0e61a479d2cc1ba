"""Threads that work beside the one that everything waits for."""

from __future__ import annotations

import os
import sys
import threading

# Steps of the scheduler below others: such a thread gets a ninth of a core that both want.
_STEPS = 10


def yielding() -> None:
    """Let this thread's process, where the system schedules threads singly, run when others need not.

    On Linux a thread has a priority of its own; elsewhere it would be the whole process's, and nothing is done.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.nice(0) + _STEPS)
