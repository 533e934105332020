"""Layer 2: a memory in the course of events."""

from __future__ import annotations

from recallens.engine.core import Core
from recallens.errors import InvalidInput
from recallens.model.layers import TimelineEntry
from recallens.model.query import MAX_LIMIT
from recallens.model.salience import DAY_MS
from recallens.recall.provenance import ONLY_HERE
from recallens.render.layers import Surroundings, timeline_entry

WINDOW_DAYS = 7
ENTRIES_A_SIDE = 10
MOST_DAYS = 36_500


class Layering(Core):
    def timeline_around(
        self,
        observation_id: str,
        *,
        window: float = WINDOW_DAYS,
        limit: int = ENTRIES_A_SIDE,
        namespace: str | None = None,
    ) -> tuple[TimelineEntry, ...]:
        """What came within so many days before and after a memory in its project, in the order of time."""
        if isinstance(window, bool) or not isinstance(window, int | float) or not 0 <= window <= MOST_DAYS:
            raise InvalidInput(f"window must be a number of days from 0 to {MOST_DAYS:,}, not {window!r}")
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be a whole number from 1 to {MAX_LIMIT:,}, not {limit!r}")
        with self.store.read(self.namespace(namespace)) as reader:
            self._state(reader)
            num = self._num(reader, observation_id)
            before, after = reader.memories.window(num, round(window * DAY_MS), limit, ONLY_HERE)
            nums = [*before, *after]
            turns = reader.sessions.turns(nums, ONLY_HERE)
            beside = {turn for _, *both in turns.values() for turn in both if turn is not None}
            memories = reader.memories.get(sorted({num, *nums, *beside}))
            sessions = reader.sessions.sources(nums)
            tasks = sorted({task for n in nums if (task := memories[n].task) is not None})
            outcomes = reader.tasks.outcomes(tasks)
        entries = []
        for n in nums:
            memory = memories[n]
            _, previous, following = turns.get(n, (None, None, None))
            around = Surroundings(
                session=sessions.get(n),
                previous=memories[previous] if previous is not None else None,
                following=memories[following] if following is not None else None,
                outcome=outcomes.get(memory.task) if memory.task is not None else None,
            )
            entries.append(timeline_entry(memory, memories[num], around))
        return tuple(entries)
