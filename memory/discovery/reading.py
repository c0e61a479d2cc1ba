"""Reading a plug-in's files without running them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST_NAMES = ("plugin.yaml", "plugin.yml")
# A source that uses one of these names has to do with memory; the last is a method that every provider has.
_MEMORY_NAMES = frozenset({"MemoryProvider", "register_memory_provider", "get_tool_schemas"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source file says of itself.

    Attributes:
        is_provider: it mentions the contract, anywhere.
        summary: the first line of its docstring.
        error: why it can't be compiled, with file and line; empty if it can.
    """

    is_provider: bool = False
    summary: str = ""
    error: str = ""


def read_source(path: Path) -> Reading:
    """Parse a Python file."""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        return Reading(error=syntax_error(error, path))
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return Reading(error=f"{path} can't be read: {error or type(error).__name__}")
    summary = (ast.get_docstring(tree) or "").partition("\n")[0].strip()
    return Reading(any(_MEMORY_NAMES & _names(node) for node in ast.walk(tree)), summary)


def syntax_error(error: SyntaxError, path: Path | None = None) -> str:
    """A syntax error in words: file, line, and what is wrong."""
    return f"{type(error).__name__} in {error.filename or path}, line {error.lineno or '?'}: {error.msg}"


def _names(node: ast.AST) -> set[str]:
    """The names that a node mentions, texts that are given to `getattr` included."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return {name}
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.alias(name=name):
            return {name.rpartition(".")[2]}
        case _:
            return set()


@dataclass(frozen=True, slots=True)
class Manifest:
    """`plugin.yaml`, as far as it matters here.

    Attributes:
        error: why it can't be read; the plug-in can be loaded all the same.
    """

    version: str = ""
    description: str = ""
    requirements: tuple[str, ...] = ()
    error: str = ""


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a plug-in; an empty one if it has none."""
    path = next((directory / name for name in MANIFEST_NAMES if (directory / name).is_file()), None)
    if path is None:
        return Manifest()
    try:
        data = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        return Manifest(error=f"{path} can't be read: {' '.join(str(error).split())}")
    if not isinstance(data, dict):
        return Manifest(error=f"{path} is no mapping")
    return Manifest(
        version=_line(data.get("version")),
        description=_line(data.get("description")),
        requirements=tuple(
            str(item)
            for key in ("pip_dependencies", "python_dependencies")
            if isinstance(items := data.get(key), list)
            for item in items
        ),
    )


def _line(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())
