"""A recall, as a table of contents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recallens.model.plan import Strategy
from recallens.model.pool import Pool
from recallens.model.query import WIDE_ALPHA, WIDE_BETA, WIDE_LIMIT, Mode, Query
from recallens.model.verdict import BoolArray, Note, Verdict
from recallens.recall import tiers
from recallens.recall.budget import budget_fit
from recallens.recall.certificate import certify
from recallens.recall.conflicts import conflict_penalty, tell_conflicts
from recallens.recall.direct import judge_answers, overlap_gate, propose_answers
from recallens.recall.diversify import mmr_diversify, per_document_cap
from recallens.recall.fusion import at_most, one_of_each_text, relevant_only
from recallens.recall.gates import Rung, judge, ladder, may_lead_on, passing
from recallens.recall.gather import FIRST, PUSH_SHARE, REFILL, encode, propose, propose_more, refill
from recallens.recall.graph import walk
from recallens.recall.presets import Preset
from recallens.recall.provenance import describe
from recallens.recall.runner import Decide, Stage
from recallens.recall.scene import Scene
from recallens.recall.select import limit
from recallens.recall.sessions import recent_sessions
from recallens.recall.sources import tell_sources
from recallens.recall.terms import as_stage
from recallens.recall.watch import follow, mask_unproposed

# Rows by how they came into the pool, after the first and the refilled; each batch passes the gates once.
GRAPH, RECENT, WATCHED, WIDENED, WIDENED_GRAPH = 2, 3, 4, 5, 6


def pipeline(scene: Scene, preset: Preset, query: Query) -> list[Stage]:
    rungs = ladder(scene, query)
    mask, counts = passing(scene, rungs) if any(rung.asked for rung in rungs) else (None, None)
    narrow = mask is not None and mask.sum() < PUSH_SHARE * scene.columns["alive"].sum()
    pushed = mask if narrow else None
    depth = preset.depth_for(query.limit)
    views = tuple(scene.views)
    tiered = preset.tiers and query.mode is Mode.HYBRID  # a caller who names one mode wants that view alone

    def admitted() -> BoolArray:
        return mask if mask is not None else passing(scene, rungs)[0]

    return [
        ("plan", lambda pool, query: plan(scene, preset, query)),
        ("encode", encode(scene)),
        *((f"gather:{view}", propose(scene, view, depth, pushed)) for view in views),
        *(tier_proposals(scene, depth) if tiered else ()),
        ("gates", judge(scene, rungs, batch=FIRST, pushed=counts if narrow else None)),
        ("refill", refill(scene, views, depth, admitted)),
        ("gates", judge(scene, rungs, batch=REFILL)),
        *(tier_expansion(scene, rungs, query, admitted) if tiered else ()),
        *(along_relations(scene, rungs, query) if preset.by_strategy and is_complex(scene) else ()),
        *(watching(scene, rungs, depth) if scene.watched is not None else ()),
        *(direct_answer(scene) if tiered else ()),
        *ranking(scene, preset, views),
        *(certificate(scene, may_widen=scene.wider is not None) if preset.planned and query.certify else ()),
        *(widening(scene.wider, preset, query, rungs, admitted) if scene.wider is not None else ()),
    ]


def ranking(scene: Scene, preset: Preset, views: Sequence[str]) -> Iterable[Stage]:
    """From candidates to results: every term, the picks, and what each result is."""
    for term in preset.terms_for(tuple(views)):
        yield "terms", as_stage(scene, term, preset.relevance)
    if preset.fused:
        yield "terms", conflict_penalty(scene)
    yield from selection(scene, preset) if preset.tiers else [("select", limit(scene))]
    yield "select", budget_fit(scene)
    yield "describe", describe(scene)
    if preset.tiers:
        yield "describe", tell_conflicts(scene)
    if preset.fused:
        yield "describe", tell_sources(scene)


def certificate(scene: Scene, *, may_widen: bool) -> Iterable[Stage]:
    yield "certificate", certify(scene, may_widen=may_widen)


def widening(
    scene: Scene, preset: Preset, query: Query, rungs: Sequence[Rung], admitted: tiers.Admitted
) -> Iterable[Stage]:
    """The second round, on the same pool: rows stay, new rows are gated, every term is computed afresh.

    It runs only where the certificate opened it.
    """
    wide = widened_query(query)
    depth = preset.depth_for(wide.limit)
    views = tuple(scene.views)
    stages: list[Stage] = [
        ("plan", lambda pool, query: plan(scene, preset, query)),
        *((f"gather:{view}", propose_more(scene, view, depth, admitted, batch=WIDENED)) for view in views),
        ("gates", judge(scene, rungs, batch=WIDENED)),
    ]
    if preset.tiers and scene.neighbours is not None and query.mode is Mode.HYBRID:
        through = may_lead_on(scene, query)
        stages += [
            ("graph", walk(scene, scene.neighbours, wide.limit, batch=WIDENED_GRAPH, through=through)),
            ("gates", judge(scene, rungs, batch=WIDENED_GRAPH)),
        ]
    stages += [*ranking(scene, preset, views), *certificate(scene, may_widen=False)]
    return [(name, _in_second_round(decide, wide)) for name, decide in stages]


def widened_query(query: Query) -> Query:
    limit = max(WIDE_LIMIT, query.limit)
    most = limit if query.max_results is None else min(limit, query.max_results)
    return replace(query, alpha=WIDE_ALPHA, beta=WIDE_BETA, limit=most)


def _in_second_round(decide: Decide, query: Query) -> Decide:
    def only_there(pool: Pool, _: Query) -> Iterable[Verdict]:
        return decide(pool, query) if pool.round > 1 else ()

    return only_there


def tier_proposals(scene: Scene, depth: int) -> Iterable[Stage]:
    """The tiers that look at the whole namespace, beside the views."""
    if scene.words is not None:
        yield "direct-answer", propose_answers(scene, scene.words, batch=FIRST)
        yield "procedural", tiers.procedural(scene, scene.words, depth, batch=FIRST)
        yield "sessions", recent_sessions(scene, scene.words, batch=FIRST)
    if scene.touched is not None:
        yield "review-context", tiers.review_context(scene, scene.touched, depth, batch=FIRST)


def tier_expansion(scene: Scene, rungs: Sequence[Rung], query: Query, admitted: tiers.Admitted) -> Iterable[Stage]:
    """The tiers that start from what is live: along relations, or, where nothing is, from the newest."""
    yield from along_relations(scene, rungs, query)
    yield "recent-scan", tiers.recent_scan(scene, admitted, query.limit, batch=RECENT)
    yield "gates", judge(scene, rungs, batch=RECENT)


def along_relations(scene: Scene, rungs: Sequence[Rung], query: Query) -> Iterable[Stage]:
    if scene.neighbours is not None:
        through = may_lead_on(scene, query)
        yield "graph", walk(scene, scene.neighbours, query.limit, batch=GRAPH, through=through)
        yield "gates", judge(scene, rungs, batch=GRAPH)


def is_complex(scene: Scene) -> bool:
    return scene.plan is not None and scene.plan.strategy is Strategy.COMPLEX


def direct_answer(scene: Scene) -> Iterable[Stage]:
    if scene.words is not None:
        yield "direct-answer", judge_answers(scene, scene.words, batch=FIRST)
        yield "gates", overlap_gate(scene, scene.words)


def watching(scene: Scene, rungs: Sequence[Rung], depth: int) -> Iterable[Stage]:
    assert scene.watched is not None
    yield "watch", follow(scene, scene.watched, list(scene.unknown), depth, batch=WATCHED)
    yield "watch", mask_unproposed()
    yield "gates", judge(scene, rungs, batch=WATCHED)


def selection(scene: Scene, preset: Preset) -> Iterable[Stage]:
    if preset.fused:
        yield "select", relevant_only(scene)
        yield "select", one_of_each_text(scene)
    yield "select", per_document_cap(scene)
    yield "select", at_most(scene)
    if scene.likeness is not None:
        yield "select", mmr_diversify(scene, scene.likeness, preset.balance)
    else:
        yield "select", limit(scene)


def plan(scene: Scene, preset: Preset, query: Query) -> Iterable[Note]:
    yield Note(
        "plan",
        {
            "preset": preset.name,
            "views": list(scene.views),
            "depth": preset.depth_for(query.limit),
            "limit": query.limit,
            "alpha": query.alpha,
            "beta": query.beta,
            **scene.notes,
        },
    )
