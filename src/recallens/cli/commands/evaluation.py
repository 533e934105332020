"""`recallens eval`: what a sweep may vary, the runs, and how they are printed."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, Size, Weight, refuse_unused, shared
from recallens.cli.screen import Bars, counted, screen
from recallens.errors import InvalidInput, UnknownOption
from recallens.model.query import Mode
from recallens.model.terms import WEIGHABLE

if TYPE_CHECKING:
    from rich.table import Table

    from recallens.engine import Engine
    from recallens.evaluate.comparison import RunComparison
    from recallens.evaluate.harness import Miss, Variant
    from recallens.evaluate.runs import Run

_ALL = ""
SWEPT = (
    "preset",
    "alpha",
    "beta",
    "blend",
    "chunk",
    "chunk_level",
    "graph_floor",
    "mode",
    *(f"weight:{name}" for name in WEIGHABLE),
)
MOST_VARIANTS = 200


@click.command("eval")
@click.argument("files", nargs=-1, type=TEXT, metavar="[FILE]...")
@click.option(
    "--dataset", "datasets", metavar="DIR", type=TEXT, multiple=True,
    help="The folder of a judged set, or of several; can be repeated.",
)  # fmt: skip
@click.option(
    "--preset", "presets", metavar="NAME", type=TEXT, multiple=True,
    help="The ranking to measure; can be repeated: the first is compared to the others.",
)  # fmt: skip
@click.option(
    "--sweep", "sweeps", metavar="NAME=V,V", type=TEXT, multiple=True,
    help="A row for each value of alpha, blend, chunk, weight:bm25 …; repeat it for combinations.",
)  # fmt: skip
@click.option(
    "--limit-queries", metavar="N", type=Size("limit-queries", "questions", 100),
    help="Ask only the first N questions of each set; with --init, propose at most N.",
)  # fmt: skip
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
def evaluation(
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
        if files or datasets:
            raise InvalidInput("--init writes a golden set; it asks none", hint="Name its file with -o.")
        measured = "presets", "sweeps", "misses", "least", "compare", "abstention"
        refuse_unused("with --init: nothing is measured", *measured)
        _propose(given, init or None, out=out, most=limit_queries)
    elif datasets and not files:
        if sweeps or misses:
            raise InvalidInput("--sweep and --misses are for golden sets", hint="Compare presets with --preset.")
        _measure_datasets(given, datasets, presets, limit_queries, least, out, compare, abstention=abstention)
    elif files and not datasets:
        if abstention:
            raise InvalidInput("--abstention is for --dataset: a golden set has an answer to every question")
        _measure_golden(given, files, presets, sweeps, limit_queries, least, out, compare, with_misses=misses)
    else:
        raise InvalidInput(
            "give golden sets or datasets, " + ("not both" if files else "one at least"),
            hint="recallens eval FILE.yaml … or recallens eval --dataset DIR; --init proposes a golden set.",
        )


def _measure_datasets(
    given: Given, folders: Sequence[str], presets: Sequence[str], most: int | None, least: Sequence[str],
    out: str | None, compare: str | None, *, abstention: bool,
) -> None:  # fmt: skip
    from recallens.evaluate import comparison, dataset, encoder_cache, harness, metrics, report, runs
    from recallens.recall.presets import preset_named

    settings = given.settings()
    names = list(dict.fromkeys(preset_named(name).name for name in presets or (settings.preset,)))
    named = [path for folder in folders for path in dataset.folders_in(Path(folder).expanduser())]
    sets = [dataset.read_dataset(path) for path in dict.fromkeys(named)]
    # Known before anything is asked: a set's kind says which metrics it has.
    known = list(dict.fromkeys(name for judged in sets for name in metrics.JUDGED[judged.scoring]))
    floors = [comparison.parse_floor(text, known) for text in least]
    lists = None if out is None or out.endswith(runs.SUFFIX) else Path(out).expanduser()
    encoder = encoder_cache.cached_encoder(settings)
    measured: list[Run] = []
    for judged in sets:
        questions = harness.asked(judged, unanswerable=abstention, most=most)
        if judged.left_out:
            left = counted(judged.left_out, "unit has", "units have")
            given.note(f"{judged.name}: {left} neither a text nor a title: left out")
        with Bars(given).bar(judged.name, harness.steps(judged, questions, names)) as advance:
            of_set = harness.run_judged(judged, questions, names, encoder=encoder, advance=advance)
        for path in runs.write_lists(lists, of_set) if lists is not None else ():
            given.note(f"wrote {path}")
        measured += of_set
    told = report.judged_records if given.json else report.judged_tables
    shown = told(measured, abstention=abstention)
    _finish(given, measured, shown, floors, out=out if lists is None else None, compare=compare)


def _measure_golden(
    given: Given, files: Sequence[str], presets: Sequence[str], sweeps: Sequence[str], most: int | None,
    least: Sequence[str], out: str | None, compare: str | None, *, with_misses: bool,
) -> None:  # fmt: skip
    from recallens.evaluate import comparison, harness, metrics, report
    from recallens.evaluate.expectations import expectations
    from recallens.evaluate.golden import GoldenSet, read_golden_sets

    floors = [comparison.parse_floor(text, list(metrics.GOLDEN)) for text in least]
    swept = any(sweep.startswith("preset=") for sweep in sweeps)
    # Only `fusion` blends, so that is what a sweep of the blend is about.
    usual = "fusion" if any(sweep.startswith("blend=") for sweep in sweeps) else given.settings().preset
    rankings = variants(presets or (() if swept else (usual,)), sweeps)
    sets = read_golden_sets([Path(file).expanduser() for file in files])
    runs: list[Run] = []
    missed: list[list[Miss]] = []
    with given.engine() as own, ExitStack() as stores:
        now = own.core.clock()
        engines: dict[int | None, Engine] = {None: own}
        for chunk in dict.fromkeys(variant.chunk for variant in rankings if variant.chunk is not None):
            engines[chunk] = stores.enter_context(harness.cut_anew(own, chunk))
        for whole in sets:
            golden = GoldenSet(whole.name, whole.questions[:most])
            expected = {chunk: expectations(engine, golden) for chunk, engine in engines.items()}
            with Bars(given).bar(golden.name, len(golden.questions) * len(rankings)) as advance:
                for variant in rankings:
                    asked = engines[variant.chunk], golden, expected[variant.chunk], variant
                    run = harness.run_golden(*asked, now=now, advance=advance)
                    runs.append(run)
                    if with_misses:
                        missed.append(harness.misses(*asked, run, now=now))
    shown = report.golden_records(runs, missed) if given.json else report.golden_tables(runs, missed)
    _finish(given, runs, shown, floors, out=out, compare=compare)


def _finish(
    given: Given, runs: Sequence[Run], shown: Sequence[Mapping[str, Any] | Table | None],
    floors: Sequence[tuple[str, float]], *, out: str | None, compare: str | None,
) -> None:  # fmt: skip
    """Keep, show, compare and check the runs. Raises where a least value was missed, after all has been shown."""
    from msgspec import to_builtins

    from recallens.evaluate import report
    from recallens.evaluate.comparison import check_floors, compare_runs, counterpart, failure
    from recallens.evaluate.runs import read_runs, write_runs

    pairs: list[RunComparison] = []
    if compare is not None:
        path = Path(compare).expanduser()
        stored = read_runs(path)
        pairs = [compare_runs(run, counterpart(run, stored, path)) for run in runs]
    if out is not None:
        write_runs(Path(out).expanduser(), runs)
        given.note(f"wrote {out}")
    _print(given, *shown)
    if compare is not None and given.json:
        _print(given, {"compare": compare, "runs": [pair.to_json() for pair in pairs]})
    for pair in () if given.json else pairs:
        _print(given, report.comparison_table(pair))
        if pair.left_out:
            given.note(f"{pair.after.set}: {pair.left_out} questions are not in both runs alike, and were left out")
        _print(given, report.moved_table(pair.changes))
    if floors:
        checks = check_floors(runs, floors)
        error = failure(checks)
        gates = {"passed": error is None, "gates": [to_builtins(check) for check in checks]}
        _print(given, gates if given.json else report.floor_table(checks))
        if error is not None:
            raise error


# ── sweeps ──


def variants(presets: Sequence[str], sweeps: Sequence[str]) -> list[Variant]:
    """Every combination of what the sweeps name, under every preset."""
    from recallens.evaluate.harness import Variant
    from recallens.recall.presets import preset_named

    axes: dict[str, list[str]] = {}
    for sweep in sweeps:
        name, sign, values = sweep.partition("=")
        name = name.strip()
        if name not in SWEPT:
            raise UnknownOption("sweep", name, SWEPT)
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not sign or not listed:
            raise InvalidInput(f"{sweep!r} names no values; write {name}=VALUE,VALUE")
        axes[name] = list(dict.fromkeys([*axes.get(name, []), *listed]))
    named = dict.fromkeys([*presets, *axes.pop("preset", [])])
    count = len(named) * math.prod(map(len, axes.values()))
    if count > MOST_VARIANTS:
        raise InvalidInput(f"that is {count:,} rankings; at most {MOST_VARIANTS} are measured at once")
    return [
        Variant(preset_named(preset).name, _options(written), written, _chunk(written.get("chunk")))
        for preset in named
        for written in (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
    ]


def _chunk(written: str | None) -> int | None:
    if written is not None and not written.isdecimal():
        raise InvalidInput(f"chunk must be a number of characters, not {written!r}")
    return None if written is None else int(written)


def _options(written: Mapping[str, str]) -> dict[str, Any]:
    from recallens.ingest.validate import option, unit_interval

    options: dict[str, Any] = {}
    weights: dict[str, float] = {}
    for name, value in written.items():
        if name.startswith("weight:"):
            term, factor = Weight().convert(f"{name.removeprefix('weight:')}={value}", None, None)
            weights[term] = factor
        elif name == "chunk":
            continue  # of the store that is asked
        elif name == "mode":
            options[name] = option(Mode, value, "mode")
        elif name == "chunk_level":
            if value not in ("true", "false"):
                raise InvalidInput(f"chunk_level must be true or false, not {value!r}")
            options[name] = value == "true"
        else:
            try:
                options[name] = unit_interval(name, float(value))
            except ValueError as error:
                raise InvalidInput(f"{name} must be a number from 0 to 1, not {value!r}") from error
    return options | ({"weights": weights} if weights else {})


# ── a set to begin with ──


def _propose(given: Given, vault: str | None, *, out: str | None, most: int | None) -> None:
    from recallens.evaluate.expectations import MOST_PROPOSED, as_yaml, propose

    with given.engine() as engine:
        questions = propose(engine, vault, most=most or MOST_PROPOSED)
    text = as_yaml(questions, vault=vault, file=out or "FILE.yaml")
    if out is not None:
        path = Path(out).expanduser()
        _write_new(path, text)
        given.note(f"wrote {len(questions)} questions to {path}")
    if given.json:
        expected = [{"query": question.query, "expect": [question.path]} for question in questions]
        _print(given, {"questions": expected, "file": out})
    elif out is None:
        click.echo(text, nl=False)


def _write_new(path: Path, text: str) -> None:
    """What somebody has edited is never written over."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise InvalidInput(f"{path} is there already", hint="Use another -o, or move it away.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written to ({error.strerror})", hint="Use another -o.") from error


def _print(given: Given, *shown: Mapping[str, Any] | Table | None) -> None:
    """Records are lines of JSON; a table has an empty line after it."""
    console = None if given.json else screen(given)
    for item in shown:
        if console is None:
            click.echo(json.dumps(item, ensure_ascii=False))
        elif item is not None:
            console.print(item)
            console.print()
