"""Models that think aloud: a `<think>…</think>` block at the start of an answer is reasoning, not text."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkingSplitter:
    """Tells the reasoning at the start of a streamed answer from the answer.

    Only a block that starts the answer counts, so that an answer may speak about the tag.
    """

    def __init__(self) -> None:
        self.reasoning = ""
        self._held = ""
        self._state = "start"  # then "inside", then "text"

    def feed(self, chunk: str) -> str:
        """The text in a chunk that is surely part of the answer."""
        self._held += chunk
        if self._state == "start":
            self._look_for_start()
        if self._state == "inside":
            self._look_for_end()
        return self._release() if self._state == "text" else ""

    def flush(self) -> str:
        """What was held back at the end; an unclosed block stays reasoning."""
        if self._state == "inside":
            self.reasoning, self._held = self.reasoning + self._held, ""
        return self._release()

    def _look_for_start(self) -> None:
        stripped = self._held.lstrip()
        if stripped.startswith(_OPEN):
            self._state, self._held = "inside", stripped[len(_OPEN) :]
        elif stripped and not _OPEN.startswith(stripped):
            self._state = "text"

    def _look_for_end(self) -> None:
        inside, closed, after = self._held.partition(_CLOSE)
        if closed:
            self.reasoning += inside
            self._state, self._held = "text", after.lstrip("\n")

    def _release(self) -> str:
        released, self._held = self._held, ""
        return released
