"""Secrets out of texts: what has the shape of a token, key or password becomes a stable placeholder.

A placeholder is `[redacted:KIND:1a2b3c4d]`; the last part is the start of the secret's SHA-256, so that the same secret
gives the same placeholder everywhere and two messages can still be told to be about the same one. Whoever has the
placeholder can test guesses against it, as with any digest: a password that is easy to guess stays easy to guess.

Only known shapes are found. A password that stands alone in a sentence has no shape.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_state.codec import message_fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_state.records import Message

_MARK = "[redacted:"
# A name that ends in one of these has a secret as its value.
_WORDS = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?key|private[_-]?key|account[_-]?key|encryption[_-]?key"
    r"|signing[_-]?key|auth[_-]?key|client[_-]?secret|secret[_-]?access[_-]?key|app[_-]?secret|webhook[_-]?secret"
    r"|secret|token|passwd|password|passphrase|pass[_-]?word|pwd)"
)
# Where such a name starts: after a part of a longer name (`DB_PASSWORD`, `accessToken`), never inside a word.
_NAME = rf"(?:(?<![A-Za-z])(?i:{_WORDS})|(?<=[a-z])(?:(?:Api|Access|Private|Secret)?Key|Token|Secret|Password))"
_NAMED = re.compile(rf"{_NAME}\Z")
_PASSWORDS = re.compile(r"pass|pwd", re.IGNORECASE)
# Shortest value of a named secret that is taken for one: shorter ones are words, numbers and examples.
_MIN_QUOTED, _MIN_BARE = 4, 6
_NO_SECRET = frozenset(
    (
        "string", "number", "integer", "boolean", "object", "optional", "required", "undefined", "default", "secret",
        "password", "passwd", "token", "hidden", "redacted", "masked", "example", "changeme", "null", "none", "true",
        "false", "bytes", "secretstr", "placeholder",
    )
)  # fmt: skip


class _Shape(NamedTuple):
    """One kind of secret.

    Attributes:
        hints: texts of which one is in every text that holds such a secret, in lower case; they make the search cheap.
        secret: the group of the pattern that is the secret.
        accept: whether what was found is one; None: always.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    secret: int = 0
    accept: Callable[[str], bool] | None = None


def _looks_random(text: str) -> bool:
    """Whether letters and digits are mixed as in no word: a name such as `sk-learn-contrib` is no key."""
    longest = max(re.split(r"[-_.]", text), key=len)
    return len(longest) >= 12 and any(c.isdigit() for c in longest) and any(c.isalpha() for c in longest)


def _is_value(text: str) -> bool:
    """Whether a quoted value of a secret's name is one, and not a stand-in for it."""
    bare = text.strip().lower()
    stand_in = bare[:1] in "$<{*[%(" or bare.startswith(("your", "xxx", "...")) or not bare.strip("x*.•-")
    return not stand_in and bare not in _NO_SECRET


def _is_bare_value(text: str) -> bool:
    """As `_is_value`, for one without quotes, which may be code or prose."""
    if not _is_value(text) or text[0] in "/~.@" or any(c in text for c in "()[]{}<>|"):
        return False
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _is_assigned_value(text: str) -> bool:
    """As `_is_bare_value`, for one right after a `=`: settings are written so, and may be plain words."""
    return _is_bare_value(text) or (_is_value(text) and text.isalpha() and len(text) >= 8)


def _shape(kind: str, hints: str, pattern: str, **more: Any) -> _Shape:
    return _Shape(kind, tuple(hints.split()), re.compile(pattern), **more)


