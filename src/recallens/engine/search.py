"""Asking: a checked query, the recall that answers it, and the record of what it returned. A recall writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from msgspec import to_builtins
from msgspec.structs import replace

from recallens import __version__
from recallens.engine.core import Core
from recallens.engine.encoder import StoreEncoder
from recallens.engine.question import question
from recallens.errors import InvalidInput, StoreError
from recallens.index.images import DamagedIndex
from recallens.index.version import Version
from recallens.model.ledger import Entry, Ledger
from recallens.model.memory import UNREADABLE, Event, EventKind, Memory, Status, Usage
from recallens.model.query import DEFAULT_LIMIT, Documents, Mode, Query, SearchOptions
from recallens.model.recall import Recall
from recallens.model.salience import DAY_MS, RECALL_REINFORCEMENT, reinforced
from recallens.model.snapshot import SCHEMA_VERSION, snapshot_id_of
from recallens.model.state import INCOMPLETE, MemoryState, withheld
from recallens.model.verdict import Found, Note, Pick
from recallens.recall.certificate import limited
from recallens.recall.disagreements import disagreements
from recallens.recall.pipeline import pipeline
from recallens.recall.presets import Preset, preset_named
from recallens.recall.rerank import NAME as RERANK
from recallens.recall.results import ended_of, results, silence_of
from recallens.recall.runner import run
from recallens.recall.scene import MULTILINGUAL, open_scene
from recallens.recall.select import spending
from recallens.store.protocols import Writer
from recallens.text.remembered import asked_in
from recallens.text.statements import statements_in
from recallens.text.token_count import count_tokens
from recallens.text.tokenizer import TOKENIZER_VERSION

# Ledgers of recorded recalls that a session keeps, to be explained and replayed.
LEDGERS_KEPT = 20
NOTHING_FITS = "nothing that was found fits the budget"
EMPTY_QUERY = (
    'the query is empty; give the question in words, for example: recallens xray "how long are lookups cached"'
)


# Writes a recall as the surface sends it.
Deliver = Callable[[Recall], str]
# How much of a memory is asked with to find what states otherwise, and among how many that is looked for.
LONGEST_QUESTION, COMPARED = 400, 16


class Search:
    """Answers questions; only what a search returned is written down, in one transaction after it."""

    def __init__(self, core: Core, encoder: StoreEncoder) -> None:
        self._core = core
        self._encoder = encoder

    def query(self, text: str, **options: Unpack[SearchOptions]) -> Query:
        """A checked query from loose options; every wrong one is an error that lists what would be right."""
        with asked_in(options.get("namespace") or self._core.settings.namespace):
            return question(text, options, self._core.settings, self._core.clock)

    def question(self, text: str, **options: Unpack[SearchOptions]) -> Query:
        """A query for explaining: never empty, and else what a search would ask, so that both list the same rows."""
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(EMPTY_QUERY)
        return self.query(text, **{"certify": True, **options})  # type: ignore[arg-type]

    def search(
        self, text: str, *, owner: str | None = None, deliver: Deliver | None = None, **options: Unpack[SearchOptions]
    ) -> Recall:
        """Recall, then record what was returned (unless `record=False`, or the store cannot be written to).

        `deliver` writes the answer as it is sent: within a budget, that text is what must fit it.
        """
        recall = self.sent(self.query(text, **options), deliver)
        return self.recorded(recall, record=options.get("record"), owner=owner)

    def sent(self, query: Query, deliver: Deliver | None) -> Recall:
        """What a surface sends for the query, which for a person's screen depends on how it is written there."""
        recall = self.recall(query)
        bounded = query.budget is not None or query.tokens is not None
        return _delivered(recall, deliver) if deliver is not None and recall.results and bounded else recall

    def recorded(self, recall: Recall, *, record: bool | None, owner: str | None) -> Recall:
        """The recall, after what it returned was written down. What it lacked of vectors is made after the answer."""
        query = recall.query
        if MULTILINGUAL in recall.degraded:
            self._encoder.later(query.namespace)
        if not self.records(record) or query.as_of is not None or not (recall.results or recall.silence):
            return recall
        injected = [result.memory.id for result in recall.results]  # of silence none: nothing is learned from it
        self._core.log.gives([to_builtins(result.state) for result in recall.results])
        try:
            with self._core.store.write(query.namespace) as tx:
                audit = self.write_down(tx, query, injected, recall.ledger, owner=owner)
        except StoreError as error:
            if owner is not None:  # what a token read and nobody could write down, it does not get
                raise
            told = "; ".join(filter(None, (recall.notice, f"not recorded: {error.message}")))
            return replace(recall, notice=told)
        return replace(recall, audit=audit, recorded=True)

    def records(self, wish: bool | None) -> bool:
        """Whether what is returned is written down: as the caller wishes, or as the settings say."""
        return (self._core.settings.record if wish is None else wish) and not self._core.store.read_only

    def documents(self, text: str, *, owner: str | None = None, **options: Unpack[SearchOptions]) -> Recall:
        """Only what was cut from documents, through the same pipeline."""
        only: SearchOptions = {"limit": DEFAULT_LIMIT, **options, "documents": Documents.ONLY}
        return self.search(text, owner=owner, **only)

    def recall(self, query: Query) -> Recall:
        """The answer and the ledger that caused it. Writes nothing; an index file that is damaged is made anew."""
        with asked_in(query.namespace):
            try:
                return self._recall(query)
            except DamagedIndex:
                self._core.discard_index(query.namespace)
                return self._recall(query)

    def compared(
        self, standing: Mapping[int, MemoryState], about: Memory, beside: Iterable[Memory] = (), *,
        scopes: Iterable[str] = (), namespace: str | None = None,
    ) -> dict[int, MemoryState]:  # fmt: skip
        """The states, with which of the memories beside it, or of those like it, state otherwise: as a recall tells it,
        which finds both together.
        """
        told, held = dict(standing), tuple(scopes)
        if withheld(about, held) is not None or about.status is not Status.ACTIVE or not statements_in(about.content):
            return told
        asked = Query(about.content[:LONGEST_QUESTION], self._core.clock(), self._core.namespace(namespace),
                      Mode.KEYWORD, COMPARED, cut=False, scopes=held)  # fmt: skip
        near = [each for each in beside if withheld(each, held) is None and each.status is Status.ACTIVE]
        alike = (result.memory for result in self.recall(asked).results)
        known = list({each.num: each for each in (about, *near, *alike)}.values())
        for behind, ahead in disagreements(known).items():
            num, others = known[behind].num, tuple(known[at].handle for at in sorted(ahead))
            if num in told:
                told[num] = replace(told[num], stated_otherwise_by=others)
        return told

    def _recall(self, query: Query) -> Recall:
        preset = preset_named(query.preset)
        if not query.text.strip():
            return _nothing(query, self._versions(preset), "the query is empty: nothing was searched")
        meant = query.text if "semantic" in preset.views(query.mode) else None
        with self._core.seen(query.namespace, meant=meant, recalls=True) as snapshot:
            if query.mode is Mode.SEMANTIC:
                # Nothing else could answer, so a missing encoder is an error here and not a degradation.
                self._core.encoding.available()
            if snapshot is None:
                return _nothing(query, self._versions(preset), f"namespace {query.namespace!r} holds nothing yet")
            encoding, versions, standing = self._core.encoding, self._versions(preset), self._standing()
            lag = snapshot[0].whole.lag() if self._core.settings.read_url is not None else None
            if lag is not None:
                versions["replica"] = lag.told()
            scene = open_scene(
                *snapshot,
                encoding=encoding,
                second=self._core.second,
                preset=preset,
                query=query,
                versions=versions,
                standing=standing,
            )
            ledger, pool = run(pipeline(scene, preset, query, self._core.reranking), query)
            returned = results(snapshot[0], scene, ledger, pool, query)
            silence = None if returned else silence_of(scene, ledger)
            ended = None if returned else ended_of(scene, ledger, query)
            waiting = snapshot[2].without_vector()
        views = [entry.verdict for entry in ledger.entries if isinstance(entry.verdict, Found)]
        failed = {view.view: view.error for view in views if view.error is not None}
        if waiting and any(view.view == "semantic" for view in views):
            waits = "1 memory waits for its own; words find it"
            if waiting != 1:
                waits = f"{waiting:,} memories wait for theirs; words find them"
            failed.setdefault("semantic", f"{INCOMPLETE}{waits}")
        have, wanted = scene.second_vectors
        if have < wanted:
            failed.setdefault(MULTILINGUAL, f"{INCOMPLETE}{have:,} of {wanted:,} memories have theirs")
        for note in ledger.notes(RERANK)[-1:]:
            if "error" in note:
                failed[RERANK] = note["error"]
        notice = NOTHING_FITS if not returned and _too_long(ledger) else None
        recall = Recall(
            query, returned, ledger, encoding.key, degraded=failed, notice=notice, silence=silence, ended=ended
        )
        return _without_unreadable(recall, snapshot[2])

    def _standing(self) -> str | None:
        """The checkout that the person or the agent works in, as the verdicts on citations name it."""
        if self._core.folder is None:
            return None
        from recallens.ingest.repository import checked_out

        return checked_out(self._core.folder)

    def ledger(self, query: Query) -> Ledger:
        return self.recall(query).ledger

    def _versions(self, preset: Preset) -> dict[str, Any]:
        """What else the answer depends on beside store, query and clock."""
        versions = {
            "engine": __version__,
            "preset": preset.name,
            "encoder": self._core.encoding.key or "none",
            "schema": SCHEMA_VERSION,
            "tokenizer": str(TOKENIZER_VERSION),
        }
        if self._core.reranking is not None:
            versions["reranker"] = self._core.reranking.model.name
        return {"encoder": self._core.encoding.key, "versions": versions}

    def write_down(
        self, tx: Writer, query: Query, injected: Sequence[str], ledger: Ledger | None = None,
        *, owner: str | None = None,
    ) -> dict[str, str]:  # fmt: skip
        """Salience (once a day a memory), the asker's links, the audit entries, and the ledger that caused it.

        Gives the audit entry of each memory.
        """
        # What a token does is done when it is done, whatever time it asks about.
        now = query.now if owner is None else self._core.clock()
        if tx.state is None:
            return {}
        numbers = tx.memories.find(injected)
        # Read again: since the recall, another may have reinforced or deleted what it returned.
        memories = tx.memories.get(list(numbers.values()))
        kept = [memories[numbers[id]] for id in injected if id in numbers]
        due = [memory for memory in kept if now - (memory.reinforced_at or 0) >= DAY_MS]
        tx.memories.reinforce([(numbers[memory.id], _after_recall(memory, now)) for memory in due], now)
        # What is recorded after its end is no part of a task.
        asking = tx.tasks.get(query.task) if query.task is not None else None
        task = asking.id if asking is not None and asking.running else None
        events = [
            Event(query.namespace, EventKind.RECALLED, now, memory.id, query.session, task,
                  amount=RECALL_REINFORCEMENT if memory in due else None, owner=owner)
            for memory in kept
        ]  # fmt: skip
        tx.trail.record(events, [numbers[memory.id] for memory in kept])
        if query.session is not None:
            self._core.ensure_session(tx, query.session, at=now, project=query.filters.project, owner=owner)
            tx.sessions.link(query.session, [numbers[memory.id] for memory in kept], Usage.RECALLED, now)
        entry = self._core.log.recalled(tx, query.text, [numbers[memory.id] for memory in kept], query.session, owner)
        audit = {memory.id: entry.id for memory in kept}
        if ledger is not None and self._core.settings.capture and _all_there(tx, ledger):
            digest, packed = ledger.kept()
            tx.trail.put_ledger(
                id=snapshot_id_of(digest, ledger.query["now"]), session=query.session or "", at=self._core.clock(),
                ledger=packed, audit=audit, keep=LEDGERS_KEPT, owner=owner,
                since=self._core.clock() - self._core.settings.ledger_days * DAY_MS,
            )  # fmt: skip
        return audit


