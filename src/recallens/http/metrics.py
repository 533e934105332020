"""Counters in Prometheus' text format. They hold routes, statuses and times; never a text, an id or a namespace."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Histogram:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        place = next((at for at, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
        self.counts[place] += 1
        self.total += seconds


@dataclass(slots=True)
class Metrics:
    """Changed on the event loop's thread alone."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    seconds: defaultdict[str, Histogram] = field(default_factory=lambda: defaultdict(Histogram))
    in_flight: int = 0
    tiers: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)

    def observe(self, *, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method, route, status] += 1
        self.seconds[route].observe(seconds)

    def recalled(self, tiers: Mapping[str, int], degraded: Iterable[str]) -> None:
        self.tiers.update(tiers)
        self.degraded.update(degraded)

    def text(self, *, store_bytes: int, working: int) -> str:
        lines = [
            *_family("recallens_http_requests_total", "counter", "Requests by route and status."),
            *(
                f'recallens_http_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
                for (method, route, status), count in sorted(self.requests.items())
            ),
            *_family("recallens_http_request_seconds", "histogram", "Time to the answer's end, by route."),
            *(line for route, held in sorted(self.seconds.items()) for line in _histogram(route, held)),
            *_family("recallens_http_in_flight", "gauge", "Requests that are being answered."),
            f"recallens_http_in_flight {self.in_flight}",
            *_family("recallens_work_in_hand", "gauge", "Requests that are worked on, or wait for a thread."),
            f"recallens_work_in_hand {working}",
            *_family("recallens_results_total", "counter", "Results by the tier that served them."),
            *(f'recallens_results_total{{tier="{tier}"}} {count}' for tier, count in sorted(self.tiers.items())),
            *_family("recallens_degraded_views_total", "counter", "Views that failed while a recall went on."),
            *(f'recallens_degraded_views_total{{view="{view}"}} {n}' for view, n in sorted(self.degraded.items())),
            *_family("recallens_store_bytes", "gauge", "The size of the store's file."),
            f"recallens_store_bytes {store_bytes}",
        ]
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"


def _histogram(route: str, held: Histogram) -> list[str]:
    name, so_far, lines = "recallens_http_request_seconds", 0, []
    for most, count in zip((*map(str, BUCKETS), "+Inf"), held.counts, strict=True):
        so_far += count
        lines.append(f'{name}_bucket{{route="{route}",le="{most}"}} {so_far}')
    return [
        *lines,
        f'{name}_sum{{route="{route}"}} {held.total:.6f}',
        f'{name}_count{{route="{route}"}} {so_far}',
    ]
