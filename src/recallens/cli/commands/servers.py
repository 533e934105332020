from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import WHOLE_STORE, refuse_unused, shared
from recallens.cli.screen import say

if TYPE_CHECKING:
    from recallens.operations import Answer


@click.group()
def store() -> None:
    """Of a store on a server: the index of large namespaces, and a cluster."""


@store.command()
@click.option("--measure", is_flag=True, help="Only compare the index that is there with an exact look.")
@click.option("--drop", is_flag=True, help="Take the index away: processes hold the namespace in memory again.")
@shared
def index(given: Given, measure: bool, drop: bool) -> None:
    """Let the database propose candidates of the namespace, by an index of its words and vectors (pgvector).

    It can be stopped and run again, while others read and write. A namespace up to resident_memories stays in memory
    all the same; `recallens worker` makes the index of larger ones by itself.
    """

    def printed(answer: Answer) -> None:
        record = answer.record
        if not record["indexed"]:
            say(f"{record['namespace']} is answered from memory")
            return
        found = record["recallAtTen"]
        say(f"{record['namespace']}: {record['memories']:,} memories are in the index of the database")
        if found is not None:
            say(f"of the ten nearest it finds {found:.1%}, measured on {record['sampled']} questions")
        if not record["answers"]:
            given.note("it is not above resident_memories, and so is answered from memory")

    if drop:
        refuse_unused("with --drop", "measure")
    given.perform("index_namespace", {"measure": measure, "drop": drop}, printed)


@store.command()
@click.option("--dry-run", is_flag=True, help="Only print the statements.")
@shared
def distribute(given: Given, dry_run: bool) -> None:
    """Spread the tables of namespaces over the workers of a Citus cluster; what is spread already stays as it is.

    Each namespace is then on one worker with everything that belongs to it. Nobody may use the store meanwhile.
    """

    def printed(answer: Answer) -> None:
        for statement in answer.record["statements"]:
            say(statement)
        if not dry_run:
            say("the store is distributed" if answer.record["statements"] else "nothing is left to distribute")

    refuse_unused(*WHOLE_STORE)
    given.perform("distribute_store", {"dry_run": dry_run}, printed)
