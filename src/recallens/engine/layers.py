"""Progressive disclosure: a line or two of each memory, what came before and after one, full texts and logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.question import positive, within_limit
from recallens.engine.search import Search, held_to
from recallens.errors import InvalidInput, NotFound
from recallens.model.context import CERTIFICATE_TOKENS, HYPOTHESIS, TIMELINE_BUDGET, IndexEntry, TimelineEntry
from recallens.model.memory import Memory, RelationType, as_json
from recallens.model.query import MAX_LIMIT, SearchOptions
from recallens.model.recall import Recall, SearchResult, SessionSummary, Timeline
from recallens.model.salience import DAY_MS
from recallens.model.state import EVERYTHING, OPEN_SCOPES, MemoryState, Sight
from recallens.model.task import Task
from recallens.model.trust import BudgetClaim, claim_of
from recallens.recall.certificate import limited
from recallens.recall.states import states
from recallens.render.brief import ended_line
from recallens.render.details import Details, LinkedMemory
from recallens.render.formats import failures, visible
from recallens.render.layers import (
    RAISE,
    Surroundings,
    certificate_line,
    counted_record,
    fitted_lines,
    index_entry,
    index_record,
    silence_line,
    takes,
    timeline_entry,
    timeline_entry_record,
    turns_of_records,
)
from recallens.render.records import Record, brief_certificate, certificate_of, present, to_line
from recallens.render.times import more_line, time_line, time_of
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
# A line that is cut says at least this much.
_LEAST_SAID = 6
# What an ended note is called by, and what is told of a failure, where nothing answers.
_ENDED_TOKENS, _FAILED_TOKENS = 20, 24
NOTHING = "Nothing here answers this."
# Beside the likeliest, what is this likely belongs to the course of events that is asked for.
_OF_THE_COURSE = 0.4


class MemorySearch(Struct, frozen=True):
    """`entries` are in reading order: by utility, or, where the question asks for a course of events, what is likely in
    the order of time and then the rest.

    `max_tokens` holds the whole answer as it is sent, as text or as JSON: the best of the entries that fit.
    """

    recall: Recall
    entries: tuple[IndexEntry, ...]
    max_tokens: int | None = None
    nearest: Memory | None = None  # where nothing is likely to help
    left_out: int = 0  # entries for which there was no room

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
        return {
            "complexity": round(plan.get("complexity", 0.0), 4),
            "strategy": plan.get("strategy"),
            "resultCount": count,
            **present({"intent": plan.get("intent")}),
            "order": "chronological" if plan.get("inTime") else "utility",
            "widened": len(self.recall.ledger.notes("certificate")) > 1,
        }

    @property
    def _by_rank(self) -> list[int]:
        """The places of the entries, the best first."""
        return sorted(range(len(self.entries)), key=lambda at: self.recall.results[at].rank)

    def to_text(self) -> str:
        """A line or two for each memory, then the certificate; never more than `max_tokens`."""
        return self.fitted()[0]

    def fitted(self) -> tuple[str, list[int]]:
        """The text, and the places of the entries in it."""
        limit = self.max_tokens
        if limit is not None and not self.entries and self.recall.notice is None:
            sizes = range(min(CERTIFICATE_TOKENS, limit - 1), 0, -1)
            return next((text for size in sizes if takes(text := self._silence(size)) <= limit), ""), []
        wanted, lines = Wanted.of(self.recall.query.text), [entry.text for entry in self.entries]

        def shorter(at: int, room: int) -> str:
            entry = index_entry(self.recall.results[at], wanted, room=room)
            said = entry.summary.removeprefix(HYPOTHESIS)
            return entry.text if count_tokens(said) >= _LEAST_SAID else ""

        return fitted_lines(lines, self._by_rank, self._foot, limit, shorter, self.left_out, self._claims)

    @property
    def _claims(self) -> list[BudgetClaim]:
        return [claim_of(entry.state.zone, entry.relevance) for entry in self.entries]

    def _certificate(self, shown: Sequence[int]) -> Mapping[str, Any] | None:
        certificate = self.certificate
        if certificate is None or len(shown) == len(self.entries):
            return certificate
        return limited(certificate, [self.entries[at].id for at in shown])

    def _foot(self, shown: Sequence[int]) -> str:
        failed = failures(self.recall.degraded)
        time = self._time_line(shown)
        if self.entries:
            said = " ".join(filter(None, (failed, certificate_line(self._certificate(shown)))))
            return "\n".join(filter(None, (time, said)))
        if self.recall.notice is not None:
            return " ".join(filter(None, (failed, self.recall.notice)))
        return self._silence()

    def _silence(self, most: int = CERTIFICATE_TOKENS) -> str:
        """That nothing here answers, and what is nearest or has ended."""
        silence, ended, nearest = self.recall.silence, self.recall.ended, self.nearest
        failed = fit(failures(self.recall.degraded), _FAILED_TOKENS)[0]
        told, time = list(filter(None, (failed, NOTHING))), self._time_line(())
        if ended is not None:
            title = None if ended.title is None else fit(ended.title, _ENDED_TOKENS)[0]
            line = visible(ended_line(structs.replace(ended, title=title)))
            return silence_line(told, time=time, nearest=line, most=most)
        if silence is None or nearest is None:
            return silence_line(told, time=time, most=most)

        def excerpt(tokens: int) -> str:
            words = answering(nearest.content, self.recall.query.text, tokens=tokens)
            return fit(visible(one_line(words)), tokens)[0]

        likely = f" ({silence.relevance:.0%} likely to help)" if silence.least else ""
        return silence_line(
            told, time=time, nearest=f"Nearest{likely}: {nearest.handle}", excerpt=excerpt,
            missing=silence.missing if silence.least else (), most=most,
        )  # fmt: skip

    def _time_line(self, shown: Sequence[int]) -> str:
        """The time asked about; how many more are of it is said whatever has to be cut."""
        time = time_of(self.recall.ledger, unshown=len(self.entries) - len(shown) + self.left_out)
        more = more_line(time)
        line = visible(time_line(time)).removesuffix(more)
        return f"{fit(line, CERTIFICATE_TOKENS - count_tokens(more))[0]} {more}".strip()

    def to_json(self) -> Record:
        """The specification's fields. Where a limit leaves no room, the certificate and the metadata are cut to their
        numbers, then results go from the last on.
        """
        return self.fitted_record()[0]

    def fitted_record(self) -> tuple[Record, list[int]]:
        limit, silence, entries = self.max_tokens, self.recall.silence, self.entries
        costs = [0 if limit is None else takes(to_line(index_record(entry))) for entry in entries]
        order = turns_of_records(self._by_rank, self._claims, costs, limit)
        told: Record = {"notice": self.recall.notice, "silence": as_json(silence) if silence is not None else None}
        told["ended"] = as_json(self.recall.ended) if self.recall.ended is not None else None
        told["degraded"] = dict(self.recall.degraded) or None
        if silence is not None and self.nearest is not None:
            told["silence"]["nearest"] = self.nearest.handle
        handles = {entry.id: entry.handle for entry in self.entries}
        for count in range(len(order), -1, -1):
            shown = sorted(order[:count])
            results = [index_record(self.entries[at]) for at in shown]
            certificate, unshown = self._certificate(shown), len(order) - count + self.left_out
            for whole in (True, False):
                metadata = self.metadata(count) if whole else {"resultCount": count}
                if unshown:
                    metadata["leftOut"] = unshown
                    told |= {} if count else {"notice": RAISE}
                certified = brief_certificate(certificate, handles, whole=whole) if certificate else None
                time = {"time": time_of(self.recall.ledger, unshown=unshown)} if whole else {}
                record = {"results": results, "certificate": certified, "metadata": metadata, **present(told | time)}
                record = counted_record(record, metadata, "tokens", "estimatedTokens")
                if limit is None or takes(to_line(record)) <= limit:
                    return record, shown
        return {}, []


def in_time(results: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
    """What is likely to tell of a course of events in the order of time; then the rest, the best first."""
    best = max((result.relevance or 0.0 for result in results), default=0.0)
    course = [result for result in results if (result.relevance or 0.0) >= _OF_THE_COURSE * best]
    rest = [result for result in results if result not in course]
    return (*sorted(course, key=lambda result: (result.memory.created, result.memory.id)), *rest)


class MemoryTimeline(Struct, frozen=True):
    """Layer 2: the memory that was asked about, and what came within some days before and after it.

    `max_tokens` holds the answer as it is sent: what is nearest in time comes first.
    """

    anchor: TimelineEntry
    entries: tuple[TimelineEntry, ...]
    window: float
    max_tokens: int = TIMELINE_BUDGET

    def _nearest(self, count: int) -> list[TimelineEntry]:
        by_distance = sorted(self.entries, key=lambda entry: abs(entry.created - self.anchor.created))
        kept = {entry.id for entry in by_distance[:count]}
        return [entry for entry in self.entries if entry.id in kept]

    def to_text(self) -> str:
        for count in range(len(self.entries), -1, -1):
            text = self._text(self._nearest(count))
            if takes(text) <= self.max_tokens:
                return text
        return fit(f">> {self.anchor.text}", self.max_tokens - 1)[0]

    def _text(self, entries: Sequence[TimelineEntry]) -> str:
        at = sum(entry.created <= self.anchor.created and entry.relation != "after" for entry in entries)
        lines = [entry.text for entry in entries]
        lines.insert(at, f">> {self.anchor.text}")
        count = f"{len(self.entries)} {'memory' if len(self.entries) == 1 else 'memories'}"
        left = len(self.entries) - len(entries)
        told = f" {left} left out: raise tokens, or lower window." if left else ""
        return "\n".join([*lines, f"{count} within {self.window:g} days of {self.anchor.handle}.{told}"])

    def to_json(self) -> Record:
        for count in range(len(self.entries), -1, -1):
            left = len(self.entries) - count
            record: Record = {
                "observation_id": self.anchor.id, "window": self.window, "tokens": 0,
                "anchor": timeline_entry_record(self.anchor),
                "entries": list(map(timeline_entry_record, self._nearest(count))),
                **({"leftOut": left} if left else {}),
            }  # fmt: skip
            counted_record(record, record)
            if not count or takes(to_line(record)) <= self.max_tokens:
                break
        return record


class Layers:
    """The three layers in which an agent reads, each with handles that lead to the next and a measured cost."""

    def __init__(self, core: Core, search: Search) -> None:
        self._core = core
        self._search = search

    def search(
        self, text: str, *, max_tokens: int | None = None, json: bool = False, owner: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> MemorySearch:  # fmt: skip
        """Search as an agent does: a line or two of each memory, a certificate, one wider look if it says too little.

        Takes the options of `search`. `max_tokens` and `max_results` are the specification's budget: all that fits it
        as it is sent, as text or as `json`, is delivered and recorded.
        """
        if max_tokens is not None and options.get("tokens") is not None:
            raise InvalidInput("give max_tokens or tokens, not both: they are the same budget")
        max_tokens = options.pop("tokens", None) if max_tokens is None else positive("max_tokens", max_tokens)
        wide: SearchOptions = {"widen": True, **options}
        recall = self._search.recall(self._search.query(text, **wide))
        results = recall.results
        if _plan(recall).get("inTime"):
            results = in_time(results)
        wanted = Wanted.of(text)
        entries = tuple(index_entry(result, wanted) for result in results)
        nearest = recall.silence.nearest if recall.silence is not None else None
        found = MemorySearch(structs.replace(recall, results=results), entries, max_tokens, nearest)
        if max_tokens is not None and results:
            shown = (found.fitted_record() if json else found.fitted())[1]
            recall = held_to(recall, {entries[at].id for at in shown})
            if shown:
                results, left = tuple(results[at] for at in shown), len(entries) - len(shown)
                found = structs.replace(found, entries=tuple(entries[at] for at in shown), left_out=left)
        recorded = self._search.recorded(recall, record=options.get("record"), owner=owner)
        return structs.replace(found, recall=structs.replace(recorded, results=results))

    def states(self, memories: Iterable[Memory], *, namespace: str | None = None) -> dict[str, MemoryState]:
        """How memories stand, by id."""
        by_number = {memory.num: memory for memory in memories}
        with self._core.read(namespace) as reader:
            standing = states(reader, by_number, self._core.clock(), undecided=self._core.actor.decides)
        if len(by_number) == 1:
            (memory,) = by_number.values()
            standing = self._search.compared(standing, memory, namespace=namespace)
        return {by_number[num].id: state for num, state in standing.items()}

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
            standing = states(reader, memories, self._core.clock())
        sessions = {
            context.session.id: SessionSummary(context.session.id, context.session.started, context.session.summary)
            for context in (contexts[n] for n in nums if n in contexts)
        }
        standing = self._search.compared(standing, memories[num], memories.values(), namespace=namespace)
        earlier, later = (tuple(memories[n] for n in side) for side in (before, after))
        by_id = {memories[n].id: state for n, state in standing.items()}
        return Timeline(memories[num], earlier, later, sessions, by_id)

    def around(
        self,
        observation_id: str,
        *,
        window: float = WINDOW_DAYS,
        limit: int = ENTRIES_A_SIDE,
        tokens: int = TIMELINE_BUDGET,
        sight: Sight = EVERYTHING,
        namespace: str | None = None,
    ) -> MemoryTimeline:
        """What came within so many days before and after a memory in its project, in the order of time: what is nearest
        to it, in at most so many tokens.

        The memory that is asked about shows as `sight` has it; others whose text is withheld are left out for everyone.
        """
        if isinstance(window, bool) or not isinstance(window, int | float) or not 0 <= window <= MOST_DAYS:
            raise InvalidInput(f"window must be a number of days from 0 to {MOST_DAYS:,}, not {window!r}")
        limit, held = within_limit("limit", limit), OPEN_SCOPES | sight.scopes
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, observation_id)
            before, after = reader.memories.window(num, round(window * DAY_MS), limit, held)
            nums = [*before, num, *after]
            turns = reader.sessions.turns(nums, held)
            beside = {turn for _, *both in turns.values() for turn in both if turn is not None}
            memories = reader.memories.get(sorted({*nums, *beside}))
            sessions = reader.sessions.sources(nums)
            standing = states(reader, {n: memories[n] for n in nums}, self._core.clock(), scopes=sight.scopes)
        anchor = memories[num]
        beside_it = [memories[n] for n in nums]
        standing = self._search.compared(standing, anchor, beside_it, scopes=sight.scopes, namespace=namespace)
        entries = {}
        for n in nums:
            _, previous, following = turns.get(n, ("", None, None))
            around = Surroundings(
                session=sessions.get(n),
                previous=memories[previous] if previous is not None else None,
                following=memories[following] if following is not None else None,
            )
            shown = sight.shown(memories[n]) if n == num else memories[n]
            if shown is not memories[n]:
                around = Surroundings()
            entries[n] = timeline_entry(shown, anchor, sight.stands(memories[n], standing[n]), around)
        return MemoryTimeline(
            entries[num], tuple(entries[n] for n in nums if n != num), window, positive("tokens", tokens)
        )

    def details(
        self, id: str, *, tokens: int | None = None, full: bool = False, limit: int = ENTRIES_SHOWN,
        match: str | None = None, offset: int = 0, sight: Sight = EVERYTHING, namespace: str | None = None,
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
            by_number, at = {each.num: each for each in own}, self._core.clock()
            standing = states(reader, by_number, at, scopes=sight.scopes, undecided=sight.everything)
            linked, course = self._surroundings(reader, own[0], sight) if len(own) == 1 else ([], [])
            related = _related(reader, task) if task is not None else []
            checks = reader.citations.checks([each.num for each in own if each.citations])
            made_of = reader.lineage.of([each.num for each in own])
        if len(own) == 1:
            standing = self._search.compared(standing, own[0], scopes=sight.scopes, namespace=namespace)
        shown = [sight.shown(each) for each in own]
        hidden = [each.num for each, seen in zip(own, shown, strict=True) if seen is not each]
        for num in hidden:
            checks.pop(num, None)
            made_of.pop(num, None)
        if hidden and memory is not None:
            task, linked, course, artifacts, related, total = None, [], [], [], [], 1
        return Details(
            about=memory.id if memory is not None else task.id if task is not None else id,
            memories=tuple(shown),
            states=tuple(sight.stands(each, standing[each.num]) for each in own),
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
            made_of=made_of,
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

    def _surroundings(self, reader: Reader, memory: Memory, sight: Sight) -> tuple[list[LinkedMemory], list[Memory]]:
        """What a memory is linked to, in the direction that holds, and the course of its session."""
        ties = [tie for tie in reader.relations.of(memory.num) if tie.source != tie.target]
        # A proposal that was decided on says nothing any longer.
        ties = [tie for tie in ties if tie.type is not RelationType.MAY_SUPERSEDE or tie.valid_until is None]
        ends = reader.memories.find(sorted({end for tie in ties for end in (tie.source, tie.target)} - {memory.id}))
        turns = reader.sessions.course(memory.num, TURNS_AROUND, OPEN_SCOPES | sight.scopes)
        known = reader.memories.get([*turns, *ends.values()])
        linked, beside = [], Sight(sight.scopes)
        for tie in ties:
            outward = tie.source == memory.id
            other = known[ends[tie.target if outward else tie.source]]
            linked.append(LinkedMemory(tie.type, outward, beside.shown(other), beside.withholds(other)))
        return linked, [known[turn] for turn in turns]


def _related(reader: Reader, task: Task) -> list[str]:
    """The handles of the task's own memories, then of what it used; its episode first, for it sums up the rest."""
    nums = dict.fromkeys([*reader.tasks.memories([task.id]), *reader.tasks.uses(task.id)])
    episode = list(reader.memories.find([task.episode]).values()) if task.episode is not None else []
    return [f"m{num}" for num in dict.fromkeys([*(num for num in episode if num in nums), *nums])]


def _plan(recall: Recall) -> Mapping[str, Any]:
    plans = recall.ledger.notes("plan")
    return plans[-1] if plans else {}
