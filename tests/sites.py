"""The page on a real server, with whoever comes let in as the test says."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from recallens.cli.main import main
from recallens.engine import Engine
from recallens.http.limits import Limits
from recallens.http.turns import WorkQueue
from recallens.operations import Caller
from recallens.server import whole
from recallens.web.site import routes

EXAMPLES = Path(__file__).parents[1] / "examples"


class LetIn:
    """What the guard of the server does, without tokens: every request has a caller."""

    def __init__(self, app: ASGIApp, caller: Caller) -> None:
        self._app, self._caller = app, caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["caller"] = self._caller
        await self._app(scope, receive, send)


def site(engine: Engine, caller: Caller | None = None) -> Starlette:
    """All that `recallens serve` serves, to the person or to tokens; for a caller of the test's own, the page alone."""
    if caller is None:
        return whole(engine, allow_hosts=("testserver",), private=not engine.tokens.guarded())
    app = Starlette(routes=routes())
    app.add_middleware(LetIn, caller=caller)
    limits = Limits()
    app.state.engine, app.state.limits, app.state.work = engine, limits, WorkQueue(limits)
    return app


def load_sample(store: Path, *, vault: bool = True, encoder: str = "hashing") -> None:
    """As `make demo` does."""
    steps = [("remember", "--jsonl", EXAMPLES / "memories.jsonl"), ("remember", "--jsonl", EXAMPLES / "tasks.jsonl")]
    if vault:
        steps.append(("vault", "add", EXAMPLES / "vault", "--name", "harbor"))
    for step in steps:
        done = CliRunner().invoke(main, ["--store", str(store), *map(str, step)], env={"RECALLENS_ENCODER": encoder})
        assert done.exit_code == 0, done.output


def written(engine: Engine, namespace: str = "default") -> tuple[int, int, int]:
    """What grows with every write: the namespace's number, the audit chain, the kept recalls."""
    with engine.core.store.read(namespace) as reader:
        state = reader.state
        assert state is not None
        head = reader.trail.audit_head()
        return state.number, head.number if head else 0, len(reader.trail.ledgers(10_000, None))
