"""The provider through its contract: configuration, tools, recall, mirroring, extraction, scope."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from hermes_state.errors import InvalidValue
from hermes_state.store import SessionDB
from memory.discovery import Discovery
from memory.errors import ProviderUnavailable, ToolNotHandled
from memory.provider import RecallStatus
from memory.providers.holographic.provider import HolographicProvider
from memory.providers.holographic.settings import HolographicSettings
from memory.providers.holographic.store import FactStore
from memory.signatures import Adapted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

USER = "user"


@pytest.fixture
def provider(home: Path) -> Iterator[HolographicProvider]:
    """An initialised provider of a home without configuration."""
    made = HolographicProvider()
    made.initialize("s1", hermes_home=str(home), platform="cli")
    yield made
    made.shutdown()


def call(provider: HolographicProvider, tool: str = "fact_store", **arguments: Any) -> dict[str, Any]:
    answer = json.loads(provider.handle_tool_call(tool, arguments))
    assert isinstance(answer, dict)
    return answer


def contents(provider: HolographicProvider) -> set[str]:
    return {fact["content"] for fact in call(provider, action="list", limit=100)["facts"]}


def configure(home: Path, **values: Any) -> None:
    lines = ["# mine", "plugins:", "  hermes-memory-store:"]
    lines += [f"    {key}: {json.dumps(value)}" for key, value in values.items()]
    (home / "config.yaml").write_text("\n".join(lines) + "\n")


def started(home: Path, **facts: Any) -> HolographicProvider:
    made = HolographicProvider()
    made.initialize("s1", hermes_home=str(home), **facts)
    return made


class TestContract:
    """What a host relies on."""

    def test_it_keeps_the_contract(self) -> None:
        adapted = Adapted(HolographicProvider())
        adapted.check()
        assert (adapted.name, adapted.checkpoint_api_version) == ("holographic", 2)

    def test_it_is_found_by_its_name(self, home: Path) -> None:
        assert isinstance(Discovery(home).load("holographic"), HolographicProvider)

    def test_schemas_are_valid_before_initialize(self) -> None:
        schemas = {schema["name"]: schema for schema in HolographicProvider().get_tool_schemas()}
        assert set(schemas) == {"fact_store", "fact_feedback"}
        actions = schemas["fact_store"]["parameters"]["properties"]["action"]["enum"]
        assert actions == ["add", "search", "probe", "related", "reason", "contradict", "update", "remove", "list"]
        json.dumps(list(schemas.values()))

    def test_before_initialize_and_after_shutdown_it_says_so(self, provider: HolographicProvider) -> None:
        provider.shutdown()
        provider.shutdown()
        for made in (provider, HolographicProvider()):
            with pytest.raises(ProviderUnavailable):
                made.prefetch("tea")

    def test_an_unknown_tool_is_not_its(self, provider: HolographicProvider) -> None:
        with pytest.raises(ToolNotHandled):
            provider.handle_tool_call("other", {})

    def test_the_prompt_says_how_many_facts_there_are(self, provider: HolographicProvider) -> None:
        assert "empty" in provider.system_prompt_block()
        call(provider, action="add", content="Likes tea")
        assert provider.system_prompt_block().startswith("# Holographic Memory\n1 fact")

    def test_inspection_changes_nothing(self, home: Path) -> None:
        SessionDB.open(home=home).close()
        made = HolographicProvider()
        made.initialize_for_inspection("s1", hermes_home=str(home))
        assert "empty" in made.system_prompt_block()
        made.shutdown()
        with SessionDB.open(home=home) as db, db.engine.read() as connection:
            names = connection.exec_driver_sql("SELECT name FROM sqlite_master").scalars().all()
        assert "fact_index" not in names


class TestTools:
    """The peer's arguments and results."""

    def test_add(self, provider: HolographicProvider) -> None:
        assert call(provider, action="add", content="Likes tea", tags="a,b") == {"fact_id": 1, "status": "added"}
        assert call(provider, action="add", content="Likes tea")["fact_id"] == 1

    def test_search_gives_facts_with_rank_and_score(self, provider: HolographicProvider) -> None:
        call(provider, action="add", content="Dana Okafor maintains redis", category="project", tags="ops")
        answer = call(provider, action="search", query="who maintains redis?")
        assert answer["count"] == 1
        assert set(answer["results"][0]) == {
            "fact_id",
            "content",
            "category",
            "tags",
            "trust_score",
            "retrieval_count",
            "helpful_count",
            "created_at",
            "updated_at",
            "fts_rank",
            "score",
        }
        assert call(provider, action="search", query="who maintains redis?", min_trust=0.9)["count"] == 0

    def test_entities(self, provider: HolographicProvider) -> None:
        for content in ("Dana Okafor maintains Borealis", "Wei Chen audits Borealis"):
            call(provider, action="add", content=content)
        assert call(provider, action="probe", entity="Dana Okafor")["count"] == 1
        assert call(provider, action="probe", entity="Dana Okafor", category="general")["bank"]["reliable"] is True
        related = call(provider, action="related", entity="Dana Okafor")
        assert [each.get("via") for each in related["results"]] == [None, "Borealis"]
        reason = call(provider, action="reason", entities=["Dana Okafor", "Wei Chen"])
        assert {each["via"] for each in reason["results"]} == {"Borealis"}

    def test_contradict_update_and_remove(self, provider: HolographicProvider) -> None:
        for content in ("Dana lives in Oslo", "Dana lives in Bergen"):
            call(provider, action="add", content=content)
        pair = call(provider, action="contradict")["results"][0]
        assert (pair["fact_a"]["fact_id"], pair["fact_b"]["fact_id"], pair["newer"]) == (1, 2, 2)
        assert {"entity_overlap", "content_similarity", "contradiction_score", "shared_entities"} <= set(pair)
        assert call(provider, action="update", fact_id=1, superseded_by="2") == {"updated": True}
        assert call(provider, action="contradict")["count"] == 0
        assert call(provider, action="update", fact_id="2", trust_delta="0.2") == {"updated": True}
        assert call(provider, action="list")["facts"][0]["trust_score"] == 0.7
        assert call(provider, action="remove", fact_id=2) == {"removed": True}
        assert call(provider, action="remove", fact_id=2) == {"removed": False}

    def test_feedback(self, provider: HolographicProvider) -> None:
        call(provider, action="add", content="Likes tea")
        assert call(provider, "fact_feedback", action="helpful", fact_id=1) == {
            "fact_id": 1,
            "old_trust": 0.5,
            "new_trust": 0.55,
            "helpful_count": 1,
        }
        assert "error" in call(provider, "fact_feedback", action="perhaps", fact_id=1)
        assert "error" in call(provider, "fact_feedback", action="helpful", fact_id=9)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({}, "Missing required argument: 'action'"),
            ({"action": "add"}, "Missing required argument: 'content'"),
            ({"action": "search"}, "Missing required argument: 'query'"),
            ({"action": "probe"}, "Missing required argument: 'entity'"),
            ({"action": "reason", "entities": []}, "Missing required argument: 'entities'"),
            ({"action": "update"}, "Missing required argument: 'fact_id'"),
            ({"action": "explode"}, "Unknown action: 'explode'"),
            ({"action": "remove", "fact_id": "first"}, "'fact_id' is a whole number, not 'first'"),
            ({"action": "list", "limit": "many"}, "'limit' is a whole number, not 'many'"),
        ],
    )
    def test_what_is_missing_is_said(self, provider: HolographicProvider, arguments: dict[str, Any], said: str) -> None:
        assert call(provider, **arguments)["error"] == said

    def test_an_update_to_what_another_fact_says_is_an_error_in_words(self, provider: HolographicProvider) -> None:
        for content in ("Likes tea", "Likes coffee"):
            call(provider, action="add", content=content)
        assert "fact 1 says so already" in call(provider, action="update", fact_id=2, content="Likes tea")["error"]


