from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, shared_but_namespace

if TYPE_CHECKING:
    from recallens.model.audit import Token


@click.group()
def token() -> None:
    """Make, list and revoke the tokens that `recallens serve` asks for. Only their digests are kept."""


@token.command()
@click.option("--namespace", "namespaces", metavar="NAME", type=TEXT, multiple=True, required=True,
              help="A namespace that it opens; repeat it for several.")  # fmt: skip
@click.option("--right", type=TEXT, default="read", metavar="RIGHT", help="read or write (read); write includes read.")
@click.option("--name", metavar="NAME", type=TEXT, help="What to call it.")
@click.option("--expires", metavar="WHEN", type=TEXT, help="When it ends: 2027-01-31, or 30d for in thirty days.")
@shared_but_namespace
@pass_given
def create(given: Given, namespaces: tuple[str, ...], right: str, name: str | None, expires: str | None) -> None:
    """Make a token. Its text is shown once, on standard output.

    \b
    recallens token create --namespace default --right write --name laptop
    curl -H "Authorization: Bearer rcl_…" http://127.0.0.1:8765/v1/search?q=cache
    """
    with given.engine(create=True) as engine:
        until = None if expires is None else _later(expires, engine.core.clock())
        made, text = engine.tokens.create(namespaces, right=right, name=name, expires=until)
    if given.json:
        given.emit({"token": text, **token_record(made)})
        return
    click.echo(text)
    given.note(f"{made.id}: may {made.right} {', '.join(made.namespaces)}. The text is not shown again.")


@token.command("list")
@shared_but_namespace
@pass_given
def list_tokens(given: Given) -> None:
    """Every token, what it opens and whether it is in force; never its text."""
    from recallens.cli.screen import moment, visible

    with given.engine() as engine:
        found, now = engine.tokens.all(), engine.core.clock()
    if given.json:
        given.emit({"tokens": [token_record(one) for one in found]})
        return
    for one in found:
        state = "in force" if one.live(now) else "revoked" if one.revoked is not None else "expired"
        until = "" if one.expires is None else f", until {moment(one.expires)}"
        click.echo(visible(f"{one.id}  {one.name}\n   {one.right} {', '.join(one.namespaces)}, {state}{until}"))
    if not found:
        click.echo("no tokens: `recallens serve` answers this machine alone")


@token.command()
@click.argument("token", metavar="ID", type=TEXT)
@shared_but_namespace
@pass_given
def revoke(given: Given, token: str) -> None:
    """End the token ID (or its name) at once, also for servers that run."""
    from recallens.cli.screen import visible

    with given.engine() as engine:
        ended = engine.tokens.revoke(token)
    if given.json:
        given.emit(token_record(ended))
    else:
        click.echo(visible(f"revoked {ended.id} ({ended.name})"))


def token_record(token: Token) -> dict[str, object]:
    record = {
        "id": token.id, "name": token.name, "namespaces": list(token.namespaces), "right": token.right,
        "createdAt": token.created, "expiresAt": token.expires, "revokedAt": token.revoked,
    }  # fmt: skip
    return {name: value for name, value in record.items() if value is not None}


def _later(text: str, now: int) -> int:
    """A time to come: 30d is thirty days ago everywhere else, and ahead here."""
    from recallens.ingest.validate import parse_when

    when = parse_when(text, now_ms=now)
    moves_with_now = parse_when(text, now_ms=now + 1) != when
    return 2 * now - when if moves_with_now else when
