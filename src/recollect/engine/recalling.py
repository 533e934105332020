"""Asking: search, timeline, session context. A recall is pure; what it returned is recorded after it, in one write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from recollect.engine.core import Core
from recollect.errors import InvalidInput, NotFound
from recollect.index.columns import Columns
from recollect.index.encoding import LazySemantic
from recollect.index.lexical import bind_lexical
from recollect.index.resident import Version
from recollect.index.symbolic import bind_symbolic
from recollect.index.views import BoundView
from recollect.ingest.annotate import annotate
from recollect.ingest.prepare import labels
from recollect.ingest.validate import epoch_ms, label, option, tags, unit_interval
from recollect.model.ledger import Ledger
from recollect.model.memory import Event, EventKind, Kind, Memory, Sector, Session, Tier, Usage
from recollect.model.query import MAX_LIMIT, Documents, Filters, Mode, Query
from recollect.model.recall import Recall, SessionContext, SessionSummary, Timeline
from recollect.model.salience import DAY_MS, RECALL_REINFORCEMENT, reinforced
from recollect.model.verdict import BoolArray, Found
from recollect.recall.assemble import results
from recollect.recall.pipeline import pipeline
from recollect.recall.presets import Preset, preset_named, views_for
from recollect.recall.runner import run
from recollect.recall.scene import Scene, usage_at, usage_now
from recollect.store.protocols import Reader
from recollect.text.language import known_share
from recollect.text.normalize import clean, normalize

TIMELINE_DEPTH = 5
# What a query may reasonably hold; a longer one is a document.
MAX_QUERY_CHARACTERS = 32_768


class Recalling(Core):
    def query(self, text: str, **options: Any) -> Query:
        """A checked query from loose options; every wrong one is an error that lists what would be right."""
        if not isinstance(text, str):
            raise InvalidInput(f"a query is text, not {type(text).__name__}")
        if len(text) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(
                f"the query has {len(text):,} characters; at most {MAX_QUERY_CHARACTERS:,} are allowed",
                hint="Ask with the part that matters, or add the text as a document.",
            )
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise InvalidInput(
                f"unknown search option {sorted(unknown)[0]!r}; the options are: {', '.join(sorted(_OPTIONS))}"
            )
        limit = self.settings.limit if options.get("limit") is None else options["limit"]
        if not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be a whole number from 1 to {MAX_LIMIT:,}, not {limit!r}")
        as_of, now = epoch_ms("as of", options.get("as_of")), epoch_ms("now", options.get("now"))
        return Query(
            text=clean(text),
            now=self.clock() if now is None else now,
            namespace=self.namespace(options.get("namespace")),
            mode=option(Mode, options.get("mode") or Mode.HYBRID, "mode"),
            limit=limit,
            preset=preset_named(options.get("preset") or self.settings.preset).name,
            filters=Filters(
                project=label("project", options.get("project")),
                sector=_optional(Sector, options.get("sector"), "sector"),
                tier=_optional(Tier, options.get("tier"), "tier"),
                kind=_optional(Kind, options.get("kind"), "kind"),
                tags=_tags(options.get("tags")),
                min_salience=unit_interval("min salience", options.get("min_salience") or 0.0),
                include_superseded=bool(options.get("include_superseded")),
                in_session=label("in session", options.get("in_session")),
                documents=option(Documents, options.get("documents") or Documents.INCLUDE, "documents"),
            ),
            session=label("session", options.get("session")),
            as_of=as_of,
        )

    def search(self, text: str, **options: Any) -> Recall:
        """Recall, then record what was returned (unless `record=False`, or the store cannot be written to)."""
        record = options.pop("record", None)
        query = self.query(text, **options)
        recall = self.recall(query)
        wanted = self.settings.record if record is None else record
        if wanted and recall.results and not self.store.read_only and query.as_of is None:
            self._record(recall)
            recall = replace(recall, recorded=True)
        return recall

    def search_documents(self, text: str, *, project: str | None = None, limit: int = 10, **options: Any) -> Recall:
        """Only what was cut from documents, through the same pipeline."""
        return self.search(text, project=project, limit=limit, **options | {"documents": Documents.ONLY})

    def recall(self, query: Query) -> Recall:
        """The answer and the ledger that caused it. Writes nothing."""
        self.refresh_encoding()
        key = self.encoding.key
        if not query.text.strip():
            return _nothing(query, key, "the query is empty: nothing was searched")
        preset = preset_named(query.preset)
        if query.mode is Mode.SEMANTIC:
            # Nothing else could answer, so a missing encoder is an error here and not a degradation.
            self.encoding.available()
        with self.snapshot(query.namespace) as snapshot:
            if snapshot is None:
                return _nothing(query, key, f"namespace {query.namespace!r} holds nothing yet")
            reader, state, version = snapshot
            scene = self._scene(reader, state.key, version, preset, query)
            ledger, pool = run(pipeline(scene, preset, query), query)
            found = results(reader, scene, ledger, pool, query)
        return Recall(query, found, ledger, key, degraded=_failures(ledger))

    def _scene(self, reader: Reader, ns: int, version: Version, preset: Preset, query: Query) -> Scene:
        columns, filters = version.columns, query.filters
        if filters.in_session is not None and reader.session(ns, filters.in_session) is None:
            raise NotFound(
                f"no session {filters.in_session!r}", hint="`recollect session list` shows those that exist."
            )
        usage = (
            usage_at(columns, reader.usage_until(ns, query.at), query.at)
            if query.as_of is not None
            else usage_now(columns)
        )
        fluency = known_share(query.text, self.encoding.languages)
        return Scene(
            columns=columns,
            views=self._views(reader, ns, version, preset, query, readable=fluency > 0),
            at=query.at,
            usage=usage,
            linked=_rows(columns, reader.in_session(ns, filters.in_session))
            if filters.in_session is not None
            else None,
            tagged=_tagged(reader, ns, columns, filters.tags) if filters.tags else None,
            fluency=fluency,
            notes={"encoder": self.encoding.key, "fluency": fluency},
        )

    def _views(
        self, reader: Reader, ns: int, version: Version, preset: Preset, query: Query, *, readable: bool
    ) -> dict[str, BoundView]:
        """A query that the encoder cannot read at all is not put to it, unless the caller or the preset insists."""
        views: dict[str, BoundView] = {}
        for name in views_for(preset, query.mode):
            if name == "lexical":
                views[name] = bind_lexical(
                    reader, ns, version.lexical, query.text, formula=preset.formula, prefixes=preset.prefixes
                )
            elif name == "symbolic":
                views[name] = bind_symbolic(reader, ns, version.columns, _query_labels(query.text))
            elif version.vectors is not None and (readable or query.mode is Mode.SEMANTIC or not preset.fluent):
                views[name] = LazySemantic(self.encoding, version.vectors, version.columns, query.text)
        return views

    def _record(self, recall: Recall) -> None:
        """One event for what was returned: a step of salience, at most once a day a memory, and the asker's links."""
        query, now = recall.query, recall.query.now
        with self.store.write() as tx:
            state = tx.namespace(query.namespace)
            if state is None:
                return
            numbers = tx.find(state.key, [result.memory.id for result in recall.results])
            # Read again: since the recall, another may have reinforced or deleted what it returned.
            found = tx.memories(list(numbers.values()))
            kept = [found[numbers[result.memory.id]] for result in recall.results if result.memory.id in numbers]
            due = [memory for memory in kept if now - (memory.reinforced_at or 0) >= DAY_MS]
            tx.reinforce(state.key, [(numbers[memory.id], _after_recall(memory, now)) for memory in due], now)
            events = [
                Event(query.namespace, EventKind.RECALLED, now, memory.id, query.session,
                      amount=RECALL_REINFORCEMENT if memory in due else None)
                for memory in kept
            ]  # fmt: skip
            tx.record(state.key, events, [numbers[memory.id] for memory in kept])
            if query.session is not None:
                asker = Session(query.session, query.namespace, started=now, project=query.filters.project)
                self._ensure_session(tx, state.key, asker)
                tx.link(state.key, query.session, [numbers[memory.id] for memory in kept], Usage.RECALLED, now)

    # ── around one memory ──

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
        with self.store.read() as reader:
            state = self._state(reader, self.namespace(namespace))
            num = self._num(reader, state.key, anchor)
            before, after = reader.around(state.key, num, depth_before, depth_after)
            nums = [*before, num, *after]
            memories, contexts = reader.memories(nums), reader.latest_contexts(nums)
        sessions = {
            context.session.id: SessionSummary(context.session.id, context.session.started, context.session.summary)
            for context in (contexts[n] for n in nums if n in contexts)
        }
        return Timeline(memories[num], tuple(memories[n] for n in before), tuple(memories[n] for n in after), sessions)

    def session_context(self, memory: str, *, namespace: str | None = None) -> SessionContext | None:
        """The latest session that touched a memory, and how."""
        with self.store.read() as reader:
            state = self._state(reader, self.namespace(namespace))
            num = self._num(reader, state.key, memory)
            return reader.latest_contexts([num]).get(num)


