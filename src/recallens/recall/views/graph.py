"""The graph view: from the best rows along relations and shared entities, with decay by hop, ranked by PageRank.

Spreading activation: Collins and Loftus (1975). PageRank: Page, Brin, Motwani and Winograd (1999), here personalised on
the starting rows and run over what the activation reached.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, Note, Verdict, places
from recallens.recall.gates import usable
from recallens.recall.scene import Scene
from recallens.recall.views import GRAPH, found
from recallens.recall.views.mentions import mentions

SEEDS = 10
HOPS = 2
HOP_DECAY = 0.5
TIE_DECIMALS = 12
DAMPING = 0.85
# How firmly a name in both texts ties two memories, against 1 for a relation that somebody stated.
SHARED_ENTITY_CONFIDENCE = 0.3
SHARED_ENTITY = "SHARES_ENTITY"
# How firmly a title that stands in one of the first texts ties two memories, and how many are read for that.
MENTIONED_CONFIDENCE, MENTIONED = 0.6, "MENTIONS"
MENTIONING = 3
# Ties by a shared name that one walk follows: the nearest are enough, and a crowd says nothing.
MOST_SHARED_TIES = 200
# A memory with more ties than this is a hub: what it leads to is hardly about the question for that.
HUB_TIES = 8


class GraphEdge(Struct, frozen=True):
    """Two memories by number, tied either way round, and how sure the tie is."""

    source: int
    target: int
    relation: str
    confidence: float


Neighbours = Callable[[Sequence[int]], Iterable[GraphEdge]]
# Of these memories, those that a path may lead through.
Through = Callable[[Sequence[int]], Sequence[int]]


class Reached(Struct, frozen=True):
    """`via` is the step by which most activation came: the node before, the relation, its confidence."""

    activation: float
    via: tuple[int, str, float] | None


def spread(
    seeds: Sequence[int], neighbours: Neighbours, floor: float, through: Through = list
) -> tuple[dict[int, Reached], list[GraphEdge]]:
    """Activation from the starting rows, at most HOPS steps out; edges below the floor are never walked.

    A hub passes on as much in all as HUB_TIES ties would.
    """
    reached = dict.fromkeys(seeds, Reached(1.0, None))
    walked: dict[tuple[int, int, str], GraphEdge] = {}
    front = list(seeds)
    for _ in range(HOPS):
        if not front:
            break
        following: dict[int, Reached] = {}
        inside = set(front)
        edges = [edge for edge in neighbours(front) if edge.confidence >= floor]
        ties = Counter(end for edge in edges for end in (edge.source, edge.target))
        for edge in edges:
            walked[(edge.source, edge.target, edge.relation)] = edge
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if here not in inside or there in reached:
                    continue
                damped = min(1.0, HUB_TIES / ties[here])
                activation = reached[here].activation * edge.confidence * HOP_DECAY * damped
                if there not in following or activation > following[there].activation:
                    following[there] = Reached(activation, (here, edge.relation, edge.confidence))
        reached |= following
        front = list(through(list(following)))
    return reached, list(walked.values())


def pagerank(nodes: Sequence[int], edges: Sequence[GraphEdge], seeds: Sequence[int], iterations: int) -> FloatArray:
    """Personalised on the starting rows; an edge carries rank both ways in proportion to its confidence."""
    place = dict(zip(nodes, range(len(nodes)), strict=True))
    weight = np.zeros((len(nodes), len(nodes)))
    for edge in edges:
        a, b = place.get(edge.source), place.get(edge.target)
        if a is not None and b is not None:
            weight[a, b] += edge.confidence
            weight[b, a] += edge.confidence
    outgoing = weight.sum(axis=0)
    start = np.zeros(len(nodes))
    for seed in seeds:
        start[place[seed]] = 1.0 / len(seeds)
    rank = start.copy()
    for _ in range(iterations):
        moved = weight @ np.divide(rank, outgoing, out=np.zeros_like(rank), where=outgoing > 0)
        dangling = rank[outgoing == 0].sum()
        rank = (1.0 - DAMPING) * start + DAMPING * (moved + dangling * start)
    return rank


def path_to(node: int, reached: dict[int, Reached]) -> tuple[list[int], list[str], list[float]]:
    """The nodes from a starting row to here, the relation of each step, and its confidence."""
    nodes, relations, confidences = [node], [], []
    while (via := reached[nodes[-1]].via) is not None:
        nodes.append(via[0])
        relations.append(via[1])
        confidences.append(via[2])
    return nodes[::-1], relations[::-1], confidences[::-1]


def walk(scene: Scene, batch: int, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Propose what the live rows lead to."""
    seeds = _seeds(scene, pool)
    reached, edges = spread(
        seeds, partial(_ties, scene, seeds[:MENTIONING]), query.graph_floor, partial(usable, scene, query)
    )
    everyone = list(reached)
    if len(everyone) == len(seeds):
        return
    rank = pagerank(everyone, edges, seeds, query.graph_iterations).tolist()
    top = max(rank[len(seeds) :]) or 1.0
    ids, alive = scene.columns["id"], scene.columns["alive"]
    name: dict[int, str] = {}
    candidates = []
    for node, share, row in zip(everyone, rank, scene.columns.locate(everyone).tolist(), strict=True):
        if row < 0:
            continue
        name[node] = ids[row].decode()
        if reached[node].via is not None and alive[row]:
            strength = reached[node].activation * share / top
            # Sums over the same edges in another order differ in their last bits: that must not decide over the id.
            candidates.append((-round(strength, TIE_DECIMALS), name[node], node, row, strength))
    paths, rows, strengths = {}, [], []
    for _, id, node, row, strength in sorted(candidates)[: query.limit]:
        rows.append(row)
        strengths.append(strength)
        along, relations, confidences = path_to(node, reached)
        steps = list(map(name.get, along))
        if None not in steps:
            paths[id] = {"nodes": steps, "relations": relations, "confidences": confidences}
    yield Note(
        GRAPH,
        {
            "seeds": [*filter(None, map(name.get, seeds))],
            "paths": paths,
            "floor": query.graph_floor,
            "iterations": query.graph_iterations,
        },
    )
    yield found(scene, GRAPH, np.array(rows, dtype=np.int64), np.array(strengths), batch)


