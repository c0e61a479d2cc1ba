"""The questions of a provider's set-up: what is asked, what an answer has to be, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_state.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memory.provider import ConfigItem

_TRUE, _FALSE = ("true", "yes", "y", "on", "1"), ("false", "no", "n", "off", "0")


class Unanswered(InvalidValue):
    """Questions that need an answer got none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """What is to be kept.

    Attributes:
        values: answers that are no secrets, by key.
        secrets: by environment variable.
    """

    values: dict[str, Any]
    secrets: dict[str, str]


def answer_all(
    schema: Sequence[ConfigItem],
    *,
    given: Mapping[str, str],
    environment: Mapping[str, str],
    ask: Callable[[ConfigItem, Any], str] | None,
) -> Answers:
    """Go through the questions, in their order.

    Args:
        given: answers by key, as they were typed.
        environment: variables that are set already; their secrets need no answer.
        ask: gets a question and its default, gives what a person types; None: nobody can be asked.

    Raises:
        InvalidValue: there is no such question, or an answer is not what it has to be; nothing was kept.
        Unanswered: a question that needs an answer has none and nobody can be asked.
    """
    known = [item["key"] for item in schema]
    if unknown := [key for key in given if key not in known]:
        raise InvalidValue(f"it has no setting {unknown[0]!r}", hint=f"its settings are {', '.join(known) or 'none'}")
    answers = Answers(values={}, secrets={})
    open_keys = []
    for item in schema:
        key = item["key"]
        if not _applies(item, answers.values):
            continue
        default = _default(item, answers.values)
        is_set = bool(item.get("secret")) and bool(environment.get(str(item.get("env_var", ""))))
        if key in given:
            typed: Any = given[key]
        elif ask is not None:
            typed = ask(item, "" if is_set else default)
        else:
            typed = default
        if typed in (None, "") and not is_set and item.get("required"):
            open_keys.append(key)
        elif typed not in (None, ""):
            _put(answers, item, typed)
    if open_keys:
        wanted = " ".join(f"--set {key}=…" for key in open_keys)
        raise Unanswered(f"{', '.join(open_keys)} must be answered; nothing was kept", hint=wanted)
    return answers


def converted(item: ConfigItem, typed: Any) -> Any:
    """An answer as its question wants it.

    Raises:
        InvalidValue: it can't be that.
    """
    key, kind, choices = item["key"], item.get("type", "string"), item.get("choices")
    value: Any = typed
    if kind == "boolean" and not isinstance(typed, bool):
        word = str(typed).strip().lower()
        if word not in _TRUE + _FALSE:
            raise InvalidValue(f"{key} is true or false, not {typed!r}")
        value = word in _TRUE
    elif kind in ("integer", "number"):
        value = _number(key, kind, typed)
        for limit, word, is_out in (("minimum", "at least", value.__lt__), ("maximum", "at most", value.__gt__)):
            bound = item.get(limit)
            if isinstance(bound, int | float) and is_out(bound) is True:
                raise InvalidValue(f"{key} is {word} {bound}, not {typed!r}")
    if choices:
        fitting = [choice for choice in choices if str(choice) == str(value)]
        if not fitting:
            raise InvalidValue(f"{key} is one of {', '.join(map(str, choices))}, not {typed!r}")
        value = fitting[0]
    return value


def _number(key: str, kind: str, typed: Any) -> int | float:
    try:
        return int(str(typed)) if kind == "integer" else float(str(typed))
    except ValueError as error:
        raise InvalidValue(
            f"{key} is {'a whole number' if kind == 'integer' else 'a number'}, not {typed!r}"
        ) from error


def _put(answers: Answers, item: ConfigItem, typed: Any) -> None:
    if item.get("secret"):
        variable = str(item.get("env_var") or item["key"].upper())
        answers.secrets[variable] = str(typed)
    else:
        answers.values[item["key"]] = converted(item, typed)


def _applies(item: ConfigItem, values: Mapping[str, Any]) -> bool:
    when = item.get("when") or {}
    return all(str(values.get(key)) == str(wanted) for key, wanted in when.items())


def _default(item: ConfigItem, values: Mapping[str, Any]) -> Any:
    source = item.get("default_from") or {}
    mapped = (source.get("map") or {}).get(values.get(source.get("field", "")))
    return item.get("default") if mapped is None else mapped
