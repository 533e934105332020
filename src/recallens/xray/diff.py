"""Two recalls beside each other: what entered, left and moved, each with its cause."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from recallens.model.ledger import Ledger
from recallens.model.memory import Status, as_json, minted_at
from recallens.model.query import WATCH, Query
from recallens.model.terms import in_words, ordinal
from recallens.model.times import instant
from recallens.xray.counterfactual import FILTER_SETTINGS, Statement
from recallens.xray.ladder import LIMIT_PICKS, NOT_PROPOSED, Fate, Rejection, Walk

# Two sums of the same numbers may differ by this much and mean the same.
_SAME = 1e-12
FEWEST_DECIMALS, MOST_DECIMALS = 4, 12


class TermChanged(Struct, frozen=True, tag_field="type", tag="term"):
    """A part of the score that is not what it was; None where the term was not computed."""

    term: str
    before: float | None
    after: float | None

    def __str__(self) -> str:
        # Four decimals, or more where it takes more to tell the two apart.
        for digits in range(FEWEST_DECIMALS, MOST_DECIMALS + 1):
            after, before = ("nothing" if part is None else f"{part:.{digits}f}" for part in (self.after, self.before))
            if after != before:
                break
        return f"{in_words(self.term)} counts {after} and not {before}"


class Filtered(Struct, frozen=True, tag_field="type", tag="filter"):
    """A gate or a pick that kept it out of one of the two."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"the filter {self.name}" + (f" ({self.reason})" if self.reason else "")


class NewMemory(Struct, frozen=True, tag_field="type", tag="new-memory"):
    def __str__(self) -> str:
        return "it is new: it was stored after the earlier recall"


class GoneSince(Struct, frozen=True, tag_field="type", tag="gone", omit_defaults=True):
    """Superseded, forgotten, archived … since the earlier recall, or deleted for good. `by` took its place."""

    how: str
    by: str | None = None

    def __str__(self) -> str:
        return f"it is {self.how} now" if self.by is None else f"it is {self.how} by {self.by} now"


class SettingChanged(Struct, frozen=True, tag_field="type", tag="setting"):
    setting: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.setting} is {self._in_words(self.after)} and was {self._in_words(self.before)}"

    def _in_words(self, value: Any) -> Any:
        if value is None or value == ():
            return "unset"
        return instant(value) if self.setting in ("now", "as_of") else value


class NotProposed(Struct, frozen=True, tag_field="type", tag="not-proposed"):
    """No view proposed it in one of the two; these did in the other."""

    when: Literal["before", "after"]
    views: tuple[str, ...]

    def __str__(self) -> str:
        views = " and ".join(self.views)
        if self.when == "before":
            return "no view proposed it before" + (f", {views} did now" if views else "")
        return "no view proposes it any more" + (f", {views} did before" if views else "")


OwnCause = TermChanged | Filtered | NewMemory | GoneSince | SettingChanged | NotProposed


class Neighbour(Struct, frozen=True, tag_field="type", tag="neighbour", rename="camel"):
    """Another memory came in above it, or left from above it; that one's cause is the cause."""

    memory_id: str
    moved: Literal["above", "away"]
    cause: OwnCause

    def __str__(self) -> str:
        did = "came above it" if self.moved == "above" else "is not above it any more"
        return f"{self.memory_id} {did}: for that one, {self.cause}"


Cause = OwnCause | Neighbour


class _Crossing(Statement, frozen=True, rename="camel"):
    """A result of one of the two alone, with the rank and score that it has there."""

    memory_id: str
    rank: int
    score: float
    cause: Cause


class Entered(_Crossing, frozen=True, tag_field="type", tag="entered"):
    @property
    def sentence(self) -> str:
        return f"{self.memory_id} entered as {ordinal(self.rank)}: {self.cause}."


class Left(_Crossing, frozen=True, tag_field="type", tag="left"):
    @property
    def sentence(self) -> str:
        return f"{self.memory_id} left from {ordinal(self.rank)} place: {self.cause}."


class MovedResult(Statement, frozen=True, tag_field="type", tag="moved", rename="camel"):
    """In both, at another rank; or at the same rank with another score."""

    memory_id: str
    rank_before: int
    rank_after: int
    score_before: float
    score_after: float
    cause: Cause

    @property
    def sentence(self) -> str:
        scores = f"score {self.score_before:.4f} → {self.score_after:.4f}"
        if self.rank_before == self.rank_after:
            return f"{self.memory_id} stays {ordinal(self.rank_after)} ({scores}): {self.cause}."
        way = f"{ordinal(self.rank_before)} to {ordinal(self.rank_after)}"
        return f"{self.memory_id} moved from {way} ({scores}): {self.cause}."

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"type": "moved" if self.rank_before != self.rank_after else "rescored"}


