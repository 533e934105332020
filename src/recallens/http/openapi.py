"""The OpenAPI 3.1 document, made of the route table and of the models that check what comes in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from recallens import __version__
from recallens.http.guard import COOKIE
from recallens.http.idempotency import HEADER
from recallens.http.problems import PROBLEM_JSON
from recallens.http.requests import BRIEF, kinds_of
from recallens.http.routes import ROUTES, Route
from recallens.operations import Right
from recallens.operations.search import Explain, OneSnapshot, Xray
from recallens.render import FORMATS

Schema = dict[str, Any]

_REFERENCE = "#/components/schemas/{model}"
_OTHER_FORMATS = tuple(media.partition(";")[0] for name, (_, media) in FORMATS.items() if name != "json")
_EXAMPLES = {"query": "how long are lookups cached", "topic": "database upgrade", "task": "Deploy the API to staging"}
_PROBLEM: Schema = {
    "type": "object",
    "description": "RFC 9457, with the error, code and message that clients of the specification read.",
    "required": ["type", "title", "status", "detail", "instance", "error", "code", "message"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string"}, "instance": {"type": "string"}, "error": {"type": "string"},
        "code": {"type": "string"}, "message": {"type": "string"}, "hint": {"type": "string"},
        "traceId": {"type": "string", "description": "With a 500: the log has it under this id."},
    },
}  # fmt: skip
_STATUS_PATHS: Mapping[str, tuple[str, str, Schema]] = {
    "/healthz": ("That the server lives; needs no token.", "application/json", {"type": "object"}),
    "/readyz": ("Whether a query is answered.", "application/json", {"type": "object"}),
    "/metrics": ("Counters in Prometheus' text format.", "text/plain", {"type": "string"}),
    "/openapi.json": ("This document.", "application/json", {"type": "object"}),
}


@cache
def document() -> Schema:
    paths: dict[str, Schema] = {}
    schemas: dict[str, Schema] = {"Problem": _PROBLEM}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    for path, (about, kind, schema) in _STATUS_PATHS.items():
        paths[path] = {"get": _status_operation(path, about, kind, schema)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Recallens", "version": __version__, "license": {"name": "Apache-2.0"},
                 "description": "Memory for AI agents that says why it remembered."},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "`recallens token create` makes one."},
                "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
            "responses": {"Problem": {
                "description": "What was wrong, what would be right, and the next step.",
                "content": {PROBLEM_JSON: {"schema": {"$ref": _REFERENCE.format(model="Problem")}}},
            }},
        },
    }  # fmt: skip


def _operation(route: Route, schemas: dict[str, Schema]) -> Schema:
    operation = route.operation
    properties, required = _arguments(route, schemas)
    found: Schema = {
        "operationId": f"{route.method.lower()}_{route.path.strip('/').replace('/', '_').replace('-', '_')}"
        .replace("{", "").replace("}", ""),
        "summary": operation.about,
        "tags": [route.path.split("/")[2]],
        "x-right": operation.needs,
        "responses": _responses(route),
    }  # fmt: skip
    found["parameters"] = [_path_parameter(name, properties[name]) for name in route.in_path]
    rest = {name: one for name, one in properties.items() if name not in route.in_path}
    if route.has_body:
        name = "".join(word.capitalize() for word in operation.name.split("_"))
        wanted = [one for one in required if one in rest]
        schemas[name] = {
            "type": "object", "properties": rest, "additionalProperties": False,
            **({"required": wanted} if wanted else {}),
        }  # fmt: skip
        content = {"application/json": {"schema": {"$ref": _REFERENCE.format(model=name)}}}
        found["requestBody"] = {"required": bool(wanted), "content": content}
    else:
        spelled = {called: name for name, called in route.renamed.items()}
        found["parameters"] += [
            _query_parameter(spelled.get(name, name), one, kinds_of(operation.arguments).get(name, "boolean"),
                             required=name in required)
            for name, one in rest.items()
        ]  # fmt: skip
    if route.writes:
        found["parameters"].append({
            "name": HEADER, "in": "header", "description": "Sent again with the same key, it is done once.",
            "schema": {"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255},
        })  # fmt: skip
    return found


def _arguments(route: Route, schemas: dict[str, Schema]) -> tuple[dict[str, Schema], list[str]]:
    """Each argument's schema, and those that must be given. What they share goes into the components."""
    schema = route.operation.arguments.model_json_schema(by_alias=True, ref_template=_REFERENCE)
    schemas |= schema.pop("$defs", {})
    properties = {name: _plain(one) for name, one in schema["properties"].items()}
    for name, one in properties.items():
        if name in _EXAMPLES:
            one["examples"] = [_EXAMPLES[name]]
    if route.brief is not None:
        about = "Short summaries with what each costs (layer 1), instead of whole memories."
        properties[BRIEF] = {"type": "boolean", "default": False, "description": about}
    return properties, schema.get("required", [])


def _plain(schema: Schema) -> Schema:
    """Without the titles that only repeat the names, and without a default of null."""
    keep = {name: value for name, value in schema.items() if name != "title"}
    if keep.get("default", ...) is None:
        del keep["default"]
    return keep


def _path_parameter(name: str, schema: Schema) -> Schema:
    about = schema.get("description", "")
    return {"name": name, "in": "path", "required": True, "description": about, "schema": _without_null(schema)}


