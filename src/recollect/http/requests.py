"""What every route asks of its request: the engine, who calls, and a thread to work in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread
from starlette.requests import Request

from recollect.operations import Caller

if TYPE_CHECKING:
    from recollect.engine import Engine

T = TypeVar("T")


def engine_of(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def caller_of(request: Request) -> Caller:
    """Set by the guard, which lets no request through without one."""
    caller: Caller = request.state.caller
    return caller


async def worked(request: Request, work: Callable[[], T]) -> T:
    """The core is synchronous: it works in a thread, so that the others are still answered."""
    return await anyio.to_thread.run_sync(partial(work), limiter=request.app.state.limiter)
