"""`memory setup`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.command import command
from hermes_state.commands.streams import is_terminal
from memory.commands.providers.choosing import loaded, put_in_use
from memory.commands.providers.questions import answer_all
from memory.commands.settings import settings_of
from memory.config import change_config, read_config, save_env, variables_of

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_state.commands.invocation import Invocation
    from memory.commands.providers.questions import Answers
    from memory.provider import ConfigItem
    from memory.signatures import Adapted


@command(
    "setup",
    examples=(
        "hermes-state memory setup holographic",
        "hermes-state memory setup holographic --set auto_extract=true",
        "hermes-state memory setup mem0 --set api_key=$MEM0_API_KEY --no-use",
    ),
)
@click.argument("name", required=False)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Answer a question beforehand; may be repeated."
)
@click.option("--no-use", is_flag=True, help="Keep the answers without making it the provider in use.")
def setup(invocation: Invocation, name: str | None, settings: tuple[str, ...], no_use: bool) -> None:
    """Set a memory provider up: NAME, or the one in use.

    Asks what the provider wants to know. Secrets go to the home's .env, which only you can read; the rest goes to where
    the provider keeps it, else to its section under `memory:` in config.yaml. When stdin is no terminal nothing is
    asked: what --set does not answer takes its default.
    """
    chosen = name or _configured(invocation)
    provider = loaded(invocation, chosen)
    home = invocation.home_path()
    asks = is_terminal(sys.stdin) and not invocation.json
    if not settings and asks and provider.post_setup(str(home), read_config(home)):
        answers = None
    else:
        answers = answer_all(
            provider.get_config_schema(),
            given=dict(_pair(text) for text in settings),
            environment=variables_of(home),
            ask=_ask if asks else None,
        )
        _keep(home, chosen, provider, answers)
    if not no_use:
        put_in_use(invocation, {chosen: provider})
    _tell(invocation, chosen, answers, used=not no_use)


def _configured(invocation: Invocation) -> str:
    external = settings_of(invocation).external
    if not external:
        raise click.UsageError("no provider is in use; name one: `hermes-state memory providers` lists them")
    return external[0]


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.UsageError(f"--set takes KEY=VALUE, not {text!r}")
    return key, value


def _ask(item: ConfigItem, default: Any) -> str:
    """Ask a person, on the terminal."""
    words = item.get("description") or item["key"]
    if item.get("url"):
        words = f"{words} ({item['url']})"
    if item.get("choices"):
        words = f"{words} [{'/'.join(map(str, item['choices']))}]"
    shown = "" if default is None else str(default)
    typed = click.prompt(words, default=shown, show_default=bool(shown), hide_input=bool(item.get("secret")), err=True)
    return str(typed)


def _keep(home: Path, name: str, provider: Adapted, answers: Answers) -> None:
    if answers.secrets:
        save_env(home, answers.secrets)
    if not answers.values:
        return
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    if provider.implements("save_config"):
        provider.save_config(answers.values, str(home))
        return
    for key, value in answers.values.items():
        change_config(home, ("memory", name, key), value)


def _tell(invocation: Invocation, name: str, answers: Answers | None, *, used: bool) -> None:
    """What was kept, secrets by their names alone."""
    values = answers.values if answers is not None else {}
    secrets = sorted(answers.secrets) if answers is not None else []
    if invocation.json:
        invocation.document({"provider": name, "values": values, "secrets": secrets, "used": used})
        return
    for key, value in values.items():
        invocation.say(f"{key}: {value}")
    for variable in secrets:
        invocation.say(f"{variable}: kept in .env")
    invocation.note(
        f"{name} is {'in use' if used else 'set up, and not in use'}; `hermes-state memory status` tells how it is"
    )
