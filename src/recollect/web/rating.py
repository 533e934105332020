"""Rating the results of a question into a golden set, and how well the set is answered now."""

from __future__ import annotations

from recollect.errors import InvalidInput
from recollect.evaluate.golden import GRADES
from recollect.evaluate.rating import rate, rated_path, rated_questions, rated_sets, standing
from recollect.model.query import MAX_LIMIT
from recollect.operations import Right
from recollect.web.answering import Elsewhere, Page
from recollect.web.searching import choices
from recollect.web.visits import Visit

DEFAULT_SET = "rated"
RATED = 10
GRADE = "grade."
WORDS = {0: "not relevant", 1: "somewhat", 2: "relevant", 3: "exactly it"}


def rating(visit: Visit) -> Page:
    engine, namespace = visit.engine, visit.namespace
    name = visit.given.get("set", "").strip() or DEFAULT_SET
    shown: dict[str, object] = {
        "set": name,
        "sets": rated_sets(engine),
        "path": rated_path(engine, name),
        "standing": standing(engine, name, namespace=namespace, now=engine.clock()),
        "words": {grade: WORDS[grade] for grade in GRADES},
        "grade": GRADE,
        "may_write": visit.caller.right is Right.WRITE and not engine.store.read_only,
        "rows": (),
        "given": {},
        "saved": visit.given.get("saved") == "yes",
        **choices(visit),
    }
    if visit.query:
        asked = visit.question()
        options = asked.options(engine.clock()) | {"limit": asked.limit or RATED}
        recall = engine.recall(engine.query(asked.query, **options, namespace=namespace))
        kept = next(
            (one for one in rated_questions(engine, name, namespace=namespace) if one.query == visit.query), None
        )
        shown |= {"rows": recall.results, "given": dict(kept.grades) if kept else {}}
    return Page("rate.html", shown, sends=True)


def rated(visit: Visit) -> Elsewhere:
    call = visit.may(Right.WRITE)
    name = visit.form.get("set", "").strip() or DEFAULT_SET
    said = {field.removeprefix(GRADE): value for field, value in visit.form.items() if field.startswith(GRADE)}
    if len(said) > MAX_LIMIT:
        raise InvalidInput(f"at most {MAX_LIMIT:,} results can be rated at once")
    wrong = [value for value in said.values() if value not in {str(grade) for grade in GRADES}]
    if wrong:
        raise InvalidInput(f"a grade is one of 0, 1, 2, 3, not {wrong[0]!r}")
    known = visit.engine.memories_of(said, namespace=call.namespace)
    grades = {id: int(value) for id, value in said.items() if id in known}
    rate(visit.engine, name, visit.query, grades, namespace=call.namespace)
    return Elsewhere(visit.link("/rate", q=visit.query, set=name, saved="yes", namespace=visit.form.get("namespace")))
