"""How often a question that dates itself by what happened ("since the outage") is dated by the right memory.

    python bench/events.py [--store summit …] [--show]   # named right, false datings and what a question costs
    python bench/events.py --fit                         # what fitted weights would be worth, each store by the others

The stores are those of the tests and bench/questions/events-*.tsv, each of other domains and half of it Korean, once as
written and once with every episode as an observation. An event is named right where the memory that tells of it dates
the question. Events that no memory tells of are asked for too: none of these may date anything. `valley` is kept apart
and never fitted on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "recall")]

import test_time_questions as seasons  # noqa: E402
import test_time_town as town  # noqa: E402
import test_time_troubles as troubles  # noqa: E402

import moments  # noqa: E402
from moments import at  # noqa: E402
from recallens import Draft, Engine  # noqa: E402
from recallens.index.encoders.minilm import MiniLMEncoder  # noqa: E402
from recallens.model.memory import IdSource  # noqa: E402
from recallens.recall import pipeline  # noqa: E402
from recallens.recall.views import events  # noqa: E402
from standing import FixedClock  # noqa: E402

QUESTIONS = ROOT / "bench" / "questions"
UNTOLD = "-"
CHORES = 10  # in each session of a store that is read from a table
STORES = ("seasons", "town", "village", "harbour", "autumn", "troubles", "summit")
APART = "valley"


class Filled(NamedTuple):
    keys: dict[str, str]  # by the id of the memory
    asked: list[tuple[str, str]]  # the question, and the key of its event


def fill(engine: Engine, name: str) -> Filled:
    match name:
        case "seasons":
            keys = {id: line.key for id, line in seasons.Seasons(engine).known.items()}
            return Filled(keys, [(question, event) for question, event, _ in seasons.lines("events")])
        case "town":
            keys = {id: line.key for id, line in town.Town(engine).known.items()}
            lines = [line for half in "ab" for line in town.lines(f"events_{half}")]
            return Filled(keys, [(question, event) for question, event, _ in lines])
        case "village" | "harbour":
            keys = remembered(engine, [[*row, row[1][0] * 3] for row in town.lines(f"../{name}/memories")])
            return Filled(keys, [(question, event) for question, event in town.lines(f"../{name}/events")])
        case "autumn":
            keys = {id: line.key for id, line in moments.fill(engine).items()}
            asked = [one for one in (*moments.ASIDE, *moments.QUESTIONS) if one.event]
            return Filled(keys, [(one.question, one.event) for one in asked])
        case "troubles":
            return Filled(troubles.Town(engine).keys, [(question, event) for question, event, _ in troubles.EVENTS])
    rows = table(name)
    memories = [[*row, row[1][:2]] for row in rows["memory"]]
    sessions: dict[str, list[str]] = {}
    for day, session, *_ in memories:
        sessions.setdefault(session, []).append(day)
    for number, (session, days) in enumerate(sessions.items()):
        project = session[:2]
        chores, places = ([text for of, text in rows[sort] if of == project] for sort in ("chore", "place"))
        pairs = list(product(chores, places))
        for count in range(CHORES):
            chore, place = pairs[(number + 5 * count) % len(pairs)]
            text = f"{chore.format(place)} ({session}, {count + 1})"
            memories.append([days[count % len(days)], session, "observation", "", text, project])
    return Filled(remembered(engine, sorted(memories)), [(question, event) for event, question in rows["question"]])


def remembered(engine: Engine, rows: list[list[str]]) -> dict[str, str]:
    keys = {}
    for place, (day, session, kind, key, text, project) in enumerate(rows):
        draft = Draft(text, kind=kind, project=project, session=session, created=at(day, 9, place % 60))
        keys[engine.remember(draft).id] = key
    return keys


def table(name: str) -> dict[str, list[list[str]]]:
    rows: dict[str, list[list[str]]] = {}
    for line in (QUESTIONS / f"events-{name}.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            sort, *cells = line.split("\t")
            rows.setdefault(sort, []).append(cells)
    return rows


def now_of(name: str) -> str:
    known = {"seasons": seasons.NOW, "autumn": moments.NOW, "troubles": troubles.NOW}
    known |= dict.fromkeys(("town", "village", "harbour"), town.NOW)
    return known[name] if name in known else table(name)["now"][0][0]


class Plain:
    """An engine that takes every episode as an observation: not everybody says of what happened that it did."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def remember(self, draft: Draft) -> Any:
        return self._engine.remember(replace(draft, kind="observation") if draft.kind == "episode" else draft)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


@contextmanager
def opened(name: str, encoder: MiniLMEncoder, *, plain: bool) -> Iterator[tuple[Engine, Filled]]:
    clock = FixedClock(at(now_of(name)))
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine.open(
            Path(folder) / "store.db", encoder=encoder, clock=clock, ids=IdSource(clock, lambda bits: 0)
        ) as engine,
    ):
        filled = fill(Plain(engine) if plain else engine, name)
        engine.encoder.begin("default")
        engine.encoder.drain()
        engine.search("what is known", record=False)
        yield engine, filled


class Resolved(NamedTuple):
    """What became of one question."""

    store: str
    question: str
    event: str
    key: str | None  # of the memory that stands first, whether or not it dates the question
    signs: Any  # what speaks for that memory; None where none reports anything
    dated: str | None  # the key of the memory that dates the question
    seconds: float  # of the processor

    @property
    def is_told(self) -> bool:
        return self.event != UNTOLD

    @property
    def is_first(self) -> bool:
        return self.is_told and self.key == self.event


