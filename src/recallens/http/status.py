"""Whether the server lives, whether it answers, and what it has counted."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from recallens.errors import RecallensError
from recallens.http.metrics import TEXT_FORMAT
from recallens.http.openapi import document
from recallens.http.problems import RETRY_SECONDS, refused
from recallens.http.requests import caller_of, engine_of, metrics_of, worked
from recallens.operations.operation import chosen_namespace

CANARY = "is anybody there"
_UNKEPT = {"Cache-Control": "no-store"}


async def healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok"}, headers=_UNKEPT)


async def readyz(request: Request) -> Response:
    """A whole recall through every stage; what it finds stays here."""
    engine, caller = engine_of(request), caller_of(request)
    held = caller.home or min(caller.namespaces or ("default",))

    def canary() -> bool:
        recall = engine.recall(engine.query(CANARY, limit=1, namespace=chosen_namespace(caller, held)))
        return bool(recall.degraded)

    try:
        degraded = await worked(request, canary)
    except RecallensError as error:
        raise refused(
            503, "NotReady", f"a query fails: {error.message}", hint=error.hint, Retry_After=str(RETRY_SECONDS)
        ) from error
    return JSONResponse({"status": "degraded" if degraded else "ready"}, headers=_UNKEPT)


async def metrics(request: Request) -> Response:
    size = await worked(request, lambda: Path(engine_of(request).store.location).stat().st_size)
    text = metrics_of(request).text(store_bytes=size, working=request.app.state.work.in_hand)
    return Response(text, headers=_UNKEPT, media_type=TEXT_FORMAT)


async def openapi(request: Request) -> Response:
    return JSONResponse(document(), headers={"Cache-Control": "private", "Vary": "Authorization, Cookie"})


def routes() -> list[BaseRoute]:
    return [
        Route("/healthz", healthz, methods=["GET"]),
        Route("/readyz", readyz, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
    ]
