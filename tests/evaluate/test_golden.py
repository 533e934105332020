"""Golden sets against a store that the test fills: what is read, what is found, and what is said of the rest."""

from __future__ import annotations

import json
import math
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound, RecallensError, UnknownOption
from recallens.evaluate.comparison import check_floors, compare_runs, counterpart, failure, parse_floor
from recallens.evaluate.expectations import as_yaml, expectations, propose, resolve
from recallens.evaluate.golden import GoldenQuestion, GoldenSet, read_golden, read_golden_sets
from recallens.evaluate.harness import RANKED, Miss, Variant, asking, misses, ranked, run_golden
from recallens.evaluate.metrics import GOLDEN
from recallens.evaluate.runs import QuestionScore, Run, read_runs, write_runs
from recallens.model.query import DEFAULT_BUDGET
from recallens.model.salience import DAY_MS
from standing import FixedClock, Open

# Long enough that the note is two sections.
MORE = " ".join(f"Carrier {number} answers within {number * 7} milliseconds." for number in range(18))
NOTES = {
    "ops/cache.md": f"# Tracking cache\n\nLookups are cached for sixty seconds in Redis. {MORE}\n\n"
    f"## Eviction order\n\nOldest lookups leave the cache first. {MORE}\n",
    "ops/deploy.md": "# Deploy days\n\nWe deploy on Tuesday and Thursday.\n",
    "운영/한도.md": "# 나루 요청 한도\n\n나루물류는 초당 50건까지 요청할 수 있다.\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    return tmp_path / "notes"


@pytest.fixture
def filled(engine: Engine, notes: Path) -> Engine:
    engine.vaults.add(notes, "notes")
    engine.vaults.sync("notes")
    engine.remember("The staging database is called heron", source_id="old-17")
    engine.encoder.drain()
    return engine


def golden(*questions: tuple[str, tuple[str, ...]]) -> GoldenSet:
    return GoldenSet("mine", tuple(GoldenQuestion(query, query, expect) for query, expect in questions))


DEFAULT = Variant("default")


def run(engine: Engine, asked: GoldenSet, variant: Variant = DEFAULT) -> Run:
    return run_golden(engine, asked, expectations(engine, asked), variant, now=engine.core.clock())


def missed(engine: Engine, asked: GoldenSet) -> list[Miss]:
    expected, now = expectations(engine, asked), engine.core.clock()
    measured = run_golden(engine, asked, expected, DEFAULT, now=now)
    return misses(engine, asked, expected, DEFAULT, measured, now=now)


# ── reading ──


def test_yaml_and_json_lines_hold_the_same_questions(tmp_path: Path) -> None:
    text = (
        "# a comment\n- query: how long\n  expect: ops/cache.md\n"
        "- query: 요청 한도\n  expect: [운영/한도.md]\n  id: 7\n  tags: [korean]\n  now: 2026-05-01\n"
        "  project: api\n  namespace: team\n"
    )
    lines = [
        {"query": "how long", "expect": "ops/cache.md"},
        {"query": "요청 한도", "expect": ["운영/한도.md"], "id": "7", "tags": ["korean"], "now": "2026-05-01",
         "project": "api", "namespace": "team"},
    ]  # fmt: skip
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    read = read_golden(tmp_path / "a.yaml")
    assert read == read_golden(tmp_path / "a.jsonl")
    assert read.name == "a"
    assert read.questions[0] == GoldenQuestion("how long", "how long", ("ops/cache.md",))
    assert read.questions[1].id == "7"
    assert read.questions[1].now == 1_777_593_600_000
    with pytest.raises(InvalidInput, match="two sets are called 'a'"):
        read_golden_sets([tmp_path / "a.yaml", tmp_path / "a.jsonl"])


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.txt", "", "must end in one of .yaml, .yml, .jsonl"),
        ("a.yaml", "query: x", "must be a list of questions"),
        ("a.yaml", "- [", "is no YAML"),
        ("a.yaml", "", "holds no questions"),
        ("a.yaml", "- query: x\n  expect: a.md\n- query: y", "question 2: it expects nothing"),
        ("a.yaml", "- expect: a.md", "question 1: it has no `query`"),
        ("a.yaml", "- {query: x, expects: a.md}", "unknown field 'expects'; the fields are: query, expect, grades, id"),
        ("a.yaml", "- {query: yes, expect: a.md}", "`query` must be text, not True"),
        ("a.yaml", "- {query: x, expect: a.md, now: soon}", "is not a time"),
        ("a.yaml", "- {query: x, expect: a}\n- {query: x, expect: b}", "question 2: a second question 'x'"),
        ("a.jsonl", '{"query": "x", "expect": "a"}\n{', ":2: no JSON"),
    ],
)
def test_what_is_wrong_with_a_set_is_named(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as error:
        read_golden(tmp_path / name)
    assert complaint in str(error.value)


def test_a_set_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="--init"):
        read_golden(tmp_path / "none.yaml")


