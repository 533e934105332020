"""Progressive disclosure: a line or two of each memory, what came before and after one, full texts and logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.question import positive, within_limit
from recallens.engine.search import Search
from recallens.errors import InvalidInput, NotFound
from recallens.model.context import CERTIFICATE_TOKENS, LONGEST_LINE, IndexEntry, TimelineEntry
from recallens.model.memory import Memory, as_json
from recallens.model.plan import Intent
from recallens.model.query import MAX_LIMIT, SearchOptions
from recallens.model.recall import Recall, SessionSummary, Timeline
from recallens.model.salience import DAY_MS
from recallens.model.state import ONLY_HERE, withheld
from recallens.model.task import Task
from recallens.recall.question import estimated_tokens
from recallens.recall.states import states
from recallens.render.details import Details, LinkedMemory
from recallens.render.formats import visible
from recallens.render.layers import (
    Surroundings,
    certificate_line,
    counted_record,
    fitted_lines,
    index_entry,
    index_record,
    timeline_entry,
    timeline_entry_record,
)
from recallens.render.records import Record, certificate_of, present, to_line
from recallens.store.protocols import Reader
from recallens.text.excerpt import Wanted, answering
from recallens.text.normalize import clean
from recallens.text.token_count import count_tokens, fit, one_line

ENTRIES_SHOWN = 20
# Turns of a memory's session to each side that may stand beside it.
TURNS_AROUND = 30
WINDOW_DAYS = 7
ENTRIES_A_SIDE = 10
MOST_DAYS = 36_500
TIMELINE_DEPTH = 5
# Of a caller's limit, at most this share is kept for the certificate.
_CERTIFICATE_SHARE = 4
# What is shown of the nearest memory where nothing is likely to help.
_NEAREST_TOKENS = 24
# What a result costs at most in a budget: its line, and what the frame of the pipeline's budget counts beside it.
_FRAME = 6
NOTHING = "Nothing here answers this."


class MemorySearch(Struct, frozen=True):
    """`entries` are in reading order: by utility, or in time where the question asks what happened.

    `max_tokens` holds the whole answer as it is sent, as text or as JSON.
    """

    recall: Recall
    entries: tuple[IndexEntry, ...]
    max_tokens: int | None = None
    nearest: Memory | None = None  # where nothing is likely to help

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        return certificate_of(self.recall.ledger)

    @property
    def tokens(self) -> int:
        """What the answer costs as text."""
        return count_tokens(self.to_text())

    def metadata(self, shown: int | None = None) -> dict[str, Any]:
        """The specification's, for a question that was planned."""
        plan, count = _plan(self.recall), len(self.entries) if shown is None else shown
        score = plan.get("complexity", 0.0)
        return {
            "complexity": score,
            "strategy": plan.get("strategy"),
            "resultCount": count,
            "estimatedTokens": estimated_tokens(count, score),
            "intent": plan.get("intent"),
            "order": "chronological" if plan.get("intent") == Intent.WHAT_HAPPENED else "utility",
            "widened": len(self.recall.ledger.notes("certificate")) > 1,
        }

    def to_text(self) -> str:
        """A line or two for each memory, then the certificate; never more than `max_tokens`."""
        wanted = Wanted.of(self.recall.query.text)

        def shorter(at: int, room: int) -> str:
            return index_entry(self.recall.results[at], wanted, room=room).text

        return fitted_lines([entry.text for entry in self.entries], self._foot(), self.max_tokens, shorter)

    def _foot(self) -> str:
        certificate = certificate_line(self.certificate)
        if self.entries:
            return certificate
        if self.recall.notice is not None:
            return self.recall.notice
        silence, told = self.recall.silence, [NOTHING]
        if silence is not None and self.nearest is not None:
            words = answering(self.nearest.content, self.recall.query.text, tokens=_NEAREST_TOKENS)
            words = fit(visible(one_line(words)), _NEAREST_TOKENS)[0]
            told.append(f"Nearest ({silence.relevance:.0%} likely to help): {self.nearest.handle} {words}")
            if silence.missing:
                told.append(f"Missing: {', '.join(map(visible, silence.missing))}.")
        return fit(" ".join(told), CERTIFICATE_TOKENS)[0]

    def to_json(self) -> Record:
        """The specification's fields. Where a limit leaves no room, the certificate is cut to its numbers, then results
        go from the last on.
        """
        entries, limit = list(map(index_record, self.entries)), self.max_tokens
        certificate, silence = self.certificate, self.recall.silence
        told = {"notice": self.recall.notice, "silence": as_json(silence) if silence is not None else None}
        if silence is not None and self.nearest is not None:
            told["silence"]["nearest"] = self.nearest.handle  # type: ignore[index]
        brief = present({
            name: certificate.get(name) for name in ("completenessScore", "redundancyRatio")
        }) if certificate else None  # fmt: skip

        def record(shown: int, certificate: Any, extent: int) -> Record:
            answer = {"results": entries[:shown], "certificate": certificate}
            if extent < 1:
                return answer
            metadata = self.metadata(shown) if extent > 1 else {"resultCount": shown}
            if shown < len(entries):
                metadata["leftOut"] = len(entries) - shown
            return counted_record({**answer, "metadata": metadata, **present(told)}, metadata)

        every = len(entries)
        tries = [(every, certificate, 2), (every, brief, 2)]
        tries += [(shown, brief, extent) for shown in range(every, -1, -1) for extent in (2, 1, 0)]
        for attempt in tries if limit is not None else tries[:1]:
            answer = record(*attempt)
            if limit is None or count_tokens(f"{to_line(answer)}\n") <= limit:
                return answer
        return {}


