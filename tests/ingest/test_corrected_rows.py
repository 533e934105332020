"""For which correcting texts the store is read: those whose words some older statement shares enough of."""

from __future__ import annotations

import pytest

from recallens import Engine
from recallens.ingest.corrected_rows import OlderStatements
from recallens.ingest.corrections import correction_in
from recallens.model.memory import RelationType
from standing import FixedClock

STORED = (
    "The nightly backup runs on the old rack in the cellar",
    "Parcels for Lyon leave with the courier from the north gate",
    "Lunch is at noon",
    "The deposit for a kayak is 40 euros",
    "환불 기간은 7일이다",
)
CORRECTING = (
    ("The nightly backup no longer runs on the old rack", True),
    ("Parcels for Lyon now leave with the tram from the north gate", True),
    ("We switched from the courier to the tram for parcels to Lyon", True),
    ("The deposit for a kayak changed from 40 to 50 euros", True),  # an amount is not known to the index
    ("환불 기간은 이제 14일이다", True),  # nor is a Korean word without its particles
    ("The choir now sings in the chapel by the harbour", False),
    ("Ticket scanners are no longer charged overnight", False),
)


@pytest.mark.parametrize(("text", "may"), CORRECTING)
def test_the_store_is_read_where_a_statement_may_be_corrected(engine: Engine, text: str, may: bool) -> None:
    for stored in STORED:
        engine.remember(stored)
    memory = engine.get(engine.remember(text, dedupe=False).id)
    correction = correction_in(text)
    assert correction is not None
    with engine.core.seen("default") as snapshot:
        assert snapshot is not None
        reader, _, version = snapshot
        assert bool(OlderStatements(reader, version.lexical).like(memory, correction)) is may


@pytest.mark.parametrize("text", [text for text, may in CORRECTING if may])
def test_what_a_text_corrects_is_proposed(engine: Engine, text: str) -> None:
    for stored in STORED:
        engine.remember(stored)
    new = engine.get(engine.remember(text, dedupe=False).id)
    with engine.core.store.read("default") as reader:
        relations = reader.relations.of(new.num)
    assert [relation.type for relation in relations] == [RelationType.MAY_SUPERSEDE]


def test_what_came_later_or_belongs_to_another_project_is_not_corrected(engine: Engine) -> None:
    text = "The nightly backup no longer runs on the old rack"
    engine.remember(STORED[0], project="harbor", created=1)
    memory = engine.get(engine.remember(text, project="orchard", dedupe=False).id)
    earlier = engine.get(engine.remember(text, project="harbor", created=0, dedupe=False).id)
    correction = correction_in(text)
    assert correction is not None
    with engine.core.seen("default") as snapshot:
        assert snapshot is not None
        reader, _, version = snapshot
        assert not OlderStatements(reader, version.lexical).like(memory, correction)
        assert not OlderStatements(reader, version.lexical).like(earlier, correction)


def test_a_figure_with_a_comma_is_what_was_replaced(engine: Engine) -> None:
    old = engine.remember("Budget for the whole renovation is 18,000 euros, of which 3,000 are a reserve")
    new = engine.get(engine.remember("We moved the budget of the renovation from 18,000 to 23,500 euros").id)
    with engine.core.store.read("default") as reader:
        (relation,) = reader.relations.of(new.num)
    assert (relation.type, relation.target) == (RelationType.MAY_SUPERSEDE, old.id)


@pytest.mark.parametrize(
    ("first", "raised", "now"),
    [
        (
            "진사 그릇은 하나에 38유로에 판다.",
            "구리값이 두 배가 되어 진사 그릇 값을 46유로로 올렸다.",
            "진사 그릇은 이제 하나에 52유로",
        ),
        (
            "The studio rent is 900 euros a month",
            "We raised the rent of the studio: now 950 euros a month",
            "The studio rent is now 1,000 euros a month",
        ),
    ],
    ids=["ko", "en"],
)
def test_of_several_the_one_that_holds_now_is_to_be_replaced(
    engine: Engine, clock: FixedClock, first: str, raised: str, now: str
) -> None:
    engine.remember(first)
    clock.advance(days=1)
    current = engine.remember(raised)
    clock.advance(days=1)
    kept = engine.remember(now)
    new = engine.get(kept.id)
    with engine.core.store.read("default") as reader:
        (relation,) = reader.relations.of(new.num)
    assert (relation.type, relation.target) == (RelationType.MAY_SUPERSEDE, current.id)
    assert kept.may_replace == current.handle
