"""What golden runs found, for scripts and for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recallens.evaluate.comparing import Compared, Moved
from recallens.evaluate.gates import Judged
from recallens.evaluate.golden_running import READ
from recallens.evaluate.missing import Miss
from recallens.evaluate.records import Record, by_tag
from recallens.evaluate.significance import Comparison

if TYPE_CHECKING:
    from rich.table import Table

# Movements that fit a screen; the JSON has all.
MOST_MOVED = 20
MAIN_METRIC = "ndcg@10"


def summary(record: Record) -> dict[str, Any]:
    """One set under one ranking: means from 0 to 1."""
    return {
        "golden": record.set, "preset": record.preset, "options": dict(record.options), "encoder": record.encoder,
        "metrics": record.metrics, "byTag": by_tag(record), "queries": len(record.questions),
        "seconds": round(record.seconds, 3),
    }  # fmt: skip


def metric_tables(records: Sequence[Record]) -> list[Table]:
    """A table a set, a row a ranking, in percent."""
    sets: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        sets[record.set].append(record)
    return [_metric_table(own) for own in sets.values()]


def _metric_table(records: Sequence[Record]) -> Table:
    first = records[0]
    title = f"{first.set}: {len(first.questions):,} questions"
    table = _table("ranking", numbers=[_folded(name) for name in first.metrics], title=title)
    for record in records:
        table.add_row(record.label, *(f"{100 * value:.1f}" for value in record.metrics.values()))
    return table


def tag_table(record: Record) -> Table | None:
    tags = by_tag(record)
    if not tags:
        return None
    title = f"{record.set}, {record.label}, by tag"
    table = _table("tag", numbers=[_folded(name) for name in record.metrics], title=title)
    for tag, found in tags.items():
        table.add_row(tag, *(f"{100 * value:.1f}" for value in found.values()))
    return table


def first_table(compared: Sequence[Compared]) -> Table | None:
    """Each other ranking of a set against its first, by one metric: a sweep has many rows."""
    shown = [(pair, pair.metrics[MAIN_METRIC]) for pair in compared if MAIN_METRIC in pair.metrics]
    if not shown:
        return None
    title = f"{MAIN_METRIC} against {shown[0][0].before.label}, in points"
    table = _table("set", "ranking", numbers=("difference",), last=("95% interval", "verdict"), title=title)
    for pair, one in shown:
        table.add_row(pair.after.set, pair.after.label, *_told(one))
    return table


def comparison_table(pair: Compared) -> Table:
    """In points, with the 95% interval."""
    title = f"{pair.after.set}: {pair.after.label} now, {pair.before.label} then, in points"
    table = _table("metric", numbers=("difference",), last=("95% interval", "verdict"), title=title)
    for name, one in pair.metrics.items():
        table.add_row(name, *_told(one))
    return table


def _told(one: Comparison) -> tuple[str, str, str]:
    return f"{100 * one.difference:+.1f}", f"{100 * one.low:+.1f} to {100 * one.high:+.1f}", one.verdict


def moved_table(moved: Sequence[Moved]) -> Table | None:
    """The largest movements, what fell first."""
    if not moved:
        return None
    title = f"what is expected and moved: {len(moved):,}"
    table = _table("question", "expected", numbers=("before", "after"), title=title)
    largest = sorted(moved, key=lambda one: -abs(one.gain))[:MOST_MOVED]
    for one in sorted(largest, key=lambda one: one.gain):
        table.add_row(one.query, one.expected, _rank(one.before), _rank(one.after))
    return table


def miss_table(misses: Sequence[Miss], record: Record) -> Table | None:
    if not misses:
        return None
    title = f"{record.set}, {record.label}: not in the first {READ}"
    table = _table("question", "expected", numbers=("rank",), last=("why not",), title=title)
    for one in misses:
        table.add_row(one.query, one.expected, _rank(one.rank), one.sentence)
    return table


def gate_table(judged: Sequence[Judged]) -> Table | None:
    if not judged:
        return None
    table = _table("set", "ranking", "metric", numbers=("found", "at least"), last=("",))
    for one in judged:
        word = "passed" if one.passed else "missed"
        table.add_row(one.set, one.label, one.least.metric, f"{one.found:.4f}", f"{one.least.value:g}", word)
    return table


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _folded(metric: str) -> str:
    """Two lines, so that a row of metrics fits a narrow screen."""
    return metric.replace("_", "_\n") if "_" in metric else metric.replace("@", "\n@")


def _table(*words: str, numbers: Sequence[str] = (), last: Sequence[str] = (), title: str | None = None) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", title_style="bold", title_justify="left")
    table.title = None if title is None else Text(title)
    for name in words:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap="\n" not in name)
    for name in last:
        table.add_column(name, overflow="fold")
    return table
