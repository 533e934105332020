"""What the store holds, drawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recallens.engine.maintenance import RECALL_DAYS
from recallens.web.answering import Page
from recallens.web.drawing import chart, share
from recallens.web.visits import Visit


def stats(visit: Visit) -> Page:
    found = visit.engine.maintenance.stats(namespace=visit.namespace)
    survey = visit.engine.maintenance.survey(namespace=visit.namespace)
    tenths = {f"{low / 10:.1f}–{(low + 1) / 10:.1f}": count for low, count in enumerate(survey.saliences)}
    lengths = {("over 400" if bound is None else f"≤ {bound}"): count for bound, count in survey.lengths.items()}
    return Page(
        "stats.html",
        {
            "stats": found,
            "survey": survey,
            "grown": chart(survey.grown),
            "saliences": chart(tenths),
            "lengths": chart(lengths),
            "recalls": chart({day: survey.recalls.get(day, 0) for day in _days(visit.engine.core.clock())}),
            "share": share,
            "shown": ("kind", "sector", "status", "zone"),
        },
    )


def _days(now: int) -> list[str]:
    """Every day of the window, so that quiet ones show."""
    today = datetime.fromtimestamp(now / 1000, tz=UTC).date()
    return [(today - timedelta(days=back)).isoformat() for back in range(RECALL_DAYS, -1, -1)]
