"""What every command has: the common options before and after its name, examples in its help, lazy groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep a common option on the run's `Invocation`; the place nearest to the end of the line wins."""
    invocation = context.ensure_object(Invocation)
    if value and option.name is not None:
        setattr(invocation, option.name, value)


class CommonOption(click.Option):
    """An option of every command. Its help stands under a heading of its own."""

    def __init__(self, *declarations: str, **attributes: Any) -> None:
        super().__init__(declarations, expose_value=False, callback=_remember, **attributes)


def common_options() -> list[click.Parameter]:
    """Fresh copies of the options that every command takes."""
    return [
        CommonOption("--home", metavar="DIR", help="The agent home. Default: $HERMES_HOME, else ~/.hermes."),
        CommonOption("--db", metavar="URL", help="The store: a file, sqlite:///… or postgresql://…"),
        CommonOption("--json", is_flag=True, help="One JSON document on stdout; errors as JSON on stderr."),
        CommonOption(
            "--no-color", "no_color", is_flag=True, help="No colours. NO_COLOR in the environment says the same."
        ),
    ]


class _Helped(click.Command):
    """Help with the common options apart and examples at the end."""

    examples: Sequence[str] = ()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts: dict[str, list[tuple[str, str]]] = {"Options": [], "Common options": []}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                common = isinstance(option, CommonOption) or "--help" in option.opts
                parts["Common options" if common else "Options"].append(record)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        for heading, records in parts.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Command(_Helped):
    """A command that does something. Its callback gets the `Invocation` first and may return an exit code."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        attributes["context_settings"] = SETTINGS | attributes.get("context_settings", {})
        super().__init__(*args, **attributes)
        self.examples = examples
        self.params += common_options()


class Group(_Helped, click.Group):
    """A family of commands, each loaded when it is needed.

    Args:
        lazy: name of a command to where it is, as `module:attribute`.
    """

    command_class = Command

    def __init__(
        self, *args: Any, lazy: Mapping[str, str] | None = None, examples: Sequence[str] = (), **attributes: Any
    ) -> None:
        attributes["context_settings"] = SETTINGS | attributes.get("context_settings", {})
        super().__init__(*args, **attributes)
        self.lazy = dict(lazy or {})
        self.examples = examples
        self.params += common_options()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.lazy, *(name for name in super().list_commands(ctx) if name not in self.lazy)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy:
            from hermes_state.commands.registry import load

            return load(self.lazy[cmd_name])
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:  # the name alone asks what there is; that is no mistake
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            import difflib  # for mistakes only

            near = difflib.get_close_matches(name, self.list_commands(ctx), n=3, cutoff=0.6)
            meant = f"; did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"there is no command {name!r}{meant}", ctx=ctx)
        return super().resolve_command(ctx, args)


def command(name: str, *, examples: Sequence[str], **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function that takes the `Invocation` first."""

    def decorate(function: Callable[..., Any]) -> Command:
        made = click.command(name, cls=Command, examples=examples, **attributes)(click.pass_obj(function))
        assert isinstance(made, Command)
        return made

    return decorate
