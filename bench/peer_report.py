"""The tables and the plot of `peers.py`."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10
from typing import Any
from xml.sax.saxutils import escape

Rows = dict[str, dict[str, Any]]
# The second is not ingested but put together (`peer_engines.py`): what searches it is measured, and no more.
OWN = ("recallens", "recallens-composed")
COMPOSED = OWN[1]
FIRST = "hybrid with X-ray"
HEADS = (
    "p50, ms", "p95, ms", "p50 ×", "processor × (ms)", "recall", "ingest a second (per processor s)",
    "memory, MiB (without mapped files)", "disk, MiB", "disk ×", "open, processor s", "load",
)  # fmt: skip


def _kinds(rows: Rows) -> Iterator[tuple[str, str, dict[str, Any], dict[str, float]]]:
    for name, row in rows.items():
        for kind, took in row.get("searches", {}).items():
            yield name, kind, row, took


def size_table(rows: Rows) -> str:
    """Waits and processor time as ratios to Recallens' hybrid search with its X-ray, disk as one to the texts and
    their vectors in half precision. What belongs to a store stands in its first row."""
    first = next((took for name, kind, _, took in _kinds(rows) if name in OWN and kind == FIRST), None)
    lines = [("", *HEADS), ("---", *("---:" for _ in HEADS))]
    told: set[str] = set()
    for name, kind, row, took in _kinds(rows):
        ratios = [f"{took[unit] / first[unit]:.2f}" if first else "" for unit in ("p50", "processor")]
        ingest = f"{row['ingest']:,.0f} ({row['ingestProcessor']:,.0f})" if name != COMPOSED else ""
        store = [
            ingest, f"{row['memoryMiB']:,.0f} ({row['anonymousMiB']:,.0f})",
            f"{row['diskMiB']:,.0f}", f"{row['diskMiB'] / row['yardstickMiB']:.2f}", f"{row['openProcessor']:.2f}",
            f"{row['load']:.1f} / {row['searchLoad']:.1f}",
        ]  # fmt: skip
        cells = [
            f"{name}, {kind}", f"{took['p50']:.1f}", f"{took['p95']:.1f}", ratios[0],
            f"{ratios[1]} ({took['processor']:.1f})", f"{took['recall']:.3f}" if "recall" in took else "",
            *(store if name not in told else [""] * len(store)),
        ]  # fmt: skip
        lines.append(tuple(cells))
        told.add(name)
    lines += [
        (f"{name}: {row.get('failure', 'not measured')}", *("" for _ in HEADS))
        for name, row in rows.items()
        if "searches" not in row
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def quality_table(sets: dict[str, Rows]) -> str:
    """nDCG@10 of each search on each set, best of the first set first."""
    scores: dict[str, dict[str, float]] = {}
    for task, rows in sets.items():
        for name, kind, _, took in _kinds(rows):
            scores.setdefault(f"{name}, {kind}", {})[task] = took["ndcg@10"]
    lines = [["", *sets], ["---", *("---:" for _ in sets)]]
    first = next(iter(sets), "")
    for label, own in sorted(scores.items(), key=lambda item: -item[1].get(first, 0.0)):
        lines.append([label, *(f"{100 * own[task]:.1f}" if task in own else "" for task in sets)])
    for name in dict.fromkeys(name for rows in sets.values() for name, row in rows.items() if "failure" in row):
        lines.append([name, *(rows.get(name, {}).get("failure", "") for rows in sets.values())])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


# ── the plot: processor time by size, both on a scale of tenfold steps ──

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 60, 210, 40, 50
COLOURS = ("#d1495b", "#00798c", "#edae49", "#30638e", "#6a4c93", "#2e933c", "#8c564b", "#7f7f7f", "#17becf", "#bc5090")
LABEL_GAP = 15
TITLE = "Processor time of a search, median, in milliseconds, by memories held"


def plot(sizes: dict[int, Rows]) -> str:
    lines: dict[str, dict[int, float]] = {}
    for size, rows in sizes.items():
        for name, row in rows.items():
            searches = row.get("searches", {})
            kind = FIRST if name in OWN else next(iter(searches), "")
            if kind in searches:
                lines.setdefault(f"{OWN[0] if name in OWN else name}, {kind}", {})[size] = searches[kind]["processor"]
    if not lines:
        return ""
    times = [spent for own in lines.values() for spent in own.values()]
    low, high = _decade(min(times)), _decade(max(times)) + 1
    first, last = log10(min(sizes)), log10(max(max(sizes), 10 * min(sizes)))

    def x(size: float) -> float:
        return LEFT + (log10(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(spent: float) -> float:
        return HEIGHT - BOTTOM - (log10(spent) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{TITLE}</text>',
    ]
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10**power:g}</text>')
    for size in sizes:
        parts.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>')
    ends = sorted(lines, key=lambda label: y(_last(lines[label])))
    label_at = float(TOP)
    for label in ends:
        own, colour = lines[label], COLOURS[list(lines).index(label) % len(COLOURS)]
        points = " ".join(f"{x(size):.1f},{y(spent):.1f}" for size, spent in own.items())
        wide = 3 if label.startswith(OWN[0]) else 1.5
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{wide}"/>')
        parts += [f'<circle cx="{x(at):.1f}" cy="{y(spent):.1f}" r="3" fill="{colour}"/>' for at, spent in own.items()]
        label_at = max(label_at + LABEL_GAP, y(_last(own)) + 4)
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{label_at:.1f}" fill="{colour}">{escape(label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _last(own: dict[int, float]) -> float:
    return own[max(own)]


def _decade(spent: float) -> int:
    return int(log10(spent) // 1)
