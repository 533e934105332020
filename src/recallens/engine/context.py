"""A context for a task: one ordinary recall, one selection within the budget, one record of what was injected."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.question import positive
from recallens.engine.search import Search
from recallens.errors import InvalidInput, StoreError
from recallens.model.context import MORE_TOKENS, Context, Item, Purchase, SectionName, TokenBudget, allocation
from recallens.model.memory import Kind, Memory, Status
from recallens.model.query import DEFAULT_TOKENS, Query
from recallens.model.recall import Recall, SearchResult
from recallens.model.snapshot import snapshot_id
from recallens.model.state import Verified, withheld
from recallens.recall.context import Selection, code_names, section_of, select
from recallens.render.context import (
    NOTHING,
    block,
    closing,
    doubt_of,
    excerpted,
    header,
    heading,
    item_of,
    mark_for,
    opening,
    quoted,
    quoted_memory,
    shortened,
)
from recallens.render.markup import plain_text
from recallens.store.records import Listing
from recallens.text.annotation import annotate
from recallens.text.excerpt import Wanted
from recallens.text.token_count import budget_tokens, count_tokens

# Memories that are looked at: more than any usual budget has room for.
MOST_MEMORIES = 50
MOST_PRINCIPLES = 100
MOST_CONSTITUTION_BYTES = 1024 * 1024
# What does not fit so many tokens fits none.
_ALL = 16 * DEFAULT_TOKENS


# What a surface sends of a context.
Sent = Callable[[Context], str]


class Candidates(Struct, frozen=True):
    """What the constitution and the recall bring, before any choice. `mark` occurs in none of the texts."""

    mark: str
    constitution: Sequence[Item]
    memories: Sequence[tuple[SectionName, Item]]
    recall: Recall

    def choose(self, total: int) -> Selection:
        """Within the total, by the cost of each part."""
        frame = count_tokens(opening(self.mark)) + count_tokens(closing(self.mark, doubt_of(self.recall)))
        headings = {name: count_tokens(heading(self.mark, name)) for name in SectionName}
        wanted = Wanted.of(self.recall.query.text)
        results = {result.memory.id: result for result in self.recall.results}

        def excerpt(item: Item, tokens: int) -> Item | None:
            return excerpted(item, results[item.name], wanted, tokens)

        return select(
            self.constitution, self.memories, total=total, frame=frame, headings=headings, cut=shortened,
            excerpt=excerpt,
        )  # fmt: skip


class ContextBuilder:
    """Builds the block of text that an agent gets for a task."""

    def __init__(self, core: Core, search: Search) -> None:
        self._core = core
        self._search = search

    def build(
        self,
        work: str,
        tokens: int = DEFAULT_TOKENS,
        *,
        constitution: str | Path | None = None,
        record: bool | None = None,
        owner: str | None = None,
        sent: Sent = attrgetter("block"),
        **options: Any,
    ) -> Context:
        """What an agent should know for a piece of work, delimited as data, and what was left out.

        `sent` gives the text that the caller will send of it: that is what holds to the tokens. The options are those
        of a search that say who asks and where: namespace, project, session, task, files, scopes …
        """
        tokens = positive("tokens", tokens)
        wrong = sorted(options.keys() - _OPTIONS)
        if wrong:
            raise InvalidInput(
                f"unknown option {wrong[0]!r} of a context; the options are: {', '.join(sorted(_OPTIONS))}"
            )
        query = self._search.query(work, **options, limit=MOST_MEMORIES, widen=True)
        gathered = self._gather(query, constitution if constitution is not None else self._core.settings.constitution)
        records = self._search.records(record)

        def fitted(total: int, silent: bool = False) -> Context | None:
            """The largest selection that does not exceed the total as sent, each attempt with room for less; None where
            that tells of none of the memories that there are, unless it may be `silent`.
            """
            room = total
            while True:
                context = _composed(gathered, gathered.choose(room), total, query.text, records=records)
                text = sent(context)
                used = budget_tokens(text)
                if used <= total:
                    return context if silent or _tells(context, text) else None
                if not context.items:
                    return None
                room = min(room, count_tokens(context.block)) - (used - total)

        context = fitted(tokens)
        if context is None:
            least = _least(tokens, lambda total: fitted(total) is not None)
            if least is None:  # what is said of a memory is longer than one may take: no total has room for it
                context = fitted(tokens, silent=True)
                least = _least(tokens, lambda total: fitted(total, silent=True) is not None) or _ALL
            if context is None:
                raise InvalidInput(
                    f"{tokens:,} tokens are too few for an answer, which takes {least:,}",
                    hint=f"Give at least {least:,} tokens.",
                )
        larger = fitted(tokens + MORE_TOKENS, silent=True) or context
        context = structs.replace(context, next=_difference(context, larger))
        context = structs.replace(context, budget=structs.replace(context.budget, used=count_tokens(sent(context))))
        return self._recorded(context, gathered.recall, owner) if context.recorded else context

    def _gather(self, query: Query, constitution: str | Path | None) -> Candidates:
        recall = self._search.recall(query)
        written = None if constitution is None else _read(Path(constitution))
        principles = [] if written is not None else self._principles(query)
        review, results = _reviews(recall), {result.memory.id: result for result in recall.results}
        known = {id: result.memory for id, result in results.items()} | {memory.id: memory for memory in principles}
        heads = {id: header(memory, review.get(id, ())) for id, memory in known.items()}
        texts = {id: quoted_memory(memory, _verified(results.get(id))) for id, memory in known.items()}
        mark = mark_for([*heads.values(), *texts.values(), *map(_excerpts_are_of, known.values()), *(written or ())])

        def item(memory: Memory) -> Item:
            result = results.get(memory.id)
            score, relevance = (result.score, result.relevance) if result is not None else (None, None)
            return item_of(
                mark, memory.id, heads[memory.id], texts[memory.id], memory=memory, score=score, relevance=relevance
            )

        noticed = annotate(query.text)
        wanted = code_names((*noticed.symbols, *noticed.paths, *query.files), query.text)
        fixed = [] if written is None else [item_of(mark, written[0], f"constitution {written[0]}", written[1])]
        memories = [(section_of(result.memory, wanted), item(result.memory)) for result in recall.results]
        return Candidates(mark, fixed or list(map(item, principles)), memories, recall)

    def _principles(self, query: Query) -> list[Memory]:
        """Those in force that the person at the machine wrote or approved, the most important first: what holds always
        does not depend on the task, and nobody else decides what every agent is told first."""
        listing = Listing(
            project=query.filters.project, kind=Kind.PRINCIPLE, statuses=(Status.ACTIVE,), limit=MOST_PRINCIPLES,
            approved=True,
        )  # fmt: skip
        with self._core.store.read(query.namespace) as reader:
            held = [memory for memory in reader.memories.page(listing).memories if _holds(memory, query)]
        return sorted(held, key=lambda memory: (-memory.importance, memory.created, memory.id))

    def _recorded(self, context: Context, recall: Recall, owner: str | None) -> Context:
        """In one write: what the recall has found under it, and the principles beside it."""
        returned = {result.memory.id for result in recall.results}
        delivered = [item.memory.id for item in context.items if item.memory is not None]
        recalled = [id for id in delivered if id in returned]
        principles = [id for id in delivered if id not in returned]
        ledger = recall.ledger if recall.results else None
        try:
            with self._core.store.write(recall.query.namespace) as tx:
                audit = self._search.write_down(tx, recall.query, recalled, ledger, owner=owner)
                if principles:
                    audit |= self._search.write_down(tx, recall.query, principles, owner=owner)
        except StoreError as error:
            if owner is not None:
                raise
            told = "; ".join(filter(None, (context.notice, f"not recorded: {error.message}")))
            return structs.replace(context, recorded=False, notice=told)
        return structs.replace(context, audit=audit)


_OPTIONS = frozenset(("namespace", "project", "session", "task", "files", "scopes", "now", "preset"))


def _composed(gathered: Candidates, chosen: Selection, total: int, work: str, *, records: bool) -> Context:
    recall, recorded = gathered.recall, records and any(section.items for section in chosen.sections)
    return Context(
        task=work,
        block=block(gathered.mark, chosen.sections, chosen.left_out, doubt=doubt_of(recall)),
        budget=TokenBudget(total, 0, allocation(total)),
        sections=chosen.sections,
        left_out=chosen.left_out,
        next=Purchase(MORE_TOKENS, (), ()),
        recorded=recorded,
        snapshots={"general": snapshot_id(recall.ledger)} if recorded and recall.results else {},
        degraded=recall.degraded,
        notice=recall.notice or (None if recall.results else NOTHING),
    )


def _tells(context: Context, text: str) -> bool:
    """Whether what is sent tells of a memory, were it only that it has no room; or there is none to tell of."""
    names = [name for left in context.left_out for name in (left.name, left.handle) if name]
    return bool(context.items) or not names or any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def _least(too_few: int, is_enough: Callable[[int], bool]) -> int | None:
    """The fewest tokens that are enough; None where no number is."""
    enough = 2 * too_few
    while not is_enough(enough):
        if enough > _ALL:
            return None
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
    return enough


def _verified(result: SearchResult | None) -> Verified:
    return result.state.verified if result is not None else Verified.UNCHECKED


def _excerpts_are_of(memory: Memory) -> str:
    """What an excerpt may be made of beside the text as it is quoted."""
    return f"{plain_text(memory.content, memory.title)}\0{memory.summary or ''}"


def _difference(context: Context, larger: Context) -> Purchase:
    before = {item.name: item for item in context.items}
    after = {item.name: item for item in larger.items}
    gained = tuple(item for name, item in after.items() if name not in before)
    return Purchase(MORE_TOKENS, gained, tuple(item for name, item in before.items() if name not in after))


def _holds(memory: Memory, query: Query) -> bool:
    """What the gates of a recall would let through."""
    begun = memory.held_from <= query.at and (memory.valid_from is None or memory.valid_from <= query.at)
    ended = memory.valid_until is not None and memory.valid_until <= query.at
    return begun and not ended and withheld(memory, query.scopes) is None


def _reviews(recall: Recall) -> dict[str, Sequence[str]]:
    """Why a result is not simply safe to use, as the recall has judged it, and who speaks against it."""
    reviews: dict[str, list[str]] = defaultdict(list)
    for note in recall.ledger.notes("provenance"):
        for id, row in note["rows"].items():
            reviews[id] += row["safetyReasons"]
    for result in recall.results:
        reviews[result.memory.id] += result.state.in_doubt()
    return {id: list(dict.fromkeys(reasons)) for id, reasons in reviews.items() if reasons}


def _read(path: Path) -> tuple[str, str]:
    """The name and the text of a constitution."""
    try:
        with path.expanduser().open("rb") as stream:
            data = stream.read(MOST_CONSTITUTION_BYTES + 1)
        if len(data) > MOST_CONSTITUTION_BYTES:
            raise InvalidInput(f"the constitution {path} has over {MOST_CONSTITUTION_BYTES:,} bytes")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(
            f"cannot read the constitution {path}: {error.strerror or error}",
            hint="Give a text file with --constitution FILE or the setting `constitution`.",
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the constitution {path} is not UTF-8 text") from error
    if not text.strip():
        raise InvalidInput(f"the constitution {path} is empty", hint="Write what always holds, or leave it out.")
    return path.name, quoted(text)
