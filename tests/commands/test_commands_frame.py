"""What holds for every command: common options, help, errors, exit codes, streams."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from hermes_state.commands import registry
from hermes_state.commands.command import common_options
from hermes_state.commands.root import cli

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from conftest import Call

PROGRAM = (sys.executable, "-c", "from hermes_state.commands import main; main()")
COMMON = {option for parameter in common_options() for option in parameter.opts}


def every_command(
    group: click.Group = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and group of ours, by its path."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))


COMMANDS = dict(every_command())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_that_can_be_typed(path: tuple[str, ...]) -> None:
    """The first sentence fits the list of commands; each example names a command and options that exist."""
    command = COMMANDS[path]
    assert command.help
    assert not command.get_short_help_str(55).endswith("...")
    examples = getattr(command, "examples", ())
    assert examples
    assert any("hermes-state " + " ".join(path) in example for example in examples)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_takes_the_common_options(path: tuple[str, ...]) -> None:
    names = {option for parameter in COMMANDS[path].params for option in parameter.opts}
    assert names >= COMMON


@pytest.mark.parametrize(
    "args",
    [
        ("--json", "sessions", "list"),
        ("sessions", "--json", "list"),
        ("sessions", "list", "--json"),
    ],
    ids=" ".join,
)
def test_common_options_stand_before_or_after_the_name(
    call: Call, store: dict[str, str], args: tuple[str, ...]
) -> None:
    assert len(call(*args).json["sessions"]) == 3


def test_the_home_nearest_to_the_end_wins(call: Call, store: dict[str, str], home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    assert call("--home", str(elsewhere), "sessions", "list").exit_code == 17
    assert call("--home", str(elsewhere), "sessions", "list", "--home", str(home)).exit_code == 0
    assert call("sessions", "list", "--db", f"sqlite:///{home}/hermes_state.db", home=elsewhere).exit_code == 0
    assert not elsewhere.exists()


def test_a_missing_store_is_an_error_and_is_not_made(call: Call, home: Path) -> None:
    answer = call("sessions", "list", "--json")
    assert answer.exit_code == 17
    assert answer.stdout == ""
    assert answer.error.keys() == {"kind", "message", "hint", "retryable"}
    assert answer.error["kind"] == "store_unavailable"
    assert not home.exists()


@pytest.mark.parametrize(
    ("args", "code", "kind"),
    [
        (("sessions", "show", "nothing-like-it"), 4, "session_not_found"),
        (("sessions", "show", "--around", "999"), 4, "message_not_found"),
        (("sessions", "resume", "2"), 5, "ambiguous"),
        (("sessions", "show"), 2, "usage"),
        (("sessions", "list", "--limit", "-1"), 2, "usage"),
        (("sessions", "list", "--db", "mysql://x/y"), 2, "invalid_value"),
        (("sessions", "list", "--db", "postgresql://127.0.0.1:1/x"), 17, "store_unavailable"),
        (("sesions",), 2, "usage"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_errors_have_a_kind_and_an_exit_code_of_their_own(
    call: Call, store: dict[str, str], args: tuple[str, ...], code: int, kind: str
) -> None:
    """The same in words and in JSON; nothing on stdout."""
    answer = call("--json", *args)
    assert (answer.exit_code, answer.error["kind"], answer.stdout) == (code, kind, "")
    spoken = call(*args)
    assert (spoken.exit_code, spoken.stdout) == (code, "")
    assert spoken.stderr.startswith("error: ")
    assert spoken.stderr.count("\n") <= 2


def test_a_near_miss_is_suggested(call: Call) -> None:
    assert "did you mean sessions?" in call("sesions", "list").stderr


def test_an_unexpected_error_is_told_as_one(call: Call, store: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback for people; how to get one is in the hint."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("1/0")

    monkeypatch.setattr("hermes_state.sessions.Sessions.list", broken)
    answer = call("sessions", "list")
    assert answer.exit_code == 3
    assert "Traceback" not in answer.stderr
    assert "HERMES_STATE_TRACEBACK" in answer.stderr


def test_a_name_alone_shows_help_and_is_no_error(call: Call) -> None:
    for args in ((), ("sessions",)):
        answer = call(*args)
        assert (answer.exit_code, answer.stderr) == (0, "")
        assert answer.stdout.startswith("Usage: hermes-state")


def test_version(call: Call) -> None:
    from hermes_state import __version__

    assert call("--version").stdout == f"hermes-state {__version__}\n"


# --- what stored text may not do ----------------------------------------------------------------------------------

HOSTILE = "\x1b]0;owned\x07\x1b[2Jred \x1b[31malert\x1b[0m \u202egnp.exe\u202c \ud83d end\x00.\x9b31m tab\tline\r\nnext"


@pytest.fixture
def hostile(home: Path, store: dict[str, str]) -> str:
    from hermes_state import SessionDB

    with SessionDB.open(home=home) as db:
        session = db.sessions.create(source="cli\x1b[31m")
        db.messages.append(session.id, role="user", content=HOSTILE)
        db.messages.append(session.id, role="tool", tool_name="\x1b[1mls", content="\x1b[32mok\x1b[0m")
    return session.id


@pytest.mark.parametrize(
    "args", [("sessions", "list"), ("sessions", "show", "{}"), ("sessions", "stats")], ids=" ".join
)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_no_stored_text_reaches_the_terminal_as_a_command(
    call: Call, hostile: str, args: tuple[str, ...], encoding: str
) -> None:
    answer = call(*(arg.format(hostile) for arg in args), encoding=encoding)
    assert answer.exit_code == 0
    assert not {"\x1b", "\x07", "\x9b", "\x00", "\u202e", "\r"} & set(answer.stdout)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_json_is_lossless_in_every_encoding(call: Call, hostile: str, encoding: str) -> None:
    messages = call("sessions", "show", hostile, "--json", encoding=encoding).json["messages"]
    assert messages[0]["content"] == HOSTILE


def test_colours_only_on_a_terminal_that_wants_them(call: Call, store: dict[str, str]) -> None:
    assert "\x1b[" in call("sessions", "list", terminal=True).stdout
    assert "\x1b[" not in call("sessions", "list").stdout
    assert "\x1b[" not in call("sessions", "list", "--no-color", terminal=True).stdout


def test_no_color_in_the_environment(call: Call, store: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in call("sessions", "list", terminal=True).stdout
    assert "\x1b[" not in call("sessions", "show", "nothing", terminal=True).stderr


# --- as a process -------------------------------------------------------------------------------------------------


def test_help_loads_nothing_heavy() -> None:
    """What costs time to import is imported by the commands that need it."""
    code = (
        "import sys; from hermes_state.commands import run; run(['--help']); run(['sessions', 'list', '--help']);"
        "print([m for m in ('sqlalchemy', 'alembic', 'rich', 'numpy', 'importlib.metadata') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_goes_away_is_no_error(home: Path, store: dict[str, str]) -> None:
    """`sessions show … | head -1`: nothing on stderr, the exit code of SIGPIPE."""
    from hermes_state import SessionDB

    with SessionDB.open(home=home) as db:
        db.messages.append(store["deploy"], role="user", content="line\n" * 200_000)
    process = subprocess.Popen(
        [*PROGRAM, "sessions", "show", store["deploy"], "--home", str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=30), errors) == (141, b"")


def has_open(pid: int, path: Path) -> bool:
    """Whether a process has a file open; where the system does not say, after a while it is taken to."""
    if not Path("/proc/self/fd").exists():
        time.sleep(1.5)
        return True
    found = Path(f"/proc/{pid}/fd").iterdir()
    return any(os.path.lexists(fd) and fd.readlink() == path for fd in found)


def test_ctrl_c_ends_cleanly(home: Path, store: dict[str, str]) -> None:
    """130, a word and no traceback, while a writer keeps the command waiting."""
    from hermes_state import SessionDB

    with SessionDB.open(home=home) as db, db.engine.write():
        process = subprocess.Popen(
            [*PROGRAM, "sessions", "rename", store["deploy"], "another", "--home", str(home)], stderr=subprocess.PIPE
        )
        while not has_open(process.pid, home / "hermes_state.db"):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors


def test_a_full_disk_is_told_by_its_name(home: Path, store: dict[str, str]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    ran = subprocess.run(
        ["sh", "-c", 'exec "$@" > /dev/full', "sh", *PROGRAM, "sessions", "list", "--json", "--home", str(home)],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert ran.returncode == 10
    assert b"Traceback" not in ran.stderr


# --- commands of other packages -----------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that brings two commands, one of which is broken, and one with a name of ours."""
    info = tmp_path / "site" / "greeter-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(
        f"[console_scripts]\nx = y:z\n\n[{registry.GROUP}]\n"
        "greet = greeter_plugin:greet\nbroken = greeter_plugin:nothing\nsessions = greeter_plugin:greet\n"
    )
    (tmp_path / "site" / "greeter_plugin.py").write_text(
        "import click\n@click.command('greet')\ndef greet():\n    'Say hello.'\n    click.echo('hello')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return info


def test_other_packages_bring_commands(call: Call, package: Path) -> None:
    assert call("greet").stdout == "hello\n"
    assert "Say hello." in call("--help").stdout


def test_a_broken_one_stays_visible_and_says_why(call: Call, package: Path) -> None:
    assert "can't be loaded" in call("--help").stdout
    answer = call("broken", "--json")
    assert (answer.exit_code, answer.error["kind"]) == (3, "command_broken")


def test_ours_are_never_replaced(call: Call, package: Path, store: dict[str, str]) -> None:
    assert len(call("sessions", "list", "--json").json["sessions"]) == 3


def test_they_can_be_chosen_and_switched_off(call: Call, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(registry.CHOICE_VARIABLE, "")
    assert call("greet").exit_code == 2


@pytest.mark.parametrize(("closed", "code"), [(">&-", 17), ("2>&-", 0)])
def test_a_closed_stream_is_no_crash(closed: str, code: int) -> None:
    """Python has no stdout, or no stderr, then."""
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, "--version"], capture_output=True, check=False
    )
    assert ran.returncode == code
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize("settings", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_the_c_locale_is_no_obstacle(home: Path, store: dict[str, str], settings: dict[str, str]) -> None:
    """A query in Chinese is understood, and what can't be printed is no error."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "HERMES_HOME": str(home), **settings}
    for args in (
        ("search", "升级", "--json"),
        ("sessions", "list"),
        ("sessions", "stats"),
        ("sessions", "show", "redis deploy"),
    ):
        ran = subprocess.run([*PROGRAM, *args], env=environment, capture_output=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, b""), args


def test_streams_without_reconfigure_are_taken_as_they_are(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Embedders replace `sys.stdout` with anything that has `write`."""
    from hermes_state.commands import run

    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    assert run(["--version"]) == 0
    assert out.getvalue().startswith("hermes-state ")


def test_what_only_reads_works_where_nothing_can_be_written(
    call: Call, store: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home on a read-only file system is searched, listed, read and exported; what changes it says that it can't."""
    from hermes_state.errors import ReadOnlyStore
    from hermes_state.store import SessionDB

    opened = SessionDB.open

    def refuse(*args: Any, read_only: bool = False, **kwargs: Any) -> SessionDB:
        if not read_only:
            raise ReadOnlyStore("the file system is read-only")
        return opened(*args, read_only=True, **kwargs)

    monkeypatch.setattr(SessionDB, "open", refuse)
    title = "redis deploy"
    for args in (("search", "redis"), ("sessions", "list"), ("sessions", "show", title), ("sessions", "resume", title)):
        assert call(*args).exit_code == 0
    for command in ("stats", "export"):
        assert call("sessions", command).exit_code == 0
    assert call("sessions", "rename", title, "other").exit_code == 15
