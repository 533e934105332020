"""What is asked. A query is a plain value: with a store and a clock it decides every byte of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

from recallens.model.memory import Kind, Sector, Tier
from recallens.model.plan import Intent, Scope

DEFAULT_NAMESPACE = "default"
DEFAULT_LIMIT = 10
MAX_LIMIT = 1_000
DEFAULT_BUDGET = 8_192
DEFAULT_TOKENS = 8_000
GRAPH_FLOOR = 0.2
GRAPH_ITERATIONS = 8
# The specification: what similarity and proven use weigh in a result's utility, and in the one widening.
ALPHA, BETA = 0.7, 0.2
WIDE_ALPHA, WIDE_BETA, WIDE_LIMIT = 0.5, 0.5, 20
# The specification: what meaning weighs beside the words in the preset `fusion` (its golden set chose 0.5).
BLEND = 0.5


class Mode(StrEnum):
    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


class Documents(StrEnum):
    """Whether memories that were cut from a document take part."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class Filters:
    """The caller's own gates. None means the gate is not asked for.

    `folders`, `include_raw` and `brain_file_limit` are about what was cut from files: only from these folders, whether
    raw conversations take part, and how many at most. `medium_term_limit` is about summaries of sessions. Zero means
    none at all.
    """

    project: str | None = None
    sector: Sector | None = None
    tier: Tier | None = None
    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    min_salience: float = 0.0
    include_superseded: bool = False
    in_session: str | None = None
    documents: Documents = Documents.INCLUDE
    requires_citations: bool = False
    scope: Scope = Scope.ORG
    affected: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    include_raw: bool = True
    brain_file_limit: int | None = None
    medium_term_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """What the asker is at: the file that is open, the latest commands first. `levels` asks for answers as abstract as
    the question. The four numbers are shares of a score.
    """

    open_file: str | None = None
    commands: tuple[str, ...] = ()
    levels: bool = False
    file_match: float = 0.3
    command_match: float = 0.2
    same_level: float = 0.15
    far_level: float = 0.15

    @property
    def working(self) -> bool:
        return self.open_file is not None or bool(self.commands)


@dataclass(frozen=True, slots=True)
class Query:
    """One question, asked at `now`, about what was known at `as_of` (default: now).

    `budget` is in characters, beside `tokens`; without them nothing is left out for its length. `files` are those of a
    change under review, `scopes` the contexts that the caller holds. `weights` multiplies a term by name, 1 being the
    preset's own. `watch` names memories that are followed through the recall without taking part in it, which is how
    "why not this one?" is answered. `alpha` multiplies what says how well a memory fits the question, `beta` what it
    has been worth in tasks. `task` and `worktree` are where the asker works. `certify` asks for the certificate, and
    `widen` lets an answer that leaves much of the question uncovered look once more, wider; `max_results` holds in both
    rounds. `item_tokens` is what a result costs at most in the layer that shows it, where that is not its whole text.
    `blend` is what meaning weighs beside the words where a preset blends the two. `excerpts` says that results are
    handed out shortened, and cost as much.
    """

    text: str
    now: int
    namespace: str = DEFAULT_NAMESPACE
    mode: Mode = Mode.HYBRID
    limit: int = DEFAULT_LIMIT
    preset: str = "default"
    filters: Filters = field(default_factory=Filters)
    session: str | None = None
    as_of: int | None = None
    budget: int | None = None
    tokens: int | None = None
    files: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    watch: tuple[str, ...] = ()
    graph_floor: float = GRAPH_FLOOR
    graph_iterations: int = GRAPH_ITERATIONS
    intent: Intent | None = None
    alpha: float = ALPHA
    beta: float = BETA
    task: str | None = None
    worktree: str | None = None
    certify: bool = False
    widen: bool = False
    max_results: int | None = None
    item_tokens: int | None = None
    blend: float = BLEND
    situation: Situation = field(default_factory=Situation)
    excerpts: bool = False

    @property
    def at(self) -> int:
        return self.now if self.as_of is None else self.as_of

    def to_json(self) -> dict[str, Any]:
        inner = {"filters": _fields_of(self.filters), "situation": _fields_of(self.situation)}
        return _fields_of(self) | inner | {"weights": dict(self.weights)}


def _fields_of(record: Query | Filters | Situation) -> dict[str, Any]:
    """One level of `asdict`, which copies every value as if it could change."""
    names, values = _FIELDS[type(record)]
    return dict(zip(names, values(record), strict=True))


_FIELDS: Final = {kind: (kind.__match_args__, attrgetter(*kind.__match_args__)) for kind in (Query, Filters, Situation)}
