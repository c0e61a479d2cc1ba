"""docs/memory-contract.md says what is so."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from memory.context import build_block
from memory.errors import ContractBroken
from memory.host.importing import NAMES, OFFERED
from memory.provider import MemoryProvider
from memory.signatures import Adapted

PAGE = (Path(__file__).parents[2] / "docs" / "memory-contract.md").read_text(encoding="utf-8")
# Optional members that no base class has.
FOUND_BY_NAME = {"post_setup", "get_status_config"}


def smallest() -> Any:
    source = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    space: dict[str, Any] = {}
    exec(source, space)  # the page's own example
    return space["Notes"]


def test_the_smallest_provider_works() -> None:
    provider = Adapted(smallest()())
    provider.check()
    provider.initialize("s1", hermes_home="/h")
    provider.sync_turn("the oven is clean", "good", session_id="s1", messages=[])
    assert provider.prefetch("oven") == "- the oven is clean"


def test_the_table_has_every_member_with_its_signature() -> None:
    listed = dict(re.findall(r"`(\w+)(\([^`]*\))?`", "\n".join(re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE))))
    members = {name for name, value in vars(MemoryProvider).items() if callable(value) or isinstance(value, property)}
    members -= {name for name in members if name.startswith("_")}
    assert set(listed) == members | FOUND_BY_NAME
    for name in members:
        if listed[name]:
            signature = inspect.signature(getattr(MemoryProvider, name))
            bare = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
            written = str(signature.replace(parameters=bare, return_annotation=signature.empty)).replace("'", '"')
            assert written == listed[name], name


def test_the_fence_is_as_shown() -> None:
    shown = re.search(r"    <memory-context>\n.*?</memory-context>", PAGE, re.DOTALL)
    assert shown is not None
    assert re.sub(r"^    ", "", shown[0], flags=re.MULTILINE) == build_block("- likes oolong")


def test_the_refusal_is_as_shown() -> None:
    class Notes(smallest()):  # type: ignore[misc]
        def sync_turn(self, text: str) -> None: ...

    with pytest.raises(ContractBroken) as refusal:
        Adapted(Notes()).check()
    assert " ".join(refusal.value.message.split()) in " ".join(PAGE.split())


def test_every_package_that_was_tried_is_in_the_table() -> None:
    root = Path(__file__).parents[2]
    catalogue = (root / "tests" / "compat" / "catalogue.py").read_text(encoding="utf-8")
    page = (root / "docs" / "compatibility.md").read_text(encoding="utf-8")
    tried = re.findall(r'^ +(?:Package\()?name="([\w-]+)"', catalogue, re.MULTILINE)
    assert len(tried) >= 9
    assert set(tried) == set(re.findall(r"^\| ([a-z-]+) \| \d", page, re.MULTILINE))


def test_every_import_name_is_listed_with_what_it_offers() -> None:
    page = (Path(__file__).parents[2] / "docs" / "compatibility.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", page, re.MULTILINE)
    listed = {name: set(re.findall(r"`(\w+)`", offers)) for name, offers in rows}
    offered = {
        name: set(importlib.import_module(f"{OFFERED}.{module}").__all__) for name, module in NAMES.items() if module
    }
    assert listed == offered
