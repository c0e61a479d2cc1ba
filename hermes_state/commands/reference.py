"""`docs/cli.md`, made from the commands themselves: `python -m hermes_state.commands.reference > docs/cli.md`.

Besides the commands of `hermes_state.commands` it tells those that this distribution registers as entry points; a
command of any other distribution is never on the page. A package that brings commands keeps the shapes of their JSON in
`PACKAGE.commands.contract` and its errors in modules that are called `errors` or `failures`.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands import BROKEN_PIPE, PROGRAM, failures
from hermes_state.commands.command import Command, CommonOption
from hermes_state.commands.contract import ERROR, RECORDS, SHAPES
from hermes_state.commands.registry import GROUP, OURS, load
from hermes_state.errors import HermesStateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_INTRODUCTION = """\
<!-- Made by `python -m hermes_state.commands.reference > docs/cli.md`; a test fails when it is stale. -->

# The command line

Data goes to stdout and words go to stderr, so that a pipe carries only what was asked for.

* `--home DIR` and `--db URL` say where the store lies. They stand before or after a command's name, as all common
  options do; the one nearest to the end of the line wins.
* `--json` gives one JSON document on stdout, `--jsonl` (where there is one) a JSON value a line, written as it comes.
  Times are ISO 8601 in UTC. Fields may be added in a later version; none of those below goes away or changes its type.