Difference = Entered | Left | MovedResult


class Diff(Struct, frozen=True):
    """`moved` changed rank, `rescored` kept it with another score."""

    entered: tuple[Entered, ...]
    left: tuple[Left, ...]
    moved: tuple[MovedResult, ...]
    rescored: tuple[MovedResult, ...]
    settings: tuple[SettingChanged, ...]

    @property
    def changes(self) -> tuple[Difference, ...]:
        return (*self.entered, *self.left, *self.moved, *self.rescored)

    @property
    def empty(self) -> bool:
        return not (self.changes or self.settings)

    def to_json(self) -> dict[str, Any]:
        groups = ("entered", "left", "moved", "rescored")
        changes = {name: [change.to_json() for change in getattr(self, name)] for name in groups}
        return changes | {"settings": as_json(self.settings)}


def diff(before: Ledger, after: Ledger) -> Diff:
    return _Comparison(Walk(before), Walk(after)).diff()


class _Comparison:
    def __init__(self, before: Walk, after: Walk) -> None:
        self.before, self.after = before, after
        old, new = settings_of(before.query), settings_of(after.query)
        self.settings: dict[str, SettingChanged] = {}
        for name in {**old, **new}:
            unset = 1.0 if name.startswith("weights.") else None
            change = SettingChanged(name, old.get(name, unset), new.get(name, unset))
            if change.before != change.after:
                self.settings[name] = change
        self._deleted = {id for note in after.notes.get(WATCH, ()) for id in note.get("unknown", ())}

    def diff(self) -> Diff:
        before, after = self.before, self.after
        both = [id for id in after.order if id in before.rank]
        moved = [id for id in both if before.rank[id] != after.rank[id]]
        rescored = [id for id in both if id not in set(moved) and abs(before.score(id) - after.score(id)) > _SAME]
        return Diff(
            entered=tuple(
                Entered(id, after.rank[id], after.score(id), self._why_absent(id, "before"))
                for id in after.order
                if id not in before.rank
            ),
            left=tuple(
                Left(id, before.rank[id], before.score(id), self._why_absent(id, "after"))
                for id in before.order
                if id not in after.rank
            ),
            moved=tuple(self._moved(id, self._by_rank(id, worse=after.rank[id] > before.rank[id])) for id in moved),
            rescored=tuple(self._moved(id) for id in rescored),
            settings=tuple(self.settings.values()),
        )

    def _moved(self, id: str, cause: Cause | None = None) -> MovedResult:
        before, after = self.before, self.after
        cause = cause or self._settled(self._largest_term(id))
        return MovedResult(id, before.rank[id], after.rank[id], before.score(id), after.score(id), cause)

    # ── why it is missing from one of the two ──

    def _why_absent(self, id: str, when: Literal["before", "after"]) -> Cause:
        absent = self.before if when == "before" else self.after
        fate = absent.fate(id)
        cut = fate.cut
        if fate.gates or not fate.proposed or cut is None or cut.name not in LIMIT_PICKS:
            return self._own_reason(id, fate, when)
        if "limit" in self.settings:
            return self.settings["limit"]
        if self._new(id):
            return NewMemory()
        return self._by_rank(id, worse=when == "after") or self._kept_out_by(cut)

    def _own_reason(self, id: str, fate: Fate, when: Literal["before", "after"]) -> OwnCause:
        """Why a row was not there to be ranked, or was cut for something other than its rank."""
        if when == "before" and self._new(id):
            return NewMemory()
        if when == "after" and id in self._deleted:
            return GoneSince("deleted")
        rejected = next((gate for gate in fate.rejections if gate.name != NOT_PROPOSED), None)
        if rejected is not None:
            return self._rejected(id, rejected, when)
        if fate.proposed and fate.cut is not None:
            return self._kept_out_by(fate.cut)
        setting = self._first("namespace", "text", "mode", "preset", "files", "limit", "as_of")
        other = self.after if when == "before" else self.before
        return setting or NotProposed(when, other.fate(id).views)

    def _rejected(self, id: str, gate: Rejection, when: Literal["before", "after"]) -> OwnCause:
        if gate.name in FILTER_SETTINGS:
            setting = self._first(FILTER_SETTINGS[gate.name][0])
        elif gate.name in ("status-active", "validity"):
            setting = self._first("filters.include_superseded", "as_of")
        else:
            setting = self._first("scopes") if gate.name == "context-scope" else None
        if setting is not None:
            return setting
        if gate.name == "status-active" and when == "after":
            # The gate's reason names the statuses: more than one where it masked several rows.
            statuses = gate.reason.removeprefix("rejected ").split(", ")
            how = " or ".join(status for status in Status if status in statuses) or "not active"
            facts = self.after.names.get(id, {}).get("facts", {})
            how = facts.get("status", how)
            return GoneSince(how, facts.get("successor") if how == Status.SUPERSEDED else None)
        return Filtered(gate.name, gate.reason)

    def _kept_out_by(self, cut: Rejection) -> OwnCause:
        setting = self._first("budget", "tokens") if cut.name == "budget-fit" else None
        if cut.name in LIMIT_PICKS:
            setting = self._first("limit")
        return setting or Filtered(cut.name, cut.reason)

    # ── why it ranks elsewhere ──

    def _by_rank(self, id: str, *, worse: bool) -> Cause | None:
        """The highest row that stands above it in the recall where it ranks worse and not in the other, and why."""
        low, high = (self.after, self.before) if worse else (self.before, self.after)
        above, still = (walk.order[: walk.rank.get(id, len(walk.order) + 1) - 1] for walk in (low, high))
        rival = next((other for other in above if other not in still), None)
        if rival is None:
            return None
        moved: Literal["above", "away"] = "above" if worse else "away"
        fate = high.fate(rival)
        ranked = fate.rank is not None or (fate.cut is not None and fate.cut.name in LIMIT_PICKS)
        if not ranked:
            return Neighbour(rival, moved, self._own_reason(rival, fate, "before" if worse else "after"))
        return self._term_between(id, rival, moved)

    def _term_between(self, id: str, rival: str, moved: Literal["above", "away"]) -> Cause:
        """The term that did most to turn the order of two rows, named on the one whose part of it changed more."""
        mine, theirs = _changes(self.before, self.after, id), _changes(self.before, self.after, rival)
        sign = -1.0 if moved == "above" else 1.0
        names = sorted(mine.keys() | theirs.keys())
        turn = {name: sign * (mine.get(name, 0.0) - theirs.get(name, 0.0)) for name in names}
        most = max(names, key=lambda name: turn[name], default=None)
        if most is None or turn[most] <= _SAME:
            return self._settled(self._largest_term(id))
        if abs(mine.get(most, 0.0)) >= abs(theirs.get(most, 0.0)):
            return self._settled(self._term(id, most))
        return Neighbour(rival, moved, self._settled(self._term(rival, most)))

    def _largest_term(self, id: str) -> TermChanged | None:
        change = _changes(self.before, self.after, id)
        most = max(sorted(change), key=lambda name: abs(change[name]), default=None)
        return self._term(id, most) if most is not None else None

    def _term(self, id: str, name: str) -> TermChanged:
        return TermChanged(name, self.before.fate(id).parts.get(name), self.after.fate(id).parts.get(name))

    def _settled(self, cause: TermChanged | None) -> OwnCause:
        """A term that a setting changed has the setting for its cause."""
        if cause is None:
            return self._first(*self.settings) or Filtered("order", "equal scores, newest first")
        switched = cause.term not in self.before.terms or cause.term not in self.after.terms
        names = [f"weights.{cause.term}", "preset", *(("mode",) if switched else ()), "text", "as_of", "files"]
        return self._first(*names) or cause

    # ── what is known of the two ──

    def _first(self, *names: str) -> SettingChanged | None:
        return next((self.settings[name] for name in names if name in self.settings), None)

    def _new(self, id: str) -> bool:
        minted = minted_at(id)
        return minted is not None and minted > self.before.query.now


def _changes(before: Walk, after: Walk, id: str) -> dict[str, float]:
    old, new = before.fate(id).parts, after.fate(id).parts
    changes = {name: new.get(name, 0.0) - old.get(name, 0.0) for name in {**old, **new}}
    return {name: change for name, change in changes.items() if abs(change) > _SAME}


def settings_of(query: Query) -> dict[str, Any]:
    """Every setting by its name. What is watched is left out: watching changes nothing."""
    flat: dict[str, Any] = {}
    for name, value in query.to_json().items():
        if name == "filters":
            flat |= {f"filters.{key}": each for key, each in value.items()}
        elif name not in (WATCH, "weights"):
            flat[name] = value
    return flat | {f"weights.{term}": weight for term, weight in query.weights.items()}
