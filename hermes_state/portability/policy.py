"""What a backup does with secrets. `secrets` does it, and takes longer to load than most backups need it."""

from __future__ import annotations

from enum import StrEnum


class Policy(StrEnum):
    """What a backup does with secrets."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    REDACT = "redact"
