"""What every route asks of its request: the engine, who calls, and a thread to work in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import Request

from recallens.http.limits import Limits, Work, too_late
from recallens.http.metrics import Metrics
from recallens.operations import Caller

if TYPE_CHECKING:
    from recallens.engine import Engine

T = TypeVar("T")


def engine_of(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def caller_of(request: Request) -> Caller:
    """Set by the guard, which lets no request through without one."""
    caller: Caller = request.state.caller
    return caller


def limits_of(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


def metrics_of(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


async def worked(request: Request, work: Callable[[], T]) -> T:
    """The core is synchronous: it works in a thread, in turn, so that the others are still answered."""
    held: Work = request.app.state.work
    seconds = limits_of(request).deadline
    try:
        async with asyncio.timeout(seconds):
            return await held.run(work)
    except TimeoutError as error:
        raise too_late(seconds) from error
