"""Progressive disclosure: short summaries, then the course of events around a memory, then full texts and logs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.question import positive, within_limit
from recallens.engine.search import Search
from recallens.errors import InvalidInput, NotFound
from recallens.model.citation import Citation, LogCitation, TerminalCitation
from recallens.model.context import INDEX_TOKENS, IndexEntry, TimelineEntry
from recallens.model.memory import Artifact, Memory, Status, Zone
from recallens.model.plan import Intent
from recallens.model.query import MAX_LIMIT, SearchOptions
from recallens.model.recall import Recall, SessionSummary, Timeline
from recallens.model.salience import DAY_MS
from recallens.model.task import DetailEntry, Details, Task
from recallens.recall.gates import ONLY_HERE
from recallens.recall.question import estimated_tokens
from recallens.render.layers import OVER, Surroundings, index_entry, index_record, timeline_entry
from recallens.render.records import certificate_of, present
from recallens.store.protocols import Reader
from recallens.text.normalize import clean
from recallens.text.sentences import cut_at_word, sentences
from recallens.text.token_count import SLICE, count_tokens, estimate_tokens

# With its id, metadata, citations and related ids, an entry of this much content is about 500 tokens in all.
CONTENT_TOKENS = 400
# Ids are long: this many fit beside the content. The task says how many there are.
RELATED_SHOWN = 3
ENTRIES_SHOWN = 20
# No text has more characters to a token than this, runs of blanks aside.
_CHARACTERS_A_TOKEN = 12
# Turns of a memory's session to each side that may stand beside it, and what marks the memory among them.
TURNS_AROUND = 30
MARK_HERE = ">> "
# Past this a text is counted by estimate: an exact count of megabytes takes seconds.
_COUNTED_EXACTLY = 16 * SLICE
WINDOW_DAYS = 7
ENTRIES_A_SIDE = 10
MOST_DAYS = 36_500


class MemorySearch(Struct, frozen=True):
    """`entries` are in reading order: by utility, or in time where the question asks what happened."""

    recall: Recall
    entries: tuple[IndexEntry, ...]

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        return certificate_of(self.recall.ledger)

    @property
    def tokens(self) -> int:
        return sum(entry.tokens for entry in self.entries)

    def metadata(self) -> dict[str, Any]:
        """The specification's, for a question that was planned."""
        plan, count = _plan(self.recall), len(self.entries)
        score = plan.get("complexity", 0.0)
        return {
            "complexity": score,
            "strategy": plan.get("strategy"),
            "resultCount": count,
            "estimatedTokens": estimated_tokens(count, score),
            "intent": plan.get("intent"),
            "order": "chronological" if plan.get("intent") == Intent.WHAT_HAPPENED else "utility",
            "widened": len(self.recall.ledger.notes("certificate")) > 1,
            "tokens": self.tokens,
        }

    def to_json(self) -> dict[str, Any]:
        answer = {
            "results": [index_record(entry) for entry in self.entries],
            "certificate": self.certificate,
            "metadata": self.metadata(),
        }
        return answer if self.recall.notice is None else {**answer, "notice": self.recall.notice}


TIMELINE_DEPTH = 5


