"""How a function can be called: which of the arguments on offer it takes, and by position or by name."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Hook(NamedTuple):
    """One hook as the newest host calls it.

    Attributes:
        name: the method.
        positional: arguments that old plugins expect by position, whatever they call them.
        always: arguments given by name to every signature that takes them.
        later: arguments that came later or are not always known; given by name when they say something. A signature
            that demands one gets it all the same, if need be as None.
        returns: the type of the result, in words.
        by_name: the positional ones are given by name where the signature has that name.
    """

    name: str
    positional: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    returns: str = "None"
    by_name: bool = False

    @property
    def signature(self) -> str:
        """The signature in words, for a message."""
        named = [*self.always, *self.later]
        return f"{self.name}({', '.join([*self.positional, *(['*', *named] if named else [])])}) -> {self.returns}"


class NoFit(Exception):
    """A signature can't be called with what is on offer; the text says why."""


@dataclass(frozen=True)
class Shape:
    """What a signature takes.

    Attributes:
        positional: names of what can be given by position, in order.
        named: names of what can be given by name.
        required: names that have no default.
        any_positional: it has `*args`.
        any_named: it has `**kwargs`.
        text: the signature as written.
    """

    positional: tuple[str, ...]
    named: frozenset[str]
    required: frozenset[str]
    any_positional: bool
    any_named: bool
    text: str

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Shape:
        """The shape of a function; one that can't be inspected is taken to accept everything."""
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return cls((), frozenset(), frozenset(), any_positional=True, any_named=True, text="(…)")
        parameters = signature.parameters.values()
        kinds = {p.kind for p in parameters}
        return cls(
            positional=tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)),
            named=frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)),
            required=frozenset(
                p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            ),
            any_positional=inspect.Parameter.VAR_POSITIONAL in kinds,
            any_named=inspect.Parameter.VAR_KEYWORD in kinds,
            text=_shortened(signature),
        )

    def takes(self, name: str) -> bool:
        """Whether an argument of that name can be given by name."""
        return self.any_named or name in self.named

    def fit(self, hook: Hook, values: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call that this signature understands.

        Args:
            hook: what is called.
            values: the values of `hook.positional`, in order.
            named: everything else on offer, by name; names that `hook` does not know are given if they are taken.

        Returns:
            The positional arguments and the named ones.

        Raises:
            NoFit: a value has no place, or the signature demands something that is not on offer.
        """
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, value in zip(hook.positional, values, strict=True):
            if hook.by_name and name in self.named:
                kwargs[name] = value
            elif self.any_positional or len(args) < len(self.positional):
                args.append(value)
            elif self.takes(name):
                kwargs[name] = value
            else:
                raise NoFit(f"it takes no {name!r}")
        filled = {*self.positional[: len(args)], *kwargs}
        for name, value in named.items():
            silent = name in hook.later and (value is None or value is False or value == "")
            if name not in filled and self.takes(name) and (not silent or name in self.required):
                kwargs[name] = value
        kwargs |= {name: None for name in hook.later if name in self.named & self.required - filled - kwargs.keys()}
        if missing := sorted(self.required - filled - kwargs.keys()):
            raise NoFit(f"it demands {', '.join(missing)}")
        return args, kwargs


def _shortened(signature: inspect.Signature) -> str:
    """A signature without annotations: what matters is names and defaults."""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))