class TestRecall:
    """What a turn gets to see."""

    def test_b118_the_matching_fact_with_its_trust(self, provider: HolographicProvider) -> None:
        for content in ("The deploy key is in the vault", "Dana Okafor likes jazz", "王伟负责净值报表"):
            call(provider, action="add", content=content)
        assert provider.recall_status() is None
        assert provider.prefetch("where is the deploy key?", session_id="s1") == (
            "## Holographic Memory\n- [0.5] The deploy key is in the vault"
        )
        assert provider.recall_status() == RecallStatus("Holographic", 1)
        call(provider, "fact_feedback", action="helpful", fact_id=3)
        assert provider.prefetch("谁负责净值报表？") == "## Holographic Memory\n- [0.55] 王伟负责净值报表"

    def test_nothing_when_nothing_answers(self, provider: HolographicProvider) -> None:
        call(provider, action="add", content="The deploy key is in the vault")
        assert provider.prefetch("tell me a joke about penguins") == ""
        assert provider.recall_status() == RecallStatus("Holographic", 0)

    def test_threads_may_use_it_at_once(self, provider: HolographicProvider) -> None:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for step in range(8):
                    call(provider, action="add", content=f"Shelf {number} holds box {step}")
                    provider.prefetch(f"what does shelf {number} hold?")
                    provider.on_memory_write("add", "memory", f"Door {number} opens at {step}")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(contents(provider)) == 64


