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


# --- export -------------------------------------------------------------------------------------------------------


def test_an_export_is_lossless(call: Call, store: dict[str, str], other: Path, tmp_path: Path) -> None:
    """Export, import, export: equal byte for byte."""
    first = call("sessions", "export")
    (tmp_path / "first.jsonl").write_text(first.stdout, encoding="utf-8")
    call("sessions", "import", str(tmp_path / "first.jsonl"), home=other)
    assert call("sessions", "export", home=other).stdout == first.stdout
    assert call("sessions", "export", "--jsonl").stdout == first.stdout
    assert "3 sessions with 5 messages written" in first.stderr


def test_an_export_is_utf_8_in_every_locale(call: Call, store: dict[str, str]) -> None:
    """The fixture decodes with the locale's encoding, so latin-1 shows the bytes of UTF-8."""
    written = call("sessions", "export", encoding="latin-1").stdout
    assert "请把 redis" in written.encode("latin-1").decode("utf-8")


@pytest.mark.parametrize(
    ("name", "starts"), [("deploy.md", "# redis deploy"), ("deploy.html", "<!DOCTYPE html>"), ("x.jsonl", '{"type"')]
)
def test_the_ending_says_the_format(call: Call, store: dict[str, str], tmp_path: Path, name: str, starts: str) -> None:
    file = tmp_path / name
    answer = call("sessions", "export", "redis deploy", "--output", str(file), "--json")
    assert (answer.exit_code, answer.json["sessions"], answer.json["path"]) == (0, 1, str(file))
    assert file.read_text(encoding="utf-8").lower().startswith(starts.lower())
    assert file.stat().st_mode & 0o077 == 0


def test_a_file_that_is_there_is_replaced_only_when_told(call: Call, store: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text("mine")
    answer = call("sessions", "export", "--output", str(file), "--json")
    assert (answer.exit_code, answer.error["kind"], file.read_text()) == (6, "conflict", "mine")
    assert call("sessions", "export", "--output", str(file), "--force").exit_code == 0
    assert file.read_text(encoding="utf-8").startswith('{"type"')


def test_a_folder_gets_a_document_per_conversation(call: Call, store: dict[str, str], tmp_path: Path) -> None:
    answer = call("sessions", "export", "--format", "markdown", "--output", f"{tmp_path}/site/", "--json")
    assert len(answer.json["files"]) == len(list((tmp_path / "site").glob("*.md"))) == 3
    assert call("sessions", "export", "--output", f"{tmp_path}/site/").exit_code == 2


def test_filters_choose_and_nothing_else_is_written(call: Call, store: dict[str, str]) -> None:
    written = call("sessions", "export", "--source", "telegram", "--format", "markdown").stdout
    assert "الخادم" in written
    assert "redis" not in written
    assert call("sessions", "export", "redis deploy", "--source", "cli").exit_code == 2
    assert call("sessions", "export", "nothing").exit_code == 4


def test_secrets_are_replaced_on_request(call: Call, home: Path, store: dict[str, str]) -> None:
    """B167."""
    with SessionDB.open(home=home) as db:
        db.messages.append(store["deploy"], role="user", content="my key is sk-test-ABCDEF0123456789abcdef")
    for form in ("jsonl", "markdown", "html"):
        assert "sk-test-ABCDEF" in call("sessions", "export", "--format", form).stdout
        redacted = call("sessions", "export", "--format", form, "--redact")
        assert "sk-test-ABCDEF" not in redacted.stdout
        assert "1 secret replaced" in redacted.stderr


def test_json_is_for_what_goes_to_a_file(call: Call, store: dict[str, str]) -> None:
    assert call("sessions", "export", "--json").exit_code == 2


def test_a_document_on_a_terminal_is_harmless(call: Call, home: Path, store: dict[str, str]) -> None:
    with SessionDB.open(home=home) as db:
        db.messages.append(store["deploy"], role="user", content="\x1b[2J\x1b]0;owned\x07cleared")
    shown = call("sessions", "export", "--format", "markdown", terminal=True).stdout
    assert "\x1b" not in shown
    assert "cleared" in shown
