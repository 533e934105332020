"""The operations that every surface offers; `OPERATIONS` is the one table of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recallens.operations.access import Call, Caller, Right
from recallens.operations.asking import ASKING
from recallens.operations.crafts import CRAFTS
from recallens.operations.keeping import KEEPING
from recallens.operations.memories import MEMORIES
from recallens.operations.operation import Answer, Operation, Written, perform
from recallens.operations.retrieving import RETRIEVING
from recallens.operations.tending import TENDING
from recallens.operations.working import WORKING

OPERATIONS: Final[Mapping[str, Operation]] = {
    one.name: one for one in (*ASKING, *CRAFTS, *KEEPING, *MEMORIES, *RETRIEVING, *WORKING, *TENDING)
}

__all__ = ["OPERATIONS", "Answer", "Call", "Caller", "Operation", "Right", "Written", "perform"]
