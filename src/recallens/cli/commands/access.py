from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, now_ms, page, shared, shared_but_namespace
from recallens.cli.screen import counted, moment, say
from recallens.errors import StoreError
from recallens.render.formats import as_name

if TYPE_CHECKING:
    from recallens.model.audit import Token
    from recallens.operations import Answer

_NEXT = "The log was changed by something other than Recallens. Keep this file, and compare it with a backup."
_SHOWN_DIGEST = 12


# ── tokens ──


@click.group()
def token() -> None:
    """Make, list and revoke the tokens that `recallens serve` asks for. Only their digests are kept."""


@token.command()
@click.option("--namespace", "namespaces", metavar="NAME", type=TEXT, multiple=True, required=True,
              help="A namespace that it opens; repeat it for several.")  # fmt: skip
@click.option("--right", type=TEXT, default="read", metavar="RIGHT", help="read or write (read); write includes read.")
@click.option("--name", metavar="NAME", type=TEXT, help="What to call it.")
@click.option("--scope", "scopes", metavar="WORD", type=TEXT, multiple=True,
              help="A context that its caller holds: what is remembered for it is shown.")  # fmt: skip
@click.option("--expires", metavar="WHEN", type=TEXT, help="When it ends: 2027-01-31, or 30d for in thirty days.")
@shared_but_namespace
def create(given: Given, /, **attributes: object) -> None:
    """Make a token. Its text is shown once, on standard output.

    \b
    recallens token create --namespace default --right write --name laptop
    curl -H "Authorization: Bearer rcl_…" http://127.0.0.1:8765/v1/search?q=cache
    """

    def printed(answer: Answer) -> None:
        made = answer.value
        click.echo(answer.record["token"])
        granted = f"may {made.right} {', '.join(made.namespaces)}{_held(made)}"
        given.note(f"{made.id}: {granted}. The text is not shown again.")

    given.perform("create_token", attributes, printed, create=True)


def _held(token: Token) -> str:
    return f" and holds {', '.join(token.scopes)}" if token.scopes else ""


@token.command("list")
@shared_but_namespace
def list_tokens(given: Given) -> None:
    """Every token, what it opens and whether it is in force; never its text."""

    def printed(answer: Answer) -> None:
        now = now_ms()
        for one in answer.value:
            state = "in force" if one.live(now) else "revoked" if one.revoked is not None else "expired"
            until = "" if one.expires is None else f", until {moment(one.expires)}"
            say(f"{one.id}  {one.name}\n   {one.right} {', '.join(one.namespaces)}{_held(one)}, {state}{until}")
        if not answer.value:
            click.echo("no tokens: `recallens serve` answers the person at this machine alone")

    given.perform("list_tokens", {}, printed)


@token.command()
@click.argument("token", metavar="ID", type=TEXT)
@shared_but_namespace
def revoke(given: Given, token: str) -> None:
    """End the token ID (or its name) at once, also for servers that run."""
    given.perform(
        "revoke_token", {"token": token},
        lambda answer: say(f"revoked {answer.record['id']} ({answer.record['name']})"),
    )  # fmt: skip


# ── the audit log ──


@click.group()
def audit() -> None:
    """The log of who did what with which memories, and when. It holds digests, never texts."""


@audit.command()
@click.option("--anchor", metavar="FILE", help="Compare with what this file was told (setting audit_anchor).")
@click.option("--audit-key", "key", metavar="FILE", help="A file with further keys that entries were signed with.")
@shared
@click.pass_context
def verify(ctx: click.Context, given: Given, anchor: str | None, key: str | None) -> None:
    """Whether any entry was altered, deleted, reordered, cut off, made anew or rolled back. Exit 4 if so."""

    def printed(answer: Answer) -> None:
        record = answer.record
        problems = record["problems"]
        for problem in problems:
            say(f"problem: {problem}")
        told = f"{counted(len(problems), 'problem')} in" if problems else "whole:"
        say(f"{told} {counted(record['entries'], 'entry', 'entries')} of namespace {record['namespace']}")
        for note in record["notes"]:
            say(f"note: {note}")
        if problems:
            click.echo(f"next: {_NEXT}")

    if not given.perform("verify_audit", {"anchor": anchor, "key": key}, printed).record["ok"]:
        ctx.exit(StoreError.exit_code)


@audit.command("anchor")
@click.argument("file", metavar="FILE")
@shared
def anchor_log(given: Given, file: str) -> None:
    """Append to FILE where the log ends now. Keep it where whoever can change the store cannot."""
    given.perform(
        "anchor_audit", {"file": file},
        lambda answer: say(f"anchored entry {answer.record['number']} of namespace {answer.record['namespace']}"),
    )  # fmt: skip


@audit.command("list")
@page
@click.option("--limit", type=click.IntRange(1, 1000), default=20, metavar="N", help="Entries a page (20).")
@shared
def list_entries(given: Given, page: int, limit: int) -> None:
    """Who did what with which memories, the latest first."""

    def printed(answer: Answer) -> None:
        entries = answer.record["entries"]
        for entry in entries:
            by = _asker(entry) or "the person at the machine"
            within = f"  session {entry['session']}" if "session" in entry else ""
            asked = f"  question {entry['questionDigest'][:_SHOWN_DIGEST]}" if "questionDigest" in entry else ""
            ended = f"  ({entry['error']})" if "error" in entry else ""
            say(f"{entry['id']}  {moment(entry['at'])}  {entry['operation']}  by {by}{within}{asked}{ended}")
            named, others = entry.get("memories", []), entry.get("unnamed", 0)
            more = [counted(others, "memory", "memories") + " no longer named"] if others else []
            if named or more:
                say(f"    {', '.join((*named, *more))}")
        if not entries:
            click.echo("nothing was written down yet" if page == 1 else "no more entries")

    given.perform("list_audit", {"page": page, "limit": limit}, printed)


def _asker(record: Mapping[str, Any]) -> str:
    """A token, or an agent with the name that it gives itself; empty for the person."""
    if "agent" in record:
        return " ".join(
            ("an agent over", record["agent"], *([as_name(record["client"])] if "client" in record else []))
        )
    return f"token {record['token']}" if "token" in record else ""


@audit.command("anomalies")
@shared
def list_anomalies(given: Given) -> None:
    """Patterns that an honest agent seldom shows: repeat-query, namespace-walk, high-cardinality, rapid-fire."""

    def printed(answer: Answer) -> None:
        for one in answer.record["anomalies"]:
            by = f"session {one['session']}" if one["session"] else "without a session"
            say(f"{one['kind']}: {one['count']:,} {one['about']}, {_asker(one) or by}")
        if not answer.value:
            click.echo("no anomalies")

    given.perform("list_anomalies", {}, printed)
