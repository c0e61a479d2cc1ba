"""`hermes-state chat`, against a real server: one question in a pipe, and a conversation through a real terminal."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pexpect
import pytest
from endpoint import Endpoint, Scene, calls, delta, refuses, says

from hermes_state import SessionDB
from hermes_state.commands import run
from memory.commands.contract import SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = str(Path(sys.executable).with_name("hermes-state"))
QUIET = "memory: {nudge_interval: 0, flush_min_turns: 0}\n"


@pytest.fixture
def home(tmp_path: Path, endpoint: Endpoint) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "config.yaml").write_text(f"model: {{default: m-1, base_url: '{endpoint.url}'}}\n{QUIET}")
    return folder


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "HERMES_"))}
    return kept | {"HERMES_HOME": str(home), "TERM": "dumb", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}


class Once(Protocol):
    """The `once` fixture."""

    def __call__(self, home: Path, *args: str, stdin: str = "") -> tuple[int, str, str]: ...


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Once:
    """One run of `chat` inside this process: exit code, stdout, stderr."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def call(home: Path, *args: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setenv("HERMES_HOME", str(home))
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = run(["chat", *args])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


class Talk:
    """A chat on a pseudo-terminal."""

    def __init__(self, home: Path, *args: str) -> None:
        self.child = pexpect.spawn(
            PROGRAM, ["chat", *args], env=environment(home), encoding="utf-8", timeout=20, dimensions=(40, 120)
        )
        self.child.setecho(False)
        self.ready()

    def ready(self) -> str:
        self.child.expect("› ")
        return str(self.child.before)

    def say(self, line: str) -> str:
        self.child.sendline(line)
        return self.ready()

    def end_of_input(self) -> None:
        """Ctrl-D. One that comes between two states of the terminal is lost, and a person presses it again."""
        for _ in range(5):
            self.child.sendeof()
            if self.child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=3) == 0:
                return
        pytest.fail("Ctrl-D did not end the chat")

    def leave(self, how: str = "/exit") -> str:
        self.child.sendline(how)
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus == 0, self.child.before
        return str(self.child.before)


def stored(home: Path) -> list[tuple[str, Any, str | None]]:
    with SessionDB.open(home=home) as db:
        (session,) = db.sessions.list()
        return [(m.role, m.content, m.finish_reason) for m in db.messages.list(session.id)]


# --- one question -----------------------------------------------------------------------------------------------


def test_a_question_in_a_pipe(home: Path, endpoint: Endpoint) -> None:
    endpoint.will(says("Die Antwort: 四十二."))
    done = subprocess.run(
        [PROGRAM, "chat", "-q", "what is the answer?"],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "Die Antwort: 四十二.\n"), done.stderr
    assert [role for role, _, _ in stored(home)] == ["user", "assistant"]


def test_a_question_from_standard_input_as_json(home: Path, endpoint: Endpoint, once: Once) -> None:
    endpoint.will(calls("memory", action="add", target="user", content="喜欢乌龙茶"), says("Noted."))
    code, out, err = once(home, "-q", "-", "--json", stdin="我喜欢乌龙茶\n")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found.keys() == SHAPES["chat --query TEXT"].keys()
    assert found["answer"] == "Noted."
    assert found["tools"] == ["memory"]
    assert found["saved"] == ["user: + 喜欢乌龙茶"]
    assert "喜欢乌龙茶" in (home / "memories" / "USER.md").read_text(encoding="utf-8")


def test_what_was_saved_is_in_the_next_prompt(home: Path, endpoint: Endpoint, once: Once) -> None:
    endpoint.will(calls("memory", action="add", target="user", content="Works at night"), says("Noted."))
    once(home, "-q", "I work at night")
    once(home, "-q", "when should we meet?")
    assert "Works at night" in endpoint.asked[-1]["messages"][0]["content"]


