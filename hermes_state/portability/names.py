"""Names of members: which are refused on every system, and which are merely awkward on some."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from hermes_state.portability.format import MAX_COMPONENT_BYTES, MAX_DEPTH, MAX_NAME_BYTES, MAX_TARGET_BYTES

ROOT = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|\Z)")
_WINDOWS_CHARACTERS = re.compile(r'[<>:"|?*\\\x00-\x1f]')
# Windows takes these for devices in any folder, in any case, with any extension.
_WINDOWS_DEVICES = re.compile(
    r"(?:CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?:\s*\..*)?\Z", re.IGNORECASE | re.DOTALL
)


def encoded(name: str) -> bytes:
    """The bytes of a name.

    Raises:
        UnicodeEncodeError: it has a surrogate that stands for no byte.
    """
    return name.encode("utf-8", "surrogateescape")


def decoded(raw: bytes) -> str:
    """The name that bytes make."""
    return raw.decode("utf-8", "surrogateescape")


def fault(name: str) -> str | None:
    """Why a name is refused on every system; None: it is not."""
    try:
        raw = encoded(name)
    except UnicodeEncodeError:
        return "has a code point that no file name can have"
    if not raw:
        return "is empty"
    if b"\0" in raw:
        return "has a NUL"
    if len(raw) > MAX_NAME_BYTES:
        return f"is longer than {MAX_NAME_BYTES} bytes"
    return _components_fault(name.split("/"))


def _components_fault(components: list[str]) -> str | None:
    if len(components) > MAX_DEPTH:
        return f"has more than {MAX_DEPTH} components"
    return next(filter(None, map(_component_fault, components)), None)


@lru_cache(maxsize=4096)  # folders stand in the names of all that lies in them
def _component_fault(component: str) -> str | None:
    if not component:
        return "is absolute or has an empty component"
    if len(encoded(component)) > MAX_COMPONENT_BYTES:
        return f"has a component of more than {MAX_COMPONENT_BYTES} bytes"
    if _DRIVE.match(component):
        return "names a drive"
    if component.startswith("\\"):
        return "is absolute where a backslash separates"
    if any(part in (".", "..") for part in component.split("\\")):
        return "leads out of its folder"
    return None


def target_fault(target: str) -> str | None:
    """Why a link's target is refused; None: it is not. Where it leads is no matter here: see `leads_out`."""
    try:
        raw = encoded(target)
    except UnicodeEncodeError:
        return "has a code point that no file name can have"
    if not raw:
        return "is empty"
    if b"\0" in raw:
        return "has a NUL"
    return f"is longer than {MAX_TARGET_BYTES} bytes" if len(raw) > MAX_TARGET_BYTES else None


def windows_fault(name: str) -> str | None:
    """Why Windows can't hold a name that other systems can; None: it can."""
    for component in name.split("/"):
        if _WINDOWS_CHARACTERS.search(component):
            return "has a character that Windows does not allow"
        if component.endswith((".", " ")):
            return "ends in a dot or space"
        if _WINDOWS_DEVICES.match(component):
            return "is a device on Windows"
    return None


def leads_out(name: str, target: str) -> bool:
    """Whether a link points out of its root, as far as its text says: links on the way are not followed."""
    if target.startswith(("/", "\\")) or _DRIVE.match(target):
        return True
    depth = name.count("/") - 1  # folders between the root and the link
    for component in target.split("/"):
        if component == "..":
            depth -= 1
        elif component not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def folded(name: str) -> str:
    """Equal for names that a file system which ignores case, or normalises, takes for the same."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def parent(name: str) -> str:
    """The folder that a name lies in; empty for a top name."""
    return name.rpartition("/")[0]
