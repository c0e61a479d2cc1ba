"""Single values of a YAML file: found where they stand, and exchanged there, so that nothing else of it changes.

A document that is loaded and dumped keeps its comments with luck, and never its quotes, its breaks and its indents. So
the text is only ever cut at the marks of the values.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# A document that refers to itself would never end.
_MAX_DEPTH = 64
# An anchor or tag before a value, which stays.
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
# Can be taken for nothing but a text, in any context.
_PLAIN = re.compile(r"/[\w./~+=@-]*", re.ASCII)
_MAX_BYTES = 4 * 1024 * 1024


class Value(NamedTuple):
    """One scalar of a document.

    Attributes:
        key: where it is, as `terminal.cwd` or `mcp_servers.files.args.0`.
        text: what it says.
        start, end: where it stands in the document, in characters.
        style: of YAML: None for a plain one, `|` and `>` for blocks.
    """

    key: str
    text: str
    start: int
    end: int
    style: str | None = None
    is_text: bool = True

    @property
    def name(self) -> str:
        """The last part of the key that is a name."""
        return next((part for part in reversed(self.key.split(".")) if not part.isdigit()), "")


def values(document: str) -> list[Value]:
    """The scalars of a YAML or JSON document, in the order they stand in.

    Raises:
        ValueError: it is neither.
    """
    from ruamel.yaml import YAML  # 15 ms; most backups find their settings as they were
    from ruamel.yaml.error import YAMLError

    yaml = YAML(typ="rt", pure=True)
    try:
        roots = list(yaml.compose_all(document))
    except (YAMLError, RecursionError, ValueError) as error:
        raise ValueError(f"it is no YAML: {error}") from error
    found: dict[int, Value] = {}
    for value in (value for root in roots for value in _scalars(root, "", 0)):
        found.setdefault(value.start, value)  # an alias is the value it stands for
    return [found[start] for start in sorted(found)]


def _scalars(node: Any, key: str, depth: int) -> Iterator[Value]:
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if depth > _MAX_DEPTH:
        return
    if isinstance(node, ScalarNode):
        yield Value(
            key=key,
            text=str(node.value),
            start=node.start_mark.index,
            end=node.end_mark.index,
            style=node.style,
            is_text=str(node.tag).endswith(":str"),
        )
    elif isinstance(node, MappingNode):
        for name, value in node.value:
            inner = str(name.value) if isinstance(name, ScalarNode) else "?"
            yield from _scalars(value, f"{key}.{inner}" if key else inner, depth + 1)
    elif isinstance(node, SequenceNode):
        for number, value in enumerate(node.value):
            yield from _scalars(value, f"{key}.{number}" if key else str(number), depth + 1)


def exchanged(document: str, changes: Mapping[int, tuple[Value, str]]) -> str:
    """The document with some values replaced.

    Args:
        changes: by the start of a value, it and its new text.
    """
    pieces, at = [], 0
    for start in sorted(changes):
        value, text = changes[start]
        old = document[start : value.end]
        kept = _PROPERTIES.match(old)
        pieces += [document[at:start], kept[0] if kept else "", _written(value, text, old)]
        at = value.end
    return "".join([*pieces, document[at:]])


def _written(value: Value, text: str, old: str) -> str:
    """A text in the style of the value it replaces; a plain one only where it can be taken for nothing else."""
    if value.style == "'" and "\n" not in text:
        doubled = text.replace("'", "''")
        return f"'{doubled}'"
    if value.style is None and _PLAIN.fullmatch(text):
        return text
    end = "\n" if value.style in ("|", ">") and old.endswith("\n") else ""
    return json.dumps(text, ensure_ascii=False) + end


def values_of(file: Path) -> dict[str, str]:
    """The texts of a settings file by key; none for one that can't be read: whoever needs it will say so."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            return {}
        return {value.key: value.text for value in values(file.read_text(encoding="utf-8"))}
    except (OSError, ValueError):
        return {}
