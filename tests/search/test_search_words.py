"""What is found by what: identifiers, punctuation, scripts, forms of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from search_world import texts

from hermes_state.engine import sqlite_index

if TYPE_CHECKING:
    from search_world import Say

    from hermes_state import SessionDB

MIXED = (
    "ticket #42 in lib/util.rs: can't do more than 75%, ask kim@example.net why? costs $9, see p,q and [done] in "
    r"D:\logs or r|s where k=v and m<n near ~z"
)


@pytest.mark.parametrize(
    ("query", "count"), [("blue-green", 1), ("zzz OR blue-green OR canary", 2), ("db-07", 1), ("REQ-907", 1)]
)
def test_hyphenated_words_are_phrases_and_no_operators(db: SessionDB, say: Say, query: str, count: int) -> None:
    """B001: a hyphen is no column filter, alone or inside OR."""
    say("the blue-green rollout", "canary list", "green blue", "host db-07 is down", "see REQ-907")
    assert len(texts(db, query)) == count


@pytest.mark.parametrize(
    "query",
    ["#42", "lib/util.rs", "can't", "75%", "kim@example.net", "why?", "$9", "p,q", "[done]", r"D:\logs", "r|s", "k=v",
     "m<n", "~z"],
)  # fmt: skip
def test_punctuated_words_find_their_message_only(db: SessionDB, say: Say, query: str) -> None:
    """B002: no character of a query is an error or silently nothing."""
    say(MIXED, "nothing here")
    assert texts(db, query) == [MIXED]


@pytest.mark.parametrize(
    ("query", "count"),
    [("预算超支", 2), ("纪要", 1), ("报表", 1), ("火", 0), ("設定ファイル", 1), ("재시작", 1), ("算", 2)],
)
def test_words_inside_runs_without_spaces_are_found(db: SessionDB, say: Say, query: str, count: int) -> None:
    """B004: Chinese, Japanese and Korean words are found inside a run, of one character as of four."""
    say("会议纪要里的预算超支问题", "预算超支", "季度报表", "この設定ファイルは古い", "서버재시작이 필요하다")
    assert len(texts(db, query)) == count


@pytest.mark.parametrize(
    ("query", "count"), [("苏州 OR 杭州 OR 西湖 OR 出差", 4), ("苏州 AND 杭州", 0), ("苏州 NOT 杭州", 1)]
)
def test_operators_work_on_two_character_words(db: SessionDB, say: Say, query: str, count: int) -> None:
    """B005: AND, OR and NOT mean the same in every script."""
    say("苏州", "杭州", "西湖", "出差")
    assert len(texts(db, query)) == count
    assert texts(db, query, role="assistant") == []


@pytest.mark.parametrize(("query", "found"), [("80%以", ["完成度80%以上"]), ("完_度", [])])
def test_percent_and_underscore_are_no_wildcards(db: SessionDB, say: Say, query: str, found: list[str]) -> None:
    """B007: what LIKE takes for wildcards are characters."""
    say("完成度80%以上", "完成度80分以上")
    assert texts(db, query) == found


def test_images_are_not_indexed_and_text_beside_them_is(db: SessionDB, say: Say) -> None:
    """B008: encoded data stays out of the index; the message comes back as it went in."""
    data = "iVBORw0KGgoAAAANSUhEUgAA" * 3000
    content = [
        {"type": "text", "text": "red bicycle"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
    say(*[{"role": "user", "content": content}] * 3)
    assert texts(db, "bicycle") == [content] * 3
    assert texts(db, "iVBORw0KGgoAAAANSUhEUgAA") == []


@pytest.mark.parametrize("query", ["tk-9zfx", "9zfx", "tk", "4mma", "TK-9ZFX"])
def test_short_ids_are_found_whole_and_in_parts(db: SessionDB, say: Say, query: str) -> None:
    """B017: an id of mixed letters and digits is a word like any other."""
    say("closed tk-9zfx and tk-4mma", "something else")
    assert texts(db, query) == ["closed tk-9zfx and tk-4mma"]


def test_latin_glued_to_cjk_and_accents_and_forms_are_found(db: SessionDB, say: Say) -> None:
    """Mixed script, accents, width and English forms fold together."""
    say("修改youer服务端", "GRÖSSE der Datei", "Ｄｏｃｋｅｒ läuft", "she was running late")
    assert texts(db, "youer") == ["修改youer服务端"]
    assert texts(db, "größe") == ["GRÖSSE der Datei"]
    assert texts(db, "docker") == ["Ｄｏｃｋｅｒ läuft"]
    assert texts(db, "run") == ["she was running late"]


def test_tool_calls_are_searched(db: SessionDB, say: Say) -> None:
    """What a tool was called with is part of what was said."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "terminal", "arguments": '{"command": "kubectl drain node7"}'},
    }
    say({"role": "assistant", "content": None, "tool_calls": [call]})
    hits = db.search.messages("kubectl node7")
    assert [hit.role for hit in hits] == ["assistant"]
    assert "kubectl" in hits[0].snippet


@pytest.mark.parametrize(
    "query",
    ["", "   ", "AND", "NOT", "OR OR", '"', "((((", "a NEAR b", "*", "col:x", "-", "role:", "\x00",
     "\ud800", "words : x",
     'x" OR "y', "^a", "a^", "{words} : a", "NEAR(a b)", "+", "'", "a*b*", "after:nonsense x", "is:nothing"],
)  # fmt: skip
def test_no_query_is_an_error(db: SessionDB, say: Say, query: str) -> None:
    """Hostile and broken input is read as text, in both searches and every order."""
    say("a x y words")
    for sort in ("relevance", "newest", "oldest"):
        db.search.messages(query, sort=sort)
        db.search.conversations(query, sort=sort)


@pytest.mark.parametrize("is_large", [False, True])
def test_prefixes_find_all_words_that_begin_so(
    db: SessionDB, say: Say, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    """A prefix means the same whether the index looks it up or it is spelled out."""
    if is_large:
        monkeypatch.setattr(sqlite_index, "SPELL_OUT_FROM", 0)
        monkeypatch.setattr(sqlite_index, "SPELL_OUT_ALL_FROM", 0)
    say(
        "deploying now",
        "deployed",
        "the deployment",
        "depart",
        "déployé",
        "deployflux deploy",
        "blue-green",
        "blue-grey",
    )
    assert set(texts(db, "deplo*")) == {"deploying now", "deployed", "the deployment", "déployé", "deployflux deploy"}
    assert texts(db, "deplo* AND now") == ["deploying now"]
    assert len(texts(db, "dep* -deplo*")) == 1
    assert set(texts(db, "blue-gre*")) == {"blue-green", "blue-grey"}
    assert texts(db, "xyz*") == []
    assert len(texts(db, "deplo*", sort="newest")) == 5


def test_irregular_forms_are_found_unless_quoted(db: SessionDB, say: Say) -> None:
    """A question asks where somebody went, the answer says that they go; a quotation means what it says."""
    say("we go to Lisbon", "she went to Porto", "the kids of my wife", "children's books")
    assert set(texts(db, "went")) == {"we go to Lisbon", "she went to Porto"}
    assert texts(db, '"went"') == ["she went to Porto"]
    assert texts(db, "child") == ["children's books"]
    assert ">>>went<<<" in next(hit.snippet for hit in db.search.messages("go Porto"))