_OPTIONS = frozenset(
    ("namespace", "mode", "limit", "preset", "project", "sector", "tier", "kind", "tags", "min_salience",
     "include_superseded", "in_session", "documents", "session", "now", "as_of", "record")
)  # fmt: skip


Choice = TypeVar("Choice", bound=StrEnum)


def _optional(kind: type[Choice], value: str | None, what: str) -> Choice | None:
    return None if value is None else option(kind, value, what)


def _tags(value: object) -> tuple[str, ...]:
    if value is not None and not isinstance(value, Iterable):
        raise InvalidInput(f"tags must be a list of texts, not {value!r}")
    return tags(value or ())


def _nothing(query: Query, encoder: str | None, notice: str) -> Recall:
    return Recall(query, (), Ledger(query.to_json(), ()), encoder, notice=notice)


def _failures(ledger: Ledger) -> dict[str, str]:
    found = (entry.verdict for entry in ledger.entries if isinstance(entry.verdict, Found))
    return {verdict.view: verdict.error for verdict in found if verdict.error is not None}


def _query_labels(text: str) -> list[tuple[str, str]]:
    """What the query names exactly. A name is no such thing: people and products are words, and the words find them."""
    return list(dict.fromkeys(label for label in labels(annotate(text)) if label[1] != "entity"))


def _rows(columns: Columns, nums: Sequence[int]) -> BoolArray:
    mask = np.zeros(columns.size, dtype=np.bool_)
    places = columns.locate(nums)
    mask[places[places >= 0]] = True
    return mask


def _tagged(reader: Reader, ns: int, columns: Columns, wanted: Sequence[str]) -> BoolArray:
    """Rows that carry every one of the tags."""
    hits = reader.labelled(ns, [(normalize(tag), "tag") for tag in wanted])
    mask = np.ones(columns.size, dtype=np.bool_)
    for tag in wanted:
        mask &= _rows(columns, [num for value, _, num in hits if value == normalize(tag)])
    return mask


def _after_recall(memory: Memory, now: int) -> float:
    return reinforced(
        reinforcement=memory.reinforcement,
        reinforced_at=memory.reinforced_at or 0,
        sector=memory.sector,
        importance=memory.importance,
        by=RECALL_REINFORCEMENT,
        at=now,
    )
