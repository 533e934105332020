"""What can be done from outside: `OPERATIONS` is the one table. Those of the right OWNER are the command's alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recallens.operations.crafts import CRAFTS
from recallens.operations.curation import CURATION
from recallens.operations.machine import MACHINE
from recallens.operations.memories import MEMORIES
from recallens.operations.operation import Answer, Call, Caller, Operation, Right, Written, owner, perform
from recallens.operations.search import DOCUMENTS, SEARCH
from recallens.operations.sessions import SESSIONS
from recallens.operations.store import STORE
from recallens.operations.work import WORK

OPERATIONS: Final[Mapping[str, Operation]] = {
    operation.name: operation
    for operation in (*WORK, *SEARCH, *CRAFTS, *MEMORIES, *DOCUMENTS, *SESSIONS, *STORE, *CURATION, *MACHINE)
}

__all__ = ["OPERATIONS", "Answer", "Call", "Caller", "Operation", "Right", "Written", "owner", "perform"]