_START = r"(?<![A-Za-z0-9])"
# For shapes of several parts: they are tried once per run of such characters, so that a long run costs no square.
_RUN_START = r"(?<![A-Za-z0-9_.-])"
_NAME_HINTS = "key secret token passw passphrase pass-word pass_word pwd"
_QUOTED = rf"{_NAME}(?:\\*[\"'`])?\s*(?::|=>|=)\s*\\*(?P<quote>[\"'`])"
_SHAPES = (
    _Shape(
        "private-key",
        ("private key-----",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:(?!-----BEGIN).)*?"
            r"(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|(?=-----BEGIN)|\Z)",
            re.DOTALL,
        ),
    ),
    _shape("anthropic-key", "sk-ant-", rf"{_START}sk-ant-[A-Za-z0-9_-]{{16,}}"),
    _shape("openai-key", "sk-", rf"{_START}sk-[A-Za-z0-9_-]{{16,}}", accept=_looks_random),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_START}gh[pousr]_[A-Za-z0-9]{{20,}}"),
    _shape("github-token", "github_pat_", rf"{_START}github_pat_[A-Za-z0-9_]{{20,}}"),
    _shape("gitlab-token", "glpat-", rf"{_START}glpat-[A-Za-z0-9_-]{{20,}}"),
    _shape("slack-token", "xox", rf"{_START}xox[a-z]-[A-Za-z0-9-]{{10,}}"),
    _shape("slack-token", "xapp-", rf"{_START}xapp-[0-9]-[A-Za-z0-9-]{{10,}}"),
    _shape("slack-webhook", "hooks.slack.com", r"(?<=hooks\.slack\.com/services/)[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]+"),
    _shape("aws-key", "akia asia abia acca", r"(?<![A-Z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Z0-9])"),
    _shape("google-key", "aiza", rf"{_START}AIza[A-Za-z0-9_-]{{30,}}"),
    _shape("google-token", "ya29.", rf"{_START}ya29\.[A-Za-z0-9_-]{{20,}}"),
    _shape("google-secret", "gocspx-", rf"{_START}GOCSPX-[A-Za-z0-9_-]{{20,}}"),
    _shape("stripe-key", "_live_ _test_", rf"{_START}[srp]k_(?:live|test)_[A-Za-z0-9]{{10,}}"),
    _shape("webhook-secret", "whsec_", rf"{_START}whsec_[A-Za-z0-9+/=]{{16,}}"),
    _shape("huggingface-token", "hf_", rf"{_START}hf_[A-Za-z0-9]{{24,}}"),
    _shape("npm-token", "npm_", rf"{_START}npm_[A-Za-z0-9]{{30,}}"),
    _shape("pypi-token", "pypi-", rf"{_START}pypi-[A-Za-z0-9_-]{{40,}}"),
    _shape("sendgrid-key", "sg.", rf"{_RUN_START}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}"),
    _shape("api-key", "gsk_ xai- pplx- r8_ tvly- fc- ntn_ lin_api_ dop_v1_ dapi nvapi-",
           rf"{_START}(?:gsk_|xai-|pplx-|r8_|tvly-|fc-|ntn_|lin_api_|dop_v1_|dapi|nvapi-)[A-Za-z0-9_-]{{20,}}",
           accept=_looks_random),
    _shape("age-key", "age-secret-key-", rf"{_START}AGE-SECRET-KEY-1[A-Z0-9]{{40,}}"),
    _shape("telegram-token", ":", r"(?<![A-Za-z0-9:])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _shape("discord-token", "m n o",
           rf"{_RUN_START}[MNO][A-Za-z0-9_-]{{23,25}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,}}"),
    _shape("jwt", "eyj", rf"{_RUN_START}eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}"),
    _shape("password", "://", r"(?<=[A-Za-z0-9+.-]://)[^\s/:@'\"<>]*:([^\s/@'\"<>]{3,})(?=@)",
           secret=1, accept=_is_value),
    _shape("token", "bearer", r"(?i:(?<![A-Za-z])bearer\s+)([A-Za-z0-9._~+/=-]{16,})",
           secret=1, accept=_looks_random),
    _shape("token", "authorization",
           r"(?i:authorization\\*[\"']?\s*[:=]\s*\\*[\"']?(?:basic|token|apikey)\s+)([A-Za-z0-9._~+/=:-]{8,})",
           secret=1),
    _shape("secret", _NAME_HINTS, rf"{_QUOTED}((?:(?!(?P=quote)|\\*[\"'`]|\n).){{{_MIN_QUOTED},}})",
           secret=2, accept=_is_value),
    _shape("secret", _NAME_HINTS, rf"{_NAME}=([^\s'\"`,;&\\]{{{_MIN_BARE},}})",
           secret=1, accept=_is_assigned_value),
    _shape("secret", _NAME_HINTS, rf"{_NAME}(?::[ \t]*|[ \t]*=[ \t]+|[ \t]+=[ \t]*|[ \t]+is[ \t]+)"
           rf"([^\s'\"`,;&\\]{{{_MIN_BARE},}})", secret=1, accept=_is_bare_value),
    _shape("secret", "--", rf"--(?i:[a-z-]{{0,40}}{_WORDS})[ \t]+"
           rf"([^\s'\"`,;&\\-][^\s'\"`,;&\\]{{{_MIN_BARE - 1},}})", secret=1, accept=_is_bare_value),
)  # fmt: skip
# Fields of a message that nobody said, typed or ran.
_PLACED = frozenset(("role", "created_at", "state", "tool_name", "tool_call_id", "platform_message_id"))


