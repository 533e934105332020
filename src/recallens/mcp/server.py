"""The protocol's methods as the SDK's server, which carries them over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from recallens import __version__
from recallens.http.problems import Refused
from recallens.http.requests import worked
from recallens.mcp.calls import CallContext, Offer, trace_of
from recallens.mcp.protocol import INSTRUCTIONS, INTERNAL_ERROR, ProtocolError, result_of
from recallens.mcp.stdio import MOST_CALLS
from recallens.mcp.tools import sentences

Context = ServerRequestContext[Any, Any]
Model = TypeVar("Model", bound=BaseModel)


def build(offer: Offer) -> Server[Any]:
    limiter = anyio.CapacityLimiter(MOST_CALLS)

    def handler(method: str, model: type[Model]) -> Callable[[Context, Any], Any]:
        async def answered(ctx: Context, params: Any) -> Model:
            """In a thread, so that pings are answered meanwhile; a write that has begun is never abandoned."""
            given = params.model_dump(by_alias=True, mode="json", exclude_none=True) if params is not None else {}
            work = partial(result_of, offer, method, given, asked_of(ctx))
            try:
                if ctx.request is None:  # within this process
                    result = await anyio.to_thread.run_sync(work, limiter=limiter)
                else:
                    most = ctx.request.app.state.limits.answer_bytes
                    result = await worked(ctx.request, partial(_bounded, work, most))
                return model.model_validate(result)
            except ProtocolError as error:
                raise MCPError(error.code, error.message) from error
            except Refused as error:
                problem = error.problem
                raise MCPError(INTERNAL_ERROR, sentences(problem.message, problem.hint)) from error

        return answered

    return Server(
        "recallens", version=__version__, title="Recallens", instructions=INSTRUCTIONS,
        on_list_tools=handler("tools/list", types.ListToolsResult),
        on_call_tool=handler("tools/call", types.CallToolResult),
        on_list_resources=handler("resources/list", types.ListResourcesResult),
        on_list_resource_templates=handler("resources/templates/list", types.ListResourceTemplatesResult),
        on_read_resource=handler("resources/read", types.ReadResourceResult),
        on_list_prompts=handler("prompts/list", types.ListPromptsResult),
        on_get_prompt=handler("prompts/get", types.GetPromptResult),
    )  # fmt: skip


def _bounded(work: Callable[[], dict[str, Any]], most: int) -> dict[str, Any]:
    result = work()
    if len(msgspec.json.encode(result)) > most:
        raise ProtocolError(
            INTERNAL_ERROR, f"the answer has over {most:,} bytes. Ask for less: a smaller limit or budget."
        )
    return result


def asked_of(ctx: Context) -> CallContext:
    known = ctx.session.client_params
    client = known.client_info.name if known is not None else None
    return CallContext(ctx.request, client, trace_of(ctx.meta, ctx.request))
