"""The loop of an agent's work: what it is given to begin with, and how it ended; and a context without the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from recallens.errors import NotFound
from recallens.ingest.draft import Draft
from recallens.model.context import Context
from recallens.model.memory import Memory
from recallens.model.query import DEFAULT_TOKENS
from recallens.model.task import REWARDS, Ending
from recallens.operations.arguments import (
    MOST_BUDGET,
    AnswerFormat,
    Arguments,
    Count,
    Name,
    Names,
    Question,
    Share,
    Size,
    Words,
)
from recallens.operations.operation import Answer, Call, Operation, Right, Written, answered
from recallens.render.context import (
    begun_text,
    context_markdown,
    context_record,
    context_text,
    finished_text,
    retrieval_record,
    retrieval_text,
)
from recallens.render.records import Record, outcome_record, to_text

if TYPE_CHECKING:
    from recallens.engine import Engine

# What an agent is given to begin with, unless it asks for more.
BEGIN_TOKENS, LEAST_TOKENS = 2_000, 100
MOST_LEARNED = 20


class BeginWork(Arguments, frozen=True, kw_only=True):
    task: Annotated[Words, Meta(description="What is to be done.")]
    tokens: Annotated[
        int, Meta(ge=LEAST_TOKENS, le=MOST_BUDGET, description="At most this many tokens in all (2000).")
    ] = BEGIN_TOKENS
    files: Annotated[Names, Meta(description="Files that it is about.")] = ()
    project: Name | None = None
    session: Name | None = None
    format: AnswerFormat = "json"


class FinishWork(Arguments, frozen=True, kw_only=True):
    task: Annotated[Name, Meta(description="The task's id.")]
    outcome: Ending
    reward: Annotated[Share | None, Meta(description="How well it went, where the outcome is not enough.")] = None
    used: Annotated[Names, Meta(description="The memories that helped.")] = ()
    learned: Annotated[
        tuple[Words, ...], Meta(max_length=MOST_LEARNED, description="What to remember, one thing each.")
    ] = ()
    summary: Annotated[str, Meta(max_length=20_000)] | None = None
    format: AnswerFormat = "json"


class ContextFor(Arguments, frozen=True, kw_only=True):
    task: Words
    tokens: Size = DEFAULT_TOKENS
    files: Names = ()
    project: Name | None = None
    session: Name | None = None
    scopes: Names = ()
    format: AnswerFormat = "json"


class ComposeContext(Arguments, frozen=True, kw_only=True):
    task: str
    tokens: int = DEFAULT_TOKENS
    constitution: str | None = None
    files: tuple[str, ...] = ()
    project: str | None = None
    session: str | None = None
    scopes: tuple[str, ...] = ()
    format: str = "json"


def _parts(*names: str) -> Meta:
    """Of a mapping whose keys are these, which the engine judges."""
    return Meta(description=f"{' and '.join(names)}.", extra_json_schema={"propertyNames": {"enum": list(names)}})


class Retrieve(Question, frozen=True, kw_only=True):
    context_budget: Annotated[Size | None, Meta(description="At most this many tokens in all (8000).")] = None
    brain_file_limit: Annotated[Count | None, Meta(description="Sections of files at most (8); 0 for none.")] = None
    medium_term_limit: Annotated[Count | None, Meta(description="Summaries of sessions at most (3).")] = None
    include_raw: Annotated[bool, Meta(description="Also raw conversations and transcripts.")] = False
    actionability_weights: Annotated[dict[Name, Share] | None, _parts("fileMatch", "commandMatch")] = None
    hierarchical_weights: Annotated[dict[Name, Share] | None, _parts("sameLevel", "farMismatch")] = None
    format: AnswerFormat = "json"


def begin_work(engine: Engine, call: Call, asked: BeginWork) -> Answer | Written:
    where: dict[str, Any] = {"project": asked.project, "session": asked.session}
    begun = engine.tasks.start(asked.task, **where, namespace=call.namespace)
    where["scopes"] = call.held()
    text, record = partial(begun_text, begun.id), partial(context_record, taskId=begun.id)
    sent = text if asked.format == "text" else _json(record)
    found = engine.context(asked.task, asked.tokens, sent=sent, files=asked.files, task=begun.id, **where, **call.who())
    return answered(asked.format, lambda: record(found), lambda: text(found), found)


def _all_of(engine: Engine, names: Iterable[str], **where: Any) -> list[Memory]:
    found, unknown = list[Memory](), list[str]()
    for name in dict.fromkeys(names):
        try:
            found.append(engine.get(name, **where))
        except NotFound:
            unknown.append(repr(name))
    if unknown:
        raise NotFound(
            f"no memory {', '.join(unknown)} in this namespace, so nothing was changed",
            hint="begin_work and search_memory tell the handles of what they gave.",
        )
    return found


def finish_work(engine: Engine, call: Call, asked: FinishWork) -> Answer | Written:
    """All that is named is known before anything is changed."""
    where: dict[str, Any] = {"namespace": call.namespace}
    reward = asked.reward if asked.reward is not None else REWARDS[asked.outcome]
    task = engine.tasks.running(asked.task, "end it again", **where)
    used = _all_of(engine, asked.used, **where)
    strange = engine.tasks.not_given(used, task, **where) if used else []
    if used:
        counted = engine.tasks.used([memory.id for memory in used], task=task.id, **where)
        used = [memory for memory in used if memory.id in counted]
    here: dict[str, Any] = {"task": task.id, "project": task.project, "session": task.session}
    here["inputs"] = engine.tasks.restricted(task)
    drafts = [Draft(text, **here, source=call.caller.source) for text in asked.learned]
    learned = [engine.remember(draft, **where) for draft in drafts]
    ended = engine.tasks.end(task.id, reward=reward, summary=asked.summary, **where)
    kept = [(engine.get(each.id, **where), str(each.outcome)) for each in learned]
    promoted = [engine.get(each.id, **where) for each in ended.promoted]

    uncredited = [memory for memory in strange if memory not in used]

    def record() -> Record:
        unsure = {"notGiven": [memory.id for memory in strange], "noCredit": [memory.id for memory in uncredited]}
        return (
            outcome_record(ended)
            | {name: ids for name, ids in unsure.items() if ids}
            | {
                "used": [memory.id for memory in used],
                "learned": [{"id": memory.id, "handle": memory.handle, "outcome": outcome} for memory, outcome in kept],
            }
        )

    def text() -> str:
        return finished_text(ended, used, kept, promoted, not_given=strange)

    return answered(asked.format, record, text, ended)


def get_context(engine: Engine, call: Call, asked: ContextFor) -> Answer | Written:
    return _context(engine, call, asked, {})


def compose_context(engine: Engine, call: Call, asked: ComposeContext) -> Answer | Written:
    return _context(engine, call, asked, {"constitution": asked.constitution})


def _context(engine: Engine, call: Call, asked: ContextFor | ComposeContext, more: dict[str, Any]) -> Answer | Written:
    said = {name: getattr(asked, name) for name in ("files", "project", "session")}
    options = more | {"scopes": call.held(asked.scopes)} | {name: it for name, it in said.items() if it is not None}
    sent: Callable[[Context], str] = _WORDS.get(asked.format, _json(context_record))
    found = engine.context(asked.task, asked.tokens, sent=sent, **options, **call.who())
    return answered(asked.format, lambda: context_record(found), lambda: sent(found), found)


# As an agent is told it; for people, whose terminal gets the block and nothing else.
_WORDS: Mapping[str, Callable[[Context], str]] = {
    "text": context_text, "markdown": context_markdown, "block": attrgetter("block"),
}  # fmt: skip


def retrieve(engine: Engine, call: Call, asked: Retrieve) -> Answer | Written:
    options = call.options(asked, engine.core.clock())
    names = ("brain_file_limit", "medium_term_limit", "include_raw", "actionability_weights", "hierarchical_weights")
    limits: dict[str, Any] = {name: value for name in names if (value := getattr(asked, name)) is not None}
    budgets = [size for size in (asked.context_budget, options.pop("tokens", None)) if size is not None]
    if budgets:  # two names of one budget: the tighter holds
        limits["context_budget"] = min(budgets)
    sent = retrieval_text if asked.format == "text" else _json(retrieval_record)
    found = engine.retrieve(asked.query, sent=sent, **limits, **options, **call.who())
    return answered(asked.format, lambda: retrieval_record(found), lambda: retrieval_text(found), found)


def _json(record: Callable[[Any], Record]) -> Callable[[Any], str]:
    """What is sent where the record is."""
    return lambda found: f"{to_text(record(found))}\n"


WORK = (
    Operation("begin_work", "Start a task, and give what is known for it within a token budget.", Right.WRITE,
              BeginWork, begin_work),
    Operation("finish_work", "End a task with its outcome, what was used and what was learned.", Right.WRITE,
              FinishWork, finish_work),
    Operation("get_context", "What an agent should know for a task, within a token budget.", Right.READ, ContextFor,
              get_context),
    Operation("compose_context", "What an agent should know for a task, beginning with a file of yours.", Right.OWNER,
              ComposeContext, compose_context),
    Operation("retrieve", "One context string from every source within a budget, each part with where it is from.",
              Right.READ, Retrieve, retrieve),
)  # fmt: skip
