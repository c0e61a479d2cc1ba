"""`memory providers | use | setup | status | check`: on homes with plug-ins that work and plug-ins that don't."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from hermes_state import SessionDB
from memory.config import read_config, read_env
from memory.manager import MemoryManager
from memory.manager.delivery import Delivery
from memory.manager.outbox import Outbox
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Call

PLUGIN = '''
"""A provider for a test."""
from memory.provider import MemoryProvider

class Provider(MemoryProvider):
    name = "{own_name}"
    def is_available(self):
        return {available}
    def unavailable_reason(self):
        return "{reason}"
    def initialize(self, session_id, **kwargs):
        {initialize}
    def get_tool_schemas(self):
        return [{{"name": "{name}_find", "description": "find", "parameters": {{"type": "object"}}}}]
    def get_config_schema(self):
        return {schema}
    def sync_turn(self, user, assistant, *, session_id=""):
        raise ConnectionError("refused")

def register(ctx):
    ctx.register_memory_provider(Provider())
'''
SCHEMA = [
    {"key": "mode", "description": "Where", "choices": ["local", "cloud"], "default": "local"},
    {"key": "url", "description": "Address", "required": True, "when": {"mode": "cloud"}},
    {"key": "api_key", "description": "Key", "secret": True, "env_var": "BRAIN_KEY", "required": True},
    {"key": "size", "type": "integer", "minimum": 1, "maximum": 9, "default": 3},
    {"key": "fast", "type": "boolean", "default": False},
]


def plugin(home: Path, name: str = "brain", **parts: object) -> None:
    """Put a plug-in into a home."""
    folder = home / "plugins" / name
    folder.mkdir(parents=True)
    words = {"own_name": name, "available": True, "reason": "", "initialize": "pass", "schema": SCHEMA} | parts
    (folder / "__init__.py").write_text(PLUGIN.format(name=name, **words))
    (folder / "plugin.yaml").write_text(f"name: {name}\ndescription: 大脑\n")


def configure(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(text)


def test_providers_are_listed_without_importing_them(call: Call, home: Path) -> None:
    """A module that ends the process is only read; the one in use is marked."""
    plugin(home, initialize="raise SystemExit")
    configure(home, "memory:\n  provider: brain\n")
    rows = {row["name"]: row for row in call("memory", "providers", "--json").json["providers"]}
    assert rows["builtin"]["used"] is True
    assert rows["brain"]["used"] is True
    assert rows["brain"]["description"] == "大脑"
    assert rows["holographic"]["used"] is False
    assert "brain" in call("memory", "providers").stdout


def test_use_changes_one_key_and_keeps_the_comments(call: Call, home: Path) -> None:
    """And `off` takes it back."""
    plugin(home)
    configure(home, "# my agent\nmodel: glm  # good\nmemory:\n  nudge_interval: 5 # often\n")
    assert call("memory", "use", "brain").exit_code == 0
    text = (home / "config.yaml").read_text()
    assert "# my agent" in text
    assert "# often" in text
    assert MemorySettings.load(home).external == ("brain",)
    assert call("memory", "use", "brain", "holographic").exit_code == 0
    assert MemorySettings.load(home).external == ("brain", "holographic")
    assert call("memory", "use", "off").exit_code == 0
    assert MemorySettings.load(home).external == ()


def test_use_of_what_is_no_provider_changes_nothing(call: Call, home: Path) -> None:
    """A model vendor is none (B079)."""
    configure(home, "memory: {provider: holographic}\n")
    answer = call("memory", "use", "openrouter", "--json")
    assert answer.exit_code == 32
    assert "openrouter" in answer.error["message"]
    assert read_config(home)["memory"]["provider"] == "holographic"
    assert call("memory", "use", "off", "holographic").exit_code == 2


@pytest.mark.parametrize(
    ("name", "parts", "words"),
    [
        ("openrouter", None, "no memory provider has that name"),
        ("brain", {"schema": "1 +"}, "__init__.py"),
        ("brain", {"available": False, "reason": "BRAIN_KEY is not set"}, "BRAIN_KEY is not set"),
    ],
    ids=["unknown", "a syntax error", "not available"],
)
def test_status_fails_with_the_reason(
    call: Call, home: Path, name: str, parts: dict[str, object] | None, words: str
) -> None:
    """B079: a configured provider that does not work is never silent; built-in memory still works."""
    if parts is not None:
        plugin(home, **parts)
    configure(home, f"memory:\n  provider: {name}\n")
    answer = call("memory", "status", "--json")
    assert answer.exit_code == 1
    builtin, broken = answer.json["providers"]
    assert builtin["works"] is True
    assert (broken["name"], broken["works"], broken["state"]) == (name, False, "unavailable")
    assert words in broken["reason"]
    shown = call("memory", "status")
    assert shown.exit_code == 1
    assert words in shown.stdout


def test_status_starts_a_provider_when_asked_to(call: Call, home: Path) -> None:
    """What only a start can find."""
    plugin(home, initialize='raise PermissionError("bad key")')
    configure(home, "memory:\n  provider: brain\n")
    assert call("memory", "status").exit_code == 0
    answer = call("memory", "status", "--start", "--json")
    assert answer.exit_code == 1
    assert "bad key" in answer.json["providers"][1]["reason"]


def test_status_shows_what_an_agent_met(call: Call, home: Path) -> None:
    """B095: a provider that has been failing in another process; last error, last success, failures, what waits."""
    plugin(home)
    configure(home, "memory:\n  provider: brain\n")
    settings = MemorySettings(provider="brain", delivery_attempts=50)
    with SessionDB.open(home=home) as db, MemoryManager(db, home=home, settings=settings) as manager:
        manager.add_configured()
        manager.initialize("s1")
        for n in range(5):
            manager.sync_turn(f"turn {n}", "a")
            manager.flush(20)
    answer = call("memory", "status", "--json")
    assert answer.exit_code == 1
    found = answer.json["providers"][1]
    assert found["failures_in_row"] >= 3
    assert "ConnectionError: refused" in found["last_error"]
    assert found["waiting"] == 5
    assert found["last_error_at"]
    assert found["last_success_at"]
    assert found["latency_ms"]["sync_turn"]
    shown = call("memory", "status").stdout
    assert "refused" in shown
    assert "5 calls" in shown


def test_use_tries_again_what_was_set_aside(call: Call, home: Path) -> None:
    """A person has mended it. Calls are kept under the provider's own name, which may differ from the configured."""
    plugin(home, own_name="cortex")
    with SessionDB.open(home=home) as db:
        outbox = Outbox(db.engine, attempts_max=1)
        delivery = Delivery(kind="sync_turn", session_id="s", said={})
        outbox.put("cortex", delivery)
        outbox.failed("cortex", delivery, "no", set_aside=True)
        outbox.close()
    assert call("memory", "use", "brain", "--json").json == {"providers": ["brain"], "revived": 1}


