"""What a run found, for scripts and for people, and its ranked lists for whoever wants to look at them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallens.errors import InvalidInput
from recallens.evaluate.abstention import COVERAGES, RiskCurve, best_possible, risk_curve
from recallens.evaluate.running import Answer, Run
from recallens.evaluate.significance import Comparison, paired_bootstrap

if TYPE_CHECKING:
    from rich.table import Table

DECIMALS = 6
BEST_POSSIBLE = "best possible"
# A question counts as answered if something right is among so many results.
READ = 5


def summary(run: Run) -> dict[str, Any]:
    """One set under one preset: means from 0 to 1 over the questions that have an answer."""
    types: dict[str, list[Answer]] = defaultdict(list)
    for answer in run.scored:
        if answer.question.type is not None:
            types[answer.question.type].append(answer)
    return {
        "dataset": run.dataset.name,
        "preset": run.preset,
        "encoder": run.encoder,
        "metrics": means(run.scored),
        "byType": {name: means(answers) for name, answers in sorted(types.items())},
        "queries": len(run.scored),
        "seconds": round(run.seconds, 3),
    }


def means(answers: Iterable[Answer]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        for name, value in answer.metrics.items():
            values[name].append(value)
    return {name: round(sum(found) / len(found), DECIMALS) for name, found in values.items()}


def compare(ours: Run, theirs: Run) -> dict[str, Comparison]:
    """Metric by metric over the same questions."""
    known = {answer.question.id: answer.metrics for answer in theirs.scored}
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for answer in ours.scored:
        for name, value in answer.metrics.items():
            pairs[name].append((value, known[answer.question.id][name]))
    return {
        name: paired_bootstrap([our for our, _ in found], [their for _, their in found])
        for name, found in pairs.items()
    }


def is_mistake(answer: Answer, run: Run) -> bool:
    """No answer to find, or none among the first results: by session in conversations, as recall is, else by unit."""
    if not answer.metrics:
        return True
    gold = run.dataset.gold[answer.question.id]
    if gold.groups:
        return not gold.groups.keys() & set(answer.groups[:READ])
    return not gold.units.keys() & {place.unit for place in answer.places[:READ]}


def risk_curves(run: Run) -> dict[str, RiskCurve]:
    """By confidence; one that some question lacks cannot order them and is left out."""
    mistakes = [is_mistake(answer, run) for answer in run.answers]
    names = dict.fromkeys(name for answer in run.answers for name in answer.confidences)
    told = {
        name: risk_curve([answer.confidences[name] for answer in run.answers], mistakes)
        for name in names
        if all(name in answer.confidences for answer in run.answers)
    }
    return told | {BEST_POSSIBLE: best_possible(mistakes)}


def abstention_summary(run: Run) -> dict[str, Any]:
    curves = risk_curves(run)
    return {
        "dataset": run.dataset.name,
        "preset": run.preset,
        "queries": len(run.answers),
        "unanswerable": sum(not answer.question.answerable for answer in run.answers),
        "coverage": list(COVERAGES),
        "aurc": {name: round(curve.area, DECIMALS) for name, curve in curves.items()},
        "risk": {name: [round(risk, DECIMALS) for risk in curve.risks] for name, curve in curves.items()},
    }


def write_lists(folder: Path, runs: Iterable[Run]) -> list[Path]:
    """One file a set and preset, one question a line."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_write_list(folder / f"{run.dataset.name}.{run.preset}.jsonl", run) for run in runs]
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written to ({error.strerror})", hint="Use another --out.") from error


def _write_list(path: Path, run: Run) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for answer in run.answers:
            question = answer.question
            record = {
                "query": question.id, "type": question.type, "answerable": question.answerable,
                "ranked": [{"unit": place.unit, "group": place.group, "score": place.score} for place in answer.places],
                "metrics": dict(answer.metrics), "confidence": dict(answer.confidences),
            }  # fmt: skip
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


# ── for people ──


def tables(runs: Sequence[Run]) -> list[Table]:
    """One table for the sets that have the same metrics, in percent."""
    by_metrics: dict[tuple[str, ...], list[tuple[Run, dict[str, float]]]] = defaultdict(list)
    for run in runs:
        found = means(run.scored)
        by_metrics[tuple(found)].append((run, found))
    told = []
    for names, rows in by_metrics.items():
        table = _table("set", "questions", "preset", *names, "seconds")
        for run, found in rows:
            values = [f"{100 * found[name]:.1f}" for name in names]
            table.add_row(run.dataset.name, f"{len(run.scored):,}", run.preset, *values, f"{run.seconds:.1f}")
        told.append(table)
    return told


def type_table(run: Run) -> Table | None:
    """By the set's own types, in percent; None where it has none."""
    types = summary(run)["byType"]
    if not types:
        return None
    names = list(means(run.scored))
    table = _table(f"{run.dataset.name}, {run.preset}", *names)
    for type, found in types.items():
        table.add_row(type, *(f"{100 * found[name]:.1f}" if name in found else "" for name in names))
    return table


def comparison_table(runs: Sequence[Run]) -> Table | None:
    """The first preset of each set against the others, in points, with the 95% interval."""
    firsts: dict[str, Run] = {}
    table = _table("set", "preset", "against", "metric", "difference", "95% interval", "verdict")
    for run in runs:
        first = firsts.setdefault(run.dataset.name, run)
        if first is not run:
            for name, found in compare(first, run).items():
                interval = f"{100 * found.low:+.1f} to {100 * found.high:+.1f}"
                table.add_row(
                    run.dataset.name, first.preset, run.preset, name, f"{100 * found.difference:+.1f}", interval,
                    found.verdict,
                )  # fmt: skip
    return table if table.row_count else None


def abstention_table(run: Run) -> Table:
    curves = risk_curves(run)
    table = _table(f"{run.dataset.name}, {run.preset}: risk at", *(f"{share:.0%}" for share in COVERAGES), "AURC")
    for name, curve in curves.items():
        table.add_row(name, *(f"{100 * risk:.1f}" for risk in curve.risks), f"{100 * curve.area:.1f}")
    return table


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for name in others:
        words = name in ("preset", "against", "metric", "verdict", "95% interval")
        table.add_column(name, justify="left" if words else "right", overflow="fold")
    return table
