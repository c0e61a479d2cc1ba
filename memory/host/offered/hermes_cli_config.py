"""The current home's `config.yaml` and `.env`."""

from __future__ import annotations

import os
from typing import Any

from memory.config import change_config, read_config, read_env, save_env
from memory.host.home_scope import current_home

__all__ = [
    "cfg_get",
    "get_env_value",
    "get_env_value_prefer_dotenv",
    "load_config",
    "load_config_readonly",
    "load_env",
    "save_config",
    "save_env_value",
]


def load_config() -> dict[str, Any]:
    """The whole configuration; empty if there is none."""
    return read_config(current_home())


def load_config_readonly() -> dict[str, Any]:
    """The same; changing it changes no file."""
    return read_config(current_home())


def save_config(config: dict[str, Any]) -> None:
    """Write the sections that differ from the file. Comments stay, and so do sections that `config` does not have."""
    home = current_home()
    there = read_config(home)
    for name, section in config.items():
        if name not in there or there[name] != section:
            _save(home, (name,), there.get(name), section)


def _save(home: Any, path: tuple[str, ...], there: Any, wanted: Any) -> None:
    """Set what differs, as deep down as both sides are mappings, so that comments beside it stay."""
    if not (isinstance(there, dict) and isinstance(wanted, dict) and there.keys() <= wanted.keys()):
        change_config(home, path, wanted)
        return
    for name, value in wanted.items():
        if name not in there or there[name] != value:
            _save(home, (*path, name), there.get(name), value)


def cfg_get(config: Any, *keys: str, default: Any = None) -> Any:
    """A value deep in a configuration; `default` if a key on the way is missing or its value is null."""
    for key in keys:
        if not isinstance(config, dict):
            return default
        config = config.get(key)
    return default if config is None else config


def load_env() -> dict[str, str]:
    """The variables of the home's `.env`."""
    return read_env(current_home())


def get_env_value(name: str) -> str | None:
    """A variable of the process, else of `.env`."""
    return os.environ.get(name) or load_env().get(name)


def get_env_value_prefer_dotenv(name: str) -> str | None:
    """A variable of `.env`, else of the process."""
    return load_env().get(name) or os.environ.get(name)


def save_env_value(name: str, value: str) -> None:
    """Put a variable into the home's `.env`, which only its owner can read."""
    save_env(current_home(), {name: value})