def test_an_endpoint_that_refuses(home: Path, endpoint: Endpoint, once: Once) -> None:
    endpoint.otherwise = refuses(401, "bad key")
    code, _, err = once(home, "-q", "hello there, anybody?", "--json")
    assert code == 53
    error = json.loads(err)["error"]
    assert (error["kind"], error["retryable"]) == ("model_refused", False)
    assert "API key" in error["hint"]
    assert [role for role, _, _ in stored(home)] == ["user"]


def test_nobody_to_talk_with(home: Path, once: Once) -> None:
    code, _, err = once(home)
    assert code == 2
    assert "-q" in err


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_to_say(home: Path, once: Once, text: str) -> None:
    code, _, err = once(home, "-q", "-", stdin=text)
    assert code == 2
    assert "empty" in err


def test_no_model_is_configured(tmp_path: Path, once: Once) -> None:
    code, _, err = once(tmp_path, "-q", "hello")
    assert code == 2
    assert "--base-url" in err


def test_a_conversation_that_is_not_there(home: Path, once: Once) -> None:
    code, _, err = once(home, "-q", "hello", "--resume", "nothing-like-it")
    assert code == 4
    assert "nothing-like-it" in err


def test_a_configuration_with_an_unknown_key_says_so(home: Path, endpoint: Endpoint, once: Once) -> None:
    config = home / "config.yaml"
    config.write_text(config.read_text().replace("nudge_interval: 0", "nudge_intervall: 3"))
    code, out, err = once(home, "-q", "hello")
    assert (code, out) == (0, "ok\n")
    assert "memory.nudge_intervall" in err


def test_a_provider_that_is_not_there_costs_no_turn(home: Path, endpoint: Endpoint, once: Once) -> None:
    config = home / "config.yaml"
    config.write_text(config.read_text().replace("memory: {", "memory: {provider: nothing-like-it, "))
    code, out, err = once(home, "-q", "hello")
    assert (code, out) == (0, "ok\n")
    assert "nothing-like-it" in err


