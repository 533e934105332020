"""The certificate of a recall, outside of it: what it rests on, and whether that still stands."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recallens.errors import InvalidInput
from recallens.model.memory import Memory, Status


def evidence_digest(query: str, rests_on: Iterable[Mapping[str, str]]) -> str:
    told = [query, *([one["id"], one["contentHash"]] for one in rests_on)]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Verification:
    """`altered`: the certificate is not what it was made as. `stale` names each memory that is not what it was."""

    altered: bool
    stale: Mapping[str, str]

    @property
    def valid(self) -> bool:
        return not self.altered and not self.stale

    def to_json(self) -> dict[str, Any]:
        return {"valid": self.valid, "altered": self.altered, "stale": dict(self.stale)}


def evidence_of(certificate: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, str]], str]:
    """The question, the evidence and the digest of a certificate; anything else is refused."""
    try:
        query, digest = certificate["query"], certificate["digest"]
        rests_on = [{"id": str(one["id"]), "contentHash": str(one["contentHash"])} for one in certificate["evidence"]]
    except (KeyError, TypeError) as error:
        raise InvalidInput(
            "this is no certificate: it must have query, evidence (id, contentHash) and digest",
            hint="Give the certificate as `recallens search --brief --json` prints it.",
        ) from error
    return str(query), rests_on, str(digest)


def verified(certificate: Mapping[str, Any], memories: Mapping[str, Memory]) -> Verification:
    """Against the memories as they are now, by id."""
    query, rests_on, digest = evidence_of(certificate)
    stale = {one["id"]: why for one in rests_on if (why := _changed(one, memories.get(one["id"]))) is not None}
    return Verification(evidence_digest(query, rests_on) != digest, stale)


def _changed(one: Mapping[str, str], memory: Memory | None) -> str | None:
    if memory is None:
        return "no longer there"
    if memory.content_hash != one["contentHash"]:
        return "its text changed"
    return None if memory.status is Status.ACTIVE else f"now {memory.status}"
