"""Stores with everything in them: what a hypothesis example does to an empty one."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from hermes_state.errors import HermesStateError

if TYPE_CHECKING:
    from hermes_state.store import SessionDB

any_text = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=30)
names = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
instants = st.datetimes(
    min_value=dt.datetime(1970, 1, 2),  # noqa: DTZ001  hypothesis wants naive bounds
    max_value=dt.datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.just(dt.UTC),
)
contents = st.none() | any_text | st.lists(json_values, max_size=2) | st.dictionaries(any_text, json_values, max_size=2)
message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "created_at": instants},
    optional={
        "content": contents,
        "tool_name": names,
        "tool_call_id": names,
        "tool_calls": st.lists(json_values, max_size=2),
        "platform_message_id": names,
        "token_count": st.integers(0, 2**40),
        "reasoning": json_values,
        "reasoning_details": json_values,
        "api_content": contents,
        "observed": st.booleans(),
        "extras": st.dictionaries(any_text, json_values, max_size=2),
        "unknown_field": json_values,
    },
)
session = st.fixed_dictionaries(
    {"source": st.sampled_from(["cli", "telegram", "cron"]), "started_at": instants},
    optional={
        "title": names,
        "system_prompt": any_text,
        "model_config": st.dictionaries(any_text, json_values, max_size=2),
        "origin": st.dictionaries(any_text, json_values, max_size=2),
        "extras": st.dictionaries(any_text, json_values, max_size=2),
        "model": any_text,
        "user_id": names,
        "chat_id": names,
        "display_name": any_text,
        "cwd": names,
        "git_branch": names,
        "profile": names,
    },
)
acts = st.lists(
    st.tuples(
        st.sampled_from(
            ["append", "append", "rewind", "undo", "compact", "rotate", "branch", "delegate", "end", "archive", "tag",
             "usage", "handoff", "route", "delete"]
        ),
        st.integers(0, 20),
        st.lists(message, min_size=1, max_size=3),
        names,
    ),
    max_size=14,
)  # fmt: skip


def fill(db: SessionDB, sessions: list[dict[str, Any]], history: list[tuple[str, int, list[Any], str]]) -> None:
    """Make the sessions and do what the history says; what the store refuses is left out."""
    for given in sessions:
        attempt(db.sessions.create, **given)
    for act, which, said, name in history:
        ids = all_ids(db)
        if ids:
            do(db, act, ids[which % len(ids)], said, name)


def all_ids(db: SessionDB) -> list[str]:
    with db.engine.read() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT id FROM sessions ORDER BY pk")]


def attempt(call: Any, *args: Any, **kwargs: Any) -> None:
    try:
        call(*args, **kwargs)
    except HermesStateError:
        return


def do(db: SessionDB, act: str, session_id: str, said: list[Any], name: str) -> None:
    match act:
        case "append":
            attempt(db.messages.append_many, session_id, said)
        case "rewind":
            attempt(db.messages.rewind, session_id, last=len(said))
        case "undo":
            attempt(db.messages.undo_rewind, session_id)
        case "compact":
            attempt(db.messages.compact, session_id, said, keep_last=1)
        case "rotate":
            attempt(db.lineage.rotate, session_id, said)
        case "branch":
            attempt(db.lineage.branch, session_id)
        case "delegate":
            attempt(db.lineage.delegate, session_id)
        case "end":
            attempt(db.sessions.end, session_id, name)
        case "archive":
            attempt(db.sessions.archive, session_id)
        case "tag":
            attempt(db.sessions.tag, session_id, name, "kept")
        case "usage":
            attempt(db.usage.record, session_id, model=name, input_tokens=len(said), estimated_cost_usd=0.1)
        case "handoff":
            attempt(db.handoffs.request, session_id, name)
        case "route":
            attempt(db.routes.set, name, session_id, entry={"n": len(said)})
        case "delete":
            attempt(db.sessions.delete, session_id)
