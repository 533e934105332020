"""An agent's whole loop through a real client: search, timeline, details, crafts, X-ray, remember, found again."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from mcp_scene import Desk, over_http, over_stdio

from recallens import Draft, Engine
from recallens.text.token_count import budget_tokens

pytestmark = pytest.mark.slow

DAY = 86_400_000


@dataclass(frozen=True)
class Tongue:
    question: str
    helpful: str
    other: str
    topic: str
    principle: str
    pattern: str
    gotcha: str
    file: str
    learned: str
    asked_again: str


ENGLISH = Tongue(
    question="How do we roll back the gateway?",
    helpful="Roll back the gateway with the release job and the last green tag.",
    other="The gateway runs in the edge cluster in Frankfurt.",
    topic="gateway rollback",
    principle="Drain before you roll back",
    pattern="Roll back by tag",
    gotcha="Pods hang after a rollback",
    file="deploy/pods.yaml",
    learned="The rollback job needs the approval of whoever is on call.",
    asked_again="who approves the rollback job",
)
KOREAN = Tongue(
    question="게이트웨이를 어떻게 되돌리나요?",
    helpful="게이트웨이를 되돌릴 때는 릴리스 작업과 마지막 정상 태그를 쓴다.",
    other="게이트웨이는 프랑크푸르트 엣지 클러스터에서 돈다.",
    topic="게이트웨이 되돌리기",
    principle="되돌리기 전에 비운다",
    pattern="태그로 게이트웨이 되돌리기",
    gotcha="되돌린 뒤 파드가 멈춘다",
    file="deploy/파드.yaml",
    learned="되돌리기 작업에는 당직자의 승인이 필요하다.",
    asked_again="되돌리기 작업은 누가 승인하나",
)

Transport = Callable[[Path], AbstractContextManager[Desk]]
# Each transport in each language, and each with the handshake of older clients and without.
SCENES: dict[str, tuple[Transport, Tongue]] = {
    "stdio, English": (over_stdio, ENGLISH),
    "stdio with a handshake, Korean": (partial(over_stdio, mode="legacy"), KOREAN),
    "HTTP with a handshake, English": (partial(over_http, mode="legacy"), ENGLISH),
    "HTTP, Korean": (over_http, KOREAN),
}


def fill(store: Path, said: Tongue) -> str:
    with Engine.open(store, encoder="hashing:64") as engine:
        now = engine.core.clock()
        task = engine.tasks.start(said.question, id="t-1")
        helpful = engine.remember(Draft(said.helpful, kind="pattern", task=task.id, created=now - 3 * DAY))
        engine.remember(Draft(said.other, created=now - 2 * DAY))
        engine.tasks.log(task.id, f"$ rollback --tag v1.9.2\n{said.helpful}", kind="terminal_snapshot")
        engine.tasks.end(task.id, reward=1.0)
        engine.crafts.record_skill(said.topic, core_principles=[said.principle])
        engine.crafts.record_pattern(said.pattern, description=said.helpful)
        engine.crafts.record_gotcha(said.gotcha, resolution=said.principle, files=[said.file])
        return helpful.id


@pytest.mark.parametrize("scene", SCENES)
def test_the_whole_loop(scene: str, store: Path) -> None:
    transport, said = SCENES[scene]
    known = fill(store, said)
    with transport(store) as desk:
        found = desk.ask("search_memory", query=said.question, intent="how_to", session="s-1")
        helpful = next(one for one in found["results"] if one["id"] == known)
        assert found["certificate"]["completenessScore"] is not None
        assert found["metadata"]["resultCount"] == len(found["results"])

        around = desk.ask("get_timeline", observation_id=helpful["handle"], window=7)
        assert [entry["relation"] for entry in around["entries"]][:2] == ["after", "same_task"]

        # The details of a memory of a task are that task's logs.
        details = desk.ask("get_details", task_id="t-1")
        assert "rollback --tag v1.9.2" in details["entries"][0]["full_content"]

        assert desk.ask("get_skill", topic=said.topic)["core_principles"] == [said.principle]
        assert said.pattern in [one["title"] for one in desk.ask("search_patterns", query=said.pattern)["results"]]
        by_file = desk.ask("search_gotchas", query=said.gotcha, files=[said.file])["results"]
        assert [(one["title"], one["resolution"]) for one in by_file] == [(said.gotcha, said.principle)]

        seen = desk.ask("recall_xray", query=said.question, sessionKey="s-1", budget=2_000)
        assert seen["snapshotFound"] is True
        assert seen["snapshot"]["sessionKey"] == "s-1"
        assert seen["snapshot"]["budget"]["chars"] == 2_000
        assert helpful["id"] in [result["memoryId"] for result in seen["snapshot"]["results"]]

        kept = desk.ask("remember", content=said.learned, kind="lesson", citations=["commit:4be19c7"], session="s-1")
        again = desk.ask("search_memory", query=said.asked_again)
        assert kept["id"] in [one["id"] for one in again["results"]]
        assert kept["outcome"] == "created"
    with Engine.open(store, encoder="hashing:64") as engine:
        learned = engine.get(kept["id"])
        assert (learned.zone, learned.source.split(":")[0]) == ("working", "mcp")
        assert list(engine.maintenance.doctor().problems) == []


@pytest.mark.parametrize("scene", SCENES)
def test_a_task_from_its_beginning_to_what_was_learned_from_it(scene: str, store: Path) -> None:
    transport, said = SCENES[scene]
    known = fill(store, said)
    with transport(store) as desk:
        begun = desk.told("begin_work", task=said.question, tokens=800)
        assert budget_tokens(begun) <= 800
        assert said.helpful in begun
        task = re.match(r"Task (\S+) has begun", begun)[1]  # type: ignore[index]
        (helpful,) = {line.split()[2] for line in begun.splitlines() if line.startswith("[") and " m" in line} & {
            handle_of(store, known)
        }
        kept = desk.told("remember", content=said.learned, task=task)
        ended = desk.told(
            "finish_work", task=task, outcome="success", used=[helpful], summary=said.pattern,
            learned=[said.asked_again, said.learned],
        )  # fmt: skip
        first, *lines = ended.splitlines()
        assert first == f"Task {task} has ended with reward 1."
        assert lines[0] == f"Used: {helpful}."
        assert lines[1].startswith("Learned, kept as m")
        assert lines[2] == kept.strip().replace("Kept", "Known already")
        again = desk.refused("finish_work", task=task, outcome="failure")
        assert f"the task '{task}' has ended with reward 1" in again
        assert "Nothing was changed." in again
        assert said.learned in desk.told("begin_work", task=said.learned)
        forgotten = desk.told("forget", id=kept.split()[-1].rstrip("."))
        assert said.learned[:20] in forgotten
        assert said.learned not in desk.told("begin_work", task=said.learned).partition("\n\n")[2]
    with Engine.open(store, encoder="hashing:64") as engine:
        learned = engine.get(lines[1].split()[-1].rstrip("."))
        assert (learned.content, learned.task, learned.zone) == (said.asked_again, task, "working")
        assert learned.source.split(":")[0] == "mcp"
        number = engine.get(known).num
        with engine.core.read(None) as reader:  # it was of use, and no agent's success moves what is the person's
            assert number in reader.tasks.uses(task)
        assert engine.tasks.uplift_of([known]) == {}


def handle_of(store: Path, id: str) -> str:
    with Engine.open(store, encoder="hashing:64") as engine:
        return engine.get(id).handle


def test_what_a_client_calls_itself_is_kept_as_the_source(store: Path) -> None:
    with over_stdio(store, mode="legacy") as desk:
        kept = desk.ask("remember", content="The valve is on the left.")
    with Engine.open(store, encoder="hashing:64") as engine:
        assert engine.get(kept["id"]).source == "mcp:mcp"  # the SDK's own name
