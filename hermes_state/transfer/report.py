"""What an export wrote and what an import of one did."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_state.errors import PartialSuccess


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportReport:
    """What was written."""

    sessions: int = 0
    messages: int = 0
    redacted: int = 0  # secrets replaced


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One session that could not be taken over; nothing of it was.

    Attributes:
        line: of the file, counted from 1.
        session_id: "" when the line does not even say that.
        what: what is wrong there.
        hint: what to do about it.
    """

    line: int
    session_id: str
    what: str
    hint: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadReport:
    """What an import of our own export did.

    Attributes:
        sessions_added, messages_added: new here.
        sessions_equal: here already, with the same content: skipped.
        conflicts: here already with other content: left as they are here.
        retitled: sessions whose title another one has here: id and the title they got.
        unlinked: sessions whose parent is neither in the file nor here: id and the parent's id. They are linked when
            the parent is imported later.
        problems: sessions that could not be read.
    """

    sessions_added: int = 0
    messages_added: int = 0
    sessions_equal: int = 0
    conflicts: tuple[Problem, ...] = ()
    retitled: tuple[tuple[str, str], ...] = ()
    unlinked: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()

    def raise_for_problems(self) -> None:
        """Raise `PartialSuccess` when a session was not taken over."""
        bad = (*self.problems, *self.conflicts)
        if bad:
            first = bad[0]
            raise PartialSuccess(
                f"{self.sessions_added + self.sessions_equal} sessions are here, {len(bad)} are not; the first,"
                f" line {first.line}: {first.what}",
                hint=first.hint,
            )
