"""`config.yaml` and `.env` of a home: read as they are, changed without losing a comment, a line or a mode bit."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from hermes_state.atomic import whole_file
from hermes_state.errors import FormatError, InvalidValue, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

CONFIG_NAME, ENV_NAME = "config.yaml", ".env"
# Seconds to wait for another process that changes the same file.
_LOCK_TIMEOUT_S = 10.0
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"""(['"])(.*)\1\s*(?:#.*)?""")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")


def read_config(home: Path) -> dict[str, Any]:
    """The whole `config.yaml` of a home; empty when there is none.

    Raises:
        FormatError: it is no YAML mapping; names the line.
        StoreUnavailable: it is there and can't be read.
    """
    return dict(_parse(home, _read(home / CONFIG_NAME), YAML(typ="safe", pure=True)) or {})


def change_config(home: Path, path: Sequence[str], value: Any) -> None:
    """Set one key of `config.yaml`, keeping comments, order and everything else.

    Args:
        path: the keys from the top, e.g. `("memory", "provider")`; mappings on the way are made.
        value: what YAML can hold.

    Raises:
        FormatError: the file is no YAML mapping, or a key on the way holds something else; nothing was changed.
        StoreUnavailable: it can't be read, locked or written; it is as it was.
    """
    with _locked(home / CONFIG_NAME):
        yaml = YAML()
        yaml.preserve_quotes = True
        yaml.width = 4096  # never fold a line that somebody wrote
        tree = _parse(home, _read(home / CONFIG_NAME), yaml)
        tree = CommentedMap() if tree is None else tree
        branch = tree
        for key in path[:-1]:
            if branch.get(key) is None:
                branch[key] = CommentedMap()
            branch = branch[key]
            if not isinstance(branch, dict):
                raise FormatError(
                    f"{home / CONFIG_NAME}: {key!r} is no mapping", hint="mend the YAML; nothing was changed"
                )
        branch[path[-1]] = value
        text = StringIO()
        yaml.dump(tree, text)
        _write(home / CONFIG_NAME, text.getvalue())


def read_env(home: Path) -> dict[str, str]:
    """The variables of a home's `.env`; lines that assign nothing are passed over.

    Raises:
        StoreUnavailable: it is there and can't be read.
    """
    return {name: value for line in _lines(home) for name, value in _assignment(line)}


def save_env(home: Path, values: Mapping[str, str]) -> None:
    """Put variables into a home's `.env`, which only its owner can read afterwards; other lines stay as they are.

    Raises:
        InvalidValue: a name is no variable's, or a value has a line end or NUL; nothing was changed.
        StoreUnavailable: it can't be read, locked or written; it is as it was.
    """
    for name, value in values.items():
        if not _VARIABLE.fullmatch(name):
            raise InvalidValue(f"{name!r} is no name of an environment variable; nothing was changed")
        if any(c in value for c in "\r\n\0"):
            raise InvalidValue(f"the value of {name} has a line end or NUL; nothing was changed")
    with _locked(home / ENV_NAME):
        left = dict(values)
        lines = []
        for line in _lines(home):
            assigned = next((name for name, _ in _assignment(line)), "")
            lines.append(f"{assigned}={_quoted(left.pop(assigned))}" if assigned in left else line)
        lines += [f"{name}={_quoted(value)}" for name, value in left.items()]
        _write(home / ENV_NAME, "\n".join(lines) + "\n", mode=0o600)


def expand(value: Any, variables: Mapping[str, str]) -> tuple[Any, list[str]]:
    """Replace every `${NAME}` inside a value of any depth.

    Returns:
        The value, and the names that no variable has; those references stay as they were written.
    """
    missing: list[str] = []

    def walk(item: Any) -> Any:
        if isinstance(item, str):
            return _REFERENCE.sub(put, item)
        if isinstance(item, dict):
            return {key: walk(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [walk(inner) for inner in item]
        return item

    def put(match: re.Match[str]) -> str:
        found = variables.get(match[1])
        if found is None:
            missing.append(match[1])
        return match[0] if found is None else found

    return walk(value), missing


def variables_of(home: Path) -> dict[str, str]:
    """What `${NAME}` means in a home: its `.env`, and above it the environment of the process."""
    return read_env(home) | dict(os.environ)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be read: {error}", hint="nothing was changed") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is no UTF-8, from byte {error.start}", hint="save it as UTF-8") from error


def _lines(home: Path) -> list[str]:
    """The lines of `.env`; only a line feed ends one, since values may hold the other characters that mean so."""
    text = _read(home / ENV_NAME)
    return text.removesuffix("\n").split("\n") if text else []


def _parse(home: Path, text: str, yaml: YAML) -> Any:
    try:
        tree = yaml.load(text)
    except YAMLError as error:
        raise FormatError(f"{home / CONFIG_NAME}{_where(error)}", hint="mend the YAML; nothing was changed") from error
    if tree is not None and not isinstance(tree, dict):
        found = "a list" if isinstance(tree, list) else f"{str(tree)[:40]!r}"
        raise FormatError(
            f"{home / CONFIG_NAME}: a mapping is wanted, not {found}",
            hint="write `memory:` and its keys as in the docs",
        )
    return tree


def _where(error: YAMLError) -> str:
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f", line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return f": {error}"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=_LOCK_TIMEOUT_S):
            yield
    except (OSError, TimeoutError) as error:
        raise StoreUnavailable(f"{path} can't be changed: {error}", hint="it is as it was") from error


def _write(path: Path, text: str, *, mode: int | None = None) -> None:
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    target = path.resolve()  # a home may keep its files elsewhere and link them
    with whole_file(target, mode=mode) as file:
        file.write(text)


def _assignment(line: str) -> Iterator[tuple[str, str]]:
    """The assignment of a line of `.env`, if it is one."""
    name, equals, value = line.strip().removeprefix("export ").partition("=")
    if not equals or not _VARIABLE.fullmatch(name.strip()):
        return
    quoted = _QUOTED.fullmatch(value.strip())
    if quoted is None:
        value = re.split(r"\s#", value, maxsplit=1)[0].strip()
    else:
        value = re.sub(r"\\([\"\\])", r"\1", quoted[2]) if quoted[1] == '"' else quoted[2]
    yield name.strip(), value


def _quoted(value: str) -> str:
    if _PLAIN_VALUE.fullmatch(value):
        return value
    if "'" not in value:
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
