from __future__ import annotations

import json
from typing import IO

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import shared
from recallens.cli.screen import visible
from recallens.errors import InvalidInput


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8"), default="-")
@shared
@pass_given
def verify(given: Given, file: IO[str]) -> None:
    """Whether what a certificate rests on still stands: exit 1 if a memory in it changed, or it was altered.

    FILE is the JSON of a search (with its certificate), or of a certificate alone; - is standard input.

    \b
    recallens search "who approves deploys" --json > answer.json
    recallens verify answer.json
    """
    try:
        record = json.loads(file.read())
        certificate = record.get("certificate", record)
    except (ValueError, AttributeError) as error:
        raise InvalidInput(
            "this is no JSON of a search", hint="Give what `recallens search --json` printed, or its certificate."
        ) from error
    with given.engine() as engine:
        found = engine.recalls.verify_certificate(certificate)
    if given.json:
        given.emit(found.to_json())
    else:
        click.echo("valid: every memory is as it was" if found.valid else "not valid")
        if found.altered:
            click.echo("- the certificate was altered: its digest is of other evidence")
        for id, why in found.stale.items():
            click.echo(visible(f"- {id}: {why}"))
    if not found.valid:
        raise SystemExit(1)