# Of rows that are this likely to help beside the likeliest, what they are related to may help too.
LEADS_ON: Final = 0.25
# A link between two notes says less than a relation that somebody named, and what was replaced is known as such.
_SAYS_LITTLE: Final = frozenset(("MENTIONS", "SUPERSEDES"))


def leading(pool: Pool) -> BoolArray:
    """The rows to set out from, beside what is as trusted; none where no row is likely enough to help."""
    leads, relevance = np.zeros(len(pool), dtype=np.bool_), pool.relevance
    if relevance is None:
        return leads
    for among in pool.circles():
        best = relevance[pool.live & among.rows].max(initial=0.0)
        if best >= among.least:
            leads |= among.rows & (relevance >= LEADS_ON * best)
    return leads


def related(scene: Scene, pool: Pool, query: Query, worth: FloatArray, leads: BoolArray) -> FloatArray:
    """What the rows that lead on pass along stated relations: their worth · confidence · decay a hop / √degree, so that
    a hub passes on little to each; the best of what reaches a row, 0 for the others.
    """
    reached = np.zeros(len(pool))
    nums = scene.columns["num"][pool.rows]
    place = {int(num): at for at, num in enumerate(nums.tolist())}
    front, carried = places(pool.live & leads), worth
    for _ in range(HOPS):
        edges = scene.bodies.edges_of(nums[front].tolist(), scene.at)
        edges = [edge for edge in edges if edge[2] not in _SAYS_LITTLE and edge[3] >= query.graph_floor]
        degree = Counter(end for source, target, *_ in edges for end in (source, target))
        inside, following = set(front.tolist()), np.zeros(len(pool))
        for source, target, _, confidence in edges:
            for here, there in ((source, target), (target, source)):
                start, end = place.get(here, -1), place.get(there, -1)
                if start in inside and end >= 0 and pool.live[end]:
                    passed = float(carried[start]) * confidence * HOP_DECAY / math.sqrt(degree[here])
                    following[end] = max(following[end], passed)
        front = places(following > reached)
        reached, carried = np.maximum(reached, following), following
    return reached


def _ties(scene: Scene, first: Sequence[int], nums: Sequence[int]) -> Iterator[GraphEdge]:
    """The relations of some memories, those that share a name with them, and those that the first of all mention."""
    for source, target, relation, confidence in scene.bodies.edges_of(nums, scene.at):
        yield GraphEdge(source, target, relation, confidence)
    for source, target in scene.reader.terms.sharing_names(nums, MOST_SHARED_TIES):
        yield GraphEdge(source, target, SHARED_ENTITY, SHARED_ENTITY_CONFIDENCE)
    for source, target in mentions(scene, [num for num in first if num in nums]):
        yield GraphEdge(source, target, MENTIONED, MENTIONED_CONFIDENCE)


def _seeds(scene: Scene, pool: Pool) -> list[int]:
    """The live rows that the views placed highest, by reciprocal rank."""
    worth = np.zeros(len(pool))
    for proposal in pool.found.values():
        worth[proposal.positions] += 1.0 / (1.0 + np.arange(len(proposal.positions)))
    live = places(pool.live & (worth > 0))
    order = live[np.lexsort((pool.ids[live], -worth[live]))][:SEEDS]
    seeds: list[int] = scene.columns["num"][pool.rows[order]].tolist()
    return seeds
