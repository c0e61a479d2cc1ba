"""The `memory:` section of config.yaml: every key, the forms in which writers leave values, and what is no key."""

from __future__ import annotations

import stat
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_state.errors import FormatError, InvalidValue
from memory.config import change_config, expand, read_config, read_env, save_env
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from pathlib import Path


def load(home: Path, text: str) -> MemorySettings:
    (home / "config.yaml").write_text(text, encoding="utf-8")
    return MemorySettings.load(home)


def test_a_home_without_a_configuration_has_the_defaults(home: Path) -> None:
    """And every key says what it means."""
    assert MemorySettings.load(home) == MemorySettings()
    described = {key.path: key for key in MemorySettings.describe()}
    assert described["memory.nudge_interval"].default == 10
    assert described["memory.user_char_limit"].default == 1375
    assert described["memory.prefetch_timeout_s"].default == 8.0
    assert all(key.about for key in described.values())


def test_every_key_of_the_peer_is_honoured(home: Path) -> None:
    """Also where its wizard wrote text."""
    found = load(
        home,
        """
memory:
  memory_enabled: "false"
  user_profile_enabled: no
  nudge_interval: "5"
  memory_char_limit: 3000
  user_char_limit: '1500'
  provider: nyx
  write_approval: "Yes"
  flush_min_turns: 3
  prefetch_timeout: 2.5
  nyx: {bank: 我的}
skills: {creation_nudge_interval: 7}
compression: {checkpoint_required: true, in_place: false, threshold: "0.8"}
auxiliary:
  background_review: {model: small, api_key: k}
display: {memory_notifications: verbose}
""",
    )
    assert found.findings == ()
    expected = {
        "memory_enabled": False,
        "user_profile_enabled": False,
        "nudge_interval": 5,
        "memory_char_limit": 3000,
        "user_char_limit": 1500,
        "external": ("nyx",),
        "write_approval": True,
        "flush_min_turns": 3,
        "prefetch_timeout_s": 2.5,
        "skill_nudge_interval": 7,
        "checkpoint_required": True,
        "compression_in_place": False,
        "compression_threshold": 0.8,
        "review_model": "small",
        "review_api_key": "k",
        "notifications": "verbose",
    }
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.provider_sections == {"nyx": {"bank": "我的"}}


@pytest.mark.parametrize("name", ["", "none", "default", "builtin", "Built-In", "off", "null", "~", " none "])
def test_names_that_mean_built_in_memory_are_no_provider(home: Path, name: str) -> None:
    """Whatever was written to switch it off."""
    assert load(home, f"memory:\n  provider: {name}\n").external == ()


def test_only_a_real_true_asks_for_checkpoints(home: Path) -> None:
    """The string does not (reference 1.4), and that is a finding."""
    found = load(home, 'compression: {checkpoint_required: "true"}\n')
    assert found.checkpoint_required is False
    assert found.findings[0].key == "compression.checkpoint_required"


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("memory: {nudge_intervall: 3}", "memory.nudge_intervall", "'nudge_interval'"),
        ("memory: {nudge_interval: soon}", "memory.nudge_interval", "10 holds"),
        ("memory: {nudge_interval: 2.5}", "memory.nudge_interval", "whole number"),
        ("memory: {nudge_interval: -1}", "memory.nudge_interval", "at least 0"),
        ("memory: {prefetch_timeout_s: 0}", "memory.prefetch_timeout_s", "at least"),
        ("memory: {prefetch_timeout_s: .nan}", "memory.prefetch_timeout_s", "number"),
        ("memory: {write_approval: perhaps}", "memory.write_approval", "true or false"),
        ("memory: {recall_placement: footer}", "memory.recall_placement", "system, user"),
        ("memory: {providers: 3}", "memory.providers", "list of names"),
        ("memory: {provider: [a]}", "memory.provider", "text"),
        ("memory: [a]", "memory", "mapping"),
        ("compression: {threshold: 2}", "compression.threshold", "at most 1"),
        ("memory: {user_id: '${NOBODY}'}", "${NOBODY}", "no variable"),
    ],
)
def test_what_can_not_be_used_is_a_finding(home: Path, text: str, key: str, words: str) -> None:
    """The default holds, and nothing else is lost."""
    found = load(home, text)
    assert [finding.key for finding in found.findings] == [key]
    assert words in found.findings[0].message