def test_without_httpx_the_extra_is_named(home: Path, tmp_path: Path) -> None:
    (tmp_path / "httpx.py").write_text("raise ImportError('no httpx')\n")
    done = subprocess.run(
        [PROGRAM, "chat", "-q", "hello"],
        env=environment(home) | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 21
    assert "pip install 'hermes-state[agent]'" in done.stderr


def test_terminal_sequences_of_a_model_do_nothing(home: Path, endpoint: Endpoint, once: Once) -> None:
    endpoint.will(says("\x1b]0;owned\x07\x1b[31mred\x1b[0m", piece=100))
    assert once(home, "-q", "say something red, please")[1] == "red\n"


def test_the_example_of_the_documentation(endpoint: Endpoint, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "agent.md").read_text(encoding="utf-8")
    example = page.split("```python\n", 1)[1].split("```", 1)[0]
    assert len(example.split("\n\n")[-1].splitlines()) <= 10
    endpoint.will(says("Try the lentils."))
    exec(example.replace("http://localhost:11434/v1", endpoint.url), {})
    assert capsys.readouterr().out == "Try the lentils.\n"
    gc.collect()


# --- a terminal -------------------------------------------------------------------------------------------------


def test_a_conversation(home: Path, endpoint: Endpoint) -> None:
    endpoint.will(
        says("Hello Ana! 👋🏽"), calls("memory", action="add", target="user", content="Is vegan"), says("Noted.")
    )
    talk = Talk(home)
    assert "Hello Ana! 👋🏽" in talk.say("I am Ana, nice to meet you")
    assert "💾 user: + Is vegan" in talk.say("I am vegan, by the way")
    assert "Is vegan" in talk.say("/memory")
    assert "Is vegan" in talk.say("/memory vegan")
    assert "titled garden" in talk.say("/title garden")
    assert "hermes-state chat --resume" in talk.leave()
    resumed = Talk(home, "--resume", "garden")
    resumed.say("and now, what is next?")
    assert "remove" in resumed.say("/memory undo")
    resumed.leave()
    said = [m["content"] for m in endpoint.asked[-1]["messages"][1:] if m["role"] != "tool"]
    assert said == [
        "I am Ana, nice to meet you",
        "Hello Ana! 👋🏽",
        "I am vegan, by the way",
        None,
        "Noted.",
        "and now, what is next?",
    ]
    assert "Is vegan" not in (home / "memories" / "USER.md").read_text(encoding="utf-8")


def test_slash_commands_errors_and_long_lines(home: Path, endpoint: Endpoint) -> None:
    with SessionDB.open(home=home) as db:
        old = db.sessions.create(source="cli", title="canal census")
        db.messages.append(old.id, role="user", content="214 tulips by the canal")
    talk = Talk(home)
    talk.child.send("half a li")
    talk.child.sendintr()
    assert "Ctrl-D" in talk.ready()
    talk.child.sendline("one line \\")
    talk.child.expect("… ")
    talk.say("and another")
    assert endpoint.asked[0]["messages"][-1]["content"] == "one line \nand another"
    endpoint.will(refuses(404, "no such model"), says("better"))
    assert "no such model" in talk.say("hello, are you there?")
    assert "better" in talk.say("once more, please do")
    assert "canal census" in talk.say("/search tulips")
    assert "taken back: 2 messages" in talk.say("/undo")
    talk.say("a second message of mine")
    assert "a copy of the conversation" in talk.say("/branch other way")
    assert "canal census" in talk.say("/resume canal census")
    assert "a new conversation" in talk.say("/new")
    assert "/search" in talk.say("/help")
    assert "there is no command /nonsense" in talk.say("/nonsense")
    assert "nothing to take back" in talk.say("/undo")
    talk.end_of_input()


@pytest.fixture
def slow(endpoint: Endpoint) -> Iterator[Scene]:
    """An answer that stops in the middle until the test is over."""
    hold = threading.Event()
    yield Scene(chunks=(delta(content="Once upon a ti"), delta(content="me")), hold=hold)
    hold.set()


def test_ctrl_c_and_kill_in_the_middle_of_an_answer(home: Path, endpoint: Endpoint, slow: Scene) -> None:
    endpoint.will(slow, says("All is well."), slow)
    talk = Talk(home)
    talk.child.sendline("tell me a long story")
    talk.child.expect("Once upon a ti")
    talk.child.sendintr()
    assert "interrupted" in talk.ready()
    assert "All is well." in talk.say("are you all right?")
    talk.child.sendline("tell me another story")
    talk.child.expect("Once upon a ti")
    talk.child.kill(signal.SIGKILL)
    talk.child.expect(pexpect.EOF)
    talk.child.close()
    assert stored(home) == [
        ("user", "tell me a long story", None),
        ("assistant", "Once upon a ti", "interrupted"),
        ("user", "are you all right?", None),
        ("assistant", "All is well.", "stop"),
        ("user", "tell me another story", None),
    ]
    with SessionDB.open(home=home) as db:
        (session,) = db.sessions.list()
    endpoint.will(says("Where were we?"))
    resumed = Talk(home, "--resume", session.id[:18])
    assert "Where were we?" in resumed.say("go on with the story, please")
    resumed.leave()


def ended_by_sigterm(talk: Talk, home: Path) -> None:
    talk.child.kill(signal.SIGTERM)
    talk.child.expect(pexpect.EOF)
    talk.child.close()
    assert talk.child.exitstatus == 143
    with SessionDB.open(home=home) as db:
        (session,) = db.sessions.list()
    assert session.end_reason == "close"


def test_sigterm_in_the_middle_of_an_answer(home: Path, endpoint: Endpoint, slow: Scene) -> None:
    endpoint.will(slow)
    talk = Talk(home)
    talk.child.sendline("tell me a long story")
    talk.child.expect("Once upon a ti")
    ended_by_sigterm(talk, home)
    assert stored(home)[1:] == [("assistant", "Once upon a ti", "interrupted")]


def test_sigterm_at_the_prompt(home: Path, endpoint: Endpoint) -> None:
    talk = Talk(home)
    talk.say("a message before the end")
    ended_by_sigterm(talk, home)
