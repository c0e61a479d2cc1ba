"""From what a plug-in is (module, class, function, instance) to the provider it brings."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from memory.errors import ContractBroken, ProviderUnavailable
from memory.provider import MemoryProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_MEMBERS = ("name", "is_available", "initialize", "get_tool_schemas")


class PluginContext:
    """What `register(ctx)` gets.

    `register_memory_provider` is what counts. Plug-ins register other things as well (tools, hooks, commands, skills,
    and what newer hosts will have); those are taken and kept, and nothing here runs them.

    Attributes:
        providers: the memory providers, in the order they came.
        others: everything else: the method's name and what it was given.
    """

    def __init__(self) -> None:
        self.providers: list[object] = []
        self.others: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def register_memory_provider(self, provider: object) -> None:
        """Bring a memory provider."""
        self.providers.append(provider)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("register_"):
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it offers register_memory_provider(provider)")

        def register(*args: Any, **kwargs: Any) -> None:
            self.others.append((name, args, kwargs))

        return register


def provider_of(thing: object, plugin: str) -> object:
    """The provider that an entry point or a plug-in's module brings.

    Args:
        thing: a module with `register`, a module with a provider's class, such a class, a `register(ctx)` function, a
            factory that takes no arguments, or a provider.
        plugin: the name it was chosen by, for messages; of several providers the one with that name is taken.

    Raises:
        ProviderUnavailable: it brings none.
        ContractBroken: it is none of these things.
    """
    if inspect.ismodule(thing):
        return _of_module(thing, plugin)
    if isinstance(thing, type):
        return thing()
    if _is_provider(thing):
        return thing
    if callable(thing):
        return _of_function(thing, plugin)
    raise ContractBroken(
        plugin,
        wanted="a provider, a class, a factory, register(ctx), or a module with one of them",
        found=f"{type(thing).__name__} {thing!r:.60}",
    )


def _of_module(module: ModuleType, plugin: str) -> object:
    register = getattr(module, "register", None)
    if callable(register):
        return _registered(register, plugin)
    classes = list(_classes(module))
    if not classes:
        raise ProviderUnavailable(
            plugin,
            f"{module.__name__} has no register(ctx) and no class with {', '.join(_MEMBERS)}",
            hint="is it a memory provider at all?",
        )
    return classes[0]()


def _classes(module: ModuleType) -> Iterator[type]:
    """Providers' classes of a module, its own before imported ones, in the order they are written."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value is not MemoryProvider
        and not inspect.isabstract(value)
        and (issubclass(value, MemoryProvider) or _is_provider(value))
    ]
    return iter(sorted(dict.fromkeys(found), key=lambda value: value.__module__ != module.__name__))


def _of_function(function: Callable[..., Any], plugin: str) -> object:
    if _takes_nothing(function):
        made = function()
        if made is None:
            raise ProviderUnavailable(plugin, f"the factory {_named(function)} made nothing")
        return made
    return _registered(function, plugin)


def _takes_nothing(function: Callable[..., Any]) -> bool:
    """Whether a function is a factory: it can be called without arguments and is not called `register`."""
    if getattr(function, "__name__", "") == "register":
        return False
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _registered(register: Callable[..., Any], plugin: str) -> object:
    context = PluginContext()
    made = register() if _has_no_place(register) else register(context)
    providers = [*context.providers, *([made] if _is_provider(made) else [])]
    if not providers:
        others = ", ".join(sorted({name for name, _, _ in context.others}))
        also = f"; it called {others}" if others else ""
        raise ProviderUnavailable(plugin, f"{_named(register)} registered no memory provider{also}")
    return next((p for p in providers if getattr(p, "name", None) == plugin), providers[0])


def _has_no_place(register: Callable[..., Any]) -> bool:
    """Whether a `register` takes no context and gives its provider back instead."""
    try:
        return not inspect.signature(register).parameters
    except (TypeError, ValueError):
        return False


def _is_provider(thing: object) -> bool:
    return all(hasattr(thing, member) for member in _MEMBERS)


def _named(function: Callable[..., Any]) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"
