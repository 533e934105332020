"""Looking after memories on the page: each form changes one thing, and what it changed can be taken back.

The person whose machine it is acts as at the command. Whoever comes with a token acts as an agent does: what they may
not change is a proposal, and taking back, pinning and deciding are not theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from starlette.responses import Response

from recallens.errors import AwaitsReview, EditConflict, InvalidInput, NotAllowed
from recallens.ingest.validate import later
from recallens.model.trust import PERSON
from recallens.operations import Right
from recallens.operations.arguments import Arguments
from recallens.operations.curation import memories_about
from recallens.operations.memories import list_reviews
from recallens.render.review import reasons
from recallens.web import store
from recallens.web.page import Shown, ShownPage, elsewhere, show
from recallens.web.visit import Visit

TICK: Final = "memory."
MOST_ABOUT: Final = 50
ABOUT_TOPIC: Final = "Name a topic. You see what would be forgotten before anything is, and can bring all of it back."


def changed(visit: Visit) -> Shown:
    """One change of one memory, by the last word of the address; then the memory again, with what was done."""
    visit.may(Right.WRITE)
    action = visit.named["action"]
    if action not in _ACTIONS:
        raise InvalidInput(f"nothing is called {action!r} here")
    id = visit.engine.get(visit.named["id"], namespace=visit.namespace).id
    try:
        word, onward = _acted(visit, lambda: _ACTIONS[action](visit, id))
    except (InvalidInput, EditConflict) as error:
        if action != "edit":
            raise
        return store.memory(visit, problem=error, text=visit.form.get("content", ""))
    return _onward(visit, f"/memories/{onward or id}", word)


def _acted(visit: Visit, act: Callable[[], str | None]) -> tuple[str, str | None]:
    """What was done, as the journal calls it or in a word, and the memory to look at, where that is another one."""
    before = _group(visit)
    try:
        with visit.engine.core.acting(PERSON if visit.is_person else visit.caller.actor):
            onward = act()
    except AwaitsReview:
        return "proposed", None
    after = _group(visit)
    return (after if after is not None and after != before else "done"), onward


def _group(visit: Visit) -> str | None:
    last = visit.engine.memories.reversals.last(visit.namespace)
    return None if last is None else last.group


def _onward(visit: Visit, path: str, word: str) -> Response:
    return elsewhere(visit.link(path, done=word, namespace=visit.form.get("namespace")))


def _edit(visit: Visit, id: str) -> str | None:
    content = visit.form.get("content", "").replace("\r\n", "\n")  # browsers send the line ends of the network
    edited = visit.engine.edit(id, content, namespace=visit.namespace)
    return edited.id


def _pin(visit: Visit, id: str) -> None:
    visit.engine.memories.pin(id, pinned=visit.form.get("pinned") == "yes", namespace=visit.namespace)


def _until(visit: Visit, id: str) -> None:
    when = visit.form.get("until", "").strip()
    end = later(when, now_ms=visit.engine.core.clock()) if when else None
    visit.engine.memories.hold_until(id, end, namespace=visit.namespace)


def _replace(visit: Visit, id: str) -> None:
    visit.engine.supersede(id, _other(visit), namespace=visit.namespace)


def _relate(visit: Visit, id: str) -> None:
    visit.engine.relate(id, _other(visit), visit.form.get("relation", ""), namespace=visit.namespace)


def _unrelate(visit: Visit, id: str) -> None:
    source, target, kind = (visit.form.get(name, "") for name in ("source", "target", "relation"))
    if id not in (source, target):
        raise InvalidInput("that is a relation of other memories")
    visit.engine.memories.unrelate(source, target, kind, namespace=visit.namespace)


def _other(visit: Visit) -> str:
    other = visit.form.get("other", "").strip()
    if not other:
        raise InvalidInput("name the other memory by its handle, such as m12")
    return visit.engine.memories.seen(other, namespace=visit.namespace).id


def _confirm(visit: Visit, id: str) -> None:
    visit.engine.confirm(id, namespace=visit.namespace)


def _forget(visit: Visit, id: str) -> None:
    visit.engine.forget(id, namespace=visit.namespace)


def _restore(visit: Visit, id: str) -> None:
    visit.engine.restore(id, namespace=visit.namespace)


_ACTIONS: Final[Mapping[str, Callable[[Visit, str], str | None]]] = {
    "edit": _edit, "confirm": _confirm, "pin": _pin, "until": _until, "replace": _replace, "relate": _relate,
    "unrelate": _unrelate, "forget": _forget, "restore": _restore,
}  # fmt: skip


def undone(visit: Visit) -> Shown:
    """The change that the page told of, and no other."""
    _for_the_person(visit)
    with visit.engine.core.acting(PERSON):
        visit.engine.memories.undo(visit.form.get("group") or None, namespace=visit.namespace)
    onward = visit.form.get("next", "/")
    return _onward(visit, onward if onward.startswith("/") and not onward.startswith("//") else "/", "undone")


def _for_the_person(visit: Visit) -> None:
    visit.may(Right.WRITE)
    if not visit.is_person:
        hint = "Open the link that `recallens serve` prints."
        raise NotAllowed("this is for the person whose machine it is", hint=hint)


# ── what waits ──


def queue(visit: Visit) -> ShownPage:
    """What waits for a decision, the oldest first, each with its reasons."""
    answer = list_reviews(visit.engine, visit.may(Right.READ), Arguments())
    memories, states, changes = answer.value
    waiting = [(memory, reasons(memory, states.get(memory.id))) for memory in memories]
    return show("review.html", waiting=waiting, changes=changes)


def decided(visit: Visit) -> Shown:
    _for_the_person(visit)
    id, decision = visit.form.get("id", ""), visit.form.get("decision")
    if decision not in ("approve", "reject"):
        raise InvalidInput("a decision is approve or reject")
    word, _ = _acted(
        visit, lambda: visit.engine.memories.review(id, approve=decision == "approve", namespace=visit.namespace)
    )
    return _onward(visit, "/review", word)


# ── a topic ──


def topic(visit: Visit) -> ShownPage:
    """What would be forgotten of a topic: what names it is ticked, what is only related to it is not."""
    if not visit.query:
        return show("forget.html", about=ABOUT_TOPIC, rows=(), related=(), tick=TICK)
    held = visit.may(Right.READ).held()
    rows, related = memories_about(visit.engine, visit.query, limit=MOST_ABOUT, scopes=held, namespace=visit.namespace)
    return show("forget.html", about=ABOUT_TOPIC, rows=rows, related=related, tick=TICK)


def topic_forgotten(visit: Visit) -> Shown:
    visit.may(Right.WRITE)
    ids = [name.removeprefix(TICK) for name in visit.form if name.startswith(TICK)]
    known = visit.engine.memories.many(ids, namespace=visit.namespace)
    if not known:
        raise InvalidInput("nothing was chosen")

    def forget() -> None:
        with visit.engine.memories.reversals.together():
            for id in known:
                visit.engine.forget(id, namespace=visit.namespace)

    word, _ = _acted(visit, forget)
    return _onward(visit, "/forget", word)
