"""What a provider is told of where it is, and whose memory it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Contexts whose turns are nobody's conversation: providers answer them and keep nothing of them.
_UNKEPT_CONTEXTS = frozenset({"subagent", "cron", "flush", "background_review"})
_DEFAULTS = {"platform": "cli", "agent_context": "primary", "agent_identity": "default", "agent_workspace": "hermes"}


def initialize_facts(home: Path, facts: Mapping[str, Any], *, configured_user_id: str) -> dict[str, Any]:
    """The keyword arguments of `initialize`: each only when it is known, an empty text counts as unknown.

    `user_id` names whose memory it is: the configured one, else the runtime's user, else the gateway's session key;
    without all three it is left out and the provider's own default holds.
    """
    known = {name: value for name, value in facts.items() if value not in (None, "")}
    owner = configured_user_id or known.get("user_id") or known.get("gateway_session_key")
    if owner:
        known["user_id"] = str(owner)
    return _DEFAULTS | known | {"hermes_home": str(home)}


def is_kept(facts: Mapping[str, Any]) -> bool:
    """Whether the turns of such an agent are memory: those of scheduled runs and of helpers are not."""
    return facts.get("platform") != "cron" and facts.get("agent_context", "primary") not in _UNKEPT_CONTEXTS
