"""Frontmatter, kinds, categories and cards, read by rule."""

from __future__ import annotations

import json

import pytest

from recallens.errors import InvalidInput
from recallens.ingest.vault import frontmatter
from recallens.ingest.vault.lessons import (
    extract_lesson_essence,
    infer_category,
    is_operational_path,
    is_project_evidence,
    is_raw_conversation,
    lesson_kind,
)
from recallens.ingest.vault.notes import read_note

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def note(text: str, path: str = "a.md"):  # type: ignore[no-untyped-def]
    return read_note(path, text.encode(), now=1_780_272_000_000)


def test_frontmatter_becomes_title_tags_date_and_attributes() -> None:
    read = note("---\ntitle: Cache\ntags: [ops, '#웹']\ndate: 2026-03-05\nowner: ingrid\nlevel: 3\n---\nBody #inline\n")
    assert (read.title, read.tags, read.created) == ("Cache", ("ops", "웹"), 1_772_668_800_000)
    assert read.attributes["frontmatter"] == {"owner": "ingrid", "level": 3}
    assert read.sections[0].text == "Body #inline"
    assert read.sections[0].first_line == 8


@pytest.mark.parametrize("tags", ["a, b", "a b", "[a, b]", "\n- a\n- b", "[a, b, '', a]"])
def test_tags_in_any_spelling(tags: str) -> None:
    assert note(f"---\ntags: {tags}\n---\nx").tags == ("a", "b")


def test_a_yaml_bomb_is_told_at_once_and_the_note_is_read() -> None:
    read = note(f"---\n{BOMB}title: Harbour\n---\nx")
    assert "2,000 values" in (read.warning or "")
    assert (read.title, read.sections[0].text) == ("Harbour", "x")
    assert len(str(read.attributes)) < 10_000


@pytest.mark.parametrize(
    "matter",
    [
        "a: &a [*a]",
        "a: " + "[" * 5000,
        "a: [1, 2",
        "title: a: b: c",
        f"a: {'9' * 5000}",
        "a: !!python/object:os.system x",
    ],
)
def test_what_is_no_plain_yaml_is_told_and_the_note_is_read(matter: str) -> None:
    read = note(f"---\n{matter}\nowner: ingrid\n---\nx")
    assert "frontmatter" in (read.warning or "")
    assert read.sections[0].text == "x"
    assert read.attributes["frontmatter"]["owner"] == "ingrid"


def test_huge_frontmatter_is_left_out_and_told() -> None:
    read = note(f"---\na: {'x' * 70_000}\n---\nx")
    assert "64 KiB" in (read.warning or "")
    assert (read.sections[0].text, "frontmatter" in read.attributes) == ("x", False)


def test_a_rule_at_the_top_is_no_frontmatter() -> None:
    assert note("---\njust text\n---\nmore").sections[0].text.startswith("---\njust text")
    assert note("---\nnever closed").sections[0].text == "---\nnever closed"


def test_what_is_kept_of_frontmatter_is_bounded_and_holds_no_secret() -> None:
    key = "sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    kept = frontmatter.kept({"big": "x" * 5_000, "small": "y", "password": "hunter2-Kx91", "deep": {"token": key}})
    assert len(json.dumps(kept)) < frontmatter.MOST_KEPT
    assert kept["small"] == "y"
    assert "hunter2" not in json.dumps(kept)
    assert key not in json.dumps(kept)


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"\xff\xfe\x00a", "UTF-16"), (b"a\x00b", "binary"), ("caf\xe9".encode("latin-1"), "not UTF-8 .*0xe9 at 3")],
)
def test_what_is_no_text_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read_note("a.md", data, now=0)


def test_a_note_may_say_what_kind_it_is() -> None:
    assert note("---\ntype: decision\n---\nx").kind == "decision"
    assert note("---\ntype: whatever\n---\nx").kind == "note"


# Each expectation was worked out by hand from the specification's patterns.
@pytest.mark.parametrize(
    ("path", "category", "evidence"),
    [
        ("decisions/use-redis.md", "decision", True),
        ("Decision/x.md", "decision", True),
        ("docs/adr-012-cache.md", "decision", True),
        ("docs/ADR-x.md", "decision", False),
        ("planning/q3.md", "decision", True),
        ("records/decided.md", "project-record", True),
        ("development/setup.md", "project-record", True),
        ("bugs/42.md", "project-record", True),
        ("architecture/overview.md", "architecture", False),
        ("UI-Design.md", "architecture", False),
        ("patterns/outbox.md", "architecture", False),
        ("wiki/redis.md", "knowledge", False),
        ("Topics/kafka.md", "knowledge", False),
        ("retrospectives/may.md", "general", True),
        ("ProjectChronicle/may.md", "general", True),
        ("교훈/캐시.md", "general", False),
        ("quadrants.md", "decision", False),
    ],
)
def test_categories_are_the_specified_ones(path: str, category: str, evidence: bool) -> None:
    assert infer_category(path) == category
    assert is_project_evidence(path, "any") is evidence


