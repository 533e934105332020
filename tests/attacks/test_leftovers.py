"""What is left of a memory that was erased: nothing that was made of it, and everything else by name in the receipt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recallens.engine import Engine, leftovers
from recallens.engine.core import acting
from recallens.ingest.draft import Draft
from recallens.model.citation import FileCitation
from recallens.model.erasure import Receipt
from recallens.model.memory import handle_of
from recallens.model.trust import Actor

AGENT = Actor(source="mcp:mallory")
# A text, and a sentence of somebody else that says part of it; both in each language.
SECRETS = {
    "english": ("The XYLOPHAGE account pin is Kumquatverse PLINTHOLOGY55", "XYLOPHAGE", "Kumquatverse"),
    "korean": ("나비코끼리 계정의 비밀번호는 자몽우주 구리솥77 이다", "나비코끼리", "자몽우주"),
    "a place": ("The spare key of the Brontemoor boathouse lies under the ninth Zwetschke", "Brontemoor", "Zwetschke"),
    "장소": ("갈매기섬 창고의 여벌 열쇠는 아홉째 돌단지 밑에 있다", "갈매기섬", "돌단지"),
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "store.db", encoder="hashing", create=True) as engine:
        for number in range(60):
            engine.remember(f"Note {number}: the gateway retries {number + 7} times; 관문은 {number}번 다시 한다")
        yield engine


def bytes_of(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files).decode("utf-8", "ignore").lower()


@pytest.mark.parametrize("kind", SECRETS)
def test_a_proposed_edit_goes_with_what_it_would_change(engine: Engine, tmp_path: Path, kind: str) -> None:
    text, name, word = SECRETS[kind]
    known = engine.remember(text, title=f"{name} title", tags=(word,)).id
    with acting(AGENT):
        first = engine.edit(known, f"{text} v2").id
        engine.edit(known, "Nothing of the kind at all")
        engine.edit(first, f"{text} v3")
    engine.maintenance.publish()
    receipt = engine.maintenance.erasure.erase([known])
    assert sum(each.why.startswith("a proposed edit of") for each in receipt.erased) >= 2
    assert receipt.kept == ()
    assert not [trace for trace in (name, word) if trace.lower() in bytes_of(tmp_path)]
    assert engine.maintenance.doctor().problems == []


def test_an_edit_that_was_approved_is_a_text_of_its_own(engine: Engine) -> None:
    text, name, _ = SECRETS["english"]
    known = engine.remember(text).id
    newer = engine.edit(known, f"The {name} pin is another one by now").id
    engine.maintenance.erasure.erase([known])
    assert engine.get(newer).status == "active"


@pytest.mark.parametrize("kind", SECRETS)
def test_the_receipt_names_every_place_that_still_says_it(engine: Engine, tmp_path: Path, kind: str) -> None:
    text, name, word = SECRETS[kind]
    known = engine.remember(text).id
    places = set[str]()
    for number in range(2):  # tasks that have nothing to do with it but what they say
        task = engine.tasks.start(f"change {name} and {word}, round {number}", id=f"tq{number}").id
        log = engine.tasks.log(task, f"1. open\n2. {text}\n3. close {number}")
        engine.tasks.end(task, reward=1.0, summary=f"did {name} with {word}")
        places |= {f"task {task}", f"log {log.id}"}
    engine.sessions.start("s-9", title=f"on {name} {word}")
    engine.remember(f"By the way: {text}, they say", dedupe=False)
    engine.maintenance.transfer.export(tmp_path / "out.jsonl")
    receipt = engine.maintenance.erasure.erase([known])
    places |= {"session s-9"}
    held = engine.maintenance.erasure.verify([name]).holders
    memories = {each.removeprefix("memory ") for each in held if each.startswith("memory ")}
    assert len(memories) == 3
    with engine.core.store.read("default") as reader:
        handles = {handle_of(num) for num in reader.memories.find(sorted(memories)).values()}
    assert named(receipt) == places | handles
    assert "out.jsonl, an export beside the store" in receipt.outside
    assert not [each for each in receipt.kept if "gateway" in each or text in each]


def named(receipt: Receipt) -> set[str]:
    """What stays, by name."""
    return {each.split(" says ")[0].split(" has ")[0].split(" took ")[0] for each in receipt.kept}


def test_what_was_learned_with_it_and_calls_it_by_name_goes(engine: Engine, tmp_path: Path) -> None:
    text, _, word = SECRETS["english"]
    known = engine.remember(text)
    task = engine.tasks.start("close the account", id="t-1").id
    engine.tasks.used([known.id], task=task)
    engine.tasks.log(task, f"took {word} as {known.handle} has it")
    engine.remember(f"Pin for it is {word}, see {known.handle}", task=task)
    engine.tasks.end(task, reward=1.0, summary="closed")
    receipt = engine.maintenance.erasure.erase([known.id])
    assert word.lower() not in bytes_of(tmp_path), receipt


def test_golden_sets_beside_the_store_and_who_cites_are_named(engine: Engine) -> None:
    text, name, _ = SECRETS["english"]
    known = engine.remember(text)
    cites = engine.remember(Draft("The runbook is elsewhere", citations=(FileCitation(f"docs/{name.lower()}.md"),)))
    store = Path(engine.core.store.location)
    shelf = store.with_name(f"{store.name}.golden") / "ns-default"
    shelf.mkdir(parents=True)
    (shelf / "own.yaml").write_text(f"queries:\n  - query: {text}\n    relevant: [{known.id}]\n", encoding="utf-8")
    (shelf / "other.yaml").write_text("queries:\n  - query: unlike it\n", encoding="utf-8")
    receipt = engine.maintenance.erasure.erase([known.id])
    own = f"{store.name}.golden/ns-default/own.yaml"
    assert [each for each in receipt.outside if ".golden" in each] == [
        f"{own}, a golden set or its run beside the store"
    ]
    proof = engine.maintenance.erasure.verify([name])
    assert proof.outside == (own,)
    assert {f"a citation of {cites.handle}", f"a label of {cites.handle}"} <= set(proof.holders)


def test_the_receipt_names_only_the_files_beside_the_store_that_hold_it(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, name, _ = SECRETS["english"]
    store = Path(engine.core.store.location)
    engine.remember("The harbour opens at six in the morning")
    engine.maintenance.backup(str(tmp_path / "before.db"))
    engine.maintenance.transfer.export(tmp_path / "before.jsonl")
    known = engine.remember(text).id
    engine.maintenance.backup(str(tmp_path / "after.db"))
    engine.maintenance.transfer.export(tmp_path / "after.jsonl")
    (tmp_path / "memo.txt").write_text(f"to keep:\n{text}\n", encoding="utf-8")
    (tmp_path / "other.txt").write_text("nothing of the kind\n", encoding="utf-8")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    receipt = engine.maintenance.erasure.erase([known])
    assert [each for each in receipt.outside if "beside the store" in each] == [
        "after.db, a copy beside the store",
        "after.jsonl, an export beside the store",
        "memo.txt, a file beside the store",
    ]
    assert engine.maintenance.erasure.verify([name]).outside == ("after.db", "after.jsonl", "memo.txt")
    again = engine.remember(text).id
    monkeypatch.setattr(leftovers, "RECEIPT_SECONDS", 0.0)
    told = [each for each in engine.maintenance.erasure.erase([again]).outside if "beside the store" in each]
    assert "before.db, a copy beside the store, was not read and may hold it" in told
    assert any("other files beside the store, which were not read and may hold it" in each for each in told)
    assert store.name not in {each.split(",")[0] for each in told}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_recall_that_is_recorded_after_the_erasure_keeps_nothing_of_it(
    engine: Engine, tmp_path: Path, kind: str
) -> None:
    text, name, word = SECRETS[kind]
    known = engine.remember(text).id
    read = engine.search("what about Note 7, the gateway, and " + name, record=False, cut=False)
    assert known in [result.memory.id for result in read.results]
    engine.maintenance.erasure.erase([known])
    assert engine.recalls._search.recorded(read, record=True, owner=None).recorded
    assert engine.maintenance.erasure.verify([word]).holders == ()
    assert word.lower() not in bytes_of(tmp_path)
