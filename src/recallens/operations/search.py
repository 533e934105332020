"""Operations that answer a question or explain how one was answered, and those of the documents that are searched."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Protocol

from msgspec import Meta, Struct, to_builtins

from recallens.errors import NotAllowed, NotFound, RecallensError
from recallens.operations.arguments import (
    AnswerFormat,
    Arguments,
    Content,
    Limit,
    Name,
    Question,
    Size,
    Text,
    Words,
    XrayFormat,
)
from recallens.operations.operation import Answer, Call, Operation, Right, Written
from recallens.render import render
from recallens.render.document import document
from recallens.render.json import record
from recallens.render.records import Record, recall_record, timeline_record
from recallens.xray.explain import explain

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.model.ledger import Ledger
    from recallens.model.recall import Recall
    from recallens.model.snapshot import Snapshot


class SearchMemory(Question, frozen=True, kw_only=True):
    max_tokens: Annotated[Size | None, Meta(description="At most this many tokens in all, as sent.")] = None
    format: AnswerFormat = "json"


Asked = Annotated[Words, Meta(description="The question, in any language.")]


class Xray(Question, frozen=True, kw_only=True):
    query: Asked
    format: XrayFormat = "json"


class Explain(Arguments, frozen=True):
    session: Annotated[Name | None, Meta(description="The session that asked; else those without one.")] = None
    format: XrayFormat = "json"


class OneSnapshot(Arguments, frozen=True, kw_only=True):
    id: Name
    format: XrayFormat = "json"


class WhyNot(Question, frozen=True, kw_only=True):
    query: Asked
    memory: Annotated[Name, Meta(description="The id of the memory that did not come.")]


class Recorded(Arguments, frozen=True, kw_only=True):
    id: Annotated[Name, Meta(description="The id of a recorded recall's snapshot.")]


class TwoSnapshots(Arguments, frozen=True, kw_only=True):
    before: Name
    after: Name


class AroundMemory(Arguments, frozen=True, kw_only=True, rename="lower"):
    observation_id: Annotated[Name, Meta(description="The memory in the middle.")]
    window: Annotated[float, Meta(ge=0, le=36_500, description="Days to each side.")] = 7
    limit: Annotated[Limit, Meta(description="Entries to each side.")] = 10
    tokens: Annotated[Size, Meta(description="At most this many tokens in all, as sent.")] = 1_000
    format: AnswerFormat = "json"


class TimelineOf(Arguments, frozen=True, kw_only=True):
    id: Name
    before: Annotated[int, Meta(ge=0, le=1_000)] = 5
    after: Annotated[int, Meta(ge=0, le=1_000)] = 5


class DetailsOf(Arguments, frozen=True, kw_only=True):
    id: Annotated[Name, Meta(description="A memory's handle or id, or a task's id.")]
    tokens: Annotated[Size | None, Meta(description="At most this many tokens in all, as sent.")] = None
    full: Annotated[bool, Meta(description="Everything, however long.")] = False
    limit: Limit = 20
    match: Annotated[Words | None, Meta(description="Of a long text or log, show what holds these words.")] = None
    offset: Annotated[int, Meta(ge=0, description="Skip so many lines of a long text or log.")] = 0
    format: AnswerFormat = "json"


def search(engine: Engine, call: Call, asked: Question) -> Answer:
    options = call.options(asked, engine.core.clock())
    recall = engine.search(asked.query, **options, certify=True, deliver=call.caller.deliver, **call.who())
    return counted(recall, recall_record(recall), recall)


def search_memory(engine: Engine, call: Call, asked: SearchMemory) -> Answer | Written:
    options = call.options(asked, engine.core.clock())
    as_json = asked.format == "json"
    found = engine.layers.search(asked.query, max_tokens=asked.max_tokens, json=as_json, **options, **call.who())
    if asked.format == "text":
        return Written("text", found.to_text(), found, found.to_json)
    return replace(counted(found.recall, found.to_json(), found), on_one_line=True)


class _Layer(Protocol):
    def to_text(self) -> str: ...
    def to_json(self) -> Record: ...


def _of_layer(found: _Layer, format: str) -> Answer | Written:
    if format == "text":
        return Written("text", found.to_text(), found, found.to_json)
    return Answer(found.to_json(), value=found, on_one_line=True)


def counted(recall: Recall, record: Record, value: object) -> Answer:
    served = recall.ledger.notes("served")
    tiers = Counter(row["servedBy"] for row in served[-1]["rows"].values()) if served else Counter[str]()
    return Answer(record, tiers, tuple(recall.degraded), value)


def recall_xray(engine: Engine, call: Call, asked: Xray) -> Answer | Written:
    if not engine.core.settings.capture or not call.owns_session:
        return unseen(asked.format)
    options = call.options(asked, engine.core.clock())
    query = engine.recalls.question(asked.query, **options, namespace=call.namespace)
    ledger = engine.recalls.sent(query, call.caller.deliver).ledger
    snapshot = explain(ledger, trace_id=call.trace_id)
    answer = replace(written(snapshot, asked.format), value=(snapshot, ledger))
    if isinstance(answer, Answer):
        tiers = Counter(str(result.servedBy) for result in snapshot.results if result.servedBy)
        return replace(answer, tiers=tiers, degraded=tuple(view.name for view in snapshot.views if view.error))
    return answer


def recall_explain(engine: Engine, call: Call, asked: Explain) -> Answer | Written:
    if not call.owns_session:
        return unseen(asked.format)
    sight, owner = call.caller.sight, call.caller.owner
    snapshot = engine.recalls.last(asked.session, sight=sight, namespace=call.namespace, owner=owner)
    return unseen(asked.format) if snapshot is None else written(snapshot, asked.format)


def unseen(format: XrayFormat) -> Answer:
    """No snapshot: none was made, capture is off, or the session is another's. All three answer alike."""
    if format != "json":
        raise NotFound("no snapshot", hint="A search by someone who may write records one, if `capture` is on.")
    return Answer(record(document(None)))


