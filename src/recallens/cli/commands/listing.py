from __future__ import annotations

import click
from rich.text import Text

from recallens.cli.given import Given, pass_given
from recallens.cli.memories import table
from recallens.cli.options import TEXT, OneOf, listed, shared
from recallens.cli.screen import counted, screen
from recallens.ingest.validate import option
from recallens.model.memory import Kind, Sector, Status, Tier
from recallens.render.records import memory_record
from recallens.store.records import Listing
from recallens.text.normalize import normalize

ANY_STATUS = "all"


@click.command("list")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project.")
@click.option("--sector", type=OneOf(Sector, "sector"), help=f"Only this sector: {listed(Sector)}.")
@click.option("--kind", type=OneOf(Kind, "kind"), help=f"Only this kind: {listed(Kind)}.")
@click.option("--tier", type=OneOf(Tier, "tier"), help=f"Only this tier: {listed(Tier)}.")
@click.option(
    "--status",
    "statuses",
    metavar="STATUS",
    type=TEXT,
    multiple=True,
    default=[Status.ACTIVE],
    help=f"Only this status (active): {listed(Status)}, or all. Repeat it for several.",
)
@click.option("--tag", metavar="TAG", type=TEXT, help="Only with this tag.")
@click.option("--session", metavar="ID", type=TEXT, help="Only what this session touched.")
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page (1).")
@click.option("--limit", type=int, default=20, metavar="N", help="Memories a page (20).")
@shared
@pass_given
def list_memories(
    given: Given, project: str | None, sector: Sector | None, kind: Kind | None, tier: Tier | None,
    statuses: tuple[str, ...], tag: str | None, session: str | None, page: int, limit: int,
) -> None:  # fmt: skip
    """Browse memories, newest first."""
    wanted = () if ANY_STATUS in statuses else tuple(option(Status, status, "status") for status in statuses)
    listing = Listing(
        project=project, sector=sector, kind=kind, tier=tier, statuses=wanted, session=session,
        tag=None if tag is None else normalize(tag.lstrip("#")), limit=limit, offset=(page - 1) * max(limit, 0),
    )  # fmt: skip
    with given.engine() as engine:
        found = engine.memories.browse(listing)
        saliences = engine.memories.salience(found.memories)
    if given.json:
        records = [memory_record(memory, saliences[memory.id]) for memory in found.memories]
        given.emit({"total": found.total, "page": page, "limit": limit, "memories": records})
        return
    console = screen(given)
    if found.memories:
        console.print(table(found.memories))
    pages = -(-found.total // limit)
    status = "any status" if not wanted else " or ".join(wanted).replace("_", " ")
    told = f"{counted(found.total, 'memory', 'memories')} ({status}) · page {page} of {max(pages, 1)}"
    console.print(Text(told, style="dim"))
