"""Skills, patterns and gotchas on a real store: recorded once a name, found with the specification's fields."""

from __future__ import annotations

import threading

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.ingest.crafts import kept
from recallens.model.citation import FileCitation
from recallens.model.craft import Gotcha, Pattern
from recallens.model.memory import Status, Zone
from recallens.model.trust import Actor
from recallens.model.verdict import Gate
from recallens.render.context import crafts_text
from recallens.render.records import craft_record
from standing import Open


def test_a_skill_comes_back_with_the_specified_fields(engine: Engine) -> None:
    engine.crafts.record_skill(
        "JWT 인증", context="외부 API를 열 때", core_principles=["짧게 살린다", "서명을 확인한다"],
        pitfalls=["alg none"], implementation_guide="1. 키를 만든다\n2. 검증한다", confidence=0.9,
        citations=[FileCitation("src/auth/jwt.py", 3)],
    )  # fmt: skip
    skill = engine.crafts.skill("인증")
    assert skill is not None
    record = craft_record(skill)
    assert {name: value for name, value in record.items() if name not in ("id", "handle")} == {
        "topic": "JWT 인증", "context": "외부 API를 열 때", "core_principles": ["짧게 살린다", "서명을 확인한다"],
        "pitfalls": ["alg none"], "implementation_guide": "1. 키를 만든다\n2. 검증한다", "confidence": 0.9,
        "citations": [{"kind": "file", "path": "src/auth/jwt.py", "startLine": 3}],
    }  # fmt: skip
    assert "서명을 확인한다" in engine.get(skill.id).content  # every field is indexed
    assert engine.search("짧게 살린다").results[0].memory.id == skill.id


def test_a_topic_that_no_skill_is_about_has_none(real: Engine) -> None:
    real.crafts.record_skill("PostgreSQL upgrades", implementation_guide="Replicate, compare, switch.")
    real.remember("Ice cream is sold at the harbour", kind="note")
    assert real.crafts.skill("baking sourdough bread") is None
    assert real.crafts.skill("") is None
    assert real.crafts.skill("upgrading postgres to a new major version") is not None


def test_the_skill_of_that_very_name_comes_first(engine: Engine) -> None:
    engine.crafts.record_skill("Deploy the deploy tool deploy", implementation_guide="deploy deploy deploy")
    named = engine.crafts.record_skill("Deploy")
    found = engine.crafts.skill("deploy")
    assert found is not None
    assert found.id == named.id


def test_patterns_come_back_with_the_specified_fields_and_keep_to_the_limit(engine: Engine) -> None:
    first = engine.crafts.record_pattern(
        "Outbox table", description="Write the event with the row.", example_code="INSERT …"
    )
    engine.crafts.record_pattern("Outbox worker", description="Polls for what is to be sent.")
    found = engine.crafts.patterns("outbox table", limit=1)
    assert [craft_record(one) for one in found] == [
        {"id": first.id, "title": "Outbox table", "description": "Write the event with the row.",
         "example_code": "INSERT …", "success_count": 1, "citations": [], "handle": first.handle}
    ]  # fmt: skip
    again = engine.crafts.record_pattern("outbox  table", description="Write the event with the row.", success_count=2)
    assert (again.id, again.success_count) != (first.id, 1)
    assert engine.crafts.patterns("outbox table", limit=1)[0].success_count == 3
    assert "example_code" not in craft_record(engine.crafts.patterns("polls")[0])


def test_a_gotcha_that_is_seen_again_is_counted_not_repeated(engine: Engine) -> None:
    said = {"description": "The build hangs.", "resolution": "Raise ulimit.", "trigger_conditions": ["on macOS"]}
    first = engine.crafts.record_gotcha("Build hangs", **said)
    again = engine.crafts.record_gotcha("build hangs", **said | {"trigger_conditions": []})
    assert (again.id, again.occurrence_count) == (engine.crafts.gotchas("build hangs")[0].id, 2)
    assert engine.maintenance.stats()["by"]["status"].get("active") == 1
    more = engine.crafts.record_gotcha("Build hangs", trigger_conditions=["with 8 jobs"], files=["Makefile"])
    assert more.id != first.id
    assert engine.get(first.id).status is Status.SUPERSEDED
    (found,) = engine.crafts.gotchas("build hangs")
    assert (found.occurrence_count, found.trigger_conditions, found.files, found.resolution) == (
        3, ("on macOS", "with 8 jobs"), ("Makefile",), "Raise ulimit.",
    )  # fmt: skip
    assert engine.crafts.record_gotcha("Build hangs", project="web").occurrence_count == 1  # another project's own


