"""A full-text table as an engine would keep it, and the plainest possible rendering of a query for it."""

import importlib
from typing import Any

from hypothesis import strategies as st

from hermes_state.text import FTS5_TOKENIZE, And, Leaf, Not, Or, Term, index_text, parse, segment
from hermes_state.text import Any as AnyOf

# Pieces whose neighbourhood has rules of its own, mixed with whatever hypothesis finds.
FRAGMENTS = [
    "deploy", "Deployed", "parseHttpRequest", "HTTPServer", "C++", "c#", ".NET",
    "can't", "don’t", "l'homme", "v1.2.3", "2026-01-31T10:00:00Z", "snake_case",
    "lib/util.rs", "预算超支", "火", "設定ファイル", "ﾊﾞｶ", "서버재시작", "ㅋㅏ", "ไทยที่",
    "नमस्ते", "مَرحَبًا", "שָׁלוֹם", "Größe", "e\u0301", "и\u0306", "İı", "👍🏽",
    "👨‍👩‍👧", "🇩🇪🇫🇷", "1️⃣", "🈁", "€", "\u200d", "\u200b", "\ufe0f", "\ud800",
    "\udfff", "\x00", "\r\n", " ", "  ", "\t", "'", '"', "(", ")", "-", "*", ":",
    "AND", "OR", "NOT", "role:user", "after:2w", "x" * 70, "٣", "½", "ﷺ", "ß",
    "\u1100\u1161\u11a8", "、", "。", "・",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=12).map("".join)

# What the rules of segmentation turn on, one beside the other without anything between.
PARTS = st.sampled_from(
    [
        *(
            "foo",
            "fooBarBaz",
            "getHTTPResponse",
            "don't",
            "it’s",
            "O'Brien's",
            "C++",
            "c#",
            "F#x",
            "a++b",
            "++",
            "#",
            "'",
        ),
        *("*\ufe0f\u20e3", "*\u20e3", "#\u20e3", "1\ufe0f\u20e3", "👨‍👩‍👧", "👍🏽", "🇩🇪", "€", "\u200d", "\ufe0f"),
        *(
            "中文",
            "文中",
            "日本語テキスト",
            "한국어",
            "ภาษาไทย",
            "क्षि",
            "עברית",
            "١٢",
            "é",
            "e\u0301",
            "ﬁ",
            "ＡＢＣ",
            "İ",
            "ſ",
            "ß",
            "ـ",
        ),
        *(
            "1.2.3",
            "v1",
            "2026-01-31T10:00:00Z",
            ".NET",
            ".net",
            "x.net",
            "/",
            "_",
            "-",
            "+",
            ".",
            " ",
            "  ",
            "\n",
            "，",
        ),
        *(
            "\ud800",
            "\0",
            "A" * 70,
            "aB3" * 20,
            "data:image/png;base64,iVBOR/+a=",
            "aB3dE5" * 50,
            "¦",
            "\x1c",
            "\x85",
            "\u2028",
        ),
    ]
)


class Index:
    """Documents in an in-memory FTS5 table of one SQLite library."""

    def __init__(self, module: str) -> None:
        self.connection = importlib.import_module(module).connect(":memory:")
        self.connection.execute(f"CREATE VIRTUAL TABLE docs USING fts5(words, grams, {FTS5_TOKENIZE})")
        self.connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(docs, instance)")
        self.texts: list[str] = []

    def add(self, *texts: str) -> "Index":
        for text in texts:
            self.texts.append(text)
            row = (len(self.texts), *index_text(segment(text)))
            self.connection.execute("INSERT INTO docs (rowid, words, grams) VALUES (?, ?, ?)", row)
        return self

    def tokens(self, column: str) -> list[str]:
        sql = "SELECT term FROM vocabulary WHERE col = ? ORDER BY doc, offset"
        return [term for (term,) in self.connection.execute(sql, (column,))]

    def match(self, expression: str) -> list[str]:
        sql = "SELECT rowid FROM docs WHERE docs MATCH ? ORDER BY rowid"
        return [self.texts[rowid - 1] for (rowid,) in self.connection.execute(sql, (expression,))]

    def search(self, query: str) -> list[str]:
        node = parse(query).node
        if node is None:
            return []
        if isinstance(node, Not):
            excluded = self.match(render(node.operand, exact=True))
            return [text for text in self.texts if text not in excluded]
        return self.match(render(AnyOf((node,))))


def render(node: Any, *, exact: bool = False) -> str:
    if isinstance(node, Leaf):
        return "(" + " OR ".join(map(render_term, node.exact)) + ")"
    if isinstance(node, And):
        wanted = [render(each, exact=exact) for each in node.operands if not isinstance(each, Not)]
        excluded = [render(each.operand, exact=True) for each in node.operands if isinstance(each, Not)]
        return " NOT ".join([f"({' AND '.join(wanted)})", *excluded])
    assert isinstance(node, Or | AnyOf)
    operands = [render(each, exact=exact) for each in node.operands]
    if isinstance(node, AnyOf) and not exact:
        operands += [render_term(term) for each in node.operands if isinstance(each, Leaf) for term in each.bag]
    return "(" + " OR ".join(operands) + ")"


def render_term(term: Term) -> str:
    column, tokens = ("grams", term.grams) if term.grams else ("words", term.words)
    return f'{column} : "{" ".join(tokens)}"' + ("*" if term.prefix else "")
