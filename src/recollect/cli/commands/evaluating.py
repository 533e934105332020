from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.given import Given, pass_given
from recollect.cli.options import TEXT, Size, shared
from recollect.cli.progress import bar
from recollect.cli.screen import screen

if TYPE_CHECKING:
    from recollect.evaluate.running import Run


@click.command("eval")
@click.option(
    "--dataset",
    "datasets",
    metavar="DIR",
    type=TEXT,
    multiple=True,
    required=True,
    help="The folder of a judged set; can be repeated.",
)
@click.option(
    "--preset",
    "presets",
    metavar="NAME",
    type=TEXT,
    multiple=True,
    help="The ranking to measure; can be repeated: the first is compared to the others.",
)
@click.option(
    "--limit-queries",
    metavar="N",
    type=Size("limit-queries", "questions", 100),
    help="Ask only the first N questions of each set.",
)
@click.option("--out", metavar="DIR", type=TEXT, help="Write the ranked lists there, as JSON lines.")
@click.option("--abstention", is_flag=True, help="Ask what has no answer too, and weigh risk against coverage.")
@shared
@pass_given
def evaluating(
    given: Given, /, datasets: tuple[str, ...], presets: tuple[str, ...], limit_queries: int | None, out: str | None,
    abstention: bool,
) -> None:  # fmt: skip
    """Measure recall on sets of judged questions, in stores of their own.

    Vectors are kept between runs (RECOLLECT_EVAL_CACHE names the folder). docs/evaluation.md has the format of a set
    and says how to read the figures.

    \b
    recollect eval --dataset sets/locomo-dev
    recollect eval --dataset sets/scifact --preset default --preset bm25
    """
    from recollect.evaluate.caching import cached_encoder
    from recollect.evaluate.dataset import read_dataset
    from recollect.evaluate.report import write_lists
    from recollect.evaluate.running import asked, evaluate, steps
    from recollect.recall.presets import preset_named

    settings = given.settings()
    names = [preset_named(name).name for name in presets or (settings.preset,)]
    sets = [read_dataset(Path(folder).expanduser()) for folder in dict.fromkeys(datasets)]
    encoder = cached_encoder(settings)
    runs: list[Run] = []
    for dataset in sets:
        questions = asked(dataset, unanswerable=abstention, most=limit_queries)
        with bar(given, dataset.name, steps(dataset, questions, names)) as advance:
            found = evaluate(dataset, questions, list(dict.fromkeys(names)), encoder=encoder, advance=advance)
        for path in write_lists(Path(out).expanduser(), found) if out is not None else ():
            given.note(f"wrote {path}")
        runs += found
    _tell(given, runs, abstention=abstention)


def _tell(given: Given, runs: list[Run], *, abstention: bool) -> None:
    from recollect.evaluate import report

    if given.json:
        for run in runs:
            click.echo(json.dumps(report.summary(run), ensure_ascii=False))
            if abstention:
                click.echo(json.dumps(report.abstention_summary(run), ensure_ascii=False))
        return
    console = screen(given)
    for table in (
        *report.tables(runs),
        *(report.type_table(run) for run in runs),
        report.comparison_table(runs),
        *(report.abstention_table(run) for run in runs if abstention),
    ):
        if table is not None:
            console.print(table)
            console.print()