# ── what is expected, in the store ──


def test_a_file_goes_by_its_path_in_the_vault_as_stored_and_on_the_disk(filled: Engine, notes: Path) -> None:
    names = ["ops/cache.md", "notes:ops/cache.md", str(notes / "ops/cache.md"), "./ops/cache.md"]
    found = resolve(filled, {name: [name] for name in names}, "default")
    assert len({one.targets[0].key for one in found.values()}) == 1
    decomposed = unicodedata.normalize("NFD", "운영/한도.md")  # as macOS writes it
    assert decomposed != "운영/한도.md"
    assert len(resolve(filled, {"q": [decomposed]}, "default")["q"].targets) == 1


def test_memories_go_by_their_ids_and_by_those_they_came_with(filled: Engine) -> None:
    (memory,) = filled.recall(filled.recalls.query("staging database heron", limit=1)).results
    id = memory.memory.id
    found = resolve(filled, {"ours": [id.lower()], "theirs": ["old-17"], "none": ["old-18"]}, "default")
    assert found["ours"].targets[0].memories == found["theirs"].targets[0].memories == (id,)
    assert not found["ours"].by_file
    assert found["none"].unknown == ("old-18",)


def test_a_path_that_two_vaults_have_must_be_told_apart(filled: Engine, tmp_path: Path) -> None:
    (tmp_path / "more" / "ops").mkdir(parents=True)
    (tmp_path / "more" / "ops" / "cache.md").write_text("# Browser cache\n\nAssets stay a day.\n")
    filled.vaults.add(tmp_path / "more", "more")
    filled.vaults.sync("more")
    with pytest.raises(InvalidInput, match=r"more:ops/cache\.md, notes:ops/cache\.md"):
        resolve(filled, {"q": ["ops/cache.md"]}, "default")
    assert resolve(filled, {"q": ["more:ops/cache.md"]}, "default")["q"].targets


def test_a_set_about_another_store_is_an_error(filled: Engine) -> None:
    with pytest.raises(NotFound, match="nothing that mine expects is in"):
        expectations(filled, golden(("x", ("elsewhere.md",))))


# ── asking ──


def test_a_file_ranks_by_its_best_section_through_the_search_path(filled: Engine) -> None:
    expected = expectations(filled, golden(("cached lookups", ("ops/cache.md",))))["cached lookups"]
    files = ranked(filled, "cached lookups", key_of=expected.key_of, now=filled.core.clock())
    results = filled.recall(
        filled.recalls.query("cached lookups", limit=60, now=filled.core.clock(), cut=False)
    ).results
    of_cache = [one for one in results if one.memory.document == expected.targets[0].key]
    assert len(of_cache) == 2
    assert len({one.key for one in files}) == len(files)
    (cache,) = (one for one in files if one.key == expected.targets[0].key)
    assert (cache.memory, cache.score) == (of_cache[0].memory, of_cache[0].score)
    best = {one.memory.id for one in files}
    assert [one.memory.id for one in results if one.memory.id in best] == [one.memory.id for one in files]
    assert RANKED == 20


def test_a_ranking_has_no_budget_and_at_most_the_limit(filled: Engine) -> None:
    for number in range(25):
        filled.remember(f"Parcel note {number}: heron parcel {number * 7}. {MORE}", dedupe=False)
    found = ranked(filled, "heron parcel note", key_of=lambda memory: memory.id, now=filled.core.clock())
    assert len(found) == 20
    assert sum(len(one.memory.content) for one in found) > DEFAULT_BUDGET
    assert len(ranked(filled, "heron parcel note", key_of=lambda memory: memory.id, limit=3)) == 3


def test_a_ranking_can_be_held_to_folders_and_take_in_raw_conversations(tmp_path: Path, opened: Open) -> None:
    for name in ("ops/cache.md", "notes/cache.md", "transcripts/cache.md"):
        (tmp_path / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / name).write_text(f"# Cache of {name}\n\nHeron lookups are cached.\n", encoding="utf-8")
    engine = opened("folders.db")
    engine.vaults.add(tmp_path / "vault", name="v", include_raw=True)
    engine.vaults.sync("v")

    def files(**options: Any) -> set[str]:
        found = ranked(engine, "heron lookups cached", key_of=lambda memory: memory.title or "", **options)
        return {one.memory.citations[0].path for one in found}  # type: ignore[union-attr]

    assert files(folders=("ops",)) == {"ops/cache.md"}
    assert files(include_raw=False) == {"ops/cache.md", "notes/cache.md"}
    assert len(files()) == 3


