from __future__ import annotations

import click
from rich.text import Text

from recallens.cli.given import Given, pass_given
from recallens.cli.memories import attributes, facts
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, first_line, moment, screen, visible
from recallens.model.citation import Citation, CitationCheck
from recallens.model.memory import Memory, Relation, RelationType
from recallens.render.formats import cited, headline
from recallens.render.records import shown_record


@click.command()
@click.argument("id", type=TEXT)
@shared
@pass_given
def show(given: Given, id: str) -> None:
    """One memory in full. Six characters of its ID or more will do, if they fit only one."""
    with given.engine() as engine:
        memory = engine.get(id)
        salience = engine.memories.salience([memory])[memory.id]
        relations = engine.memories.relations(memory.id)
        context = engine.sessions.context(memory.id)
        uplift = engine.tasks.uplift_of([memory.id]).get(memory.id)
        check = engine.maintenance.citations.last_check(memory.id)
        others = {other: engine.get(other) for relation in relations for other in _ends(relation) if other != memory.id}
    after = [relation.source for relation in relations if _replaced(relation, memory)]
    if given.json:
        given.emit(
            shown_record(
                memory, salience=salience, relations=relations, uplift=uplift, context=context, check=check,
                successor=others[after[-1]] if after else None,
            )
        )  # fmt: skip
        return
    console = screen(given)
    if memory.title:
        console.print(Text(visible(memory.title), style="bold"))
    console.print(Text(memory.id, style="cyan"))
    # Into a file or a pipe the text goes as it is; only a terminal needs it wrapped.
    console.print()
    if console.is_terminal:
        console.print(Text(visible(memory.content)))
    else:
        click.echo(visible(memory.content))
    console.print()
    if after:
        console.print(
            Text(f"superseded by {after[-1]}: {first_line(headline(others[after[-1]]), 120)}\n", style="yellow")
        )
    rows = attributes(memory, salience)
    if uplift is not None:
        told = f"{uplift.value:+.2f} over {counted(uplift.tasks, 'task')} (confidence {uplift.confidence:.2f})"
        rows.append(("uplift", told))
    rows += [("cites", _judged(citation, check)) for citation in memory.citations]
    if context is not None:
        session = context.session
        rows.append(("session", f"{session.id} ({context.usage} it, {moment(session.started)})"))
        rows.append(("", session.summary and first_line(session.summary)))
    rows += [("relation", _told(relation, memory, others)) for relation in relations]
    console.print(facts(rows))


def _judged(citation: Citation, check: CitationCheck | None) -> str:
    """The citation, and what was last found out about it."""
    known = {each.citation: each for each in check.checked} if check is not None else {}
    each = known.get(citation)
    return cited(citation) + (f" ({each.standing}{each.reason and ': '}{each.reason})" if each is not None else "")


def _ends(relation: Relation) -> tuple[str, str]:
    return relation.source, relation.target


def _replaced(relation: Relation, memory: Memory) -> bool:
    return relation.type is RelationType.SUPERSEDES and relation.target == memory.id


def _told(relation: Relation, memory: Memory, others: dict[str, Memory]) -> str:
    """In the direction it has, with the other end's first words."""
    outward = relation.source == memory.id
    other = others[relation.target if outward else relation.source]
    arrow = f"{relation.type} →" if outward else f"← {relation.type}"
    return f"{arrow} {other.id} {first_line(headline(other), 60)}"