class TestMirroring:
    """The built-in memory, followed exactly."""

    def test_b107_add_replace_remove(self, provider: HolographicProvider) -> None:
        provider.on_memory_write("add", USER, "Likes jazz")
        assert contents(provider) == {"Likes jazz"}
        provider.on_memory_write("replace", USER, "Likes blues", {"old_text": "jazz", "previous_content": "Likes jazz"})
        assert contents(provider) == {"Likes blues"}
        provider.on_memory_write("remove", USER, "", {"old_text": "blues", "previous_content": "Likes blues"})
        assert contents(provider) == set()

    def test_a_host_that_tells_only_a_part_of_the_entry(self, provider: HolographicProvider) -> None:
        provider.on_memory_write("add", "memory", "Likes jazz on Sundays")
        provider.on_memory_write("add", "memory", "Likes blues on Sundays")
        provider.on_memory_write("remove", "memory", "Sundays")
        assert contents(provider) == {"Likes jazz on Sundays", "Likes blues on Sundays"}
        provider.on_memory_write("remove", "memory", "jazz")
        assert contents(provider) == {"Likes blues on Sundays"}
        provider.on_memory_write("replace", "memory", "Likes soul", {"old_text": "blues"})
        assert contents(provider) == {"Likes soul"}

    def test_the_target_is_the_category(self, provider: HolographicProvider) -> None:
        provider.on_memory_write("add", USER, "Likes jazz")
        provider.on_memory_write("add", "memory", "The server is called Heron")
        facts = call(provider, action="list")["facts"]
        assert {fact["content"]: fact["category"] for fact in facts} == {
            "Likes jazz": "user_pref",
            "The server is called Heron": "general",
        }

    def test_a_replacement_that_is_known_already_leaves_one(self, provider: HolographicProvider) -> None:
        for content in ("Likes jazz", "Likes blues"):
            provider.on_memory_write("add", USER, content)
        provider.on_memory_write("replace", USER, "Likes blues", {"previous_content": "Likes jazz"})
        assert contents(provider) == {"Likes blues"}

    def test_a_replacement_of_what_was_never_mirrored_is_added(self, provider: HolographicProvider) -> None:
        provider.on_memory_write("replace", USER, "Likes blues", {"previous_content": "Likes jazz"})
        assert contents(provider) == {"Likes blues"}

    def test_b091_what_one_user_said_is_nobody_elses_and_goes_with_the_entry(self, home: Path) -> None:
        ana, ben = started(home, user_id="ana"), started(home, user_id="ben")
        ana.on_memory_write("add", USER, "Likes jazz")
        assert ben.prefetch("who likes jazz?") == ""
        assert contents(ana) == {"Likes jazz"}
        ben.on_memory_write("remove", USER, "", {"previous_content": "Likes jazz"})
        assert contents(ana) == set()
        ana.shutdown()
        ben.shutdown()

    def test_removing_what_is_not_there_changes_nothing(self, provider: HolographicProvider) -> None:
        call(provider, action="add", content="Likes tea")
        provider.on_memory_write("remove", USER, "", {"previous_content": "Likes jazz"})
        assert contents(provider) == {"Likes tea"}