def test_two_processes_that_see_one_gotcha_at_once_count_two(opened: Open) -> None:
    one, two = opened(), opened()
    one.remember("so that the store is there")

    def see(engine: Engine) -> None:
        for _ in range(5):
            engine.crafts.record_gotcha("Flaky test")

    threads = [threading.Thread(target=see, args=(each,)) for each in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (found,) = one.crafts.gotchas("flaky test")
    assert found.occurrence_count == 10


def test_files_are_a_gate_and_two_of_one_name_are_two_files(engine: Engine) -> None:
    auth = engine.crafts.record_gotcha("Config is cached", files=["src/auth/config.py"]).id
    mail = engine.crafts.record_gotcha("Config is stale", files=["src/mail/config.py"]).id
    bare = engine.crafts.record_gotcha("Config is odd", files=["config.py"]).id
    make = engine.crafts.record_gotcha("Config is made", files=["Makefile"]).id
    plain = engine.remember("Config breaks when src/auth/config.py is empty", kind="gotcha").id

    def ids(*files: str, query: str = "config") -> set[str]:
        return {one.id for one in engine.crafts.gotchas(query, files=files)}

    assert ids() == {auth, mail, bare, make, plain}
    assert ids("src/auth/config.py") == {auth, bare, plain}
    assert ids("auth/config.py") == {auth, bare, plain}
    assert ids("Makefile") == {make}
    assert ids("src/mail/config.py", "Makefile", query="") == {mail, bare, make}
    assert ids("src/none.py") == set()
    recall = engine.recall(engine.recalls.query("config", kind="gotcha", affected=["src/auth/config.py"]))
    gates = [e.verdict for e in recall.ledger.entries if isinstance(e.verdict, Gate)]
    assert "affected-files" in {gate.name for gate in gates}
    told = engine.why_not(mail, "config", kind="gotcha", affected=["src/auth/config.py"])
    assert "affected-files" in told.sentence + str(told)
    engine.maintenance.reindex()
    assert ids("Makefile") == {make}


def test_plain_memories_of_these_kinds_answer_too(engine: Engine) -> None:
    engine.remember("The lift stops at noon. Call Kim to restart it.", kind="gotcha", title="Lift stops")
    engine.remember("패턴은 반복된다. 두 번째 문장이다.", kind="pattern")
    engine.remember("To brew coffee, grind beans. Then pour.", kind="skill")
    (gotcha,) = engine.crafts.gotchas("lift")
    assert (gotcha.title, gotcha.description, gotcha.resolution) == ("Lift stops", "The lift stops at noon.", "")
    assert (gotcha.occurrence_count, gotcha.trigger_conditions) == (1, ())
    (pattern,) = engine.crafts.patterns("반복")
    assert (pattern.title, pattern.description) == ("패턴은 반복된다.", "두 번째 문장이다.")
    skill = engine.crafts.skill("brew coffee")
    assert skill is not None
    assert skill.implementation_guide == "To brew coffee, grind beans. Then pour."
    assert skill.core_principles == ()
    merged = engine.crafts.record_gotcha("Lift stops", resolution="Press reset.")
    assert "Call Kim to restart it." in engine.get(merged.id).content  # nothing that was known is lost


def test_wrong_fields_are_refused_with_the_right_ones(engine: Engine) -> None:
    for act, said in (
        (lambda: engine.crafts.record_gotcha(" "), "needs a title"),
        (lambda: engine.crafts.record_skill(""), "needs a topic"),
        (lambda: engine.crafts.record_gotcha("X", files="a.py"), "list of texts"),
        (lambda: engine.crafts.record_gotcha("X", occurrence_count=-1), "whole number from 0"),
        (lambda: engine.crafts.record_pattern("X", success_count=1.5), "whole number"),  # type: ignore[arg-type]
        (lambda: engine.crafts.record_skill("X", confidence=2), "from 0 to 1"),
        (lambda: engine.crafts.record_skill("X", colour="red"), "the options are"),
        (lambda: engine.remember("X", kind="gotcha", attributes={"trigger_conditions": "x"}), "list of texts"),
        (lambda: engine.crafts.patterns("x", kind="fact"), "leave it out"),
        (lambda: engine.crafts.gotchas("x", files="a.py"), "list of texts"),
    ):
        with pytest.raises(InvalidInput, match=said):
            act()
    assert engine.maintenance.stats()["totals"].get("memories", 0) == 0


def test_a_craft_is_kept_without_blanks_and_repetitions() -> None:
    craft = kept(Gotcha(" T ", " d ", trigger_conditions=("a", " a ", "", "b"), files=("x.py", "x.py")))
    assert (craft.title, craft.description, craft.trigger_conditions, craft.files) == ("T", "d", ("a", "b"), ("x.py",))
    assert kept(Pattern("T")).example_code is None


# ── nothing where nothing fits ──


@pytest.mark.parametrize("question", ["how to bake bread", "빵을 굽는 방법", "best hotel in Lisbon"])
def test_a_question_about_something_else_finds_no_craft(engine: Engine, question: str) -> None:
    for n, name in enumerate(("gateway", "cache", "queue", "배포", "인증")):
        engine.crafts.record_pattern(f"{name} pattern", description=f"How we keep the {name} fast in cluster {n}.")
        engine.crafts.record_gotcha(
            f"{name} gotcha", description=f"The {name} hangs.", resolution=f"Restart the {name}."
        )
        engine.crafts.record_skill(f"{name} skill", core_principles=[f"Drain the {name} first"])
    assert engine.crafts.patterns(question) == []
    assert engine.crafts.gotchas(question) == []
    assert engine.crafts.skill(question) is None
    assert [found.title for found in engine.crafts.patterns("gateway pattern")][:1] == ["gateway pattern"]
    assert [found.title for found in engine.crafts.gotchas("cache gotcha")][:1] == ["cache gotcha"]


def test_what_an_agent_proposes_is_marked_where_patterns_are_found(engine: Engine) -> None:
    trusted = engine.crafts.record_pattern(
        "Retry with jitter", description="Retry calls to the billing api", success_count=3
    )
    with engine.core.acting(Actor(zone=Zone.WORKING, owner="token")):
        engine.crafts.record_pattern("Retry with jitter", description="Retry through another proxy", success_count=1000)
    found = {craft.id: craft for craft in engine.crafts.patterns("retry with jitter")}
    assert not found.pop(trusted.id).marks
    (proposed,) = found.values()
    assert any("proposes to replace" in mark for mark in proposed.marks)
    assert any("working" in mark for mark in proposed.marks)
    assert ", ".join(proposed.marks) in crafts_text([proposed])
