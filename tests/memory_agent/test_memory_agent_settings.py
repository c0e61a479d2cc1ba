"""Which model is talked to, and what a home's skills and persona say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_state.errors import InvalidValue, NotFound
from memory.agent.connecting import connect, connect_review
from memory.agent.settings import ModelSettings
from memory.agent.skills import find_skills, skill_tool, skills_block
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def config(home: Path, text: str) -> None:
    (home / "config.yaml").write_text(text, encoding="utf-8")


def test_the_peer_s_section(home: Path) -> None:
    config(
        home,
        "model:\n  default: fake-model\n  provider: custom\n  base_url: http://127.0.0.1:8765/v1\n"
        "  api_key: sk-fake\n  context_length: 8192\n",
    )
    assert ModelSettings.load(home) == ModelSettings(
        name="fake-model", base_url="http://127.0.0.1:8765/v1", api_key="sk-fake", context_tokens=8192
    )


def test_what_is_nearest_wins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config(home, "model: {default: a, base_url: http://a/v1, api_key: key-of-a}\n")
    monkeypatch.setenv("HERMES_STATE_MODEL", "b")
    assert ModelSettings.load(home).name == "b"
    chosen = ModelSettings.load(home, model="c", base_url="http://c/v1")
    assert (chosen.name, chosen.base_url) == ("c", "http://c/v1")


def test_a_key_goes_to_its_own_endpoint_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config(home, "model: {default: a, base_url: http://a/v1, api_key: key-of-a}\n")
    assert ModelSettings.load(home).api_key == "key-of-a"
    assert ModelSettings.load(home, base_url="http://b/v1").api_key == ""
    monkeypatch.setenv("HERMES_STATE_BASE_URL", "http://b/v1")
    assert ModelSettings.load(home).api_key == ""
    monkeypatch.setenv("HERMES_STATE_API_KEY", "mine")
    assert ModelSettings.load(home).api_key == "mine"


def test_vendors_by_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "or-key")
    monkeypatch.setenv("OPENAI_API_KEY", "oa-key")
    config(home, "model: {default: x/y, provider: openrouter}\n")
    chosen = ModelSettings.load(home)
    assert (chosen.base_url, chosen.api_key) == ("https://openrouter.ai/api/v1", "or-key")
    assert ModelSettings.load(home, model="gpt", base_url="https://api.openai.com/v1").api_key == "oa-key"


def test_variables_of_the_home(home: Path) -> None:
    config(home, "model: {default: m, base_url: 'http://x/v1', api_key: '${MY_KEY}'}\n")
    (home / ".env").write_text("MY_KEY=secret-value\n")
    assert ModelSettings.load(home).api_key == "secret-value"


def test_a_bare_name_is_the_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config(home, "model: llama3.2\n")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    assert ModelSettings.load(home).name == "llama3.2"


@pytest.mark.parametrize("text", ["", "model: {default: m}\n", "model: {base_url: http://x/v1}\n", "model: 3\n"])
def test_what_is_missing_is_named(home: Path, text: str) -> None:
    config(home, text)
    with pytest.raises(InvalidValue, match="is configured") as caught:
        ModelSettings.load(home)
    assert "--base-url" in caught.value.hint


def test_the_review_s_model(home: Path) -> None:
    chosen = ModelSettings(name="big", base_url="http://a/v1", api_key="k")
    assert connect_review(chosen, MemorySettings()) is None
    cheap = connect_review(chosen, MemorySettings(review_model="small"))
    assert cheap is not None
    assert (cheap.name, cheap.base_url) == ("small", "http://a/v1")
    with pytest.raises(InvalidValue, match="no model"):
        connect_review(chosen, MemorySettings(review_base_url="http://b/v1"))
    assert connect(chosen).base_url == "http://a/v1"


def test_skills_of_a_home(home: Path) -> None:
    for folder, text in {
        "deploy": "---\nname: deploy\ndescription: How we deploy,\n  蓝绿\n---\nSteps: one, two.\n",
        "broken": "---\nname: [\n---\nx",
        "plain": "no front matter",
    }.items():
        (home / "skills" / folder).mkdir(parents=True)
        (home / "skills" / folder / "SKILL.md").write_text(text, encoding="utf-8")
    skills = find_skills(home)
    assert [(skill.name, skill.description) for skill in skills] == [
        ("broken", ""),
        ("deploy", "How we deploy, 蓝绿"),
        ("plain", ""),
    ]
    assert "- deploy: How we deploy, 蓝绿" in skills_block(skills)
    tool = skill_tool(home)
    assert "Steps: one, two." in tool.run({"name": "deploy"})
    with pytest.raises(NotFound, match="nothing-like-it"):
        tool.run({"name": "nothing-like-it"})
    assert skills_block([]) == ""
