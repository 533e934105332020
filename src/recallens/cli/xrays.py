"""The X-ray on its way out: in the format that was asked for, to the screen or to a file, byte for byte as rendered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from recallens.cli.given import Given
from recallens.model.snapshot import Snapshot
from recallens.render import DEFAULT_FORMAT, json, render, writers
from recallens.render.document import document
from recallens.render.records import to_text
from recallens.render.tree import Field, Nothing, Row, Section, Table
from recallens.xray.sensitivity import Sensitivity


def chosen_format(given: Given, format: str | None) -> str:
    """--json means the same as --format json."""
    if given.json and format not in (None, "json"):
        raise click.UsageError(f"--json means --format json, which {format} is not; give one of the two")
    if format == "json":
        given.json = True
    return "json" if given.json else format or DEFAULT_FORMAT


def unseen(format: str) -> str:
    """What is said where capture is off."""
    return render(None, format) if format == "json" else "no X-ray: the setting `capture` is off"


def written(snapshot: Snapshot, format: str, sensitivity: Sequence[Sensitivity] | None = None) -> str:
    """The snapshot as rendered; what each result owes to its terms comes after it where it was asked for."""
    if sensitivity is None:
        return render(snapshot, format)
    page = document(snapshot)
    if format == "json":
        return to_text({**json.record(page), "sensitivity": [one.to_json() for one in sensitivity]})
    return writers()[format](replace(page, sections=(*page.sections, _section(sensitivity))))


def _section(sensitivity: Sequence[Sensitivity]) -> Section:
    heading = "sensitivity"
    if not sensitivity:
        return Nothing(heading, Field((heading,), heading, []))
    rows = [
        Row(
            "",
            (
                Field((heading, place, "memoryId"), "memory", one.memory_id),
                Field((heading, place, "sentence"), "sentence", one.sentence),
            ),
            lambda shown: ": ".join(text for _, text in shown),
        )
        for place, one in enumerate(sensitivity)
    ]
    return Table(heading, tuple(rows))


def show(given: Given, text: str, out: Path | None) -> None:
    """Plainly: no wrapping, no colour, one newline at the end."""
    if out is None:
        click.echo(text)
        return
    from recallens.cli.writing import write

    write(out, text + "\n")
    given.note(f"wrote {out}")
