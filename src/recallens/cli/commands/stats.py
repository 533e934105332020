from __future__ import annotations

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.memories import facts
from recallens.cli.options import shared
from recallens.cli.screen import screen


@click.command()
@shared
@pass_given
def stats(given: Given) -> None:
    """What the namespace holds, and how it is encoded."""
    with given.engine() as engine:
        found = engine.maintenance.stats()
    if given.json:
        given.emit(found)
        return
    rows: list[tuple[str, str | None]] = [
        ("store", found["store"] + (" (read-only)" if found["readOnly"] else "")),
        ("namespace", found["namespace"]),
        ("encoder", found["encoder"] or "none: searches go by words alone"),
    ]
    rows += [(name, f"{count:,}") for name, count in found["totals"].items()]
    for name, counts in found["by"].items():
        rows.append((f"by {name}", ", ".join(f"{value.replace('_', ' ')} {n:,}" for value, n in counts.items())))
    screen(given).print(facts(rows))