def test_metrics_by_hand(filled: Engine) -> None:
    asked = golden(
        ("lookups cached sixty seconds in Redis", ("ops/cache.md", "gone.md")),
        ("나루 요청 한도", ("운영/한도.md",)),
        ("staging database heron", ("old-17",)),
    )
    found = run(filled, asked)
    first, second, third = found.questions
    assert first.ranks == {"ops/cache.md": 1, "gone.md": None}
    assert first.metrics["recall@5"] == 0.5
    assert first.metrics["recall_any@5"] == 1.0
    assert first.metrics["ndcg@10"] == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert second.metrics["recall@1"] == third.metrics["recall@1"] == 1.0
    assert found.metrics["recall@1"] == pytest.approx(2.5 / 3, abs=1e-6)
    assert list(found.metrics) == list(GOLDEN)


def test_a_question_has_its_own_project_and_time(filled: Engine, clock: FixedClock) -> None:
    filled.remember(
        "The heron release train leaves on Friday", project="web", source_id="web-1", valid_until=clock() + DAY_MS
    )
    own = GoldenQuestion("q", "heron release train", ("web-1",), project="api")
    (scored,) = run(filled, GoldenSet("mine", (own,))).questions
    assert scored.ranks == {"web-1": None}
    late = GoldenQuestion("late", "heron release train", ("web-1",), now=clock() + 3 * DAY_MS)
    early = GoldenQuestion("early", "heron release train", ("web-1",))
    first, second = run(filled, GoldenSet("mine", (late, early))).questions
    assert (first.ranks, second.ranks) == ({"web-1": None}, {"web-1": 1})  # it holds for a day


def test_nothing_is_recorded(filled: Engine) -> None:
    with filled.core.store.read("default") as reader:
        before = reader.state
    asked = golden(("lookups cached", ("ops/cache.md",)), ("deploy", ("운영/한도.md",)))
    missed(filled, asked)
    with filled.core.store.read("default") as reader:
        assert reader.state == before
        assert before is not None
        assert reader.trail.audit_head() is None


def test_what_a_variant_says_reaches_the_query(filled: Engine) -> None:
    question = GoldenQuestion("q", "lookups cached in Redis", ("ops/cache.md",))
    scores = [
        ranked(filled, question.query, key_of=lambda memory: memory.id, **asking(filled, question, variant, 0))[0].score
        for variant in (Variant("default"), Variant("default", {"weights": {"bm25": 3.0}}), Variant("bm25"))
    ]
    assert scores[1] > scores[0]
    assert len(set(scores)) == 3


# ── what was missed ──


def test_a_miss_has_the_engines_why_not(filled: Engine) -> None:
    for number in range(30):
        filled.remember(f"Lookups cached in Redis, measurement {number}: {number * 13} seconds of cache lookups")
    asked = golden(("cache lookups Redis measurement seconds", ("ops/deploy.md", "gone.md")))
    deploy, gone = missed(filled, asked)
    assert (deploy.expected, deploy.rank is None or deploy.rank > 10) == ("ops/deploy.md", True)
    told = deploy.to_json()["whyNot"]
    assert told["outcome"] == "kept-out"
    assert deploy.sentence.startswith(f"{told['droppedBy']['stage']} ({told['droppedBy']['name']}): ")
    assert told["droppedBy"]["name"] != "budget"
    assert gone.sentence == "the store holds no file and no memory of this name"


def test_the_section_that_came_nearest_speaks_for_its_file(filled: Engine) -> None:
    for number in range(30):
        filled.remember(f"Eviction order of queue {number}: oldest eviction order first, {number * 13}")
    (miss,) = missed(filled, golden(("eviction order oldest queue", ("ops/cache.md",))))
    assert miss.why is not None
    assert "Oldest lookups leave" in filled.get(miss.why.memory_id).content


# ── runs, kept and compared ──


def record(ranks: dict[str, int | None], *, preset: str = "default", set: str = "mine") -> Run:
    questions = tuple(
        QuestionScore(id, id, {f"{id}.md": rank}, {"mrr@10": 0.0 if rank is None else 1 / rank})
        for id, rank in ranks.items()
    )
    return Run(set, preset, "none", questions, 1.0)


