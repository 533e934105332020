from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given, pass_given
from recallens.cli.options import TEXT, Size, shared
from recallens.cli.progress import bar
from recallens.cli.screen import screen
from recallens.errors import InvalidInput

if TYPE_CHECKING:
    from recallens.evaluate.dataset import Dataset
    from recallens.evaluate.gates import Least
    from recallens.evaluate.running import Run

_ALL = ""


@click.command("eval")
@click.argument("files", nargs=-1, type=TEXT, metavar="[FILE]...")
@click.option(
    "--dataset",
    "datasets",
    metavar="DIR",
    type=TEXT,
    multiple=True,
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
    "--sweep",
    "sweeps",
    metavar="NAME=V,V",
    type=TEXT,
    multiple=True,
    help="A row for each value of alpha, beta, weight:bm25 …; repeat it for combinations.",
)
@click.option(
    "--limit-queries",
    metavar="N",
    type=Size("limit-queries", "questions", 100),
    help="Ask only the first N questions of each set; with --init, propose at most N.",
)
@click.option("--misses", is_flag=True, help="What a golden set expects and the first 10 lack, and why.")
@click.option(
    "--min", "least", metavar="METRIC=VALUE", type=TEXT, multiple=True,
    help="Exit with 1 if a metric is lower, such as recall@5=0.85; can be repeated.",
)  # fmt: skip
@click.option("--out", "-o", metavar="PATH", type=TEXT, help="Write the run (FILE.json), or a dataset's lists (DIR).")
@click.option("--compare", metavar="FILE", type=TEXT, help="Compare with a run that --out wrote.")
@click.option(
    "--init", "init", metavar="[VAULT]", type=TEXT, is_flag=False, flag_value=_ALL,
    help="Propose a golden set from titles and headings, to be edited.",
)  # fmt: skip
@click.option("--abstention", is_flag=True, help="Ask what has no answer too, and weigh risk against coverage.")
@shared
@pass_given
def evaluating(
    given: Given, /, files: tuple[str, ...], datasets: tuple[str, ...], presets: tuple[str, ...],
    sweeps: tuple[str, ...], limit_queries: int | None, misses: bool, least: tuple[str, ...], out: str | None,
    compare: str | None, init: str | None, abstention: bool,
) -> None:  # fmt: skip
    """Measure recall: on your own store by golden sets, or on judged datasets in stores of their own.

    A golden set is a YAML or JSON-lines file of questions and the files or memories that answer them. Nothing is
    recorded. docs/evaluation.md has the formats and says how to read the figures.

    \b
    recallens eval --init -o golden.yaml
    recallens eval golden.yaml --misses --min recall@5=0.85
    recallens eval golden.yaml --sweep alpha=0.3,0.5,0.7 --sweep weight:bm25=1,2
    recallens eval golden.yaml --out before.json
    recallens eval golden.yaml --compare before.json
    recallens eval --dataset sets/scifact --preset default --preset bm25
    """
    if init is not None:
        from recallens.cli.evals import propose_golden

        if files or datasets:
            raise InvalidInput("--init writes a golden set; it asks none", hint="Name its file with -o.")
        propose_golden(given, init or None, out=out, most=limit_queries)
    elif datasets and not files:
        if sweeps or misses:
            raise InvalidInput("--sweep and --misses are for golden sets", hint="Compare presets with --preset.")
        _measure_datasets(given, datasets, presets, limit_queries, least, out, compare, abstention=abstention)
    elif files and not datasets:
        if abstention:
            raise InvalidInput("--abstention is for --dataset: a golden set has an answer to every question")
        _measure_golden(given, files, presets, sweeps, limit_queries, least, out, compare, misses=misses)
    else:
        raise InvalidInput(
            "give golden sets or datasets, " + ("not both" if files else "one at least"),
            hint="recallens eval FILE.yaml … or recallens eval --dataset DIR; --init proposes a golden set.",
        )


def _measure_golden(
    given: Given, files: Sequence[str], presets: Sequence[str], sweeps: Sequence[str], most: int | None,
    least: Sequence[str], out: str | None, compare: str | None, *, misses: bool,
) -> None:  # fmt: skip
    from recallens.cli import evals
    from recallens.evaluate.gates import parse_least
    from recallens.evaluate.golden_running import METRICS
    from recallens.evaluate.records import write_records

    gates = [parse_least(one, list(METRICS)) for one in least]
    swept = any(sweep.startswith("preset=") for sweep in sweeps)
    own = () if swept else (given.settings().preset,)
    measured = evals.variants(presets or own, sweeps)
    runs = evals.measure_golden(given, files, measured, most=most, misses=misses)
    records = [run.record for run, _ in runs]
    compared = evals.compared_with(records, compare) if compare is not None else []
    if out is not None:
        write_records(Path(out).expanduser(), records)
        given.note(f"wrote {out}")
    evals.tell_golden(given, runs, misses=misses)
    if compare is not None:
        evals.tell_comparison(given, compared, compare)
    if gates:
        evals.tell_gates(given, records, gates)


def _measure_datasets(
    given: Given, datasets: Sequence[str], presets: Sequence[str], most: int | None, least: Sequence[str],
    out: str | None, compare: str | None, *, abstention: bool,
) -> None:  # fmt: skip
    from recallens.cli import evals
    from recallens.evaluate.caching import cached_encoder
    from recallens.evaluate.dataset import read_dataset
    from recallens.evaluate.records import SUFFIX, of_dataset, write_records
    from recallens.evaluate.report import write_lists
    from recallens.evaluate.running import asked, evaluate, steps
    from recallens.recall.presets import preset_named

    settings = given.settings()
    names = [preset_named(name).name for name in presets or (settings.preset,)]
    sets = [read_dataset(Path(folder).expanduser()) for folder in dict.fromkeys(datasets)]
    gates = _gates(least, sets)
    lists = None if out is None or out.endswith(SUFFIX) else Path(out).expanduser()
    encoder = cached_encoder(settings)
    runs: list[Run] = []
    for dataset in sets:
        questions = asked(dataset, unanswerable=abstention, most=most)
        with bar(given, dataset.name, steps(dataset, questions, names)) as advance:
            found = evaluate(dataset, questions, list(dict.fromkeys(names)), encoder=encoder, advance=advance)
        for path in write_lists(lists, found) if lists is not None else ():
            given.note(f"wrote {path}")
        runs += found
    records = [of_dataset(run) for run in runs]
    compared = evals.compared_with(records, compare) if compare is not None else []
    if out is not None and lists is None:
        write_records(Path(out).expanduser(), records)
        given.note(f"wrote {out}")
    _tell(given, runs, abstention=abstention)
    if compare is not None:
        evals.tell_comparison(given, compared, compare)
    if gates:
        evals.tell_gates(given, records, gates)


def _gates(least: Sequence[str], sets: Sequence[Dataset]) -> list[Least]:
    """Known before anything is asked: a set's kind says which metrics it has."""
    from recallens.evaluate.dataset import Scoring
    from recallens.evaluate.gates import parse_least
    from recallens.evaluate.metrics import BY_DOCUMENT, BY_GROUP, BY_TURN

    metrics = {Scoring.CONVERSATION: [*BY_GROUP, *BY_TURN], Scoring.DOCUMENTS: [*BY_DOCUMENT]}
    known = list(dict.fromkeys(name for dataset in sets for name in metrics[dataset.scoring]))
    return [parse_least(one, known) for one in least]


def _tell(given: Given, runs: list[Run], *, abstention: bool) -> None:
    from recallens.evaluate import report

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
