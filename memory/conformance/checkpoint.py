"""Checks of the second pre-compress contract: that a provider returns means that the evidence is durable."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from memory.checkpoint import evidence
from memory.conformance.hooks import judged
from memory.conformance.probe import CONVERSATION
from memory.conformance.subject import Skip
from memory.provider import PRE_COMPRESS_CHECKPOINT_API_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memory.conformance.probe import Check
    from memory.conformance.subject import Instance, Subject


def honesty(subject: Subject) -> Iterator[tuple[str, str]]:
    """It returns, and something was written somewhere."""
    instance = _version_2(subject)
    before = _files(subject.home.parent)
    sent: list[object] = []
    outcome = instance.run("on_pre_compress", lambda: _watched(instance, sent))
    yield from judged("on_pre_compress", outcome)
    if outcome.is_good and not sent and _files(subject.home.parent) == before:
        yield (
            "checkpoint.dishonest",
            "`on_pre_compress` returned, which says that the evidence is durable; no file changed and nothing was sent",
        )


def repeated(subject: Subject) -> Iterator[tuple[str, str]]:
    """The same evidence again, as after a crash or a retry."""
    instance = _version_2(subject)
    given = evidence(CONVERSATION)
    for time in ("first", "second", "third"):
        outcome = instance.call("on_pre_compress", [dict(m) for m in given], require_checkpoint=True)
        if not outcome.is_good:
            yield "checkpoint.not-repeatable", f"the {time} time `on_pre_compress` {outcome.trouble}"
            return


def _version_2(subject: Subject) -> Instance:
    instance = subject.started()
    if instance.adapted.checkpoint_api_version < PRE_COMPRESS_CHECKPOINT_API_VERSION:
        raise Skip("it does not follow checkpoint API v2")
    return instance


def _watched(instance: Instance, sent: list[object]) -> None:
    """Ask for a checkpoint and note what is sent anywhere."""
    real = socket.socket.sendall

    def sendall(own: socket.socket, *args: Any) -> None:
        sent.append(own)
        real(own, *args)

    socket.socket.sendall = sendall  # type: ignore[method-assign,assignment]
    try:
        instance.adapted.on_pre_compress(evidence(CONVERSATION), require_checkpoint=True)
    finally:
        socket.socket.sendall = real  # type: ignore[method-assign]


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    return {f: (f.stat().st_size, f.stat().st_mtime_ns) for f in folder.rglob("*") if f.is_file()}


CHECKS: tuple[Check, ...] = (honesty, repeated)