def test_setup_keeps_secrets_apart_and_comments_in_place(call: Call, home: Path) -> None:
    """Without a terminal nothing is asked; what is not answered takes its default."""
    plugin(home)
    configure(home, "# mine\nmemory:\n  user_char_limit: 900 # less\n")
    (home / ".env").write_text("# keys\nOTHER=1\n")
    answer = call("memory", "setup", "brain", "--set", "api_key=geheim 🔑", "--set", "size=4", "--json")
    assert answer.exit_code == 0
    assert answer.json == {
        "provider": "brain",
        "values": {"mode": "local", "size": 4, "fast": False},
        "secrets": ["BRAIN_KEY"],
        "used": True,
    }
    assert "geheim" not in answer.stdout
    assert read_env(home) == {"OTHER": "1", "BRAIN_KEY": "geheim 🔑"}
    assert stat.S_IMODE((home / ".env").stat().st_mode) == 0o600
    assert "# keys" in (home / ".env").read_text()
    text = (home / "config.yaml").read_text()
    assert "# mine" in text
    assert "# less" in text
    assert "geheim" not in text
    settings = MemorySettings.load(home)
    assert settings.external == ("brain",)
    assert settings.provider_sections["brain"] == {"mode": "local", "size": 4, "fast": False}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "--set api_key"),
        (["api_key=k", "mode=cloud"], "--set url"),
        (["api_key=k", "size=ten"], "whole number"),
        (["api_key=k", "size=10"], "at most 9"),
        (["api_key=k", "fast=maybe"], "true or false"),
        (["api_key=k", "mode=moon"], "local, cloud"),
        (["api_key=k", "colour=red"], "colour"),
        (["api_key"], "KEY=VALUE"),
    ],
)
def test_a_wrong_answer_keeps_nothing(call: Call, home: Path, given: list[str], words: str) -> None:
    """And says which one, and what is wanted."""
    plugin(home)
    options = [word for text in given for word in ("--set", text)]
    answer = call("memory", "setup", "brain", *options)
    assert answer.exit_code == 2
    assert words in answer.stderr
    assert not (home / ".env").exists()
    assert not (home / "config.yaml").exists()


def test_setup_asks_on_a_terminal(call: Call, home: Path) -> None:
    """Questions that don't apply are left out."""
    plugin(home)
    given = ("--no-use", "--set", "api_key=k")  # a key is asked for without echo, which needs a real terminal
    answer = call("memory", "setup", "brain", *given, stdin="cloud\nhttps://brain.test\n\ny\n", terminal=True)
    assert answer.exit_code == 0, answer.stderr
    assert "Address" in answer.stderr
    assert MemorySettings.load(home).external == ()
    assert MemorySettings.load(home).provider_sections["brain"] == {
        "mode": "cloud",
        "url": "https://brain.test",
        "size": 3,
        "fast": True,
    }


def test_check_names_the_rule_and_the_remedy(call: Call, home: Path) -> None:
    """A fault is exit 1; a provider that keeps the contract is 0."""
    plugin(home, schema=[{"key": "token", "secret": True}])
    answer = call("memory", "check", "brain", "--only", "contract", "--json")
    assert answer.exit_code == 1
    finding = answer.json["findings"][0]
    assert (finding["rule"], finding["severity"]) == ("contract.config-schema", "fault")
    assert "env_var" in finding["found"]
    assert "contract.config-schema" in call("memory", "check", "brain", "--only", "contract").stdout
    assert call("memory", "check", "builtin", "--only", "contract").exit_code == 0
    assert call("memory", "check", "brain", "--only", "colours").exit_code == 2
    assert call("memory", "check", "nobody").exit_code == 32


def test_a_configuration_that_is_no_yaml_is_said_with_its_line(call: Call, home: Path) -> None:
    """And nothing is written over it."""
    configure(home, "memory:\n  provider: [\n")
    for words in (["use", "holographic"], ["status"], ["setup", "holographic"]):
        answer = call("memory", *words)
        assert answer.exit_code == 19
        assert "line" in answer.stderr
    assert (home / "config.yaml").read_text() == "memory:\n  provider: [\n"
