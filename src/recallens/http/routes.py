"""Every route of the API as one table, of which the application, the OpenAPI document and their tests are made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from recallens.operations import OPERATIONS, Operation, Right


class Route(Struct, frozen=True):
    """A GET or DELETE takes its arguments from the query, any other method from a JSON body; both from the path too."""

    method: str
    path: str
    name: str
    status: int = 200
    brief: str | None = None  # the operation that answers instead where `brief=true` is asked
    renamed: Mapping[str, str] = {}  # query parameters that are called otherwise than the operation's arguments

    @property
    def operation(self) -> Operation:
        return OPERATIONS[self.name]

    @property
    def in_path(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def has_body(self) -> bool:
        return self.method not in ("GET", "DELETE")

    @property
    def writes(self) -> bool:
        return self.operation.needs is not Right.READ


_Q = {"q": "query"}


def _asked_both_ways(path: str, name: str, brief: str | None = None) -> tuple[Route, Route]:
    """A question in the address, or as a body where it is long."""
    return Route("GET", path, name, brief=brief, renamed=_Q), Route("POST", path, name, brief=brief)


ROUTES: Final[tuple[Route, ...]] = (
    # memories
    Route("GET", "/v1/memories", "list_memories"),
    Route("POST", "/v1/memories", "remember", 201),
    Route("GET", "/v1/memories/{id}", "get_memory"),
    Route("PATCH", "/v1/memories/{id}", "edit_memory"),
    Route("DELETE", "/v1/memories/{id}", "forget"),
    Route("GET", "/v1/memories/{id}/relations", "relations"),
    Route("GET", "/v1/memories/{id}/influence", "influence"),
    Route("GET", "/v1/memories/{id}/timeline", "timeline"),
    Route("POST", "/v1/memories/{id}/restore", "restore"),
    Route("POST", "/v1/memories/{id}/deemphasise", "deemphasise"),
    Route("POST", "/v1/memories/{id}/confirm", "confirm"),
    Route("POST", "/v1/memories/{id}/review", "review"),
    Route("POST", "/v1/memories/{old}/supersede", "supersede"),
    Route("GET", "/v1/reviews", "list_reviews"),
    Route("POST", "/v1/relations", "relate", 201),
    Route("POST", "/v1/feedback", "feedback"),
    Route("POST", "/v1/documents", "add_document", 201),
    Route("GET", "/v1/documents/search", "search_documents", renamed=_Q),
    # asking
    *_asked_both_ways("/v1/search", "search", "search_memory"),
    *_asked_both_ways("/v1/recall", "retrieve"),
    Route("GET", "/v1/timeline", "get_timeline"),
    Route("GET", "/v1/details/{id}", "get_details"),
    Route("GET", "/v1/context", "get_context"),
    Route("POST", "/v1/context", "get_context"),
    Route("GET", "/v1/skills", "get_skill"),
    Route("POST", "/v1/skills", "add_skill", 201),
    Route("GET", "/v1/patterns", "search_patterns", renamed=_Q),
    Route("POST", "/v1/patterns", "add_pattern", 201),
    Route("GET", "/v1/gotchas", "search_gotchas", renamed=_Q),
    Route("POST", "/v1/gotchas", "add_gotcha", 201),
    # explaining
    *_asked_both_ways("/v1/recall/xray", "recall_xray"),
    Route("GET", "/engram/v1/recall/xray", "recall_xray", renamed=_Q),
    Route("GET", "/v1/recall/explain", "recall_explain"),
    *_asked_both_ways("/v1/recall/why-not", "why_not"),
    Route("GET", "/v1/snapshots/{id}", "get_snapshot"),
    Route("GET", "/v1/snapshots/{id}/replay", "replay"),
    Route("GET", "/v1/diff", "diff"),
    Route("POST", "/v1/certificates/verify", "verify_certificate"),
    # sessions and tasks
    Route("GET", "/v1/sessions", "list_sessions"),
    Route("POST", "/v1/sessions", "start_session", 201),
    Route("GET", "/v1/sessions/{id}", "get_session"),
    Route("POST", "/v1/sessions/{id}/end", "end_session"),
    Route("GET", "/v1/tasks", "list_tasks"),
    Route("POST", "/v1/tasks", "start_task", 201),
    Route("GET", "/v1/tasks/{id}", "get_task"),
    Route("POST", "/v1/tasks/{id}/logs", "log_task", 201),
    Route("POST", "/v1/tasks/{id}/end", "end_task"),
    Route("POST", "/v1/work", "begin_work", 201),
    Route("POST", "/v1/work/{task}/finish", "finish_work"),
    # the store
    Route("GET", "/v1/vaults", "list_vaults"),
    Route("POST", "/v1/vaults", "add_vault", 201),
    Route("GET", "/v1/vaults/{name}/sections", "vault_sections"),
    Route("POST", "/v1/vaults/{name}/sync", "sync_vault"),
    Route("GET", "/v1/eval/runs", "list_runs"),
    Route("POST", "/v1/eval/runs", "run_set", 201),
    Route("GET", "/v1/eval/runs/{id}", "get_run"),
    Route("GET", "/v1/namespaces", "namespaces"),
    Route("GET", "/v1/stats", "stats"),
)
