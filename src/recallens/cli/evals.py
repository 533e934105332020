"""Golden sets for `recallens eval`: what a sweep may vary, the runs, and what is told of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import Weight
from recallens.cli.progress import bar
from recallens.cli.screen import screen
from recallens.errors import InvalidInput, UnknownOption
from recallens.model.query import Mode
from recallens.model.terms import WEIGHABLE

if TYPE_CHECKING:
    from recallens.evaluate.comparing import Compared
    from recallens.evaluate.gates import Judged, Least
    from recallens.evaluate.golden_running import GoldenRun, Variant
    from recallens.evaluate.missing import Miss
    from recallens.evaluate.records import Record

SWEPT = ("preset", "alpha", "beta", "graph_floor", "mode", *(f"weight:{name}" for name in WEIGHABLE))
MOST_VARIANTS = 200


def variants(presets: Sequence[str], sweeps: Sequence[str]) -> list[Variant]:
    """Every combination of what the sweeps name, under every preset."""
    from recallens.evaluate.golden_running import Variant
    from recallens.recall.presets import preset_named

    axes: dict[str, list[str]] = {}
    for sweep in sweeps:
        name, sign, values = sweep.partition("=")
        name = name.strip()
        if name not in SWEPT:
            raise UnknownOption("sweep", name, SWEPT)
        given = [value.strip() for value in values.split(",") if value.strip()]
        if not sign or not given:
            raise InvalidInput(f"{sweep!r} names no values; write {name}=VALUE,VALUE")
        axes[name] = list(dict.fromkeys([*axes.get(name, []), *given]))
    named = dict.fromkeys([*presets, *axes.pop("preset", [])])
    count = len(named) * math.prod(map(len, axes.values()))
    if count > MOST_VARIANTS:
        raise InvalidInput(f"that is {count:,} rankings; at most {MOST_VARIANTS} are measured at once")
    return [
        Variant(preset_named(preset).name, _options(said), said)
        for preset in named
        for said in (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
    ]


def _options(said: Mapping[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    weights: dict[str, float] = {}
    for name, value in said.items():
        if name.startswith("weight:"):
            term, factor = Weight().convert(f"{name.removeprefix('weight:')}={value}", None, None)
            weights[term] = factor
        elif name == "mode":
            options[name] = _mode(value)
        else:
            options[name] = _share(name, value)
    return options | ({"weights": weights} if weights else {})


def _mode(value: str) -> Mode:
    from recallens.ingest.validate import option

    return option(Mode, value, "mode")


def _share(name: str, value: str) -> float:
    from recallens.ingest.validate import unit_interval

    try:
        return unit_interval(name, float(value))
    except ValueError as error:
        raise InvalidInput(f"{name} must be a number from 0 to 1, not {value!r}") from error


def measure_golden(
    given: Given, files: Sequence[str], measured: Sequence[Variant], *, most: int | None, misses: bool
) -> list[tuple[GoldenRun, list[Miss]]]:
    from recallens.evaluate.golden import GoldenSet, read_golden_sets
    from recallens.evaluate.golden_running import expectations, run_golden
    from recallens.evaluate.missing import misses as why_missed

    sets = read_golden_sets([Path(file).expanduser() for file in files])
    found: list[tuple[GoldenRun, list[Miss]]] = []
    with given.engine() as engine:
        now = engine.core.clock()
        for read in sets:
            golden = GoldenSet(read.name, read.questions[:most])
            expected = expectations(engine, golden)
            with bar(given, golden.name, len(golden.questions) * len(measured)) as advance:
                for variant in measured:
                    run = run_golden(engine, golden, expected, variant, now=now, advance=advance)
                    found.append((run, why_missed(engine, run) if misses else []))
    return found


def compared_with(records: Sequence[Record], file: str) -> list[Compared]:
    from recallens.evaluate.comparing import compare_records, counterpart
    from recallens.evaluate.records import read_records

    path = Path(file).expanduser()
    stored = read_records(path)
    return [compare_records(record, counterpart(record, stored, path)) for record in records]


def compared_with_the_first(records: Sequence[Record]) -> list[Compared]:
    """The other rankings of each set against its first."""
    from recallens.evaluate.comparing import compare_records

    firsts: dict[str, Record] = {}
    return [compare_records(one, first) for one in records if (first := firsts.setdefault(one.set, one)) is not one]


def tell_golden(given: Given, runs: Sequence[tuple[GoldenRun, list[Miss]]], *, misses: bool) -> None:
    from recallens.evaluate import golden_report as report

    records = [run.record for run, _ in runs]
    if given.json:
        for run, missed in runs:
            told = [miss.to_json() for miss in missed]
            _line(report.summary(run.record) | ({"misses": told} if misses else {}))
        return
    tables = [*report.metric_tables(records), *(report.tag_table(record) for record in records)]
    tables.append(report.first_table(compared_with_the_first(records)))
    tables += [report.miss_table(missed, run.record) for run, missed in runs]
    _print(given, tables)


def tell_comparison(given: Given, compared: Sequence[Compared], file: str) -> None:
    from recallens.evaluate import golden_report as report

    if given.json:
        _line({"compare": file, "runs": [one.to_json() for one in compared]})
        return
    for one in compared:
        _print(given, [report.comparison_table(one)])
        if one.left_out:
            given.note(f"{one.after.set}: {one.left_out} questions are not in both runs alike, and were left out")
        _print(given, [report.moved_table(one.moved)])


def tell_gates(given: Given, records: Sequence[Record], least: Sequence[Least]) -> None:
    """Raises where a value was missed, after all has been told."""
    from recallens.evaluate import golden_report as report
    from recallens.evaluate.gates import judge, missed

    judged: list[Judged] = judge(records, least)
    failure = missed(judged)
    if given.json:
        _line({"passed": failure is None, "gates": [one.to_json() for one in judged]})
    else:
        _print(given, [report.gate_table(judged)])
    if failure is not None:
        raise failure


def propose_golden(given: Given, vault: str | None, *, out: str | None, most: int | None) -> None:
    from recallens.evaluate.proposing import MOST, as_yaml, propose

    with given.engine() as engine:
        found = propose(engine, vault, most=most or MOST)
    text = as_yaml(found, vault=vault, file=out or "FILE.yaml")
    if out is not None:
        path = Path(out).expanduser()
        _write_new(path, text)
        given.note(f"wrote {len(found)} questions to {path}")
    if given.json:
        _line({"questions": [{"query": one.query, "expect": [one.path]} for one in found], "file": out})
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


def _line(record: Mapping[str, Any]) -> None:
    import json

    click.echo(json.dumps(record, ensure_ascii=False))


def _print(given: Given, tables: Sequence[Any]) -> None:
    console = screen(given)
    for table in _there(tables):
        console.print(table)
        console.print()


def _there(tables: Sequence[Any]) -> Iterator[Any]:
    return (table for table in tables if table is not None)
