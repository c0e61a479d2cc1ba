"""What the provider reads of `config.yaml`: the peer's keys under `plugins.hermes-memory-store`, and a few of ours.

Values may be strings, as the set-up writes them: the string "false" is false.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hermes_state.errors import InvalidValue
from hermes_state.home import STORE_NAME
from memory.config import change_config, expand, read_config, variables_of
from memory.providers.holographic.algebra import DEFAULT_DIM, DIM_STEP, MAX_DIM, MIN_DIM
from memory.providers.holographic.importing import PEER_STORE_NAME, is_peer_store
from memory.providers.holographic.relevance import GATE, Weights
from memory.providers.holographic.retrieval import DEFAULT_MIN_TRUST, Settings
from memory.providers.holographic.store import DEFAULT_TRUST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memory.provider import ConfigItem

SECTION = ("plugins", "hermes-memory-store")
SCOPES = ("home", "user", "session")
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1", "y"}), frozenset({"false", "no", "off", "0", "n", "", "none"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HolographicSettings:
    """The settings, with the peer's defaults.

    Attributes:
        home: the agent's home.
        db_path: the peer's database, which is imported; or, when it is none, the store that facts are kept in.
        auto_extract: keep facts from what was said when a session ends or is compressed.
        default_trust: of a new fact.
        min_trust_threshold: facts trusted less are not recalled.
        hrr_dim: phases of a vector.
        hrr_weight: share of the vectors in relevance; the other signals keep their proportion.
        temporal_decay_half_life: days after which a fact counts a half; 0: never.
        min_relevance: what a fact must reach to be recalled, 0 to 1.
        scope: whose new facts are where the host says who speaks: `user` keeps them to that user, `session` to the
            conversation as well, `home` to nobody. Facts that are nobody's are everybody's.
    """

    home: Path
    db_path: Path
    auto_extract: bool = False
    default_trust: float = DEFAULT_TRUST
    min_trust_threshold: float = DEFAULT_MIN_TRUST
    hrr_dim: int = DEFAULT_DIM
    hrr_weight: float = Weights().vectors
    temporal_decay_half_life: float = 0.0
    min_relevance: float = GATE
    scope: str = "user"

    @classmethod
    def load(cls, home: Path) -> Self:
        """The settings of a home.

        Raises:
            InvalidValue: a value is not what its key takes; names both.
            FormatError, StoreUnavailable: `config.yaml` can't be read.
        """
        section: Any = read_config(home)
        for key in SECTION:
            section = section.get(key) if isinstance(section, dict) else None
        return cls.of(home, section if isinstance(section, dict) else {})

    @classmethod
    def of(cls, home: Path, section: Mapping[str, Any]) -> Self:
        """The settings that a section of the configuration says; unknown keys are reported and ignored."""
        known = {field.name for field in fields(cls)} - {"home"}
        for key in section:
            if key not in known:
                _log.warning("%s.%s is no setting of holographic memory; it is ignored", ".".join(SECTION), key)
        given = {key: section[key] for key in known if section.get(key) is not None}
        values: dict[str, Any] = {key: _READERS[key](key, value) for key, value in given.items() if key in _READERS}
        path = _path(home, given["db_path"]) if given.get("db_path") else home / PEER_STORE_NAME
        return cls(home=home, db_path=path, **values)

    @property
    def retrieval(self) -> Settings:
        """How facts are weighed."""
        return Settings(
            weights=Weights.with_vectors(self.hrr_weight),
            gate=self.min_relevance,
            half_life_days=self.temporal_decay_half_life,
        )

    @property
    def home_store(self) -> Path:
        """The store of the home."""
        return self.home / STORE_NAME


def keeps_own_store(settings: HolographicSettings) -> bool:
    """Whether `db_path` names a store for facts alone: not the default, and no database of the peer."""
    path = settings.db_path
    return path.name != PEER_STORE_NAME and path != settings.home_store and not is_peer_store(path)


def save(values: Mapping[str, Any], home: Path) -> None:
    """Put values into the section, keeping its other keys and every comment of the file.

    Raises:
        InvalidValue: a value is not what its key takes; nothing was changed.
        FormatError, StoreUnavailable: as `memory.config.change_config`.
    """
    HolographicSettings.of(home, values)
    for key, value in values.items():
        change_config(home, (*SECTION, key), value)


def config_schema() -> list[ConfigItem]:
    """The questions of the set-up."""
    return [
        {
            "key": "db_path",
            "description": "Facts of the peer to import, or a store of its own for facts",
            "default": f"$HERMES_HOME/{PEER_STORE_NAME}",
            "type": "string",
        },
        {
            "key": "auto_extract",
            "description": "Keep facts from what was said when a session ends",
            "default": "false",
            "choices": ["true", "false"],
        },
        {
            "key": "default_trust",
            "description": "Trust of a new fact, 0 to 1",
            "default": str(DEFAULT_TRUST),
            "minimum": 0.0,
            "maximum": 1.0,
        },
        {
            "key": "hrr_dim",
            "description": "Phases of a vector",
            "default": str(DEFAULT_DIM),
            "minimum": float(MIN_DIM),
            "maximum": float(MAX_DIM),
        },
    ]


def flag(key: str, value: Any) -> bool:
    """A boolean, or a word that means one."""
    word = str(value).strip().casefold()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise InvalidValue(f"{'.'.join(SECTION)}.{key} is true or false, not {value!r}")


def _number(key: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(value, bool) or number != number or number in (float("inf"), float("-inf")):
        raise InvalidValue(f"{'.'.join(SECTION)}.{key} is a number, not {value!r}")
    return number


def _share(key: str, value: Any) -> float:
    return min(1.0, max(0.0, _number(key, value)))


def _days(key: str, value: Any) -> float:
    return max(0.0, _number(key, value))


def _dim(key: str, value: Any) -> int:
    """The nearest dimension that vectors can have, not below the one given."""
    wanted = -(-int(_number(key, value)) // DIM_STEP) * DIM_STEP
    return min(MAX_DIM, max(MIN_DIM, wanted))


def _scope(key: str, value: Any) -> str:
    if value not in SCOPES:
        raise InvalidValue(f"{'.'.join(SECTION)}.{key} is one of {', '.join(SCOPES)}, not {value!r}")
    return str(value)


def _path(home: Path, value: Any) -> Path:
    variables = variables_of(home) | {"HERMES_HOME": str(home)}
    expanded, _ = expand(str(value).replace("$HERMES_HOME", "${HERMES_HOME}"), variables)
    return (home / Path(expanded).expanduser()).absolute()


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "auto_extract": flag,
    "default_trust": _share,
    "min_trust_threshold": _share,
    "hrr_dim": _dim,
    "hrr_weight": _share,
    "temporal_decay_half_life": _days,
    "min_relevance": _share,
    "scope": _scope,
}
