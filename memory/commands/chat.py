"""`chat`: talk with a model that remembers."""

from __future__ import annotations

import logging
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import click

from hermes_state.commands.command import command
from hermes_state.commands.streams import is_plain, is_terminal
from hermes_state.commands.wording import count
from memory.commands.plugin_output import plugin_output_on_stderr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_state.commands.invocation import Invocation
    from memory.agent.agent import Answer
    from memory.commands.slash import Chat
    from memory.manager.status import ShutdownReport

_STDIN = "-"


@command(
    "chat",
    examples=(
        "hermes-state chat --model llama3.2 --base-url http://localhost:11434/v1",
        'hermes-state chat -q "what did we decide about the redis upgrade?"',
        'hermes-state chat --resume "redis deploy"',
    ),
)
@click.option("-q", "--query", metavar="TEXT", help="Ask this, print the answer, and leave; - reads standard input.")
@click.option("--resume", metavar="REF", help="Go on in the conversation with this id or title.")
@click.option("--model", metavar="NAME", help="The model. Default: $HERMES_STATE_MODEL, else config.yaml.")
@click.option("--base-url", metavar="URL", help="Its endpoint, e.g. http://localhost:11434/v1 for Ollama.")
def chat(
    invocation: Invocation, query: str | None, resume: str | None, model: str | None, base_url: str | None
) -> int | None:
    """Talk with a model that remembers.

    Any OpenAI-compatible endpoint will do. What is said is stored before the model answers, earlier conversations can
    be searched, and what is worth keeping is saved in memory. /help in the chat lists its commands. The key is taken
    from HERMES_STATE_API_KEY, config.yaml, or OPENAI_API_KEY.
    """
    if query is None and (invocation.json or not is_terminal(sys.stdin)):
        raise click.UsageError("there is nobody to talk with; give a message with -q TEXT, or -q - for standard input")
    text = sys.stdin.read() if query == _STDIN else query
    if text is not None and not text.strip():
        raise click.UsageError("the message is empty")
    from memory.agent.signals import ending_on_sigterm

    for shown in ("notices", "health"):  # the screen has the notices, and `memory status` every failure
        logging.getLogger(f"memory.manager.{shown}").addHandler(logging.NullHandler())
    try:
        with ending_on_sigterm(), plugin_output_on_stderr():
            return _run(invocation, text, resume=resume, model=model, base_url=base_url)
    except SystemExit as ended:  # a signal: the session has ended as it should
        return ended.code if isinstance(ended.code, int) else 1


def _run(
    invocation: Invocation, text: str | None, *, resume: str | None, model: str | None, base_url: str | None
) -> int | None:
    from memory.agent.connecting import connect, connect_review
    from memory.agent.settings import ModelSettings
    from memory.agent.wiring import open_agent
    from memory.commands.screen import Screen
    from memory.commands.slash import Chat
    from memory.settings import MemorySettings

    home = invocation.home_path()
    chosen = ModelSettings.load(home, model=model, base_url=base_url)
    settings = MemorySettings.load(home)
    color = is_terminal(sys.stderr) and not is_plain(no_color=invocation.no_color)
    screen = Screen(color=color, is_quiet=invocation.json)
    for finding in settings.findings:
        screen.note(f"config.yaml, {finding.key}: {finding.message}")
    with ExitStack() as stack:
        db = stack.enter_context(invocation.open_store(create=True))
        session_id = None if resume is None else db.sessions.resume(resume).id
        answering = stack.enter_context(closing(connect(chosen, on_wait=screen.notice)))
        reviewing = connect_review(chosen, settings)
        if reviewing is not None:
            stack.enter_context(closing(reviewing))
        wired = open_agent(
            db,
            home,
            answering,
            settings,
            surface=screen.surface(),
            session_id=session_id,
            review_model=reviewing,
            context_tokens=chosen.context_tokens,
        )
        with wired.agent:
            for notice in wired.manager.notices():
                screen.note(notice)
            opened = Chat(invocation, db, wired, screen)
            if text is not None:
                _ask_once(opened, text)
            else:
                _talk(opened, chosen.name)
        screen.show_later()
        for line in _left_over(wired.manager.shutdown()):
            screen.note(line)
    return None


def _left_over(report: ShutdownReport) -> Iterator[str]:
    """What providers were not told in time."""
    for provider, calls in report.in_outbox.items():
        yield f"{provider}: {count(calls, 'call')} waiting; told at the next start"
    for provider, calls in report.lost.items():
        yield f"{provider}: {count(calls, 'call')} lost"
    for provider, reason in report.failed.items():
        yield f"{provider} did not end well: {reason}"


def _ask_once(chat: Chat, text: str) -> None:
    answer = chat.wired.agent.turn(text)
    chat.screen.end_text()
    if chat.invocation.json:
        chat.invocation.document(_document(answer))


def _document(answer: Answer) -> dict[str, Any]:
    return {
        "answer": answer.text,
        "session_id": answer.session_id,
        "message_id": answer.message_id,
        "recalled": answer.recall.text,
        "saved": list(answer.saved),
        "tools": list(answer.tools),
    }


def _talk(chat: Chat, model_name: str) -> None:
    """The conversation, until the person leaves."""
    from memory.commands.screen import LineHistory
    from memory.commands.slash import LeaveChat

    agent = chat.wired.agent
    where = f", {len(agent.messages)} messages so far" if agent.messages else ""
    chat.screen.note(f"{model_name}{where} · /help for commands, Ctrl-D to leave")
    with LineHistory(chat.invocation.home_path()):
        while True:
            try:
                line = chat.screen.read().strip()
            except KeyboardInterrupt:
                chat.screen.note("\nCtrl-D or /exit leaves")
                continue
            except EOFError:
                chat.screen.note("")
                break
            try:
                _take(chat, line)
            except LeaveChat:
                break
    if agent.is_stored:
        chat.screen.note(f"hermes-state chat --resume {agent.session_id}")


def _take(chat: Chat, line: str) -> None:
    """A line of the person: a command, or something to say. Errors are told; the chat goes on."""
    from hermes_state.errors import HermesStateError
    from memory.commands.slash import run_slash

    if not line:
        return
    try:
        if line.startswith("/"):
            run_slash(chat, line)
        else:
            chat.wired.agent.turn(line)
            chat.screen.end_text()
    except KeyboardInterrupt:
        chat.screen.note("\ninterrupted; what was said until here is kept")
    except HermesStateError as error:
        chat.screen.error(error.message, error.hint)
