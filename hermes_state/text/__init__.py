"""Scripts, segmentation, the query language and snippets: pure functions over text, no I/O."""

from hermes_state.text.columns import index_columns
from hermes_state.text.filters import Filter
from hermes_state.text.nodes import And, Any, Leaf, Not, Or, Phrase, Prefix, Query, Word
from hermes_state.text.query import parse
from hermes_state.text.scripts import fold
from hermes_state.text.segment import FTS5_TOKENIZE, SEGMENTATION, Segments, index_text, segment
from hermes_state.text.snippet import highlights, snippet
from hermes_state.text.stopwords import is_stopword
from hermes_state.text.terms import Term

__all__ = [
    "FTS5_TOKENIZE",
    "SEGMENTATION",
    "And",
    "Any",
    "Filter",
    "Leaf",
    "Not",
    "Or",
    "Phrase",
    "Prefix",
    "Query",
    "Segments",
    "Term",
    "Word",
    "fold",
    "highlights",
    "index_columns",
    "index_text",
    "is_stopword",
    "parse",
    "segment",
    "snippet",
]
