"""One context string from every source; documents; and whether a certificate still stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from recallens.errors import NotAllowed
from recallens.model.retrieval import build_context_string, build_lesson_string
from recallens.operations.access import Call, Right
from recallens.operations.arguments import Arguments, Count, Name, Question, Size, Text
from recallens.operations.asking import counted
from recallens.operations.keeping import Content
from recallens.operations.operation import Answer, Operation
from recallens.render.records import recall_record

if TYPE_CHECKING:
    from recallens.engine import Engine


class Retrieve(Question):
    context_budget: Annotated[Size | None, Field(description="At most this many tokens in all (8000).")] = None
    brain_file_limit: Annotated[Count | None, Field(description="Sections of files at most (8); 0 for none.")] = None
    medium_term_limit: Annotated[Count | None, Field(description="Summaries of sessions at most (3).")] = None
    include_raw: Annotated[bool, Field(description="Also raw conversations and transcripts.")] = False


class AddDocument(Arguments):
    path: Annotated[
        str,
        StringConstraints(min_length=1, max_length=1_000, pattern=r"\S"),
        Field(description="What it is called; no file is opened."),
    ]
    text: Content
    title: Annotated[str, StringConstraints(max_length=500)] | None = None
    project: Name | None = None


class Evidence(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    id: Name
    content_hash: Annotated[Name, Field(alias="contentHash")]


class Certified(BaseModel):
    """As a search gave it; it says more, and rests on this."""

    model_config = ConfigDict(extra="allow", frozen=True)

    query: Text
    evidence: Annotated[tuple[Evidence, ...], Field(max_length=1_000)]
    digest: Name


class Certificate(Arguments):
    certificate: Certified


def retrieve(engine: Engine, call: Call, asked: Retrieve) -> Answer:
    """As `recallens retrieve --json` prints it."""
    options = asked.options(engine.clock())
    limits = asked.model_dump(include={"brain_file_limit", "medium_term_limit", "include_raw"}, exclude_none=True)
    budgets = [size for size in (asked.context_budget, options.pop("tokens", None)) if size is not None]
    if budgets:  # two names of one budget: the tighter holds
        limits["context_budget"] = min(budgets)
    found = engine.retrieve(asked.query, **limits, **options, **call.who())
    context, lessons = build_context_string(found), build_lesson_string(found)
    return Answer(found.to_json() | {"context": context, "lessons": lessons})


def search_documents(engine: Engine, call: Call, asked: Question) -> Answer:
    options = asked.options(engine.clock()) | {"documents": "only"}
    options.setdefault("limit", 10)
    recall = engine.search(asked.query, **options, certify=True, **call.who())
    return counted(recall, recall_record(recall))


def add_document(engine: Engine, call: Call, given: AddDocument) -> Answer:
    if engine.vault_document(given.path, namespace=call.namespace):
        raise NotAllowed(
            f"{given.path!r} is a file of a vault, which only its folder changes", hint="Use another path."
        )
    said = given.model_dump(include={"title", "project"})
    zone = call.caller.zone
    added = engine.add_document(given.text, path=given.path, **said, zone=zone, namespace=call.namespace)
    return Answer({"document": added.document.id, "path": given.path, "memories": list(added.memories)})


def verify_certificate(engine: Engine, call: Call, given: Certificate) -> Answer:
    certificate = given.certificate.model_dump(by_alias=True)
    return Answer(engine.verify_certificate(certificate, namespace=call.namespace).to_json())


RETRIEVING = (
    Operation("retrieve", "One context string from every source within a budget, each part with where it is from.",
              Right.READ, Retrieve, retrieve),
    Operation("search_documents", "Only what was cut from documents.", Right.READ, Question, search_documents),
    Operation("add_document", "A document as text; its sections become memories. Adding it again replaces them.",
              Right.WRITE, AddDocument, add_document),
    Operation("verify_certificate", "Whether what a certificate rests on still stands.", Right.READ, Certificate,
              verify_certificate),
)  # fmt: skip