MESSAGES = [
    {"role": "user", "content": "I prefer tabs over spaces."},
    {"role": "assistant", "content": "I prefer spaces, noted."},
]
SUMMARY = {"role": "user", "content": "I prefer spaces.", "_compressed_summary": True}


class TestExtraction:
    """Facts out of what the user said."""

    @pytest.mark.parametrize("off", ["false", "no", 0, False, "", "off"])
    def test_b109_off_is_off_in_every_form(self, home: Path, off: Any) -> None:
        configure(home, auto_extract=off)
        provider = started(home)
        provider.on_session_end(MESSAGES)
        assert provider.on_pre_compress(MESSAGES) == ""
        assert contents(provider) == set()
        provider.shutdown()

    @pytest.mark.parametrize("on", ["true", "yes", 1, True])
    def test_b109_summaries_are_no_facts(self, home: Path, on: Any) -> None:
        configure(home, auto_extract=on)
        provider = started(home)
        provider.on_session_end([SUMMARY, *MESSAGES])
        assert len(contents(provider)) == 1
        assert "tabs over spaces" in contents(provider).pop()
        provider.on_session_end([SUMMARY, *MESSAGES])
        assert len(contents(provider)) == 1
        provider.shutdown()

    def test_b110_a_request_is_no_fact(self, home: Path) -> None:
        configure(home, auto_extract=True)
        provider = started(home)
        provider.on_session_end([{"role": "user", "content": "I like this plan, could you also rename the branch?"}])
        assert contents(provider) == set()
        provider.shutdown()

    def test_a_required_checkpoint_is_durable_and_says_what_was_kept(
        self, provider: HolographicProvider, home: Path
    ) -> None:
        """Also with `auto_extract` off, since the host refuses to compress without it; again adds nothing."""
        kept = provider.on_pre_compress(MESSAGES, require_checkpoint=True)
        assert "tabs over spaces" in kept
        with SessionDB.open(home=home, read_only=True) as db:
            assert FactStore(db.engine).count() == 1
        assert provider.on_pre_compress(MESSAGES, require_checkpoint=True) == kept
        assert len(contents(provider)) == 1
        assert provider.on_pre_compress([], require_checkpoint=True) == ""


class TestScope:
    """Whose facts are whose."""

    def test_a_user_of_a_gateway_has_facts_of_their_own(self, home: Path) -> None:
        ana = started(home, user_id="ana")
        call(ana, action="add", content="Is allergic to nuts")
        ben = started(home, user_id="ben")
        assert contents(ben) == set()
        assert call(ben, action="remove", fact_id=1) == {"removed": False}
        assert ben.prefetch("allergic to nuts?") == ""
        assert contents(ana) == {"Is allergic to nuts"}
        ana.shutdown()
        ben.shutdown()

    def test_b091_an_empty_user_is_none_and_a_chat_stands_in_for_one(self, home: Path) -> None:
        chat, other = started(home, user_id="", gateway_session_key="k1"), started(home, gateway_session_key="k2")
        call(chat, action="add", content="Is allergic to nuts")
        assert contents(other) == set()
        again = started(home, user_id="", gateway_session_key="k1")
        assert contents(again) == {"Is allergic to nuts"}
        for made in (chat, other, again):
            made.shutdown()

    def test_what_is_nobodys_is_everybodys(self, provider: HolographicProvider, home: Path) -> None:
        call(provider, action="add", content="The door code is 4711")
        ana = started(home, user_id="ana")
        assert contents(ana) == {"The door code is 4711"}
        ana.shutdown()

    def test_the_home_can_share_all_facts(self, home: Path) -> None:
        configure(home, scope="home")
        ana, ben = (started(home, user_id=user) for user in ("ana", "ben"))
        call(ana, action="add", content="Is allergic to nuts")
        assert contents(ben) == {"Is allergic to nuts"}
        ana.shutdown()
        ben.shutdown()

    def test_facts_of_a_conversation_go_with_it(self, home: Path) -> None:
        configure(home, scope="session")
        provider = started(home)
        call(provider, action="add", content="We are editing chapter 3")
        provider.on_session_switch("s1-2", parent_session_id="s1", reason="compression")
        assert contents(provider) == {"We are editing chapter 3"}
        provider.on_session_switch("s2", reset=True, reason="new_session")
        assert contents(provider) == set()
        provider.on_session_switch("s1", reason="resume")
        assert contents(provider) == {"We are editing chapter 3"}
        provider.shutdown()


