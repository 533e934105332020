"""Rating the results of a question into a golden set, and how well the set is answered now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recallens.errors import InvalidInput
from recallens.evaluate.golden import GRADES
from recallens.evaluate.shelf import rate, rated_path, rated_questions, rated_score, rated_sets
from recallens.model.query import MAX_LIMIT
from recallens.model.recall import SearchResult
from recallens.operations import Right
from recallens.web.page import Shown, ShownPage, elsewhere
from recallens.web.visit import Visit

DEFAULT_SET = "rated"
RATED = 10
GRADE = "grade."
WORDS = {0: "not relevant", 1: "somewhat", 2: "relevant", 3: "exactly it"}


def rating(visit: Visit) -> ShownPage:
    return _page(visit, visit.given.get("set", "").strip() or DEFAULT_SET)


def rated(visit: Visit) -> Shown:
    """What cannot be kept is shown again with what was said, so that nothing is lost."""
    call = visit.may(Right.WRITE)
    name = visit.form.get("set", "").strip() or DEFAULT_SET
    ratings = {field.removeprefix(GRADE): value for field, value in visit.form.items() if field.startswith(GRADE)}
    if len(ratings) > MAX_LIMIT:
        raise InvalidInput(f"at most {MAX_LIMIT:,} results can be rated at once")
    wrong = [value for value in ratings.values() if value not in {str(grade) for grade in GRADES}]
    if wrong:
        raise InvalidInput(f"a grade is one of 0, 1, 2, 3, not {wrong[0]!r}")
    rated_path(visit.engine, name, namespace=visit.namespace)
    known = visit.engine.memories.many(list(ratings), namespace=call.namespace)
    grades = {id: int(value) for id, value in ratings.items() if id in known}
    try:
        rate(visit.engine, name, visit.query, grades, namespace=call.namespace)
    except InvalidInput as error:
        return _page(visit, name, grades=grades, problem=str(error))
    return elsewhere(visit.link("/rate", q=visit.query, set=name, saved="yes", namespace=visit.form.get("namespace")))


def _page(visit: Visit, name: str, *, grades: Mapping[str, int] = {}, problem: str | None = None) -> ShownPage:
    engine, namespace = visit.engine, visit.namespace
    path = rated_path(engine, name, namespace=namespace)
    rows: Sequence[SearchResult] = ()
    kept: Mapping[str, int] = {}
    if visit.query:
        question = visit.question()
        options: dict[str, Any] = {"limit": RATED, **visit.options(question)}
        rows = engine.recall(engine.recalls.query(question.query, **options, namespace=namespace)).results
        before = rated_questions(engine, name, namespace=namespace)
        kept = next((rated.grades for rated in before if rated.query == visit.query), {})
    values = {
        "set": name, "sets": rated_sets(engine, namespace=namespace), "path": path,
        "standing": rated_score(engine, name, namespace=namespace, now=engine.core.clock()),
        "words": WORDS, "grade": GRADE, "rows": rows, "given": {**kept, **grades}, "problem": problem,
        "may_write": visit.may_write,
        "saved": visit.given.get("saved") == "yes",
    }  # fmt: skip
    return ShownPage("rate.html", values, 200 if problem is None else 400)