def _all_there(tx: Writer, ledger: Ledger) -> bool:
    """Whether every memory that the ledger tells of is still stored: what was erased is not written down again."""
    told = {id for note in ledger.notes("identity") for id in note["rows"]}
    return len(tx.memories.find(list(told))) == len(told)


def _without_unreadable(recall: Recall, version: Version) -> Recall:
    """What cannot be read is in quarantine in the index; a row that was spoilt since it was read is left out here."""
    readable = {each.memory.id for each in recall.results if each.memory.review != UNREADABLE}
    spoilt = len(recall.results) - len(readable)
    known = version.columns.names["review"].find(UNREADABLE)
    count = spoilt + int((version.columns["review"] == known).sum() if known >= 0 else 0)
    if not count:
        return recall
    told = f"{count:,} memor{'y' if count == 1 else 'ies'} cannot be read and stay out: `recallens doctor` names them"
    left = held_to(recall, readable, "it cannot be read") if spoilt else recall
    return replace(left, notice="; ".join(filter(None, (left.notice if left is recall else None, told))))


def _too_long(ledger: Ledger) -> bool:
    """Whether something was found, and all of it was left out for its length."""
    return any(
        isinstance(entry.verdict, Pick)
        and entry.verdict.name == "budget-fit"
        and entry.considered > entry.admitted == 0
        for entry in ledger.last_round()
    )


