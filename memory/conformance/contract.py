"""Checks before a start: signatures, name, availability, tool schemas, questions of the set-up."""

from __future__ import annotations

import json
import re
import socket
from typing import TYPE_CHECKING, Any

from memory.conformance.subject import Skip, name_of
from memory.manager.tools import RESERVED, normalize_tool_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory.conformance.probe import Check
    from memory.conformance.subject import Instance, Subject

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


def signatures(subject: Subject) -> Iterator[tuple[str, str]]:
    """Every hook can be called as the newest host calls it."""
    instance = subject.new()
    for fault in instance.adapted.faults():
        yield "contract.signature", f"wanted {fault.wanted}; found {fault.found}"


def name(subject: Subject) -> Iterator[tuple[str, str]]:
    """One constant, plain name."""
    one, two = subject.new(), subject.new()
    names = [outcome.value for outcome in (i.run("name", lambda i=i: i.adapted.raw.name) for i in (one, two))]  # type: ignore[misc]
    if not all(isinstance(found, str) and _NAME.fullmatch(found) for found in names):
        yield "contract.name", f"the name is {names[0]!r}"
    elif names[0] != names[1]:
        yield "contract.name", f"one instance is called {names[0]!r}, another {names[1]!r}"


def availability(subject: Subject) -> Iterator[tuple[str, str]]:
    """`is_available` answers without the network, and says why not."""
    instance = subject.new()
    connections: list[str] = []
    outcome = instance.run("is_available", lambda: _offline(instance, connections))
    if connections:
        yield "contract.available-network", f"`is_available` connects to {connections[0]}"
    if not outcome.is_good:
        yield "contract.available-raises", f"`is_available` {outcome.trouble}"
    elif not outcome.value and not instance.call("unavailable_reason").value:
        yield "contract.unavailable-silent", "`is_available` is False and `unavailable_reason` says nothing"


def _offline(instance: Instance, connections: list[str]) -> bool:
    """Ask with a network that only takes notes. Sockets of the machine itself are none."""
    real = socket.socket.connect

    def connect(own: socket.socket, address: Any) -> None:
        if own.family in (socket.AF_INET, socket.AF_INET6):
            connections.append(str(address))
            raise ConnectionRefusedError("conformance: no network in is_available")
        real(own, address)

    socket.socket.connect = connect  # type: ignore[method-assign,assignment]
    try:
        return instance.adapted.is_available()
    finally:
        socket.socket.connect = real  # type: ignore[method-assign]


def schemas(subject: Subject) -> Iterator[tuple[str, str]]:
    """Tool schemas are there before `initialize`, named, JSON, and the same each time."""
    instance = subject.new()
    first = instance.call("get_tool_schemas")
    if not first.is_good:
        yield "contract.schemas", f"`get_tool_schemas` {first.trouble}"
        return
    for schema in first.value:
        normal = normalize_tool_schema(schema)
        if normal is None:
            yield "contract.schemas", f"a schema without a name: {repr(schema)[:80]}"
        elif normal["name"] in RESERVED and name_of(instance.adapted.raw) != "builtin":
            yield "contract.tool-reserved", f"the tool {normal['name']!r}"
    try:
        json.dumps(first.value, allow_nan=False)
    except (TypeError, ValueError) as error:
        yield "contract.schemas", f"they are no JSON: {error}"
    if instance.call("get_tool_schemas").value != first.value:
        yield "contract.schemas-unstable", "a second call gives others"


def config_schema(subject: Subject) -> Iterator[tuple[str, str]]:
    """The set-up can ask its questions."""
    outcome = subject.new().call("get_config_schema")
    if not outcome.is_good:
        yield "contract.config-schema", f"`get_config_schema` {outcome.trouble}"
        return
    if not outcome.value:
        raise Skip("it has no questions")
    for item in outcome.value:
        if not isinstance(item, dict) or not isinstance(item.get("key"), str) or not item["key"]:
            yield "contract.config-schema", f"an item without a key: {repr(item)[:80]}"
        elif item.get("secret") and not item.get("env_var"):
            yield "contract.config-schema", f"the secret {item['key']!r} has no env_var"
        elif item.get("choices") and item.get("default") not in (None, "", *item["choices"]):
            yield "contract.config-schema", f"the default of {item['key']!r} is none of its choices"


CHECKS: tuple[Check, ...] = (signatures, name, availability, schemas, config_schema)