* Nothing asks when standard input is not a terminal: what deletes conversations or memories needs `--yes` there.
* Long work shows its progress on a terminal and is silent in a pipe. `backup`, `verify`, `restore`, `pack` and `unpack`
  tell it to programs too, as JSON Lines: on stderr with `--json`, before the result on stdout with `--jsonl`. An event
  has `event` (`progress`), `task`, `what`, `done` and `total` in bytes (`total` is 0 where it can't be known),
  `bytes_per_s` and `elapsed_s`. There is one at once, then two a second, and one at the end.
* Control characters and escape sequences in stored text never reach a terminal; `--json` has the text as it is stored.
* REF is a session's id, the start of an id, or a title. A title names the newest of `plan`, `plan #2`, …
* Dates are `2026-01-31`, `2026-01`, an ISO time, an age such as `30m`, `5h`, `2d` or `1w`, `today` or `yesterday`.

| variable | what it does |
|---|---|
| `HERMES_HOME` | The agent home, where `--home` does not say another. |
| `NO_COLOR` | No colours, as `--no-color`. |
| `PAGER`, `LESS` | The pager of `sessions show` and its options; `LESS` is `FRX` unless it is set. |
| `HERMES_STATE_MODEL`, `HERMES_STATE_BASE_URL`, `HERMES_STATE_API_KEY` | The model of `chat`: name, endpoint, key. |
| `HERMES_STATE_COMMANDS` | Which other packages' commands are offered, separated by commas; empty for none. |
| `HERMES_STATE_TRACEBACK` | Set to anything: an unexpected error also tells where it happened. |
"""
_RECORDS = """\
## JSON records

In the shapes on this page, words stand for the values: `time` is ISO 8601 in UTC, `any` is any JSON. A word with a
capital is one of these records. A `Message` has further fields of `hermes_state.Message` where they say something.
"""
_ERRORS = """\
## Errors and exit codes

An error is told on stderr: `error: …` and a `hint: …` with the next step; with `--json` as

```json
{shape}
```

`kind` is the name of the error's class. `retryable` says that the same command can succeed later.

| code | kind | retryable | what happened |
|---|---|---|---|
"""
_OTHERS = (
    (failures.DONE, "", "", "Done."),
    (failures.FINDINGS, "", "", "A search found nothing, a check has findings, or a question was answered with no."),
    (failures.USAGE, "usage", "no", "The command line can't be understood; nothing was done."),
)
_SIGNALS = (
    (failures.INTERRUPTED, "interrupted", "yes", "Interrupted by Ctrl-C; what was committed stays."),
    (BROKEN_PIPE, "", "", "The reader of the output went away (`\\| head`)."),
)


def reference() -> str:
    """The whole page."""
    places = OURS | registered()
    sections = [_family(name, load(place)) for name, place in places.items()]
    parts = [_INTRODUCTION, *sections, _records(), _exit_codes(_packages(places))]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def registered() -> dict[str, str]:
    """The commands that this distribution brings as entry points: name to place, by name."""
    found = distribution(PROGRAM).entry_points.select(group=GROUP)
    return {point.name: point.value for point in sorted(found, key=lambda point: point.name)}


def shapes_of(places: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The JSON of all commands, ours first."""
    shapes = dict(SHAPES)
    for package in _packages(places)[1:]:
        shapes |= import_module(f"{package}.commands.contract").SHAPES
    return shapes


def _packages(places: Mapping[str, str]) -> list[str]:
    """The packages that commands come from, ours first."""
    return list(dict.fromkeys(place.partition(".")[0] for place in places.values()))


def _family(name: str, command: click.Command) -> str:
    return "\n".join(_sections("##", (name,), command))


def _sections(level: str, path: tuple[str, ...], command: click.Command) -> Iterator[str]:
    """The section of a command; of a group what it is for and the sections of its commands."""
    if not isinstance(command, click.Group):
        yield _section(level, path, command)
        return
    yield f"{level} {' '.join(path)}\n\n{_prose(command)}\n"
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None:
            yield from _sections(f"{level}#", (*path, name), found)


def _section(level: str, path: tuple[str, ...], command: click.Command) -> str:
    name = " ".join(path)
    parts = [f"{level} {name}\n", f"```text\n{_usage(name, command)}\n```\n", f"{_prose(command)}\n"]
    if rows := [_row(p) for p in command.params if isinstance(p, click.Option) and not isinstance(p, CommonOption)]:
        parts.append("\n".join(("| option | |", "|---|---|", *rows)) + "\n")
    if isinstance(command, Command):
        parts.append("```sh\n" + "\n".join(command.examples) + "\n```\n")
    for key, shape in shapes_of(OURS | registered()).items():
        if key == name or key.startswith(f"{name} --"):
            parts.append(f"`{PROGRAM} {key} --json`:\n\n```json\n{json.dumps(shape, indent=2)}\n```\n")
    return "\n".join(parts)


def _usage(name: str, command: click.Command) -> str:
    words = [PROGRAM, name]
    for argument in command.params:
        if isinstance(argument, click.Argument):
            word = argument.metavar or f"{(argument.name or '').upper()}{'...' if argument.nargs == -1 else ''}"
            words.append(word if argument.required or argument.metavar else f"[{word}]")
    return " ".join((*words, "[OPTIONS]"))


def _row(option: click.Option) -> str:
    """`| --limit NUMBER | At most so many. (20) |`; made by hand, since click words its help anew now and then."""
    names = ", ".join(option.opts) + "".join(f" / {name}" for name in option.secondary_opts)
    if isinstance(option.type, click.Choice) and not option.metavar:
        value = "\\|".join(option.type.choices)
    else:
        value = "" if option.is_flag else option.metavar or option.type.name.upper()
    default = f" Default: {option.default}." if option.show_default else ""
    return f"| `{f'{names} {value}'.rstrip()}` | {option.help}{default} |"


def _prose(command: click.Command) -> str:
    """The help as paragraphs; what is laid out by hand stays so."""
    text = "\n\n".join(part.strip("\n") for part in (command.help, command.epilog) if part)
    paragraphs = []
    for paragraph in text.split("\n\n"):
        laid_out = paragraph.removeprefix("\b\n")
        as_it_is = laid_out != paragraph
        paragraphs.append(f"```text\n{laid_out.rstrip()}\n```" if as_it_is else " ".join(paragraph.split()))
    return "\n\n".join(paragraphs)


def _records() -> str:
    shapes = (f"`{name}`:\n\n```json\n{json.dumps(shape, indent=2)}\n```\n" for name, shape in RECORDS.items())
    return "\n".join((_RECORDS, *shapes))


def _exit_codes(packages: list[str]) -> str:
    rows = [f"| {code} | {kind} | {retryable} | {what} |" for code, kind, retryable, what in _OTHERS]
    modules = {HermesStateError.__module__}.union(*map(_error_modules, packages[1:]))
    errors = [error for error in _errors(HermesStateError) if error.__module__ in modules]
    for error in sorted(errors, key=lambda e: (e.exit_code, e.__name__)):
        kind = error.__new__(error).kind  # by the class alone; most take arguments
        what = (error.__doc__ or "").split("\n")[0]
        rows.append(f"| {error.exit_code} | {kind} | {'yes' if error.retryable else 'no'} | {what} |")
    rows += [f"| {code} | {kind} | {retryable} | {what} |" for code, kind, retryable, what in _SIGNALS]
    return _ERRORS.format(shape=json.dumps(ERROR)) + "\n".join(rows)


def _error_modules(package: str) -> set[str]:
    """The modules of a package that define its errors, imported."""
    root = Path(import_module(package).__path__[0])
    files = [file for name in ("errors.py", "failures.py") for file in root.rglob(name)]
    return {import_module(".".join((package, *f.relative_to(root).with_suffix("").parts))).__name__ for f in files}


def _errors(root: type[HermesStateError]) -> Iterator[type[HermesStateError]]:
    """The error tree, root first."""
    yield root
    for child in root.__subclasses__():
        yield from _errors(child)


if __name__ == "__main__":
    click.echo(reference(), nl=False)
