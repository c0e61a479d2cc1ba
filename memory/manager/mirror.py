"""What built-in memory changed, as the external providers hear of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from memory.manager.delivery import WRITE, Delivery

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the tool calls it, and what a provider knows.
_ACTIONS = {
    "add": "add",
    "replace": "replace",
    "update": "replace",
    "patch": "replace",
    "remove": "remove",
    "delete": "remove",
}


class MirroredChange(Protocol):
    """A change of built-in memory, as `memory.builtin.Change` has it."""

    @property
    def mirrored(self) -> str:
        """`add`, `replace` or `remove`."""

    @property
    def target(self) -> str:
        """`memory` or `user`."""

    @property
    def content(self) -> str:
        """The new text."""

    @property
    def metadata(self) -> dict[str, Any]:
        """Provenance, and the text that went."""


def write_delivery(
    action: str, target: str, content: str, metadata: Mapping[str, Any] | None, *, session_id: str
) -> Delivery | None:
    """The call of `on_memory_write` for one change; None when it is no change that providers know.

    Args:
        action: as the memory tool calls it; other names for the same are translated.
        content: the new text; for `remove` it is empty, and `previous_content` in the metadata has what went.
        metadata: provenance; empty values are left out.
    """
    known = _ACTIONS.get(action)
    if known is None or target not in ("memory", "user"):
        return None
    said = {key: value for key, value in (metadata or {}).items() if value not in (None, "")}
    said.setdefault("session_id", session_id)
    if not said["session_id"]:
        del said["session_id"]
    text = "" if known == "remove" else content
    return Delivery(
        kind=WRITE,
        session_id=str(said.get("session_id", "")),
        said={"action": known, "target": target, "content": text, "metadata": said},
    )