def resolved(name: str, encoder: MiniLMEncoder, *, plain: bool) -> list[Resolved]:
    """Each question of a store, as it is resolved when it is asked."""
    fits, event, dated, seen = events._fits, events._event, pipeline.dated, dict[str, Any]()

    def watched_fits(candidates: Any, words: Any) -> Any:
        seen.update(candidates=candidates, words=words)
        return fits(candidates, words)

    def watched_event(scene: Any, preset: Any, phrase: Any, *given: Any) -> Any:
        row, surely = event(scene, preset, phrase, *given)
        seen["dated"] = scene.columns["id"][row].decode() if surely else None
        if candidates := seen.get("candidates"):
            reports = candidates.tells | candidates.changed | candidates.reports
            if reports.any():
                first = list(candidates.rows).index(events._best(scene, phrase, candidates, reports))
                seen.update(first=candidates.memories[first].id, signs=signs(candidates, seen["words"], first))
        return row, surely

    def watched_dated(*given: Any) -> Any:
        begun = time.process_time()
        scene = dated(*given)
        seen["seconds"] = time.process_time() - begun
        return scene

    found = []
    events._fits, events._event, pipeline.dated = watched_fits, watched_event, watched_dated
    try:
        with opened(name, encoder, plain=plain) as (engine, filled):
            for question, wanted in filled.asked:
                seen.clear()
                engine.search(question, record=False)
                dating, first = (filled.keys.get(seen.get(name) or "") for name in ("dated", "first"))
                found.append(Resolved(name, question, wanted, first, seen.get("signs"), dating, seen["seconds"]))
    finally:
        events._fits, events._event, pipeline.dated = fits, event, dated
    return found


def signs(candidates: Any, words: Any, at: int) -> np.ndarray:
    """What speaks for a memory: that it tells both what happened and to what, that it is alike, that it is an episode,
    and not that it tells of another sort of event.
    """
    covers, anchors = candidates.covers, [word.is_anchor for word in words]
    happening = covers.happening[at] if not all(anchors) else covers.anchors[at]
    told = happening * (covers.anchors[at] if any(anchors) else happening)
    return np.array([told, candidates.cosines[at], candidates.tells[at], covers.astray[at]])


def figures(asked: list[Resolved], dating: list[str | None]) -> str:
    told = [key == one.event for one, key in zip(asked, dating, strict=True) if one.is_told]
    untold = [key is not None for one, key in zip(asked, dating, strict=True) if not one.is_told]
    first = sum(one.is_first for one in asked)
    return f"named right {sum(told)} of {len(told)} (first {first}), dated though untold {sum(untold)} of {len(untold)}"


# To date a question wrongly is worse than to date it not at all.
WRONG_COSTS = 1.5
PULL = 0.5


def fitted(asked: list[Resolved]) -> np.ndarray:
    """Logistic regression: whether the memory that stands first is the event. The first weight is that of all."""
    read = [one for one in asked if one.signs is not None]
    x = np.array([[1.0, *one.signs] for one in read])
    right = np.array([float(one.is_first) for one in read])
    costs = np.where(right > 0, 1.0, WRONG_COSTS)
    pull = np.diag([0.0, *[PULL] * (x.shape[1] - 1)])
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        likely = 1.0 / (1.0 + np.exp(-x @ weights))
        slope = x.T @ (costs * (likely - right)) + pull @ weights
        weights -= np.linalg.solve((x.T * (costs * likely * (1.0 - likely))) @ x + pull, slope)
    return weights


def decided(asked: list[Resolved], weights: np.ndarray) -> list[str | None]:
    return [one.key if one.signs is not None and weights @ [1.0, *one.signs] >= 0 else None for one in asked]


def fit(asked: list[Resolved]) -> None:
    names = list(dict.fromkeys(one.store for one in asked))
    dating: list[str | None] = []
    for name in names:
        own = [one for one in asked if one.store == name]
        dating += (chosen := decided(own, fitted([one for one in asked if one.store != name])))
        print(f"{name}, fitted on the others: {figures(own, chosen)}")
    print(f"all, each fitted on the others: {figures(asked, dating)}")
    weights = fitted(asked)
    told, alike, tells, astray = weights[1:] / weights[2]
    print(f"weights: told {told:.2f}, alike {alike:.2f}, tells {tells:.2f}, astray {astray:.2f}, "
          f"sure from {-weights[0] / weights[2]:.2f} on")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", nargs="+", choices=(*STORES, APART), default=STORES)
    parser.add_argument("--show", action="store_true", help="the questions that are not dated as they should be")
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    encoder = MiniLMEncoder()
    asked: list[Resolved] = []
    for name, plain in product(given.store, (False, True)):
        own = resolved(name, encoder, plain=plain)
        asked += own
        taken = 1000 * np.median([one.seconds for one in own])
        said = f"{name}{', no episodes' if plain else ''}: {figures(own, [one.dated for one in own])}"
        print(f"{said}; {taken:.0f} ms each at the median", flush=True)
        for one in own if given.show else ():
            if (one.dated or UNTOLD) != one.event:
                print(f"  {one.question}: {one.event}, dated by {one.dated}, first {one.key}, {one.signs}")
    print(f"all: {figures(asked, [one.dated for one in asked])}")
    if given.fit:
        fit(asked)


if __name__ == "__main__":
    main()