class Layers:
    """The three layers in which an agent reads, each with ids that lead to the next and a measured cost."""

    def __init__(self, core: Core, search: Search) -> None:
        self._core = core
        self._search = search

    def search(
        self, text: str, *, max_tokens: int | None = None, owner: str | None = None, **options: Unpack[SearchOptions]
    ) -> MemorySearch:
        """Search as an agent does: short summaries, a certificate, and one wider look if it says too little.

        Takes the options of `search`. `max_tokens` and `max_results` are the specification's budget.
        """
        if max_tokens is not None and options.get("tokens") is not None:
            raise InvalidInput("give max_tokens or tokens, not both: they are the same budget")
        if max_tokens is not None:
            options |= {"tokens": max_tokens, "item_tokens": int(INDEX_TOKENS * OVER)}
        wide: SearchOptions = {"widen": True, **options}
        recall = self._search.search(text, owner=owner, **wide)
        results = recall.results
        if _plan(recall).get("intent") == Intent.WHAT_HAPPENED:
            results = tuple(sorted(results, key=lambda result: (result.memory.created, result.memory.id)))
        return MemorySearch(structs.replace(recall, results=results), tuple(map(index_entry, results)))

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
        namespace: str | None = None,
    ) -> tuple[TimelineEntry, ...]:
        """What came within so many days before and after a memory in its project, in the order of time."""
        if isinstance(window, bool) or not isinstance(window, int | float) or not 0 <= window <= MOST_DAYS:
            raise InvalidInput(f"window must be a number of days from 0 to {MOST_DAYS:,}, not {window!r}")
        limit = within_limit("limit", limit)
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, observation_id)
            before, after = reader.memories.window(num, round(window * DAY_MS), limit, ONLY_HERE)
            nums = [*before, *after]
            turns = reader.sessions.turns(nums, ONLY_HERE)
            beside = {turn for _, *both in turns.values() for turn in both if turn is not None}
            memories = reader.memories.get(sorted({num, *nums, *beside}))
            sessions = reader.sessions.sources(nums)
            tasks = sorted({task for n in nums if (task := memories[n].task) is not None})
            outcomes = reader.tasks.outcomes(tasks)
        entries = []
        for n in nums:
            memory = memories[n]
            _, previous, following = turns.get(n, (None, None, None))
            around = Surroundings(
                session=sessions.get(n),
                previous=memories[previous] if previous is not None else None,
                following=memories[following] if following is not None else None,
                outcome=outcomes.get(memory.task) if memory.task is not None else None,
            )
            entries.append(timeline_entry(memory, memories[num], around))
        return tuple(entries)

    def details(
        self, id: str, *, tokens: int | None = None, full: bool = False, limit: int = ENTRIES_SHOWN,
        namespace: str | None = None,
    ) -> Details:  # fmt: skip
        """By a task's id, or by a memory's: the logs of its task, or, where there are none, the memory itself."""
        room = None if full else CONTENT_TOKENS if tokens is None else positive("tokens", tokens)
        if not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be from 1 to {MAX_LIMIT:,}, not {limit}")
        with self._core.reading(namespace) as reader:
            task = reader.tasks.get(clean(id).strip())
            memory = None
            if task is None:
                try:
                    num, memory = self._core.memory(reader, id)
                except NotFound as error:
                    raise NotFound(
                        f"no task and no memory {id!r} in this namespace",
                        hint="`recallens task list` and `recallens list` show ids.",
                    ) from error
                task = reader.tasks.get(memory.task) if memory.task is not None else None
            kinds = reader.tasks.artifact_kinds(task.id) if task is not None else []
            if task is not None and kinds:
                related = _related(reader, task)
                artifacts = reader.tasks.artifacts([task.id], chars=-1, limit=limit)
                entries = [_of_artifact(artifact, task, related, room) for artifact in artifacts]
                return Details(task.id if memory is None else memory.id, tuple(entries), len(kinds), task, related)
            if memory is None and task is not None and task.episode is None:
                related = _related(reader, task)
                own = reader.memories.get(reader.tasks.memories([task.id])[:limit]).values()
                entries = [_of_memory(each, [id for id in related if id != each.id], room) for each in own]
                return Details(task.id, tuple(entries), len(related), task, related)
            if memory is None and task is not None and task.episode is not None:
                num, memory = self._core.memory(reader, task.episode)
            assert memory is not None
            far = [
                (tie.type, tie.target if tie.source == memory.id else tie.source) for tie in reader.relations.of(num)
            ]
            others = tuple(dict.fromkeys(end for _, end in far if end != memory.id))
            nums = reader.sessions.course(num, TURNS_AROUND, ONLY_HERE)
            ends = reader.memories.find(others)
            known = reader.memories.get([*nums, *ends.values()])
        linked = [(relation, known[ends[end]]) for relation, end in far if end in ends]
        shown = [(relation, other) for relation, other in linked if _may_show(other)]
        entry = _of_turn(memory, [known[turn] for turn in nums] or [memory], shown, others, room)
        return Details(memory.id, (entry,), 1, task, others)


def _related(reader: Reader, task: Task) -> tuple[str, ...]:
    """The task's own memories, then what it used; its episode first, for it sums up the rest."""
    nums = [*reader.tasks.memories([task.id]), *reader.tasks.uses(task.id)]
    ids = reader.memories.ids(nums)
    first = [task.episode] if task.episode in ids.values() and task.episode is not None else []
    return tuple(dict.fromkeys([*first, *(ids[num] for num in nums)]))


def _may_show(memory: Memory) -> bool:
    blocked = (Status.FORGOTTEN, Status.REJECTED, Status.QUARANTINED)
    return memory.status not in blocked and memory.zone is not Zone.QUARANTINE and ONLY_HERE not in memory.scopes


