"""The gate before recall: small talk in many languages is let through without recall, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import small_talk
from memory.trivial import TRIVIAL_PROMPT_RE, is_continuation, is_trivial_prompt

ENGLISH_WORDS = """
yes | no | ok | okay | sure | thanks | thank you | y | n | yep | nope | yeah | nah | hi | hey |
hello | yo | sup | continue | go ahead | do it | proceed | got it | cool | nice | great | done |
next | lgtm | k
"""
SMALL_TALK = """
好的 | 好的！ | 谢谢 | 謝謝 | 谢谢～ | 继续 | 好的，谢谢！ | 好的谢谢 | 嗯嗯 | 👌好的 | 可以 |
没问题 | 你好 | はい | はい。 | ありがとうございます | 続けて | お願いします | 了解です！ | 네 |
네! | 감사합니다 | 계속 | 계속해줘 | ㅇㅇ | ㅇㅋ | 안녕하세요 | gracias | ¡Gracias! | Sí | SI |
continúa | vale | merci | MERCI! | oui | d'accord | d’accord | vas-y | danke | Danke! | ja | weiter |
obrigado | Olá! | sim | não | спасибо | Спасибо! | да | дальше | ладно | شكرا | شكراً | نعم | استمر |
أكمل | حسنًا | धन्यवाद | हाँ | नहीं | नमस्ते | ok👍 | 👍🏽 | 👨‍👩‍👧 | 🙏🙏 | ❤️ | ... | ？ | ！！ |
… | — | /help | / | /new | ／help | ＯＫ | ok！
"""
NO_SMALL_TALK = """
okapi | nothing works | 好的代码在哪 | yesterday | nobody answers | note | hi-fi | high | yolo |
next.js | no, use tabs | yes but why | ok so what about the deploy | do it in rust |
thanks for the fish, now fix it | continue with the bike | done?! where | k8s | n+1 | C++ | 1 | 1️⃣ |
+1 | 继续修烤箱 | 谢谢你的代码 | 好吃 | 不锈钢 | はいた | 次郎 | 네이버 | 계속되는 오류 | sinfonía |
novela | jaguar | Weiterbildung | ouille | merci de corriger | danach | simulation | nota | данные |
нетто | лада | نعمة | لاجئ | हाथी | नहीं चल रहा | /etc/hosts is broken | /usr/bin/python | 烤箱 |
オーブン | 오븐 | oven | 👍 the oven | ok, thanks
"""


def listed(phrases: str) -> list[str]:
    return [phrase.strip() for phrase in phrases.replace("\n", " ").split(" | ")]


ENGLISH = listed(ENGLISH_WORDS)


@pytest.mark.parametrize("word", ENGLISH)
@pytest.mark.parametrize("form", ["{}", " {}! ", "{}...", "{}👍", "{}？"])
def test_the_english_words_of_the_peer_are_trivial(word: str, form: str) -> None:
    for text in (form.format(word), form.format(word.upper())):
        assert is_trivial_prompt(text), text
    assert TRIVIAL_PROMPT_RE.match(f"{word}!!")


@pytest.mark.parametrize(
    "text",
    listed(SMALL_TALK),
)
def test_one_word_of_small_talk_is_trivial(text: str) -> None:
    assert is_trivial_prompt(text), text


@pytest.mark.parametrize(
    "text",
    [
        "", "  \n", "muchas gracias", "por supuesto", "oui, merci !", "да, спасибо", "네, 감사합니다", "sí gracias",
        "ठीक है",
        "آه، شكرا", "السلام عليكم", "vielen Dank!", "muito obrigada :)",
        "/model gpt-5 fast", "/remember the oven is E24",
        "thank  you", "\u200eشكرا\u200f",
    ],
)  # fmt: skip
def test_phrases_of_small_talk_are_trivial(text: str) -> None:
    assert is_trivial_prompt(text), text


@pytest.mark.parametrize(
    "text",
    [*listed(NO_SMALL_TALK), "好" * 100],
)
def test_what_only_starts_like_small_talk_is_not(text: str) -> None:
    assert not is_trivial_prompt(text), text


ASKED = [
    "Shall I delete the branch?",
    "Delete it? (yes/no)",
    "Which one?\n\n1. the oven\n2. the bike",
    "要删除这个分支吗？",
    "要删除这个分支吗",
    "続けますか。",
    "계속할까요?",
    "¿Lo borro?",
    "هل أحذفه؟",
    "**Do you want that?**",
]


@pytest.mark.parametrize("said", ASKED)
@pytest.mark.parametrize(
    "answer", ["yes", "no", "好的", "不", "はい", "네", "sí", "oui", "nein", "да", "لا", "हाँ", "👍", "next", "k"]
)
def test_an_answer_to_a_question_is_not_dropped(said: str, answer: str) -> None:
    assert is_trivial_prompt(answer)
    assert not is_trivial_prompt(answer, after=said)


@pytest.mark.parametrize("text", ["", "thanks", "谢谢!", "hello", "/new", "...", "ありがとう"])
def test_courtesy_answers_no_question(text: str) -> None:
    assert is_trivial_prompt(text, after=ASKED[0])


@pytest.mark.parametrize("said", ["The oven is clean.", "See https://x.y/?q=1&a=2 .", "烤箱干净了。", "", " "])
def test_without_a_question_an_answer_is_small_talk(said: str) -> None:
    assert is_trivial_prompt("yes", after=said)
    assert is_trivial_prompt("👍", after=said)


@pytest.mark.parametrize(
    "text",
    ["continue", "Next!", "go ahead", "继续", "好的，继续", "続けて", "계속", "sigue", "vas-y", "weiter", "próximo",
     "дальше", "استمر", "आगे"],
)  # fmt: skip
def test_in_the_middle_of_a_task_the_order_to_go_on_means_that_task(text: str) -> None:
    """Where the caller says what the task is; plainly asked it is small talk, as for the peer."""
    assert is_trivial_prompt(text)
    assert is_continuation(text)
    assert not is_trivial_prompt(text, after="I cleaned the oven; the bike comes next.")


@pytest.mark.parametrize(
    "text", ["", "ok", "thanks", "👍", "/next", "continue with the bike", "next.js", "好的", "继续修烤箱"]
)
def test_other_messages_are_no_order_to_go_on(text: str) -> None:
    assert not is_continuation(text)


def test_every_phrase_of_the_tables_is_trivial() -> None:
    tables = [*small_talk.ANSWERS.values(), *small_talk.GO_ON.values(), *small_talk.COURTESY.values()]
    phrases = [phrase for table in tables for phrase in table.split("|")]
    assert [phrase for phrase in phrases if not is_trivial_prompt(phrase)] == []
    assert len(small_talk.ANSWERS) == len(small_talk.GO_ON) == len(small_talk.COURTESY) == 10


@given(st.text(max_size=100), st.none() | st.text(max_size=20))
def test_any_text_gets_an_answer(text: str, after: str | None) -> None:
    assert is_trivial_prompt(text, after=after) in (True, False)
    assert is_continuation(text) in (True, False)
