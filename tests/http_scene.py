"""A served store with something of everything in it, and what each route can be asked about it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.server import address_of, build, listening, serving

ADDRESS = "http://127.0.0.1:8765"
QUESTION = "how long are lookups cached"


@dataclass(frozen=True)
class Scene:
    """`ids` are memories of the namespace default: the first stands, the second is forgotten, the third waits."""

    engine: Engine
    ids: tuple[str, ...]
    foreign: str
    snapshots: tuple[str, str]
    certificate: dict[str, Any]
    task: str
    vault: Path
    run: str

    def client(self, token: str | None = None, **options: Any) -> TestClient:
        """Without a token it is the person, as at a Unix socket of theirs, unless `private=False`: then nobody."""
        options.setdefault("private", token is None)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return TestClient(build(self.engine, **options), base_url=ADDRESS, headers=headers, follow_redirects=False)

    def token(self, *namespaces: str, right: str = "write", **options: Any) -> str:
        return self.engine.tokens.create(namespaces or ("default",), right=right, **options)[1]


@contextmanager
def listening_to(engine: Engine, **options: Any) -> Iterator[str]:
    """A real server on a free port; its address."""
    listener = listening("127.0.0.1", 0)
    started = threading.Event()
    server = serving(build(engine, **{"private": True, **options}), started.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert started.wait(10)
        yield address_of(listener, "127.0.0.1")
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def furnish(engine: Engine, folder: Path) -> Scene:
    stands = engine.remember(Draft("We cache tracking lookups for 60 seconds", title="Cache", kind="decision"))
    gone = engine.remember("캐시 만료 정책은 60초입니다", session="s-local")
    engine.forget(gone.id)
    waits = engine.remember("A stranger says that caching is off", zone="quarantine", status="pending_review")
    foreign = engine.remember("A secret of elsewhere", namespace="elsewhere")
    engine.crafts.record_skill("database upgrade", implementation_guide="Migrate first.")
    first, second = (engine.layers.search(QUESTION, session=one) for one in ("s-local", "s-other"))
    task = engine.tasks.start("Deploy the API to staging", id="t-1")
    vault = folder / "notes"
    vault.mkdir()
    (vault / "cache.md").write_text("# Cache\n\nLookups are cached for 60 seconds.\n", encoding="utf-8")
    engine.vaults.add(vault, "notes")
    engine.vaults.sync("notes")
    golden = Path(f"{engine.core.store.location}.golden") / "ns-default"
    golden.mkdir(parents=True)
    (golden / "small.yaml").write_text(f"- query: {QUESTION}\n  expect: [{stands.id}]\n", encoding="utf-8")
    return Scene(
        engine, (stands.id, gone.id, waits.id), foreign.id,
        tuple(engine.recalls.snapshot_of(one.recall).snapshotId for one in (first, second)),
        dict(first.certificate or {}), task.id, vault, _recorded_run(engine),
    )  # fmt: skip


def _recorded_run(engine: Engine) -> str:
    from recallens.operations import OPERATIONS, Caller, perform

    answer = perform(OPERATIONS["run_set"], engine, Caller(home="default"), {"set": "small"})
    return str(answer.record["id"])  # type: ignore[union-attr]


def examples(scene: Scene) -> dict[tuple[str, str], tuple[str, dict[str, Any]]]:
    """For every route a path and arguments that are right: a route without them has no verdict, and fails."""
    first, forgotten, waiting = scene.ids
    second = scene.engine.remember("Lookups were cached for a minute in March").id
    asked = {"q": QUESTION}
    return {
        ("GET", "/v1/memories"): ("/v1/memories", {"limit": 2, "status": ["active", "forgotten"]}),
        ("POST", "/v1/memories"): ("/v1/memories", {"content": "Deploys go out on Tuesdays", "tags": ["deploy"]}),
        ("GET", "/v1/memories/{id}"): (f"/v1/memories/{first}", {}),
        ("PATCH", "/v1/memories/{id}"): (f"/v1/memories/{first}", {"content": "Cached for 90 seconds"}),
        ("DELETE", "/v1/memories/{id}"): (f"/v1/memories/{first}", {}),
        ("GET", "/v1/memories/{id}/relations"): (f"/v1/memories/{first}/relations", {}),
        ("GET", "/v1/memories/{id}/influence"): (f"/v1/memories/{first}/influence", {}),
        ("GET", "/v1/memories/{id}/timeline"): (f"/v1/memories/{first}/timeline", {"before": 2}),
        ("POST", "/v1/memories/{id}/restore"): (f"/v1/memories/{forgotten}/restore", {}),
        ("POST", "/v1/memories/{id}/deemphasise"): (f"/v1/memories/{first}/deemphasise", {}),
        ("POST", "/v1/memories/{id}/confirm"): (f"/v1/memories/{first}/confirm", {}),
        ("POST", "/v1/memories/{id}/review"): (f"/v1/memories/{waiting}/review", {"decision": "reject"}),
        ("POST", "/v1/memories/{old}/supersede"): (f"/v1/memories/{second}/supersede", {"new": first}),
        ("GET", "/v1/reviews"): ("/v1/reviews", {}),
        ("POST", "/v1/relations"): ("/v1/relations", {"source": first, "target": second, "relation": "BUILDS_ON"}),
        ("POST", "/v1/feedback"): ("/v1/feedback", {"memories": [first], "verdict": "used"}),
        ("POST", "/v1/documents"): ("/v1/documents", {"path": "guide.md", "text": "# Guide\n\nDeploy on Tuesdays."}),
        ("GET", "/v1/documents/search"): ("/v1/documents/search", asked),
        ("GET", "/v1/search"): ("/v1/search", asked | {"kind": "decision"}),
        ("POST", "/v1/search"): ("/v1/search", {"query": QUESTION, "brief": True}),
        ("GET", "/v1/recall"): ("/v1/recall", asked | {"contextBudget": 500}),
        ("POST", "/v1/recall"): ("/v1/recall", {"query": QUESTION}),
        ("GET", "/v1/timeline"): ("/v1/timeline", {"observation_id": first, "window": 3.5}),
        ("GET", "/v1/details/{id}"): (f"/v1/details/{first}", {"full": "true"}),
        ("GET", "/v1/context"): ("/v1/context", {"task": "change the cache", "tokens": 1000}),
        ("POST", "/v1/context"): ("/v1/context", {"task": "change the cache"}),
        ("GET", "/v1/skills"): ("/v1/skills", {"topic": "database upgrade"}),
        ("POST", "/v1/skills"): ("/v1/skills", {"topic": "rollback", "core_principles": ["Migrations first"]}),
        ("GET", "/v1/patterns"): ("/v1/patterns", {"q": "deploy"}),
        ("POST", "/v1/patterns"): ("/v1/patterns", {"title": "Deploy early", "success_count": 2}),
        ("GET", "/v1/gotchas"): ("/v1/gotchas", {"files": ["src/app.py"]}),
        ("POST", "/v1/gotchas"): ("/v1/gotchas", {"title": "Clock skew", "trigger_conditions": ["no NTP"]}),
        ("GET", "/v1/recall/xray"): ("/v1/recall/xray", asked | {"budget": 4000}),
        ("POST", "/v1/recall/xray"): ("/v1/recall/xray", {"query": QUESTION, "weights": {"semantic": 2}}),
        ("GET", "/engram/v1/recall/xray"): ("/engram/v1/recall/xray", asked),
        ("GET", "/v1/recall/explain"): ("/v1/recall/explain", {}),
        ("GET", "/v1/recall/why-not"): ("/v1/recall/why-not", asked | {"memory": second}),
        ("POST", "/v1/recall/why-not"): ("/v1/recall/why-not", {"query": QUESTION, "memory": second}),
        ("GET", "/v1/snapshots/{id}"): (f"/v1/snapshots/{scene.snapshots[0]}", {}),
        ("GET", "/v1/snapshots/{id}/replay"): (f"/v1/snapshots/{scene.snapshots[0]}/replay", {}),
        ("GET", "/v1/diff"): ("/v1/diff", dict(zip(("before", "after"), scene.snapshots, strict=True))),
        ("POST", "/v1/certificates/verify"): ("/v1/certificates/verify", {"certificate": scene.certificate}),
        ("GET", "/v1/sessions"): ("/v1/sessions", {"limit": 1}),
        ("POST", "/v1/sessions"): ("/v1/sessions", {"id": "s-new", "title": "A new one"}),
        ("GET", "/v1/sessions/{id}"): ("/v1/sessions/s-local", {}),
        ("POST", "/v1/sessions/{id}/end"): ("/v1/sessions/s-mine/end", {"summary": "Done"}),
        ("GET", "/v1/tasks"): ("/v1/tasks", {"running": "true"}),
        ("POST", "/v1/tasks"): ("/v1/tasks", {"task": "Roll the API back"}),
        ("GET", "/v1/tasks/{id}"): (f"/v1/tasks/{scene.task}", {}),
        ("POST", "/v1/tasks/{id}/logs"): (f"/v1/tasks/{scene.task}/logs", {"content": "make deploy: ok"}),
        ("POST", "/v1/tasks/{id}/end"): (f"/v1/tasks/{scene.task}/end", {"reward": 0.9}),
        ("POST", "/v1/work"): ("/v1/work", {"task": "Roll the API back again"}),
        ("POST", "/v1/work/{task}/finish"): (f"/v1/work/{scene.task}/finish", {"outcome": "partial"}),
        ("GET", "/v1/vaults"): ("/v1/vaults", {}),
        ("POST", "/v1/vaults"): ("/v1/vaults", {"path": str(scene.vault), "name": "notes"}),
        ("GET", "/v1/vaults/{name}/sections"): ("/v1/vaults/notes/sections", {}),
        ("POST", "/v1/vaults/{name}/sync"): ("/v1/vaults/notes/sync", {}),
        ("GET", "/v1/eval/runs"): ("/v1/eval/runs", {}),
        ("POST", "/v1/eval/runs"): ("/v1/eval/runs", {"set": "small"}),
        ("GET", "/v1/eval/runs/{id}"): (f"/v1/eval/runs/{scene.run}", {}),
        ("GET", "/v1/namespaces"): ("/v1/namespaces", {}),
        ("GET", "/v1/stats"): ("/v1/stats", {}),
    }  # fmt: skip
