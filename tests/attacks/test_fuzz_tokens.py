"""Arbitrary calls as each kind of caller: nobody ever gets a byte of a namespace that is not theirs, nor the text of
a memory that is withheld from them. `make attack` makes 10,000 calls as each; `make test` a few hundred.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from starlette.testclient import TestClient

from recallens.engine import Engine
from recallens.errors import RecallensError
from recallens.http.routes import ROUTES
from recallens.ingest.draft import Draft
from recallens.operations import OPERATIONS, Caller, Right, Written, perform
from recallens.server import whole
from schema_values import TEXT, drawn
from standing import Open

pytestmark = pytest.mark.slow

CALLS = int(os.environ.get("RECALLENS_FUZZ_TOKENS", "150"))
ADDRESS = "http://127.0.0.1:8765"
PAGES = (
    "/",
    "/xray",
    "/xray/download",
    "/why-not",
    "/sandbox",
    "/sandbox/ranking",
    "/diff",
    "/vault",
    "/stats",
    "/rate",
    "/review",
    "/forget",
)
NAMED_PAGES = ("/memories/{}", "/timeline/{}", "/snapshots/{}", "/snapshots/{}/download")
# These letters stand in no request: where an answer holds them, it gave away what they were planted in.
FOREIGN, GATED = "zzforeign", "zzgated"
# The words of the person's session and task, which an agent on their machine sees and no token.
OWN = "zzpersonal"
WORDS = (
    "cache", "deploy", "vault rent", "salary", "billing", "who owns billing", "what is the vault rent", "last week",
    "캐시", "배포는 언제", "금고 임대료", "yesterday", "how long are lookups cached", "", "m1", "zz", "*", "%",
)  # fmt: skip


class World(NamedTuple):
    engine: Engine
    names: tuple[str, ...]  # ids, handles, sessions, tasks and snapshots of both namespaces


def furnished(engine: Engine, folder: Path) -> World:
    names: list[str] = []
    open_texts = (
        "Lookups are cached for 60 seconds", "Deploys go out on Tuesdays", "Ann owns billing", "배포는 화요일에 한다",
        "캐시는 60초 동안 유지한다", "The vault rent is changed every month",
    )  # fmt: skip
    for number, text in enumerate(open_texts):
        names.append(engine.remember(Draft(text, session="s-open", tags=("ops",), project="harbor")).id)
        _note(engine, names, f"{text}, {FOREIGN}{number}", namespace="elsewhere")
    gates: tuple[dict[str, Any], ...] = (
        {"zone": "quarantine"}, {"status": "quarantined"}, {"status": "rejected"},
        {"scopes": ("do-not-use-outside-this-context",)}, {"scopes": ("hr",)},
    )  # fmt: skip
    for number, gate in enumerate(gates):
        text = f"The rent of the vault is {GATED}{number}, 금고 임대료는 {GATED}{number}"
        _note(engine, names, text, mark=f"{GATED}{number}", **gate)
    forgotten = _note(engine, names, f"Billing salary {GATED}9 of the cache", mark=f"{GATED}9")
    engine.forget(forgotten)
    for place, mark in (("default", "open"), ("elsewhere", FOREIGN)):
        task = engine.tasks.start(f"Deploy {mark}", namespace=place)
        engine.tasks.log(task.id, f"log of {mark}", namespace=place)
        recall = engine.layers.search("cache", session=f"s-{place}", namespace=place).recall
        names += [task.id, f"s-{place}", engine.recalls.snapshot_of(recall).snapshotId]
    engine.sessions.start("s-default", title=f"{OWN} title")
    task = engine.tasks.start(f"Deploy the cache {OWN}", session="s-default", worktree=f"{OWN}-tree")
    engine.tasks.log(task.id, f"log {OWN} of the cache")
    engine.tasks.used([names[0]], task=task.id)
    engine.remember(Draft("The cache is warm by nine", session="s-default", task=task.id))
    names += [task.id, *(f"m{number}" for number in range(1, 30))]
    notes = folder / "notes"
    notes.mkdir()
    (notes / f"{FOREIGN}.md").write_text(f"# {FOREIGN} cache\n\nThe cache of {FOREIGN}.\n", encoding="utf-8")
    engine.vaults.add(notes, FOREIGN, namespace="elsewhere")
    engine.vaults.sync(FOREIGN, namespace="elsewhere")
    return World(engine, tuple(names))


def _note(engine: Engine, names: list[str], text: str, mark: str = FOREIGN, **options: Any) -> str:
    namespace = options.pop("namespace", None)
    draft = Draft(text, title=f"{mark} title", summary=f"{mark} summary", tags=(f"{mark}tag",), author=f"{mark} author",
                  session=f"s-{mark}" if namespace else None, attributes={"note": mark}, **options)  # fmt: skip
    names.append(engine.remember(draft, namespace=namespace, dedupe=False).id)
    assert mark in engine.get(names[-1], namespace=namespace).content  # else nothing could be given away
    return names[-1]


class Fuzzer:
    """Arguments by what an operation says it takes: most of the right sort, some of none."""

    def __init__(self, seed: int, world: World) -> None:
        self.chance = random.Random(seed)
        self.world = world

    def arguments(self, operation: str) -> dict[str, Any]:
        schema = msgspec.json.schema(OPERATIONS[operation].arguments)
        fields = schema["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
        required = set(fields.get("required", ()))
        given = {}
        for name, about in fields["properties"].items():
            if name in required or self.chance.random() < 0.08:
                given[name] = self.value(name, about)
        return given

    def value(self, name: str, about: dict[str, Any]) -> Any:
        chance = self.chance
        choices = about.get("anyOf") or [about]
        kind = chance.choice(choices)
        if name == "namespace":
            return chance.choice(("default", "default", "elsewhere", "nowhere"))
        if name in ("scopes", "scope"):
            return chance.choice((["hr"], ["do-not-use-outside-this-context"], [], ["repo"]))
        if kind.get("type") == "array":
            return [self.value(name.rstrip("s"), kind.get("items", {})) for _ in range(chance.randrange(3))]
        if (plain := drawn(chance, kind)) is not TEXT:
            return plain
        return chance.choice(WORDS if chance.random() < 0.4 else self.world.names)


def leaks(text: str, given: str, *marks: str) -> set[str]:
    lowered, said = text.lower(), given.lower()
    return {mark for mark in (FOREIGN, GATED, *marks) if mark in lowered and mark not in said}


_READING = tuple(route for route in ROUTES if route.operation.needs is Right.READ)
CALLERS = {
    "read": {"right": "read"}, "write": {"right": "write"}, "scoped": {"right": "read", "scopes": ("other",)},
}  # fmt: skip


@pytest.mark.parametrize("who", [*CALLERS, "agent"])
def test_no_call_gives_away_what_is_not_the_callers(opened: Open, tmp_path: Path, who: str) -> None:
    world = furnished(opened(), tmp_path)
    fuzzer = Fuzzer(len(who), world)
    answered: Counter[str] = Counter()
    if who == "agent":  # over stdio: the operations themselves, in the namespace that the server was started in
        caller = Caller(Right.WRITE, frozenset(("default",)), home="default")
        offered = [name for name, each in OPERATIONS.items() if each.needs in (Right.READ, Right.WRITE)]
        for number in range(CALLS):
            name = fuzzer.chance.choice(offered)
            given = fuzzer.arguments(name)
            try:
                answer = perform(OPERATIONS[name], world.engine, caller, given)
                text = answer.body if isinstance(answer, Written) else answer.text
                answered["answered"] += 1
            except RecallensError as error:
                text = f"{error} {error.hint}"
                answered["refused"] += 1
            assert not leaks(text, repr(given)), (number, name, given, text[:2_000])
    else:
        token = world.engine.tokens.create(("default",), **CALLERS[who])[1]
        client = TestClient(whole(world.engine), base_url=ADDRESS, headers={"Authorization": f"Bearer {token}"})
        with client:
            client.post("/sign-in", data={"token": token}, headers={"Origin": ADDRESS})
            for number in range(CALLS):
                method, path, given = _request(fuzzer)
                sent = {"json": given} if method not in ("GET", "DELETE") else {"params": _flat(given)}
                response = client.request(method, path, **sent)
                text = response.text + repr(dict(response.headers))
                assert response.status_code < 500 or response.status_code == 501, (number, method, path, given, text)
                assert not leaks(text, path + repr(given), OWN), (number, method, path, given, text[:2_000])
                answered["answered" if response.status_code < 400 else "refused"] += 1
    print(f"{who}: {dict(answered)}")
    assert answered["answered"] >= CALLS / 8, answered  # calls that are all refused show nothing


def _request(fuzzer: Fuzzer) -> tuple[str, str, dict[str, Any]]:
    chance = fuzzer.chance
    if chance.random() < 0.25:
        given = {"q": chance.choice(WORDS), "memory": chance.choice(fuzzer.world.names)}
        given |= {"namespace": chance.choice(("default", "elsewhere"))} if chance.random() < 0.2 else {}
        page = chance.choice((*PAGES, *NAMED_PAGES))
        return "GET", page.format(chance.choice(fuzzer.world.names)), given
    route = chance.choice(_READING if chance.random() < 0.6 else ROUTES)
    given = fuzzer.arguments(route.name)
    path = route.path
    for name in route.in_path:
        path = path.replace(f"{{{name}}}", str(given.pop(name, "") or chance.choice(fuzzer.world.names)))
    renamed = {inner: outer for outer, inner in route.renamed.items()}
    return route.method, path, {renamed.get(name, name): value for name, value in given.items()}


def _flat(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in given.items()
        if value is not None
    }
