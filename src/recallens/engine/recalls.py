"""Looking into recalls: the X-ray of one, why a memory is missing, whether it replays, what changed between two."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from recallens.engine.core import Core
from recallens.engine.search import Search
from recallens.errors import InvalidInput, NotFound, RecallensError
from recallens.model.ledger import Ledger
from recallens.model.query import SearchOptions
from recallens.model.recall import Recall, RecordedRecall, Verification, evidence_of, verified
from recallens.model.snapshot import snapshot_id
from recallens.model.state import EVERYTHING, Sight

if TYPE_CHECKING:
    from recallens.model.snapshot import Snapshot
    from recallens.xray.diff import Diff, Difference
    from recallens.xray.replay import Replayed
    from recallens.xray.sensitivity import Sensitivity
    from recallens.xray.why_not import WhyNot

RECALLS_SHOWN = 50


class Recalls:
    """Explains recalls, fresh ones and recorded ones."""

    def __init__(self, core: Core, search: Search) -> None:
        self._core = core
        self._search = search
        self.query = search.query
        self.question = search.question
        self.ledger = search.ledger
        self.sent = search.sent
        self.search_documents = search.documents

    def keep(self, recall: Recall) -> Recall:
        """Record a recall that was made without being recorded, as a search does."""
        return self._search.recorded(recall, record=None, owner=None)

    def xray(self, text: str, *, trace_id: str | None = None, **options: Unpack[SearchOptions]) -> Snapshot:
        """A fresh recall, explained. It injects nothing and records nothing, so it has no audit entries."""
        return _explained(self.ledger(self.question(text, **options)), trace_id=trace_id)

    def snapshot_of(self, recall: Recall, *, trace_id: str | None = None) -> Snapshot:
        """The X-ray of a recall that has been made, with the audit entries of what it injected."""
        return _explained(recall.ledger, recall.audit, trace_id)

    def last(
        self, session: str | None = None, *, sight: Sight = EVERYTHING, namespace: str | None = None,
        owner: str | None = None,
    ) -> Snapshot | None:  # fmt: skip
        """The last recorded recall of a session, or of those that asked without one; an owner sees only their own."""
        if not self._core.settings.capture:
            return None
        with self._core.read(namespace) as reader:
            stored = reader.trail.last_ledger(session or "", owner)
        if stored is None:
            return None
        ledger = Ledger.unpacked(stored[0])
        return None if self._holds_withheld(ledger, sight, namespace) else _explained(ledger, stored[1])

    def sensitivity(self, text: str, **options: Unpack[SearchOptions]) -> tuple[Sensitivity, ...]:
        from recallens.xray.sensitivity import sensitivity

        return sensitivity(self.ledger(self.question(text, **options)))

    def why_not(self, memory: str, text: str, *, sight: Sight = EVERYTHING, **options: Unpack[SearchOptions]) -> WhyNot:
        """Of what is withheld from the caller, that it is: asking would tell how well its text fits."""
        from recallens.xray.why_not import kept_back, why_not

        query = self.question(text, **options)
        with self._core.reading(query.namespace) as reader:
            wanted = self._core.memory(reader, memory)[1]
        reason = sight.withholds(wanted)
        if reason is not None:
            return kept_back(wanted, reason)
        return why_not(wanted.id, query, self.ledger, memory=wanted)

    def replay(self, name: str, *, namespace: str | None = None) -> tuple[Replayed, list[Difference]]:
        """The recorded result again from its decisions, and what would differ if it were asked now."""
        from recallens.xray.replay import compare_live, replay

        ledger = self.stored(name, namespace=namespace)
        return replay(ledger), compare_live(ledger, self.ledger, self._core.clock())

    def diff(self, before: str, after: str, *, namespace: str | None = None) -> Diff:
        from recallens.xray.diff import diff

        return diff(self.stored(before, namespace=namespace), self.stored(after, namespace=namespace))

    # ── recorded ones ──

    def stored(self, name: str, *, namespace: str | None = None) -> Ledger:
        """A ledger by its snapshot's id, or from a file that holds a ledger or the JSON of a recorded snapshot.

        One whose decisions do not give what it records, or that is not what its id or digest was made of, was altered.
        """
        path = os.path.expanduser(name)
        if os.path.isfile(path):
            held = _held_in(Path(path))
            if not isinstance(held, str):
                return _unaltered(path, lambda: Ledger.from_json(held), Ledger.digest, held.get("digest"))
            name = held
        return self.recorded(name, namespace=namespace)[0]

    def recorded(
        self, id: str, *, sight: Sight = EVERYTHING, namespace: str | None = None
    ) -> tuple[Ledger, Mapping[str, str]]:
        """A recorded recall by its snapshot's id, with the audit entry of each memory that it injected. To whom a text
        in it is withheld now, it is not there: it may have been asked by somebody who saw more, or before."""
        with self._core.read(namespace) as reader:
            stored = reader.trail.ledger(id)
        if stored is None:
            raise no_recall(id)
        ledger = _unaltered(id, lambda: Ledger.unpacked(stored[0]), snapshot_id, id)
        if self._holds_withheld(ledger, sight, namespace):
            raise no_recall(id)
        return ledger, stored[1]

    def snapshot(self, id: str, *, sight: Sight = EVERYTHING, namespace: str | None = None) -> Snapshot:
        return _explained(*self.recorded(id, sight=sight, namespace=namespace))

    def _holds_withheld(self, ledger: Ledger, sight: Sight, namespace: str | None) -> bool:
        if sight.everything:
            return False
        from recallens.xray.replay import replay

        with self._core.read(namespace) as reader:
            memories = reader.memories.get(list(reader.memories.find(list(replay(ledger).ids)).values()))
        return any(sight.withholds(memory) is not None for memory in memories.values())

    def recent(
        self, *, limit: int = RECALLS_SHOWN, namespace: str | None = None, owner: str | None = None
    ) -> tuple[RecordedRecall, ...]:
        """The recalls that can still be explained, replayed and compared, the latest first; no other owner's."""
        with self._core.read(namespace) as reader:
            kept = reader.trail.ledgers(limit, owner)
        return tuple(
            RecordedRecall(id, at, Ledger.unpacked(packed).query["text"], session or None)
            for id, at, session, packed in kept
        )

    def verify_certificate(
        self, certificate: Mapping[str, Any], *, sight: Sight = EVERYTHING, namespace: str | None = None
    ) -> Verification:
        """Whether what a certificate rests on still stands as it stood."""
        with self._core.read(namespace) as reader:
            numbers = reader.memories.find([each["id"] for each in evidence_of(certificate)[1]])
            memories = reader.memories.get(list(numbers.values()))
        withheld = {memory.id for memory in memories.values() if sight.withholds(memory) is not None}
        return verified(certificate, {memory.id: memory for memory in memories.values()}, withheld)


def _explained(ledger: Ledger, audit: Mapping[str, str] | None = None, trace_id: str | None = None) -> Snapshot:
    from recallens.xray.explain import explain  # late: a search that is not explained does without it

    return explain(ledger, audit=audit, trace_id=trace_id)


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
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is neither a ledger nor the JSON of a snapshot",
            hint="`recallens xray --ledger FILE` writes a ledger.",
        ) from error


def _unaltered(name: str, read: Callable[[], Ledger], sign: Callable[[Ledger], str], signature: str | None) -> Ledger:
    from recallens.xray.ladder import query_from_record
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
