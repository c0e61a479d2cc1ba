"""Unchanged provider packages of the package index work here; those that can't, say why and break nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from catalogue import PACKAGES, Package
from trial import build_wheel, try_package

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.compat, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_whole_conversation_with_an_unchanged_package(package: Package, wheel: Path, tmp_path: Path) -> None:
    trial = try_package(package, wheel, tmp_path)
    result = trial.result
    assert result["broken"] == []
    assert result["found"] is not None
    assert all(result["tools"].values()), "every answer of a tool is JSON"
    if package.works:
        assert (result["state"], result["failures"], result["set_aside"]) == ("ready", 0, 0), trial.log
        assert {language for language, was in result["recalled"].items() if was} >= set(package.recalls)
    else:
        assert result["state"] == "ready" or result["reason"], trial.log
