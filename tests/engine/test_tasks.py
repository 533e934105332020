"""Scenes of tasks on a real store: started, logged, ended; what was used; what repeated attempts become."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound, UnknownOption
from recallens.model.citation import FileCitation, LogCitation, TerminalCitation
from recallens.model.memory import Kind, Origin, RelationType, Status, Usage, Zone
from recallens.model.salience import uplift_of
from recallens.model.trust import PERSON, Actor
from recallens.recall.presets import UPLIFT_WEIGHT
from recallens.store.sqlite import connection
from recallens.store.sqlite.migrations import MIGRATIONS
from standing import FixedClock, Open

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def attempt(engine: Engine, clock: FixedClock, text: str, reward: float, summary: str | None = None, log: str = ""):
    task = engine.tasks.start(text, project="api")
    if log:
        engine.tasks.log(task.id, log)
    clock.advance(ms=60_000)
    return engine.tasks.end(task.id, reward=reward, summary=summary)


def test_a_task_becomes_an_episode_that_cites_its_logs(engine: Engine, clock: FixedClock) -> None:
    task = engine.tasks.start("Rotate the signing keys", session="s-1", project="api", worktree="keys")
    log = engine.tasks.log(task.id, "rotated 3 keys\nverified")
    screen = engine.tasks.log(task.id, "$ keyctl list\n3 keys", kind="terminal_snapshot")
    clock.advance(ms=5_000)
    ended = engine.tasks.end(task.id, reward=0.9, summary="Rotated all keys without a restart.")
    episode = engine.get(ended.episode)
    assert (episode.kind, episode.task, episode.reward, episode.project) == (Kind.EPISODE, task.id, 0.9, "api")
    assert episode.content == "Rotated all keys without a restart."
    assert episode.title == "Rotate the signing keys"
    assert episode.citations == (LogCitation(log.id), TerminalCitation(screen.id))
    assert engine.tasks.get(task.id) == ended.task
    assert (ended.task.reward, ended.task.ended, ended.promoted) == (0.9, clock.now, ())
    assert engine.search("signing keys").results[0].memory.id == episode.id
    assert [one.id for one in engine.tasks.recent(running=False)] == [task.id]
    assert engine.tasks.recent(running=True) == []
    kinds = engine.core.store.connection.execute(
        "SELECT kind, task, amount FROM events WHERE kind = 'outcome'"
    ).fetchall()
    assert kinds == [("outcome", task.id, 0.9)]


def test_korean_tasks_are_recognised_and_found(engine: Engine, clock: FixedClock) -> None:
    ended = attempt(
        engine, clock, "스테이징 서버에 결제 모듈 배포하기", 1, "결제 모듈을 배포했다. 재시작은 필요 없었다."
    )
    again = attempt(engine, clock, "결제 모듈을 스테이징 서버에 배포", 1)
    other = attempt(engine, clock, "운영 서버의 인증 토큰 교체하기", 1)
    assert again.task.wording == ended.task.id
    assert other.task.wording == other.task.id
    assert engine.search("결제모듈").results[0].memory.id == ended.episode


def test_secrets_are_taken_out_of_logs_texts_and_summaries(engine: Engine) -> None:
    task = engine.tasks.start(f"Push with {SECRET}")
    artifact = engine.tasks.log(task.id, f"remote: using {SECRET}\ndone")
    ended = engine.tasks.end(task.id, reward=1, summary=f"Pushed with {SECRET} at last")
    told = [ended.task.text, ended.task.summary, artifact.content, engine.get(ended.episode).content]
    told += [entry.full_content for entry in engine.layers.details(task.id).entries]
    assert all(text is not None and "[REDACTED:" in text and SECRET not in text for text in told)
    engine.crafts.record_gotcha("Leaks", description=f"It printed {SECRET}", resolution=f"unset {SECRET}")
    gotcha = engine.crafts.gotchas("Leaks")[0]
    assert SECRET not in f"{gotcha}{engine.get(gotcha.id)}"


def test_what_is_wrong_says_what_would_be_right_and_changes_nothing(engine: Engine) -> None:
    task = engine.tasks.start("Fix the build", id="T-1")
    with pytest.raises(InvalidInput, match="already"):
        engine.tasks.start("Fix it", id="T-1")
    with pytest.raises(InvalidInput, match="without blanks"):
        engine.tasks.start("Fix it", id="a b")
    with pytest.raises(InvalidInput, match="empty"):
        engine.tasks.start("  ")
    with pytest.raises(UnknownOption, match="log, terminal_snapshot"):
        engine.tasks.log(task.id, "x", kind="video")
    with pytest.raises(InvalidInput, match="the log is empty"):
        engine.tasks.log(task.id, "\n \n")
    with pytest.raises(InvalidInput, match="4,194,304"):
        engine.tasks.log(task.id, "x" * 4_194_305)
    for reward in (-0.1, 1.1, float("nan"), "good", True):
        with pytest.raises(InvalidInput, match="reward"):
            engine.tasks.end(task.id, reward=reward)  # type: ignore[arg-type]
    for act in (lambda: engine.tasks.end("T-9", reward=1), lambda: engine.tasks.log("T-9", "x"),
                lambda: engine.tasks.used(["01AAAAAAAA"], task="T-9"),
                lambda: engine.search("x", task="T-9")):  # fmt: skip
        with pytest.raises(NotFound, match="no task 'T-9'"):
            act()
    with pytest.raises(InvalidInput, match="at least one"):
        engine.tasks.used([], task=task.id)
    engine.tasks.end(task.id, reward=0.5)
    with pytest.raises(InvalidInput, match=r"has ended with reward 0\.5"):
        engine.tasks.end(task.id, reward=1)
    with pytest.raises(InvalidInput, match="has ended"):
        engine.tasks.log(task.id, "late")
    assert [one.reward for one in engine.tasks.recent()] == [0.5]
    assert engine.maintenance.stats()["totals"]["memories"] == 1
    assert engine.maintenance.stats()["totals"]["artifacts"] == 0


def test_used_is_an_event_a_link_and_a_mark_of_the_task(engine: Engine) -> None:
    id = engine.remember("The broker needs 4 GB of disk").id
    task = engine.tasks.start("Grow the broker's disk", session="s-1")
    assert engine.tasks.used([id[:12], id], task=task.id) == [id]
    assert engine.get(id).uses == 1
    links = [(memory.id, usage) for memory, usage, _ in engine.sessions.report("s-1").links]
    assert (id, Usage.REINFORCED) in links
    rows = engine.core.store.connection.execute("SELECT kind, session, task FROM events").fetchall()
    assert rows == [("used", "s-1", task.id)]
    with pytest.raises(NotFound):
        engine.tasks.used([id, "01ZZZZZZZZZZ"], task=task.id)
    assert engine.get(id).uses == 1  # a wrong one changes nothing


# ── uplift ──


def test_only_what_was_used_counts_and_a_log_can_show_it(engine: Engine, clock: FixedClock) -> None:
    marked = engine.remember("Warm the cache before the deploy").id
    named = engine.remember("The cache deploy log is in /var/log").id
    said = engine.remember("The deploy of the cache evicts the pricing tables first").id
    cited = engine.remember("The cache deploy is described in its runbook", citations=[FileCitation("ops/cache.md")]).id
    returned = engine.remember("The cache deploy needs an owner").id
    task = engine.tasks.start("Deploy the cache", session="s-1")
    assert len(engine.search("cache deploy", mode="keyword", task=task.id).results) == 5
    engine.tasks.used([marked], task=task.id)
    engine.tasks.log(task.id, f"as {engine.get(named).handle} says\nfollowed ops/cache.md step by step\n" * 2)
    engine.tasks.log(task.id, "evicting pricing tables first, as expected")
    ended = engine.tasks.end(task.id, reward=1.0)
    shown = {credit.id: credit.shown for credit in ended.credited}
    assert shown == {named: engine.get(named).handle, said: "its words", cited: "ops/cache.md"}
    again = engine.tasks.start("Deploy the cache once more", session="s-1")
    engine.search("cache deploy", mode="keyword", session="s-1")
    assert engine.tasks.end(again.id, reward=0.0, summary="Nothing came of it.").credited == ()
    found = engine.tasks.uplift_of([marked, named, said, cited, returned])
    assert found.keys() == {marked, named, said, cited}
    assert found[marked] == uplift_of(1, 1.0, 2, 1.0)


def test_uplift_is_a_term_that_beta_weighs_and_is_absent_where_nothing_is_known(engine: Engine) -> None:
    helped = engine.remember("Cache warming runs before the deploy of service alpha").id
    engine.remember("Cache cooling runs after the deploy of service beta")
    for reward, ids in ((1.0, [helped]), (0.0, [])):
        task = engine.tasks.start(f"Job {reward}")
        if ids:
            engine.tasks.used(ids, task=task.id)
        engine.tasks.end(task.id, reward=reward)
    recall = engine.recall(engine.recalls.query("cache deploy service", limit=5))
    parts = {result.memory.id: result.parts for result in recall.results}
    expected = uplift_of(1, 1.0, 2, 1.0)
    assert expected is not None
    assert parts[helped]["uplift"] == pytest.approx(UPLIFT_WEIGHT * 0.2 * expected.value)
    assert all("uplift" not in part for id, part in parts.items() if id != helped)
    (term,) = [term for term in recall.ledger.terms() if term.name == "uplift"]
    assert (term.stats["beta"], term.stats["tasks"]) == (0.2, 2.0)


def test_as_of_uplift_is_judged_by_what_had_ended(engine: Engine, clock: FixedClock) -> None:
    id = engine.remember("Cache keys carry a version").id
    engine.remember("Cache keys are long")
    asked = {}
    for day, reward in ((1, 1.0), (2, 0.0), (3, 0.1)):
        task = engine.tasks.start(f"Number {day}")
        if day != 2:
            engine.tasks.used([id], task=task.id)
        clock.advance(days=1)
        engine.tasks.end(task.id, reward=reward)
        now = engine.recall(engine.recalls.query("cache keys"))
        asked[clock.now] = {r.memory.id: r.parts.get("uplift") for r in now.results if r.memory.task is None}
    clock.advance(days=5)
    for at, then in asked.items():
        past = engine.recall(engine.recalls.query("cache keys", as_of=at))
        told = {r.memory.id: r.parts.get("uplift") for r in past.results if r.memory.task is None}
        assert told == pytest.approx(then)
    before = engine.recall(engine.recalls.query("cache keys", as_of=min(asked) - 1))
    assert all("uplift" not in result.parts for result in before.results)


def test_another_process_sees_the_uplift_and_reindex_counts_the_same(opened: Open) -> None:
    one, two = opened(), opened()
    id = one.remember("Cache keys carry a version").id
    assert "uplift" not in two.recall(two.recalls.query("cache keys")).results[0].parts
    task = one.tasks.start("Bump the version")
    two.search("cache keys", task=task.id)
    two.tasks.used([id], task=task.id)
    one.tasks.end(task.id, reward=0.9)
    seen = two.recall(two.recalls.query("cache keys version", kind="fact")).results[0]
    assert seen.memory.id == id
    assert seen.parts["uplift"] > 0
    before = two.tasks.uplift_of([id])
    one.core.store.connection.execute("UPDATE memories SET tasks_with = 7, reward_with = 0")
    assert any("miscounted" in problem for problem in one.maintenance.doctor().problems)
    one.maintenance.reindex()
    assert one.maintenance.doctor().problems == []
    assert two.tasks.uplift_of([id]) == before
    assert (
        two.recall(two.recalls.query("cache keys version", kind="fact")).results[0].parts["uplift"]
        == seen.parts["uplift"]
    )


# ── promotion ──


def test_three_good_attempts_become_a_pattern_once_and_later_ones_raise_its_count(
    engine: Engine, clock: FixedClock
) -> None:
    said = "Deploy the API to staging"
    assert attempt(engine, clock, said, 0.9, "Ran the migration first, then deployed.").promoted == ()
    assert attempt(engine, clock, "Deploy the API to staging!", 0.4).promoted == ()
    third = attempt(engine, clock, "deploy API to staging", 0.9, "Went well.", log="ok")
    (made,) = third.promoted
    assert (made.kind, made.created, made.count) == (Kind.PATTERN, True, 2)
    memory = engine.get(made.id)
    assert (memory.source, memory.zone, memory.review) == ("rule", Zone.WORKING, "proposed")
    assert [waiting.id for waiting in engine.memories.awaiting_review()] == [made.id]
    built = [r for r in engine.memories.relations(made.id) if r.type is RelationType.BUILDS_ON]
    assert len(built) == 3
    assert {relation.origin for relation in built} == {Origin.RULE}
    (found,) = engine.crafts.patterns("deploy to staging")
    assert (found.title, found.description, found.success_count) == (
        "Deploy the API to staging", "Ran the migration first, then deployed.", 2,
    )  # fmt: skip
    assert found.citations  # the log of the third attempt
    fourth = attempt(engine, clock, said, 0.8)
    assert [(one.id, one.created, one.count) for one in fourth.promoted] == [(made.id, False, 3)]
    assert engine.crafts.patterns("deploy to staging")[0].success_count == 3
    assert len([r for r in engine.memories.relations(made.id) if r.type is RelationType.BUILDS_ON]) == 4


def test_steps_that_an_attempt_wrote_down_make_it_a_skill(engine: Engine, clock: FixedClock) -> None:
    said = "결제 서버 인증서 갱신하기"
    attempt(engine, clock, said, 0.8, "갱신했다.")
    attempt(engine, clock, said, 0.2, "방화벽이 80 포트를 막아서 실패했다.")
    for _ in range(2):
        attempt(engine, clock, said, 1.0)
    assert engine.crafts.patterns("인증서 갱신")[0].success_count == 3
    steps = "1. 80 포트를 연다\n2. certbot renew를 실행한다\n3. nginx를 다시 읽힌다"
    (made,) = attempt(engine, clock, said, 1.0, f"순서대로 했다.\n{steps}").promoted
    assert (made.kind, made.created) == (Kind.SKILL, True)
    skill = engine.crafts.skill("인증서 갱신")
    assert skill is not None
    assert (skill.topic, skill.implementation_guide) == (said, steps)
    assert skill.pitfalls == ("방화벽이 80 포트를 막아서 실패했다.",)
    assert 0.5 < skill.confidence < 1
    assert engine.crafts.patterns("인증서 갱신") == []  # it became the skill


def test_a_proposal_is_approved_held_against_the_next_one_and_undone(engine: Engine, clock: FixedClock) -> None:
    said = "Rotate the signing keys of the gateway"
    for _ in range(3):
        outcome = attempt(engine, clock, said, 1.0, "Rotated the gateway keys with keyctl.")
    (pattern,) = outcome.promoted
    assert "proposed, needs review" in engine.layers.search("rotate the signing keys").to_text()
    engine.memories.review(pattern.id, approve=True)
    approved = engine.get(pattern.id)
    assert (approved.review, approved.zone) == (None, Zone.TRUSTED)
    steps = "1. Make a new key with keyctl\n2. Sign with both for a day\n3. Drop the old key of the gateway"
    (skill,) = attempt(engine, clock, said, 1.0, steps).promoted
    assert (skill.kind, engine.get(skill.id).review) == (Kind.SKILL, "proposed")
    assert engine.get(pattern.id).status is Status.ACTIVE  # what was approved holds until the next is
    (again,) = attempt(engine, clock, said, 1.0, f"{steps}\n4. Tell the owners of the gateway").promoted
    assert [waiting.id for waiting in engine.memories.awaiting_review()] == [again.id]
    engine.memories.review(again.id, approve=True)
    assert engine.get(pattern.id).status is Status.SUPERSEDED
    engine.memories.review(again.id, approve=False)  # undone: what it took the place of holds again
    assert engine.get(again.id).status is Status.REJECTED
    assert engine.get(pattern.id).status is Status.ACTIVE
    assert [found.id for found in engine.crafts.patterns("rotate the signing keys")] == [pattern.id]
    assert attempt(engine, clock, said, 1.0, steps).promoted == ()  # nobody has to reject it twice


def test_three_failures_become_a_gotcha_and_a_success_resolves_it(engine: Engine, clock: FixedClock) -> None:
    said = "Upgrade the broker to version 4"
    log = "src/broker/upgrade.py raised ECONNREFUSED"
    for _ in range(2):
        assert attempt(engine, clock, said, 0.1, "The broker refused connections.", log).promoted == ()
    (made,) = attempt(engine, clock, said, 0.0, "It timed out.").promoted
    assert (made.kind, made.count) == (Kind.GOTCHA, 3)
    (gotcha,) = engine.crafts.gotchas("upgrade the broker", files=["src/broker/upgrade.py"])
    assert (gotcha.occurrence_count, gotcha.resolution) == (3, "")
    assert gotcha.trigger_conditions == ("The broker refused connections.", "It timed out.", "ECONNREFUSED")
    assert gotcha.files == ("src/broker/upgrade.py",)
    (again,) = attempt(engine, clock, said, 1.0, "Stopped the old node before starting the new one.").promoted
    assert again.created
    (resolved,) = engine.crafts.gotchas("upgrade the broker")
    assert resolved.resolution == "Stopped the old node before starting the new one."
    assert resolved.occurrence_count == 3
    assert engine.get(made.id).status is Status.SUPERSEDED


def test_what_was_rejected_stays_away_and_an_edit_is_kept(engine: Engine, clock: FixedClock) -> None:
    for _ in range(3):
        outcome = attempt(engine, clock, "Seed the test database", 1.0)
    (made,) = outcome.promoted
    edited = engine.edit(made.id, "Seed the test database\n\nAlways truncate first.").id
    (again,) = attempt(engine, clock, "Seed the test database", 1.0).promoted
    assert (again.id, again.count) == (edited, 4)
    assert engine.get(edited).content.endswith("Always truncate first.")
    engine.forget(edited)
    assert attempt(engine, clock, "Seed the test database", 1.0).promoted == ()
    assert engine.crafts.patterns("seed the test database") == []


def test_tasks_of_other_projects_numbers_and_meanings_are_other_tasks(engine: Engine, clock: FixedClock) -> None:
    first = attempt(engine, clock, "Close ticket 41 of the billing board", 1).task
    for text in ("Close ticket 42 of the billing board", "Do not close ticket 41 of the billing board"):
        assert attempt(engine, clock, text, 1).task.wording != first.id
    elsewhere = engine.tasks.start("Close ticket 41 of the billing board", project="web")
    assert engine.tasks.end(elsewhere.id, reward=1).task.wording != first.id


def test_a_promotion_is_no_more_trusted_than_its_episodes(engine: Engine, clock: FixedClock) -> None:
    for actor in (PERSON, Actor(Zone.WORKING, "token"), PERSON):
        with engine.core.acting(actor):
            task = engine.tasks.start("Rebuild the search index")
            outcome = engine.tasks.end(task.id, reward=1)
    assert engine.get(outcome.promoted[0].id).zone is Zone.WORKING


def test_forgetting_an_episode_for_good_takes_the_tasks_words_along(engine: Engine) -> None:
    task = engine.tasks.start("Call the plumber about zanzibar")
    engine.tasks.log(task.id, "zanzibar answered")
    ended = engine.tasks.end(task.id, reward=1, summary="zanzibar came")
    engine.forget(ended.episode, hard=True)
    with open(engine.core.store.location, "rb") as file:
        assert b"zanzibar" not in file.read()
    assert engine.tasks.get(task.id).reward == 1.0
    assert engine.maintenance.stats()["totals"]["artifacts"] == 0
    engine.maintenance.remove_namespace("default")
    assert engine.core.store.connection.execute("SELECT count(*) FROM tasks").fetchall() == [(0,)]


def test_what_is_recalled_after_the_end_is_no_part_of_the_task(engine: Engine) -> None:
    id = engine.remember("Cache keys carry a version").id
    task = engine.tasks.start("Bump the version")
    engine.tasks.end(task.id, reward=1)
    assert engine.search("cache keys", task=task.id).recorded
    with pytest.raises(InvalidInput, match="has ended"):
        engine.tasks.used([id], task=task.id)
    assert engine.tasks.uplift_of([id]) == {}
    engine.maintenance.reindex()
    assert engine.tasks.uplift_of([id]) == {}


def test_a_store_from_before_tasks_takes_them(tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(connection, "MIGRATIONS", MIGRATIONS[:2])
        old, _ = connection.open_store(tmp_path / "old.db", create=True)
        old.execute("INSERT INTO namespaces (name, created) VALUES ('default', 0)")
        old.close()
    engine = opened("old.db")
    id = engine.remember("Cache keys carry a version").id
    task = engine.tasks.start("Bump the version")
    engine.tasks.used([id], task=task.id)
    engine.tasks.end(task.id, reward=1)
    assert engine.tasks.uplift_of([id])[id].tasks == 1
