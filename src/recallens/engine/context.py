"""A context for a task: ordinary recalls, one selection within the budget, one record of what was injected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.question import positive
from recallens.engine.search import Search
from recallens.errors import InvalidInput, StoreError
from recallens.model.context import MORE_TOKENS, Context, Item, Purchase, SectionName, TokenBudget, allocation
from recallens.model.memory import Kind, Memory, Sector, Status
from recallens.model.query import DEFAULT_TOKENS, Query
from recallens.model.recall import Recall
from recallens.model.snapshot import snapshot_id
from recallens.model.state import Verified, withheld
from recallens.recall.context import Selection, code_names, merged, named_by, select
from recallens.render.context import (
    block,
    closing,
    header,
    heading,
    item_of,
    mark_for,
    opening,
    quoted,
    quoted_memory,
    shortened,
)
from recallens.store.records import Listing
from recallens.text.annotation import annotate
from recallens.text.token_count import budget_tokens, count_tokens

# Candidates of the general part and of each special one: more than any usual budget has room for.
GENERAL, SPECIAL = 50, 20
SKILLS: Sequence[Mapping[str, Any]] = ({"kind": Kind.SKILL}, {"kind": Kind.PATTERN}, {"sector": Sector.PROCEDURAL})
GOTCHAS: Sequence[Mapping[str, Any]] = ({"kind": Kind.GOTCHA},)
MOST_PRINCIPLES = 100
MOST_CONSTITUTION_BYTES = 1024 * 1024


# What a surface sends of a context.
Sent = Callable[[Context], str]


class Candidates(Struct, frozen=True):
    """What the recalls and the constitution bring, before any choice. `mark` occurs in none of the texts."""

    mark: str
    candidates: Mapping[SectionName, Sequence[Item]]
    recalls: Sequence[Recall]

    def choose(self, total: int) -> Selection:
        """Within the total, by the cost of each part."""
        frame = count_tokens(opening(self.mark)) + count_tokens(closing(self.mark))
        headings = {name: count_tokens(heading(self.mark, name)) for name in SectionName}
        return select(self.candidates, total=total, frame=frame, headings=headings, shorten=shortened)


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
        query = self._search.query(work, **options, limit=GENERAL)
        gathered = self._gather(query, constitution if constitution is not None else self._core.settings.constitution)
        records = self._search.records(record)

        def fitted(total: int) -> Context:
            """The largest selection that does not exceed the total as sent; each attempt has room for less."""
            room = total
            while True:
                context = _composed(gathered, gathered.choose(room), total, query.text, records=records)
                text = sent(context)
                used = budget_tokens(text)
                if used <= total:
                    budget = structs.replace(context.budget, used=count_tokens(text))
                    return structs.replace(context, budget=budget)
                if not context.items:
                    raise InvalidInput(
                        f"{total:,} tokens are too few for an answer, which takes {used:,} without any memory",
                        hint=f"Give at least {used:,} tokens.",
                    )
                room = min(room, count_tokens(context.block)) - (used - total)

        context = fitted(tokens)
        context = structs.replace(context, next=_difference(context, fitted(tokens + MORE_TOKENS)))
        return self._recorded(context, gathered.recalls, owner) if context.recorded else context

    def _gather(self, query: Query, constitution: str | Path | None) -> Candidates:
        general = self._search.recall(query)
        skills = [self._search.recall(_narrowed(query, filters)) for filters in SKILLS]
        gotchas = [self._search.recall(_narrowed(query, filters)) for filters in GOTCHAS]
        recalls = [general, *skills, *gotchas]
        written = None if constitution is None else _read(Path(constitution))
        principles = [] if written is not None else self._principles(query)
        review = _reviews(recalls)
        known = {result.memory.id: result.memory for recall in recalls for result in recall.results}
        known |= {memory.id: memory for memory in principles}
        heads = {id: header(memory, review.get(id, ())) for id, memory in known.items()}
        seen = {result.memory.id: result.state.verified for recall in recalls for result in recall.results}
        texts = {id: quoted_memory(memory, seen.get(id, Verified.UNCHECKED)) for id, memory in known.items()}
        mark = mark_for([*heads.values(), *texts.values(), *(written or ())])

        def item(memory: Memory, score: float | None) -> Item:
            return item_of(mark, memory.id, heads[memory.id], texts[memory.id], memory=memory, score=score)

        def items(recall: Recall) -> list[Item]:
            return [item(result.memory, result.score) for result in recall.results]

        whole = items(general)
        fixed = [] if written is None else [item_of(mark, written[0], f"constitution {written[0]}", written[1])]
        candidates = {
            SectionName.CONSTITUTION: fixed or [item(memory, None) for memory in principles],
            SectionName.SKILLS: merged(map(items, skills)),
            SectionName.CONTEXT: whole,
            SectionName.CODE_SYMBOLS: _about_code(whole, query),
            SectionName.GOTCHAS: merged(map(items, gotchas)),
        }
        return Candidates(mark, candidates, recalls)

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

    def _recorded(self, context: Context, recalls: Sequence[Recall], owner: str | None) -> Context:
        """In one write: each memory under the first recall that found it, what none has found under the general one."""
        audit: dict[str, str] = {}
        general = recalls[0].query
        try:
            with self._core.store.write(general.namespace) as tx:
                for recall, ids in _shares(context.items, recalls):
                    audit |= self._search.write_down(tx, recall.query, ids, recall.ledger, owner=owner)
                fixed = [item.memory.id for item in context.items if item.memory and item.memory.id not in audit]
                if fixed:
                    audit |= self._search.write_down(tx, general, fixed, owner=owner)
        except StoreError as error:
            if owner is not None:
                raise
            told = "; ".join(filter(None, (context.notice, f"not recorded: {error.message}")))
            return structs.replace(context, recorded=False, notice=told)
        return structs.replace(context, audit=audit)


_OPTIONS = frozenset(("namespace", "project", "session", "task", "files", "scopes", "now", "preset"))


def _composed(gathered: Candidates, chosen: Selection, total: int, work: str, *, records: bool) -> Context:
    items = [item for section in chosen.sections for item in section.items]
    recorded = records and bool(items)
    shares = _shares(items, gathered.recalls) if recorded else []
    return Context(
        task=work,
        block=block(gathered.mark, chosen.sections),
        budget=TokenBudget(total, 0, allocation(total)),
        sections=chosen.sections,
        left_out=chosen.left_out,
        next=Purchase(MORE_TOKENS, (), ()),
        recorded=recorded,
        snapshots={_name_of(recall): snapshot_id(recall.ledger) for recall, _ in shares},
        degraded={view: error for recall in gathered.recalls for view, error in recall.degraded.items()},
        notice=gathered.recalls[0].notice,
    )


def _shares(items: Sequence[Item], recalls: Sequence[Recall]) -> list[tuple[Recall, list[str]]]:
    """Which recall each memory is recorded with: the first that found it; the general one is last, to be explained."""
    left = [item.memory.id for item in items if item.memory is not None]
    shares = []
    general, *special = recalls
    for recall in (*special, general):
        returned = {result.memory.id for result in recall.results}
        due = [id for id in left if id in returned]
        left = [id for id in left if id not in returned]
        if due or (recall is general and returned):
            shares.append((recall, due))
    return shares


def _name_of(recall: Recall) -> str:
    return str(recall.query.filters.kind or recall.query.filters.sector or "general")


def _narrowed(query: Query, filters: Mapping[str, Any]) -> Query:
    return structs.replace(query, limit=SPECIAL, filters=structs.replace(query.filters, **filters))


def _difference(context: Context, larger: Context) -> Purchase:
    before = {item.name: item for item in context.items}
    after = {item.name: item for item in larger.items}
    gained = tuple(item for name, item in after.items() if name not in before)
    return Purchase(MORE_TOKENS, gained, tuple(item for name, item in before.items() if name not in after))


def _about_code(items: Iterable[Item], query: Query) -> list[Item]:
    """What names the task's code, by name before by words; each in the order of the recall."""
    noticed = annotate(query.text)
    wanted = code_names((*noticed.symbols, *noticed.paths, *query.files), query.text)
    judged = [(named_by(item.memory, wanted), item) for item in items if item.memory is not None]
    return [item for level, item in sorted(judged, key=lambda pair: -pair[0]) if level]


def _holds(memory: Memory, query: Query) -> bool:
    """What the gates of a recall would let through."""
    begun = memory.created <= query.at and (memory.valid_from is None or memory.valid_from <= query.at)
    ended = memory.valid_until is not None and memory.valid_until <= query.at
    return begun and not ended and withheld(memory, query.scopes) is None


def _reviews(recalls: Iterable[Recall]) -> dict[str, Sequence[str]]:
    """Why a result is not simply safe to use, as the recall has judged it, and who speaks against it."""
    reviews: dict[str, list[str]] = defaultdict(list)
    for recall in recalls:
        judged = (row for note in recall.ledger.notes("provenance") for row in note["rows"].items())
        for id, row in judged:
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
