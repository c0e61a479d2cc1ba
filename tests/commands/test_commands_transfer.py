"""`sessions import` and `sessions export`: conversations out of a store and into one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hermes_state import SessionDB
from hermes_state.transfer import dump

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call


@pytest.fixture
def exported(home: Path, store: dict[str, str], tmp_path: Path) -> Path:
    """The three conversations as a file."""
    file = tmp_path / "all.jsonl"
    with SessionDB.open(home=home) as db, file.open("w", encoding="utf-8") as out:
        dump(db.engine, out)
    return file


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A home that has nothing yet."""
    return tmp_path / "other-home"


def test_an_export_comes_back_in_another_home(call: Call, exported: Path, other: Path, store: dict[str, str]) -> None:
    """Whole, and repeated without harm."""
    first = call("sessions", "import", str(exported), home=other)
    assert first.exit_code == 0
    assert "3 sessions and 5 messages added" in first.stdout
    again = call("sessions", "import", str(exported), "--json", home=other).json
    assert (again["sessions_added"], again["sessions_equal"]) == (0, 3)
    assert call("sessions", "list", "--json", home=other).json == call("sessions", "list", "--json").json


def test_standard_input_is_taken_too(call: Call, exported: Path, other: Path) -> None:
    answer = call("sessions", "import", "-", stdin=exported.read_text(encoding="utf-8"), home=other)
    assert (answer.exit_code, "3 sessions" in answer.stdout) == (0, True)


def test_what_is_here_with_other_content_is_left_and_reported(
    call: Call, exported: Path, home: Path, store: dict[str, str]
) -> None:
    """Exit code 20: not everything was taken over."""
    changed = exported.read_text(encoding="utf-8").replace("redis runs 7.2 now", "redis runs 8 now")
    exported.write_text(changed, encoding="utf-8")
    answer = call("sessions", "import", str(exported), "--json")
    assert answer.exit_code == 20
    assert [problem["session_id"] for problem in answer.json["conflicts"]] == [store["deploy"]]
    assert answer.error["kind"] == "partial_success"
    assert "7.2 now" in call("sessions", "show", store["deploy"]).stdout


def test_hermes_own_export_is_told_apart(call: Call, other: Path, tmp_path: Path) -> None:
    message = {"id": 1, "session_id": "h9", "role": "user", "content": "杭州和西湖", "timestamp": 1767225600.0}
    session = {"id": "h9", "source": "cli", "started_at": 1767225600.0, "messages": [message]}
    file = tmp_path / "hermes.jsonl"
    file.write_text(json.dumps(session) + "\n", encoding="utf-8")
    answer = call("sessions", "import", str(file), home=other)
    assert answer.exit_code == 0, answer.stderr
    assert "1 session and 1 message added" in answer.stdout
    assert "杭州" in call("sessions", "show", "h9", home=other).stdout


@pytest.mark.parametrize(
    ("content", "code", "kind"), [("not json\n", 19, "format_error"), (None, 17, "store_unavailable")]
)
def test_what_is_no_export_is_refused(
    call: Call, other: Path, tmp_path: Path, content: str | None, code: int, kind: str
) -> None:
    file = tmp_path / "some.jsonl"
    if content is not None:
        file.write_text(content)
    answer = call("sessions", "import", str(file), "--json", home=other)
    assert (answer.exit_code, answer.error["kind"]) == (code, kind)
