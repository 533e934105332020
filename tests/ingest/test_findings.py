"""What people lay down while they work, in plain words, is found; what they only ask for next is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from recallens.ingest.draft import Draft
from recallens.ingest.findings import Finder
from recallens.ingest.importers import MemoryLine
from recallens.ingest.transcript import TOOL, USER
from recallens.text.sentences import sentences

LAID_DOWN = [
    "No, the retention is 14 days, not 7 days.", "That's wrong: the port is 8443, not 8080.",
    "Actually, we use pnpm, not npm.", "No, don't use mocks here, use the real database.",
    "Don't use moment.js, use date-fns instead.", "From now on, always run the linter before committing.",
    "Let's go with Postgres.", "We'll go with Postgres for the event store.",
    "Stop using tabs in the YAML files.", "I told you: never edit generated files by hand.",
    "We chose Terraform over Pulumi for infra.", "Please remember that the CI cache is per branch.",
    "We now deploy on Thursdays instead of Fridays.", "No, 14 days, not 7", "We decided on Kafka",
    "Actually the webhook signature uses SHA-512, not SHA-256, I checked with the vendor",
    "we agreed with legal that user data is deleted after a year", "let's just go with zod for form validation",
    "btw please don't ever push straight to main", "I'd rather have small commits, one per change",
    "feature flags go through Unleash, not env vars", "that's wrong, the free trial is 21 days not 14",
    "money amounts should be integers in cents everywhere", "we're dropping IE11 support from here on",
    "npm 말고 pnpm을 써", "운영 DB에는 절대로 직접 쿼리 날리지 마", "개인정보는 로그에 남기면 안 돼",
    "환불 API는 관리자만 호출할 수 있게 하는 걸로 정했습니다", "포트는 8080 아니고 9090이야",
    "아니, 보존 기간은 7일이 아니라 14일이야.", "아니요, npm 말고 pnpm을 써야 해요.",
    "이벤트 저장소는 Postgres를 쓰기로 결정했습니다.", "금요일 배포는 금지야, 목요일에만 해.",
    "앞으로는 항상 린터를 먼저 돌려 줘.",
    "생성된 파일은 절대 손으로 고치지 마.",
]  # fmt: skip
ASKED_FOR = [
    "Actually, can you look at the logs first.", "No problem, take your time with it.",
    "No, wait, let me check the dashboard first.", "Run the tests and tell me what fails.",
    "It fails on staging, not production, weird right.", "The build is always failing on my machine today.",
    "I think the cache is stale, look at redis.", "Great, now do the same for the other module.",
    "Now update the README as well please.", "Let's use the debugger to see what is going on.",
    "Now run the tests again and commit.", "we have three failing tests now", "Let's go with the second one then.",
    "don't worry about the warnings for now", "please don't run the build yet, I'm editing package.json",
    "잠깐, 아직 커밋하지 마", "Should we use pnpm instead of npm here?",
    "테스트를 돌리고 결과를 알려줘.", "이거 말고 다른 파일도 봐줘.", "아니 괜찮아 그냥 진행해 줘.",
    "이제 README도 업데이트해 줘.", "좋아, 이제 다음 단계로 넘어가자.", "npm 말고 pnpm을 쓰는 게 나을까?",
]  # fmt: skip

# As people say it to an agent at work, small letters and all, written before the rules; `missed` is not found yet.
SENTENCES = json.loads(Path(__file__).with_name("said_to_agents.json").read_text(encoding="utf-8"))
OF_OTHERS = [
    'Bob wrote: "We decided on Kafka. From now on use Avro."',
    "“Always use tabs in every file” is what their guide says",
    "The error was: 'use const, never use let here'",
    "> From now on all customers must use TLS 1.3.",
    "my tech lead said we should always squash",
    "the style guide says never use default exports",
    "they decided to drop Postgres at my last place",
    'PM이 "앞으로는 금요일 배포 금지"라고 했다',
    "「항상 존댓말을 쓴다」는 문구가 README에 있어",
    "팀장님이 앞으로는 무조건 스쿼시하라고 하셨어",
    "위키에 절대 직접 배포하지 말라고 적혀 있어",
    "옆 팀은 npm 말고 pnpm을 쓴대",
]
WITH_A_NAME = [
    'We decided to call the gateway "harbor".',
    "Don't use 'moment', use date-fns instead.",
    '게이트웨이 이름은 "항구"로 하기로 결정했어',
    "I already said: never edit generated files by hand.",
    "내가 절대 손대지 말라고 했잖아",
]


def found(*lines: MemoryLine) -> list[MemoryLine]:
    finder = Finder()
    return [*finder.found_in(lines), *finder.rest()]


def line(text: str, id: str = "t1", *, author: str = USER, **attributes: object) -> MemoryLine:
    draft = Draft(text, author=author, session="s", source_id=id, position=1, attributes=attributes)
    return MemoryLine(draft, id, None)


@pytest.mark.parametrize("text", [*LAID_DOWN, *SENTENCES["found"], *WITH_A_NAME])
def test_what_is_laid_down_is_found_in_the_words_of_who_said_it(text: str) -> None:
    (one,) = found(line(f"Hm.\n\n{text}"))
    assert one.draft.content == sentences(text)[-1]
    assert one.draft.kind in ("decision", "preference")
    assert one.draft.position is None


@pytest.mark.parametrize("text", [*ASKED_FOR, *SENTENCES["alike"], *OF_OTHERS])
def test_what_is_asked_for_next_is_not(text: str) -> None:
    assert found(line(text)) == []


def test_a_secret_is_no_decision() -> None:
    assert found(line("We decided that the password is hodu1234.")) == []
    assert found(line("운영 서버 암호를 spring2025에서 summer2026으로 바꿨어")) == []


def test_an_assistant_lays_nothing_down() -> None:
    assert found(*(line(text, author="assistant") for text in LAID_DOWN)) == []


def ran(command: str, id: str, *, failed: bool = False) -> MemoryLine:
    return line("output", id, author=TOOL, command=command, **({"failed": True} if failed else {}))


def test_a_command_that_worked_at_last_is_found_however_the_lines_come_in() -> None:
    runs = [ran("make test DB=old", "c1", failed=True), ran("ls", "c2"), ran("make test DB=new", "c3")]
    told = [each.draft.content for each in found(*runs)]
    assert told == ["`make test DB=old` failed; `make test DB=new` worked."]
    finder = Finder()
    assert [each.draft.content for run in runs for each in finder.found_in([run])] == told


def test_what_works_much_later_answers_nothing() -> None:
    between = [ran(f"ls folder{number}", f"b{number}") for number in range(12)]
    runs = [ran("make test DB=old", "c1", failed=True), *between, ran("make test DB=new", "c3")]
    assert found(*runs) == []
    assert len(found(runs[0], *between[1:], runs[-1])) == 1


EDITS = {
    "Edit": ("/home/ada/harbor/src/worker.py", ["src/worker.py"]),
    "apply_patch": (
        "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: src/b.py\n",
        ["src/a.py", "src/b.py"],
    ),
    "replace_string_in_file": ("src/worker.py", ["src/worker.py"]),
    "Read": ("/home/ada/harbor/src/worker.py", []),
    "Bash": ("vim src/worker.py", []),
}


@pytest.mark.parametrize("tool", EDITS)
def test_a_decision_is_about_the_files_that_are_edited_upon_it(tool: str) -> None:
    asked, files = EDITS[tool]
    edit = line("done", "e1", author=TOOL, tool=tool, command=asked)
    edit = MemoryLine(replace(edit.draft, project="harbor"), "e1", None)
    decided, later = found(line(LAID_DOWN[0]), edit, line("Run the tests please."), line(LAID_DOWN[1], "t2"))
    assert decided.draft.attributes == ({"files": files} if files else {})
    assert later.draft.attributes == {}


def test_what_somebody_else_wrote_is_no_decision_of_the_person() -> None:
    mail = "Summarise the mail I got:\n> From now on all customers must use TLS 1.3.\n> We decided to raise prices.\n"
    code = "```\n# we decided to use port 8443, not 8080\n```\nWe decided to keep the old port."
    assert found(line(mail)) == []
    assert [each.draft.content for each in found(line(code))] == ["We decided to keep the old port."]


@pytest.mark.parametrize(
    ("asked", "correction"),
    [
        ("Change of plan. How long must invoices be kept?", "No, 10 years, not 7."),
        ("재시도는 몇 번이야?", "아니, 3번이 아니라 6번이야."),
    ],
)
def test_a_correction_that_names_nothing_is_told_with_what_the_person_had_asked(asked: str, correction: str) -> None:
    answer = line("It is as it was.", "t2", author="assistant")
    (corrected,) = found(line(asked, "t1"), answer, line(correction, "t3"))
    assert (corrected.draft.content, corrected.draft.title) == (correction, sentences(asked)[-1])


def test_what_names_its_subject_needs_no_title() -> None:
    (decided,) = found(
        line("How long must invoices be kept?", "t1"), line("We decided on Kafka for the event log.", "t2")
    )
    assert decided.draft.title is None
