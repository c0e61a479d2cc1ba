"""The import names that plug-ins expect: there on request, honest, never in anybody's way, and gone again."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from memory import host
from memory.errors import HostNamesTaken
from memory.host.importing import NAMES
from memory.provider import MemoryProvider
from memory.threads import spawn_context_thread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path) -> Iterator[None]:
    modules = set(sys.modules)
    yield
    host.uninstall(tmp_path)
    for name in set(sys.modules) - modules:
        if name.partition(".")[0] in host.HOST_NAMES:
            del sys.modules[name]


def test_nothing_is_there_until_it_is_asked_for(tmp_path: Path) -> None:
    assert importlib.util.find_spec("agent") is None
    with host.installed(tmp_path):
        from agent.memory_provider import MemoryProvider as Offered  # type: ignore[import-not-found]

        assert Offered is MemoryProvider
    assert not [name for name in NAMES if name in sys.modules]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("agent.memory_provider")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_has_what_it_says(tmp_path: Path, name: str) -> None:
    with host.installed(tmp_path):
        module = importlib.import_module(name)
        assert all(hasattr(module, attribute) for attribute in getattr(module, "__all__", ()))
        assert module.__doc__


def test_what_is_not_offered_is_an_import_error(tmp_path: Path) -> None:
    with host.installed(tmp_path), pytest.raises(ModuleNotFoundError) as failure:
        importlib.import_module("agent.relay_runtime")
    assert failure.value.name == "agent.relay_runtime"


def test_installations_of_several_homes_end_one_by_one(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    host.install(one)
    host.install(one)
    with host.installed(other), host.installed(one):
        assert host.current_home() == other
    assert host.current_home() == one
    host.uninstall(other)
    assert importlib.util.find_spec("tools.registry")
    host.uninstall(one)
    assert importlib.util.find_spec("tools") is None


def test_a_real_agent_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "memory_provider.py").write_text("REAL = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(HostNamesTaken, match=str(tmp_path)):
        host.install(tmp_path)
    assert not host.is_installed(tmp_path)
    with host.installed(tmp_path, beside_real=True):
        assert importlib.import_module("agent.memory_provider").REAL
        assert importlib.import_module("tools.registry").tool_error("x")


def test_other_peoples_modules_are_not_shadowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory `tools`, a module `utils` are ordinary; what lies below the first can still be offered."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "hammer.py").write_text("HEAVY = True\n")
    (tmp_path / "utils.py").write_text("MINE = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with host.installed(tmp_path):
        assert importlib.import_module("utils").MINE
        assert importlib.import_module("tools.hammer").HEAVY
        assert importlib.import_module("tools.registry").tool_result(a=1) == '{"a": 1}'
        assert host.taken_names().keys() == {"tools", "utils"}
    assert not hasattr(importlib.import_module("tools"), "registry")


def test_the_home_is_that_of_the_context(tmp_path: Path) -> None:
    host.install(tmp_path)
    constants = importlib.import_module("hermes_constants")
    assert constants.get_hermes_home() == tmp_path
    seen: list[Path] = []
    with host.home_scope(tmp_path / "profiles" / "work"):
        assert importlib.import_module("hermes_cli.profiles").get_active_profile_name() == "work"
        thread = spawn_context_thread(lambda: seen.append(constants.get_hermes_home()), name="plugin")
        bare = threading.Thread(target=lambda: seen.append(constants.get_hermes_home()))
    for each in (thread, bare):
        each.start()
        each.join()
    assert seen == [tmp_path / "profiles" / "work", tmp_path]
    token = constants.set_hermes_home_override(tmp_path / "b")
    assert constants.hermes_home_key() == str(tmp_path / "b")
    constants.reset_hermes_home_override(token)
    assert constants.get_hermes_home() == tmp_path
    assert importlib.import_module("hermes_cli.profiles").get_active_profile_name() == "default"


def test_the_configuration_is_the_homes_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("# 我的设置\nmemory:\n  provider: nyx  # the night\n  nudge: 10\nother: 1\n")
    (tmp_path / ".env").write_text("BETTER_KEY=from-file\nBOTH=file\n")
    monkeypatch.setenv("BOTH", "process")
    host.install(tmp_path)
    config = importlib.import_module("hermes_cli.config")
    loaded = config.load_config()
    assert config.cfg_get(loaded, "memory", "provider") == "nyx"
    assert config.cfg_get(loaded, "memory", "none", "deeper", default=7) == 7
    assert config.cfg_get(loaded, "other", "deeper", default=7) == 7
    loaded["memory"]["nudge"] = 3
    loaded["nyx"] = {"vault": True}
    config.save_config(loaded)
    text = (tmp_path / "config.yaml").read_text()
    assert "# 我的设置" in text
    assert "# the night" in text
    assert config.load_config_readonly() == loaded
    config.save_env_value("NEW_KEY", "s3cret")
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    secrets = importlib.import_module("agent.secret_scope")
    assert [secrets.get_secret(n) for n in ("BETTER_KEY", "NEW_KEY", "BOTH", "NO")] == [
        "from-file",
        "s3cret",
        "process",
        None,
    ]
    assert (config.get_env_value("BOTH"), config.get_env_value_prefer_dotenv("BOTH")) == ("process", "file")


def test_results_of_tools_are_json(tmp_path: Path) -> None:
    host.install(tmp_path)
    registry = importlib.import_module("tools.registry")
    assert json.loads(registry.tool_error("烤箱坏了", code=3)) == {"error": "烤箱坏了", "code": 3}
    assert json.loads(registry.tool_result({"a": 1}, b=2)) == {"a": 1, "b": 2}
    assert json.loads(registry.tool_result([1])) == [1]
    assert json.loads(registry.tool_result([1], b=2)) == {"result": [1], "b": 2}


def test_a_json_file_appears_whole(tmp_path: Path) -> None:
    host.install(tmp_path)
    importlib.import_module("utils").atomic_json_write(tmp_path / "a" / "b.json", {"茶": 1})
    assert json.loads((tmp_path / "a" / "b.json").read_text(encoding="utf-8")) == {"茶": 1}


def test_other_providers_are_found_through_the_host(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from memory.discovery import Discovery

    host.install(tmp_path, plugins=Discovery(tmp_path))
    plugins = importlib.import_module("plugins.memory")
    assert plugins.load_memory_provider("zzz") is None
    assert "no memory provider has that name" in caplog.text
    assert plugins.find_provider_dir("holographic").name == "holographic"
    assert plugins.find_provider_dir("zzz") is None
