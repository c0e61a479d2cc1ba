"""Sessions out of a store and into one: lossless JSON Lines, and Markdown and HTML for reading."""

from hermes_state.transfer.dump import dump
from hermes_state.transfer.load import load
from hermes_state.transfer.reading import write_document, write_documents
from hermes_state.transfer.report import ExportReport, LoadReport, Problem
from hermes_state.transfer.selection import EVERYTHING, Selection

__all__ = [
    "EVERYTHING",
    "ExportReport",
    "LoadReport",
    "Problem",
    "Selection",
    "dump",
    "load",
    "write_document",
    "write_documents",
]
