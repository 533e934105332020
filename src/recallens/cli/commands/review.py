from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click
from rich.text import Text

from recallens.cli.commands.curation import print_changes
from recallens.cli.given import Given
from recallens.cli.options import TEXT, several_ids, shared
from recallens.cli.printers import table
from recallens.cli.screen import counted, say, screen
from recallens.errors import InvalidInput
from recallens.model.citation import Finding, Standing
from recallens.render.formats import cited
from recallens.render.review import reasons

if TYPE_CHECKING:
    from recallens.operations import Answer


@click.group()
def review() -> None:
    """Decide on memories that wait: pending or in quarantine, which searches leave out until then, or proposed in the
    place of another; and on changes (p1, p2 …) that an agent proposed to what is more trusted than it.
    """


@review.command("list")
@shared
def waiting(given: Given) -> None:
    """What waits for a decision, oldest first."""

    def printed(answer: Answer) -> None:
        console, (memories, states, changes) = screen(given), answer.value
        if memories:
            console.print(table(memories))
            for memory in memories:
                why = "; ".join(reasons(memory, states.get(memory.id)))
                console.print(Text(f"{memory.handle}: {why}", style="yellow"))
        for each, words in changes:
            console.print(Text(f"{each.handle}  {words}, proposed by {each.owner or 'an agent'} ({each.zone})"))
        if changes:
            console.print(
                Text(f"{counted(len(changes), 'proposed change waits', 'proposed changes wait')}", style="dim")
            )
        console.print(Text(f"{counted(len(memories), 'memory waits', 'memories wait')} for review", style="dim"))

    given.perform("list_reviews", {}, printed)


@review.command()
@several_ids
@shared
def approve(given: Given, ids: tuple[str, ...]) -> None:
    """Make them active and trusted; what was proposed in the place of another supersedes it, and a change is done."""
    given.perform("review_memories", {"ids": ids, "approve": True}, lambda answer: print_changes("approved", answer))


@review.command()
@several_ids
@shared
def reject(given: Given, ids: tuple[str, ...]) -> None:
    """Keep them out of every search; `recallens prune` deletes them in the end. Of what was proposed in the place of
    another, only the proposal goes.
    """
    given.perform("review_memories", {"ids": ids, "approve": False}, lambda answer: print_changes("rejected", answer))


# ── citations ──


@click.group()
def cite() -> None:
    """What memories cite: files, symbols, commits, logs and terminal snapshots."""


@cite.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, type=TEXT)
@click.option("--all", "every", is_flag=True, help="Every memory that cites anything.")
@click.option("--root", metavar="DIR", type=TEXT, help="The checkout to look in (also RECALLENS_WORKSPACE).")
@click.option("--project", metavar="NAME", type=TEXT, help="With --all: only the memories of this project.")
@click.option("--mark", is_flag=True, help="Keep the verdicts: what is stale then needs review in a recall.")
@shared
def check(given: Given, ids: tuple[str, ...], every: bool, root: str | None, project: str | None, mark: bool) -> None:
    """Whether files, lines, symbols, commits and logs that are cited are there, and as they were.

    Of lines and symbols that were cited in a checkout, it says whether they are unchanged, moved (to where), changed
    (how many lines) or gone. --mark keeps that by checkout and branch, and every answer then tells it.

    \b
    recallens cite check --all --root ~/src/harbor --mark
    recallens cite check 01M7GPP8JD13

    Nothing outside the root is read, and nothing is written without --mark.
    """
    if bool(ids) == every:
        raise InvalidInput("name the memories to check, or all of them", hint="Use `cite check ID…` or `--all`.")
    if ids and project is not None:
        raise InvalidInput("--project goes with --all: an ID names its memory by itself")

    def printed(answer: Answer) -> None:
        counts = Counter(each.standing for one in answer.value for each in one.checked)
        for one in answer.value:
            for each in one.checked:
                if ids or each.standing is not Standing.VERIFIED or each.reason:
                    why = f": {each.reason}" if each.reason else ""
                    say(f"{one.memory}  {each.finding or each.standing:9}  {cited(each.citation)}{why}")
        figures = ", ".join(f"{counts[standing]:,} {standing}" for standing in Standing)
        memories, record = counted(len(answer.value), "memory", "memories"), answer.record
        found = ", ".join(f"{record[finding]:,} {finding}" for finding in Finding if record[finding])
        known = f"; of lines as they were cited: {found}" if found else ""
        say(f"{counted(sum(counts.values()), 'citation')} of {memories}: {figures}{known}")
        if record["commit"] is not None:
            given.note(f"looked in {record['root']}, {record['branch'] or 'no branch'} at {record['commit'][:10]}")
        if answer.record["root"] is None and counts[Standing.UNKNOWN]:
            given.note("no workspace: files and commits were not looked for. Give the checkout with --root DIR.")

    project = given.asker({"project": project})["project"] if every else None
    given.perform("check_citations", {"ids": ids, "root": root, "project": project, "mark": mark}, printed)
