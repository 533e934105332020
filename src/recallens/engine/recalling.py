"""Asking: search, timeline, session context. A recall is pure; what it returned is recorded after it, in one write."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from recallens import __version__
from recallens.engine.core import Core
from recallens.engine.setting import set_scene
from recallens.engine.situating import situation
from recallens.errors import InvalidInput
from recallens.ingest.validate import epoch_ms, label, option, tags, unit_interval
from recallens.model.audit import chained, query_digest
from recallens.model.later import Later
from recallens.model.ledger import Entry, Ledger
from recallens.model.memory import Event, EventKind, Kind, Memory, Sector, Session, Tier, Usage
from recallens.model.plan import INTENT_ALIASES, Intent, Scope
from recallens.model.query import (
    ALPHA,
    BETA,
    BLEND,
    GRAPH_FLOOR,
    GRAPH_ITERATIONS,
    MAX_LIMIT,
    Documents,
    Filters,
    Mode,
    Query,
)
from recallens.model.recall import Recall, SessionContext, SessionSummary, Timeline
from recallens.model.salience import DAY_MS, RECALL_REINFORCEMENT, reinforced
from recallens.model.snapshot_id import SCHEMA_VERSION, snapshot_id
from recallens.model.verdict import Found, Note
from recallens.recall.assemble import apart, results
from recallens.recall.budget import spending
from recallens.recall.complexity import dynamic_k
from recallens.recall.pipeline import pipeline, widened_query
from recallens.recall.plan import PLANNED_CHARACTERS, measure, windows_of
from recallens.recall.presets import Preset, preset_named, views_for
from recallens.recall.runner import run
from recallens.store.protocols import Writer
from recallens.text.normalize import clean
from recallens.text.tokenizer import TOKENIZER_VERSION

# Ledgers of recorded recalls that a session keeps, to be explained and replayed.
LEDGERS_KEPT = 20
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
        as_of, now = epoch_ms("as of", options.get("as_of")), epoch_ms("now", options.get("now"))
        now = self.clock() if now is None else now
        preset = preset_named(options.get("preset") or self.settings.preset)
        limit = self._limit(clean(text), options.get("limit"), preset, now if as_of is None else as_of)
        max_results = _size("max results", options.get("max_results"))
        graph_floor = options.get("graph_floor")
        query = Query(
            text=clean(text),
            now=now,
            namespace=self.namespace(options.get("namespace")),
            mode=option(Mode, options.get("mode") or Mode.HYBRID, "mode"),
            limit=limit if max_results is None else min(limit, max_results),
            preset=preset.name,
            filters=Filters(
                project=label("project", options.get("project")),
                sector=_optional(Sector, options.get("sector"), "sector"),
                tier=_optional(Tier, options.get("tier"), "tier"),
                kind=_optional(Kind, options.get("kind"), "kind"),
                tags=_tags(options.get("tags")),
                min_salience=unit_interval("min salience", options.get("min_salience") or 0.0),
                include_superseded=bool(options.get("include_superseded")),
                in_session=label("in session", options.get("in_session")),
                affected=_texts("affected", options.get("affected")),
                documents=option(Documents, options.get("documents") or Documents.INCLUDE, "documents"),
                requires_citations=bool(options.get("requires_citations")),
                scope=option(Scope, options.get("scope") or Scope.ORG, "scope"),
                folders=_texts("folders", options.get("folders")),
                include_raw=options.get("include_raw") is not False,
                brain_file_limit=_count("brain file limit", options.get("brain_file_limit")),
                medium_term_limit=_count("medium term limit", options.get("medium_term_limit")),
            ),
            session=label("session", options.get("session")),
            as_of=as_of,
            budget=_size("budget", options.get("budget")),
            tokens=_size("tokens", options.get("tokens")),
            files=_texts("files", options.get("files")),
            scopes=_texts("scopes", options.get("scopes")),
            weights=_weights(options.get("weights")),
            watch=_texts("watch", options.get("watch")),
            graph_floor=unit_interval("graph floor", GRAPH_FLOOR if graph_floor is None else graph_floor),
            graph_iterations=_size("graph iterations", options.get("graph_iterations")) or GRAPH_ITERATIONS,
            intent=_intent(options.get("intent")),
            alpha=_share("alpha", options.get("alpha"), ALPHA),
            beta=_share("beta", options.get("beta"), BETA),
            task=label("task", options.get("task")),
            worktree=label("worktree", options.get("worktree")),
            certify=bool(options.get("certify") or options.get("widen")),
            widen=bool(options.get("widen")),
            max_results=max_results,
            item_tokens=_size("item tokens", options.get("item_tokens")),
            blend=_share("blend", options.get("blend"), BLEND),
            situation=situation(options),
            excerpts=bool(options.get("excerpts")),
        )
        return _with_its_scope(query)

    def _limit(self, text: str, asked: Any, preset: Preset, now: int) -> int:
        """What the caller or the settings say; else, under a preset that plans, what the question calls for."""
        if asked is None and preset.planned and "limit" not in self.settings.sources:
            head = text[:PLANNED_CHARACTERS]
            return dynamic_k(measure(head, dated=bool(windows_of(head, now))).score)
        limit = self.settings.limit if asked is None else asked
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be a whole number from 1 to {MAX_LIMIT:,}, not {limit!r}")
        return limit

    def search(self, text: str, **options: Any) -> Recall:
        """Recall, then record what was returned (unless `record=False`, or the store cannot be written to)."""
        record, owner = options.pop("record", None), options.pop("owner", None)
        query = self.query(text, **options)
        recall = self.recall(query)
        wanted = self.settings.record if record is None else record
        if wanted and recall.results and not self.store.read_only and query.as_of is None:
            recall = replace(recall, audit=self._record(recall, owner), recorded=True)
        return recall

    def search_documents(self, text: str, *, project: str | None = None, limit: int = 10, **options: Any) -> Recall:
        """Only what was cut from documents, through the same pipeline."""
        return self.search(text, project=project, limit=limit, **options | {"documents": Documents.ONLY})

    def recall(self, query: Query) -> Recall:
        """The answer and the ledger that caused it. Writes nothing."""
        preset = preset_named(query.preset)
        if not query.text.strip():
            return _nothing(query, self._versions(preset), "the query is empty: nothing was searched")
        meant = query.text if "semantic" in views_for(preset, query.mode) else None
        with self.snapshot(query.namespace, meant=meant) as snapshot:
            if query.mode is Mode.SEMANTIC:
                # Nothing else could answer, so a missing encoder is an error here and not a degradation.
                self.encoding.available()
            if snapshot is None:
                return _nothing(query, self._versions(preset), f"namespace {query.namespace!r} holds nothing yet")
            reader, state, version = snapshot
            scene = set_scene(
                reader,
                state,
                version,
                encoding=self.encoding,
                preset=preset,
                query=query,
                notes=self._versions(preset),
            )
            ledger, pool = run(pipeline(scene, preset, query), query)
            found = results(reader, scene, ledger, pool, query)
        found, lessons = apart(found, query.limit if pool.round == 1 else widened_query(query).limit)
        return Recall(
            query, found, ledger, self.encoding.key, degraded=Later(lambda: _failures(ledger)), lessons=lessons
        )

    def _versions(self, preset: Preset) -> dict[str, Any]:
        """What else the answer depends on beside store, query and clock."""
        versions = {
            "engine": __version__,
            "preset": preset.name,
            "encoder": self.encoding.key or "none",
            "schema": SCHEMA_VERSION,
            "tokenizer": str(TOKENIZER_VERSION),
        }
        return {"encoder": self.encoding.key, "versions": versions}

    def _record(self, recall: Recall, owner: str | None) -> dict[str, str]:
        """One write for what was returned. Gives the audit entry of each memory."""
        injected = [result.memory.id for result in recall.returned]
        with self.store.write(recall.query.namespace) as tx:
            return self._write_down(tx, recall.query, injected, recall.ledger, owner=owner)

    def _write_down(
        self, tx: Writer, query: Query, injected: Sequence[str], ledger: Ledger | None = None,
        *, owner: str | None = None,
    ) -> dict[str, str]:  # fmt: skip
        """Salience (once a day a memory), the asker's links, the audit entries, and the ledger that caused it."""
        now = query.now
        state = tx.state
        if state is None:
            return {}
        numbers = tx.memories.find(injected)
        # Read again: since the recall, another may have reinforced or deleted what it returned.
        found = tx.memories.get(list(numbers.values()))
        kept = [found[numbers[id]] for id in injected if id in numbers]
        due = [memory for memory in kept if now - (memory.reinforced_at or 0) >= DAY_MS]
        tx.memories.reinforce([(numbers[memory.id], _after_recall(memory, now)) for memory in due], now)
        # What is recorded after its end is no part of a task.
        asking = tx.tasks.get(query.task) if query.task is not None else None
        task = asking.id if asking is not None and asking.running else None
        events = [
            Event(query.namespace, EventKind.RECALLED, now, memory.id, query.session, task,
                  amount=RECALL_REINFORCEMENT if memory in due else None)
            for memory in kept
        ]  # fmt: skip
        tx.trail.record(events, [numbers[memory.id] for memory in kept])
        if query.session is not None:
            asker = Session(query.session, query.namespace, started=now, project=query.filters.project)
            self._ensure_session(tx, asker)
            tx.sessions.link(query.session, [numbers[memory.id] for memory in kept], Usage.RECALLED, now)
        entries = chained(
            namespace=query.namespace,
            head=tx.trail.audit_head(),
            at=now,
            session=query.session,
            query=query_digest(query.text),
            injected=[(memory.id, memory.content_hash) for memory in kept],
        )
        tx.trail.append_audit(entries)
        audit = {entry.memories[0]: entry.id for entry in entries}
        if ledger is not None and self.settings.capture:
            tx.trail.put_ledger(
                id=snapshot_id(ledger),
                session=query.session or "",
                at=now,
                ledger=ledger.packed(),
                audit=audit,
                keep=LEDGERS_KEPT,
                owner=owner,
            )
        return audit

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
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            num = self._num(reader, anchor)
            before, after = reader.memories.around(num, depth_before, depth_after)
            nums = [*before, num, *after]
            memories, contexts = reader.memories.get(nums), reader.sessions.contexts(nums)
        sessions = {
            context.session.id: SessionSummary(context.session.id, context.session.started, context.session.summary)
            for context in (contexts[n] for n in nums if n in contexts)
        }
        return Timeline(memories[num], tuple(memories[n] for n in before), tuple(memories[n] for n in after), sessions)

    def session_context(self, memory: str, *, namespace: str | None = None) -> SessionContext | None:
        """The latest session that touched a memory, and how."""
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            num = self._num(reader, memory)
            return reader.sessions.contexts([num]).get(num)


