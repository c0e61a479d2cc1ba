"""The group all commands hang from."""

from __future__ import annotations

import click

from hermes_state.commands import registry
from hermes_state.commands.command import Group


class Root(Group):
    """Our commands, then those that other packages bring."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *registry.others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        others = registry.others()
        if cmd_name in others:
            return registry.load_other(cmd_name, others[cmd_name])
        return super().get_command(ctx, cmd_name)


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from hermes_state import __version__

        click.echo(f"hermes-state {__version__}")
        context.exit()


@click.group(
    "hermes-state",
    cls=Root,
    lazy=registry.OURS,
    examples=(
        "hermes-state import hermes            # bring in the conversations of a Hermes home",
        'hermes-state search "redis upgrade"   # find what was said, in any script',
        "hermes-state sessions list            # the latest conversations",
    ),
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="The version."
)
def cli() -> None:
    """Every conversation an agent had: kept, found again in any script, moved and mended."""
