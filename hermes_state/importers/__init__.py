"""Bringing in what other programs kept: a Hermes home, its session exports, and exports of this store.

pending = detect(db)                     # is there a Hermes home with sessions this store has not seen?
report = import_hermes(db)               # bring them in; again later brings in what is new
report = import_file(db, "all.jsonl")    # an export: ours or Hermes's, told apart by its first line
"""

from hermes_state.importers.file import import_file
from hermes_state.importers.hermes import import_hermes
from hermes_state.importers.home import Pending, Source, detect, sources
from hermes_state.importers.report import ImportReport, Notice

__all__ = [
    "ImportReport",
    "Notice",
    "Pending",
    "Source",
    "detect",
    "import_file",
    "import_hermes",
    "sources",
]
