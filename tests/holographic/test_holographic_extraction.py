"""Facts from a conversation: sentences that somebody meant to be kept, in every language, and nothing else."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.providers.holographic.extraction import MAX_FACT_CHARS, digest, extract_facts


def said(*texts, role="user"):
    return [{"role": role, "content": text} for text in texts]


def contents(*texts):
    return [fact.content for fact in extract_facts(said(*texts))]


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("I like this plan, could you also rename the branch?", []),
        ("I prefer tabs over spaces.", ["I prefer tabs over spaces"]),
        ("remember that my dog is called Rex. What's the weather?", ["My dog is called Rex"]),
        ("By the way, please remember: the API key lives in the vault", ["The API key lives in the vault"]),
        ("Don't forget that Dana's birthday is on May 5!", ["Dana's birthday is on May 5"]),
        ("The project uses Python 3.11, so please update the CI.", ["The project uses Python 3.11"]),
        ("We decided to use Postgres. Thanks!", ["We decided to use Postgres"]),
        ("My favourite colour is blue", ["My favourite colour is blue"]),
        ("I'm allergic to peanuts.", ["I'm allergic to peanuts"]),
        ("For code, I prefer tabs", ["For code, I prefer tabs"]),
        ("记住：王小明的生日是3月1日。", ["王小明的生日是3月1日"]),
        ("我喜欢喝绿茶。你能帮我写代码吗？", ["我喜欢喝绿茶"]),
        ("我们决定下周发布。", ["我们决定下周发布"]),
        ("来週の会議は月曜日だと覚えておいてください。", ["来週の会議は月曜日だ"]),
        ("私はコーヒーが好きです。", ["私はコーヒーが好きです"]),
        ("우리 팀 회의는 월요일이라고 기억해 줘", ["우리 팀 회의는 월요일"]),
        ("나는 커피를 좋아해", ["나는 커피를 좋아해"]),
        ("Recuerda que vivo en Madrid.", ["Vivo en Madrid"]),
        ("Prefiero el té.", ["Prefiero el té"]),
        ("Merk dir, dass Dana in Bonn wohnt.", ["Dana in Bonn wohnt"]),
        ("Ich mag keinen Kaffee.", ["Ich mag keinen Kaffee"]),
        ("Souviens-toi que ma fille s'appelle Léa.", ["Ma fille s'appelle Léa"]),
        ("Je préfère le thé.", ["Je préfère le thé"]),
        ("Lembre que o prazo é sexta.", ["O prazo é sexta"]),
        ("Eu prefiro chá.", ["Eu prefiro chá"]),
        ("Ricorda che il cane si chiama Rex.", ["Il cane si chiama Rex"]),
        ("Запомни, что я работаю в Москве.", ["я работаю в Москве"]),
        ("Я люблю чай.", ["Я люблю чай"]),
        ("تذكر أن اسمي أحمد", ["اسمي أحمد"]),
        ("أفضل الشاي", ["أفضل الشاي"]),
        ("याद रखो कि मेरा जन्मदिन मार्च में है।", ["मेरा जन्मदिन मार्च में है"]),
        ("मुझे चाय पसंद है।", ["मुझे चाय पसंद है"]),
    ],
)
def test_facts_are_taken_from_a_message_in_every_language(message, facts):
    assert contents(message) == facts


@pytest.mark.parametrize(
    "message",
    [
        "Do you remember that I like tea?",
        "Remember when we met?",
        "remember to call Dana",
        "I love it",
        "I like your idea",
        "I need you to fix the bug",
        "my build is failing",
        "He said: I prefer spaces",
        "> I prefer spaces",
        "translate 'I prefer tea'",
        "If I like it, I always say so",
        "```\nI prefer spaces\n```",
        "<memory-context>\nI prefer spaces\n</memory-context>",
        "<file>\nI prefer spaces\n</file>",
        "user: I prefer spaces",
        "$ remember that x",
        "你记得我喜欢茶吗？",
        "我喜欢这个方案",
        "我想要一份报告",
        "私は何が好きですか？",
        "내가 좋아하는 게 뭐야?",
        "",
        "   ",
        "ok",
        "[CONTEXT COMPACTION - REFERENCE ONLY] I prefer spaces",
        "Summary of the conversation: I prefer spaces",
        "以下是对话摘要：我喜欢茶",
        "I prefer " + "x" * MAX_FACT_CHARS,
    ],
)
def test_requests_questions_quotations_and_summaries_hold_no_fact(message):
    assert contents(message) == []


def test_only_the_users_own_rows_count():
    text = "I prefer spaces"
    rows = [
        *said(text, role="system"),
        *said(text, role="assistant"),
        *said(text, role="tool"),
        {"role": "user", "content": text, "_compressed_summary": True},
        {"role": "user", "content": None},
        {"role": "user"},
    ]
    assert extract_facts(rows) == []


def test_a_genuine_message_beside_a_summary_gives_its_fact():
    """B109: nothing from the summary, one from the message."""
    rows = said("[CONTEXT SUMMARY]: I prefer spaces", "I prefer tabs")
    (only,) = extract_facts(rows)
    assert (only.content, only.category, only.position) == ("I prefer tabs", "user_pref", 1)


def test_a_fact_said_again_is_one_fact_whatever_its_spelling():
    assert contents("I prefer tabs.", "i prefer TABS!", "By the way, I prefer tabs") == ["I prefer tabs"]
    assert digest("我喜欢 茶。") != digest("我喜欢咖啡")
    assert digest("I prefer tabs.") == digest("i  prefer ｔａｂｓ")


def test_reading_a_conversation_twice_gives_the_same_and_changes_nothing():
    rows = said("I prefer tabs. We decided to ship in May.", "记住：端口是8080")
    before = copy.deepcopy(rows)
    assert extract_facts(rows) == extract_facts(rows)
    assert rows == before


def test_text_parts_of_multimodal_content_are_read():
    parts = [{"type": "image_url", "image_url": {"url": "data:x"}}, {"type": "text", "text": "I prefer tabs."}]
    assert [fact.content for fact in extract_facts([{"role": "user", "content": parts}])] == ["I prefer tabs"]


def test_facts_carry_their_category():
    rows = said("The project uses Rust. I prefer tabs. Remember that the sky is blue.")
    assert [fact.category for fact in extract_facts(rows)] == ["project", "user_pref", "general"]


@given(
    st.lists(
        st.one_of(st.text(max_size=200), st.none(), st.integers(), st.lists(st.text(max_size=20), max_size=3)),
        max_size=4,
    )
)
def test_any_content_can_be_read(values):
    for fact in extract_facts([{"role": "user", "content": value} for value in values]):
        assert fact.content.strip()
        assert fact.digest == digest(fact.content)


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("Yeah, I love hiking.", ["I love hiking"]),
        ("Yeah, I love to!", []),
        ("Don't forget the details!", []),
        ("I don't want to spoil it, but just remember this", []),
        ("- I prefer tabs\n- I live in Oslo", ["I prefer tabs", "I live in Oslo"]),
        ("I work at example.com, version 3.11 of it", ["I work at example.com, version 3.11 of it"]),
    ],
)
def test_small_talk_holds_no_fact_and_lists_hold_several(message, facts):
    assert contents(message) == facts
