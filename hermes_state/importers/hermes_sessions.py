"""A Hermes `sessions` row as what is stored here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_state.codec import clean, to_json
from hermes_state.conversation import COMPRESSION_END
from hermes_state.errors import InvalidValue
from hermes_state.ids import check_session_id
from hermes_state.importers import moments
from hermes_state.importers.digests import digest, short
from hermes_state.importers.values import count, json_object, kept, text
from hermes_state.titles import clean_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_state.importers.hermes_reader import Row
    from hermes_state.importers.report import Tally

# Foreign column -> ours, both text.
_SAME = {
    "model": "model",
    "user_id": "user_id",
    "chat_id": "chat_id",
    "chat_type": "chat_type",
    "thread_id": "thread_id",
    "display_name": "display_name",
    "cwd": "cwd",
    "git_branch": "git_branch",
    "git_repo_root": "git_root",
    "profile_name": "profile",
}
# Columns with a place of their own, beside those; every other one goes to `extras` under its own name.
_PLACED = frozenset(
    (
        *_SAME,
        "id",
        "source",
        "title",
        "parent_session_id",
        "started_at",
        "ended_at",
        "end_reason",
        "archived",
        "rewind_count",
        "model_config",
        "origin_json",
        "system_prompt",
        "system_prompt_hash",
        "handoff_state",
        "handoff_platform",
        "handoff_error",
        # Counted anew from the messages; the foreign counters drift (a rewind does not lower them).
        "message_count",
        "tool_call_count",
        # These go to the usage of the session.
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
        "api_call_count",
        "estimated_cost_usd",
        "actual_cost_usd",
        "cost_status",
        "cost_source",
    )
)
# Names that a session export adds to the row.
_NOT_COLUMNS = frozenset(("messages", "last_active", "preview"))
UNKNOWN_SOURCE = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class ForeignSession:
    """A foreign session, ready to be stored.

    Attributes:
        foreign_id: its id there; `id` is the one it can have here.
        values: columns of our `sessions` that do not depend on other rows.
        markers: ids that `model_config` names as where it came from, by kind.
        parts: digests of its parts; see `fingerprints`.
    """

    foreign_id: str
    id: str
    values: Mapping[str, Any]
    title: str | None
    system_prompt: str | None
    parent_id: str | None
    handoff: Mapping[str, Any] | None
    markers: Mapping[str, str]
    row: Mapping[str, Any]
    parts: dict[str, str] = field(default_factory=dict)


def session_from_row(
    row: Row, *, profile: str | None, fallback_us: int, defaults: Mapping[str, Any], tally: Tally
) -> ForeignSession:
    """What a row of `sessions` says.

    Args:
        profile: the name of the profile it lies in, for rows that don't say it.
        fallback_us: the time to take when the row has no usable start.
        defaults: the defaults of its columns; a column that has its default is not kept in `extras`.
    """
    row = {name: value for name, value in row.items() if value is not None and name not in _NOT_COLUMNS}
    foreign_id = str(row["id"])
    extras = {name: kept(value) for name, value in row.items() if name not in _PLACED and value != defaults.get(name)}
    values: dict[str, Any] = {ours: clean(text(row.get(theirs))) for theirs, ours in _SAME.items()}
    values["profile"] = values["profile"] or profile
    values["source"] = clean(text(row.get("source"))) or UNKNOWN_SOURCE
    values |= _times(row, foreign_id, fallback_us, extras, tally)
    values["end_reason"] = clean(text(row.get("end_reason"))) if values["ended_at"] is not None else None
    values["sealed"] = values["end_reason"] == COMPRESSION_END
    values["archived"] = bool(row.get("archived"))
    values["rewind_count"] = count(row.get("rewind_count"))
    values["model_config"] = _object(row, "model_config", extras)
    values["origin"] = _object(row, "origin_json", extras)
    session = ForeignSession(
        foreign_id=foreign_id,
        id=_usable_id(foreign_id, extras, tally),
        title=_title(row, foreign_id, extras, tally),
        system_prompt=text(row.get("system_prompt")),
        parent_id=text(row.get("parent_session_id")),
        handoff=_handoff(row, extras),
        markers=markers_in(json_object(row.get("model_config")) or {}),
        row=row,
        values=values,
    )
    if values["ended_at"] is None and row.get("end_reason"):
        extras["end_reason"] = kept(row["end_reason"])
    values["extras"] = to_json(extras, "extras") if extras else None
    session.parts.update(_parts(row, defaults))
    return session


def _times(row: Row, foreign_id: str, fallback_us: int, extras: dict[str, Any], tally: Tally) -> dict[str, Any]:
    started = moments.instant(row.get("started_at"))
    if started is None:
        guessed = moments.guess(row.get("started_at"))
        started = fallback_us if guessed is None else guessed
        extras["started_at"] = kept(row.get("started_at"))
        tally.warn("bad_timestamp", foreign_id, f"started_at is {row.get('started_at')!r}; {_taken(guessed)}")
    ended = moments.instant(row.get("ended_at"))
    if ended is None and row.get("ended_at") is not None:
        guessed = moments.guess(row["ended_at"])
        ended = started if guessed is None else guessed
        extras["ended_at"] = kept(row["ended_at"])
        tally.warn("bad_timestamp", foreign_id, f"ended_at is {row['ended_at']!r}; {_taken(guessed)}")
    return {"started_at": started, "ended_at": ended}


def _taken(guessed: int | None) -> str:
    return "a neighbouring time was taken" if guessed is None else "read as the time it most likely means"


def _usable_id(foreign_id: str, extras: dict[str, Any], tally: Tally) -> str:
    try:
        return check_session_id(foreign_id)
    except InvalidValue as error:
        made = f"imported_{short(foreign_id)}"
        extras["id"] = foreign_id
        tally.warn("bad_id", foreign_id, f"{error.message}; it is {made} here")
        return made


def _title(row: Row, foreign_id: str, extras: dict[str, Any], tally: Tally) -> str | None:
    found = text(row.get("title"))
    cut = clean_title(found, cut=True)
    if found is not None and cut != found:
        extras["title"] = found
        tally.warn("title_cleaned", foreign_id, f"the title {found!r} is {cut!r} here")
    return cut


def _object(row: Row, name: str, extras: dict[str, Any]) -> str | None:
    """A column that should hold a JSON object; whatever else it holds is kept in `extras` as it stands."""
    value = row.get(name)
    if value is None:
        return None
    found = json_object(value)
    if found is None:
        extras[name] = kept(value)
        return None
    return to_json(found, name)


# Markers in `model_config`, and what they say about how the session came from the one they name.
_MARKERS = ("_branched_from", "_delegate_from", "_reset_from")


def markers_in(config: Mapping[str, Any]) -> dict[str, str]:
    """The markers in a `model_config`, and the session each names."""
    return {name: str(config[name]) for name in _MARKERS if config.get(name) is not None}


_HANDOFF_STATES = ("pending", "running", "completed", "failed")


def _handoff(row: Row, extras: dict[str, Any]) -> dict[str, Any] | None:
    names = ("handoff_state", "handoff_platform", "handoff_error")
    state, platform, error = (text(row.get(name)) for name in names)
    if state in _HANDOFF_STATES and platform:
        return {"state": state, "platform": clean(platform), "error": clean(error)}
    extras.update((name, kept(row[name])) for name in names if row.get(name))
    return None


# Parts of a session that are followed one by one, and their columns; everything else is the part `rest`.
_PARTS = {
    "title": ("title",),
    "archived": ("archived",),
    "end": ("ended_at", "end_reason"),
    "lineage": ("parent_session_id", "model_config"),
    "prompt": ("system_prompt", "system_prompt_hash"),
    "handoff": ("handoff_state", "handoff_platform", "handoff_error"),
    "usage": (
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
        "api_call_count",
        "estimated_cost_usd",
        "actual_cost_usd",
        "cost_status",
        "cost_source",
        "billing_provider",
        "billing_base_url",
        "billing_mode",
    ),
}
_IN_A_PART = frozenset(name for names in _PARTS.values() for name in names) - {"model_config"}
# Foreign bookkeeping that changes with every message and says nothing the messages don't.
_IGNORED = frozenset(("message_count", "tool_call_count", "last_activity_at"))


def _parts(row: Row, defaults: Mapping[str, Any]) -> dict[str, str]:
    own = {name: value for name, value in row.items() if value != defaults.get(name) and name not in _IGNORED}
    found = {part: digest([(name, own[name]) for name in names if name in own]) for part, names in _PARTS.items()}
    found["rest"] = digest(sorted((name, own[name]) for name in own.keys() - _IN_A_PART))
    return found
