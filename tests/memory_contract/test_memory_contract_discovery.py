"""Providers are listed without importing anything, loaded when chosen, and what goes wrong is kept with its reason."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordinary_user import modes_count

from memory.discovery import Discovery, State
from memory.discovery.reading import read_source
from memory.discovery.registration import provider_of
from memory.errors import ContractBroken, ProviderNotFound, ProviderUnavailable
from memory.host import uninstall

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLASS = '''
from agent.memory_provider import MemoryProvider

class Plugin(MemoryProvider):
    """A provider."""
    name = "{name}"
    def is_available(self): return True
    def initialize(self, session_id, **kwargs): self.session = session_id
    def get_tool_schemas(self): return []
    def prefetch(self, query, *, session_id=""): return "{name} 记得 " + query
'''
DUCK = CLASS.replace("from agent.memory_provider import MemoryProvider\n", "").replace("(MemoryProvider)", "")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "home"
    (path / "plugins").mkdir(parents=True)
    yield path
    uninstall(path)
    for name in [name for name in sys.modules if name.startswith("_memory_plugin_")]:
        del sys.modules[name]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of installed distributions."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(path)
    before = set(sys.modules)
    yield path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", "") and str(path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def plugin(home: Path, name: str, source: str = "", **files: str) -> Path:
    directory = home / "plugins" / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "__init__.py").write_text(source or CLASS.format(name=name), encoding="utf-8")
    for file, text in files.items():
        (directory / file.replace("_yaml", ".yaml").replace("_py", ".py")).write_text(text, encoding="utf-8")
    return directory


def distribution(site: Path, name: str, entries: dict[str, dict[str, str]], **modules: str) -> None:
    info = site / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\nSummary: it remembers\n")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in values.items()) for group, values in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    for module, source in modules.items():
        (site / f"{module}.py").write_text(source, encoding="utf-8")
    importlib.invalidate_caches()


def states(discovery: Discovery) -> dict[str, str]:
    return {found.name: found.state for found in discovery.names() if found.source != "bundled"}


def test_names_are_listed_without_importing_anything(home: Path, site: Path) -> None:
    boom = "from agent.memory_provider import MemoryProvider\nraise SystemExit('imported')\n"
    plugin(home, "boom", boom, plugin_yaml="name: boom\nversion: 2.1\ndescription: 记忆\n")
    distribution(site, "pkg-memory", {"hermes_agent.memory_providers": {"pkg": "pkg_module:register"}}, pkg_module=boom)
    found = {f.name: f for f in Discovery(home).names()}
    assert (found["boom"].state, found["boom"].version, found["boom"].description) == (State.READY, "2.1", "记忆")
    assert (found["pkg"].state, found["pkg"].version, found["pkg"].description) == ("ready", "1.2", "it remembers")
    assert "holographic" in found
    assert not {"pkg_module", "agent"} & set(sys.modules)


def test_a_plugin_of_the_home_is_loaded_by_its_directory_name(home: Path) -> None:
    plugin(home, "night", CLASS.format(name="nexsandglass"))
    provider = Discovery(home).load("night")
    assert provider.name == "nexsandglass"
    assert provider.prefetch("茶") == "nexsandglass 记得 茶"


@pytest.mark.parametrize("name", ["my-memory", "My_Memory", "MY-MEMORY"])
def test_case_and_hyphens_do_not_matter(home: Path, name: str) -> None:
    plugin(home, "my_memory")
    assert Discovery(home).load(name).name == "my_memory"


def test_a_long_licence_before_the_class_hides_nothing(home: Path) -> None:
    plugin(home, "licensed", f"# {'licence ' * 3000}\n" + CLASS.format(name="licensed"))
    assert states(Discovery(home)) == {"licensed": "ready"}


def test_a_class_in_a_module_beside_is_found(home: Path) -> None:
    plugin(home, "split", "from .store import Plugin\n", store_py=CLASS.format(name="split"))
    assert Discovery(home).load("split").name == "split"


def test_a_syntax_error_is_told_with_file_and_line(home: Path) -> None:
    directory = plugin(home, "broken", "x = 1\ndef f(:\n    MemoryProvider\n")
    (found,) = [f for f in Discovery(home).names() if f.name == "broken"]
    assert found.state is State.FAILED
    assert f"SyntaxError in {directory / '__init__.py'}, line 2" in found.reason
    with pytest.raises(ProviderUnavailable, match="line 2"):
        Discovery(home).load("broken")


def test_a_syntax_error_in_an_imported_module_is_told_as_well(home: Path) -> None:
    directory = plugin(home, "inner", CLASS.format(name="inner") + "from . import deep\n", deep_py="\n\n1 +\n")
    with pytest.raises(ProviderUnavailable) as failure:
        Discovery(home).load("inner")
    assert f"SyntaxError in {directory / 'deep.py'}, line 3" in failure.value.reason


def test_what_lies_at_the_wrong_depth_is_told(home: Path) -> None:
    plugin(home, "memory/foo")
    (home / "plugins" / "single.py").write_text(CLASS.format(name="single"))
    found = {f.name: f for f in Discovery(home).names()}
    assert found["foo"].state is found["single"].state is State.IGNORED
    assert found["foo"].reason.startswith("wrong depth")
    assert str(home / "plugins" / "foo") in found["foo"].hint
    with pytest.raises(ProviderUnavailable, match="wrong depth"):
        Discovery(home).load("foo")


def test_plugins_of_other_kinds_and_hidden_ones_are_passed_over(home: Path) -> None:
    plugin(home, "weather", "def register(ctx): ctx.register_tool('weather')\n")
    plugin(home, "_private")
    plugin(home, ".hidden")
    (home / "plugins" / "README.md").write_text("MemoryProvider")
    (home / "plugins" / "empty").mkdir()
    assert states(Discovery(home)) == {}
    with pytest.raises(ProviderNotFound, match="nothing in it mentions MemoryProvider"):
        Discovery(home).load("weather")


def test_a_class_that_derives_from_nothing_is_found_by_what_it_has(home: Path) -> None:
    plugin(home, "duck", DUCK.format(name="duck"))
    assert states(Discovery(home)) == {"duck": "ready"}
    assert Discovery(home).load("duck").name == "duck"


def test_a_broken_manifest_is_told_and_costs_nothing(home: Path) -> None:
    plugin(home, "odd", plugin_yaml="name: [unclosed\n")
    discovery = Discovery(home)
    (found,) = [f for f in discovery.names() if f.name == "odd"]
    assert found.state is State.READY
    assert "plugin.yaml can't be read" in found.reason
    assert discovery.load("odd").name == "odd"


def test_an_unknown_name_tells_what_there_is(home: Path) -> None:
    discovery = Discovery(home)
    with pytest.raises(ProviderNotFound) as failure:
        discovery.load("openrouter")
    assert "holographic" in failure.value.hint
    assert discovery.failures == {"openrouter": "no memory provider has that name"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "import no_such_thing # MemoryProvider\nMemoryProvider",
            "ModuleNotFoundError: No module named 'no_such_thing'",
        ),
        ("MemoryProvider = 1\nraise SystemExit(3)", "SystemExit: 3"),
        ("MemoryProvider = 1\nraise RuntimeError('配置坏了')", "RuntimeError: 配置坏了"),
        ("MemoryProvider = 1", "no register(ctx) and no class"),
        (
            "def register(ctx): ctx.register_hook('x', print); MemoryProvider = 1",
            "register registered no memory provider",
        ),
        (
            "from agent.memory_provider import MemoryProvider\nclass P(MemoryProvider):\n  name = 'p'",
            "no class with name",
        ),
        (
            CLASS.format(name="p").replace("return True", "return True\n    def __init__(self): 1 / 0"),
            "ZeroDivisionError",
        ),
    ],
)
def test_a_failure_is_kept_with_its_reason_and_tried_again(home: Path, source: str, reason: str) -> None:
    directory = plugin(home, "p", source)
    discovery = Discovery(home)
    with pytest.raises(ProviderUnavailable) as failure:
        discovery.load("p")
    assert reason in failure.value.reason
    assert reason in discovery.failures["p"]
    (found,) = [f for f in discovery.names() if f.name == "p"]
    assert (found.state, found.reason) == (State.FAILED, discovery.failures["p"])
    (directory / "__init__.py").write_text(CLASS.format(name="mended"))
    assert discovery.load("p").name == "mended"
    assert discovery.failures == {}


def test_a_missing_package_comes_with_the_command_that_installs_it(home: Path) -> None:
    manifest = "pip_dependencies: [no-such-thing>=2, other]\n"
    plugin(home, "p", "import no_such_thing\nMemoryProvider", plugin_yaml=manifest)
    with pytest.raises(ProviderUnavailable) as failure:
        Discovery(home).load("p")
    assert failure.value.hint == "install what it needs: pip install no-such-thing>=2"
    assert "__init__.py, line 1" in failure.value.reason


def test_a_broken_contract_is_refused_at_loading(home: Path) -> None:
    plugin(home, "p", CLASS.format(name="p") + "    def sync_turn(self, only): pass\n")
    discovery = Discovery(home)
    with pytest.raises(ContractBroken, match="sync_turn"):
        discovery.load("p")
    assert "sync_turn" in discovery.failures["p"]


def test_a_changed_plugin_is_loaded_anew(home: Path) -> None:
    plugin(home, "p", CLASS.format(name="old"))
    discovery = Discovery(home)
    assert discovery.load("p").name == "old"
    plugin(home, "p", CLASS.format(name="new"))
    assert discovery.load("p").name == "new"


def test_the_plugins_of_two_homes_do_not_meet(home: Path, tmp_path: Path) -> None:
    profile = home / "profiles" / "work"
    plugin(home, "p", CLASS.format(name="p"))
    plugin(profile, "p", CLASS.format(name="p") + "    PLACE = 'profile'\n")
    one, other = Discovery(home).load("p"), Discovery(profile).load("p")
    assert type(one) is not type(other)
    assert not hasattr(one, "PLACE")
    uninstall(profile)


def test_a_disabled_plugin_is_not_loaded(home: Path) -> None:
    plugin(home, "p")
    (home / "config.yaml").write_text("plugins:\n  disabled: [p]\n")
    discovery = Discovery(home)
    assert states(discovery) == {"p": "disabled"}
    with pytest.raises(ProviderUnavailable, match="disabled"):
        discovery.load("p")


def test_what_comes_first_takes_the_name(home: Path, site: Path) -> None:
    plugin(home, "holographic")
    plugin(home, "p")
    distribution(site, "p-memory", {"hermes_agent.memory_providers": {"p": "p_module"}}, p_module="raise SystemExit")
    found = [(f.source, f.state) for f in Discovery(home).names() if f.name in ("p", "holographic")]
    assert sorted(found) == [("bundled", "ready"), ("home", "ignored"), ("home", "ready"), ("package", "ignored")]
    assert Discovery(home).load("p").name == "p"


def test_a_projects_plugins_run_only_where_that_is_allowed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin(tmp_path / ".hermes", "local")
    monkeypatch.chdir(tmp_path)
    assert states(Discovery(home)) == {}
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", "1")
    assert states(Discovery(home)) == {"local": "ready"}


MODULE = DUCK.format(name="pkg") + (
    "\ninstance = Plugin()\ndef factory(): return Plugin()\ndef register(ctx): ctx.register_memory_provider(Plugin())\n"
)


@pytest.mark.parametrize("value", ["instance", "Plugin", "factory", "register", ""])
def test_an_entry_point_may_be_anything_that_leads_to_a_provider(home: Path, site: Path, value: str) -> None:
    target = f"pkg_module:{value}" if value else "pkg_module"
    distribution(site, "pkg-memory", {"hermes_agent.memory_providers": {"chosen": target}}, pkg_module=MODULE)
    discovery = Discovery(home, host_modules=False)
    assert discovery.load("chosen").name == "pkg"
    assert discovery.load("pkg_memory").name == "pkg"  # by the distribution's name


def test_an_entry_point_to_a_module_without_register_gives_its_class(home: Path, site: Path) -> None:
    source = DUCK.format(name="pkg")
    distribution(site, "pkg", {"hermes_agent.memory_providers": {"chosen": "pkg_module"}}, pkg_module=source)
    assert Discovery(home, host_modules=False).load("chosen").name == "pkg"


@pytest.mark.parametrize("group", ["hermes.memory_provider", "hermes.memory_providers", "hermes_agent.plugins"])
def test_a_provider_in_a_wrong_group_is_told_and_can_be_named(home: Path, site: Path, group: str) -> None:
    distribution(site, "lost", {group: {"lost": "lost_module:Plugin"}}, lost_module=DUCK.format(name="lost"))
    discovery = Discovery(home, host_modules=False)
    (found,) = [f for f in discovery.names() if f.name == "lost"]
    assert found.state is State.IGNORED
    assert group in found.reason
    assert "hermes_agent.memory_providers" in found.hint
    assert discovery.load("lost").name == "lost"


def test_a_general_plugin_of_a_package_with_the_right_group_is_not_told(home: Path, site: Path) -> None:
    groups = {"hermes_agent.memory_providers": {"good": "m:Plugin"}, "hermes_agent.plugins": {"good-hooks": "m:hooks"}}
    distribution(site, "good", groups, m=DUCK.format(name="good"))
    assert states(Discovery(home)) == {"good": "ready"}


def test_a_package_without_an_entry_point_is_named_by_its_object(home: Path, site: Path) -> None:
    distribution(site, "plain", {}, plain_module=MODULE)
    discovery = Discovery(home, host_modules=False)
    assert discovery.load("plain_module:Plugin").name == "pkg"
    assert discovery.load("plain_module:").name == "pkg"
    with pytest.raises(ProviderUnavailable, match="no attribute 'Nothing'"):
        discovery.load("plain_module:Nothing")
    with pytest.raises(ProviderNotFound):
        discovery.load("not a place:")


def test_a_plugin_that_needs_its_own_host_says_so(home: Path) -> None:
    plugin(home, "p", "from agent.relay_runtime import x\nMemoryProvider")
    with pytest.raises(ProviderUnavailable) as failure:
        Discovery(home).load("p")
    assert "'agent.relay_runtime' of its own host" in failure.value.hint
    with pytest.raises(ProviderUnavailable) as failure:
        Discovery(home, host_modules=False).load("p")


def test_a_directory_that_cant_be_read_is_told(home: Path) -> None:
    plugin(home, "p")
    (home / "plugins").chmod(0)
    try:
        with modes_count():
            (found,) = [f for f in Discovery(home).names() if f.source == "home"]
    finally:
        (home / "plugins").chmod(0o755)
    assert found.state is State.FAILED


def test_what_register_gets_takes_everything_a_plugin_brings() -> None:
    class Provider:
        name = "p"
        is_available = initialize = get_tool_schemas = lambda self: None

    def register(ctx: Any) -> None:
        assert hasattr(ctx, "register_skill")
        assert not hasattr(ctx, "request_context")
        ctx.register_hook("pre_llm_call", print)
        ctx.register_memory_provider(Provider())

    assert isinstance(provider_of(register, "p"), Provider)
    with pytest.raises(ContractBroken):
        provider_of(42, "p")


@given(st.binary(max_size=200))
def test_any_file_can_be_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.py"
    path.write_bytes(content)
    reading = read_source(path)
    assert not reading.error or str(path) in reading.error