def test_variables_come_from_the_environment_and_the_homes_env(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is the stronger one."""
    (home / ".env").write_text('KEY="from file"\nexport BANK=银行 # comment\n')
    monkeypatch.setenv("KEY", "from environment")
    found = load(home, "memory: {user_id: '${KEY}/${BANK}', nyx: {deep: ['${BANK}']}}\n")
    assert found.user_id == "from environment/银行"
    assert found.provider_sections["nyx"] == {"deep": ["银行"]}


@pytest.mark.parametrize("content", ["memory: [", "- a\n- b\n", "a: 1\na: 2\n"])
def test_what_is_no_mapping_is_an_error_and_never_written_over(home: Path, content: str) -> None:
    """The message says where."""
    (home / "config.yaml").write_text(content)
    with pytest.raises(FormatError, match=r"config\.yaml"):
        MemorySettings.load(home)
    with pytest.raises(FormatError):
        change_config(home, ("memory", "provider"), "x")
    assert (home / "config.yaml").read_text() == content


def test_bytes_that_are_no_text_are_an_error(home: Path) -> None:
    """And stay as they are."""
    (home / "config.yaml").write_bytes(b"memory: \xff\n")
    with pytest.raises(FormatError):
        MemorySettings.load(home)


def test_one_key_changes_and_the_rest_stays(home: Path) -> None:
    """Comments, order, quotes, long lines, the file's mode, and the link it may be."""
    real = home / "real.yaml"
    long = "x" * 300
    real.write_text(f"# top\nb: 'quoted'  # b\na: {long}\nmemory: # here\n  provider: old # why\n  other: 1\n")
    real.chmod(0o640)
    (home / "config.yaml").symlink_to(real)
    change_config(home, ("memory", "provider"), "新")
    text = real.read_text()
    # the writer keeps comments in their columns
    words = [" ".join(line.split(" #")[0].rstrip() for line in text.splitlines()), text.count("#")]
    assert words == [f"# top b: 'quoted' a: {long} memory:   provider: 新   other: 1", 4]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert (home / "config.yaml").is_symlink()


def test_two_writers_lose_nothing(home: Path) -> None:
    """Each waits for the other."""
    threads = [threading.Thread(target=change_config, args=(home, ("memory", f"k{n}"), n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_config(home)["memory"] == {f"k{n}": n for n in range(8)}


@settings(max_examples=50)
@given(value=st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")))
def test_a_secret_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    """Quotes, blanks, hashes and every script."""
    home = tmp_path_factory.mktemp("env")
    (home / ".env").write_text("# top\nA=1\n")
    save_env(home, {"SECRET": value, "A": "2"})
    assert read_env(home) == {"A": "2", "SECRET": value}
    assert stat.S_IMODE((home / ".env").stat().st_mode) == 0o600


@pytest.mark.parametrize("values", [{"A B": "x"}, {"A": "two\nlines"}, {"1A": "x"}, {"A": "nul\0"}])
def test_what_an_env_file_can_not_hold_is_refused(home: Path, values: dict[str, str]) -> None:
    """Before anything is written."""
    with pytest.raises(InvalidValue):
        save_env(home, values)
    assert not (home / ".env").exists()


JSON = st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@settings(max_examples=50)
@given(JSON)
def test_values_without_references_are_left_alone(value: Any) -> None:
    """Whatever they are."""
    changed, missing = expand(value, {})
    assert changed == value or missing
