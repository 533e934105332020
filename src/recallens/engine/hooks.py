"""What an agent is given without having asked, and what a session leaves behind: the work of `recallens hook`.

A hook speaks as little as it can: pointers of one line, at most three, and nothing where nothing is likely to help.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from recallens.engine.search import held_to
from recallens.errors import EncoderError, InvalidInput
from recallens.ingest.credit import evidence_of_use, work_log
from recallens.model.hook import (
    LEAD,
    POINTERS,
    HookDecision,
    HookEvent,
    HookInput,
    Injection,
    asked_of_tool,
    question_of,
)
from recallens.model.memory import Kind, Memory, Status, Zone
from recallens.model.query import Mode, SearchOptions
from recallens.model.snapshot import snapshot_id
from recallens.model.times import day
from recallens.model.trust import Actor, claim_of, turns_within
from recallens.render.context import closing, header, mark_for, opening
from recallens.render.formats import printable as visible
from recallens.render.layers import head_of, said_by, titled
from recallens.render.markup import headed_sentences
from recallens.store.records import Listing
from recallens.text.sentences import cut_at_word
from recallens.text.token_count import count_tokens, estimate_tokens, one_line
from recallens.text.tokenizer import tokenize

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.ingest.importers import MemoryLine
    from recallens.model.query import Query
    from recallens.model.recall import SearchResult

START_TOKENS: Final = 700
LINE_CHARACTERS: Final = 280
# What a new session should know of the ones before it: of each kind the latest, and the last sessions themselves.
_TOLD_KINDS: Final = (Kind.DECISION, Kind.PREFERENCE, Kind.PRINCIPLE, Kind.GOTCHA, Kind.LESSON)
_OF_EACH, _RECAPS, _LOOKED_AT = 8, 2, 60
# So many are looked at for the pointers: some of them will be questions, or say what another one says.
_LOOKED_FOR: Final = 2 * POINTERS
_OWN_TOOL: Final = re.compile(r"\Amcp__recallens|\brecallens (?:search|context|retrieve|show|xray)\b")


def given(engine: Engine, event: HookEvent, told: HookInput, *, tokens: int = START_TOKENS) -> Injection:
    """What the agent is given now, or the silence and why."""
    ways: Mapping[HookEvent, Callable[[], Injection]] = {
        HookEvent.SESSION_START: lambda: _at_start(engine, told, tokens),
        HookEvent.PROMPT: lambda: _at_prompt(engine, told),
        HookEvent.BEFORE_TOOL: lambda: _before_tool(engine, told),
    }
    with engine.core.acting(Actor(Zone.WORKING, source=told.client)):  # as an agent, who is to be given it
        return ways[event]()


# ── what is given ──


def _at_start(engine: Engine, told: HookInput, tokens: int) -> Injection:
    """What is pinned, the last sessions and what was decided in the project, the newest first, within the budget."""
    project = engine.core.settings.project or project_in(told.folder)
    recaps = _latest(engine, Kind.SUMMARY, project, _RECAPS)
    approved, others = (
        [memory for kind in _TOLD_KINDS for memory in _latest(engine, kind, project, _OF_EACH, approved=approved)]
        for approved in (True, False)
    )
    pinned = _latest(engine, None, project, _OF_EACH)
    # Whoever writes the most does not take the places of what is trusted: of the budget, that has half first.
    trusted = [*pinned, *sorted(approved, key=lambda memory: -memory.created)]
    ordered = [*pinned, *recaps, *sorted((*approved, *others), key=lambda memory: -memory.created)]
    lines = {memory.id: f"{header(memory, ())}: {_said(memory)}\n" for memory in ordered}
    mark = mark_for(lines.values())
    left = tokens - count_tokens(opening(mark)) - count_tokens(closing(mark))
    kept, half = set[str](), left // 2
    for memories, least in ((trusted, left - half), (ordered, 0)):
        for id in (memory.id for memory in memories if memory.id not in kept):
            cost = count_tokens(lines[id])
            if left - cost >= least:
                kept.add(id)
                left -= cost
    chosen = [id for id in lines if id in kept]
    if not chosen:
        return Injection(reason="nothing is known of this project" if not lines else "no line fits the budget")
    text = opening(mark) + "".join(lines[id] for id in chosen) + closing(mark)
    return Injection(text, tuple(chosen), count_tokens(text))


def _latest(
    engine: Engine, kind: Kind | None, project: str | None, most: int, *, approved: bool = False
) -> list[Memory]:
    """The latest of a kind that hold, of the project or of none; without a kind those that are pinned."""
    now, pinned = engine.core.clock(), kind is None
    pages = [
        engine.memories.browse(
            Listing(
                project=each, kind=kind, pinned=pinned, statuses=(Status.ACTIVE,), approved=approved, limit=_LOOKED_AT
            )
        )
        for each in dict.fromkeys((project, None))
    ]
    seen = {memory.id: memory for page in pages for memory in page.memories if memory.project in (project, None)}
    holding = [memory for memory in seen.values() if memory.valid_until is None or memory.valid_until > now]
    return sorted((memory for memory in holding if memory.created <= now), key=lambda memory: -memory.created)[:most]


def _said(memory: Memory) -> str:
    return cut_at_word(visible(one_line(memory.content)), LINE_CHARACTERS)


def _at_prompt(engine: Engine, told: HookInput) -> Injection:
    text = question_of(told)
    if text is None:
        return Injection(reason="the prompt asks nothing")
    return _given(engine, engine.recalls.query(text, limit=_LOOKED_FOR, session=told.session), _no_questions)


def _before_tool(engine: Engine, told: HookInput) -> Injection:
    """By words alone: files and commands have exact names, and no encoder is worth its start for them."""
    asked = asked_of_tool(told)
    if asked is None:
        return Injection(reason="neither a file nor a command")
    options: SearchOptions = {"limit": _LOOKED_FOR, "session": told.session, "mode": Mode.KEYWORD}
    if asked.file is not None:
        options |= {"affected": (asked.file,), "open_file": asked.file}
        return _given(engine, engine.recalls.query(asked.question, **options), _known_before_turns)
    named = re.compile(rf"(?<!\w){re.escape(asked.program or '')}(?!\w)")
    query = engine.recalls.query(asked.question, **options)
    return _given(engine, query, lambda found: [e for e in _no_questions(found) if named.search(e.content)])


def _given(engine: Engine, query: Query, fitting: Callable[[list[Memory]], list[Memory]]) -> Injection:
    """Pointers to those of the results that fit. What is not given is left out before the recall is recorded."""
    recall = engine.recall(query)
    found = [result.memory for result in recall.results]
    telling = [memory for memory in fitting(found) if any(headed_sentences(memory.content))]
    telling = _without_sources(telling)
    relevance = {result.memory.id: result.relevance for result in recall.results}
    claims = [claim_of(memory.zone, relevance[memory.id]) for memory in telling]
    turns = turns_within(claims, ([1] * len(telling), POINTERS))
    chosen = {telling[turn].id for turn in turns[:POINTERS]}
    recall = engine.recalls.keep(
        held_to(recall, chosen, "no pointer: a question, a bare heading, what another one says, or one too many")
    )
    made = snapshot_id(recall.ledger) if recall.recorded else None
    if not recall.results:
        return Injection(recall=made, reason="nothing is likely to help")
    words = set(tokenize(query.text))
    text = LEAD + "".join(f"- {_pointer(result, words)}\n" for result in recall.results)
    return Injection(text, tuple(result.memory.id for result in recall.results), estimate_tokens(text), made)


def _no_questions(found: list[Memory]) -> list[Memory]:
    """Somebody asked it, and it answers nothing."""
    return [each for each in found if each.kind is not Kind.EPISODE or not each.content.rstrip().endswith("?")]


def _known_before_turns(found: list[Memory]) -> list[Memory]:
    """What an assistant said while it worked on a file is told only where nothing else is known of it."""
    return [each for each in found if not each.is_turn or each.author == "user"] or found


def _without_sources(found: list[Memory]) -> list[Memory]:
    """Without the turns of which a finding is there too, which says the same in a sentence; and without recaps of
    sessions, where anything else is there."""
    made_of = {str(each.source_id).rpartition("/")[0] for each in found if not each.is_turn and each.source_id}
    single = [each for each in found if not each.is_turn or each.source_id not in made_of]
    return [each for each in single if each.kind is not Kind.SUMMARY] or single


def _pointer(result: SearchResult, words: set[str]) -> str:
    """Handle, date and kind, and of a long text its title and the sentence that has most words of the prompt."""
    memory = result.memory
    head, own = head_of(memory, result.state, when=day(memory.created)), said_by(memory)
    text = visible(one_line(titled(memory, own)))
    if len(text) > LINE_CHARACTERS:
        best = max(
            headed_sentences(memory.content), key=lambda sentence: len(words & set(tokenize(sentence))), default=own
        )
        text = cut_at_word(visible(one_line(titled(memory, best))), LINE_CHARACTERS)
    return f"{head}: {text}"


def project_in(folder: str | None) -> str | None:
    return os.path.basename(folder.rstrip("/\\")) or None if folder else None


# ── what a session leaves behind ──


class SessionEnd(Struct, frozen=True):
    turns: int  # that are new
    found: int
    judged: HookDecision


def session_ended(engine: Engine, told: HookInput, decisions: Sequence[HookDecision]) -> SessionEnd:
    """The transcript as turns, what was found out in it, and of the decisions of its hooks whether they were right."""
    from recallens.ingest.importers import MemoryLine, source_named
    from recallens.ingest.source_file import SourceFile

    if not told.transcript:
        raise InvalidInput("the program told of no transcript")
    source, path = source_named(told.client), Path(told.transcript).expanduser()
    if not path.is_file():  # a pipe would keep the program waiting
        raise InvalidInput("the transcript that the program told of is no file")
    lines = [entry for entry in source.read(SourceFile(path)) if isinstance(entry, MemoryLine)]
    # Some programs do not write down where they worked, but tell the hook.
    project = None if any(line.draft.project for line in lines) else project_in(told.folder)
    imported = engine.maintenance.imports.run(source.NAME, path, project=project)
    with suppress(EncoderError):  # words find it, and its vectors wait in the backlog
        engine.encoder.drain()
    judged = _judged(engine, decisions, told, lines)
    return SessionEnd(imported.imported, imported.found, judged)


def _judged(
    engine: Engine, decisions: Sequence[HookDecision], told: HookInput, lines: Sequence[MemoryLine]
) -> HookDecision:
    """Of every injection since the session was last judged whether anything of it was taken up, and of every silence
    whether the agent then asked the memory itself."""
    own = [each for each in decisions if each.session == told.session]
    last = max((at for at, each in enumerate(own) if each.event is HookEvent.SESSION_END), default=-1)
    asked = own[last + 1 :]
    spoken = [each for each in asked if each.memories]
    silences = [each for each in asked if not each.memories and each.event is HookEvent.PROMPT]
    known = engine.memories.many(id for each in spoken for id in each.memories)
    unused = sum(not _is_taken_up(each, known, lines) for each in spoken)
    prompts = sorted(each.at for each in asked if each.event is HookEvent.PROMPT)
    calls = [line.draft.created_ms or 0 for line in lines if _OWN_TOOL.search(line.draft.content)
             and line.draft.author == "tool"]  # fmt: skip
    missed = 0
    for silence in silences:
        until = next((at for at in prompts if at > silence.at), None)
        missed += any(silence.at <= call and (until is None or call < until) for call in calls)
    return HookDecision(
        engine.core.clock(), HookEvent.SESSION_END, told.client, told.session, given=len(spoken), unused=unused,
        silent=len(silences), missed=missed,
    )  # fmt: skip


def _is_taken_up(decision: HookDecision, known: Mapping[str, Memory], lines: Sequence[MemoryLine]) -> bool:
    later = [
        line.draft.content
        for line in lines
        if (line.draft.created_ms or 0) >= decision.at and line.draft.author != "user"
    ]
    log = work_log("", later)
    return any(evidence_of_use(known[id], log) is not None for id in decision.memories if id in known)
