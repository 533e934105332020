"""Operations that answer a question or explain how one was answered, and those of the documents that are searched."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from recallens.errors import NotAllowed, NotFound, RecallensError
from recallens.model.query import DEFAULT_TOKENS
from recallens.model.recall import build_context_string, build_lesson_string
from recallens.operations.arguments import (
    Arguments,
    Content,
    Count,
    Limit,
    Name,
    Names,
    Question,
    Size,
    Text,
    Words,
    XrayFormat,
)
from recallens.operations.operation import OWNER, READ, WRITE, Answer, Call, Operation, Written
from recallens.render import render
from recallens.render.context import context_record
from recallens.render.document import document
from recallens.render.json import record
from recallens.render.layers import timeline_entry_record
from recallens.render.records import Record, details_record, recall_record, timeline_record

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.model.ledger import Ledger
    from recallens.model.recall import Recall
    from recallens.model.snapshot import Snapshot


class SearchMemory(Question):
    max_tokens: Annotated[Size | None, Field(description="At most this many tokens of results in all.")] = None


class Xray(Question):
    format: XrayFormat = "json"


class Explain(Arguments):
    session: Annotated[Name | None, Field(description="The session that asked; else those without one.")] = None
    format: XrayFormat = "json"


class OneSnapshot(Arguments):
    id: Name
    format: XrayFormat = "json"


class WhyNot(Question):
    memory: Annotated[Name, Field(description="The id of the memory that did not come.")]


class Recorded(Arguments):
    id: Annotated[Name, Field(description="The id of a recorded recall's snapshot.")]


class TwoSnapshots(Arguments):
    before: Name
    after: Name


class NamedRecord(Arguments):
    name: str  # the id of a recorded recall, or a file that holds one


class TimelineAround(Arguments):
    observation_id: Annotated[Name, Field(alias="observation_id", description="The memory in the middle.")]
    window: Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False, description="Days to each side.")] = 7
    limit: Annotated[Limit, Field(description="Entries to each side.")] = 10


class TimelineOf(Arguments):
    id: Name
    before: Annotated[int, Field(ge=0, le=1_000)] = 5
    after: Annotated[int, Field(ge=0, le=1_000)] = 5


class DetailsOf(Arguments):
    id: Annotated[Name, Field(description="A memory's id, or a task's.")]
    tokens: Annotated[Size | None, Field(description="Tokens of content an entry.")] = None
    full: Annotated[bool, Field(description="Everything, however long.")] = False
    limit: Limit = 20


class ContextFor(Arguments):
    task: Words
    tokens: Size = DEFAULT_TOKENS
    files: Names = ()
    project: Name | None = None
    session: Name | None = None
    scopes: Names = ()


class ComposeContext(ContextFor):
    constitution: str | None = None


def search(engine: Engine, call: Call, asked: Question) -> Answer:
    options = asked.options(engine.core.clock())
    recall = engine.search(asked.query, **options, certify=True, **call.who())
    return _counted(recall, recall_record(recall), recall)


def search_documents(engine: Engine, call: Call, asked: Question) -> Answer:
    options = asked.options(engine.core.clock())
    recall = engine.recalls.search_documents(asked.query, **options, certify=True, **call.who())
    return _counted(recall, recall_record(recall), recall)


def search_memory(engine: Engine, call: Call, asked: SearchMemory) -> Answer:
    options = asked.options(engine.core.clock())
    layer = engine.layers.search(asked.query, max_tokens=asked.max_tokens, **options, **call.who())
    return _counted(layer.recall, layer.to_json(), layer)


def _counted(recall: Recall, record: Record, value: object) -> Answer:
    served = recall.ledger.notes("served")
    tiers = Counter(row["servedBy"] for row in served[-1]["rows"].values()) if served else Counter[str]()
    return Answer(record, tiers, tuple(recall.degraded), value)


def recall_xray(engine: Engine, call: Call, asked: Xray) -> Answer | Written:
    if not engine.core.settings.capture or not call.owns_session:
        return _written(None, asked.format)
    options = asked.options(engine.core.clock())
    snapshot = engine.xray(asked.query, **options, namespace=call.namespace, trace_id=call.trace_id)
    answer = _written(snapshot, asked.format)
    if isinstance(answer, Written):
        return answer
    tiers = Counter(str(result.servedBy) for result in snapshot.results if result.servedBy)
    return replace(answer, tiers=tiers, degraded=tuple(view.name for view in snapshot.views if view.error))


def recall_explain(engine: Engine, call: Call, asked: Explain) -> Answer | Written:
    if not call.owns_session:
        return _written(None, asked.format)
    snapshot = engine.recalls.last(asked.session, namespace=call.namespace, owner=call.caller.owner)
    return _written(snapshot, asked.format)


def get_snapshot(engine: Engine, call: Call, asked: OneSnapshot) -> Answer | Written:
    seen(engine, call, asked.id)
    return _written(engine.recalls.snapshot(asked.id, namespace=call.namespace), asked.format)


def _written(snapshot: Snapshot | None, format: XrayFormat) -> Answer | Written:
    """The one renderer's words, whatever the surface. Without a snapshot, all answer alike: none was made, capture is
    off, or the session is another's.
    """
    if format == "json":
        return Answer(record(document(snapshot)))
    if snapshot is None:
        raise NotFound("no snapshot", hint="A search by someone who may write records one, if `capture` is on.")
    return Written(format, render(snapshot, format))


def seen(engine: Engine, call: Call, *ids: str) -> None:
    """A recall that another token's caller made is not there."""
    from recallens.engine.recalls import no_recall

    owner = call.caller.owner
    for id in ids:
        if owner is not None and not engine.tokens.owns_recall(id, owner, namespace=call.namespace):
            raise no_recall(id)


