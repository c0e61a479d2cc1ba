"""What a plug-in raised, in words, whatever it raised."""

from __future__ import annotations


def message_of(error: BaseException) -> str:
    """What an error says of itself; one whose `__str__` fails says that."""
    try:
        return str(error).strip()
    except Exception as failure:  # noqa: BLE001  it is a plug-in's code, called while its fault is being reported
        return f"its message can't be read: {type(failure).__name__}"


def named(error: BaseException) -> str:
    """The same behind the error's type."""
    return f"{type(error).__name__}: {message_of(error)}".rstrip(": ")
