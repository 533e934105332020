"""What every engine's store promises to a timeline and to the checking of citations."""

from __future__ import annotations

from test_store_contract import key, store, written

from recallens.model.citation import Checked, CitationCheck, CommitCitation, FileCitation, Standing
from recallens.model.memory import Event, EventKind, Session
from recallens.store.protocols import Store
from standing import START_MS

__all__ = ["store"]  # the fixture


def test_a_window_is_bounded_by_time_and_limit_and_holds_back_what_is_withheld(store: Store) -> None:
    nums = written(store, "a", "b", "c", "d", "e")  # a millisecond apart
    (withheld,) = written(store, "f", first=9, scopes=("here",))
    with store.read() as reader:
        ns = key(reader)
        assert reader.window(ns, nums[2], 100, 10, "here") == (nums[:2], nums[3:])
        assert reader.window(ns, nums[2], 100, 10, "elsewhere") == (nums[:2], [*nums[3:], withheld])
        assert reader.window(ns, nums[2], 1, 10, "here") == ([nums[1]], [nums[3]])
        assert reader.window(ns, nums[2], 100, 1, "here") == ([nums[1]], [nums[3]])


def test_turns_are_those_of_the_same_session(store: Store) -> None:
    with store.write() as tx:
        ns = tx.ensure_namespace("n", START_MS).key
        for id in ("s", "t"):
            tx.put_session(ns, Session(id, "n", START_MS))
    rows = [written(store, f"turn {n}", first=n, session="st"[n % 2])[0] for n in range(6)]
    with store.read() as reader:
        turns = reader.session_turns(ns, [rows[0], rows[2], rows[5]], "")
    assert turns == {
        rows[0]: ("s", None, rows[2]),
        rows[2]: ("s", rows[0], rows[4]),
        rows[5]: ("t", rows[3], None),
    }


def test_the_last_outcome_of_a_task_counts(store: Store) -> None:
    written(store, "a")
    with store.write() as tx:
        ns = key(tx)
        for at, amount in ((2, 0.9), (1, 0.1)):
            tx.record(ns, [Event("n", EventKind.OUTCOME, at, task="T", amount=amount)], [None])
        tx.record(ns, [Event("n", EventKind.USED, 3, task="T", amount=0.5)], [None])
    with store.read() as reader:
        assert reader.outcomes(ns, ["T", "U"]) == {"T": 0.9}


def test_what_is_cited_and_what_was_found_out(store: Store) -> None:
    file, commit = FileCitation("a.py", 1, 2), CommitCitation("abc1234")
    (num,) = written(store, "a", citations=(file, commit), project="p")
    written(store, "cites nothing", first=1)
    with store.write() as tx:
        ns = key(tx)
        cited = tx.citing(ns, None, None)
        assert [(citations, len(cited)) for _, citations in cited.values()] == [([file, commit], 1)]
        assert tx.citing(ns, [num], "other") == {}
        assert tx.citation_checks([num]) == {}
        check = CitationCheck(
            cited[num][0], 7, (Checked(file, Standing.STALE, "없다"), Checked(commit, Standing.VERIFIED))
        )
        tx.put_citation_checks({num: check})
    with store.read() as reader:
        assert reader.citation_checks([num]) == {num: check}
        assert reader.kept_artifacts(ns, ["x"]) == {}
    with store.write() as tx:
        tx.delete(ns, [num])
    with store.read() as reader:
        assert reader.citation_checks([num]) == {}