def _of_artifact(artifact: Artifact, task: Task, related: Sequence[str], room: int | None) -> DetailEntry:
    itself: Citation = LogCitation(artifact.id) if artifact.kind == "log" else TerminalCitation(artifact.id)
    metadata = {
        "kind": artifact.kind, "task": task.id, "createdAt": artifact.created, "reward": task.reward,
        "projectId": task.project, "session": task.session,
    }  # fmt: skip
    return _entry(artifact.id, artifact.content, metadata, (itself,), related, room)


def _of_memory(memory: Memory, related: Sequence[str], room: int | None) -> DetailEntry:
    metadata = {
        "kind": memory.kind, "task": memory.task, "createdAt": memory.created, "reward": memory.reward,
        "projectId": memory.project, "title": memory.title, **memory.attributes,
    }  # fmt: skip
    return _entry(memory.id, memory.content, metadata, memory.citations, related, room)


def _of_turn(
    memory: Memory, course: Sequence[Memory], linked: Sequence[tuple[str, Memory]], related: Sequence[str],
    room: int | None,
) -> DetailEntry:  # fmt: skip
    """A memory as it was taken down: itself, marked, in the course of its session, and what it is linked to."""
    whole = _of_memory(memory, related, room)
    here = next((at for at, turn in enumerate(course) if turn.id == memory.id), 0)
    shown = {here: _line(memory, memory)}
    spent = count_tokens(shown[here])
    # One before, one after, and so on; an end that is reached leaves the other side going.
    outwards = [step for far in range(1, len(course)) for step in (here - far, here + far) if 0 <= step < len(course)]
    for step in outwards:
        line = _line(course[step], memory)
        cost = count_tokens(line) + 1
        if room is not None and spent + cost > room:
            break
        shown[step], spent = line, spent + cost
    lines = [shown[step] for step in sorted(shown)]
    turns = len(lines)
    for relation, other in linked:
        line = f"{relation} {other.id}: {other.content}"
        cost = count_tokens(line) + 1
        if room is None or spent + cost <= room:
            lines.append(line)
            spent += cost
    if len(lines) == 1:
        return whole
    metadata = {**whole.metadata, "turns": turns, "linked": len(lines) - turns, "marked": MARK_HERE.strip()}
    text = "\n".join(lines)
    return DetailEntry(memory.id, text, metadata, memory.citations, whole.related, count_tokens(text))


def _line(turn: Memory, memory: Memory) -> str:
    by = f"{turn.author}: " if turn.author else ""
    return f"{MARK_HERE if turn.id == memory.id else ''}{by}{turn.content}"


def _entry(
    id: str, content: str, metadata: dict[str, Any], citations: tuple[Citation, ...], related: Sequence[str],
    room: int | None,
) -> DetailEntry:  # fmt: skip
    metadata = present(metadata)
    if len(related) > RELATED_SHOWN and room is not None:
        metadata["relatedCount"] = len(related)
        related = related[:RELATED_SHOWN]
    total = count_tokens(content) if len(content) <= _COUNTED_EXACTLY else estimate_tokens(content)
    if room is None or total <= room:
        return DetailEntry(id, content, metadata, citations, tuple(related), total)
    shown = held_to(content, room)
    used = count_tokens(shown)
    return DetailEntry(id, shown, metadata, citations, tuple(related), used, max(total - used, 1))


def held_to(text: str, tokens: int) -> str:
    """The longest beginning within so many tokens that ends a line or a sentence; a word, where neither fits."""
    head = text[: tokens * _CHARACTERS_A_TOKEN]
    ends = sorted({at for at in _ends(head) if head[:at].strip()})
    low = bisect_right(ends, tokens, key=lambda end: count_tokens(head[:end]))
    if low:
        return head[: ends[low - 1]].rstrip()
    size = len(head)
    while size > 1 and count_tokens(cut_at_word(head, size)) > tokens:
        size = size * 3 // 4
    return cut_at_word(head, size)


def _ends(text: str) -> Iterator[int]:
    yield from (at for at, character in enumerate(text) if character == "\n")
    at = 0
    for sentence in sentences(text)[:-1]:  # the last one may have been cut by the head
        at = text.index(sentence, at) + len(sentence)
        yield at


def _plan(recall: Recall) -> Mapping[str, Any]:
    plans = recall.ledger.notes("plan")
    return plans[-1] if plans else {}
