"""`memory status`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands import shapes
from hermes_state.commands.command import command
from hermes_state.commands.invocation import HAS_FINDINGS
from hermes_state.commands.plain import one_line
from hermes_state.commands.table import BOLD, DIM, bold_in, paint
from hermes_state.commands.wording import count, local
from hermes_state.errors import StoreUnavailable
from memory.commands.plugin_output import plugin_output_on_stderr
from memory.settings import MemorySettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from hermes_state.commands.invocation import Invocation
    from memory.manager import ManagerStatus, ProviderStatus, Waiting
    from memory.manager.health_book import Written

_LABEL = 14  # cells of the longest label and a space


@dataclass(frozen=True, kw_only=True)
class ProviderReport:
    """What is known of one provider, from a look at it now and from what the agents that use it wrote."""

    name: str
    works: bool
    state: str
    reason: str
    tools: tuple[str, ...] = ()
    waiting: int = 0
    set_aside: int = 0
    oldest_at: datetime | None = None
    failures_in_row: int = 0
    last_error: str = ""
    last_error_at: datetime | None = None
    last_success_at: datetime | None = None
    latency_ms: dict[str, list[float]] = field(default_factory=dict)


@command(
    "status",
    examples=(
        "hermes-state memory status",
        "hermes-state memory status --start",
        "hermes-state memory status --json | jq '.providers[] | select(.works | not)'",
    ),
)
@click.option("--start", is_flag=True, help="Also start the providers, to see whether that works.")
def status(invocation: Invocation, start: bool) -> int | None:
    """Show how the configured memory providers are doing.

    Loads each and asks whether it is available; what agents noted of it (errors, latencies, calls that still have to be
    told) is shown beside. Exits 1 when one that is configured does not work, with the reason.
    """
    settings = MemorySettings.load(invocation.home_path())  # what is wrong with them is among the warnings
    with plugin_output_on_stderr():
        seen = _look(invocation, settings, start=start)
    waiting, written = _noted(invocation)
    reports = [_report(found, settings, waiting, written) for found in seen.providers]
    works = all(report.works for report in reports)
    if invocation.json:
        invocation.document(
            {
                "works": works,
                "providers": [shapes.record(report) for report in reports],
                "warnings": [*seen.warnings],
            }
        )
    else:
        for report in reports:
            _say(invocation, report)
        for warning in seen.warnings:
            invocation.note(one_line(warning))
    return None if works else HAS_FINDINGS


def _look(invocation: Invocation, settings: MemorySettings, *, start: bool) -> ManagerStatus:
    """Load the providers and ask them; nothing that they would be told is told."""
    import logging

    from memory.builtin import BuiltinMemory, BuiltinProvider
    from memory.commands.providers.inspecting import inspect
    from memory.manager import MemoryManager

    logging.getLogger("memory").addHandler(logging.NullHandler())  # reasons are in the report
    home = invocation.home_path()
    with MemoryManager(None, home=home, settings=settings) as manager:
        manager.add_provider(BuiltinProvider(BuiltinMemory(home)))
        manager.add_configured()
        return inspect(manager, start=start)


def _noted(invocation: Invocation) -> tuple[dict[str, Waiting], dict[str, Written]]:
    """What agents left in the store."""
    if not invocation.may_have_store:
        return {}, {}
    from memory.manager import health_book
    from memory.manager.outbox import waiting

    try:
        with invocation.open_store(only_reads=True) as db:
            return waiting(db.engine), health_book.read(db.meta)
    except StoreUnavailable as error:
        invocation.note(f"what agents noted can't be read: {error.message}")
        return {}, {}


def _report(
    found: ProviderStatus, settings: MemorySettings, waiting: dict[str, Waiting], written: dict[str, Written]
) -> ProviderReport:
    from memory.manager import Waiting
    from memory.manager.health_book import Written

    left, noted = waiting.get(found.name, Waiting()), written.get(found.name, Written())
    works, reason = found.works, found.reason
    if works and noted.failures_in_row >= settings.notice_after_failures:
        works, reason = False, f"it failed {noted.failures_in_row} times in a row: {noted.last_error}"
    return ProviderReport(
        name=found.name,
        works=works,
        state=found.state,
        reason=reason,
        tools=found.tools,
        waiting=left.waiting,
        set_aside=left.set_aside,
        oldest_at=left.oldest_at,
        failures_in_row=noted.failures_in_row,
        last_error=noted.last_error or left.last_error or found.last_error,
        last_error_at=noted.last_error_at,
        last_success_at=noted.last_success_at,
        latency_ms={hook: [*percentiles] for hook, percentiles in noted.latency_ms.items()},
    )


def _say(invocation: Invocation, report: ProviderReport) -> None:
    mark, color = ("✓", "green") if report.works else ("✗", "red")
    head = f"{paint(mark, bold_in(color))} {paint(one_line(report.name), BOLD)}"
    invocation.say(f"{head}  {one_line(report.reason)}".rstrip())
    for label, text in _lines(report):
        invocation.say(f"  {paint(f'{label:<{_LABEL}}', DIM)}{one_line(text)}")


def _lines(report: ProviderReport) -> Iterator[tuple[str, str]]:
    if report.tools:
        yield "tools", ", ".join(report.tools)
    if report.waiting or report.set_aside:
        since = f", the oldest since {local(report.oldest_at)}" if report.oldest_at else ""
        aside = f", {report.set_aside:,} set aside" if report.set_aside else ""
        yield "to be told", f"{count(report.waiting, 'call')}{aside}{since}"
    if report.last_success_at:
        yield "last success", local(report.last_success_at)
    if report.last_error:
        when = f"{local(report.last_error_at)}: " if report.last_error_at else ""
        yield "last error", f"{when}{report.last_error}"
    for hook, (p50, p95) in _slowest(report.latency_ms):
        yield "latency", f"{hook}: half within {p50:.1f} ms, 95 % within {p95:.1f} ms"


def _slowest(latency_ms: dict[str, list[float]]) -> list[tuple[str, Any]]:
    told = ("prefetch", "sync_turn", "handle_tool_call")
    return [(hook, latency_ms[hook]) for hook in told if hook in latency_ms]