def snapshot(engine: Engine, call: Call, asked: OneSnapshot) -> Answer | Written:
    seen(engine, call, asked.id)
    return written(engine.recalls.snapshot(asked.id, sight=call.caller.sight, namespace=call.namespace), asked.format)


def written(snapshot: Snapshot | None, format: XrayFormat) -> Answer | Written:
    """The one renderer's words, whatever the surface."""
    if format == "json":
        return Answer(record(document(snapshot)))
    return Written(format, render(snapshot, format), record=lambda: record(document(snapshot)))


def seen(engine: Engine, call: Call, *ids: str) -> None:
    """A recall that another token's caller made is not there."""
    from recallens.engine.recalls import no_recall

    owner = call.caller.owner
    for id in ids:
        if owner is not None and not engine.tokens.owns_recall(id, owner, namespace=call.namespace):
            raise no_recall(id)


def why_not(engine: Engine, call: Call, asked: WhyNot) -> Answer:
    options = call.options(asked, engine.core.clock())
    found = engine.why_not(asked.memory, asked.query, **options, sight=call.caller.sight, namespace=call.namespace)
    return Answer(found.to_json(), value=found)


def replay(engine: Engine, call: Call, asked: Recorded) -> Answer:
    seen(engine, call, asked.id)
    return _replayed(engine, engine.recalls.recorded(asked.id, sight=call.caller.sight, namespace=call.namespace)[0])


def _replayed(engine: Engine, ledger: Ledger) -> Answer:
    from recallens.xray.replay import compare_live
    from recallens.xray.replay import replay as replayed

    again = replayed(ledger)
    record = {"reproduced": True, **again.to_json()}
    try:
        live = compare_live(ledger, engine.recalls.ledger, engine.core.clock())
    except RecallensError as error:  # the record stands by itself, whatever has become of the store
        return Answer(record | {"liveError": error.message}, value=(again, None))
    return Answer(record | {"live": [difference.to_json() for difference in live]}, value=(again, live))


def diff(engine: Engine, call: Call, asked: TwoSnapshots) -> Answer:
    from recallens.xray.diff import diff as difference

    seen(engine, call, asked.before, asked.after)
    before, _ = engine.recalls.recorded(asked.before, sight=call.caller.sight, namespace=call.namespace)
    after, _ = engine.recalls.recorded(asked.after, sight=call.caller.sight, namespace=call.namespace)
    return Answer({"before": asked.before, "after": asked.after, **difference(before, after).to_json()})


def get_timeline(engine: Engine, call: Call, asked: AroundMemory) -> Answer | Written:
    around = engine.layers.around(
        asked.observation_id, window=asked.window, limit=asked.limit, tokens=asked.tokens, sight=call.caller.sight,
        namespace=call.namespace,
    )  # fmt: skip
    return _of_layer(around, asked.format)


def timeline(engine: Engine, call: Call, asked: TimelineOf) -> Answer:
    found = engine.layers.timeline(asked.id, asked.before, asked.after, namespace=call.namespace)
    saliences = engine.memories.salience([*found.before, found.anchor, *found.after])
    return Answer(timeline_record(found, saliences, sight=call.caller.sight), value=found)


def get_details(engine: Engine, call: Call, asked: DetailsOf) -> Answer | Written:
    details = engine.layers.details(
        asked.id, **asked.beside("id", "format"), sight=call.caller.sight, namespace=call.namespace
    )
    return _of_layer(details, asked.format)


