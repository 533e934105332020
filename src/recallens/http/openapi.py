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
from recallens.operations.arguments import Schema, schema_of
from recallens.render import FORMATS

_REFERENCE = "#/components/schemas/{name}"
_EXAMPLES = {"query": "how long are lookups cached", "topic": "database upgrade", "task": "Deploy the API to staging"}
_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_OBJECT: Schema = {"type": "object"}
_OBJECTS: Schema = {"type": "array", "items": _OBJECT}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_PROBLEM: Schema = {
    "type": "object",
    "description": "RFC 9457, with the error, code and message that clients of the specification read.",
    "required": ["type", "title", "status", "detail", "instance", "error", "code", "message"],
    "properties": {
        "type": _TEXT, "title": _TEXT, "status": _WHOLE, "detail": _TEXT, "instance": _TEXT, "error": _TEXT,
        "code": _TEXT, "message": _TEXT, "hint": _TEXT,
        "traceId": {"type": "string", "description": "With a 500: the log has it under this id."},
    },
}  # fmt: skip
_A_PROBLEM = {"$ref": "#/components/responses/Problem"}
_STATUS_PATHS: Mapping[str, tuple[str, str, Schema]] = {
    "/healthz": ("That the server lives; needs no token.", "application/json", _OBJECT),
    "/readyz": ("Whether a query is answered.", "application/json", _OBJECT),
    "/metrics": ("Counters in Prometheus' text format.", "text/plain", _TEXT),
    "/openapi.json": ("This document.", "application/json", _OBJECT),
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
                "content": {PROBLEM_JSON: {"schema": {"$ref": _REFERENCE.format(name="Problem")}}},
            }},
        },
    }  # fmt: skip


