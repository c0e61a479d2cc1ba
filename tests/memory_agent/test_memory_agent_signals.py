"""Signals that end a block: once, whatever the program waits for, and nobody's handlers are lost."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from memory.agent.signals import TERMINATED, ending_on_sigterm


def test_a_sigterm_becomes_a_system_exit_and_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with pytest.raises(SystemExit) as caught, ending_on_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
    assert caught.value.code == TERMINATED
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_a_ctrl_c_stays_a_keyboard_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), ending_on_sigterm():
        os.kill(os.getpid(), signal.SIGINT)


def test_an_event_loop_keeps_its_wakeup_file() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    try:
        with ending_on_sigterm():
            assert signal.set_wakeup_fd(writing) == writing
    finally:
        assert signal.set_wakeup_fd(-1) == writing
        os.close(reading)
        os.close(writing)


def test_outside_the_main_thread_nothing_changes() -> None:
    seen = []

    def run() -> None:
        with ending_on_sigterm():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


def test_the_watching_thread_leaves() -> None:
    with ending_on_sigterm():
        watching = [thread for thread in threading.enumerate() if thread.name == "signals"]
    for thread in watching:
        thread.join(5)
    assert watching
    assert not any(thread.is_alive() for thread in watching)
