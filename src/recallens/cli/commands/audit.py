from __future__ import annotations

from typing import Any

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import shared
from recallens.cli.screen import counted, moment, visible
from recallens.errors import StoreError
from recallens.model.audit import AuditEntry

_NEXT = "The log was changed by something other than Recallens. Keep this file, and compare it with a backup."
_SHOWN_DIGEST = 12


@click.group()
def audit() -> None:
    """The log of what was injected into which session. It holds digests, never texts."""


@audit.command()
@shared
@pass_given
@click.pass_context
def verify(ctx: click.Context, given: Given) -> None:
    """Whether any entry was altered, deleted, reordered or cut off. Exit 4 if so."""
    with given.engine() as engine:
        count, problems = engine.audit.verify()
        name = engine.core.namespace(None)
    if given.json:
        given.emit({"ok": not problems, "namespace": name, "entries": count, "problems": problems})
    else:
        for problem in problems:
            click.echo(visible(f"problem: {problem}"))
        told = f"{counted(len(problems), 'problem')} in" if problems else "whole:"
        click.echo(visible(f"{told} {counted(count, 'entry', 'entries')} of namespace {name}"))
        if problems:
            click.echo(f"next: {_NEXT}")
    if problems:
        ctx.exit(StoreError.exit_code)


@audit.command("list")
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page (1).")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, metavar="N", help="Entries a page (20).")
@shared
@pass_given
def list_entries(given: Given, page: int, limit: int) -> None:
    """What was injected, the latest first: one entry a memory."""
    with given.engine() as engine:
        written, found = engine.audit.entries(limit=limit, page=page)
    if given.json:
        given.emit({"total": written, "page": page, "limit": limit, "entries": [_record(entry) for entry in found]})
        return
    for entry in found:
        asked = f"query {entry.query_digest[:_SHOWN_DIGEST]}"
        by = f"session {entry.session}" if entry.session else "no session"
        click.echo(visible(f"{entry.id}  {moment(entry.at)}  {entry.memories[0]}  {by}  {asked}"))
    if not found:
        click.echo("nothing was injected yet" if page == 1 else "no more entries")


def _record(entry: AuditEntry) -> dict[str, Any]:
    record = {
        "id": entry.id, "number": entry.number, "at": entry.at, "session": entry.session,
        "queryDigest": entry.query_digest, "memoryId": entry.memories[0], "contentHash": entry.memories[1],
        "previous": entry.previous, "digest": entry.digest,
    }  # fmt: skip
    return {name: value for name, value in record.items() if value is not None}


@audit.command("anomalies")
@shared
@pass_given
def list_anomalies(given: Given) -> None:
    """Patterns that an honest agent seldom shows: repeat-query, namespace-walk, high-cardinality, rapid-fire."""
    with given.engine() as engine:
        found = engine.audit.anomalies()
    if given.json:
        records = [{"kind": one.kind, "session": one.session, "count": one.count, "about": one.about} for one in found]
        given.emit({"anomalies": records})
        return
    for one in found:
        by = f"session {one.session}" if one.session else "without a session"
        click.echo(visible(f"{one.kind}: {one.count:,} {one.about}, {by}"))
    if not found:
        click.echo("no anomalies")
