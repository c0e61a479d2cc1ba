"""The query language."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_harness import TEXTS

from hermes_state.text import And, Any, Leaf, Not, Or, Phrase, Prefix, Word, is_stopword, parse
from hermes_state.text.query import MAX_CHARS, MAX_DEPTH, MAX_LEAVES

PIECES = [
    "a",
    "b*",
    '"',
    "“",
    "(",
    ")",
    "（",
    "-",
    " ",
    "AND",
    "OR",
    "NOT",
    "role:",
    "is:tool",
    "火",
    "預算超支問題",
    "after:1d",
]
SYNTAX = st.lists(st.sampled_from(PIECES) | TEXTS, max_size=30)


def shape(node):
    """A tree as text: leaves as typed, operators as prefix notation."""
    if node is None:
        return None
    if isinstance(node, Leaf):
        return node.text if isinstance(node, Word | Prefix) else f'"{node.text}"'
    if isinstance(node, Not):
        return f"not({shape(node.operand)})"
    return f"{type(node).__name__.lower()}({' '.join(map(shape, node.operands))})"


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("redis", "redis"),
        ("why did it fail?", "any(why did it fail?)"),
        ("a a b", "any(a b)"),
        ("a OR b", "or(a b)"),
        ("a b OR c", "or(any(a b) c)"),
        ("redis upgrade AND prod", "and(any(redis upgrade) prod)"),
        ("a AND b OR c AND d", "or(and(a b) and(c d))"),
        ("(a OR b) AND c", "and(or(a b) c)"),
        ("（a OR b）AND c", "and(or(a b) c)"),
        ("a NOT b", "and(a not(b))"),
        ("a -b c", "and(any(a c) not(b))"),
        ('a -"b c" -(d OR e)', 'and(a not("b c") not(or(d e)))'),
        ("a AND NOT b", "and(a not(b))"),
        ("a (NOT b)", "and(a not(b))"),
        ("NOT NOT a", "a"),
        ("NOT a", "not(a)"),
        ("NOT a NOT b", "not(or(a b))"),
        ('"exact words" here', 'any("exact words" here)'),
        ("“curly” 「鉤括弧」", 'any("curly" "鉤括弧")'),
        ("depl*", "depl*"),
        ("foo(bar) f(x))", "any(foo(bar) f(x))"),
        ("to be or not to be", "any(to be or not)"),
        ("http://x.y/?q=1", "http://x.y/?q=1"),
        ("", None),
        ("???", None),
        ("()", None),
    ],
)
def test_tree_of_a_query(query, tree):
    """Adjacency binds tightest and is optional; AND binds tighter than OR; exclusions hold for all beside them."""
    assert shape(parse(query).node) == tree


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("AND", "AND"),
        ("NOT", "NOT"),
        ("x AND", "any(x AND)"),
        ("OR x", "any(OR x)"),
        ("a OR OR b", "or(any(a OR) b)"),
        ("a OR NOT b", "a"),
        ("-rf", "rf"),
        ("-a -b", "any(a b)"),
        ('5" disk', "any(5 disk)"),
        ("((a", "a"),
        ("a) b", "any(a b)"),
        ("title: x", "any(title: x)"),
        ("is:nonsense", "is:nonsense"),
        ("after:31.12.2026", "after:31.12.2026"),
        ("???", None),
        ("(" * 40 + "a", "a"),
    ],
)
def test_what_cannot_be_syntax_is_read_otherwise_and_said(query, tree):
    """Nothing is dropped without a note, and what has letters is searched for."""
    parsed = parse(query)

    assert shape(parsed.node) == tree
    assert parsed.notes or query == "title: x"


@pytest.mark.parametrize(
    "query", ["a", "a OR b", "-b a", '"a b" role:user', "foo:bar", "https://a.b", "not working", "a (b c)"]
)
def test_a_plain_query_has_no_notes(query):
    """A note is only for what may have been meant otherwise."""
    assert parse(query).notes == ()


def test_exclusion_alone_is_legal_beside_a_filter():
    """`is:archived -foo` is everything archived without foo."""
    parsed = parse("is:archived -foo")

    assert shape(parsed.node) == "not(foo)"
    assert parsed.filters[0].name == "is"


def test_short_run_is_exact_and_a_clause_is_a_bag():
    """A word of four characters must be met whole; a question in Chinese may be answered by parts of it."""
    (short,) = parse("预算超支").leaves()
    (clause,) = parse("哪个时间线在第四个尺度中得到了进一步扩展？").leaves()

    assert short.grams == ("预算", "算超", "超支")
    assert short.bag == ()
    telling = [term.grams[0] for term in clause.bag if not term.stop]
    assert {"时间", "尺度", "扩展"} <= set(telling)
    assert not {"哪个", "到了"} & set(telling)


def test_clause_of_mixed_scripts_keeps_its_words_whole():
    """Latin words, numbers and katakana words inside a clause are pieces of their own."""
    (leaf,) = parse("请把redis升级到7.2").leaves()
    (japanese,) = parse("設定ファイルの場所はどこ").leaves()

    assert {("redi",), ("升", "级"), ("7", "2")} <= {term.words for term in leaf.bag}
    assert ("フ", "ァ", "イ", "ル") in {term.words for term in japanese.bag}


def test_quoted_clause_is_met_exactly():
    """Quotation marks make a phrase of a clause, too."""
    (leaf,) = parse('"哪个时间线在第四个尺度中"').leaves()

    assert isinstance(leaf, Phrase)
    assert leaf.bag == ()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("depl*", "deployment"),
        ("release*", "releases"),
        ("memory*", "memories"),
        ("tk-9z*", "tk-9zfx"),
        ("预算*", "这个预算超支"),
        ("C*", "C++"),
    ],
)
def test_prefix_finds_the_word(new_index, query, text):
    """A prefix finds words that begin with it although they are indexed by their stems."""
    assert new_index(text, "nothing").search(query) == [text]


@pytest.mark.parametrize("query", ["to", "The", "什么", "です", "的"])
def test_words_without_a_subject_are_marked(query):
    """Function words are marked for a ranking to weigh, in every language listed."""
    (leaf,) = parse(query).leaves()

    assert leaf.stop
    assert is_stopword(leaf.words[0]) or is_stopword(leaf.grams[0])


@pytest.mark.parametrize("query", ["redis", "预算", "設定", "さくら", "C++", '"to be"'])
def test_words_with_a_subject_are_not_marked(query):
    """A subject word or a phrase is never marked."""
    (leaf,) = parse(query).leaves()

    assert not leaf.stop


def test_query_of_only_function_words_is_found(new_index):
    """`to be or not to be` finds its text."""
    assert new_index("To be, or not to be").search('"to be or not to be"')


def test_cpp_is_not_c(new_index):
    """`C++` finds C++ and not every c."""
    index = new_index("C++ code", "plain C code", ".NET code", "a net")

    assert index.search("c++") == ["C++ code"]
    assert index.search("c") == ["plain C code"]
    assert index.search(".net") == [".NET code"]


def test_long_query_is_cut_with_a_note():
    """A pasted text is read up to a limit, and a note says so."""
    assert parse("word " * MAX_CHARS).notes
    assert len(list(parse(" ".join(f"w{number}" for number in range(1000))).leaves())) == MAX_LEAVES
    assert len(next(parse("漢" * 200 + "".join(map(chr, range(0x4E00, 0x5E00)))).leaves()).bag) <= 64


def test_limit_on_words_keeps_the_filters():
    """However long the query, its filters hold and its tree stays small."""
    parsed = parse(" OR ".join(f"w{number}" for number in range(300)) + " -source:cron role:user")

    assert len(list(parsed.leaves())) <= MAX_LEAVES + 3
    assert [(found.name, found.negated) for found in parsed.filters] == [("source", True), ("role", False)]


@given(SYNTAX.map("".join) | SYNTAX.map(" ".join) | st.text(max_size=60))
def test_any_string_is_a_query(query):
    """Parsing never raises, gives the same twice, and every leaf has something to look up."""
    parsed = parse(query)

    assert parsed == parse(query)
    assert all(term.words for leaf in parsed.leaves() for term in leaf.exact + leaf.bag)
    check_tree(parsed.node, parent=None, depth=0)


def check_tree(node, *, parent, depth):
    assert depth <= 4 * MAX_DEPTH
    if isinstance(node, Not):
        assert parent in {None, And}
        assert not isinstance(node.operand, Not)
        check_tree(node.operand, parent=Not, depth=depth + 1)
    elif isinstance(node, Any | Or | And):
        assert len(node.operands) > 1
        assert parent is not type(node)
        if isinstance(node, And):
            excluded = [isinstance(operand, Not) for operand in node.operands]
            assert not excluded[0]
            assert all(second or not first for first, second in pairwise(excluded))
        for operand in node.operands:
            check_tree(operand, parent=type(node), depth=depth + 1)


@given(SYNTAX.map(" ".join))
def test_every_query_renders_to_valid_fts5(shared_index, query):
    """No query makes an expression that FTS5 refuses."""
    shared_index.search(query)


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12))
def test_one_word_alone_is_read_as_one_among_others(word):
    """The short way for the commonest query gives the tree that the reader gives."""
    assert parse(f" {word}").node == parse(f"({word})").node