def _query_parameter(name: str, schema: Schema, kind: str, *, required: bool) -> Schema:
    found: Schema = {"name": name, "in": "query", "schema": _without_null(schema)}
    if about := found["schema"].pop("description", ""):
        found["description"] = about
    if kind == "object":
        found |= {"style": "deepObject", "explode": True}
    return found | ({"required": True} if required else {})


def _without_null(schema: Schema) -> Schema:
    """A query or a path cannot say null: leaving it out does."""
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(choices) != 1:
        return dict(schema)
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**rest, **choices[0]}


def _responses(route: Route) -> dict[str, Schema]:
    told = [ANSWERS.get(name, {"type": "object"}) for name in (route.name, route.brief) if name is not None]
    answer = {"application/json": {"schema": told[0] if len(told) == 1 else {"anyOf": told}}}
    if route.operation.arguments in (Xray, Explain, OneSnapshot):
        answer |= {kind: {"schema": {"type": "string"}} for kind in _OTHER_FORMATS}
    found: dict[str, Schema] = {str(route.status): {"description": "Done.", "content": answer}}
    if route.method == "GET":
        found["200"]["headers"] = {"ETag": {"schema": {"type": "string"}}}
        found["304"] = {"description": "As If-None-Match has it."}
    codes = ["400", "401", "403", "404", *(["409"] if route.writes else []), "4XX", "500", "5XX"]
    return found | {code: {"$ref": "#/components/responses/Problem"} for code in codes}


def _status_operation(path: str, about: str, kind: str, schema: Schema) -> Schema:
    codes = {"4XX": {"$ref": "#/components/responses/Problem"}, "5XX": {"$ref": "#/components/responses/Problem"}}
    found: Schema = {
        "operationId": f"get_{path.strip('/').replace('.', '_')}",
        "summary": about,
        "tags": ["server"],
        "x-right": Right.READ,
        "responses": {"200": {"description": "Done.", "content": {kind: {"schema": schema}}}, **codes},
    }
    return found | ({"security": []} if path == "/healthz" else {})


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": {**required, **(optional or {})}}


_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_FLAG = {"type": "boolean"}
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_TEXTS = {"type": "array", "items": _TEXT}
_XRAY = _object({"snapshotFound": _FLAG}, {"snapshot": {"type": "object", "required": ["schemaVersion", "snapshotId"]}})
_FOUND = _object(
    {"query": _TEXT, "namespace": _TEXT, "recorded": _FLAG, "results": _OBJECTS, "filters": _OBJECTS},
    {"certificate": {"type": "object"}, "degraded": {"type": "object"}, "notice": _TEXT, "lessons": _OBJECTS},
)
_CRAFTS = _object({"results": _OBJECTS})
_MEMORY = _object({"id": _TEXT, "namespace": _TEXT, "content": _TEXT, "status": _TEXT, "createdAt": _WHOLE})
_KEPT = _object(
    {"id": _TEXT, "outcome": {"enum": ["created", "duplicate", "near-duplicate"]}, "redacted": _TEXTS,
     "embedded": _FLAG}
)  # fmt: skip

ANSWERS: Final[Mapping[str, dict[str, Any]]] = {
    "search": _FOUND,
    "search_documents": _FOUND,
    "search_memory": _object({"results": _OBJECTS, "metadata": {"type": "object"}}),
    "retrieve": _object({"query": _TEXT, "context": _TEXT, "lessons": _TEXT, "totalTokensUsed": _WHOLE}),
    "recall_xray": _XRAY,
    "recall_explain": _XRAY,
    "get_snapshot": _XRAY,
    "replay": _object({"reproduced": _FLAG}),
    "get_timeline": _object({"observation_id": _TEXT, "tokens": _WHOLE, "entries": _OBJECTS}),
    "timeline": _object({"anchor": _MEMORY, "before": _OBJECTS, "after": _OBJECTS, "sessions": {"type": "object"}}),
    "get_details": _object({"about": _TEXT, "total": _WHOLE, "entries": _OBJECTS}),
    "search_patterns": _CRAFTS,
    "search_gotchas": _CRAFTS,
    "remember": _KEPT,
    "edit_memory": _KEPT,
    "list_memories": _object({"total": _WHOLE, "memories": {"type": "array", "items": _MEMORY}}, {"next": _TEXT}),
    "get_memory": _object({"memory": _MEMORY, "relations": _OBJECTS}),
    "forget": _object({"forgotten": _TEXTS, "hard": _FLAG}),
    "relations": _object({"relations": _OBJECTS}),
    "feedback": _object({"verdict": _TEXT, "memories": _TEXTS}),
    "add_document": _object({"document": _TEXT, "path": _TEXT, "memories": _TEXTS}),
    "verify_certificate": _object({"valid": _FLAG, "altered": _FLAG, "stale": {"type": "object"}}),
    "list_sessions": _object({"sessions": _OBJECTS}, {"next": _TEXT}),
    "get_session": _object({"session": {"type": "object"}, "memories": _OBJECTS}),
    "list_tasks": _object({"tasks": _OBJECTS}, {"next": _TEXT}),
    "list_vaults": _object({"vaults": _OBJECTS}),
    "sync_vault": _object({"vaults": _OBJECTS}),
    "vault_sections": _object({"vault": _TEXT, "sections": _OBJECTS}, {"next": _TEXT}),
    "list_runs": _object({"sets": _TEXTS, "runs": _OBJECTS}),
    "namespaces": _object({"namespaces": _OBJECTS}),
    "stats": _object({"namespace": _TEXT, "totals": {"type": "object"}, "by": {"type": "object"}}),
}
