from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import OneOf, now_ms, shared
from recallens.model.hook import HookEvent

if TYPE_CHECKING:
    from recallens.cli.hook_log import HookLog
    from recallens.model.hook import HookInput, Injection

START_TOKENS = 700


@click.command()
@click.argument("event", type=OneOf(HookEvent, "event of a hook"))
@click.option("--client", metavar="NAME", default="claude-code", help="Which client calls it (claude-code).")
@click.option("--tokens", type=click.IntRange(min=100), default=START_TOKENS, metavar="N",
              help=f"At the start of a session, at most this many tokens ({START_TOKENS}).")  # fmt: skip
@shared
def hook(given: Given, event: HookEvent, client: str, tokens: int) -> None:
    """What a client's hook runs: session-start, prompt, before-tool or session-end.

    It reads what the client tells on standard input and answers in the client's own JSON. Whatever goes wrong, it exits
    with 0 and says so on standard error: a memory never stops the work. `recallens install --hooks` sets it up.
    """
    from recallens.cli.clients.hooks import answer, hooks_of

    hooks_of(client)  # a wrong name is the person's mistake, and is told
    try:
        said = answer(client, event, _run(given, event, client, tokens))
    except Exception as error:
        click.echo(f"recallens hook {event}: {error}", err=True)
        said = "{}"
    click.echo(said)


def _run(given: Given, event: HookEvent, client: str, tokens: int) -> Injection | None:
    from recallens.cli.clients.hooks import told
    from recallens.cli.hook_log import HookLog
    from recallens.cli.hook_server import asked, socket_of
    from recallens.errors import StoreMissing

    heard = told(client, sys.stdin.buffer.read().decode("utf-8", "replace"))
    store = given.settings().store
    if event is HookEvent.SESSION_END:
        _take_in(given, heard, HookLog(store))
        return None
    server = socket_of(store)
    injection = _nothing_asked(event, heard)
    if injection is None and server is not None:
        injection = asked(server, event, heard, given.settings().namespace)
    if injection is None:
        from recallens.engine import hooks

        # The second encoder is for other languages than English: half of what a cold start costs.
        second = "none" if heard.prompt.isascii() else None
        try:
            with given.engine(encoder_second=second) as engine:
                injection = hooks.given(engine, event, heard, tokens=tokens)
        except StoreMissing:  # nothing was ever kept: there is nothing to say
            return None
    HookLog(store).add(injection.decision(event, heard, now_ms()))
    return injection


def _nothing_asked(event: HookEvent, heard: HookInput) -> Injection | None:
    """The silence of what needs no memory, for which none is opened."""
    from recallens.model.hook import Injection, asked_of_tool, question_of

    if event is HookEvent.PROMPT and question_of(heard) is None:
        return Injection(reason="the prompt asks nothing")
    if event is HookEvent.BEFORE_TOOL and asked_of_tool(heard) is None:
        return Injection(reason="neither an edit nor a command that does anything")
    return None


def _take_in(given: Given, heard: HookInput, log: HookLog) -> None:
    from recallens.engine import hooks

    with given.engine(create=True) as engine:
        ended = hooks.session_ended(engine, heard, list(log.read()))
    log.add(ended.judged)
    click.echo(f"recallens: {ended.turns} turns kept, {ended.found} findings", err=True)
