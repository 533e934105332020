"""A recall, as a table of contents."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.model.query import Query
from recollect.model.verdict import BoolArray, Note
from recollect.recall.gates import judge, ladder, passing
from recollect.recall.gather import FIRST, PUSH_SHARE, REFILL, encode, propose, refill
from recollect.recall.presets import Preset
from recollect.recall.runner import Stage
from recollect.recall.scene import Scene
from recollect.recall.select import limit
from recollect.recall.terms import as_stage


def pipeline(scene: Scene, preset: Preset, query: Query) -> list[Stage]:
    views = tuple(scene.views)
    depth = preset.depth_for(query.limit)
    rungs = ladder(scene, query)
    mask, counts = passing(scene, rungs) if any(rung.asked for rung in rungs) else (None, None)
    narrow = mask is not None and mask.sum() < PUSH_SHARE * scene.columns["alive"].sum()
    pushed = mask if narrow else None

    def admitted() -> BoolArray:
        return mask if mask is not None else passing(scene, rungs)[0]

    return [
        Stage("plan", lambda pool, query: plan(scene, preset, query)),
        Stage("encode", encode(scene)),
        *(Stage(f"gather:{view}", propose(scene, view, depth, pushed)) for view in views),
        Stage("gates", judge(rungs, batch=FIRST, pushed=counts if narrow else None)),
        Stage("refill", refill(scene, views, depth, admitted)),
        Stage("gates", judge(rungs, batch=REFILL)),
        *(Stage("terms", as_stage(scene, term)) for term in preset.terms_for(views)),
        Stage("select", limit(scene)),
    ]


def plan(scene: Scene, preset: Preset, query: Query) -> Iterable[Note]:
    yield Note(
        "plan",
        {
            "preset": preset.name,
            "views": list(scene.views),
            "depth": preset.depth_for(query.limit),
            **scene.notes,
        },
    )