class TestSettings:
    """The peer's keys, also as strings."""

    def test_defaults(self, home: Path) -> None:
        found = HolographicSettings.load(home)
        assert (found.auto_extract, found.default_trust, found.min_trust_threshold) == (False, 0.5, 0.3)
        assert (found.hrr_dim, found.hrr_weight, found.temporal_decay_half_life) == (1024, 0.3, 0.0)
        assert found.db_path == home / "memory_store.db"

    def test_strings_of_the_set_up(self, home: Path) -> None:
        configure(home, hrr_dim="512", default_trust="0.8", hrr_weight="0.5", temporal_decay_half_life="30")
        found = HolographicSettings.load(home)
        assert (found.hrr_dim, found.default_trust, found.hrr_weight) == (512, 0.8, 0.5)
        assert found.retrieval.half_life_days == 30.0
        assert found.retrieval.weights.vectors == 0.5

    def test_a_dimension_between_two_is_the_next(self, home: Path) -> None:
        configure(home, hrr_dim=1000)
        assert HolographicSettings.load(home).hrr_dim == 1008

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("auto_extract", "perhaps"),
            ("hrr_dim", "wide"),
            ("default_trust", True),
            ("hrr_weight", "nan"),
            ("scope", "x"),
        ],
    )
    def test_nonsense_is_refused_by_name(self, home: Path, key: str, value: Any) -> None:
        configure(home, **{key: value})
        with pytest.raises(InvalidValue, match=key):
            HolographicSettings.load(home)

    @pytest.mark.parametrize("written", ["$HERMES_HOME/f.db", "${HERMES_HOME}/f.db", "f.db"])
    def test_the_home_in_a_path(self, home: Path, written: str) -> None:
        configure(home, db_path=written)
        assert HolographicSettings.load(home).db_path == home / "f.db"

    def test_saving_keeps_other_keys_and_comments(self, home: Path) -> None:
        """Field report 5.1: other keys were dropped, comments lost, errors swallowed."""
        configure(home, hrr_weight=0.2)
        provider = HolographicProvider()
        provider.save_config({"auto_extract": "true", "default_trust": "0.6"}, str(home))
        assert (home / "config.yaml").read_text().startswith("# mine\n")
        found = HolographicSettings.load(home)
        assert (found.auto_extract, found.default_trust, found.hrr_weight) == (True, 0.6, 0.2)
        with pytest.raises(InvalidValue):
            provider.save_config({"default_trust": "much"}, str(home))

    def test_the_questions_have_the_peers_keys(self) -> None:
        keys = [item["key"] for item in HolographicProvider().get_config_schema()]
        assert keys == ["db_path", "auto_extract", "default_trust", "hrr_dim"]

    def test_a_store_of_its_own_is_backed_up(self, home: Path) -> None:
        assert HolographicProvider().backup_paths() == []
        configure(home, db_path="facts/mine.db")
        provider = started(home)
        call(provider, action="add", content="Likes tea")
        provider.shutdown()
        assert HolographicProvider().backup_paths() == [str(home / "facts" / "mine.db")]
        assert not (home / "hermes_state.db").exists()
