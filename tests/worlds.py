"""Random small stores and questions for property tests, of a vocabulary so small that things match."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from recallens.engine import Engine
from recallens.errors import EditConflict, InvalidInput
from recallens.ingest.draft import Draft
from recallens.model.memory import IdSource, Kind, Sector, Tier
from recallens.model.salience import DAY_MS
from standing import START_MS, FixedClock

WORDS = (
    "cache",
    "caching",
    "deploy",
    "login",
    "token",
    "gateway",
    "인증",
    "사용자인증을",
    "배포",
    "src/app.py",
    "E1100",
)
STATUSES = ("active", "active", "active", "active", "pending_review", "quarantined", "rejected", "archived")
SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class World:
    """What to write, in order: memories one by one, then supersessions, then what happens to some of them."""

    drafts: tuple[Draft, ...]
    supersessions: tuple[tuple[int, int, int], ...]
    forgotten: tuple[int, ...]
    confirmed: tuple[int, ...]
    recalled: tuple[str, ...]


def texts(most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=most).map(" ".join)


def days(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high).map(lambda count: START_MS + count * DAY_MS)


# Made once: a strategy that is made anew for every draw is also checked anew, which cost as much as the recalls.
TIMES = days(-30, 10)
FEW_TEXTS = st.lists(texts(2), max_size=2)
DRAFTS = st.fixed_dictionaries(
    {
        "valid_from": st.none() | days(-20, 5),
        "valid_until": st.none() | st.none() | days(-10, 10),
        "content": texts(6),
        "title": st.none() | texts(2),
        "project": st.sampled_from((None, "p", "q")),
        "sector": st.sampled_from(Sector),
        "kind": st.sampled_from((Kind.FACT, Kind.GOTCHA, Kind.LESSON)),
        "tier": st.sampled_from(Tier),
        "status": st.sampled_from(STATUSES),
        "zone": st.sampled_from(("trusted", "trusted", "working", "quarantine")),
        "tags": st.sampled_from(((), ("ops",), ("ops", "web"))),
        "importance": st.sampled_from((0.0, 0.3, 1.0)),
        "salience": st.sampled_from((0.1, 0.5, 1.0)),
        "session": st.sampled_from((None, "s1", "s2")),
        "created": days(-60, 0),
    }
)


def draft_of(fields: dict[str, Any]) -> Draft:
    starts, ends = fields["valid_from"], fields["valid_until"]
    ordered = ends is None or starts is None or ends > starts
    return Draft(**{**fields, "valid_until": ends if ordered else None})


def drafts() -> st.SearchStrategy[Draft]:
    return DRAFTS.map(draft_of)


def worlds(most: int = 24, least: int = 1) -> st.SearchStrategy[World]:
    memories = st.lists(drafts(), min_size=least, max_size=most).map(tuple)
    places = [st.integers(0, count) for count in range(most)]  # of the memories of a world, by the last one's place
    supersessions = [st.lists(st.tuples(place, place, TIMES), max_size=3).map(tuple) for place in places]
    forgotten = [st.lists(place, max_size=2, unique=True).map(tuple) for place in places]
    confirmed = [st.lists(place, max_size=3).map(tuple) for place in places]

    @st.composite
    def world(draw: st.DrawFn) -> World:
        drafts = draw(memories)
        last = len(drafts) - 1
        return World(
            drafts, draw(supersessions[last]), draw(forgotten[last]), draw(confirmed[last]), tuple(draw(FEW_TEXTS))
        )

    return world()


questions = st.fixed_dictionaries(
    {
        "text": texts(4),
        "mode": st.sampled_from(("hybrid", "hybrid", "semantic", "keyword")),
        "preset": st.sampled_from(("default", "classic", "fusion")),
        "limit": st.integers(1, 6),
    },
    optional={
        "project": st.sampled_from(("p", "q", "nowhere")),
        "sector": st.sampled_from(Sector),
        "tier": st.sampled_from(Tier),
        "kind": st.sampled_from((Kind.FACT, Kind.GOTCHA, Kind.SKILL)),
        "tags": st.sampled_from((("ops",), ("ops", "web"), ("none",))),
        "min_salience": st.sampled_from((0.0, 0.2, 0.6)),
        "include_superseded": st.booleans(),
        "in_session": st.sampled_from(("s1", "s2")),
        "documents": st.sampled_from(("include", "exclude", "only")),
        "as_of": days(-40, 0),
        "open_file": st.sampled_from(("src/app.py", "/home/me/src/other.py")),
        "commands": st.sampled_from((("/deploy",), ("/인증 배포", "login"))),
        "hierarchical": st.booleans(),
        "blend": st.sampled_from((0.0, 0.3, 1.0)),
        "medium_term_limit": st.integers(0, 2),
        "brain_file_limit": st.integers(0, 2),
    },
)


@contextmanager
def a_folder() -> Iterator[Path]:
    """In memory where that is possible: the laws are not about the disk."""
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
        yield Path(folder)


@cache
def empty_store() -> bytes:
    """A copy opens in a quarter of the time that a new one takes, and the laws open thousands."""
    with a_folder() as folder:
        Engine.open(folder / "empty.db", encoder="hashing", clock=FixedClock()).close()
        return (folder / "empty.db").read_bytes()


def open_world(path: Path, **options: Any) -> Engine:
    clock = FixedClock()
    if not path.exists():
        path.write_bytes(empty_store())
    return Engine.open(path, encoder="hashing", clock=clock, ids=IdSource(clock, lambda bits: 0), **options)


def populate(engine: Engine, world: World, *, ask_between: bool = False) -> list[str]:
    """Write the world. With `ask_between` the engine's derived state grows a row at a time."""
    for session in ("s1", "s2"):
        engine.sessions.start(session)
    ids = []
    for draft in world.drafts:
        ids.append(engine.remember(draft, dedupe=False).id)
        if ask_between:
            engine.recall(engine.recalls.query("cache"))
    for old, new, at in world.supersessions:
        try:
            engine.supersede(ids[old], ids[new], at=at)
        except (InvalidInput, EditConflict):  # itself, a circle, or what something else has replaced
            continue
    for place in world.confirmed:
        engine.confirm(ids[place])
    for text in world.recalled:
        engine.search(text, session="s1")
    for place in world.forgotten:
        engine.forget(ids[place])
    return ids


@contextmanager
def populated(world: World, **options: Any) -> Iterator[Engine]:
    with a_folder() as folder, open_world(folder / "store.db", **options) as engine:
        populate(engine, world)
        yield engine