_OPTIONS = frozenset(
    ("namespace", "mode", "limit", "preset", "project", "sector", "tier", "kind", "tags", "min_salience",
     "include_superseded", "in_session", "documents", "session", "now", "as_of", "record",
     "budget", "tokens", "files", "scopes", "weights", "watch", "graph_floor", "graph_iterations", "intent", "alpha",
     "beta", "task", "worktree", "scope", "requires_citations", "certify", "widen", "max_results", "item_tokens",
     "affected", "folders", "include_raw", "brain_file_limit", "medium_term_limit", "blend", "open_file", "commands",
     "hierarchical", "actionability_weights", "hierarchical_weights", "excerpts")
)  # fmt: skip


Choice = TypeVar("Choice", bound=StrEnum)


def _optional(kind: type[Choice], value: str | None, what: str) -> Choice | None:
    return None if value is None else option(kind, value, what)


def _size(name: str, value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise InvalidInput(f"{name} must be a positive whole number, not {value!r}")
    return value


def _count(name: str, value: Any) -> int | None:
    """Zero means zero."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise InvalidInput(f"{name} must be a whole number from 0, not {value!r}")
    return value


def _share(name: str, value: Any, default: float) -> float:
    return unit_interval(name, default if value is None else value)


def _intent(value: Any) -> Intent | None:
    if value is None:
        return None
    if isinstance(value, str) and value in INTENT_ALIASES:
        return INTENT_ALIASES[value]
    return option(Intent, value, "intent")


def _with_its_scope(query: Query) -> Query:
    """A scope narrower than all needs to know whose it is."""
    scope = query.filters.scope
    own = {Scope.TASK: query.task, Scope.WORKTREE: query.worktree, Scope.PROJECT: query.filters.project}
    if scope in own and own[scope] is None:
        raise InvalidInput(
            f"scope {scope} needs the {scope} that is meant", hint=f"Give it as --{scope}, or use --scope org."
        )
    return query


def _weights(value: Mapping[str, float] | None) -> dict[str, float]:
    weights = dict(value or {})
    for name, factor in weights.items():
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 <= factor < math.inf:
            raise InvalidInput(f"the weight of {name!r} must be a number from 0, not {factor!r}")
    return weights


def _texts(name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list of texts, not {value!r}")
    texts = tuple(value)
    for text in texts:
        if not isinstance(text, str):
            raise InvalidInput(f"{name} must be a list of texts, and {text!r} is none")
    return texts


def _tags(value: object) -> tuple[str, ...]:
    if value is not None and not isinstance(value, Iterable):
        raise InvalidInput(f"tags must be a list of texts, not {value!r}")
    return tags(value or ())


def _nothing(query: Query, plan: Mapping[str, Any], notice: str) -> Recall:
    """The recall that found nothing to look at: its ledger says only what was planned."""
    note = Note("plan", {"preset": query.preset, "views": [], "depth": 0, **plan})
    spent = Note("budget", spending(query, used=0, used_tokens=0, items={}))
    ledger = Ledger(query.to_json(), (Entry("plan", note, 0, 0, 0), Entry("select", spent, 0, 0, 0)))
    return Recall(query, (), ledger, plan["encoder"], notice=notice)


def _failures(ledger: Ledger) -> dict[str, str]:
    found = (entry.verdict for entry in ledger.entries if isinstance(entry.verdict, Found))
    return {verdict.view: verdict.error for verdict in found if verdict.error is not None}


def _after_recall(memory: Memory, now: int) -> float:
    return reinforced(
        reinforcement=memory.reinforcement,
        reinforced_at=memory.reinforced_at or 0,
        sector=memory.sector,
        importance=memory.importance,
        by=RECALL_REINFORCEMENT,
        at=now,
    )
