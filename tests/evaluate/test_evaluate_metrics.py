"""Each formula against what ranx answered on random lists, and by hand where ranx has no such metric."""

import pytest
from ranx_answers import answers, random_questions

from recallens.evaluate import metrics
from recallens.evaluate.dataset import Gold, Scoring

ORACLE = {
    "ndcg@10": metrics.ndcg,
    "recall@10": metrics.recall,
    "mrr@10": metrics.reciprocal_rank,
    "hit_rate@10": metrics.recall_any,
}


@pytest.mark.parametrize("name", ORACLE)
def test_a_metric_agrees_with_ranx_on_every_question(name: str) -> None:
    gold, ranked = random_questions()
    ours = {query: ORACLE[name](ranked[query], gold[query], 10) for query in gold}
    assert ours == pytest.approx(answers()[name], abs=1e-12)
    assert 0 < sum(ours.values()) < len(ours)


def test_recall_all_wants_every_one_and_recall_any_only_one() -> None:
    ranked, gold = ["a", "x", "b", "y", "z", "c"], {"a": 1.0, "b": 1.0, "c": 1.0}
    assert [metrics.recall_all(ranked, gold, k) for k in (1, 5, 6)] == [0, 0, 1]
    assert [metrics.recall_any(ranked, gold, k) for k in (1, 5, 6)] == [1, 1, 1]
    assert metrics.recall_any(["x"], gold, 5) == 0


def test_an_empty_list_scores_nothing() -> None:
    scores = metrics.score(Scoring.CONVERSATION, [], [], Gold({"u": 1.0}, {"g": 1.0}))
    assert set(scores.values()) == {0.0}
    assert "unit ndcg@10" in scores


def test_turns_count_only_where_turns_were_judged() -> None:
    assert "unit ndcg@10" not in metrics.score(Scoring.CONVERSATION, ["u"], ["g"], Gold({}, {"g": 1.0}))
