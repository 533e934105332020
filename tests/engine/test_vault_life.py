"""A note says that it has ended, what replaced it, that it is a draft; and the answers follow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from notes import Notes, sections, synced
from recallens.engine import Engine
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.ingest.validate import parse_when
from recallens.model.memory import IdSource, Memory, RelationType
from recallens.model.recall import SearchResult
from recallens.model.state import ONLY_HERE
from recallens.render.brief import write as brief
from recallens.render.verdict import verdict_of
from standing import FixedClock

THEN = parse_when("2026-02-15", now_ms=0)


class Pair(NamedTuple):
    """Two notes, each with its frontmatter and its text; the question is worded as the one that ended."""

    name: str
    question: str
    old: tuple[str, str]
    new: tuple[str, str]


PAIRS = (
    Pair("session", "How long does a login session last?",
         ('status: superseded\nsuperseded_by: "[[session-short]]"',
          "# Login session length\n\nA login session lasts thirty days."),
         ("", "# Short sign-in\n\nPeople sign in again after eight hours; the auditors asked for it.")),
    Pair("uploads", "Where do we store uploaded invoices?",
         ("superseded_by: uploads-new", "# Uploaded invoices\n\nUploaded invoices are stored on the NFS share."),
         ("", "# Object storage for documents\n\nInvoices go to the bucket `billing-docs`, encrypted.")),
    Pair("branch", "Which branch do releases come from?",
         ("", "# Release branch\n\nReleases come from the branch `stable`, which is cut on Fridays."),
         ("supersedes: [[branch-old]]", "# Trunk\n\nEvery release is a tag on `main`.")),
    Pair("queue", "What queue do background jobs use?",
         ("", "# Job queue\n\nBackground jobs use the Redis queue with five workers."),
         ('replaces: "Job queue"', "# After the request\n\nPostgres holds the jobs; `SKIP LOCKED` hands them out.")),
    Pair("laptop", "How often do we replace laptops?",
         ("status: deprecated\nvalid_until: 2026-03-31", "# Laptops replaced\n\nWe replace laptops every three years."),
         ("", "# Hardware\n\nA laptop is renewed after four years, or when it is slow.")),
    Pair("parking", "Who may park in the yard?",
         ("valid_until: 2026-04-01", "# Parking in the yard\n\nDrivers may park in the yard until 22:00."),
         ("valid_from: 2026-04-01", "# The yard\n\nOnly visitors with a badge park there; drivers use the street.")),
    Pair("retry", "How many times do we retry a failed webhook?",
         ("", "# Retries\n\n> Superseded by [[retry-new]] on 24 April 2026.\n\nWe retry a failed webhook five times."),
         ("", "# Delivery of events\n\nDelivery is attempted for two days with growing pauses.")),
    Pair("lint", "Which linter checks the Python code?",
         ("", "# Python linter\n\nReplaced by [the new one](lint-new.md).\n\nflake8 checks the Python code."),
         ("", "# Style\n\nRuff formats and checks everything in one go.")),
    Pair("alerts", "Where are alerts posted?",
         ("", "# Alerts\n\n**Deprecated in favour of** [[One pager]]\n\nAlerts are posted in the channel #alerts."),
         ("aliases: [One pager]", "# Being called\n\nWhoever is on duty is called by telephone; the channel is gone.")),
    Pair("휴가", "휴가는 며칠 전에 신청해야 하나?",
         ("", "# 휴가 신청\n\n> [[휴가-new]]로 대체됨\n\n휴가는 이주일 전에 신청해야 한다."),
         ("", "# 쉬는 날\n\n사흘 전까지 팀장에게 알리면 된다.")),
    Pair("백업", "백업은 어디에 보관하나?",
         ("status: 폐기", "# 백업 보관\n\n백업은 사무실 서버에 보관한다."),
         ("", "# 복구 준비\n\n서울과 부산의 저장소에 나누어 둔다.\n\n- supersedes [[백업-old]]")),
    Pair("배포", "배포는 무슨 요일에 하나?",
         ("", "# 배포 요일\n\n대체됨: [[배포-new]]\n\n배포는 화요일에 한다."),
         ("", "# 출시\n\n매일 오후 두 시에 자동으로 나간다. superseded 문서는 두지 않는다.")),
)  # fmt: skip

SYSTEMS = (
    "billing", "search", "tracking", "mobile app", "warehouse", "partner portal", "reporting", "identity", "mail",
    "정산", "주소 검색", "알림", "재고", "고객 지원",
)  # fmt: skip
ASPECTS = (
    ("owner", "The {} team owns it; questions go to their channel first."),
    ("dashboards", "The {} dashboards show latency, errors and the age of the oldest job."),
    ("tests", "Changes to {} need a test that fails without them."),
    ("access", "Access to {} is granted for ninety days and then asked for again."),
    ("costs", "{} costs about four hundred euros a month, most of it storage."),
    ("incidents", "After an incident in {} we write down what we saw, in order."),
    ("언어", "{} 코드는 파이썬으로 쓰고 형식 검사를 통과해야 한다."),
    ("회의", "{} 회의는 수요일 오전에 하고 기록은 그날 남긴다."),
    ("문서", "{} 문서는 바뀐 날에 고치고 오래된 그림은 지운다."),
    ("목표", "이번 분기 {} 목표는 오류를 절반으로 줄이는 것이다."),
    ("data", "{} keeps personal data for thirteen months and statistics for ever."),
    ("keys", "The keys of {} rotate on the first Monday of a month."),
    ("style", "We deprecated the old API of {} last year and nobody missed it."),
    ("history", "In {}, tickets replaced by others are closed with a comment."),
    ("plans", "{}: the vendor's proposal was rejected, as was the draft of the contract."),
)


def write_world(notes: Notes) -> None:
    for system in SYSTEMS:
        for aspect, text in ASPECTS:
            notes.write(f"handbook/{system}-{aspect}.md", f"# {system}: {aspect}\n\n{text.format(system)}\n")
    for pair in PAIRS:
        for age, date, (matter, text) in (("old", "2026-01-10", pair.old), ("new", "2026-04-24", pair.new)):
            name = "session-short" if (pair.name, age) == ("session", "new") else f"{pair.name}-{age}"
            notes.write(f"decisions/{name}.md", f"---\ndate: {date}\n{matter}\n---\n{text}\n")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, minilm: MiniLMEncoder) -> Iterator[tuple[Engine, Notes]]:
    folder = tmp_path_factory.mktemp("life")
    notes, clock = Notes(folder / "notes"), FixedClock(parse_when("2026-06-20", now_ms=0))
    write_world(notes)
    engine = Engine.open(folder / "store.db", encoder=minilm, clock=clock, ids=IdSource(clock, lambda bits: 0))
    engine.vaults.add(notes.root)
    assert synced(engine).warnings == ()
    engine.encoder.drain()
    yield engine, notes
    engine.close()


def first(engine: Engine, question: str, **options: object) -> SearchResult:
    return engine.search(question, record=False, **options).results[0]  # type: ignore[arg-type]


def is_of(memory: Memory, text: str) -> bool:
    return memory.content.strip() == text.strip()


def test_the_world_is_large_and_its_prose_ends_nothing(world: tuple[Engine, Notes]) -> None:
    engine, _ = world
    everything = sections(engine)
    assert len(everything) >= 230
    ended = {m.attributes["path"] for m in everything if m.status == "superseded" or m.valid_until is not None}
    assert ended == {f"decisions/{pair.name}-old.md" for pair in PAIRS}
    assert not [memory for memory in everything if memory.review is not None]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_what_holds_comes_first_now_and_what_held_then(world: tuple[Engine, Notes], pair: Pair) -> None:
    engine, _ = world
    now = engine.search(pair.question, record=False).results
    assert is_of(now[0].memory, pair.new[1])
    assert not [result for result in now if is_of(result.memory, pair.old[1])]
    then = first(engine, pair.question, as_of=THEN)
    assert is_of(then.memory, pair.old[1])
    assert list(then.state.remarks()) == []
    both = engine.search(pair.question, record=False, include_superseded=True).results
    old = next(result for result in both if is_of(result.memory, pair.old[1]))
    named = [result.memory.handle for result in both if is_of(result.memory, pair.new[1])]
    if pair.name in ("laptop", "parking"):  # they say that they have ended, and not what replaced them
        assert old.is_superseded
    else:
        assert old.state.superseded_by == tuple(named)
        assert (old.superseded_by.handle if old.superseded_by else None) == named[0]


def test_a_mark_that_is_removed_brings_the_note_back(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    marked = "---\ndate: 2026-01-01\n---\n# Cache\n\n> Superseded by [[b]]\n\nLookups are cached for 300 seconds.\n"
    notes.write("a.md", marked)
    report = synced(engine)  # what it names is not there yet
    assert [problem.path for problem in report.warnings] == ["a.md"]
    assert "'b'" in report.warnings[0].reason
    (cache,) = sections(engine, "a.md")
    assert (cache.status, engine.memories.relations(cache.id)) == ("superseded", [])
    notes.write("b.md", "# Events\n\nEvents invalidate the cache.\n")
    assert synced(engine).warnings == ()
    (events,) = sections(engine, "b.md")
    assert _successors(engine, cache) == [events.id]
    notes.move("b.md", "deep/events.md")  # the link is broken, and mended
    synced(engine)
    notes.write("a.md", marked.replace("[[b]]", "[[events]]"))
    synced(engine)
    assert _successors(engine, cache) == [events.id]
    notes.move("a.md", "old/lookups.md")
    synced(engine)
    assert (engine.get(cache.id).status, _successors(engine, cache)) == ("superseded", [events.id])
    notes.write("old/lookups.md", marked.replace("> Superseded by [[b]]\n\n", ""))
    synced(engine)
    back = engine.get(cache.id)
    assert (back.status, back.valid_until, _successors(engine, cache)) == ("active", None, [])
    assert first(engine, "how long are lookups cached").memory.id == cache.id
    notes.write("deep/events.md", "---\nsupersedes: lookups\n---\n# Events\n\nEvents invalidate the cache.\n")
    synced(engine)
    assert engine.get(cache.id).status == "superseded"
    notes.remove("deep/events.md")
    synced(engine)
    assert engine.get(cache.id).status == "active"


def _successors(engine: Engine, memory: Memory) -> list[str]:
    relations = engine.memories.relations(memory.id)
    return [one.source for one in relations if one.type is RelationType.SUPERSEDES and one.target == memory.id]


def test_a_persons_decision_stands_whatever_the_note_says(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    for name in "abc":
        notes.write(f"{name}.md", f"Note {name} about the harbour.")
    synced(engine)
    a, b, c = (sections(engine, f"{name}.md")[0] for name in "abc")
    engine.supersede(a.id, b.id)
    engine.forget(c.id)
    notes.write("c.md", "---\nstatus: superseded\n---\nNote c about the harbour, again.")
    notes.write("d.md", "Another.")
    synced(engine)
    assert [engine.get(memory.id).status for memory in (a, b, c)] == ["superseded", "active", "forgotten"]


def test_circles_and_drafts_end_nothing(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    notes.write("a.md", "---\nsupersedes: b\n---\nThe first tariff.")
    notes.write("b.md", "---\nsupersedes: a\n---\nThe second tariff.")
    notes.write("c.md", "---\nstatus: draft\nsupersedes: d\n---\nA third tariff, to be discussed.")
    notes.write("d.md", "The tariff that holds.")
    report = synced(engine)
    assert [problem.path for problem in report.warnings] == ["a.md"]
    assert "replace each other" in report.warnings[0].reason
    assert [sections(engine, f"{name}.md")[0].status for name in "abcd"] == ["active", "superseded", "active", "active"]


def test_drafts_and_rejected_notes_stand_behind_and_are_marked(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    notes.write(
        "draft.md", "---\nstatus: draft\n---\n# Rate limit\n\nThe rate limit of the API is 90 requests a second."
    )
    notes.write("no.md", "# 요청 한도\n\n## 상태\n\n반려\n\n## 내용\n\nAPI 요청 한도는 초당 200건으로 한다.")
    notes.write("holds.md", "# Limits\n\nThe API's rate limit: 50 requests a second for each key.")
    notes.write("한도.md", "# 한도\n\n지금 API 요청 한도는 키마다 초당 50건이다.")
    synced(engine)
    for question, review in (("What is the rate limit of the API?", "draft"), ("API 요청 한도는?", "rejected")):
        recall = engine.search(question, record=False, cut=False)
        assert recall.results[0].memory.review is None
        marked = next(result for result in recall.results if result.memory.review == review)
        assert f"{review}, needs review" in list(marked.state.remarks())
        origin = recall.ledger.notes("provenance")[-1]["rows"][marked.memory.id]
        assert (origin["safety"], origin["safetyReasons"]) == ("requires-review", [f"note-status={review}"])
        line = next(entry for entry in engine.layers.search(question).entries if entry.id == marked.memory.id)
        assert f"{review}, needs review" in line.text
        chunks = [chunk for chunk in engine.retrieve(question).selectedChunks if chunk.id == marked.memory.id]
        assert [f"{review}, needs review]" in chunk.block for chunk in chunks] == [True]
    notes.write(
        "draft.md", "---\nstatus: accepted\n---\n# Rate limit\n\nThe rate limit of the API is 90 requests a second."
    )
    synced(engine)
    assert sections(engine, "draft.md")[0].review is None


def test_what_only_a_rejected_note_or_a_draft_says_is_no_answer(real: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    real.vaults.add(notes.root)
    notes.write("no.md", "---\nstatus: rejected\n---\n# Four-day week\n\nThe office closes on Fridays.")
    notes.write("초안.md", "---\nstatus: 초안\n---\n# 출장비\n\n출장비는 하루 9만 원이다.")
    notes.write("other.md", "# Beds\n\nThe flower beds are watered at dawn.")
    synced(real)
    real.encoder.drain()
    for question, review in (("does the office close on Fridays", "rejected"), ("출장비 하루에 얼마야", "draft")):
        told = real.layers.search(question, record=False).to_text()
        assert f"Covers 0% of the question; only a {review} note speaks of this" in told
        verdict = verdict_of(real.search(question, record=False))
        assert (verdict.answered, review in verdict.headline) == (False, True)
        headline = next(line for line in brief(real.xray(question)).splitlines() if review in line)
        assert headline.startswith("Not answered: ")
    notes.write("yes.md", "# Hours\n\nOn Fridays the office closes at four.")
    synced(real)
    real.encoder.drain()
    both = real.search("does the office close on Fridays", record=False)
    assert [result.memory.review for result in both.results[:2]] == [None, "rejected"]
    assert verdict_of(both).answered


def test_silence_names_the_ended_note_that_speaks_of_it(real: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    real.vaults.add(notes.root)
    quill = "---\nstatus: archived\ndeprecated_on: 2026-03-01\n{}---\n# Project Quill\n\nQuill shipped with 14 screens."
    notes.write("quill.md", quill.format(""))
    notes.write("beds.md", "# Beds\n\nThe flower beds are watered at dawn.")
    synced(real)
    real.encoder.drain()
    question = "how many screens did Quill ship with"
    handle = sections(real, "quill.md")[0].handle
    recall = real.search(question, record=False)
    assert (recall.results, recall.ended.handle if recall.ended else None) == ((), handle)
    line = f"{handle} Project Quill, superseded on 2026-03-01; --include-superseded shows it."
    assert f"An ended note speaks of this: {line}" in real.layers.search(question, record=False).to_text()
    assert first(real, question, include_superseded=True).memory.handle == handle
    assert real.search("who won the chess cup", record=False).ended is None
    notes.write("quill.md", quill.format("scope: private\n"))
    synced(real)
    assert real.search(question, record=False).ended is None
    assert real.search(question, record=False, scopes=["private"]).ended is not None


def test_frontmatter_says_how_much_a_note_matters_and_where_it_comes_from(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    matter = (
        "importance: 0.95\nconfidence: 97%\nsource: Audit 2026, page 4\nupdated: 2026-03-02\nreinforcement_count: 12"
    )
    notes.write("a.md", f"---\n{matter}\n---\nThe harbour keys rotate monthly.")
    notes.write("b.md", "---\nimportance: 7\n---\nThe harbour keys rotate monthly, they say.")
    report = synced(engine)
    assert [(problem.path, problem.reason) for problem in report.warnings] == [
        ("b.md", "importance: 7 is no share from 0 to 1")
    ]
    stated, plain = sections(engine, "a.md")[0], sections(engine, "b.md")[0]
    assert (stated.importance, stated.confidence, stated.source_id) == (0.95, 0.97, "Audit 2026, page 4")
    assert stated.updated == parse_when("2026-03-02", now_ms=0)
    assert stated.reinforcement == pytest.approx(1 - 0.9**12)
    assert (plain.importance, plain.confidence, plain.reinforcement) == (0.5, 0.8, 0.0)
    recall = engine.search("harbour keys", record=False)
    assert recall.ledger.notes("provenance")[-1]["rows"][stated.id]["source"] == "Audit 2026, page 4"
    engine.confirm(stated.id)
    confirmed = engine.get(stated.id).reinforcement
    assert confirmed > stated.reinforcement * 0.5
    notes.write("a.md", "---\nconfidence: 0.4\n---\nThe harbour keys rotate monthly.")
    synced(engine)
    after = engine.get(stated.id)
    assert (after.importance, after.confidence, after.source_id) == (0.5, 0.4, None)
    assert after.reinforcement == pytest.approx(0.1)  # the person's own confirmation stays


@pytest.mark.parametrize(
    "note",
    [
        "---\nscope: private\n---\nThe safe's number is on the back of the map.",
        f"---\nscopes: [{ONLY_HERE}]\n---\nThe safe's number is on the back of the map.",
        f"---\ntags: [{ONLY_HERE}]\n---\nThe safe's number is on the back of the map.",
        "---\ntags: [private, home]\n---\nThe safe's number is on the back of the map.",
        "The safe's number is on the back of the map.\n\n#private #home\n",
        "---\nscopes: [private, finance]\n---\nThe safe's number is on the back of the map.",
    ],
)
def test_a_note_that_is_kept_to_its_context_is_withheld(engine: Engine, tmp_path: Path, note: str) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    notes.write("safe.md", note)
    notes.write("open.md", "---\nscope: team\n---\nThe safe stands in the office.")
    synced(engine)
    question = "the safe's number on the back of the map"
    shown = engine.search(question, record=False, cut=False).results
    assert [result.memory.attributes["path"] for result in shown] == ["open.md"]
    held = engine.search(question, record=False, cut=False, scopes=[ONLY_HERE, "private", "finance"]).results
    assert held[0].memory.attributes["path"] == "safe.md"
    notes.write("safe.md", "The safe's number is on the back of the map.")
    synced(engine)
    assert first(engine, question, cut=False).memory.attributes["path"] == "safe.md"


def test_typed_links_are_relations_of_their_kind(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    for name in "bcdef":
        notes.write(f"{name}.md", f"Note {name}.")
    notes.write(
        "a.md",
        "---\nrelated: [b, '[[c]]']\n---\n# A\n\nrelates_to:: [[d]]\n\n- depends_on [[e]]\n"
        "- caused_by [[f]] (the outage)\n- we found that [[b]] depends_on [[c]]\n",
    )
    assert synced(engine).warnings == ()
    a, ids = sections(engine, "a.md")[0], {sections(engine, f"{name}.md")[0].id: name for name in "bcdef"}
    typed = {
        (one.type, ids.get(one.source, "a"), ids.get(one.target, "a"))
        for one in engine.memories.relations(a.id)
        if one.type is not RelationType.MENTIONS
    }
    assert typed == {
        ("RELATED_TO", "a", "b"), ("RELATED_TO", "a", "c"), ("RELATED_TO", "a", "d"), ("DEPENDS_ON", "a", "e"),
        ("CAUSED", "f", "a"),
    }  # fmt: skip


def test_a_section_that_was_replaced_ends_alone(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    long = "Every parcel has a number that the carrier gave it. " * 15
    retries = f"## Retries\n\n> Replaced by [[new#Pauses]].\n\nFive retries. {long}"
    notes.write("handbook.md", f"# Handbook\n\n{long}\n\n{retries}\n\n## Keys\n\n{long}")
    notes.write("new.md", f"# New\n\n{long}\n\n## Pauses\n\nTwo days of growing pauses. {long}")
    synced(engine)
    own = {memory.title: memory for memory in sections(engine)}
    assert {title for title, memory in own.items() if memory.status == "superseded"} == {"Handbook › Retries"}
    assert _successors(engine, own["Handbook › Retries"]) == [own["New › Pauses"].id]


def test_broken_frontmatter_leaves_the_note_searchable(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    notes.write("a.md", "---\ntitle: ADR-030: Sharding\nstatus: draft\ntags: [db]\n---\nOrders are sharded by tenant.")
    notes.write("b.md", "---\ndate: {{date}}\ntitle: Template\n---\nA note that a template made.")
    report = synced(engine)
    assert (report.errors, [problem.path for problem in report.warnings]) == ((), ["a.md", "b.md"])
    assert "title, status, tags" in report.warnings[0].reason
    sharding = first(engine, "how are orders sharded").memory
    assert (sharding.title, sharding.review, sharding.tags) == ("ADR-030: Sharding", "draft", ("db",))
    assert sections(engine, "b.md")[0].title == "Template"
    assert len(synced(engine).warnings) == 2  # told as long as it is so


BROKEN = {
    "unclosed.md": ("---\ntitle: Mirrors\nscope: private\n# Where\n\nThe package mirror is in Oslo.\n", "not closed"),
    "rule.md": ("---\ntitle: 창고\n\n창고 열쇠는 관리실에 맡겨 둔다.\n\n---\n\nMore of it.\n", "not closed"),
    "list.md": ("---\n- just\n- a list\n---\n# Wiki\n\nThe wiki is tidied on Mondays.\n", "a list"),
    "listed.md": ("---\n- title: Kiosk\n- tags: hall\n---\nThe kiosk opens at nine.\n", "a list"),
    "scalar.md": ("---\nprose between two rules\n---\nThe pier is closed.\n", "a text"),
    "tabs.md": ("---\n\ttitle: Cranes\n\tstatus: draft\n---\nThe crane lifts 40 tons.\n", "no YAML"),
}


def test_every_broken_frontmatter_is_told_and_its_keys_are_no_text(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    engine.vaults.add(notes.root)
    for path, (text, _) in BROKEN.items():
        notes.write(path, text)
    for _ in range(2):  # told as long as it is so
        told = {problem.path: problem.reason for problem in synced(engine).warnings}
        assert [path for path, (_, why) in BROKEN.items() if why not in told.get(path, "")] == []
    texts = {path: "\n".join(memory.content for memory in sections(engine, path)) for path in BROKEN}
    assert not [path for path, text in texts.items() if "title:" in text or "just" in text or "status:" in text]
    assert "prose between" in texts["scalar.md"]
    assert ("관리실" in texts["rule.md"], "More of it" in texts["rule.md"]) == (True, True)
    assert [sections(engine, path)[0].title for path in ("listed.md", "tabs.md")] == ["Kiosk", "Cranes"]
    assert sections(engine, "unclosed.md")[0].scopes == ("private",)


def test_a_sync_tells_what_it_left_out_and_how_to_take_it_in(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    for path in ("memory/a.md", "memory/deep/b.md", "work/sessions/c.md", "conversations/d.md", "drafts/e.md", "f.md"):
        notes.write(path, "Harbour.")
    notes.write("picture.png", b"PNG")
    notes.write(".obsidian/workspace.json", "{}")
    engine.vaults.add(notes.root, exclude=["drafts/"])
    report = synced(engine)
    assert report.added == ("f.md",)
    told = {left.what: (left.files, left.take_in) for left in report.left_out}
    assert told == {
        "memory/": (2, "--include-operational"),
        "work/sessions/": (1, "--include-operational"),
        "conversations/": (1, "--include-raw"),
        "drafts/": (1, "add the vault again without it"),
        "other files": (1, ""),
        "hidden files and folders": (1, ""),
    }
    assert {left.what: (left.files, left.take_in) for left in synced(engine).left_out} == told
    engine.vaults.add(notes.root, include_operational=True, include_raw=True)
    assert len(synced(engine).added) == 5


def test_the_samples_replaced_decisions_stay_out(real: Engine, clock: FixedClock) -> None:
    clock.now = parse_when("2026-09-01", now_ms=0)
    real.vaults.add(Path(__file__).parents[2] / "examples" / "vault", "harbor")
    real.vaults.sync()
    real.encoder.drain()
    question = "how long do we cache tracking lookups"
    now = [result.memory.attributes["path"] for result in real.search(question, record=False).results]
    assert now[0] == "decisions/adr-010-event-invalidation.md"
    replaced = {"decisions/adr-002-tracking-cache-300.md", "decisions/adr-003-tracking-cache-60.md"}
    assert not replaced & set(now)
    for day, path in (("2026-04-01", "decisions/adr-002-tracking-cache-300.md"),
                      ("2026-05-20", "decisions/adr-003-tracking-cache-60.md")):  # fmt: skip
        then = first(real, question, as_of=parse_when(day, now_ms=0))
        assert then.memory.attributes["path"] == path
