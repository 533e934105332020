"""A recall, as a table of contents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from recallens.model.plan import Intent, Strategy
from recallens.model.pool import Pool
from recallens.model.query import Mode, Query
from recallens.model.verdict import BoolArray, Note, Verdict
from recallens.recall.certificate import certify
from recallens.recall.conflicts import conflict_penalty, note_conflicts
from recallens.recall.facets import of_a_change
from recallens.recall.gates import TIME_RULES, FilterRule, filter_rules, judge, passing
from recallens.recall.intents import TELLS_A_COURSE
from recallens.recall.judgement import judge_relevance
from recallens.recall.plan import widened_query
from recallens.recall.precedence import PRECEDENCE
from recallens.recall.presets import Preset
from recallens.recall.rerank import Reranking, rerank
from recallens.recall.results import describe
from recallens.recall.runner import Decide, Stage
from recallens.recall.scene import SEMANTIC, Scene, widened_scene
from recallens.recall.select import (
    LESSON_EXTRA,
    at_most,
    budget_fit,
    few_where_doubtful,
    first_by_score,
    mmr_diversify,
    of_that_time,
    one_of_each_text,
    per_document_cap,
    relevance_cut,
    relevant_only,
    room_for_the_trusted,
)
from recallens.recall.sources import note_sources
from recallens.recall.terms import weighed
from recallens.recall.terms.intent import preferred_rows
from recallens.recall.views import (
    FIRST_BATCH,
    GRAPH_BATCH,
    PUSH_SHARE,
    RECENT_BATCH,
    REFILL_BATCH,
    WATCH_BATCH,
    WIDENED_BATCH,
    WIDENED_GRAPH_BATCH,
    Admitted,
    encode,
    propose,
    propose_more,
    propose_preferred,
    refill,
)
from recallens.recall.views.direct_answer import judge_answers, overlap_gate, propose_answers
from recallens.recall.views.events import dated
from recallens.recall.views.graph import walk
from recallens.recall.views.locations import placed
from recallens.recall.views.succession import successors
from recallens.recall.views.tiers import (
    follow,
    mask_unproposed,
    procedural,
    recent_scan,
    recent_sessions,
    review_context,
)
from recallens.recall.views.times import note_times, of_the_time
from recallens.text.languages import alternatives


def pipeline(scene: Scene, preset: Preset, query: Query, reranking: Reranking | None = None) -> list[Stage]:
    scene = placed(dated(scene, preset, query), preset, query)
    rules = filter_rules(scene, query)
    mask, counts = passing(scene, rules) if any(rule.from_caller for rule in rules) else (None, None)
    narrow = mask is not None and mask.sum() < PUSH_SHARE * scene.columns["alive"].sum()
    depth = preset.depth_for(query.limit)
    views = tuple(scene.views)
    tiered = preset.tiers and query.mode is Mode.HYBRID  # a caller who names one mode wants that view alone
    words = scene.words if tiered else None
    plan = scene.question.plan
    by_relations = preset.by_strategy and plan is not None and plan.strategy is Strategy.COMPLEX
    widens = plan is not None and query.widen
    cuts = preset.cut and query.cut
    preferred = preferred_rows(scene) if tiered else None
    if preferred is not None and narrow and mask is not None:
        preferred &= mask
    preferring = views if preferred is not None else ()

    def admitted() -> BoolArray:
        return mask if mask is not None else passing(scene, rules)[0]

    def whenever() -> BoolArray:
        return passing(scene, [rule for rule in rules if rule.name not in TIME_RULES])[0]

    # Who narrows a question about a change to files asks about a change to these.
    reviewed = query.files or (query.filters.affected and of_a_change(query.text))

    def gates(batch: int) -> Stage:
        pushed = counts if narrow and batch == FIRST_BATCH else None
        return "gates", partial(judge, scene, rules, batch, pushed)

    return [
        ("plan", partial(note_plan, scene, preset, rules)),
        ("encode", partial(encode, scene)),
        *((f"gather:{view}", partial(propose, scene, view, depth, mask if narrow else None)) for view in views),
        *((f"gather:{view}", partial(propose_preferred, scene, view, preferred)) for view in preferring),
        *([("direct-answer", partial(propose_answers, scene, words))] if words is not None else ()),
        *([("procedural", partial(procedural, scene, words, depth))] if words is not None else ()),
        *([("sessions", partial(recent_sessions, scene, words))] if words is not None else ()),
        *([("review-context", partial(review_context, scene, depth))] if tiered and reviewed else ()),
        gates(FIRST_BATCH),
        ("refill", partial(refill, scene, views, depth, admitted)),
        *([("succession", partial(successors, scene))] if tiered else ()),
        gates(REFILL_BATCH),
        *([("graph", partial(walk, scene, GRAPH_BATCH)), gates(GRAPH_BATCH)] if tiered or by_relations else ()),
        *([("time", partial(of_the_time, scene, cuts, depth, whenever))] if tiered else ()),
        *([("recent-scan", partial(recent_scan, scene, cuts, admitted)), gates(RECENT_BATCH)] if tiered else ()),
        *([("watch", partial(follow, scene, depth)), ("watch", mask_unproposed)] if query.watch else ()),
        *([gates(WATCH_BATCH)] if query.watch else ()),
        *([("direct-answer", partial(judge_answers, scene, words))] if words is not None else ()),
        *([("gates", partial(overlap_gate, words))] if words is not None else ()),
        *ranking(scene, preset, query, reranking),
        *([("certificate", partial(certify, scene, widens, admitted))] if preset.planned and query.certify else ()),
        *(second_round(scene, preset, query, rules, admitted, reranking) if widens else ()),
    ]


def ranking(scene: Scene, preset: Preset, query: Query, reranking: Reranking | None) -> Iterator[Stage]:
    """From candidates to results: every term, the picks, and what each result is."""
    cuts = preset.cut and query.cut
    lessons = LESSON_EXTRA if preset.fused and query.max_results is None else 0
    asked = {*scene.views, *((SEMANTIC,) if scene.reads_meaning else ())}
    terms = [term for term in preset.terms if term.view is None or term.view in asked]
    for term in terms:
        if not term.orders:
            yield "terms", partial(weighed, scene, term, term.fits and preset.alpha_weighs_fit)
    if preset.fused:
        yield "terms", partial(conflict_penalty, scene)
    if reranking is not None and preset.tiers:
        yield "rerank", partial(rerank, scene, reranking)
    if preset.planned:
        yield "relevance", partial(judge_relevance, scene)
    for term in terms:
        if term.orders:
            yield "terms", partial(weighed, scene, term, False)
    for precedence in PRECEDENCE if preset.tiers else ():
        yield "terms", partial(precedence, scene, preset.balance)
    if cuts:
        yield "select", partial(relevance_cut, scene)
        yield "select", partial(of_that_time, scene)
        yield "select", partial(few_where_doubtful, scene)
    if preset.fused:
        yield "select", partial(relevant_only, scene)
        yield "select", partial(one_of_each_text, scene)
    if preset.tiers:
        yield "select", partial(per_document_cap, scene)
        yield "select", partial(at_most, scene)
        yield "select", partial(room_for_the_trusted, scene)
        yield "select", partial(mmr_diversify, scene, preset.balance, lessons)
    else:
        yield "select", partial(first_by_score, scene)
    yield "select", partial(budget_fit, scene)
    yield "describe", partial(describe, scene)
    yield "describe", partial(note_times, scene)
    if preset.tiers:
        yield "describe", partial(note_conflicts, scene)
    if preset.fused:
        yield "describe", partial(note_sources, scene)


def second_round(
    first: Scene, preset: Preset, query: Query, rules: Sequence[FilterRule], admitted: Admitted,
    reranking: Reranking | None,
) -> Iterator[Stage]:  # fmt: skip
    """The same pool, asked with the widened plan: rows stay, new rows are gated, every term is computed afresh.

    It runs only where the certificate opened it.
    """
    scene, wide = widened_scene(first, preset, query), widened_query(query)
    depth = preset.depth_for(wide.limit)
    stages: list[Stage] = [
        ("plan", partial(note_plan, first, preset, rules)),
        *((f"gather:{view}", partial(propose_more, scene, view, depth, admitted)) for view in scene.views),
        ("gates", partial(judge, scene, rules, WIDENED_BATCH, None)),
    ]
    if preset.tiers and query.mode is Mode.HYBRID:
        stages.append(("graph", partial(walk, scene, WIDENED_GRAPH_BATCH)))
        stages.append(("gates", partial(judge, scene, rules, WIDENED_GRAPH_BATCH, None)))
    stages += [*ranking(scene, preset, query, reranking), ("certificate", partial(certify, scene, False, admitted))]
    for name, decide in stages:
        yield name, partial(_if_opened, decide, wide)


def _if_opened(decide: Decide, wide: Query, pool: Pool, _: Query) -> Iterable[Verdict]:
    return decide(pool, wide) if pool.round > 1 else ()


def note_plan(scene: Scene, preset: Preset, rules: Sequence[FilterRule], pool: Pool, query: Query) -> Iterator[Note]:
    notes: dict[str, Any] = {
        "preset": preset.name,
        "views": list(scene.views),
        "depth": preset.depth_for(query.limit),
        "limit": query.limit,
        "alpha": query.alpha,
        "beta": query.beta,
        **scene.versions,
    }
    for rule in rules:
        notes |= rule.notes
    if scene.index.proposed is not None:
        notes["index"] = scene.index.proposed.told()
    notes["fluency"] = scene.question.fluency
    plan = scene.question.plan
    if asks_for_a_course(scene, query):
        notes["inTime"] = True
    yield Note("plan", notes | plan.to_json() if plan is not None else notes)


_CAUSE: Final = re.compile(alternatives(lambda pack: pack.questions.cause), re.IGNORECASE)


def asks_for_a_course(scene: Scene, query: Query) -> bool:
    """Whether the answer is to be read in the order of time: what happened with something. Who asks why asks for what
    answers, and a time by itself is told by what matters most in it.
    """
    plan, question = scene.question.plan, scene.question
    if plan is None or plan.intent is not Intent.WHAT_HAPPENED or question.only_windows or question.then is not None:
        return False
    asked = plan.intent_given or not TELLS_A_COURSE.isdisjoint(plan.intent_cues)
    return asked and _CAUSE.search(query.text) is None
