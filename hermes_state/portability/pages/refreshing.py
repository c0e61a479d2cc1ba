"""Copying only what changed of a database since an earlier copy.

SQLite notes nowhere which pages changed, so all of them are read; but one that looks as it did (see `trace`) is in the
earlier copy as it should be: what it holds and which pages it names is the same. So only the pages that changed are
understood and written, from the roots down: what they name now is part of the copy, with all that hangs on it; what
they named and nobody names any more is not.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import compress
from operator import ne
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_state.portability.pages import trees
from hermes_state.portability.pages.copying import begun, renumbered
from hermes_state.portability.pages.errors import Unfit
from hermes_state.portability.pages.numbering import Numbering, is_usable
from hermes_state.portability.pages.reading import fingerprint
from hermes_state.portability.pages.trace import CHAINED
from hermes_state.portability.pages.writing import PageFile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from hermes_state.portability.pages.copying import Skeleton
    from hermes_state.portability.pages.reading import Pages
    from hermes_state.portability.pages.trace import Trace
    from hermes_state.portability.tables import Choice

T = TypeVar("T")
# A page to be read: its number, the database's page, and whether a long row goes on there.
_Waiting = tuple[int, int, bool]
_UNFIT = "what was noted of its pages does not fit together"


@contextmanager
def refreshed_pages(
    source: Path, target: Path, choice: Choice, *, busy_ms: int, trace: Trace, describe: Callable[[Any], T]
) -> Iterator[tuple[list[int], Future[T]]]:
    """As `copying.copy_pages`, of the pages that are not as in an earlier copy; all others are zeros in the file.

    Args:
        trace: of the earlier copy; it becomes that of this one.
        describe: is called in another thread with a connection to the database, at the same moment.

    Yields:
        The numbers of the pages that were written, or hold nothing any more, in order; what `describe` returns. The
        moment ends with it, and the block waits for it in the end.

    Raises:
        SchemaChanged: the source no longer has the schema that was seen.
        Unfit: it can't be copied so.
    """
    with begun(source, target, choice, busy_ms) as copy:
        if copy.roots != trace.roots or not is_usable(trace, copy.made, copy.pages.size):
            raise Unfit("its trees are others than before")
        with ThreadPoolExecutor(1, "describe") as pool:
            described = pool.submit(describe, copy.pages.connection)
            try:
                pages = _refresh(copy, target, trace)
                # As soon as it is described, nobody needs the moment any more, and a writer may wait for its end.
                pool.submit(copy.pages.connection.rollback)
                yield pages, described
            except BaseException:
                copy.pages.connection.interrupt()
                raise


def _refresh(copy: Skeleton, target: Path, trace: Trace) -> list[int]:
    written = {pages[0] for pages in trace.lists()}
    with PageFile(target, copy.pages.size) as file:
        changes = _Changes(copy.pages, copy.roots, trace)
        for number, content in changes.find():
            file.put(number, content)
        written |= changes.settle()
        trace.made = copy.made
        trace.trim()
        written.update(file.finish(trace), range(1, trace.first))
    return sorted(number for number in written if number < trace.end)


class _Changes:
    """What changed in the pages of all trees.

    Args:
        roots: the numbers of the roots, by the database's pages.
        trace: of the earlier copy; it is changed as changes are found.
    """

    def __init__(self, pages: Pages, roots: Mapping[int, int], trace: Trace) -> None:
        self._pages, self._roots, self._trace = pages, roots, trace
        self._old_end, self._old_parents = trace.end, trace.parents[:]
        differ = map(ne, pages.prints(trace.sources, trace.seed), trace.prints)
        self._changed = {*compress(range(trace.first, trace.end), differ)}
        self._hidden = self._below_unchanged()
        self._numbering = Numbering(trace.first, trace.locked, trace.sources[:])
        # Pages that were read since they changed, and those that they name.
        self._read: set[int] = set()
        self._named: set[int] = set()

    def find(self) -> Iterator[tuple[int, bytes]]:
        """The pages that are not as they were, with their content in the copy."""
        waiting: list[_Waiting] = []
        for source, number in self._roots.items():
            self._numbering.give(source, number)
            waiting.append((number, source, False))
        while waiting:
            number, source, is_chained = waiting.pop()
            if number in self._read:
                raise Unfit(f"page {source} is in two places")
            self._read.add(number)
            raw = self._pages.page(source)
            page = trees.page_of_chain(raw) if is_chained else trees.page_of_tree(raw)
            parents: dict[int, int] = {}
            yield number, renumbered(page, number, self._numbering.of, parents)
            if number >= self._trace.first:
                parent, _ = self._above(number)
                self._trace.put(number, source, parent, fingerprint(raw, self._trace.seed))
            for child, parent in parents.items():
                waiting += self._name(child, parent)

    def _name(self, source: int, parent: int) -> Iterable[_Waiting]:
        """Note that a changed page names another one; returns what changed of that and of what hangs on it."""
        trace, number = self._trace, self._numbering.of(source)
        if number in self._named or number < trace.first:
            raise Unfit(f"page {source} is in two places")
        self._named.add(number)
        is_new = number >= self._old_end or not trace.sources[number - trace.first]
        if is_new or number in self._changed:
            trace.put(number, source, parent, 0)
            return [(number, source, bool(parent & CHAINED))]
        trace.parents[number - trace.first] = parent
        return [(n, trace.sources[n - trace.first], self._above(n)[1]) for n in self._hidden.get(number, ())]

    def settle(self) -> set[int]:
        """Drop what belongs to no tree any more; returns the numbers of all pages that are not as they were."""
        dropped = self._dropped()
        if self._changed - self._read - dropped:
            raise Unfit(_UNFIT)
        if any(self._is_named_still(number, dropped) for number in self._named if number < self._old_end):
            raise Unfit("a page is in two places")
        for number in dropped:
            self._trace.drop(number)
        return self._read | dropped

    def _is_named_still(self, number: int, dropped: Collection[int]) -> bool:
        """Whether a page is named by the page that named it, too, which did not change."""
        above = self._old_parents[number - self._trace.first] & ~CHAINED
        return above >= self._trace.first and above not in self._changed and above not in dropped

    def _above(self, number: int) -> tuple[int, bool]:
        """The page that names one, with its mark, and whether it has that: a long row goes on here."""
        parent = self._trace.parents[number - self._trace.first]
        return parent, bool(parent & CHAINED)

    # --- what was -----------------------------------------------------------------------------------------------

    def _below_unchanged(self) -> dict[int, list[int]]:
        """The changed pages that no changed page named, by the last page above them that a changed one did."""
        found: dict[int, list[int]] = {}
        tops: dict[int, int] = {}
        for number in self._changed:
            top = self._top(number, tops)
            if top != number:
                found.setdefault(top, []).append(number)
        return found

    def _top(self, number: int, tops: dict[int, int]) -> int:
        """The last page above one, or itself, before a changed one or a root comes.

        Args:
            tops: of the unchanged pages for which it is known.
        """
        first, parents = self._trace.first, self._old_parents
        passed: list[int] = []
        top = number
        while (above := parents[top - first] & ~CHAINED) >= first and above not in self._changed:
            if above >= self._old_end or len(passed) > len(parents):
                raise Unfit(_UNFIT)
            if above in tops:
                top = tops[above]
                break
            passed.append(above)
            top = above
        tops.update(dict.fromkeys(passed, top))
        return top

    def _dropped(self) -> set[int]:
        """The pages of the earlier copy that nobody names any more."""
        found = {n for n in self._named_before({*self._roots.values(), *self._changed}) if n not in self._named}
        # Of those that did not change, what they named went with them, unless it is named elsewhere.
        below = [n for n in self._named_before(found - self._changed) if n not in self._named and n not in found]
        children = self._children() if below else {}
        while below:
            found.update(below)
            named = (n for above in below if above not in self._changed for n in children.get(above, ()))
            below = [n for n in named if n not in self._named and n not in found]
        return found

    def _named_before(self, numbers: Collection[int]) -> list[int]:
        """The pages that some pages of the earlier copy named."""
        wanted = {mark | number for number in numbers for mark in (0, CHAINED)}
        return [n for n, parent in enumerate(self._old_parents, self._trace.first) if parent in wanted]

    def _children(self) -> dict[int, list[int]]:
        """All pages of the earlier copy, by the page that named them."""
        found: dict[int, list[int]] = {}
        for number, parent in enumerate(self._old_parents, self._trace.first):
            found.setdefault(parent & ~CHAINED, []).append(number)
        return found