class Redactor:
    """Takes secrets out and counts them. `count` is how many so far."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, text: str) -> str:
        """The text with a placeholder for every secret."""
        lower = text.lower()
        for shape in _SHAPES:
            if any(hint in lower for hint in shape.hints):
                text = shape.pattern.sub(lambda found, shape=shape: self._replaced(found, shape), text)  # type: ignore[misc]
        return text

    def _replaced(self, found: re.Match[str], shape: _Shape) -> str:
        whole, secret = found[0], found[shape.secret]
        if secret.startswith(_MARK) or _MARK in secret or (shape.accept is not None and not shape.accept(secret)):
            return whole
        kind = shape.kind
        if kind == "secret" and _PASSWORDS.search(whole[: found.start(shape.secret) - found.start()]):
            kind = "password"
        start = found.start(shape.secret) - found.start()
        return whole[:start] + self._placeholder(kind, secret) + whole[start + len(secret) :]

    def _placeholder(self, kind: str, secret: str) -> str:
        self.count += 1
        digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{_MARK}{kind}:{digest[:8]}]"

    def value(self, value: Any) -> Any:
        """A copy of a JSON value with every text in it redacted, and whole values that stand under a secret's name."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if isinstance(value, Mapping):
            return {
                self.text(key) if isinstance(key, str) else key: self._under(key, item) for key, item in value.items()
            }
        return value

    def _under(self, name: Any, value: Any) -> Any:
        """The value under a name of an object."""
        cleaned = self.value(value)
        if not (isinstance(name, str) and isinstance(cleaned, str) and _NAMED.search(name)):
            return cleaned
        if _MARK in cleaned or len(cleaned) < _MIN_QUOTED or not _is_value(cleaned) or cleaned.isspace():
            return cleaned
        return self._placeholder("password" if _PASSWORDS.search(name) else "secret", cleaned)

    def fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of a message's fields with everything that was said, typed or run redacted."""
        return {name: value if name in _PLACED else self.value(value) for name, value in fields.items()}


def redacted_fields(message: Mapping[str, Any] | Message) -> Mapping[str, Any]:
    """The fields of a message as they are stored, with placeholders for secrets; the message itself stays as it is."""
    return Redactor().fields(message_fields(message))


def redact_text(text: str) -> str:
    """The text with a placeholder for every secret that has a known shape; the words around stay as they are."""
    return Redactor().text(text)


def redact_value(value: Any) -> Any:
    """A copy of a JSON value with every text in it redacted, and whole values under names such as `api_key`."""
    return Redactor().value(value)
