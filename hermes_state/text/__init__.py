"""Scripts, segmentation, the query language and snippets: pure functions over text, no I/O."""

from hermes_state.text.query import Filter, Query, parse
from hermes_state.text.segment import FTS5_TOKENIZE, SEGMENTATION, Segments, index_text, segment
from hermes_state.text.stopwords import is_stopword

__all__ = [
    "FTS5_TOKENIZE",
    "SEGMENTATION",
    "Filter",
    "Query",
    "Segments",
    "index_text",
    "is_stopword",
    "parse",
    "segment",
]