def why_not(engine: Engine, call: Call, asked: WhyNot) -> Answer:
    options = asked.options(engine.core.clock())
    verdict = engine.why_not(asked.memory, asked.query, **options, namespace=call.namespace)
    return Answer(verdict.to_json(), value=verdict)


def replay(engine: Engine, call: Call, asked: Recorded) -> Answer:
    seen(engine, call, asked.id)
    return _replayed(engine, engine.recalls.recorded(asked.id, namespace=call.namespace)[0])


def _replayed(engine: Engine, ledger: Ledger) -> Answer:
    from recallens.xray.replay import compare_live
    from recallens.xray.replay import replay as replayed

    again = replayed(ledger)
    record = {"reproduced": True, **again.to_json()}
    try:
        live = compare_live(ledger, engine.recalls.ledger)
    except RecallensError as error:  # the record stands by itself, whatever has become of the store
        return Answer(record | {"liveError": error.message}, value=(again, None))
    return Answer(record | {"live": [difference.to_json() for difference in live]}, value=(again, live))


def replay_record(engine: Engine, call: Call, asked: NamedRecord) -> Answer:
    return _replayed(engine, engine.recalls.stored(asked.name, namespace=call.namespace))


def diff(engine: Engine, call: Call, asked: TwoSnapshots) -> Answer:
    from recallens.xray.diff import diff as difference

    seen(engine, call, asked.before, asked.after)
    before, _ = engine.recalls.recorded(asked.before, namespace=call.namespace)
    after, _ = engine.recalls.recorded(asked.after, namespace=call.namespace)
    return Answer({"before": asked.before, "after": asked.after, **difference(before, after).to_json()})


def diff_records(engine: Engine, call: Call, asked: TwoSnapshots) -> Answer:
    """Each may also be a file that holds a record."""
    difference = engine.diff(asked.before, asked.after, namespace=call.namespace)
    return Answer({"before": asked.before, "after": asked.after, **difference.to_json()}, value=difference)


def get_timeline(engine: Engine, call: Call, asked: TimelineAround) -> Answer:
    anchor = engine.get(asked.observation_id, namespace=call.namespace)
    entries = engine.layers.around(anchor.id, window=asked.window, limit=asked.limit, namespace=call.namespace)
    record = {
        "observation_id": anchor.id,
        "window": asked.window,
        "tokens": sum(entry.tokens for entry in entries),
        "entries": [timeline_entry_record(entry) for entry in entries],
    }
    return Answer(record, value=entries)


def timeline(engine: Engine, call: Call, asked: TimelineOf) -> Answer:
    course = engine.layers.timeline(asked.id, asked.before, asked.after, namespace=call.namespace)
    saliences = engine.memories.salience([*course.before, course.anchor, *course.after])
    return Answer(timeline_record(course, saliences), value=course)


def get_details(engine: Engine, call: Call, asked: DetailsOf) -> Answer:
    details = engine.layers.details(**asked.given(), namespace=call.namespace)
    return Answer(details_record(details), value=details)


