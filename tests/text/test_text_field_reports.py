"""The queries that people reported as broken in other stores."""

import base64
import random

import pytest

PUNCTUATED = [
    *("#42", "lib/util.rs", "can't", "75%", "kim@example.net", "why?", "$9", "p,q", "[done]", "D:\\logs"),
    *("r|s", "k=v", "m<n", "~z"),
]


@pytest.mark.parametrize("query", ["blue-green", "db-07", "REQ-907"])
def test_hyphenated_word_is_found_as_typed(new_index, query):
    """A hyphenated token matches as a phrase, and not its parts in another order."""
    index = new_index("the blue-green rollout", "green blue", "db-07 is slow", "07 db", "see REQ-907", "907 req")

    assert len(index.search(query)) == 1


def test_hyphenated_word_among_alternatives(new_index):
    """A hyphen does not break the OR query it stands in."""
    index = new_index("the blue-green rollout", "canary list", "green blue")

    assert index.search("zzz OR blue-green OR canary") == ["the blue-green rollout", "canary list"]


@pytest.mark.parametrize("query", PUNCTUATED)
def test_punctuated_query_finds_its_message(new_index, query):
    """Punctuation in a query is never an error and never an empty answer."""
    message = ", ".join(PUNCTUATED)

    assert new_index(message, "nothing here").search(query) == [message]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("预算超支", ["会议纪要里的预算超支问题", "预算超支"]),
        ("纪要", ["会议纪要里的预算超支问题"]),
        ("报表", ["季度报表"]),
        ("火", []),
        ("設定ファイル", ["この設定ファイルは古い"]),
        ("재시작", ["서버재시작이 필요하다"]),
        ("ไฟล์", ["เปิดไฟล์นี้ไม่ได้"]),
        ("表", ["季度报表"]),
    ],
)
def test_substring_in_a_script_without_spaces(new_index, query, found):
    """A word is found inside a run of Chinese, Japanese, Korean or Thai, however short."""
    index = new_index(
        "会议纪要里的预算超支问题",
        "预算超支",
        "季度报表",
        "この設定ファイルは古い",
        "서버재시작이 필요하다",
        "เปิดไฟล์นี้ไม่ได้",
    )

    assert index.search(query) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("苏州 OR 杭州 OR 西湖 OR 出差", 4),
        ("苏州 AND 杭州", 0),
        ("苏州 NOT 杭州", 1),
        ("苏州 -杭州", 1),
        ("（苏州 OR 杭州） AND 游", 1),
    ],
)
def test_operators_on_two_character_words(new_index, query, found):
    """Operators mean the same between words of two characters."""
    assert len(new_index("去苏州", "杭州游", "西湖", "出差").search(query)) == found


@pytest.mark.parametrize(("query", "found"), [("80%以", ["完成度80%以上"]), ("完_度", []), ("%", []), ("_", [])])
def test_percent_and_underscore_are_no_wildcards(new_index, query, found):
    """What a LIKE would take for a wildcard is text."""
    assert new_index("完成度80%以上", "完成度80分以上").search(query) == found


@pytest.mark.parametrize("query", ["tk-9zfx", "9zfx", "tk", "4mma", "TK-9ZFX"])
def test_identifier_and_its_parts(new_index, query):
    """An identifier is found whole, by each part and in any case."""
    assert new_index("closed tk-9zfx and tk-4mma").search(query)


def test_embedded_image_stays_out_of_the_index(new_index):
    """A data URL of 600 kB adds no token, and the words around it are found."""
    data = base64.b64encode(random.Random(8).randbytes(450_000)).decode()
    index = new_index(f"red bicycle data:image/png;base64,{data} end")

    assert index.tokens("words") == ["red", "bicycl", "end"]
    assert index.search(data[1000:1040]) == []


@pytest.mark.parametrize(
    "query", ["don't", "src/main.py", "alice@example.com", "#123", "50%", "ok?", "--flag", "-rf", "mail NEAR issue"]
)
def test_query_that_looks_like_syntax(new_index, query):
    """What is syntax elsewhere is text here."""
    index = new_index(f"see {query} there")

    assert index.search(query)


def test_lower_case_not_is_a_word(new_index):
    """`not working` looks for both words and excludes nothing."""
    assert new_index("it is not working").search("not working") == ["it is not working"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("修改youer服务端", "youer"),
        ("重跑gen-itgc后", "gen"),
        ("重跑gen-itgc后", "gen-itgc"),
        ("重跑gen-itgc后", "重跑gen-itgc后"),
        ("Ｄｏｃｋｅｒ", "docker"),
        ("GRÖSSE", "Größe"),
        ("grosse", "größe"),
        ("it is running", "run"),
        ("run", "running"),
        ("naïve café", "CAFE"),
        ("Ёлка", "елка"),
        ("ﾊﾞｯｸｱｯﾌﾟ", "バックアップ"),
        ("نمی‌دانم", "نميدانم"),
        ("مَرحَبًا بالعالم", "مرحبا"),
        ("٣٫٥", "3"),
    ],
)
def test_spellings_that_are_the_same_word(new_index, text, query):
    """Width, case, accents, points, endings and glued scripts do not hide a word."""
    assert new_index(text).search(query) == [text]