def test_a_run_that_is_written_is_the_run_that_is_read(filled: Engine, tmp_path: Path) -> None:
    asked = golden(("lookups cached", ("ops/cache.md",)), ("deploy days", ("ops/deploy.md", "gone.md")))
    first = run(filled, asked, Variant("default", {"alpha": 0.3}, {"alpha": "0.3"}))
    write_runs(tmp_path / "run.json", [first])
    (again,) = read_runs(tmp_path / "run.json")
    assert again.to_json() == first.to_json()
    same = compare_runs(first, again)
    assert (same.changes, same.left_out, same.questions) == ((), 0, 2)
    assert {one.verdict for one in same.metrics.values()} == {"no difference shown"}
    with pytest.raises(InvalidInput, match=r"ends in \.json"):
        write_runs(tmp_path / "golden.yaml", [first])


def test_what_moved_is_told_with_both_ranks_the_worst_first() -> None:
    before = record({"a": 1, "b": 2, "c": None, "d": 4, "old": 1})
    after = record({"a": 3, "b": 1, "c": 5, "d": 4, "new": 1})
    found = compare_runs(after, before)
    assert [(one.question, one.expected, one.before, one.after) for one in found.changes] == [
        ("a", "a.md", 1, 3), ("c", "c.md", None, 5), ("b", "b.md", 2, 1),
    ]  # fmt: skip
    assert found.metrics["mrr@10"].difference == pytest.approx((1 / 3 - 1 + 1 / 5 + 1 / 2) / 4, abs=1e-6)
    assert found.metrics["mrr@10"].low < 0 < found.metrics["mrr@10"].high
    assert (found.questions, found.left_out) == (4, 2)


def test_the_counterpart_is_the_same_ranking_or_the_only_one() -> None:
    default, bm25 = record({"a": 1}), record({"a": 2}, preset="bm25")
    assert counterpart(default, [bm25, default], Path("run.json")) is default
    assert counterpart(default, [bm25], Path("run.json")) is bm25
    with pytest.raises(InvalidInput, match="it holds: default, bm25"):
        counterpart(record({"a": 1}, preset="rrf"), [default, bm25], Path("run.json"))
    with pytest.raises(NotFound, match="it holds: mine"):
        counterpart(record({"a": 1}, set="yours"), [default], Path("run.json"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"runs": [{}]}', "\x00"])
def test_a_file_that_holds_no_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InvalidInput, match="--out"):
        read_runs(tmp_path / "run.json")


# ── the gate ──


def test_a_gate_passes_at_its_value_and_fails_under_it() -> None:
    half = record({"a": 1, "b": None})
    assert failure(check_floors([half], [parse_floor("mrr@10=0.5", ["mrr@10"])])) is None
    error = failure(check_floors([half], [parse_floor("mrr@10=0.51", ["mrr@10"])]))
    assert isinstance(error, RecallensError)
    assert error.exit_code == 1
    assert "mrr@10 is 0.5000, at least 0.51" in error.message


def test_a_wrong_gate_lists_what_there_is() -> None:
    with pytest.raises(UnknownOption, match="use one of: recall@1, recall@3"):
        parse_floor("recall@7=0.5", list(GOLDEN))
    for text in ("recall@5", "recall@5=85", "recall@5=high", "recall@5=nan"):
        with pytest.raises(InvalidInput):
            parse_floor(text, list(GOLDEN))


# ── a set to begin with ──


def test_proposals_are_distinctive_repeatable_and_can_be_asked(filled: Engine, tmp_path: Path) -> None:
    found = propose(filled, "notes")
    assert found == propose(filled, None)
    assert [(one.query, one.path) for one in found] == [
        ("Tracking cache", "ops/cache.md"),
        ("Eviction order", "ops/cache.md"),
        ("Deploy days", "ops/deploy.md"),
        ("나루 요청 한도", "운영/한도.md"),
    ]
    assert [one.query for one in propose(filled, "notes", most=2)] == ["Tracking cache", "나루 요청 한도"]
    text = as_yaml(found, vault="notes", file="mine.yaml")
    assert text.startswith('# 4 questions from titles and headings of the vault "notes".')
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    read = read_golden(tmp_path / "mine.yaml")
    assert [one.expect for one in read.questions] == [(one.path,) for one in found]
    assert run(filled, read).metrics["recall@5"] == 1.0


def test_what_several_notes_are_called_is_not_proposed(engine: Engine, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "v" / f"{name}.md").parent.mkdir(exist_ok=True)
        (tmp_path / "v" / f"{name}.md").write_text(f"# Weekly notes\n\n## Overview\n\nText {name}.\n")
    engine.vaults.add(tmp_path / "v", "v")
    engine.vaults.sync("v")
    assert propose(engine, "v") == []
    with pytest.raises(NotFound, match="no vault 'w'; the vaults are: v"):
        propose(engine, "w")


def test_a_store_without_files_has_nothing_to_propose(engine: Engine) -> None:
    with pytest.raises(NotFound, match="vault add"):
        propose(engine, None)
