"""Files that appear whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_state.atomic import whole_file

if TYPE_CHECKING:
    import os

__all__ = ["atomic_json_write"]


def atomic_json_write(path: str | os.PathLike[str], data: Any, *, indent: int | None = 2, mode: int = 0o600) -> None:
    """Write a JSON file in the place of another, whole or not at all; directories on the way are made."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target, mode=mode) as file:
        json.dump(data, file, ensure_ascii=False, indent=indent)
