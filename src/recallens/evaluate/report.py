"""What runs measured: records for scripts, and tables in percent for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recallens.evaluate import comparison
from recallens.evaluate.harness import READ, Miss
from recallens.evaluate.metrics import (
    COVERAGES,
    RiskCurve,
    best_possible,
    calibration_error,
    delivery,
    reliability,
    risk_curve,
)
from recallens.evaluate.runs import DECIMALS, Delivered, Run

if TYPE_CHECKING:
    from rich.table import Table

BEST_POSSIBLE = "best possible"
# Movements that fit a screen; the JSON has all.
MOST_MOVED = 20
MAIN_METRIC = "ndcg@10"
_POINTS = ("difference", "95% interval", "verdict")


def judged_records(runs: Sequence[Run], *, abstention: bool) -> list[dict[str, Any]]:
    """Means from 0 to 1 over the questions that have an answer; after each, what abstaining is worth."""
    summaries = [judged_summary, *((abstention_summary,) if abstention else ())]
    return [summary(run) for run in runs for summary in summaries]


def judged_summary(run: Run) -> dict[str, Any]:
    return {
        "dataset": run.set, "preset": run.preset, "encoder": run.encoder, "metrics": run.metrics,
        "intervals": intervals(run), "byType": run.metrics_by_tag, "queries": len(run.scored),
        "seconds": round(run.seconds, 3),
        "delivered": rounded(delivery(delivered_in(run))), "calibration": calibration(run),
        "leftOut": run.left_out,
    }  # fmt: skip


def intervals(run: Run) -> dict[str, tuple[float, float]]:
    """Of each metric the 95% interval, which says how much another sample of such questions may differ."""
    return {
        name: comparison.interval([q.metrics[name] for q in run.scored if name in q.metrics]) for name in run.metrics
    }


def delivered_in(run: Run) -> list[Delivered]:
    return [question.delivered for question in run.scored if question.delivered is not None]


def rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DECIMALS) for name, value in figures.items()}


def calibration(run: Run) -> dict[str, Any] | None:
    """Of the first results of every question: how far relevance is from the share that is right, and each bin."""
    judged = [each for question in run.scored for each in question.judged]
    bins = [dict(zip(("relevance", "right", "count"), row, strict=True)) for row in reliability(judged)]
    return {"error": round(calibration_error(judged), DECIMALS), "bins": bins} if judged else None


def abstention_summary(run: Run) -> dict[str, Any]:
    curves = risk_curves(run)
    return {
        "dataset": run.set, "preset": run.preset, "queries": len(run.questions),
        "unanswerable": sum(not question.answerable for question in run.questions),
        "coverage": list(COVERAGES),
        "aurc": {name: round(curve.area, DECIMALS) for name, curve in curves.items()},
        "risk": {name: [round(risk, DECIMALS) for risk in curve.risks] for name, curve in curves.items()},
    }  # fmt: skip


def golden_records(runs: Sequence[Run], misses: Sequence[Sequence[Miss]]) -> list[dict[str, Any]]:
    """`misses` are those of each run, or none at all where nobody asked for them."""
    records: list[dict[str, Any]] = [
        {
            "golden": run.set, "preset": run.preset, "options": dict(run.options), "encoder": run.encoder,
            "metrics": run.metrics, "byTag": run.metrics_by_tag, "queries": len(run.questions),
            "seconds": round(run.seconds, 3), "delivered": rounded(delivery(delivered_in(run))),
        }
        for run in runs
    ]  # fmt: skip
    for record, own in zip(records, misses, strict=False):
        record["misses"] = [miss.to_json() for miss in own]
    return records


def risk_curves(run: Run) -> dict[str, RiskCurve]:
    """By confidence; one that some question lacks cannot order them and is left out."""
    mistakes = [not question.hit for question in run.questions]
    names = dict.fromkeys(name for question in run.questions for name in question.confidences)
    curves = {
        name: risk_curve([question.confidences[name] for question in run.questions], mistakes)
        for name in names
        if all(name in question.confidences for question in run.questions)
    }
    return curves | {BEST_POSSIBLE: best_possible(mistakes)}


def judged_tables(runs: Sequence[Run], *, abstention: bool) -> list[Table | None]:
    return [
        *_figures(runs),
        _delivery_table(runs),
        *(_reliability_table(run) for run in runs),
        *(_tag_table(f"{run.set}, {run.preset}", run, list(run.metrics), wrap=True) for run in runs),
        _preset_table(runs),
        *(_abstention_table(run) for run in runs if abstention),
    ]


def _figures(runs: Sequence[Run]) -> list[Table]:
    """One table for the sets that have the same metrics."""
    by_metrics: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs:
        by_metrics[tuple(run.metrics)].append(run)
    tables = []
    for names, own in by_metrics.items():
        rows = [
            (run.set, f"{len(run.scored):,}", run.preset, *_with_intervals(run), f"{run.seconds:.1f}") for run in own
        ]
        columns = ("set", "questions", "preset", *names, "seconds")
        tables.append(_table(columns, rows, numbers=("questions", *names, "seconds"), wrap=True))
    return tables


def _with_intervals(run: Run) -> list[str]:
    spans = intervals(run)
    return [f"{100 * value:.1f} ±{50 * (spans[name][1] - spans[name][0]):.1f}" for name, value in run.metrics.items()]


def _delivery_table(runs: Sequence[Run]) -> Table | None:
    """What a caller gets who names no number."""
    rows = []
    for run in runs:
        figures, calibrated = delivery(delivered_in(run)), calibration(run)
        error = "" if calibrated is None else f"{calibrated['error']:.3f}"
        rows.append((run.set, run.preset, *_percent((figures["precision"], figures["recall"], figures["silent"])),
                     f"{figures['size']:.1f}", error))  # fmt: skip
    numbers = ("precision", "recall", "silent", "results", "calibration error")
    return _table(("delivered", "preset", *numbers), rows, numbers=numbers, wrap=True) if rows else None


def _reliability_table(run: Run) -> Table | None:
    """The reliability diagram: a bar as long as the share that is right, beside what was foretold."""
    calibrated = calibration(run)
    if calibrated is None:
        return None
    rows = [
        (f"{own['relevance']:.3f}", f"{own['right']:.3f}", f"{own['count']:,}", "█" * round(40 * own["right"]))
        for own in calibrated["bins"]
    ]
    title = f"{run.set}, {run.preset}: relevance of the first results, and the share that is right"
    return _table(("relevance", "right", "results", ""), rows, numbers=("relevance", "right", "results"), title=title)


def _preset_table(runs: Sequence[Run]) -> Table | None:
    """The first preset of each set against the others, in points, with the 95% interval."""
    rows = [
        (run.set, first.preset, run.preset, name, *_points(difference))
        for first, run in comparison.against_first(runs)
        for name, difference in comparison.compare_runs(first, run).metrics.items()
    ]
    columns = ("set", "preset", "against", "metric", *_POINTS)
    return _table(columns, rows, numbers=("difference",), wrap=True) if rows else None


def _abstention_table(run: Run) -> Table:
    numbers = (*(f"{share:.0%}" for share in COVERAGES), "AURC")
    rows = [(name, *_percent((*curve.risks, curve.area))) for name, curve in risk_curves(run).items()]
    return _table((f"{run.set}, {run.preset}: risk at", *numbers), rows, numbers=numbers, wrap=True)


def golden_tables(runs: Sequence[Run], misses: Sequence[Sequence[Miss]]) -> list[Table | None]:
    sets: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        sets[run.set].append(run)
    return [
        *(_ranking_table(own) for own in sets.values()),
        _delivery_table(runs),
        *(
            _tag_table("tag", run, [_folded(name) for name in run.metrics], title=f"{run.set}, {run.label}, by tag")
            for run in runs
        ),
        _first_table(runs),
        *(_miss_table(own, run) for own, run in zip(misses, runs, strict=False)),
    ]


def _ranking_table(runs: Sequence[Run]) -> Table:
    """A row a ranking."""
    numbers = [_folded(name) for name in runs[0].metrics]
    rows = [(run.label, *_percent(run.metrics.values())) for run in runs]
    title = f"{runs[0].set}: {len(runs[0].questions):,} questions"
    return _table(("ranking", *numbers), rows, numbers=numbers, title=title)


def _first_table(runs: Sequence[Run]) -> Table | None:
    """Each other ranking of a set against its first, by one metric: a sweep has many rows."""
    pairs = [comparison.compare_runs(run, first) for first, run in comparison.against_first(runs)]
    shown = [pair for pair in pairs if MAIN_METRIC in pair.metrics]
    if not shown:
        return None
    title = f"{MAIN_METRIC} against {shown[0].before.label}, in points"
    rows = [(pair.after.set, pair.after.label, *_points(pair.metrics[MAIN_METRIC])) for pair in shown]
    return _table(("set", "ranking", *_POINTS), rows, numbers=("difference",), title=title)


def _miss_table(misses: Sequence[Miss], run: Run) -> Table | None:
    title = f"{run.set}, {run.label}: not in the first {READ}"
    rows = [(miss.query, miss.expected, _rank(miss.rank), miss.sentence) for miss in misses]
    return _table(("question", "expected", "rank", "why not"), rows, numbers=("rank",), title=title) if rows else None


def _tag_table(
    first: str, run: Run, names: Sequence[str], *, title: str | None = None, wrap: bool = False
) -> Table | None:
    """By the tags of a golden set's questions, or the types of a judged set's; not all types have all metrics."""
    rows = [
        (tag, *(f"{100 * values[name]:.1f}" if name in values else "" for name in run.metrics))
        for tag, values in run.metrics_by_tag.items()
    ]
    return _table((first, *names), rows, numbers=names, title=title, wrap=wrap) if rows else None


def comparison_table(pair: comparison.RunComparison) -> Table:
    """In points, with the 95% interval."""
    title = f"{pair.after.set}: {pair.after.label} now, {pair.before.label} then, in points"
    rows = [(name, *_points(difference)) for name, difference in pair.metrics.items()]
    return _table(("metric", *_POINTS), rows, numbers=("difference",), title=title)


def moved_table(changes: Sequence[comparison.RankChange]) -> Table | None:
    """The largest movements, what fell first."""
    title = f"what is expected and moved: {len(changes):,}"
    largest = sorted(changes, key=lambda change: -abs(change.gain))[:MOST_MOVED]
    largest.sort(key=lambda change: change.gain)
    rows = [(change.query, change.expected, _rank(change.before), _rank(change.after)) for change in largest]
    columns = ("question", "expected", "before", "after")
    return _table(columns, rows, numbers=("before", "after"), title=title) if rows else None


def floor_table(checks: Sequence[comparison.FloorCheck]) -> Table | None:
    rows = [
        (check.set, check.ranking, check.metric, f"{check.value:.4f}", f"{check.least:g}",
         "passed" if check.passed else "missed")
        for check in checks
    ]  # fmt: skip
    columns = ("set", "ranking", "metric", "found", "at least", "")
    return _table(columns, rows, numbers=("found", "at least")) if rows else None


def _points(difference: comparison.MetricDifference) -> tuple[str, str, str]:
    interval = f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f}"
    return f"{100 * difference.difference:+.1f}", interval, difference.verdict


def _percent(values: Collection[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _folded(metric: str) -> str:
    """Two lines, so that a row of metrics fits a narrow screen."""
    return metric.replace("_", "_\n") if "_" in metric else metric.replace("@", "\n@")


def _table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[str], title: str | None = None,
    wrap: bool = False,
) -> Table:  # fmt: skip
    """`wrap`: the names of number columns may break where the screen is narrow."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", title_style="bold", title_justify="left")
    table.title = None if title is None else Text(title)
    for name in columns:
        if name in numbers:
            folds = wrap or "\n" in name
            table.add_column(name, justify="right", no_wrap=not folds, overflow="fold" if wrap else "ellipsis")
        else:
            table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
