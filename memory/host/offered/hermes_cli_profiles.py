"""Profiles: homes below a home."""

from __future__ import annotations

from memory.host.home_scope import current_home

__all__ = ["get_active_profile_name"]


def get_active_profile_name() -> str:
    """The name of the current home if it is `…/profiles/<name>`, else `default`."""
    home = current_home()
    return home.name if home.parent.name == "profiles" else "default"
