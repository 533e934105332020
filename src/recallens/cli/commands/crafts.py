from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.files import words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, Decorated, Size, no_record, project_asked, shared

if TYPE_CHECKING:
    from recallens.model.craft import Craft
    from recallens.operations import Answer

_COUNTS = ("success_count", "occurrence_count", "confidence")
_FOUND = Size("limit", "results", 10)
_ASKING = (
    project_asked,
    click.option("--task", metavar="TASK", type=TEXT, help="The running task that asks."),
    click.option("--session", metavar="ID", type=TEXT, help="The session that asks."),
    no_record,
)
_KEEPING = (
    click.option("--cite", "citations", metavar="CITATION", type=TEXT, multiple=True,
                 help="What it rests on, as for remember; repeat it for several."),
    click.option("--project", metavar="NAME", type=TEXT, help="The project it belongs to."),
    click.option("--session", metavar="ID", type=TEXT, help="The session that learned it."),
    click.option("--task", metavar="TASK", type=TEXT, help="The task it belongs to."),
    click.option("--tag", "tags", metavar="TAG", type=TEXT, multiple=True, help="Repeat it for several."),
)  # fmt: skip


def _with(options: Sequence[Any]) -> Callable[[Decorated], Decorated]:
    def apply(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


# ── skills ──


@click.group()
def skill() -> None:
    """Get the skill about a topic, or add one: its principles, pitfalls and how to do it."""


@skill.command("get")
@click.argument("topic", nargs=-1, required=True, type=TEXT)
@_with(_ASKING)
@shared
def get_skill(given: Given, /, topic: tuple[str, ...], **options: Any) -> None:
    """The skill about TOPIC."""
    _search(given, "get_skill", {"topic": " ".join(topic)}, options)


@skill.command("add")
@click.argument("topic", nargs=-1, required=True, type=TEXT)
@click.option("--context", type=TEXT, default="", help="When it applies.")
@click.option("--principle", "core_principles", metavar="TEXT", type=TEXT, multiple=True,
              help="A core principle; repeat it for several.")  # fmt: skip
@click.option("--pitfall", "pitfalls", metavar="TEXT", type=TEXT, multiple=True, help="Repeat it for several.")
@click.option("--guide", "implementation_guide", metavar="TEXT", type=TEXT, default="",
              help="How to do it; - reads standard input.")  # fmt: skip
@click.option("--confidence", type=float, default=0.8, metavar="0..1", help="How sure it is (0.8).")
@_with(_KEEPING)
@shared
def add_skill(given: Given, /, topic: tuple[str, ...], **fields: Any) -> None:
    """Record a skill; one of the same topic takes what is new.

    \b
    recallens skill add "PostgreSQL major upgrade" --guide - < upgrade.md
    """
    _add(given, "add_skill", {"topic": " ".join(topic), **fields}, long="implementation_guide")


# ── patterns ──


@click.group()
def patterns() -> None:
    """Search what has worked before, or add to it."""


@patterns.command("search")
@click.argument("query", nargs=-1, required=True, type=TEXT)
@click.option("--limit", "-k", type=_FOUND, default=10, metavar="N", help="How many (10).")
@_with(_ASKING)
@shared
def search_patterns(given: Given, /, query: tuple[str, ...], limit: int, **options: Any) -> None:
    """Patterns about QUERY, the best first."""
    _search(given, "search_patterns", {"query": words(query), "limit": limit}, options)


@patterns.command("add")
@click.argument("title", nargs=-1, required=True, type=TEXT)
@click.option("--description", type=TEXT, default="", help="What it is and why it works.")
@click.option("--example-code", type=TEXT, help="Code that shows it; - reads standard input.")
@click.option("--success-count", type=int, default=1, metavar="N", help="How often it worked (1); adds up.")
@_with(_KEEPING)
@shared
def add_pattern(given: Given, /, title: tuple[str, ...], **fields: Any) -> None:
    """Record a pattern; of the same title, its success count grows."""
    _add(given, "add_pattern", {"title": " ".join(title), **fields}, long="example_code")


# ── gotchas ──


@click.group()
def gotchas() -> None:
    """Search known issues and their resolutions, or add one."""


@gotchas.command("search")
@click.argument("query", nargs=-1, type=TEXT)
@click.option(
    "--files", metavar="FILE", type=TEXT, multiple=True, help="Only what affects this file; repeat it for several."
)
@click.option("--limit", "-k", type=_FOUND, default=10, metavar="N", help="How many (10).")
@_with(_ASKING)
@shared
def search_gotchas(given: Given, /, query: tuple[str, ...], files: tuple[str, ...], limit: int, **options: Any) -> None:
    """Known issues about QUERY, or of the files alone."""
    if not query and not files:
        raise click.UsageError("give a QUERY, --files, or both")
    _search(given, "search_gotchas", {"query": words(query), "files": files, "limit": limit}, options)


@gotchas.command("add")
@click.argument("title", nargs=-1, required=True, type=TEXT)
@click.option("--description", type=TEXT, default="", help="What happens.")
@click.option("--resolution", type=TEXT, default="", help="What to do about it.")
@click.option("--trigger", "trigger_conditions", metavar="TEXT", type=TEXT, multiple=True,
              help="When it happens; repeat it for several.")  # fmt: skip
@click.option("--files", metavar="FILE", type=TEXT, multiple=True, help="A file it affects; repeat it for several.")
@click.option("--occurrence-count", type=int, default=1, metavar="N", help="How often it was seen (1); adds up.")
@_with(_KEEPING)
@shared
def add_gotcha(given: Given, /, title: tuple[str, ...], **fields: Any) -> None:
    """Record a known issue; of the same title, its occurrence count grows.

    \b
    recallens gotchas add "Tests hang" --resolution "Set OMP_NUM_THREADS=1"
    """
    _add(given, "add_gotcha", {"title": " ".join(title), **fields})


# ── both ways ──


def _search(given: Given, operation: str, asked: dict[str, Any], options: dict[str, Any]) -> None:
    silent = options.pop("no_record")
    given.perform(operation, {**asked, **given.asker(options)}, _print_crafts, no_record=silent)


def _add(given: Given, operation: str, fields: dict[str, Any], *, long: str | None = None) -> None:
    from recallens.cli.files import read_text
    from recallens.ingest.citations import parse_citation

    if long is not None and fields[long] == "-":
        fields[long] = read_text("-")
    for text in fields["citations"]:
        parse_citation(text)  # before a store is made for it
    given.perform(operation, fields, _print_crafts, create=True)


def _print_crafts(answer: Answer) -> None:
    from recallens.cli.screen import say
    from recallens.model.craft import compose

    crafts: Sequence[Craft] = answer.value
    for craft, record in zip(crafts, answer.record.get("results", [answer.record]), strict=True):
        counts = [f"{name.replace('_', ' ')} {record[name]}" for name in _COUNTS if name in record]
        say(f"{craft.id}  {', '.join(counts)}")
        say(compose(craft))
        click.echo()
    if not crafts:
        click.echo("none is known")
