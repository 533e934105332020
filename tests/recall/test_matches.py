"""What the plan reads out of a question, as terms and gates: intent, time, scope, expansion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from recallens import Draft, Engine
from recallens.model.recall import Recall
from recallens.recall.intents import wish_of
from recallens.recall.presets import INTENT_SHARE

DAY = 86_400_000
# Terms and gates: every row, whether or not it is likely to help.
PLAIN: dict[str, Any] = {"record": False, "cut": False}


def parts(recall: Recall) -> dict[str, dict[str, float]]:
    return {result.memory.content: dict(result.parts) for result in recall.results}


def total(each: dict[str, float], but: Sequence[str]) -> float:
    return sum(part for name, part in each.items() if name not in but)


def test_how_to_do_prefers_the_surest_skill(engine: Engine) -> None:
    sure = Draft("Deploy the gateway with the release job", kind="skill", confidence=0.95)
    unsure = Draft("Deploy the gateway by hand over ssh", kind="skill", confidence=0.4)
    fact = Draft("The gateway was deployed by the release team", kind="fact")
    for draft in (unsure, fact, sure):
        engine.remember(draft)
    found = parts(engine.search("deploy the gateway", intent="how_to_do", **PLAIN))
    so_far = {content: total(each, but=("intentMatch", "tierPrior", "mmrPenalty")) for content, each in found.items()}
    worth = INTENT_SHARE * max(so_far.values())
    assert found[sure.content]["intentMatch"] == pytest.approx(worth * 0.95)
    assert found[unsure.content]["intentMatch"] == pytest.approx(worth * 0.4)
    assert "intentMatch" not in found[fact.content]


def test_an_intent_that_is_only_read_out_weighs_as_much_as_it_is_sure(engine: Engine) -> None:
    engine.remember(Draft("Deploy the gateway with the release job", kind="skill", confidence=0.8))
    (given,) = parts(engine.search("how do I deploy the gateway", intent="how_to_do", **PLAIN)).values()
    (read,) = parts(engine.search("how do I deploy the gateway", **PLAIN)).values()
    sure = wish_of("how do I deploy the gateway").confidence
    assert 0.5 < sure < 1
    assert read["intentMatch"] == pytest.approx(given["intentMatch"] * sure)


def test_what_happened_prefers_episodes(engine: Engine) -> None:
    engine.remember(Draft("The gateway went down at noon", kind="episode", sector="episodic"))
    engine.remember(Draft("The gateway must never go down at noon", kind="principle", sector="semantic"))
    found = parts(engine.search("what happened to the gateway at noon", **PLAIN))
    assert "intentMatch" in found["The gateway went down at noon"]
    assert "intentMatch" not in found["The gateway must never go down at noon"]


def test_known_issues_prefer_gotchas_and_the_files_named(engine: Engine) -> None:
    gotcha = Draft("Reloading src/gate.py twice drops sessions", kind="gotcha")
    named = Draft("src/gate.py holds the reload loop", kind="fact")
    plain = Draft("Reloading drops sessions now and then", kind="fact")
    for draft in (gotcha, named, plain):
        engine.remember(draft)
    found = parts(engine.search("known issues with reloading sessions in src/gate.py", **PLAIN))
    assert found[gotcha.content]["intentMatch"] > found[named.content]["intentMatch"] > 0
    assert "intentMatch" not in found[plain.content]


def test_the_environment_is_what_was_said_last(engine: Engine) -> None:
    now = engine.core.clock()
    for days, text in ((30, "Node is at version 18 on staging"), (1, "Node is at version 22 on staging")):
        engine.remember(Draft(text, created=now - days * DAY))
    recall = engine.search("which version of node is installed on staging", mode="keyword", **PLAIN)
    found = parts(recall)
    old, new = found["Node is at version 18 on staging"], found["Node is at version 22 on staging"]
    assert new["intentMatch"] > old["intentMatch"] > 0
    assert recall.results[0].memory.content == "Node is at version 22 on staging"


def test_code_structure_prefers_the_name(engine: Engine) -> None:
    engine.remember("`parse_config` lives in src/config.py and reads the file")
    engine.remember("The configuration is parsed when the server starts and the file is read")
    found = parts(engine.search("where is parse_config implemented", **PLAIN))
    assert "intentMatch" in found["`parse_config` lives in src/config.py and reads the file"]


def test_a_time_in_the_question_is_a_term_that_fades_outside_it(engine: Engine) -> None:
    now = engine.core.clock()
    texts = {days: f"We moved the queue on day {days} of the plan" for days in (1, 10, 400)}
    for days, text in texts.items():
        engine.remember(Draft(text, created=now - days * DAY))
    found = parts(engine.search("where did we move the queue yesterday", **PLAIN))
    assert found[texts[1]]["timeMatch"] == pytest.approx(1.0)
    assert 0 < found[texts[10]]["timeMatch"] < 0.5
    assert "timeMatch" not in found[texts[400]]
    korean = parts(engine.search("어제 queue 를 어디로 옮겼나", **PLAIN))
    assert korean[texts[1]]["timeMatch"] == pytest.approx(1.0)


def test_a_question_without_a_time_has_no_such_term(engine: Engine) -> None:
    engine.remember("We moved the queue to Redis")
    assert all("timeMatch" not in each for each in parts(engine.search("the queue", **PLAIN)).values())


def test_each_scope_is_a_gate(engine: Engine) -> None:
    engine.tasks.start("Fix the cache", id="t-1")
    engine.remember(Draft("cache of the task", task="t-1", worktree="wt", project="api"))
    engine.remember(Draft("cache of the worktree", worktree="wt", project="api"))
    engine.remember(Draft("cache of the project", project="api"))
    engine.remember(Draft("cache of another project", project="web"))
    within = {"task": "t-1", "worktree": "wt", "project": "api"}
    sizes = {
        scope: len(engine.search("cache", scope=scope, **PLAIN, **({scope: name})).results)
        for scope, name in within.items()
    }
    assert sizes == {"task": 1, "worktree": 2, "project": 3}
    assert len(engine.search("cache", scope="org", **PLAIN).results) == 4


def test_a_harder_question_finds_the_other_language(engine: Engine) -> None:
    engine.remember("Rollback of a deployment needs two approvals in production")
    engine.remember("The harbour cranes are painted yellow every spring")
    recall = engine.search("지난 3개월간 롤백과 승인 이력 전체를 비교해줘", mode="keyword", **PLAIN)
    assert recall.ledger.notes("plan")[0]["strategy"] in ("standard", "complex")
    assert [result.memory.content for result in recall.results] == [
        "Rollback of a deployment needs two approvals in production"
    ]


def test_each_of_the_four_views_finds_what_is_its_own(real: Engine) -> None:
    words = real.remember("The quay wall was poured in 1931")
    meaning = real.remember("Our automobile would not start in the cold")
    exact = real.remember("See src/quay/wall.py for the loads")
    linked = real.remember("Nobody else knows of it")
    real.relate(words.id, linked.id, "CAUSED")
    found = {
        view: {entry.decode() for note in recall.ledger.entries for entry in _ids(note.verdict, view)}
        for view, recall in {
            "lexical": real.search("quay wall", **PLAIN),
            "semantic": real.search("the car broke down", **PLAIN),
            "symbolic": real.search("what is src/quay/wall.py", **PLAIN),
        }.items()
    }
    assert words.id in found["lexical"]
    assert meaning.id in found["semantic"]
    assert exact.id in found["symbolic"]
    assert real.get(linked.id).content in parts(real.search("quay wall poured", **PLAIN))


def _ids(verdict: object, view: str) -> list[bytes]:
    return verdict.ids.tolist() if getattr(verdict, "view", None) == view else []  # type: ignore[attr-defined]
