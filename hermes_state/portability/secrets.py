"""Keys, tokens and passwords in a backup: all of it goes in, or the files that hold them stay out, or their values do.

Without a policy the archive is whole, and as secret as the home. `exclude` leaves out the files that exist for secrets
and takes single values out of all settings; `redact` keeps those files too, with a mark in the place of each value, so
that a person sees after the restore what must be entered again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_state.portability.patterns import Pattern
from hermes_state.portability.settings import Value, exchanged, values

if TYPE_CHECKING:
    from pathlib import Path

MARK = "[redacted]"
# Text files up to this size are searched for the shapes of tokens. [bytes]
_MAX_BYTES = 8 * 1024 * 1024
# In a file that exists for secrets, shorter values than this are names of methods and the like. [characters]
_MIN_SECRET = 8

# Files that exist for secrets, at any depth.
_FILES = (
    *(".env", ".env.*", "*.env", ".env-*", "auth.json", "auth.json.*", "*oauth*.json", "*_token.json", "*_tokens.json"),
    *("*_token.json.*", "client_secret*.json", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "*.pem", "*.key"),
    *("*.p12", "*.pfx", "id_rsa*", "id_ecdsa*", "id_ed25519*", "credentials", "credentials.json", "credentials.*"),
)
# What holds them at the top of a home or profile only; elsewhere it may be a skill about tokens.
_PLACES = (
    *("/*token*.json", "/*token*.json.*", "/*credential*", "/*secret*", "/mcp-tokens/**", "/pairing/**"),
    *("/platforms/pairing/**", "/*pairing*.json", "/whatsapp/session/**", "/platforms/*/session/**", "/.honcho/**"),
    *("/auth/**", "/oauth/**", "/.openviking/ovcli.conf", "/.hindsight/**/*.env"),
)
# Made to be filled in, so there is nothing secret in them.
_HARMLESS = re.compile(r"\.env\.(example|sample|template|dist)\Z")
_PATTERNS = [Pattern(text) for text in (*_FILES, *_PLACES)]
_SETTINGS = (".yaml", ".yml", ".json")
_SECRET_NAME = re.compile(
    r"(?:^|[_.-])(?:api_?key|key|token|secret|password|passwd|passphrase|credentials?|authorization|bearer|cookie|jwt|pat"
    r"|private_?key|access_?key|client_?secret|webhook|dsn)(?:[_.-]?(?:value|hash|id_secret|b64|base64|\d+))?$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# A setting in a `.env`: what stands before the value, and the value with its quotes.
_ASSIGNMENT = re.compile(r"^(\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=[ \t]*)(\S.*?)([ \t]*)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Redacted:
    """A file without its secrets.

    Attributes:
        content: None when it must stay out as a whole: it holds secrets and can't be read.
        keys: which settings were taken out; a text's shape where it has no key.
    """

    content: bytes | None
    keys: tuple[str, ...]


def is_secret_file(path: str) -> bool:
    """Whether a file of a home exists for secrets."""
    return not _HARMLESS.search(path) and any(pattern.fits(path, is_dir=False) for pattern in _PATTERNS)


def redact_file(path: Path, *, is_secret: bool) -> Redacted | None:
    """A file with marks in the place of its secrets; None when there are none in it.

    Args:
        is_secret: it exists for secrets, so every longer value in it is one.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            return Redacted(content=None, keys=()) if is_secret else None
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):  # what can't be read will be reported when it is to be copied
        return Redacted(content=None, keys=()) if is_secret else None
    new, keys = _redacted(path.name, text, is_secret=is_secret)
    if new is None:
        return Redacted(content=None, keys=())
    return None if new == text else Redacted(content=new.encode(), keys=tuple(keys))


def _redacted(name: str, text: str, *, is_secret: bool) -> tuple[str | None, list[str]]:
    if name.endswith(_SETTINGS) or name.endswith(".json.bak"):
        found = _settings(text, is_secret=is_secret)
        if found is not None:
            return found
    if is_secret and _ASSIGNMENT.search(text) is None:
        return None, []
    new, keys = _assignments(text, is_secret=is_secret) if _is_environment(name) else (text, [])
    shapeless = _without_shapes(new)
    return shapeless, keys or (["(text)"] if shapeless != new else [])


def _is_environment(name: str) -> bool:
    return ".env" in name


def _settings(text: str, *, is_secret: bool) -> tuple[str, list[str]] | None:
    """A YAML or JSON document; None when it is neither."""
    try:
        found = values(text)
    except ValueError:
        return None
    changes: dict[int, tuple[Value, str]] = {}
    for value in found:
        new = _value(value, is_secret=is_secret)
        if new != value.text:
            changes[value.start] = (value, new)
    new_text = exchanged(text, changes)
    # Comments hold old keys as often as values do.
    shapeless = _without_shapes(new_text)
    return shapeless, [value.key for value, _ in changes.values()] or (["(comment)"] if shapeless != new_text else [])


def _value(value: Value, *, is_secret: bool) -> str:
    if value.text.strip() == "" or _refers(value.text):
        return value.text
    if _is_secret_name(value.name) and (value.is_text or _is_number(value.text)):
        return MARK
    if is_secret and value.is_text and len(value.text) >= _MIN_SECRET:
        return MARK
    return _without_shapes(value.text) if value.is_text else value.text


def _is_secret_name(name: str) -> bool:
    return bool(_SECRET_NAME.search(_CAMEL.sub("_", name)))


def _is_number(text: str) -> bool:
    return text.replace(".", "").isdigit()


def _refers(text: str) -> bool:
    """Whether it names a variable that holds the secret, instead of the secret."""
    return re.fullmatch(r"\$\{?\w+\}?", text) is not None


def _assignments(text: str, *, is_secret: bool) -> tuple[str, list[str]]:
    keys = []

    def exchange(found: re.Match[str]) -> str:
        before, name, value, after = found.groups()
        bare = value.strip("'\"")
        if _refers(bare) or not bare or not (is_secret or _is_secret_name(name)):
            return found[0]
        keys.append(name)
        return f"{before}{MARK}{after}"

    return _ASSIGNMENT.sub(exchange, text), keys


def _without_shapes(text: str) -> str:
    """A text without what looks like a secret."""
    from hermes_state.redact import redact_text  # with what it needs 12 ms, and most backups leave secrets in

    return redact_text(text)
