"""Looking into a recall: its X-ray, why a memory is missing, whether it replays, what changed between two."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallens.engine.recalling import Recalling
from recallens.errors import InvalidInput, NotFound, RecallensError
from recallens.model.audit import Anomaly, anomalies, verify_chain
from recallens.model.ledger import Ledger
from recallens.model.memory import AuditEntry
from recallens.model.query import DEFAULT_BUDGET, DEFAULT_TOKENS, Query
from recallens.model.recall import Recall
from recallens.model.snapshot_id import snapshot_id

# What looks into a recall is loaded by the method that is asked for it: a search needs none of it.
if TYPE_CHECKING:
    from recallens.model.snapshot import Snapshot
    from recallens.xray.diff import Diff, Difference
    from recallens.xray.replay import Replayed
    from recallens.xray.sensitivity import Sensitivity
    from recallens.xray.why_not import WhyNot

EMPTY_QUERY = (
    'the query is empty; give the question in words, for example: recallens xray "how long are lookups cached"'
)


class Xraying(Recalling):
    def question(self, text: str, **options: Any) -> Query:
        """A query for explaining: never empty, and within a budget as an agent would ask it."""
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(EMPTY_QUERY)
        for name, default in (("budget", DEFAULT_BUDGET), ("tokens", DEFAULT_TOKENS)):
            if options.get(name) is None:
                options[name] = default
        return self.query(text, **{"certify": True, **options})

    def ledger(self, query: Query) -> Ledger:
        return self.recall(query).ledger

    def xray(self, text: str, *, trace_id: str | None = None, **options: Any) -> Snapshot:
        """A fresh recall, explained. It injects nothing and records nothing, so it has no audit entries."""
        from recallens.xray.explain import explain

        return explain(self.ledger(self.question(text, **options)), trace_id=trace_id)

    def snapshot_of(self, recall: Recall, *, trace_id: str | None = None) -> Snapshot:
        """The X-ray of a recall that has been made, with the audit entries of what it injected."""
        from recallens.xray.explain import explain

        return explain(recall.ledger, audit=recall.audit, trace_id=trace_id)

    def explain_last(
        self, session: str | None = None, *, namespace: str | None = None, owner: str | None = None
    ) -> Snapshot | None:
        """The last recorded recall of a session, or of those that asked without one; an owner sees only their own."""
        from recallens.xray.explain import explain

        if not self.settings.capture:
            return None
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            if state is None:
                return None
            if owner is None:
                stored = reader.trail.last_ledger(session or "")
            else:
                stored = reader.trail.last_ledger(session or "", owner)
        return explain(Ledger.unpacked(stored[0]), audit=stored[1]) if stored else None

    def sensitivity(self, text: str, **options: Any) -> tuple[Sensitivity, ...]:
        from recallens.xray.sensitivity import sensitivity

        return sensitivity(self.ledger(self.question(text, **options)))

    def why_not(self, memory: str, text: str, **options: Any) -> WhyNot:
        from recallens.xray.why_not import why_not

        query = self.question(text, **options)
        with self.store.read(query.namespace) as reader:
            self._state(reader)
            wanted = self._memory(reader, memory)[1]
        return why_not(wanted.id, query, self.ledger, memory=wanted)

    def stored(self, name: str, *, namespace: str | None = None) -> Ledger:
        """A ledger by its snapshot's id, or from a file that holds a ledger or the JSON of a recorded snapshot.

        One whose decisions do not give what it records, or that is not what its id or digest was made of, was altered.
        """
        path = os.path.expanduser(name)
        if os.path.isfile(path):
            held = _held_in(Path(path))
            if not isinstance(held, str):
                return _unaltered(
                    path, lambda: Ledger.from_json(held), lambda found: found.digest(), held.get("digest")
                )
            name = held
        return self.recorded(name, namespace=namespace)[0]

    def recorded(self, id: str, *, namespace: str | None = None) -> tuple[Ledger, Mapping[str, str]]:
        """A recorded recall by its snapshot's id, with the audit entry of each memory that it injected."""
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            stored = reader.trail.ledger(id) if state is not None else None
        if stored is None:
            raise no_recall(id)
        return _unaltered(id, lambda: Ledger.unpacked(stored[0]), snapshot_id, id), stored[1]

    def recorded_snapshot(self, id: str, *, namespace: str | None = None) -> Snapshot:
        from recallens.xray.explain import explain

        ledger, audit = self.recorded(id, namespace=namespace)
        return explain(ledger, audit=audit)

    def replay(self, name: str, *, namespace: str | None = None) -> tuple[Replayed, list[Difference]]:
        """The recorded result again from its decisions, and what would differ if it were asked now."""
        from recallens.xray.replay import compare_live, replay

        ledger = self.stored(name, namespace=namespace)
        return replay(ledger), compare_live(ledger, self.ledger)

    def diff(self, before: str, after: str, *, namespace: str | None = None) -> Diff:
        from recallens.xray.diff import diff

        return diff(self.stored(before, namespace=namespace), self.stored(after, namespace=namespace))

    # ── the audit log ──

    def audit_verify(self, *, namespace: str | None = None) -> tuple[int, list[str]]:
        """How many entries the chain has, and what is wrong with it."""
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            if state is None:
                return 0, []
            head = reader.trail.audit_head()
            try:
                entries = reader.trail.audit()
                return len(entries), verify_chain(entries, head)
            except (ValueError, TypeError) as error:
                return head[0], [f"an entry was altered so that it cannot be read ({error})"]

    def audit_entries(self, *, limit: int, page: int = 1, namespace: str | None = None) -> tuple[int, list[AuditEntry]]:
        """How many entries were written, and one page of them, the latest first."""
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            if state is None:
                return 0, []
            written = reader.trail.audit_head()[0]
            after = written - page * limit
            found = reader.trail.audit(max(after, 0), limit + min(after, 0)) if after > -limit else []
            return written, found[::-1]

    def audit_anomalies(self, *, namespace: str | None = None) -> list[Anomaly]:
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            if state is None:
                return []
            return anomalies(reader.trail.audit(), len(reader.memories.numbers()))


def no_recall(id: str) -> NotFound:
    return NotFound(
        f"no recorded recall {id!r}",
        hint="A search is recorded under its snapshot's id; `recallens xray --ledger FILE` writes one to keep.",
    )


def _held_in(path: Path) -> dict[str, Any] | str:
    """What a file holds: the record of a ledger, or the id of the snapshot that it shows."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if "entries" in record and isinstance(record, dict):
            return record
        return str(record.get("snapshot", record)["snapshotId"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{path} is neither a ledger nor the JSON of a snapshot",
            hint="`recallens xray --ledger FILE` writes a ledger.",
        ) from error


def _unaltered(name: str, read: Callable[[], Ledger], sign: Callable[[Ledger], str], signature: str | None) -> Ledger:
    from recallens.xray.reading import query_from_record
    from recallens.xray.replay import replay

    try:
        ledger = read()
        replay(ledger)
        query_from_record(ledger.query)
        if signature is not None and sign(ledger) != signature:
            raise ValueError("the ledger was altered: it is not what its digest was made of")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, zlib.error) as error:
        raise RecallensError(
            f"{name} does not reproduce: {error if isinstance(error, ValueError) else 'it cannot be read as a ledger'}",
            hint="It is not the record that was written. Nothing can be concluded from it.",
        ) from error
    return ledger
