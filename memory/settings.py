"""What a home's `config.yaml` says about memory: every key known, with its default, its limits and its meaning.

Booleans and numbers are also taken as the strings that a setup wizard writes. `${NAME}` is replaced from the
environment and the home's `.env`. A key nobody knows, or a value that can't be used, is a finding; the default then
holds.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from hermes_state.home import resolve_home
from memory.config import CONFIG_NAME, expand, read_config, variables_of
from memory.provider import is_core_memory_provider

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

PLACEMENTS = ("system", "user")
NOTIFICATIONS = ("off", "on", "verbose")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing in a configuration that is not as it should be.

    Attributes:
        key: where, e.g. `memory.nudge_interval`.
        message: what is wrong and what holds instead.
    """

    key: str
    message: str


class _Unusable(Exception):
    """A value that a key can't have; the text says what is wanted and what is there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """One key of the configuration, for the documentation.

    Attributes:
        path: its keys from the top, joined by dots.
        default: what holds when it is not there.
        about: what it means, with units.
    """

    path: str
    default: Any
    about: str


def _key(
    path: str,
    default: Any,
    about: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    strict: bool = False,
    aliases: tuple[str, ...] = (),
) -> Any:
    """A field that is read from `path`; `strict`: a string is no boolean here."""
    rule = {"path": path, "about": about, "least": least, "most": most, "choices": choices, "strict": strict}
    rule |= {"aliases": aliases, "default": default}
    if isinstance(default, MappingProxyType):
        return field(default_factory=_nothing, metadata=rule)
    return field(default=default, metadata=rule)


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class MemorySettings:
    """The settings of the memory layer; `MemorySettings()` has the defaults. `describe()` tells what each means."""

    # --- built-in memory ----------------------------------------------------------------------------------------
    memory_enabled: bool = _key("memory.memory_enabled", True, "MEMORY.md, the agent's own notes, is in the prompt")
    user_profile_enabled: bool = _key("memory.user_profile_enabled", True, "USER.md, who the user is, is in the prompt")
    memory_char_limit: int = _key("memory.memory_char_limit", 2200, "characters MEMORY.md may hold", least=1)
    user_char_limit: int = _key("memory.user_char_limit", 1375, "characters USER.md may hold", least=1)
    write_approval: bool = _key("memory.write_approval", False, "a write of built-in memory waits for a person's yes")
    disabled_toolsets: tuple[str, ...] = _key(
        "agent.disabled_toolsets",
        (),
        "toolsets the agent does without; `memory` is every tool of every memory",
    )
    # --- review and flush ---------------------------------------------------------------------------------------
    nudge_interval: int = _key(
        "memory.nudge_interval", 10, "user turns since the last memory write before a review; 0: never", least=0
    )
    flush_min_turns: int = _key(
        "memory.flush_min_turns", 6, "user turns a session needs before its end is worth a flush; 0: never", least=0
    )
    skill_nudge_interval: int = _key(
        "skills.creation_nudge_interval", 10, "tool iterations before a review of skills; 0: never", least=0
    )
    review_provider: str = _key("auxiliary.background_review.provider", "", "model vendor of the review; empty: main")
    review_model: str = _key("auxiliary.background_review.model", "", "model of the review; empty: the main one")
    review_base_url: str = _key("auxiliary.background_review.base_url", "", "where the review's model answers")
    review_api_key: str = _key("auxiliary.background_review.api_key", "", "its key, best as `${NAME}`")
    notifications: str = _key(
        "display.memory_notifications", "on", "what is shown of saved memories", choices=NOTIFICATIONS
    )
    # --- providers ----------------------------------------------------------------------------------------------
    provider: str = _key("memory.provider", "", "the external provider; empty: built-in memory alone")
    providers: tuple[str, ...] = _key(
        "memory.providers", (), "several external providers at once, instead of `provider`; their recall is fused"
    )
    provider_weights: Mapping[str, float] = _key(
        "memory.provider_weights", MappingProxyType({}), "weight of a provider in the fusion; default 1"
    )
    redact_secrets: bool = _key(
        "memory.redact_secrets", True, "providers get placeholders in the place of keys, tokens and passwords"
    )
    user_id: str = _key("memory.user_id", "", "whose memory it is; empty: the runtime's user, else its session key")
    # --- recall -------------------------------------------------------------------------------------------------
    prefetch_timeout_s: float = _key(
        "memory.prefetch_timeout_s",
        8.0,
        "seconds a turn waits for recall",
        least=0.001,
        aliases=("memory.prefetch_timeout", "memory.external_prefetch_timeout"),
    )
    recall_placement: str = _key(
        "memory.recall_placement", "system", "where recall goes: system prompt or user message", choices=PLACEMENTS
    )
    recall_max_chars: int = _key("memory.recall_max_chars", 8000, "characters of recall in one turn", least=100)
    prefetch_spill_enabled: bool = _key(
        "memory.prefetch_spill_enabled", False, "the peer's key; recall above the budget is cut here, never spilled"
    )
    # --- a provider that misbehaves -----------------------------------------------------------------------------
    hook_timeout_s: float = _key("memory.hook_timeout_s", 5.0, "seconds a turn waits for any other hook", least=0.001)
    initialize_timeout_s: float = _key(
        "memory.initialize_timeout_s", 30.0, "seconds the start waits for a provider; it may come later", least=0.001
    )
    tool_timeout_s: float = _key("memory.tool_timeout_s", 120.0, "seconds a provider's tool may take", least=0.001)
    checkpoint_timeout_s: float = _key(
        "memory.checkpoint_timeout_s", 120.0, "seconds a compression waits for `on_pre_compress`", least=0.001
    )
    shutdown_timeout_s: float = _key(
        "memory.shutdown_timeout_s", 5.0, "seconds the end waits for what is still to be told", least=0.0
    )
    breaker_failures: int = _key("memory.breaker_failures", 3, "failures in a row that open the breaker", least=1)
    breaker_cooldown_s: float = _key(
        "memory.breaker_cooldown_s", 60.0, "seconds an open breaker waits before it tries again", least=0.0
    )
    notice_after_failures: int = _key("memory.notice_after_failures", 3, "failures in a row a user hears of", least=1)
    queue_max: int = _key("memory.queue_max", 256, "calls that wait for a provider in memory", least=1)
    delivery_attempts: int = _key(
        "memory.delivery_attempts", 5, "times a queued call is tried before it is set aside", least=1
    )
    # --- compression --------------------------------------------------------------------------------------------
    compression_enabled: bool = _key("compression.enabled", True, "long conversations are summarised")
    compression_threshold: float = _key(
        "compression.threshold", 0.5, "share of the model's context that starts it", least=0.01, most=1.0
    )
    compression_in_place: bool = _key("compression.in_place", True, "the session keeps its id when it is summarised")
    protect_last_n: int = _key("compression.protect_last_n", 20, "newest messages that are never summarised", least=0)
    checkpoint_required: bool = _key(
        "compression.checkpoint_required",
        False,
        "no compression without a durable checkpoint of a provider; only a real `true` counts",
        strict=True,
    )
    # --- not from a key -----------------------------------------------------------------------------------------
    provider_sections: Mapping[str, Mapping[str, Any]] = field(default_factory=_nothing)
    findings: tuple[Finding, ...] = ()

    @property
    def has_tools(self) -> bool:
        """Whether the model is to have the tools of memory."""
        return "memory" not in self.disabled_toolsets

    @property
    def external(self) -> tuple[str, ...]:
        """The external providers to load, in order, each once."""
        return self.providers or ((self.provider,) if self.provider else ())

    @classmethod
    def load(cls, home: str | os.PathLike[str] | None = None) -> Self:
        """The settings of a home. `provider_sections` holds the mappings under `memory:` that bear a provider's name.

        Args:
            home: the agent home; None: `$HERMES_HOME`, else `~/.hermes`.

        Raises:
            FormatError: `config.yaml` is no YAML mapping; names the line.
            StoreUnavailable: a file of it is there and can't be read.
        """
        folder = resolve_home(home)
        tree, missing = expand(read_config(folder), variables_of(folder))
        return cls.from_tree(tree, missing=missing)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], *, missing: list[str] | None = None) -> Self:
        """The settings that a whole configuration, already read and expanded, holds."""
        findings = [
            Finding(key=f"${{{name}}}", message=f"${{{name}}} is in {CONFIG_NAME}, and no variable has that name")
            for name in dict.fromkeys(missing or ())
        ]
        values: dict[str, Any] = {}
        for spec in fields(cls):
            if "path" not in spec.metadata:
                continue
            path, raw = _lookup(tree, (spec.metadata["path"], *spec.metadata["aliases"]))
            if raw is None:
                continue
            try:
                values[spec.name] = _converted(spec.metadata["default"], raw, spec.metadata)
            except _Unusable as error:
                findings.append(Finding(key=path, message=f"{error}; {spec.metadata['default']!r} holds"))
        section = tree.get("memory")
        if section is not None and not isinstance(section, dict):
            findings.append(Finding(key="memory", message=f"a mapping is wanted, not {section!r}; the defaults hold"))
        findings += _unknown(section if isinstance(section, dict) else {})
        return cls(**_external(values), provider_sections=_sections(section), findings=tuple(findings))

    @classmethod
    def describe(cls) -> list[Key]:
        """Every key that is read, in order."""
        return [
            Key(path=spec.metadata["path"], default=spec.metadata["default"], about=spec.metadata["about"])
            for spec in fields(cls)
            if "path" in spec.metadata
        ]


def _lookup(tree: Mapping[str, Any], paths: tuple[str, ...]) -> tuple[str, Any]:
    """The first of several keys that is there and not null."""
    for path in paths:
        value: Any = tree
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            return path, value
    return paths[0], None


def _converted(default: Any, raw: Any, rule: Mapping[str, Any]) -> Any:
    """A value as the type of the default wants it.

    Raises:
        _Unusable: it can't be; says what is wanted and what is there.
    """
    if isinstance(default, bool):
        return _boolean(raw, strict=rule["strict"])
    if isinstance(default, int | float):
        return _number(raw, type(default), rule)
    if isinstance(default, tuple):
        return _names(raw)
    if isinstance(default, MappingProxyType):
        if not isinstance(raw, dict):
            raise _Unusable(f"a mapping of names to numbers is wanted, not {raw!r}")
        limits = {"least": 0.0, "most": None}
        return MappingProxyType({str(name): _number(value, float, limits) for name, value in raw.items()})
    if isinstance(raw, dict | list):
        raise _Unusable(f"text is wanted, not {raw!r}")
    text = str(raw).strip()
    if rule["choices"] and text.lower() not in rule["choices"]:
        # YAML reads a bare `on` as text, and some writers make a boolean of it
        text = {"true": "on", "false": "off"}.get(text.lower(), text)
    if rule["choices"] and text.lower() not in rule["choices"]:
        raise _Unusable(f"one of {', '.join(rule['choices'])} is wanted, not {raw!r}")
    return text.lower() if rule["choices"] else text


def _boolean(raw: Any, *, strict: bool) -> bool:
    if isinstance(raw, bool):
        return raw
    if strict:
        raise _Unusable(f"only a real boolean counts here, not {raw!r}")
    text = str(raw).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise _Unusable(f"true or false is wanted, not {raw!r}")


def _number(raw: Any, kind: type, rule: Mapping[str, Any]) -> Any:
    try:
        number = float(raw) if not isinstance(raw, bool | dict | list) else float("nan")
    except ValueError:
        number = float("nan")
    if number != number or number in (float("inf"), float("-inf")) or (kind is int and number != int(number)):
        raise _Unusable(f"a {'whole ' if kind is int else ''}number is wanted, not {raw!r}")
    if rule["least"] is not None and number < rule["least"]:
        raise _Unusable(f"at least {rule['least']:g} is wanted, not {raw!r}")
    if rule["most"] is not None and number > rule["most"]:
        raise _Unusable(f"at most {rule['most']:g} is wanted, not {raw!r}")
    return kind(number)


def _names(raw: Any) -> tuple[str, ...]:
    parts = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(parts, list):
        raise _Unusable(f"a list of names is wanted, not {raw!r}")
    return tuple(dict.fromkeys(str(part).strip() for part in parts if str(part).strip()))


def _external(values: dict[str, Any]) -> dict[str, Any]:
    """Names that mean built-in memory are no external provider."""
    if is_core_memory_provider(values.get("provider", "")) or values.get("provider", "").lower() == "off":
        values["provider"] = ""
    values["providers"] = tuple(name for name in values.get("providers", ()) if not is_core_memory_provider(name))
    return values


def _sections(section: Any) -> Mapping[str, Mapping[str, Any]]:
    known = _known()
    found = section.items() if isinstance(section, dict) else ()
    return MappingProxyType(
        {str(name): value for name, value in found if isinstance(value, dict) and name not in known}
    )


def _unknown(section: Mapping[str, Any]) -> Iterator[Finding]:
    """Keys of `memory:` that nobody reads. A mapping is a provider's own section and its business."""
    known = _known()
    for name, value in section.items():
        if name not in known and not isinstance(value, dict):
            near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.7)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            yield Finding(key=f"memory.{name}", message=f"unknown key, nothing reads it{meant}")


def _known() -> list[str]:
    paths = [
        path
        for spec in fields(MemorySettings)
        if "path" in spec.metadata
        for path in (spec.metadata["path"], *spec.metadata["aliases"])
    ]
    return [path.partition(".")[2] for path in paths if path.startswith("memory.")]
