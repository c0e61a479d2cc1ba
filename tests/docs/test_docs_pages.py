"""What every page says: links lead somewhere, command lines can be typed, programs run up to their own names."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from hermes_state.commands.root import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_QUOTED_OR_COMMENT = re.compile(r"'[^']*'|\"[^\"]*\"| #.*")
_WORD = re.compile(r"[^\w\- ]")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    """A page without its code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {_WORD.sub("", heading.lower().replace("`", "")).replace(" ", "-") for heading in headings}


def is_broken(page: Path, link: str) -> bool:
    place, _, anchor = link.partition("#")
    target = (page.parent / place).resolve() if place else page
    return not target.exists() or bool(anchor and target.suffix == ".md" and anchor not in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(text_of(page)) if not re.match(r"[a-z]+:", link)]
    assert [link for link in links if is_broken(page, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_that_are_named_are_there(page: Path) -> None:
    """Also where no link is made of it: `docs/search.md`."""
    names = set(re.findall(r"`(docs/[\w-]+\.md)`", page.read_text(encoding="utf-8")))
    assert [name for name in sorted(names) if not (ROOT / name).exists()] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "README.md"]
    assert [name for name in sorted(pages) if f"]({name})" not in index] == []


def command_lines(page: Path) -> Iterator[list[str]]:
    """The words of every `hermes-state …` in the code of a page, without comments, pipes and redirections."""
    for language, code in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language not in ("", "sh", "console", "shell", "bash"):
            continue
        for line in re.sub(r"\\\n\s*", " ", code).splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True) if "hermes-state " in line else []
            starts = [n for n, word in enumerate(words) if word == "hermes-state"]
            ends = [n for n, word in enumerate(words) if word in ("|", ">", "&&", ";", "||")]
            for start, following in pairwise([*starts, len(words)]):
                yield words[start + 1 : min([end for end in ends if end > start] + [following])]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_command_lines_can_be_typed(page: Path) -> None:
    """Each names a command that there is, with arguments and options that it has."""
    wrong = []
    for words in command_lines(page):
        if words and "…" not in words and "[OPTIONS]" not in words:
            try:
                _parse(cli, words)
            except click.UsageError as error:
                wrong.append(f"{' '.join(words)}: {error.format_message()}")
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_shell_takes_a_question_for_a_pattern(page: Path) -> None:
    """zsh refuses a command with a bare `?` or `*` that fits no file."""
    for language, code in _FENCE.findall(page.read_text(encoding="utf-8")):
        lines = [line for line in code.splitlines() if line.startswith(("hermes-state ", "$ hermes-state "))]
        bare = [_QUOTED_OR_COMMENT.sub("", line) for line in lines if language in ("sh", "console")]
        assert [line for line in bare if re.search(r"[?*]", line)] == []


def _parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    if isinstance(command, click.Group):
        # The options before a name are few and the same for all.
        with click.Context(command, info_name=command.name, parent=parent) as context:
            name, found, rest = command.resolve_command(context, words)
            assert found is not None, name
            _parse(found, rest, context)
        return
    parser = command.make_parser(click.Context(command, info_name=command.name, parent=parent))
    _, _, order = parser.parse_args([word for word in words if word not in ("--help", "-h")])
    missing = [p for p in command.params if isinstance(p, click.Argument) and p.required and p not in order]
    if missing and len(words) < len(missing):
        raise click.UsageError(f"{missing[0].name} is missing")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_programs_are_python_and_import_what_there_is(page: Path) -> None:
    for language, code in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language != "python":
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("hermes_state", "memory"):
                module = import_module(node.module or "")
                assert [name.name for name in node.names if not hasattr(module, name.name)] == []


@pytest.mark.parametrize("page", ["architecture", "holographic-use"])
def test_whole_programs_run(page: str, tmp_path: Path) -> None:
    """In an empty home, without a word on stderr."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)
    environment = {"HERMES_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout
