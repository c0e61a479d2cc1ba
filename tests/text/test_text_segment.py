"""Segmentation: the tokens of a text."""

import random
import string
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import snowballstemmer.english_stemmer
from hypothesis import given
from hypothesis import strategies as st
from text_harness import TEXTS, Index

from hermes_state.text import SEGMENTATION, fold, segment, tokens
from hermes_state.text import stem as stemming
from hermes_state.text.segment import BOUNDARY, scan
from hermes_state.text.stem import stem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The jobs failed", ["the", "job", "fail"]),
        ("lib/util.rs snake_case k=v", ["lib", "util", "rs", "snake", "case", "k", "v"]),
        ("C++ C# F# .NET g++ node.js", ["c++", "c#", "f#", ".net", "g++", "node", "js"]),
        ("C++17 a++b foo#bar counter++", ["c++", "17", "a", "b", "foo", "bar", "counter"]),
        ("example.net", ["exampl", "net"]),
        ("can't don’t DON'T", ["cant", "dont", "dont"]),
        ("Kim's we're l'homme O'Brien", ["kim", "we", "l", "homm", "o", "brien"]),
        ("3.14 1,000 75% $9 #42", ["3", "14", "1", "000", "75", "9", "42"]),
        ("v1.2.3 2026-01-31T10:00:00Z", ["v", "1", "2", "3", "2026", "01", "31", "10", "00", "00"]),
        ("修改youer服务端", ["修", "改", "youer", "服", "务", "端"]),
        ("バックアップ々ー", ["バ", "ッ", "ク", "ア", "ッ", "プ", "々", "ー"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("👨‍👩‍👧👍🏽🇩🇪🇫🇷 1️⃣ €5", ["👨‍👩‍👧", "👍", "🇩🇪", "🇫🇷", "1\u20e3", "€", "5"]),
        ("a — b … “c”", ["a", "b", "c"]),
        ("", []),
        ("\x00\ud800 ..!", []),
    ],
)
def test_words_of_a_text(text, words):
    """Each kind of word has its own rule for where it begins and ends."""
    assert segment(text).words == words


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("预算超支", ["预算", "算超", "超支"]),
        ("火", []),
        ("预算，超支", ["预算", "超支"]),
        ("预算 算超", ["预算", BOUNDARY, "算超"]),
        ("plain", []),
        ("서버 재시작", ["서버", "재시", "시작"]),
        ("ที่นี่", ["ที่นี่"]),
    ],
)
def test_grams_of_a_text(text, grams):
    """Pairs follow each other within a run and never look like one run across two."""
    assert segment(text).grams == grams


@pytest.mark.parametrize("query", ["parseHttpRequest", "parsehttprequest", "http", "parse_http_request", "HttpRequest"])
def test_camel_case_is_found_whole_and_by_part(new_index, query):
    """A camelCase identifier is found in any case, by its parts, and as the same name in snake_case."""
    assert new_index("call parseHttpRequest now").search(query)


def test_camel_case_does_not_part_its_neighbours(new_index):
    """The parts of an identifier stand apart from the text, so that phrases through it still match."""
    index = new_index("call parseHttpRequest now")

    assert index.search('"call parseHttpRequest now"')
    assert not index.search('"now parse"')


def test_random_ids_have_no_parts():
    """An id of mixed case is one token and adds nothing."""
    assert segment("toolu_01A09q90qW90Lq91aB").words == ["toolu", "01a09q90qw90lq91ab"]


@pytest.mark.parametrize(
    "token",
    ["0198f2c4-7d1e-7a3b-9c55-3f2a8d1b6e40", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
)
def test_ids_and_digests_are_found(new_index, token):
    """A UUID and a SHA-256 are words."""
    assert new_index(f"digest {token} ok").search(token.upper())


@pytest.mark.parametrize("blob", ["x" * 65, "ab12" * 40, "0" * 100_000])
def test_long_opaque_runs_are_left_out(blob):
    """Encoded data is no word, and what stands around it stays."""
    assert segment(f"before {blob} after").words == ["befor", "after"]


def test_wrapped_base64_is_left_out():
    """Base64 in lines of 76 characters is left out as a whole."""
    data = random.Random(3).choices(string.ascii_letters + string.digits + "+/", k=76 * 30)
    lines = "\n".join("".join(data[start : start + 76]) for start in range(0, len(data), 76))

    assert segment(f"key:\n{lines}\ndone.").words == ["key", "done"]


@pytest.mark.parametrize(
    "text",
    [
        "/usr/local/lib/python3/site/packages/sqlalchemy/dialects/sqlite/base",
        "src/main/java/com/example/ServerFactory/HttpRequestHandler/ParserImpl" * 4,
        "\n".join(f"{number:064x}" for number in range(10)),
    ],
)
def test_long_paths_and_lists_of_digests_are_no_blobs(text):
    """What has separators or one case is text, however long."""
    assert len(segment(text).words) >= 10


@given(TEXTS)
def test_index_holds_exactly_the_tokens(text):
    """An FTS5 table gives back every token of a document, one to one and in order."""
    index = Index("sqlite3").add(text)
    segments = segment(text)

    assert index.tokens("words") == segments.words
    assert index.tokens("grams") == segments.grams


@given(TEXTS, st.data())
def test_every_slice_is_a_phrase_of_its_document(text, data):
    """Any consecutive words of a document match it as a phrase."""
    words = segment(text).words
    if words:
        start = data.draw(st.integers(0, len(words) - 1))
        end = data.draw(st.integers(start + 1, len(words)))
        assert Index("sqlite3").add(text).match(f'words : "{" ".join(words[start:end])}"')


@given(TEXTS, TEXTS)
def test_lines_are_segmented_alike_wherever_they_stand(first, second):
    """A line gives the same tokens alone and beside another, in whatever script that is."""
    joined = scan(f"{first}\n{second}").words

    assert joined == scan(first).words + scan(second).words


@given(TEXTS)
def test_tokens_are_clean(text):
    """No token is empty or holds what would part it or close a quotation."""
    for token in segment(text).words + segment(text).grams:
        assert token
        assert not set(token) & set(" \t\r\n\x00\"'")
        assert token in {fold(token), BOUNDARY}
        token.encode()


def test_pure_and_compiled_stemmers_agree():
    """A store written with one stemmer is read with the other."""
    pure = snowballstemmer.english_stemmer.EnglishStemmer()
    words = "deployed memories running possibilities generously skies dying relational conditional happy queries"

    assert [stem(word) for word in words.split()] == [pure.stemWord(word) for word in words.split()]


STEMS = ["cat", "univers", "gener", "commun", "bound", "enjoy", "yoy", "inn", "succ", "sk", "ly", "hopp"]
SUFFIXES = [
    "ational", "ator", "alism", "aliti", "fulness", "ousli", "iviti", "bli", "ogi", "ogist", "lessli", "alize", "iciti",
    "ical", "ative", "ance", "er", "ic", "able", "ant", "ement", "ism", "ate", "ous", "ive", "ize",
    "ion", "e", "ll", "y", "ed", "edly", "ing", "eedly", "ied", "ies", "sses", "us", "s",
]  # fmt: skip


def test_a_word_that_is_its_own_stem():
    """No word is left as it is that the stemmer would change, whatever suffixes stand before its last letters."""
    pure = snowballstemmer.english_stemmer.EnglishStemmer()
    for base in STEMS:
        for suffix in ("", *SUFFIXES):
            for end in (*string.ascii_lowercase, *SUFFIXES):
                assert stem(base + suffix + end) == pure.stemWord(base + suffix + end)


def test_without_the_compiled_stemmer_the_pure_one_is_used(monkeypatch):
    """The compiled stemmer is a matter of speed only."""

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(stemming, "import_module", absent)

    assert stemming._choose_stemmer()("deployed") == stem("deployed")


def test_a_stemmer_of_another_release_is_not_used(monkeypatch):
    """Two releases of the stemmer may differ, so the compiled one is used only when it is the same release."""
    other = SimpleNamespace(version=lambda: "1.0.0", Stemmer=None)
    monkeypatch.setattr(stemming, "import_module", lambda name: other)

    assert stemming._choose_stemmer()("deployed") == stem("deployed")


def test_threads_share_the_vocabulary(monkeypatch):
    """Threads that segment at once get what one alone gets, also while the vocabulary starts afresh."""
    monkeypatch.setattr(tokens, "MAX_REMEMBERED", 20)
    texts = [f"v{number} word{number}s can't parseHttpRequest{number % 7} {'x' * 70} deployed" for number in range(300)]
    alone = list(map(segment, texts))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(segment, texts)) == alone


def test_other_processes_get_the_same_tokens():
    """Segmentation depends on nothing that differs between two runs of Python."""
    text = "Deployed parseHttpRequest 预算超支 👍"
    script = f"from hermes_state.text import *; print(ascii((SEGMENTATION, segment({text!a}))))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == ascii((SEGMENTATION, segment(text)))
