"""Asking: search, timeline, session context. A recall is pure; what it returned is recorded after it, in one write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from recallens import __version__
from recallens.engine.core import Core
from recallens.engine.question import question
from recallens.engine.setting import set_scene
from recallens.errors import InvalidInput
from recallens.model.audit import chained, query_digest
from recallens.model.later import Later
from recallens.model.ledger import Entry, Ledger
from recallens.model.memory import Event, EventKind, Memory, Session, Usage
from recallens.model.query import DEFAULT_LIMIT, MAX_LIMIT, Documents, Mode, Query, SearchOptions
from recallens.model.recall import Recall, SessionContext, SessionSummary, Timeline
from recallens.model.salience import DAY_MS, RECALL_REINFORCEMENT, reinforced
from recallens.model.snapshot_id import SCHEMA_VERSION, snapshot_id
from recallens.model.verdict import Found, Note
from recallens.recall.assemble import apart, results
from recallens.recall.budget import spending
from recallens.recall.pipeline import pipeline, widened_query
from recallens.recall.presets import Preset, preset_named, views_for
from recallens.recall.runner import run
from recallens.store.protocols import Writer
from recallens.text.tokenizer import TOKENIZER_VERSION

# Ledgers of recorded recalls that a session keeps, to be explained and replayed.
LEDGERS_KEPT = 20
TIMELINE_DEPTH = 5


class Recalling(Core):
    def query(self, text: str, **options: Unpack[SearchOptions]) -> Query:
        """A checked query from loose options; every wrong one is an error that lists what would be right."""
        return question(text, options, self.settings, self.clock)

    def search(self, text: str, *, owner: str | None = None, **options: Unpack[SearchOptions]) -> Recall:
        """Recall, then record what was returned (unless `record=False`, or the store cannot be written to)."""
        query = self.query(text, **options)
        recall = self.recall(query)
        record = options.get("record")
        wanted = self.settings.record if record is None else record
        if wanted and recall.results and not self.store.read_only and query.as_of is None:
            recall = replace(recall, audit=self._record(recall, owner), recorded=True)
        return recall

    def search_documents(self, text: str, *, owner: str | None = None, **options: Unpack[SearchOptions]) -> Recall:
        """Only what was cut from documents, through the same pipeline."""
        only: SearchOptions = {"limit": DEFAULT_LIMIT, **options, "documents": Documents.ONLY}
        return self.search(text, owner=owner, **only)

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
        with self.store.write() as tx:
            return self._write_down(tx, recall.query, injected, recall.ledger, owner=owner)

    def _write_down(
        self, tx: Writer, query: Query, injected: Sequence[str], ledger: Ledger | None = None,
        *, owner: str | None = None,
    ) -> dict[str, str]:  # fmt: skip
        """Salience (once a day a memory), the asker's links, the audit entries, and the ledger that caused it."""
        now = query.now
        state = tx.namespace(query.namespace)
        if state is None:
            return {}
        numbers = tx.find(state.key, injected)
        # Read again: since the recall, another may have reinforced or deleted what it returned.
        found = tx.memories(list(numbers.values()))
        kept = [found[numbers[id]] for id in injected if id in numbers]
        due = [memory for memory in kept if now - (memory.reinforced_at or 0) >= DAY_MS]
        tx.reinforce(state.key, [(numbers[memory.id], _after_recall(memory, now)) for memory in due], now)
        # What is recorded after its end is no part of a task.
        asking = tx.task(state.key, query.task) if query.task is not None else None
        task = asking.id if asking is not None and asking.running else None
        events = [
            Event(query.namespace, EventKind.RECALLED, now, memory.id, query.session, task,
                  amount=RECALL_REINFORCEMENT if memory in due else None)
            for memory in kept
        ]  # fmt: skip
        tx.record(state.key, events, [numbers[memory.id] for memory in kept])
        if query.session is not None:
            asker = Session(query.session, query.namespace, started=now, project=query.filters.project)
            self._ensure_session(tx, state.key, asker)
            tx.link(state.key, query.session, [numbers[memory.id] for memory in kept], Usage.RECALLED, now)
        entries = chained(
            namespace=query.namespace,
            head=tx.audit_head(state.key),
            at=now,
            session=query.session,
            query=query_digest(query.text),
            injected=[(memory.id, memory.content_hash) for memory in kept],
        )
        tx.append_audit(state.key, entries)
        audit = {entry.memories[0]: entry.id for entry in entries}
        if ledger is not None and self.settings.capture:
            tx.put_ledger(
                state.key,
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