class MemoryTimeline(Struct, frozen=True):
    """Layer 2: the memory that was asked about, and what came within some days before and after it."""

    anchor: TimelineEntry
    entries: tuple[TimelineEntry, ...]
    window: float

    def to_text(self) -> str:
        at = sum(entry.created <= self.anchor.created and entry.relation != "after" for entry in self.entries)
        lines = [entry.text for entry in self.entries]
        lines.insert(at, f">> {self.anchor.text}")
        count = f"{len(self.entries)} {'memory' if len(self.entries) == 1 else 'memories'}"
        return "\n".join([*lines, f"{count} within {self.window:g} days of {self.anchor.handle}."])

    def to_json(self) -> Record:
        record: Record = {
            "observation_id": self.anchor.id, "window": self.window, "tokens": 0,
            "anchor": timeline_entry_record(self.anchor), "entries": list(map(timeline_entry_record, self.entries)),
        }  # fmt: skip
        return counted_record(record, record)


class Layers:
    """The three layers in which an agent reads, each with handles that lead to the next and a measured cost."""

    def __init__(self, core: Core, search: Search) -> None:
        self._core = core
        self._search = search

    def search(
        self, text: str, *, max_tokens: int | None = None, owner: str | None = None, **options: Unpack[SearchOptions]
    ) -> MemorySearch:
        """Search as an agent does: a line or two of each memory, a certificate, one wider look if it says too little.

        Takes the options of `search`. `max_tokens` and `max_results` are the specification's budget.
        """
        if max_tokens is not None and options.get("tokens") is not None:
            raise InvalidInput("give max_tokens or tokens, not both: they are the same budget")
        if max_tokens is not None:
            kept = min(CERTIFICATE_TOKENS, positive("max_tokens", max_tokens) // _CERTIFICATE_SHARE)
            room = max(max_tokens - kept, 1)
            options |= {"tokens": room, "item_tokens": max(min(LONGEST_LINE, room - _FRAME), 1)}
        wide: SearchOptions = {"widen": True, **options}
        recall = self._search.search(text, owner=owner, **wide)
        results = recall.results
        if _plan(recall).get("intent") == Intent.WHAT_HAPPENED:
            results = tuple(sorted(results, key=lambda result: (result.memory.created, result.memory.id)))
        wanted = Wanted.of(text)
        entries = tuple(index_entry(result, wanted) for result in results)
        nearest = recall.silence.nearest if recall.silence is not None else None
        return MemorySearch(structs.replace(recall, results=results), entries, max_tokens, nearest)

    def timeline(
        self,
        anchor: str,
        depth_before: int = TIMELINE_DEPTH,
        depth_after: int = TIMELINE_DEPTH,
        *,
        namespace: str | None = None,
    ) -> Timeline:
        """What came before and after a memory in its project, with the session of each."""
        for name, depth in (("before", depth_before), ("after", depth_after)):
            if not 0 <= depth <= MAX_LIMIT:
                raise InvalidInput(f"{name} must be from 0 to {MAX_LIMIT:,}, not {depth}")
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, anchor)
            before, after = reader.memories.around(num, depth_before, depth_after)
            nums = [*before, num, *after]
            memories, contexts = reader.memories.get(nums), reader.sessions.contexts(nums)
        sessions = {
            context.session.id: SessionSummary(context.session.id, context.session.started, context.session.summary)
            for context in (contexts[n] for n in nums if n in contexts)
        }
        return Timeline(memories[num], tuple(memories[n] for n in before), tuple(memories[n] for n in after), sessions)

    def around(
        self,
        observation_id: str,
        *,
        window: float = WINDOW_DAYS,
        limit: int = ENTRIES_A_SIDE,
        everything: bool = True,
        namespace: str | None = None,
    ) -> MemoryTimeline:
        """What came within so many days before and after a memory in its project, in the order of time.

        Where not `everything` may be seen, the memory's own text is left out if it is withheld. Others' always is.
        """
        if isinstance(window, bool) or not isinstance(window, int | float) or not 0 <= window <= MOST_DAYS:
            raise InvalidInput(f"window must be a number of days from 0 to {MOST_DAYS:,}, not {window!r}")
        limit = within_limit("limit", limit)
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, observation_id)
            before, after = reader.memories.window(num, round(window * DAY_MS), limit, ONLY_HERE)
            nums = [*before, num, *after]
            turns = reader.sessions.turns(nums, ONLY_HERE)
            beside = {turn for _, *both in turns.values() for turn in both if turn is not None}
            memories = reader.memories.get(sorted({*nums, *beside}))
            sessions = reader.sessions.sources(nums)
            standing = states(reader, {n: memories[n] for n in nums}, self._core.clock())
        anchor = memories[num]
        entries = {}
        for n in nums:
            _, previous, following = turns.get(n, ("", None, None))
            around = Surroundings(
                session=sessions.get(n),
                previous=memories[previous] if previous is not None else None,
                following=memories[following] if following is not None else None,
            )
            if n == num and not everything and standing[n].withheld is not None:
                around, shown = Surroundings(), _without_text(memories[n])
            else:
                shown = memories[n]
            entries[n] = timeline_entry(shown, anchor, standing[n], around)
        return MemoryTimeline(entries[num], tuple(entries[n] for n in nums if n != num), window)

    def details(
        self, id: str, *, tokens: int | None = None, full: bool = False, limit: int = ENTRIES_SHOWN,
        match: str | None = None, offset: int = 0, everything: bool = True, namespace: str | None = None,
    ) -> Details:  # fmt: skip
        """A memory with its state, lineage and citations, and the logs of its task; or a task and what it left.

        `tokens` holds the whole answer; without it each entry has about 500, or all that there is where it is `full`.
        Of a log that does not fit, head and tail are shown and the lines that `match`; `offset` skips so many lines.
        """
        most = None if tokens is None else positive("tokens", tokens)
        if not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be from 1 to {MAX_LIMIT:,}, not {limit}")
        if offset < 0:
            raise InvalidInput(f"offset must be 0 or more, not {offset}")
        with self._core.reading(namespace) as reader:
            task, memory = self._target(reader, id)
            own = [memory] if memory is not None else []
            if task is not None and memory is None:
                episode = [task.episode] if task.episode is not None else []
                own_nums = reader.memories.find(episode).values() if episode else reader.tasks.memories([task.id])
                own = list(reader.memories.get(list(own_nums)[:limit]).values())
            artifacts = reader.tasks.artifacts([task.id], chars=-1, limit=limit) if task is not None else []
            total = len(own) + (len(reader.tasks.artifact_kinds(task.id)) if task is not None else 0)
            standing = states(reader, {each.num: each for each in own}, self._core.clock())
            linked, course = self._surroundings(reader, own[0]) if len(own) == 1 else ([], [])
            related = _related(reader, task) if task is not None else []
            checks = reader.citations.checks([each.num for each in own if each.citations])
        shown = [each if everything or standing[each.num].withheld is None else _without_text(each) for each in own]
        if own and shown[0] is not own[0]:
            course = []
        return Details(
            about=memory.id if memory is not None else task.id if task is not None else id,
            memories=tuple(shown),
            states=tuple(standing[each.num] for each in own),
            checks={num: check.standing for num, check in checks.items()},
            linked=tuple(linked),
            course=tuple(course),
            artifacts=tuple(artifacts),
            related=tuple(related),
            total=total,
            task=task,
            max_tokens=most,
            full=full,
            match=match,
            offset=offset,
        )

    def _target(self, reader: Reader, id: str) -> tuple[Task | None, Memory | None]:
        """The task or the memory that is named, and the task of the memory."""
        task = reader.tasks.get(clean(id).strip())
        if task is not None:
            return task, None
        try:
            memory = self._core.memory(reader, id)[1]
        except NotFound as error:
            raise NotFound(
                f"no task and no memory {id!r} in this namespace",
                hint="`recallens task list` and `recallens list` show them.",
            ) from error
        return reader.tasks.get(memory.task) if memory.task is not None else None, memory

    def _surroundings(self, reader: Reader, memory: Memory) -> tuple[list[LinkedMemory], list[Memory]]:
        """What a memory is linked to, in the direction that holds, and the course of its session."""
        ties = [tie for tie in reader.relations.of(memory.num) if tie.source != tie.target]
        ends = reader.memories.find(sorted({end for tie in ties for end in (tie.source, tie.target)} - {memory.id}))
        turns = reader.sessions.course(memory.num, TURNS_AROUND, ONLY_HERE)
        known = reader.memories.get([*turns, *ends.values()])
        linked = []
        for tie in ties:
            outward = tie.source == memory.id
            other = known[ends[tie.target if outward else tie.source]]
            reason = withheld(other)
            linked.append(LinkedMemory(tie.type, outward, other if reason is None else _without_text(other), reason))
        return linked, [known[turn] for turn in turns]


def _without_text(memory: Memory) -> Memory:
    """A memory as one sees it who may not see its text: that it is there, and what it is."""
    return structs.replace(
        memory, content="", title=None, summary=None, tags=(), citations=(), attributes={}, author=None
    )


def _related(reader: Reader, task: Task) -> list[str]:
    """The handles of the task's own memories, then of what it used; its episode first, for it sums up the rest."""
    nums = dict.fromkeys([*reader.tasks.memories([task.id]), *reader.tasks.uses(task.id)])
    episode = list(reader.memories.find([task.episode]).values()) if task.episode is not None else []
    return [f"m{num}" for num in dict.fromkeys([*(num for num in episode if num in nums), *nums])]


def _plan(recall: Recall) -> Mapping[str, Any]:
    plans = recall.ledger.notes("plan")
    return plans[-1] if plans else {}