def held_to(recall: Recall, ids: Collection[str], reason: str = "does not fit the budget as it is sent") -> Recall:
    """The recall with these of its results alone, which its ledger and its certificate say too."""
    results = tuple(result for result in recall.results if result.memory.id in ids)
    if len(results) == len(recall.results):
        return recall
    ledger, pool = recall.ledger, recall.ledger.replay()
    order = np.array([at for at in pool.ranked().tolist() if pool.ids[at].decode() in ids], dtype=np.int64)
    pick = Pick("delivery", order, np.zeros(len(order)), reason)
    entries = [Entry(stage="deliver", verdict=pick, considered=len(recall.results), admitted=len(order))]
    for certificate in ledger.notes("certificate")[-1:]:
        left = Note("certificate", limited(certificate, ids))
        entries.append(Entry(stage="deliver", verdict=left, considered=0, admitted=0))
    notice = None if results else NOTHING_FITS
    return replace(recall, results=results, notice=notice, ledger=replace(ledger, entries=(*ledger.entries, *entries)))


def _delivered(recall: Recall, deliver: Deliver) -> Recall:
    """As many of the results, best first, as fit the budget in the very text that is sent; the ledger says how much."""
    query, ledger = recall.query, recall.ledger
    ids = [result.memory.id for result in recall.results]
    for kept in range(len(ids), -1, -1):
        sent = held_to(recall, ids[:kept])
        text = deliver(sent)
        tokens = count_tokens(text)
        if len(text) <= (query.budget or len(text)) and tokens <= (query.tokens or tokens):
            break
    spent = Note("budget", {**ledger.notes("budget")[-1], "used": len(text), "usedTokens": tokens})
    told = Entry(stage="deliver", verdict=spent, considered=0, admitted=0)
    return replace(sent, ledger=replace(ledger, entries=(*sent.ledger.entries, told)))


def _nothing(query: Query, plan: Mapping[str, Any], notice: str) -> Recall:
    """The recall that found nothing to look at: its ledger says only what was planned."""
    planned = Note("plan", {"preset": query.preset, "views": [], "depth": 0, **plan})
    spent = Note("budget", spending(query, used=0, used_tokens=0, items={}))
    notes = (("plan", planned), ("select", spent))
    entries = tuple(Entry(stage=stage, verdict=note, considered=0, admitted=0) for stage, note in notes)
    return Recall(query, (), Ledger(query.to_json(), entries), plan["encoder"], notice=notice)


def _after_recall(memory: Memory, now: int) -> float:
    return reinforced(
        reinforcement=memory.reinforcement,
        reinforced_at=memory.reinforced_at or 0,
        sector=memory.sector,
        importance=memory.importance,
        by=RECALL_REINFORCEMENT,
        at=now,
    )
