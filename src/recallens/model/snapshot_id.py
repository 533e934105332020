"""What a snapshot is called. Apart from the snapshot itself: every recorded recall has an id, few are explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

if TYPE_CHECKING:
    from recallens.model.ledger import Ledger

SCHEMA_VERSION: Final = "1"

_SNAPSHOTS: Final = UUID("8f1b6a52-0c1d-5c8e-9a57-5a0d9d3c7e11")


def snapshot_id(ledger: Ledger) -> str:
    """The id that a ledger's snapshot has: derived, so that it is the same wherever it is asked for."""
    return snapshot_id_of(ledger.digest(), ledger.query["now"])


def snapshot_id_of(digest: str, asked_at: int) -> str:
    return str(uuid5(_SNAPSHOTS, f"{digest}:{asked_at}"))