def _operation(route: Route, schemas: dict[str, Schema]) -> Schema:
    operation, (properties, required) = route.operation, _arguments(route, schemas)
    words = route.path.strip("/").translate({ord("/"): "_", ord("-"): "_", ord("{"): None, ord("}"): None})
    parameters = [_parameter(name, "path", properties.pop(name)) for name in route.in_path]
    body: Schema = {}
    if route.has_body:
        name = "".join(word.capitalize() for word in operation.name.split("_"))
        wanted = [name for name in required if name in properties]
        schemas[name] = {
            "type": "object", "properties": properties, "additionalProperties": False,
            **({"required": wanted} if wanted else {}),
        }  # fmt: skip
        content = {"application/json": {"schema": {"$ref": _REFERENCE.format(name=name)}}}
        body = {"requestBody": {"required": bool(wanted), "content": content}}
    else:
        spelled, kinds = {called: name for name, called in route.renamed.items()}, kinds_of(operation.arguments)
        for name, schema in properties.items():
            parameter = _parameter(spelled.get(name, name), "query", schema)
            nested = {"style": "deepObject", "explode": True} if kinds.get(name) == "object" else {}
            parameters.append(parameter | nested | ({"required": True} if name in required else {}))
    if route.writes:
        parameters.append({
            "name": HEADER, "in": "header", "description": "Sent again with the same key, it is done once.",
            "schema": {"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255},
        })  # fmt: skip
    return {
        "operationId": f"{route.method.lower()}_{words}", "summary": operation.about,
        "tags": [route.path.split("/")[2]], "x-right": operation.needs, "responses": _responses(route, properties),
        "parameters": parameters, **body,
    }  # fmt: skip


def _arguments(route: Route, schemas: dict[str, Schema]) -> tuple[dict[str, Schema], list[str]]:
    """Each argument's schema without what says nothing, and those that must be given; what they share is put aside."""
    schema, shared = schema_of(route.operation.arguments, _REFERENCE)
    schemas |= shared
    properties = {
        name: {key: value for key, value in own.items() if key != "title" and (key, value) != ("default", None)}
        for name, own in schema["properties"].items()
    }
    for name in properties.keys() & _EXAMPLES.keys():
        properties[name]["examples"] = [_EXAMPLES[name]]
    if route.brief is not None:
        about = "Short summaries with what each costs (layer 1), instead of whole memories."
        properties[BRIEF] = {"type": "boolean", "default": False, "description": about}
    return properties, schema.get("required", [])


def _parameter(name: str, place: str, schema: Schema) -> Schema:
    """A query or a path cannot say null: leaving it out does."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        schema = {key: value for key, value in schema.items() if key != "anyOf"} | choices[0]
    if place == "path":
        about = schema.get("description", "")
        return {"name": name, "in": place, "required": True, "description": about, "schema": dict(schema)}
    about = {"description": schema["description"]} if schema.get("description") else {}
    return {"name": name, "in": place, "schema": {k: v for k, v in schema.items() if k != "description"}, **about}


def _responses(route: Route, properties: Mapping[str, Schema]) -> dict[str, Schema]:
    answers = [ANSWERS.get(name, _OBJECT) for name in (route.name, route.brief) if name is not None]
    content = {"application/json": {"schema": answers[0] if len(answers) == 1 else {"anyOf": answers}}}
    for format in properties.get("format", {}).get("enum", ()):
        content.setdefault(FORMATS[format][1].partition(";")[0], {"schema": _TEXT})
    responses: dict[str, Schema] = {str(route.status): {"description": "Done.", "content": content}}
    if route.writes:
        about = "Nothing was changed: what is more trusted than who asks waits for the person at the machine."
        responses["202"] = {"description": about, "content": {"application/json": {"schema": _OBJECT}}}
    if route.method == "GET":
        responses["200"]["headers"] = {"ETag": {"schema": _TEXT}}
        responses["304"] = {"description": "As If-None-Match has it."}
    codes = ["400", "401", "403", "404", *(["409"] if route.writes else []), "4XX", "500", "5XX"]
    return responses | dict.fromkeys(codes, _A_PROBLEM)


def _status_operation(path: str, about: str, kind: str, schema: Schema) -> Schema:
    done = {"description": "Done.", "content": {kind: {"schema": schema}}}
    return {
        "operationId": f"get_{path.strip('/').replace('.', '_')}", "summary": about, "tags": ["server"],
        "x-right": Right.READ, "responses": {"200": done, "4XX": _A_PROBLEM, "5XX": _A_PROBLEM},
        **({"security": []} if path == "/healthz" else {}),
    }  # fmt: skip


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": {**required, **(optional or {})}}


_XRAY = _object({"snapshotFound": _FLAG}, {"snapshot": {"type": "object", "required": ["schemaVersion", "snapshotId"]}})
_FOUND = _object(
    {"query": _TEXT, "namespace": _TEXT, "recorded": _FLAG, "results": _OBJECTS, "filters": _OBJECTS},
    {"certificate": _OBJECT, "degraded": _OBJECT, "notice": _TEXT, "lessons": _OBJECTS},
)
_CRAFTS = _object({"results": _OBJECTS})
_MEMORY = _object({"id": _TEXT, "namespace": _TEXT, "content": _TEXT, "status": _TEXT, "createdAt": _WHOLE})
_KEPT = _object(
    {"id": _TEXT, "outcome": {"enum": ["created", "duplicate", "near-duplicate"]}, "redacted": _TEXTS,
     "embedded": _FLAG, "suspected": _TEXTS, "waits": _FLAG}
)  # fmt: skip

ANSWERS: Final[Mapping[str, dict[str, Any]]] = {
    "search": _FOUND,
    "search_documents": _FOUND,
    "search_memory": _object({"results": _OBJECTS, "metadata": _OBJECT}),
    "retrieve": _object({"query": _TEXT, "totalTokensUsed": _WHOLE, "contextBudget": _WHOLE}),
    "recall_xray": _XRAY,
    "recall_explain": _XRAY,
    "get_snapshot": _XRAY,
    "replay": _object({"reproduced": _FLAG}),
    "get_timeline": _object({"observation_id": _TEXT, "tokens": _WHOLE, "entries": _OBJECTS}),
    "timeline": _object({"anchor": _MEMORY, "before": _OBJECTS, "after": _OBJECTS, "sessions": _OBJECT}),
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
    "verify_certificate": _object({"valid": _FLAG, "altered": _FLAG, "stale": _OBJECT}),
    "list_sessions": _object({"sessions": _OBJECTS}, {"next": _TEXT}),
    "get_session": _object({"session": _OBJECT, "memories": _OBJECTS}),
    "list_tasks": _object({"tasks": _OBJECTS}, {"next": _TEXT}),
    "list_vaults": _object({"vaults": _OBJECTS}),
    "sync_vault": _object({"vaults": _OBJECTS}),
    "vault_sections": _object({"vault": _TEXT, "sections": _OBJECTS}, {"next": _TEXT}),
    "list_runs": _object({"sets": _TEXTS, "runs": _OBJECTS}),
    "namespaces": _object({"namespaces": _OBJECTS}),
    "stats": _object({"namespace": _TEXT, "totals": _OBJECT, "by": _OBJECT}),
}
