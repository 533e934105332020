"""The operations that every surface offers; `OPERATIONS` is the one table of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recollect.operations.access import Call, Caller, Right
from recollect.operations.asking import ASKING
from recollect.operations.crafts import CRAFTS
from recollect.operations.keeping import KEEPING
from recollect.operations.operation import Answer, Operation, Written, perform
from recollect.operations.showing import SHOWING

OPERATIONS: Final[Mapping[str, Operation]] = {one.name: one for one in (*ASKING, *CRAFTS, *SHOWING, *KEEPING)}

__all__ = ["OPERATIONS", "Answer", "Call", "Caller", "Operation", "Right", "Written", "perform"]
