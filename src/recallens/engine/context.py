"""A context for a task: ordinary recalls, one selection within the budget, one record of what was injected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.question import positive
from recallens.engine.search import Search
from recallens.errors import InvalidInput
from recallens.model.context import MORE_TOKENS, Context, Item, Purchase, SectionName, TokenBudget, allocation
from recallens.model.memory import Kind, Memory, Sector, Status, Zone
from recallens.model.query import DEFAULT_TOKENS, Query
from recallens.model.recall import Recall
from recallens.model.snapshot import snapshot_id
from recallens.recall.context import Selection, code_names, merged, named_by, select
from recallens.recall.gates import ONLY_HERE
from recallens.recall.views import REVIEW
from recallens.render.context import (
    block,
    closing,
    format_for_context,
    header,
    heading,
    item_of,
    mark_for,
    opening,
    quoted,
    shortened,
)
from recallens.store.records import Listing
from recallens.text.annotation import annotate
from recallens.text.token_count import count_tokens

# Candidates of the general part and of each special one: more than any usual budget has room for.
GENERAL, SPECIAL = 50, 20
SKILLS: Sequence[Mapping[str, Any]] = ({"kind": Kind.SKILL}, {"kind": Kind.PATTERN}, {"sector": Sector.PROCEDURAL})
GOTCHAS: Sequence[Mapping[str, Any]] = ({"kind": Kind.GOTCHA},)
# Views that propose what shares something with the task, and not merely what is nearest to it.
BY_NAME = frozenset(("lexical", "symbolic", REVIEW))
MOST_PRINCIPLES = 100
MOST_CONSTITUTION_BYTES = 1024 * 1024


class Candidates(Struct, frozen=True):
    """What the recalls and the constitution bring, before any choice. `mark` occurs in none of the texts."""

    mark: str
    candidates: Mapping[SectionName, Sequence[Item]]
    recalls: Sequence[Recall]

    def choose(self, total: int) -> Selection:
        """Within the total, as delivered. A cost is the sum of its parts, and where it should not be, less is taken."""
        frame = count_tokens(opening(self.mark)) + count_tokens(closing(self.mark))
        headings = {name: count_tokens(heading(self.mark, name)) for name in SectionName}
        allowed = total
        while True:
            selection = select(self.candidates, total=allowed, frame=frame, headings=headings, shorten=shortened)
            over = count_tokens(block(self.mark, selection.sections)) - total
            if over <= 0:
                return selection
            allowed -= over


class ContextBuilder:
    """Builds the block of text that an agent gets for a task."""

    def __init__(self, core: Core, search: Search) -> None:
        self._core = core
        self._search = search

    def build(
        self,
        task: str,
        tokens: int = DEFAULT_TOKENS,
        *,
        constitution: str | Path | None = None,
        record: bool | None = None,
        owner: str | None = None,
        **options: Any,
    ) -> Context:
        """What an agent should know for a task, within so many tokens, delimited as data, and what was left out.

        The options are those of a search that say who asks and where: namespace, project, session, files, scopes …
        """
        tokens = positive("tokens", tokens)
        wrong = sorted(options.keys() - _OPTIONS)
        if wrong:
            raise InvalidInput(
                f"unknown option {wrong[0]!r} of a context; the options are: {', '.join(sorted(_OPTIONS))}"
            )
        query = self._search.query(task, **options, limit=GENERAL)
        gathered = self._gather(query, constitution if constitution is not None else self._core.settings.constitution)
        chosen, more = gathered.choose(tokens), gathered.choose(tokens + MORE_TOKENS)
        text = block(gathered.mark, chosen.sections)
        context = Context(
            task=query.text,
            block=text,
            budget=TokenBudget(tokens, count_tokens(text), allocation(tokens)),
            sections=chosen.sections,
            left_out=chosen.left_out,
            next=_difference(chosen, more),
            degraded={view: error for recall in gathered.recalls for view, error in recall.degraded.items()},
            notice=gathered.recalls[0].notice,
        )
        recorded = self._search.records(record) and context.items
        return self._recorded(context, gathered.recalls, owner) if recorded else context

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
        texts = {id: quoted(format_for_context(memory)) for id, memory in known.items()}
        mark = mark_for([*heads.values(), *texts.values(), *(written or ())])
        central = {result.memory.id for result in general.results}

        def item(memory: Memory, score: float | None) -> Item:
            return item_of(mark, memory.id, heads[memory.id], texts[memory.id], memory=memory, score=score)

        def related(recall: Recall) -> list[Item]:
            """A special section reaches further down than the general part only by words and names; it may be empty."""
            kept = (r for r in recall.results if r.memory.id in central or BY_NAME & set(r.views))
            return [item(result.memory, result.score) for result in kept]

        whole = [item(result.memory, result.score) for result in general.results]
        fixed = [] if written is None else [item_of(mark, written[0], f"constitution {written[0]}", written[1])]
        candidates = {
            SectionName.CONSTITUTION: fixed or [item(memory, None) for memory in principles],
            SectionName.SKILLS: merged(map(related, skills)),
            SectionName.CONTEXT: whole,
            SectionName.CODE_SYMBOLS: _about_code(whole, query),
            SectionName.GOTCHAS: merged(map(related, gotchas)),
        }
        return Candidates(mark, candidates, recalls)

    def _principles(self, query: Query) -> list[Memory]:
        """Those in force, the most important first: what holds always does not depend on the task."""
        listing = Listing(
            project=query.filters.project, kind=Kind.PRINCIPLE, statuses=(Status.ACTIVE,), limit=MOST_PRINCIPLES
        )
        with self._core.store.read(query.namespace) as reader:
            held = [memory for memory in reader.memories.page(listing).memories if _holds(memory, query)]
        return sorted(held, key=lambda memory: (-memory.importance, memory.created, memory.id))

    def _recorded(self, context: Context, recalls: Sequence[Recall], owner: str | None) -> Context:
        """In one write: each memory under the first recall that found it; the general one last, to be explained."""
        injected = [item.memory.id for item in context.items if item.memory is not None]
        audit: dict[str, str] = {}
        snapshots: dict[str, str] = {}
        general, *special = recalls
        with self._core.store.write(general.query.namespace) as tx:
            for recall in (*special, general):
                returned = {result.memory.id for result in recall.results}
                due = [id for id in injected if id in returned and id not in audit]
                if due or (recall is general and returned):
                    audit |= self._search.write_down(tx, recall.query, due, recall.ledger, owner=owner)
                    narrowed = recall.query.filters
                    snapshots[str(narrowed.kind or narrowed.sector or "general")] = snapshot_id(recall.ledger)
            fixed = [id for id in injected if id not in audit]
            if fixed:
                audit |= self._search.write_down(tx, general.query, fixed)
        return structs.replace(context, recorded=True, audit=audit, snapshots=snapshots)


_OPTIONS = frozenset(("namespace", "project", "session", "files", "scopes", "now", "preset"))


def _narrowed(query: Query, filters: Mapping[str, Any]) -> Query:
    return structs.replace(query, limit=SPECIAL, filters=structs.replace(query.filters, **filters))


def _difference(chosen: Selection, more: Selection) -> Purchase:
    before = {item.name: item for section in chosen.sections for item in section.items}
    after = {item.name: item for section in more.sections for item in section.items}
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
    withheld = ONLY_HERE in memory.scopes and ONLY_HERE not in query.scopes
    return begun and not ended and not withheld and memory.zone is not Zone.QUARANTINE


def _reviews(recalls: Iterable[Recall]) -> dict[str, Sequence[str]]:
    """Why a result is not simply safe to use, as the recall has judged it."""
    return {
        id: row["safetyReasons"]
        for recall in recalls
        for note in recall.ledger.notes("provenance")
        for id, row in note["rows"].items()
        if row["safetyReasons"]
    }


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
