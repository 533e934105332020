"""A store that was lived in: something of every noun, for what must carry or survive all of it."""

from __future__ import annotations

from pathlib import Path

from recallens import Draft, Engine
from recallens.model.citation import FileCitation
from recallens.model.memory import Zone
from recallens.model.trust import Change, Input, InputKind, ProposedChange
from standing import FixedClock

QUESTIONS = [
    "how long are lookups cached",
    "who fixed the login",
    "캐시는 얼마나",
    "what failed in the gateway",
    "memory 17",
]


def lived_in(engine: Engine, clock: FixedClock, folder: Path) -> Engine:
    """A store with something of every noun in it, gaps in its numbers, and more than one namespace."""
    texts = [f"memory {at} tells of the gateway and of login {at % 5}" for at in range(30)]
    for _ in engine.memories.remember_many([Draft(text, session="s1", tags=("t",)) for text in texts], dedupe=False):
        pass
    cited = engine.remember("We cache lookups for 60 seconds", citations=(FileCitation("src/a.py", 1, 2),)).id
    engine.remember("캐시는 육십 초 동안 유지된다", scopes=("hr",), importance=0.9, title="캐시")
    clock.advance(days=1)
    engine.edit(cited, "We cache lookups for 90 seconds")
    engine.relate("m1", "m2", "CAUSED", confidence=0.5)
    engine.confirm("m4")
    engine.forget("m5")
    engine.forget("m9", hard=True)
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "a.py").write_text("one\ntwo\n")
    engine.maintenance.citations.check(root=folder, mark=True)
    task = engine.tasks.start("Fix the gateway", session="s1")
    engine.tasks.log(task.id, "line one\nline two")
    engine.tasks.used(["m2"], task=task.id)
    engine.tasks.end(task.id, reward=0.9, summary="fixed it")
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "a.md").write_text("# A\n\nSee [[b]].\n\n## Cache\n\nFor 30 seconds.\n")
    (notes / "b.md").write_text("---\nstatus: draft\n---\n# B\n\nNothing yet.\n")
    engine.vaults.add(str(notes), "notes")
    engine.vaults.sync("notes")
    with engine.core.store.write("default") as tx:
        tx.lineage.put(2, [Input(InputKind.LOG, "L", Zone.WORKING)])
        tx.proposals.put(ProposedChange(Change.FORGET, num=3, owner="token", at=clock.now))
    engine.tokens.create(["default"], right="read", name="reader")
    engine.tokens.owns_session("s-theirs", "someone", claim=True)
    for question in QUESTIONS:
        engine.search(question, session="s2")
    engine.remember("Of another namespace", namespace="other")
    engine.encoder.drain()
    return engine