def get_context(engine: Engine, call: Call, asked: ContextFor) -> Answer:
    context = engine.context(**asked.given(), **call.who())
    return Answer(context_record(context), value=context)


SEARCH = (
    Operation("search", "Memories by words and by meaning, each with why it came.", READ, Question, search),
    Operation(
        "search_memory",
        "Layer 1: short summaries with a certificate of what they cover; ids lead to timeline and details.",
        READ, SearchMemory, search_memory,
    ),
    Operation("recall_xray", "Why each memory would come, in full. Records nothing.", READ, Xray, recall_xray,
              explains=True),
    Operation("recall_explain", "The X-ray of a session's last recorded search.", READ, Explain, recall_explain,
              explains=True),
    Operation("get_snapshot", "The X-ray of one recorded search.", READ, OneSnapshot, get_snapshot),
    Operation("why_not", "Why a memory is not among the results, and what would bring it in.", READ, WhyNot, why_not),
    Operation("replay", "A recorded search again from its decisions, and what differs now.", READ, Recorded, replay),
    Operation("diff", "What changed between two recorded searches, and why.", READ, TwoSnapshots, diff),
    Operation("get_timeline", "Layer 2: what came within some days before and after a memory.", READ,
              TimelineAround, get_timeline),
    Operation("timeline", "So many memories before and after one, with their sessions.", READ, TimelineOf, timeline),
    Operation("get_details", "Layer 3: full logs of a task, or a memory in full.", READ, DetailsOf, get_details),
    Operation("get_context", "What an agent should know for a task, within a token budget.", READ, ContextFor,
              get_context),
    Operation("replay_record", "A recorded search again, by its id or from a file.", OWNER, NamedRecord, replay_record),
    Operation("diff_records", "What changed between two recorded searches, by id or from files.", OWNER,
              TwoSnapshots, diff_records),
    Operation("compose_context", "What an agent should know for a task, beginning with a file of yours.", OWNER,
              ComposeContext, get_context),
)  # fmt: skip


# ── every source at once, and documents ──


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
    options = asked.options(engine.core.clock())
    limits = asked.model_dump(include={"brain_file_limit", "medium_term_limit", "include_raw"}, exclude_none=True)
    budgets = [size for size in (asked.context_budget, options.pop("tokens", None)) if size is not None]
    if budgets:  # two names of one budget: the tighter holds
        limits["context_budget"] = min(budgets)
    retrieval = engine.retrieve(asked.query, **limits, **options, **call.who())
    context, lessons = build_context_string(retrieval), build_lesson_string(retrieval)
    return Answer(retrieval.to_json() | {"context": context, "lessons": lessons}, value=retrieval)


def add_document(engine: Engine, call: Call, given: AddDocument) -> Answer:
    if engine.vaults.holds_document(given.path, namespace=call.namespace):
        what = f"{given.path!r} is a file of a vault, which only its folder changes"
        raise NotAllowed(what, hint="Use another path.")
    return _added(engine, call, given)


def keep_document(engine: Engine, call: Call, given: AddDocument) -> Answer:
    answer = _added(engine, call, given)
    engine.maintenance.publish(call.namespace)
    return answer


def _added(engine: Engine, call: Call, given: AddDocument) -> Answer:
    added = engine.memories.add_document(**given.given(), zone=call.caller.zone, namespace=call.namespace)
    return Answer({"document": added.document.id, "path": given.path, "memories": list(added.memories)})


def verify_certificate(engine: Engine, call: Call, given: Certificate) -> Answer:
    certificate = given.certificate.model_dump(by_alias=True)
    return Answer(engine.recalls.verify_certificate(certificate, namespace=call.namespace).to_json())


DOCUMENTS = (
    Operation("retrieve", "One context string from every source within a budget, each part with where it is from.",
              READ, Retrieve, retrieve),
    Operation("search_documents", "Only what was cut from documents.", READ, Question, search_documents),
    Operation("add_document", "A document as text; its sections become memories. Adding it again replaces them.",
              WRITE, AddDocument, add_document),
    Operation("keep_document", "Keep a document; its sections become memories.", OWNER, AddDocument, keep_document),
    Operation("verify_certificate", "Whether what a certificate rests on still stands.", READ, Certificate,
              verify_certificate),
)  # fmt: skip
