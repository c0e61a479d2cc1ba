"""What a query asks for, as a tree that any engine can render. The language itself is read in query.py."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hermes_state.text.filters import Filter
from hermes_state.text.terms import Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """Something to be found in a text.

    Attributes:
        text: As typed, without quotes and operators.
        exact: Alternatives, each of which is the leaf met exactly; more than one only for a prefix.
        bag: For a clause written without spaces: its pieces, any of which may answer a natural question. Empty for
            everything else. To be used where leaves are optional: at the root and directly in an Any that is not
            excluded.
        stop: Carries no subject (`the`, 什么).
    """

    text: str
    exact: tuple[Term, ...]
    bag: tuple[Term, ...] = ()
    stop: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The positional tokens; a phrase if more than one."""
        return self.exact[0].words

    @property
    def grams(self) -> tuple[str, ...]:
        """The pairs that say the same, for a run of a script without spaces; else empty."""
        return self.exact[0].grams


class Word(Leaf):
    """One word as typed, which may be an identifier of many tokens."""

    __slots__ = ()


class Phrase(Leaf):
    """Quoted words, in this order and adjacent."""

    __slots__ = ()


class Prefix(Leaf):
    """The beginning of a word."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Any:
    """Operands each of which is optional: the more of them a text has, the better it answers."""

    operands: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one operand must be met."""

    operands: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class And:
    """Every operand must be met. Those that are Not come last and are never the only ones."""

    operands: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The operand must not be met. Stands in an And, or alone at the root: everything else."""

    operand: "Node"


Node = Word | Phrase | Prefix | Any | Or | And | Not


class Query(NamedTuple):
    """A parsed query.

    Attributes:
        text: As typed.
        node: What must be found; None when there are only filters, or nothing at all.
        filters: Conditions, all of which hold for the whole query wherever they were written.
        notes: Sentences for the person who typed it: what was read otherwise than it may have been meant.
    """

    text: str
    node: Node | None
    filters: tuple[Filter, ...] = ()
    notes: tuple[str, ...] = ()

    def leaves(self) -> Iterator[Leaf]:
        """What is to be found, in the order typed; not what is excluded."""
        return _leaves(self.node)


def _leaves(node: Node | None) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Any | Or | And):
        for operand in node.operands:
            yield from _leaves(operand)
