"""An agent's whole loop as one scene: task, search, certificate, expand, timeline, details, log, reward; and again."""

from __future__ import annotations

import pytest

from recallens import Draft, Engine
from recallens.engine.layers import MemorySearch

DAY = 86_400_000
QUESTION = "How do we roll back the gateway?"
HELPFUL = "Roll back the gateway with the release job and the last green tag, then drain whatever pods are left over."
OTHER = "Roll back the gateway with a revert of the merge, and by waiting for the pipeline to come round."


@pytest.fixture
def filled(real: Engine) -> Engine:
    now = real.core.clock()
    real.tasks.start("Get the gateway back after a bad release", id="earlier")
    real.remember(Draft(OTHER, created=now - 3 * DAY, kind="pattern", task="earlier"))
    real.remember(Draft(HELPFUL, created=now - 3 * DAY, kind="pattern", task="earlier"))
    real.remember(Draft("The gateway runs in the edge cluster in Frankfurt.", created=now - 40 * DAY))
    real.remember(Draft("게이트웨이 배포는 화요일에 한다.", created=now - 2 * DAY))
    return real


def ranked(found: MemorySearch) -> list[str]:
    return [result.memory.content for result in found.recall.results]


def test_the_loop_teaches_the_next_search(filled: Engine) -> None:
    # A task that went badly without the helpful memory, so that there is something to compare with.
    edge = next(
        r.memory.id for r in filled.search("Frankfurt", record=False).results if "Frankfurt" in r.memory.content
    )
    before = filled.tasks.start("Undo the gateway release", id="t-0")
    filled.tasks.used([edge], task=before.id)
    filled.tasks.end(before.id, reward=0.1)

    task = filled.tasks.start("Roll back the gateway", id="t-1", session="s-1")
    found = filled.layers.search(QUESTION, task=task.id, session="s-1", intent="how_to")
    assert ranked(found)[:2] == [OTHER, HELPFUL]
    assert found.certificate is not None
    assert found.certificate["completenessScore"] > 0.6
    assert found.metadata()["strategy"] in ("simple", "standard", "complex")
    assert found.metadata()["resultCount"] == len(found.entries)

    # Too little for a second question: the search widens once, and says where else to look.
    wider = filled.layers.search("who signed off the emergency budget for the gateway outage?", task=task.id)
    assert wider.metadata()["widened"]
    assert wider.certificate is not None
    assert "suggestion" in wider.certificate

    helpful = next(entry for entry in found.entries if HELPFUL[:20] in entry.summary and "green" in entry.text)
    around = filled.layers.around(helpful.handle, window=7)
    # its own task's other memory, the Korean note a day later, and the episode of the task that went badly
    assert [entry.relation for entry in around.entries] == ["same_task", "after", "after"]

    details = filled.layers.details(helpful.handle)
    assert any("last green tag" in entry.full_content for entry in details.entries)

    filled.tasks.log(task.id, "$ rollback --tag v1.9.2\nrolled back in 41 s", kind="terminal_snapshot")
    filled.tasks.used([helpful.id], task=task.id, session="s-1")
    filled.tasks.end(task.id, reward=1.0, summary="Rolled back with the last green tag.")
    assert "rolled back in 41 s" in filled.layers.details(task.id).entries[0].full_content

    again = filled.layers.search(QUESTION, record=False)
    parts = {result.memory.content: dict(result.parts) for result in again.recall.results}
    assert ranked(again).index(HELPFUL) < ranked(again).index(OTHER)
    # Without it the other would stand first: what it pays for repeating the first is none of its own.
    alone = sum(parts[OTHER].values()) - parts[OTHER].get("mmrPenalty", 0.0)
    assert sum(parts[HELPFUL].values()) - parts[HELPFUL]["uplift"] < alone
    assert parts[HELPFUL]["uplift"] > 0
    assert "uplift" not in parts[OTHER]  # nobody knows what it is worth, which is not the same as nothing
    snapshot = filled.recalls.snapshot_of(again.recall)
    shown = next(result for result in snapshot.results if result.memoryId == helpful.id)
    assert shown.scoreDecomposition["uplift"] == parts[HELPFUL]["uplift"]


def test_what_happened_is_listed_in_the_order_of_time(filled: Engine) -> None:
    found = filled.layers.search("what happened to the gateway", record=False)
    assert found.metadata()["order"] == "chronological"
    created = [entry.created for entry in found.entries]
    assert created == sorted(created)


def test_the_budget_is_kept_by_whole_entries(filled: Engine) -> None:
    found = filled.layers.search(QUESTION, max_tokens=80, cut=False, record=False)
    assert 1 <= len(found.entries) <= 2
    assert found.tokens <= 80
    assert len(filled.layers.search(QUESTION, max_results=1, record=False).entries) == 1


def test_only_cited_memories_where_citations_are_required(filled: Engine) -> None:
    filled.remember("The gateway rollback job is defined in deploy/rollback.yaml:12.")
    found = filled.layers.search(QUESTION, requires_citations=True, record=False)
    assert [entry.is_cited for entry in found.entries] == [True]
    gate = next(
        trace for trace in filled.recalls.snapshot_of(found.recall).filters if trace.name == "requires-citations"
    )
    assert gate.reason == "uncited"


def test_the_scope_of_a_task_leaves_out_all_others(filled: Engine) -> None:
    found = filled.layers.search(QUESTION, scope="task", task="earlier", record=False)
    assert set(ranked(found)) == {HELPFUL, OTHER}
    assert len(ranked(filled.layers.search(QUESTION, scope="org", record=False))) > 2


def test_the_json_has_the_specified_fields(filled: Engine) -> None:
    answer = filled.layers.search(QUESTION, record=False).to_json()
    assert {"id", "summary", "utilityScore", "type", "citations"} <= answer["results"][0].keys()
    assert {"completenessScore", "redundancyRatio"} <= answer["certificate"].keys()
    assert {"complexity", "strategy", "resultCount", "estimatedTokens"} <= answer["metadata"].keys()


def test_the_utility_is_the_ledgers_own_score(filled: Engine) -> None:
    found = filled.layers.search(QUESTION, record=False)
    for entry, result in zip(found.entries, found.recall.results, strict=True):
        assert entry.utility_score == result.score
        assert sum(result.parts.values()) == pytest.approx(result.score, abs=1e-9)


def test_alpha_multiplies_what_fits_the_question(filled: Engine) -> None:
    full, half = (
        {r.memory.id: r.parts for r in filled.search(QUESTION, alpha=alpha, record=False).results}
        for alpha in (0.8, 0.4)
    )
    for id, parts in half.items():
        assert parts["bm25"] == pytest.approx(full[id]["bm25"] / 2)
        assert parts["importance"] == full[id]["importance"]
