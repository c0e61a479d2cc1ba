"""Which model the agent talks to: the `model:` section of a home's `config.yaml`, the environment, the command line.

What is nearest to the person wins: an argument, then `HERMES_STATE_MODEL`, `HERMES_STATE_BASE_URL` and
`HERMES_STATE_API_KEY`, then `config.yaml`, then `OPENAI_BASE_URL` and the well-known URL of the vendor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from hermes_state.errors import InvalidValue
from memory.config import expand, read_config, variables_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODEL_VARIABLE, URL_VARIABLE, KEY_VARIABLE = "HERMES_STATE_MODEL", "HERMES_STATE_BASE_URL", "HERMES_STATE_API_KEY"
# Vendors whose endpoint is known by name, and the variable of their key.
_VENDORS = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": ("http://localhost:11434/v1", ""),
    "vllm": ("http://localhost:8000/v1", ""),
    "lmstudio": ("http://localhost:1234/v1", ""),
}
_SETUP = (
    "name them: --model NAME --base-url URL, or `model: {default: NAME, base_url: URL}` in config.yaml; "
    "with Ollama: --model llama3.2 --base-url http://localhost:11434/v1"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSettings:
    """One model and where it answers.

    Attributes:
        api_key: "" for an endpoint that wants none.
        context_tokens: what its context holds; None: not known.
    """

    name: str
    base_url: str
    api_key: str = ""
    context_tokens: int | None = None

    @classmethod
    def load(cls, home: Path, *, model: str | None = None, base_url: str | None = None) -> Self:
        """The model of a home.

        Args:
            model, base_url: what a command line said; they win.

        Raises:
            InvalidValue: no model or no endpoint is named anywhere; the hint says where to.
            FormatError, StoreUnavailable: `config.yaml` can't be read.
        """
        variables = variables_of(home)
        tree, _ = expand(read_config(home), variables)
        section = _section(tree)
        vendor = str(section.get("provider") or "").lower()
        known_url, _ = _VENDORS.get(vendor, ("", ""))
        name = model or variables.get(MODEL_VARIABLE) or _text(section, "default", "model", "name")
        url = (
            base_url
            or variables.get(URL_VARIABLE)
            or _text(section, "base_url")
            or known_url
            or variables.get("OPENAI_BASE_URL")
            or (_VENDORS["openai"][0] if variables.get("OPENAI_API_KEY") else "")
        )
        if not name or not url:
            missing = "no model" if not name else f"no base URL for the model {name!r}"
            raise InvalidValue(f"{missing} is configured", hint=_SETUP)
        return cls(
            name=name,
            base_url=url,
            api_key=_key(variables, section, url, is_own_url=not (base_url or variables.get(URL_VARIABLE))),
            context_tokens=_tokens(section.get("context_length")),
        )


def _section(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """`model:` as a mapping; a bare name is the default model."""
    found = tree.get("model")
    return found if isinstance(found, dict) else {"default": found} if isinstance(found, str) else {}


def _text(section: Mapping[str, Any], *names: str) -> str:
    return next((str(section[name]).strip() for name in names if section.get(name)), "")


def _key(variables: Mapping[str, str], section: Mapping[str, Any], url: str, *, is_own_url: bool) -> str:
    """The key for an endpoint. The key in `config.yaml` belongs to the URL there and is sent to no other."""
    if variables.get(KEY_VARIABLE):
        return variables[KEY_VARIABLE]
    if is_own_url and _text(section, "api_key"):
        return _text(section, "api_key")
    for known, variable in _VENDORS.values():
        if variable and known.split("/")[2] in url:
            return variables.get(variable, "")
    return variables.get("OPENAI_API_KEY", "")


def _tokens(value: Any) -> int | None:
    try:
        return int(value) if value is not None and int(value) > 0 else None
    except (TypeError, ValueError):
        return None