class NamedRecord(Arguments, frozen=True, kw_only=True):
    name: str  # the id of a recorded recall, or a file that holds one


class TwoRecords(Arguments, frozen=True, kw_only=True):
    before: str
    after: str


def replay_record(engine: Engine, call: Call, asked: NamedRecord) -> Answer:
    return _replayed(engine, engine.recalls.stored(asked.name, namespace=call.namespace))


def diff_records(engine: Engine, call: Call, asked: TwoRecords) -> Answer:
    difference = engine.diff(asked.before, asked.after, namespace=call.namespace)
    return Answer({"before": asked.before, "after": asked.after, **difference.to_json()}, value=difference)


SEARCH = (
    Operation("search", "Memories by words and by meaning, each with why it came.", Right.READ, Question, search),
    Operation(
        "search_memory",
        "Layer 1: short summaries with a certificate of what they cover; ids lead to timeline and details.",
        Right.READ, SearchMemory, search_memory,
    ),
    Operation("recall_xray", "Why each memory would come, in full. Records nothing.", Right.READ, Xray, recall_xray,
              explains=True),
    Operation("recall_explain", "The X-ray of a session's last recorded search.", Right.READ, Explain, recall_explain,
              explains=True),
    Operation("get_snapshot", "The X-ray of one recorded search.", Right.READ, OneSnapshot, snapshot),
    Operation("why_not", "Why a memory is not among the results, and what would bring it in.", Right.READ, WhyNot,
              why_not),
    Operation("replay", "A recorded search again from its decisions, and what differs now.", Right.READ, Recorded,
              replay),
    Operation("diff", "What changed between two recorded searches, and why.", Right.READ, TwoSnapshots, diff),
    Operation("get_timeline", "Layer 2: what came within some days before and after a memory.", Right.READ,
              AroundMemory, get_timeline),
    Operation("timeline", "So many memories before and after one, with their sessions.", Right.READ, TimelineOf,
              timeline),
    Operation("get_details", "Layer 3: full logs of a task, or a memory in full.", Right.READ, DetailsOf, get_details),
    Operation("replay_record", "A recorded search again, by its id or from a file.", Right.OWNER, NamedRecord,
              replay_record),
    Operation("diff_records", "What changed between two recorded searches, by id or from files.", Right.OWNER,
              TwoRecords, diff_records),
)  # fmt: skip


# ── documents ──


class AddDocument(Arguments, frozen=True, kw_only=True):
    path: Annotated[
        str,
        Meta(min_length=1, max_length=1_000, pattern=r"\S", description="What it is called; no file is opened."),
    ]
    text: Content
    title: Annotated[str, Meta(max_length=500)] | None = None
    project: Name | None = None


class Evidence(Struct, frozen=True, rename="camel"):
    id: Name
    content_hash: Name


class Certified(Struct, frozen=True):
    """As a search gave it; it says more, and rests on this."""

    query: Text
    evidence: Annotated[tuple[Evidence, ...], Meta(max_length=1_000)]
    digest: Name


class Certificate(Arguments, frozen=True, kw_only=True):
    certificate: Certified


def search_documents(engine: Engine, call: Call, asked: Question) -> Answer:
    options = call.options(asked, engine.core.clock())
    recall = engine.recalls.search_documents(asked.query, **options, certify=True, **call.who())
    return counted(recall, recall_record(recall), recall)


def add_document(engine: Engine, call: Call, given: AddDocument) -> Answer:
    if engine.vaults.holds_document(given.path, namespace=call.namespace):
        raise NotAllowed(
            f"{given.path!r} is a file of a vault, which only its folder changes", hint="Use another path."
        )
    added = engine.memories.add_document(given.text, **given.beside("text"), namespace=call.namespace)
    return Answer({"document": added.document.id, "path": given.path, "memories": list(added.memories)})


def verify_certificate(engine: Engine, call: Call, given: Certificate) -> Answer:
    certificate = to_builtins(given.certificate)  # as it was checked, or as the owner read it
    verdict = engine.recalls.verify_certificate(certificate, sight=call.caller.sight, namespace=call.namespace)
    return Answer(verdict.to_json(), value=verdict)


DOCUMENTS = (
    Operation("search_documents", "Only what was cut from documents.", Right.READ, Question, search_documents),
    Operation("add_document", "A document as text; its sections become memories. Adding it again replaces them.",
              Right.WRITE, AddDocument, add_document),
    Operation("verify_certificate", "Whether what a certificate rests on still stands.", Right.READ, Certificate,
              verify_certificate),
)  # fmt: skip
