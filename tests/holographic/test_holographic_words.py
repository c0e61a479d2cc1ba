"""What a question and a fact have in common: words without their endings, and who does what to whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.providers.holographic.content_words import content_words
from memory.providers.holographic.entities import extract
from memory.providers.holographic.korean_stems import stem
from memory.providers.holographic.question import ask, ask_each
from memory.providers.holographic.roles import AGENT, PATIENT, roles


@pytest.mark.parametrize(
    "forms",
    [
        ("마신다", "마시나요", "마셨다"),
        ("소개한", "소개했다", "소개하나요", "소개합니다"),
        ("가르친", "가르칠", "가르쳤다"),
        ("전송된다", "전송되나요"),
        ("황보라의", "황보라는", "황보라에게", "황보라"),
        ("고객들은", "고객이", "고객"),
        ("직원이다", "직원은", "직원인가요"),
        ("서울에서는", "서울로", "서울"),
    ],
)
def test_forms_of_a_korean_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form).key for form in forms}) == 1
    assert all(form.startswith(stem(form).shown) or len(stem(form).shown) <= 2 for form in forms)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Dana maintains the redis cluster", {"dana", "maintain", "redi", "cluster"}),
        ("エミリー・ブラウンを雇いましたか？", {"エミリー", "ブラウン", "雇"}),
        ("배두나를 쿠팡에 소개한 사람은 누구인가요?", {"배두나", "쿠팡", "소개"}),
        ("谢娜在屋顶养什么？", {"谢娜", "娜在", "在屋", "屋顶", "顶养"}),
        ("什么", {"什么"}),
    ],
)
def test_content_words(text: str, words: set[str]) -> None:
    assert set(content_words(text)) == words


@given(st.text(max_size=80))
def test_any_text_has_words_and_roles(text: str) -> None:
    assert all(isinstance(word, str) and word for word in content_words(text))
    found = extract(text)
    assert roles(text, found).keys() <= {entity.key for entity in found}
    ask(text)


@pytest.mark.parametrize(
    ("text", "agents", "patients"),
    [
        ("Alice introduced Bob to Carol Smith", {"alice"}, {"bob", "carol smith"}),
        ("Who introduced Bob to GitLab?", set(), {"bob", "gitlab"}),
        ("Whom did Alice introduce?", {"alice"}, set()),
        ("Bob was introduced by Alice", {"alice"}, {"bob"}),
        ("Alice's boat is in Oslo", set(), set()),
        ("カルロスが井上真央を任天堂に紹介した。", {"カルロス"}, {"井上真央", "任天堂"}),
        ("井上真央を紹介したのは誰ですか？", set(), {"井上真央"}),
        ("井上真央はカルロスに推薦された。", {"カルロス"}, {"井上真央"}),
        ("황정민이 송강호를 소개했다.", {"황정민"}, {"송강호"}),
        ("송강호를 소개한 사람은 누구인가요?", set(), {"송강호"}),
        ("李娜把王伟介绍给了腾讯。", {"李娜"}, {"王伟", "腾讯"}),
        ("谁把王伟介绍给腾讯？", set(), {"王伟", "腾讯"}),
        ("王伟在腾讯被李娜发现了。", {"李娜"}, {"王伟"}),
    ],
)
def test_who_does_what_to_whom(text: str, agents: set[str], patients: set[str]) -> None:
    found = roles(text, extract(text))
    assert {key for key, role in found.items() if role == AGENT} == agents
    assert {key for key, role in found.items() if role == PATIENT} == patients


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("慕容复的发票开给谁？", "慕容复"),
        ("段誉认为应该先升级什么？", "段誉"),
        ("알렉산더는 누구와 책상을 쓰나요?", "알렉산더"),
    ],
)
def test_a_question_names_whom_no_fact_knows(question: str, name: str) -> None:
    assert name in [entity.name for entity in ask(question).entities]


def test_a_pronoun_speaks_of_what_was_named_before() -> None:
    first, second = ask_each(["What does the office of Igor lack?", "Has it an elevator?"])
    assert second.entities == first.entities != ()
    assert ask_each(["Igor called.", "Where are the keys?"])[1].entities == ()