@pytest.mark.parametrize(
    ("path", "raw", "operational"),
    [
        ("00_Raw/a.md", True, False),
        ("00_raw", True, False),
        ("x/raw-data/a.md", True, False),
        ("conversation/a.md", True, False),
        ("Conversations/a.md", True, False),
        ("a\\transcript\\b.md", True, False),
        ("my-conversations/a.md", False, False),
        ("conversations.md", False, False),
        ("sessions/a.md", False, True),
        ("sessions", False, False),
        ("x/_Agents/a.md", False, True),
        ("memory/a.md", False, True),
        ("Project_Logs/a.md", False, True),
        ("docs/records/a.md", False, True),
        ("docs/records", False, True),
        ("mydocs/records/a.md", False, True),
        ("records/a.md", False, False),
        ("x/Harness_Research_7.md", False, True),
        ("UX_Scenarios/a.md", False, True),
        ("notes/a.md\n", False, False),
    ],
)
def test_left_out_folders_are_the_specified_ones(path: str, raw: bool, operational: bool) -> None:
    assert is_raw_conversation(path) is raw
    assert is_operational_path(path) is operational


@pytest.mark.parametrize(
    ("path", "matter", "kind"),
    [
        ("lessons/cache.md", {}, "lesson"),
        ("교훈/캐시.md", {}, "lesson"),
        ("a/Playbooks/deploy.md", {}, "playbook"),
        ("a/플레이북/배포.md", {}, "playbook"),
        ("qa-findings/login.md", {}, "qa-finding"),
        ("QA_Findings/login.md", {}, "qa-finding"),
        ("ops/deploy-playbook.md", {}, "playbook"),
        ("ops/배포-플레이북.md", {}, "playbook"),
        ("ops/lesson_cache.md", {}, "lesson"),
        ("ops/lessonsmith.md", {}, None),
        ("lessons/README.md", {}, None),
        ("ops/a.md", {"type": "lesson"}, "lesson"),
        ("ops/a.md", {"kind": "QA Finding"}, "qa-finding"),
        ("ops/a.md", {"type": "교훈"}, "lesson"),
        ("ops/a.md", {"tags": ["x", "#playbook"]}, "playbook"),
        ("ops/a.md", {"tags": "x, lesson"}, "lesson"),
        ("lessons/a.md", {"type": "decision"}, None),
        ("ops/a.md", {}, None),
    ],
)
def test_cards_are_recognised_by_rule(path: str, matter: dict[str, object], kind: str | None) -> None:
    assert lesson_kind(path, matter) == kind


CARD = """---
type: lesson
---
# Stale states

Long story about a morning.

## Fix
Evict on every carrier event.

## Mistake
We trusted a TTL of 300 seconds.

### Detail
It was never measured.

## Root Cause
Nothing invalidated the key.

## Prevention Checklist
- [ ] Every cache names its invalidation

## Links
[[elsewhere]]
"""


def test_the_essence_of_a_card_is_its_four_parts_in_order() -> None:
    assert extract_lesson_essence(CARD) == (
        "Mistake\nWe trusted a TTL of 300 seconds.\n\n### Detail\nIt was never measured.\n\n"
        "Root Cause\nNothing invalidated the key.\n\nFix\nEvict on every carrier event.\n\n"
        "Prevention Checklist\n- [ ] Every cache names its invalidation"
    )


def test_the_essence_of_a_korean_card() -> None:
    card = (
        "# 캐시\n\n## 배경\n길다.\n\n## 실수\n만료만 믿었다.\n\n## 근본 원인\n무효화가 없었다.\n\n"
        "## 해결\n이벤트마다 지운다.\n\n## 재발 방지\n- 무효화 방법을 적는다.\n"
    )
    assert extract_lesson_essence(card) == (
        "실수\n만료만 믿었다.\n\n근본 원인\n무효화가 없었다.\n\n해결\n이벤트마다 지운다.\n\n"
        "재발 방지\n- 무효화 방법을 적는다."
    )
    assert extract_lesson_essence("## 예방 체크리스트\n- 하나").startswith("예방 체크리스트")
    assert extract_lesson_essence("## 원인\nx\n\n## 수정\ny") == "원인\nx\n\n수정\ny"


@pytest.mark.parametrize("limit", [1200, 300, 60, 5])
def test_the_essence_fits_and_every_part_keeps_its_beginning(limit: int) -> None:
    long = CARD.replace("We trusted", "We trusted " * 200).replace("Evict", "Evict " * 300)
    essence = extract_lesson_essence(long, limit)
    assert len(essence) <= limit
    if limit >= 300:
        assert [essence.find(word) >= 0 for word in ("Mistake", "Root Cause", "Fix", "Prevention")] == [True] * 4
        assert "names its invalidation" in essence


def test_a_card_without_such_headings_has_no_essence() -> None:
    assert extract_lesson_essence("# Deploy\n\n## Steps\n1. Go\n\n```\n## Fix\n```\n") == ""


def test_a_card_is_one_memory_of_its_kind() -> None:
    read = note(CARD.replace("Long story", "Long story. " * 300), "ops/x.md")
    assert (len(read.sections), read.kind, read.lesson) == (1, "lesson", "lesson")
    assert read.attributes["isLesson"] is True
    assert read.attributes["lessonKind"] == "lesson"
