"""The specifications' names of options, and a search for nothing."""

from __future__ import annotations

from typing import Any

import pytest

from http_scene import QUESTION, Scene
from recallens.ingest.draft import Draft

SAID = "Lookups of the harbor API are cached for 90 seconds"


@pytest.fixture(scope="module")
def ids(furnished: Scene) -> dict[str, str]:
    """What two projects say of the same thing, one of them in a session."""
    drafts = {
        "harbor": Draft(SAID, project="harbor", session="s-harbor"),
        "quay": Draft("Lookups of the quay API are cached for 5 minutes", project="quay"),
    }
    return {name: furnished.engine.remember(draft).id for name, draft in drafts.items()}


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ({"projectId": "harbor"}, {"project": "harbor"}),
        ({"sessionId": "s-harbor"}, {"session": "s-harbor", "inSession": "s-harbor"}),
        ({"sessionKey": "s-new"}, {"session": "s-new"}),
        ({"includeDocuments": "false"}, {"documents": "exclude"}),
        ({"includeDocuments": "true"}, {"documents": "include"}),
        ({"maxTokens": "60"}, {"tokens": "60"}),
        ({"maxResults": "1"}, {"limit": "1"}),
        ({"scopeFolders": "wiki"}, {"folders": "wiki"}),
        ({"embeddingBlendAlpha": "0.2", "preset": "fusion"}, {"blend": "0.2", "preset": "fusion"}),
        ({"hierarchicalReweightEnabled": "true"}, {"hierarchical": "true"}),
        ({"chunkLevelRetrieval": "false"}, {"chunkLevel": "false"}),
        ({"minSalience": "0.1", "includeSuperseded": "true", "mode": "keyword", "sector": "semantic"}, None),
    ],
)
def test_a_search_takes_the_names_of_the_specification(
    furnished: Scene, ids: dict[str, str], said: dict[str, str], same: dict[str, str] | None
) -> None:
    with furnished.client() as client:
        asked = {"q": QUESTION, "cut": "false", "now": "2026-11-17"}
        answers = [client.get("/v1/recall/xray", params=asked | given) for given in (said, same or said)]
        plain = client.get("/v1/search", params={"query": QUESTION} | said)
    assert [answer.status_code for answer in (*answers, plain)] == [200] * 3, [answer.text for answer in answers]
    first, second = (answer.json()["snapshot"]["results"] for answer in answers)
    assert [row["memoryId"] for row in first] == [row["memoryId"] for row in second]
    if "projectId" in said or "sessionId" in said:
        assert [row["memoryId"] for row in first] == [ids["harbor"]]


def test_a_body_takes_them_too_with_what_they_hold(furnished: Scene, ids: dict[str, str]) -> None:
    with furnished.client() as client:
        budget = client.post("/v1/search", json={"query": QUESTION, "budget": {"maxResults": 1, "maxTokens": 400}})
        signals = {"openFilePath": "src/cache.py", "recentSlashCommands": ["/deploy"]}
        body: dict[str, Any] = {
            "query": QUESTION, "workStateSignals": signals, "contextBudget": {"totalBudget": 900},
            "includeRawConversations": True, "actionabilityWeights": {"fileMatch": 0.5},
        }  # fmt: skip
        context = client.post("/v1/recall", json=body)
        kept = client.post("/v1/memories", json={"content": "Quay deploys at noon", "projectId": "quay"})
        around = client.get(f"/v1/memories/{ids['quay']}/timeline", params={"depthBefore": 1, "depthAfter": 0})
        twice = client.get("/v1/search", params={"q": QUESTION, "projectId": "quay", "project": "harbor"})
        unknown = client.get("/v1/search", params={"q": QUESTION, "projectID": "quay"})
    assert len(budget.json()["results"]) == 1
    assert context.status_code == 200, context.text
    assert context.json()["contextBudget"] == 900
    assert furnished.engine.get(kept.json()["id"]).project == "quay"
    assert around.status_code == 200, around.text
    assert len(around.json()["before"]) <= 1
    assert not around.json()["after"]
    assert twice.status_code == 400
    assert "projectId and project say the same thing" in twice.json()["message"]
    assert unknown.status_code == 400


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_a_search_for_nothing_is_empty_and_an_explanation_of_it_is_refused(furnished: Scene, text: str) -> None:
    with furnished.client() as client:
        for path in ("/v1/search", "/v1/recall", "/v1/documents/search", "/v1/patterns"):
            answer = client.get(path, params={"q": text})
            assert answer.status_code == 200, (path, answer.text)
            assert not answer.json().get("results", answer.json().get("selectedChunks"))
        brief = client.get("/v1/search", params={"q": text, "brief": "true"}).json()
        posted = client.post("/v1/search", json={"query": text})
        refused = [client.get("/v1/recall/xray", params={"q": text}),
                   client.get("/v1/recall/why-not", params={"q": text, "memory": furnished.ids[0]})]  # fmt: skip
    assert (brief["results"], brief["notice"]) == ([], "the query is empty: nothing was searched")
    assert posted.json()["notice"] == "the query is empty: nothing was searched"
    assert [answer.status_code for answer in refused] == [400, 400]
