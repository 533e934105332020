"""Reading a set: what a query sees, when it happened, and errors that name the line."""

from pathlib import Path

import pytest
from judged_sets import write_lines, write_set

from recallens.errors import InvalidInput, NotFound
from recallens.evaluate.dataset import Scoring, read_dataset
from recallens.ingest.validate import parse_when


def test_a_haystack_shows_its_own_sessions_in_order_with_its_own_dates(talks: Path) -> None:
    dataset = read_dataset(talks)
    first, second = dataset.haystacks
    assert dataset.scoring is Scoring.CONVERSATION
    assert [unit.id for unit in dataset.seen_in(first)] == ["u1", "u2", "u3", "u4"]
    assert [unit.id for unit in dataset.seen_in(second)] == ["u1", "u2", "u5"]
    assert dataset.dates_in(first)["trip"] == parse_when("2023-05-01", now_ms=0)
    assert dataset.dates_in(second)["trip"] == parse_when("2025-05-01", now_ms=0)
    assert [one.id for one in dataset.questions_of(second)] == ["q3", "q4"]


def test_without_haystacks_every_query_sees_everything(pages: Path) -> None:
    dataset = read_dataset(pages)
    (everything,) = dataset.haystacks
    assert {unit.id for unit in dataset.seen_in(everything)} == {"d1", "d2", "d3"}
    assert [one.id for one in dataset.questions_of(everything)] == ["q1", "q2"]
    assert dataset.gold["q1"].units == {"d1": 1.0, "d2": 1.0}


def test_a_session_has_the_best_grade_of_its_turns(talks: Path) -> None:
    gold = read_dataset(talks).gold
    assert gold["q2"].groups == {"cat": 1.0}
    assert gold["q2"].units == {"u3": 1.0, "u4": 1.0}
    assert gold["q3"].groups == {"dog": 2.0}


def test_no_set_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"it has no dataset\.json"):
        read_dataset(tmp_path)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"id": "u1"', r"units\.jsonl\.gz:2: .*no JSON"),
        ('["u1"]', r"units\.jsonl\.gz:2: .*JSON objects"),
        ('{"id": "u1"}', r"units\.jsonl\.gz:2: no field 'text'"),
        ('{"id": "u1", "text": "x", "at": "soon"}', r"units\.jsonl\.gz:2: 'soon' is not a time"),
    ],
)
def test_a_bad_line_is_named(talks: Path, line: str, complaint: str) -> None:
    write_lines(talks / "units.jsonl.gz", [{"id": "u0", "text": "fine"}, line])
    with pytest.raises(InvalidInput, match=complaint):
        read_dataset(talks)


def test_an_unknown_kind_lists_the_known_ones(talks: Path) -> None:
    (talks / "dataset.json").write_text('{"name": "x", "kind": "images"}', encoding="utf-8")
    with pytest.raises(InvalidInput, match="conversation, documents"):
        read_dataset(talks)


def test_judgements_need_their_header_and_numbers(talks: Path) -> None:
    path = talks / "qrels.tsv"
    rows = path.read_text(encoding="utf-8")
    path.write_text(rows.replace("u1\ttrip\t1", "u1\ttrip\tgood"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"qrels\.tsv:2: the grade 'good' is no number"):
        read_dataset(talks)
    path.write_text("q1\tu1\ttrip\t1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="query-id, unit-id, group-id, grade"):
        read_dataset(talks)


def test_a_question_of_an_unknown_haystack_is_refused(talks: Path) -> None:
    write_lines(talks / "queries.jsonl.gz", [{"id": "q", "text": "x", "haystack": "h9"}])
    with pytest.raises(InvalidInput, match="h9"):
        read_dataset(talks)


def test_an_empty_unit_ends_no_run_and_its_title_stands_for_it(tmp_path: Path) -> None:
    from recallens.evaluate.harness import run_judged

    units = [
        {"id": "a", "text": " \n", "title": "The cache of lookups"}, {"id": "b", "text": ""},
        {"id": "c", "text": None, "title": "  "}, {"id": "d", "text": "Nothing to do with it"},
    ]  # fmt: skip
    folder = write_set(
        tmp_path / "empty", kind="documents", units=units, queries=[{"id": "q", "text": "lookups cache"}],
        qrels=[("q", "a", "", 1)],
    )  # fmt: skip
    dataset = read_dataset(folder)
    assert [(unit.id, unit.text) for unit in dataset.units] == [
        ("a", "The cache of lookups"), ("d", "Nothing to do with it"),
    ]  # fmt: skip
    (run,) = run_judged(dataset, dataset.questions, ["default"], encoder=None)
    assert (run.left_out, run.questions[0].ranks) == (2, {"a": 1})
