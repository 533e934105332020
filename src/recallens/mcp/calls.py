"""One call of a tool or a resource, from its arguments to its answer, and who makes it; the same for every transport.

It runs in a thread of its own, and loads the operations and the engine behind them when it is the first to need them.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from recallens.errors import InvalidInput, RecallensError, TokenRefused
from recallens.mcp.protocol import ProtocolError
from recallens.mcp.tools import Tool, sentences
from recallens.text.normalize import clean

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine
    from recallens.model.audit import Agent
    from recallens.operations import Answer, Caller, Written

log = logging.getLogger("recallens.mcp")

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


class Offer(Struct, frozen=True):
    engine: Callable[[], Engine]
    caller: Callable[[Engine, Any], Caller]  # who asks, by the HTTP request, which is None over stdio
    tools: tuple[Tool, ...]


class CallContext(Struct, frozen=True):
    """Beside the arguments: the HTTP request, what the client calls itself, and the trace that the call belongs to."""

    request: Any = None
    client: str | None = None
    trace_id: str | None = None


def trace_of(meta: Mapping[str, Any] | None, request: Any) -> str | None:
    """The trace id of a W3C traceparent in the call's metadata, else the one that the HTTP request gave."""
    parent = (meta or {}).get("traceparent")
    if isinstance(parent, str) and (match := _TRACEPARENT.fullmatch(parent)):
        return match[1]
    return getattr(request.state, "given_trace_id", None) if request is not None else None


def called(offer: Offer, tool: Tool, arguments: Mapping[str, Any], asked: CallContext) -> dict[str, Any]:
    """Words, or where the tool was asked for JSON structured content, never both: an agent pays for each.

    What goes wrong is told to the agent, which can mend it: no call ends in a protocol error.
    """
    try:
        with written_down(offer, tool.operation, asked):
            given = tool.given(arguments)
        answer = performed(offer, tool.operation, given, asked)
    except InvalidInput as error:
        message = error.message
        for own, inner in tool.renamed.items():  # the operation names its own arguments; the agent knows the tool's
            message = re.sub(rf"(^|; |unknown ){re.escape(inner)}\b", rf"\g<1>{own}", message)
        return failed(sentences(message, error.hint or tool.usage))
    except RecallensError as error:
        return failed(sentences(error.message, error.hint))
    except Exception as error:
        trace = asked.trace_id or uuid.uuid4().hex
        log.exception("%s failed, trace %s", tool.name, trace)
        return failed(f"unexpected {type(error).__name__} in {tool.name}; the server's log has it as trace {trace}.")
    from recallens.operations import Answer

    told = [] if answer.notice is None else [{"type": "text", "text": f"Notice: {answer.notice}"}]
    if isinstance(answer, Answer) and "format" in tool.defaults:
        return {"content": told, "structuredContent": answer.record}
    return {"content": [{"type": "text", "text": answer.text}, *told]}


def performed(offer: Offer, operation: str, arguments: Mapping[str, Any], asked: CallContext) -> Answer | Written:
    from recallens.operations import OPERATIONS, perform

    engine = offer.engine()
    answer = perform(OPERATIONS[operation], engine, _caller(offer, engine, asked), arguments, trace_id=asked.trace_id)
    if answer.notice is not None:  # not every answer has a place for it
        log.warning("%s: %s", operation, answer.notice)
    return answer


def _caller(offer: Offer, engine: Engine, asked: CallContext) -> Caller:
    """Whoever comes by MCP is a program: what it does is not the person's, also where it shows no token."""
    caller = replace(offer.caller(engine, asked.request), source=source_of(asked.client), sees_withheld=False)
    return caller if caller.owner is not None else replace(caller, agent=agent_of(asked))


@contextmanager
def written_down(offer: Offer, what: str, asked: CallContext) -> Iterator[None]:
    """Around what comes before an operation: who asks wrongly leaves an entry in the audit log."""
    try:
        yield
    except (RecallensError, ProtocolError) as error:
        from recallens.operations.operation import refused

        engine = offer.engine()
        refused(engine, _caller(offer, engine, asked), what, error)
        raise


def failed(message: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": message}], "isError": True}


SOURCE = "mcp"
# A client names itself; the name is kept as what a memory came from.
LONGEST_CLIENT = 60


def local_caller(settings: Settings) -> Caller:
    """The user's own process: every namespace is theirs, and what an agent writes is not yet trusted."""
    from recallens.model.memory import Zone
    from recallens.operations import Caller

    return Caller(home=settings.namespace, zone=Zone.WORKING, source=SOURCE)


def token_caller(engine: Engine, token: str) -> Caller:
    """What the token grants now: one that is revoked ends with the next call."""
    from recallens.http.guard import caller_with

    known = engine.tokens.find(token)
    if known is None:
        raise TokenRefused("this token is not known, or holds no longer", hint="`recallens token create` makes one.")
    return caller_with(known)


def source_of(client: str | None) -> str:
    """Behind a prefix of ours, so that no client can pass for another source."""
    named = _called(client)
    return f"{SOURCE}:{named}" if named else SOURCE


def agent_of(asked: CallContext) -> Agent:
    """As the audit log names it, which goes by what the client says of itself: by that way, and by no other."""
    from recallens.ingest.validate import without_secrets
    from recallens.model.audit import Agent

    return Agent("stdio" if asked.request is None else "http", without_secrets(_called(asked.client)))


def _called(client: str | None) -> str:
    return " ".join(clean(client or "").split())[:LONGEST_CLIENT]
