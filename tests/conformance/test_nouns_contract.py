"""What every engine's store promises, noun by noun."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs
from test_store_contract import ENCODER, STORES, row, store, written

from recallens.errors import NotFound
from recallens.model.audit import Act, ChainHead, KeptAnswer, Key, Token, chained
from recallens.model.citation import (
    Checked,
    CitationCheck,
    CitedLines,
    CommitCitation,
    FileCitation,
    Finding,
    Standing,
    SymbolCitation,
    Worktree,
    citation_to_json,
)
from recallens.model.memory import (
    Artifact,
    Document,
    Event,
    EventKind,
    Relation,
    RelationType,
    Session,
    Status,
    Usage,
    Zone,
)
from recallens.model.recall import SessionContext
from recallens.model.salience import DAY_MS
from recallens.model.state import Sight
from recallens.model.task import Task
from recallens.model.trust import Change, Input, InputKind, ProposedChange
from recallens.model.vault import Link, NoteEnding, NoteLife, Placed, Seen, VaultFile, VaultOptions
from recallens.store.nouns import NOUNS
from recallens.store.protocols import Store, Writer
from recallens.store.records import Listing, MovedSection, NewSection, ReplacedSection, SectionFacts
from standing import START_MS

KEY = Key(b"k" * 32)

__all__ = ["STORES", "store"]  # the fixture


# ── namespaces ──


def test_an_unknown_namespace_reads_as_empty_and_takes_no_change(store: Store) -> None:
    nums = written(store, "a")
    with store.read("elsewhere") as reader:
        assert (reader.name, reader.state) == ("elsewhere", None)
        assert (reader.memories.numbers(), reader.memories.get(nums), reader.trail.audit_head()) == ([], {}, None)
        assert reader.statistics()["totals"]["memories"] == 0
    with store.write("elsewhere") as tx:
        with pytest.raises(NotFound, match="no namespace 'elsewhere'"):
            tx.sessions.put(Session("s", "elsewhere", START_MS))
        with pytest.raises(NotFound):
            tx.memories.insert([row(5, "b")])
        state = tx.ensure(START_MS)
        assert tx.state == state
        assert tx.ensure(START_MS + 1) == state
        tx.sessions.put(Session("s", "elsewhere", START_MS))
    with store.read("elsewhere") as reader:
        assert reader.sessions.get("s") == Session("s", "elsewhere", START_MS)


def test_what_is_of_one_namespace_is_seen_from_no_other(store: Store) -> None:
    mine = written(store, "see src/a.py", "b", session="s")
    theirs = written(store, "c", namespace="m", first=5)
    with store.write("n") as tx:
        tx.relations.put(mine[0], mine[1], Relation("", "", RelationType.CAUSED, created=START_MS))
        tx.sessions.put(Session("s", "n", START_MS))
    with store.write("m") as tx:
        assert tx.memories.ids([*mine, *theirs]).keys() == set(theirs)
        assert tx.memories.get(mine) == {}
        assert (tx.terms.held(mine), tx.terms.paths(mine)) == (set(), [])
        assert (tx.relations.find(mine), tx.relations.of(mine[0])) == ({}, [])
        assert (tx.sessions.sources(mine), tx.sessions.contexts(mine), tx.tasks.trials(mine)) == ({}, {}, {})
        tx.memories.update(mine[0], {"importance": 0.1})
        tx.memories.delete([mine[0]])
        tx.vectors.put(ENCODER, [(mine[0], 0, b"12345678")])
    with store.read("n") as reader:
        assert reader.memories.get(mine)[mine[0]].importance != 0.1
        assert list(reader.vectors.changes(ENCODER, 0)) == []
        assert reader.whole.at("m").memories.numbers() == theirs


def test_the_whole_store_knows_its_namespaces_and_counts(store: Store) -> None:
    written(store, "a", "b")
    written(store, "c", namespace="m", first=5)
    with store.read_all() as whole:
        assert [(state.name, count) for state, count in whole.namespaces()] == [("m", 1), ("n", 2)]
        assert whole.statistics()["totals"]["memories"] == 3
        here = whole.at("n").statistics()
        assert (here["totals"]["memories"], here["by"]["status"]) == (2, {"active": 2})
    with store.write_all() as whole:
        first, second = whole.at("n"), whole.at("m")
        first.vectors.enqueue_missing(ENCODER, first.memories.numbers())
        second.vectors.enqueue_missing(ENCODER, second.memories.numbers())
        whole.at("n").memories.update(1, {"uses": 1})
        first.memories.update(2, {"uses": 1})  # one transaction, one number
        whole.set_meta("encoder-key", "k")
        whole.set_meta("colour", "red")
        whole.drop_meta("colour")
        assert whole.hold_lease("work", "me", 10, 20)
        assert not whole.hold_lease("work", "you", 15, 30)
    assert store.meta("colour") is None
    with store.read_all() as whole:
        waiting = whole.backlog(ENCODER, 10)
        expected = [("m", "c"), ("n", "b"), ("n", "a")]  # the latest first
        assert [(each.namespace, each.content) for each in waiting] == expected
        assert len(whole.backlog(ENCODER, 2)) == 2
        state = whole.at("n").state
        assert state is not None
        assert (state.number, state.encoder) == (2, "k")


# ── memories ──


def test_memories_are_found_by_what_is_known_of_them(store: Store) -> None:
    one, two = written(store, "first text", "second text", source="chat", source_id="x1", project="p")
    with store.read("n") as reader:
        first, second = (reader.memories.get([one, two])[num] for num in (one, two))
        assert reader.memories.find([first.id, "nothing"]) == {first.id: one}
        assert reader.memories.find_prefix(first.id[:10]) == [one, two]
        assert reader.memories.by_hash([first.content_hash]) == {(first.content_hash, "p"): one}
        origin = ("chat", "x1", "p", second.content_hash)
        assert reader.memories.by_origin([origin]) == {origin: two}
        assert reader.memories.by_source_id(["x1", "x2"]) == {"x1": two}


def test_an_id_of_a_source_is_bound_to_its_zone(store: Store) -> None:
    trusted, working = written(store, "the person's text", "an agent's text", source="chat", source_id="x1")
    with store.write("n") as tx:
        tx.memories.update(working, {"zone": "working"})

    def bound_to(zone: Zone) -> int:
        with store.read("n") as reader:
            return reader.memories.by_source_id(["x1"], zones={"x1": zone})["x1"]

    assert (bound_to(Zone.TRUSTED), bound_to(Zone.WORKING), bound_to(Zone.QUARANTINE)) == (trusted, working, trusted)
    with store.write("n") as tx:
        tx.memories.update(working, {"status": "superseded"})
    assert bound_to(Zone.WORKING) == trusted


def test_memories_are_found_by_their_state(store: Store) -> None:
    a, b, c = written(store, "a", "b", "c", scopes=("here",))
    (skill,) = written(store, "d", first=5, kind="skill", title="Cut", project="p")
    with store.write("n") as tx:
        tx.memories.update(a, {"status": Status.PENDING_REVIEW})
        tx.memories.update(b, {"status": Status.FORGOTTEN})
        with pytest.raises(ValueError, match="immutable"):
            tx.memories.update(c, {"content": "changed"})
    with store.read("n") as reader:
        assert reader.memories.with_status(["forgotten", "rejected"]) == [b]
        assert reader.memories.awaiting_review() == [a]
        assert sorted(reader.memories.scoped()) == [("here", a), ("here", b), ("here", c)]
        assert reader.memories.crafts("skill", "p") == [(skill, "Cut")]
        assert reader.memories.crafts("skill", None) == []
        assert reader.memories.around(c, 5, 5) == ([a], [])
        page = reader.memories.page(Listing(statuses=("forgotten",)))
        assert [memory.content for memory in page.memories] == ["b"]


def test_a_memory_is_changed_around_its_text(store: Store) -> None:
    (num,) = written(store, "see a.py", tags=("x",), citations=(FileCitation("a.py"),))
    again = row(9, "see a.py", tags=("y",), citations=(FileCitation("a.py"), CommitCitation("abc1234")))
    with store.write("n") as tx:
        tx.memories.put_attributes(num, {"count": 2}, START_MS + 5)
        tx.memories.reinforce([(num, 0.5)], START_MS + 6)
        tx.memories.merge(num, again)
        tx.terms.mend()
        assert tx.terms.numbers(["see", "x"]).keys() == {"see", "x"}  # nothing was wrong with them
        tx.memories.rederive([num], [again])
        assert tx.terms.labelled([("x", "tag")]) == []
        assert tx.terms.unused() == list(tx.terms.numbers(["x"]).values())
        tx.terms.drop(tx.terms.unused())
        epoch = tx.state.epoch
        tx.terms.begin_epoch()
    with store.read("n") as reader:
        memory = reader.memories.get([num])[num]
        assert (memory.attributes, memory.updated, memory.version) == ({"count": 2}, START_MS + 5, 2)
        assert (memory.reinforcement, memory.reinforced_at) == (0.5, START_MS + 6)
        assert (memory.tags, memory.citations) == (("x", "y"), (FileCitation("a.py"), CommitCitation("abc1234")))
        assert reader.terms.numbers(["see", "x", "y"]).keys() == {"see", "y"}
        assert reader.state.epoch == epoch + 1
    assert store.check(None).problems == []


def test_a_window_is_bounded_by_time_and_limit_and_holds_back_what_is_withheld(store: Store) -> None:
    nums = written(store, "a", "b", "c", "d", "e")  # a millisecond apart
    (withheld,) = written(store, "f", first=9, scopes=("here",))
    with store.read("n") as reader:
        window = reader.memories.window
        assert window(nums[2], 100, 10, ["elsewhere"]) == (nums[:2], nums[3:])
        assert window(nums[2], 100, 10, ["here"]) == (nums[:2], [*nums[3:], withheld])
        assert window(nums[2], 1, 10, []) == ([nums[1]], [nums[3]])
        assert window(nums[2], 100, 1, []) == ([nums[1]], [nums[3]])


# ── terms, vectors, relations ──


def test_words_and_names_of_memories(store: Store) -> None:
    one, two = written(store, "Ask Ada Lovelace about src/a.py", "We met Ada Lovelace at large")
    with store.write("n") as tx:
        assert tx.terms.sharing_names([one], 10) == [(one, two)]
        assert ("src/a.py" in {path for _, path in tx.terms.paths([one])}) is True
        numbers = tx.terms.numbers(["larg", "large", "ada"])
        assert set(numbers.values()) <= tx.terms.held([two])
        tx.terms.drop(sorted(numbers.values()))
        assert tx.terms.numbers(list(numbers)) == {}


def test_a_memory_may_have_a_vector_for_each_part(store: Store) -> None:
    one, two = written(store, "a", "b")
    with store.write("n") as tx:
        tx.vectors.put(ENCODER, [(one, 1, b"bbbb"), (one, 0, b"aaaa")])
        tx.vectors.put(ENCODER, [(one, 0, b"cccc")])
        tx.vectors.enqueue_missing(ENCODER, [one, two])
        assert [each.num for each in tx.whole.backlog(ENCODER, 9)] == [two]
    with store.read("n") as reader:
        assert list(reader.vectors.changes(ENCODER, 0)) == [(one, 0, b"cccc"), (one, 1, b"bbbb")]
    with store.write_all() as whole:
        whole.at("n").vectors.put("other@1/2/none", [(one, 0, b"dddd")])
        whole.drop_other_vectors(ENCODER)  # not while a memory waits for its own
        assert list(whole.at("n").vectors.changes("other@1/2/none", 0)) == [(one, 0, b"dddd")]
        whole.at("n").vectors.put(ENCODER, [(two, 0, b"eeee")])
        whole.drop_other_vectors(ENCODER)
        assert list(whole.at("n").vectors.changes("other@1/2/none", 0)) == []
        mine, other = whole.at("n").vectors, "other@1/2/none"
        mine.mark_unread()
        mine.begin_second(other)
        state = whole.at("n").state
        assert state is not None
        assert (state.unread, state.second) == (True, other)
        assert whole.backlog_size(other) == 2  # everything that is there waits
        mine.put(other, [(one, 0, b"ffff"), (one, 1, b"gggg")])
        mine.begin_second(other)
        assert (mine.count(other), whole.backlog_size(other)) == (2, 1)
        assert mine.of(other, [one, two]) == [(one, b"ffff"), (one, b"gggg")]
        whole.drop_other_vectors(ENCODER, other)
        assert mine.count(other) == 2
        whole.drop_vectors(other)
        assert mine.count(other) == 0
        whole.drop_other_vectors(ENCODER)
        assert [state.second for state, _ in whole.namespaces()] == [None]
        whole.drop_damaged_vectors()
        whole.drop_vectors(ENCODER)
        assert list(whole.at("n").vectors.changes(ENCODER, 0)) == []


def test_relations_hold_for_a_time(store: Store) -> None:
    a, b, c = written(store, "a", "b", "c")
    with store.write("n") as tx:
        tx.relations.put(a, b, Relation("", "", RelationType.CAUSED, 0.5, created=10, valid_until=20))
        tx.relations.put(a, b, Relation("", "", RelationType.CAUSED, 0.7, created=10, valid_until=20))
        tx.relations.put_many({(c, a, RelationType.BUILDS_ON): Relation("", "", RelationType.BUILDS_ON, created=15)})
    with store.read("n") as reader:
        assert [(r.type, r.confidence) for r in reader.relations.of(b)] == [("CAUSED", 0.7)]
        assert len(reader.relations.of(a)) == 2
        assert reader.relations.known([(a, b, "CAUSED"), (b, a, "CAUSED"), (a, b, "BUILDS_ON")]) == {(a, b, "CAUSED")}
        assert reader.relations.neighbours([a], 12) == [(a, b, "CAUSED", 0.7)]
        assert reader.relations.neighbours([a], 25) == [(c, a, "BUILDS_ON", 1.0)]
        assert reader.relations.neighbours([b, c], 15) == [(a, b, "CAUSED", 0.7), (c, a, "BUILDS_ON", 1.0)]


# ── sessions, tasks, the trail ──


def test_sessions_are_listed_with_what_was_used_in_them(store: Store) -> None:
    nums = written(store, "a", "b", session="s")
    with store.write("n") as tx:
        tx.sessions.put(Session("s", "n", START_MS))
        tx.sessions.put(Session("t", "n", START_MS + 9))
        tx.sessions.link("t", [nums[0]], Usage.RECALLED, START_MS + 20)
        assert tx.sessions.owner("s") == (True, None)
        assert tx.sessions.owner("u") == (False, None)
        tx.sessions.own("u", "token")
        tx.sessions.own("u", "another")
    with store.read("n") as reader:
        assert [(session.id, count) for session, count in reader.sessions.latest(9, 0)] == [("t", 1), ("s", 2)]
        assert [session.id for session, _ in reader.sessions.latest(1, 1)] == ["s"]
        assert reader.sessions.links("t") == [(nums[0], Usage.RECALLED, START_MS + 20)]
        assert reader.sessions.owner("u") == (True, "token")
    with store.write("n") as tx:
        tx.sessions.own("u", None)
        assert tx.sessions.owner("u") == (False, None)


def test_a_token_sees_of_anothers_session_what_was_made_there_and_of_anothers_task_nothing(store: Store) -> None:
    """The token's name holds what SQL and JSON are made of: it reaches the statements as a text and nothing else."""
    mine = """to'k"en?1"""
    first, second = written(store, "a", "b", session="s", project="p")
    with store.write("n") as tx:
        tx.sessions.put(Session("s", "n", 7, title="of others", ended=8, project="hidden"))
        tx.sessions.put(Session("t", "n", 9, title="my own"))
        tx.sessions.put(Session("empty", "n", 9))
        tx.sessions.own("t", mine)
        tx.sessions.own("s", "another")
        for session in "st":
            tx.sessions.link(session, [first], Usage.RECALLED, START_MS + 20)
        tx.tasks.put(task("T", owner=mine))
        tx.tasks.put(task("U"))
        tx.tasks.put(task("V", owner="another"))
        tx.tasks.put_artifact(Artifact("A", "n", "U", "log", "a log", START_MS))
        tx.trail.record([Event("n", EventKind.RECALLED, 1)], [first])
    with store.read("n", Sight(owner=mine)) as reader:
        stub = Session("s", "n", reader.memories.get([first])[first].created, project="p")
        own = Session("t", "n", 9, title="my own")
        assert reader.sessions.latest(9, 0) == [(stub, 2), (own, 1)]
        assert [reader.sessions.get(id) for id in ("s", "t", "empty")] == [stub, own, None]
        assert [usage for _, usage, _ in reader.sessions.links("s")] == [Usage.CREATED, Usage.CREATED]
        assert [usage for _, usage, _ in reader.sessions.links("t")] == [Usage.RECALLED]
        assert (reader.sessions.numbers("s"), reader.sessions.numbers("t")) == ([first, second], [first])
        assert reader.sessions.sources([first]) == {first: stub}
        contexts = reader.sessions.contexts([first, second])
        assert contexts == {first: SessionContext(own, 1, Usage.RECALLED),
                            second: SessionContext(stub, 2, Usage.CREATED)}  # fmt: skip
        assert reader.memories.page(Listing(session="s")).total == 2
        some: dict[str, Any] = {"running": None, "project": None, "session": None, "limit": 9, "offset": 0}
        assert [each.id for each in reader.tasks.latest(**some)] == ["T"]
        assert [reader.tasks.get(id) is None for id in "TUV"] == [False, True, True]
        totals = reader.statistics()["totals"]
        assert [totals[table] for table in ("sessions", "tasks", "artifacts", "events")] == [2, 1, 0, 0]
    with store.write("n") as tx:
        tx.memories.update(first, {"status": Status.FORGOTTEN})
        assert [each.id for each in tx.tasks.latest(**some, owner=mine)] == ["T"]
    with store.read("n", Sight(owner=mine)) as reader:
        later = structs.replace(stub, started=reader.memories.get([second])[second].created)
        assert reader.sessions.latest(9, 0) == [(later, 1), (own, 0)]
    with store.write("n") as tx:
        tx.memories.update(second, {"status": Status.FORGOTTEN})
    with store.read("n", Sight(owner=mine)) as reader:  # nothing is left that it may see of the other session
        assert reader.sessions.latest(9, 0) == [(own, 0)]


def test_turns_are_those_of_the_same_session(store: Store) -> None:
    with store.write("n") as tx:
        tx.ensure(START_MS)
        for id in ("s", "t"):
            tx.sessions.put(Session(id, "n", START_MS))
    rows = [written(store, f"turn {n}", first=n, session="st"[n % 2])[0] for n in range(6)]
    with store.read("n") as reader:
        turns = reader.sessions.turns([rows[0], rows[2], rows[5]], "")
        assert reader.sessions.course(rows[2], 1, "") == [rows[0], rows[2], rows[4]]
        assert reader.sessions.course(rows[0], 1, "") == [rows[0], rows[2]]
    assert turns == {
        rows[0]: ("s", None, rows[2]),
        rows[2]: ("s", rows[0], rows[4]),
        rows[5]: ("t", rows[3], None),
    }


def task(id: str, **attributes: object) -> Task:
    return Task(id, "n", f"do {id}", START_MS, attributes.pop("wording", id), **attributes)  # type: ignore[arg-type]


def test_a_task_keeps_its_log_and_its_outcome(store: Store) -> None:
    (own,) = written(store, "made in it", task="T")
    (episode,) = written(store, "how it went", first=5)
    with store.write("n") as tx:
        tx.tasks.put(task("T", project="p", session="s"))
        tx.tasks.put(task("U", wording="T", project="p"))
        tx.tasks.put_artifact(Artifact("A", "n", "T", "log", "a long log", START_MS))
        tx.tasks.end(task("T", ended=START_MS + 5, reward=0.5, summary="fine"), episode)
    with store.read("n") as reader:
        ended = reader.tasks.get("T")
        assert ended is not None
        assert (ended.reward, ended.summary, ended.episode) == (0.5, "fine", reader.memories.ids([episode])[episode])
        assert reader.tasks.get("V") is None
        some = {"project": "p", "session": None, "limit": 9, "offset": 0}
        assert [each.id for each in reader.tasks.latest(running=None, **some)] == ["U", "T"]  # type: ignore[arg-type]
        assert [each.id for each in reader.tasks.latest(running=True, **some)] == ["U"]  # type: ignore[arg-type]
        assert [
            each.id for each in reader.tasks.latest(running=False, project=None, session="s", limit=9, offset=0)
        ] == ["T"]
        assert [each.id for each in reader.tasks.ended("p", 9)] == ["T"]
        assert reader.tasks.ended(None, 9) == []
        assert [each.id for each in reader.tasks.attempts("T")] == ["T"]
        assert [each.content for each in reader.tasks.artifacts(["T"], chars=6, limit=9)] == ["a long"]
        assert [each.content for each in reader.tasks.artifacts(["T"], chars=-1, limit=9)] == ["a long log"]
        assert reader.tasks.artifact_kinds("T") == [("A", "log")]
        assert reader.citations.artifacts(["A", "x"]) == {"A": "log"}
        assert reader.tasks.memories(["T"]) == [own]


def test_trials_count_what_was_used_and_not_what_was_recalled(store: Store) -> None:
    a, b = written(store, "a", "b")
    with store.write("n") as tx:
        for id, end, reward in (("T", 10, 1.0), ("U", 20, 0.5)):
            tx.tasks.put(task(id))
            tx.trail.record([Event("n", EventKind.RECALLED, end - 5, task=id)] * 2, [a, b])
            tx.trail.record([Event("n", EventKind.USED, end - 4, task=id, owner="agent")] * 2, [a, b])
            tx.trail.record([Event("n", EventKind.USED, end - 4, task=id)], [b])
            tx.trail.record([Event("n", EventKind.TRIED, end, task=id, owner="agent")] * 2, [a, b])
            tx.trail.record([Event("n", EventKind.TRIED, end, task=id)], [b])
            tx.tasks.end(task(id, ended=end, reward=reward), a)
        tx.trail.record([Event("n", EventKind.RECALLED, 7, session="s")], [a])
        assert tx.tasks.recalled(task("T", ended=10)) == [a, b]
        tx.tasks.recount("T")
        tx.tasks.recount("U")
        assert tx.tasks.uses("U") == {a: "agent", b: ""}
        assert tx.tasks.given([a, b], task("T", ended=10), "token", 10) == {a, b}
        assert tx.tasks.given([a, b], task("V"), "token", 10) == set()
        assert (tx.tasks.tried(a, "agent"), tx.tasks.tried(a, "token")) == (2, 0)
        tx.trail.record([Event("n", EventKind.WRITTEN, 1, owner="token")], [a])
        assert tx.tasks.writers([a, b]) == {a: "token"}
        assert tx.tasks.trials([a, b]) == {a: (0, 0.0), b: (2, 1.5)}
        tx.tasks.recount()
        assert tx.tasks.trials([a, b]) == {a: (0, 0.0), b: (2, 1.5)}
        tx.memories.update(a, {"zone": "working"})
        tx.tasks.recount(num=a)
        assert tx.tasks.trials([a, b]) == {a: (2, 1.5), b: (2, 1.5)}
        tx.memories.update(a, {"zone": "trusted"})
        tx.tasks.recount(num=a)
        assert tx.tasks.trials_until(12) == ([(b, 1, 1.0)], 1, 1.0)
    with store.read("n") as reader:
        assert reader.state is not None
        assert (reader.state.tasks_ended, reader.state.reward_total) == (2, 1.5)
    assert store.check(None).problems == []


def test_the_last_outcome_of_a_task_counts(store: Store) -> None:
    written(store, "a")
    with store.write("n") as tx:
        for at, amount in ((2, 0.9), (1, 0.1)):
            tx.trail.record([Event("n", EventKind.OUTCOME, at, task="T", amount=amount)], [None])
        tx.trail.record([Event("n", EventKind.USED, 3, task="T", amount=0.5)], [None])
    with store.read("n") as reader:
        assert reader.tasks.outcomes(["T", "U"]) == {"T": 0.9}


def test_the_audit_chain_and_its_end(store: Store) -> None:
    written(store, "a")
    with store.write("n") as tx:
        (num,) = tx.memories.numbers()
        assert (tx.trail.audit_head(), tx.trail.marks([num])) == (None, {})
        tx.trail.put_marks({num: (b"salt", "ab" * 12)})
        act = Act("n", "search", DAY_MS, "token", "s", "cd" * 16, "NotFound")
        entries = [chained(KEY, ChainHead("c"), act, ["ab" * 12], 3)]
        later = structs.replace(act, who=None, session=None, at=2 * DAY_MS)
        entries.append(chained(KEY, ChainHead("c", 1, entries[0].digest), later, ()))
        for entry in entries:
            tx.trail.append_audit(entry)
    with store.read_all() as whole:
        assert whole.audit_heads() == {"n": ChainHead("c", 2, entries[-1].digest)}
    with store.read("n") as reader:
        assert reader.trail.audit_head() == ChainHead("c", 2, entries[-1].digest)
        assert reader.trail.audit() == entries
        assert reader.trail.audit(after=1) == entries[1:]
        assert reader.trail.audit(limit=1) == entries[:1]
        assert reader.trail.recalls_by_day(0) == {1: 1}
        assert reader.trail.recalls_by_day(2 * DAY_MS) == {}
        assert reader.trail.marks([num, 999]) == {num: "ab" * 12}
        assert [(salt, mark) for _, salt, mark in reader.trail.marked()] == [(b"salt", "ab" * 12)]
        assert [reader.trail.audit_until(day * DAY_MS) for day in (1, 2, 3)] == [(0, 0), (1, 1), (2, 2)]
    with store.write("other") as tx:  # a log needs no namespace
        assert (tx.trail.audit(), tx.trail.audit_head()) == ([], None)
        tx.trail.append_audit(entries[0])
    with store.write("n") as tx:
        tx.trail.drop_audit(1)
        assert tx.trail.audit() == entries[1:]
        assert tx.trail.audit_until(9 * DAY_MS) == (2, 1)
        tx.memories.delete([num])  # what stands for it goes with it
        assert tx.trail.marked() == []


def test_what_a_transaction_has_changed(store: Store) -> None:
    nums = written(store, "a", "b")
    with store.write_all() as whole:
        assert whole.changed(9) == {}
        whole.at("n").memories.update(nums[1], {"importance": 0.9})
        assert whole.changed(9) == {"n": (1, [nums[1]])}
        assert whole.changed(0) == {"n": (1, [])}


def test_trails_that_are_kept_no_longer(store: Store) -> None:
    (num,) = written(store, "a")
    with store.write("n") as tx:
        recalls = [Event("n", EventKind.RECALLED, at, amount=amount) for at, amount in ((1, 0.5), (2, None), (9, None))]
        tx.trail.record([*recalls, Event("n", EventKind.USED, 1)], [num] * 4)
        tx.sessions.put(Session("s", "n", 1))
        tx.sessions.link("s", [num], Usage.RECALLED, 1)
        tx.trail.put_ledger(id="L1", session="s", at=1, ledger=b"L1", audit={}, keep=9)
    with store.write("n") as tx:
        assert tx.trail.outdated(1, 1) == {"ledgers": 0, "recalls": 0, "sessionLinks": 0, "audit": 0}
        assert tx.trail.outdated(5, 5) == {"ledgers": 1, "recalls": 1, "sessionLinks": 1, "audit": 0}
        ((memory, event, kind, at, amount),) = tx.trail.reinforcing(5)
        assert (memory, kind, at, amount) == (num, "recalled", 1, 0.5)
        tx.trail.fold({event: 0.75}, [])
        tx.trail.drop_outdated(5, 5)
        assert tx.trail.outdated(5, 5) == {"ledgers": 0, "recalls": 0, "sessionLinks": 0, "audit": 0}
        kept = [(kind, at, amount) for _, kind, at, amount in tx.trail.usage_of([num])]
        assert kept == [("recalled", 1, 0.75), ("used", 1, None), ("recalled", 9, None)]
        tx.trail.fold({}, [event])
        assert len(tx.trail.usage_of([num])) == 2
        tx.trail.put_ledger(id="L2", session="t", at=7, ledger=b"L2", audit={}, keep=9)
        tx.trail.put_ledger(id="L3", session="t", at=9, ledger=b"L3", audit={}, keep=9, since=8)
        assert [id for id, *_ in tx.trail.ledgers(9, None)] == ["L3"]


def test_who_confirmed_a_memory_and_who_was_given_it_is_known(store: Store) -> None:
    (num,) = written(store, "a")
    with store.write("n") as tx:
        id = tx.memories.ids([num])[num]
        kinds = ((EventKind.CONFIRMED, "t1"), (EventKind.CONFIRMED, "t1"), (EventKind.RECALLED, "t2"))
        tx.trail.record([Event("n", kind, 5, session="s", owner=owner) for kind, owner in kinds], [num] * 3)
        tx.trail.record([Event("n", EventKind.RECALLED, 7)], [num])
        tx.trail.put_ledger(id="L", session="s", at=5, ledger=b"", audit={id: "A"}, keep=2)
        assert tx.lineage.confirmers(num) == {"t1"}
        assert tx.lineage.recalls_of(num) == [(7, None, None, None, None), (5, "s", None, "t2", "L")]


def test_ledgers_are_kept_for_a_while_and_have_owners(store: Store) -> None:
    written(store, "a")

    def put(tx: Writer, id: str, owner: str | None) -> None:
        tx.trail.put_ledger(id=id, session="s", at=1, ledger=id.encode(), audit={"m": id}, keep=2, owner=owner)

    with store.write("n") as tx:
        for id, owner in (("L1", None), ("L2", "token"), ("L3", None)):
            put(tx, id, owner)
    with store.read("n") as reader:
        assert reader.trail.ledger("L1") is None
        assert reader.trail.ledger("L2") == (b"L2", {"m": "L2"})
        assert reader.trail.last_ledger("s") == (b"L3", {"m": "L3"})
        assert reader.trail.last_ledger("s", "token") == (b"L2", {"m": "L2"})
        assert reader.trail.last_ledger("s", "other") is None
        assert [id for id, *_ in reader.trail.ledgers(9, None)] == ["L3", "L2"]
        assert [id for id, *_ in reader.trail.ledgers(9, "other")] == []
        assert (reader.trail.ledger_owner("L2"), reader.trail.ledger_owner("L3")) == ("token", None)
    with store.write("n") as tx:
        tx.memories.delete([1])  # what is deleted must not live on in a ledger
        assert tx.trail.ledgers(9, None) == []


def test_a_session_of_nothing_goes(store: Store) -> None:
    (num, other) = written(store, "a word", "another", session="s", project="P")
    with store.write("n") as tx:
        for id in ("s", "of a task", "bare"):
            tx.sessions.put(Session(id, "n", START_MS, project="P"))
            tx.sessions.own(id, "o")
        tx.tasks.put(task("T", session="of a task"))
        assert (tx.erasure.projects("s", []), tx.erasure.projects("s", [num, other])) == ({"P"}, set())
        assert tx.erasure.drop_sessions(["s", "of a task", "bare", "unknown"]) == ["bare"]
        assert tx.sessions.owner("bare") == (False, None)
        tx.memories.delete([num, other])
        assert tx.erasure.drop_sessions(["s", "of a task"]) == ["s"]
        tx.erasure.blank_session("of a task", project=True)
        left = tx.sessions.get("of a task")
        assert (left and left.project, tx.sessions.get("s")) == (None, None)
        assert tx.erasure.logged(["s"]) == []


def test_what_a_memory_left_elsewhere_is_found_and_taken_out(store: Store) -> None:
    (num, recap) = written(store, "a word in quetzal", "of the session", session="s", source="session", task="T")
    with store.write("n") as tx:
        tx.sessions.put(Session("s", "n", START_MS, title="kept", summary="quetzal"))
        tx.tasks.put(task("T", session="s"))
        tx.tasks.put_artifact(Artifact("A", "n", "T", "log", "quetzal", START_MS))
        tx.documents.put(Document("D", "n", "p.md", "quetzal", "h", 1))
        tx.trail.put_ledger(id="L", session="s", at=1, ledger=zlib.compress(b"quetzal"), audit={}, keep=2)
        tx.whole.tokens.put_answer("o", "k", "n", KeptAnswer("r", START_MS, 200, "a quetzal"))
        assert (tx.erasure.sessions([num]), tx.erasure.tasks([num])) == (["s"], ["T"])
        assert tx.erasure.made_in(["s"]) == [num, recap]
        assert [name for name, _ in tx.erasure.holding(["quetzal"])] == ["session s", "log A"]
        assert tx.erasure.summaries(["s", "unknown"]) == {"s": "quetzal"}
        tx.erasure.blank_session("s", title=False, summary=True)
        tx.erasure.blank_task("T")
        tx.erasure.drop_logs(["A"])
        tx.erasure.blank_documents(["D"], [])
        assert tx.erasure.drop_recalls(lambda data: b"quetzal" in data) == (1, 1)
        tx.memories.delete([num], ["quetzal"])
        tx.whole.set_meta("left", "to do")
    assert store.file.holders(["quetzal"]) == []
    cleaned = store.file.clean(store.file.touched(), wait_ms=10)
    assert cleaned is not None
    assert cleaned.pages > 0
    assert store.file.find([b"quetzal"])[0] == 0
    store.file.settle("left", "something else")
    assert store.meta("left") == "to do"
    store.file.settle("left", "to do")
    assert store.meta("left") is None
    with store.read("n") as reader:
        known = reader.sessions.get("s")
        assert known is not None
        assert (known.title, known.summary) == ("kept", None)


# ── documents, vaults, citations, tokens ──


def placed(position: int, *links: Link) -> Placed:
    return Placed(position, ("Head",), ("head",), f"d{position}", f"b{position}", links)


def test_a_document_has_its_memories(store: Store) -> None:
    with store.write("n") as tx:
        tx.ensure(START_MS)
        tx.documents.put(Document("D", "n", "a.md", "A", "hash", 5, "p"))
        tx.documents.put(Document("E", "n", "b.md", None, "hash", 5))
    nums = written(store, "a", document="D")
    with store.write("n") as tx:
        assert [document.path for document in tx.documents.all()] == ["a.md", "b.md"]
        assert tx.documents.paths(["E", "x"]) == {"E": "b.md"}
        assert tx.documents.memories("a.md") == nums
        assert tx.documents.withheld() == set()  # who reads here may see everything
        tx.documents.drop(["E"])
        assert tx.documents.all() == [Document("D", "n", "a.md", "A", "hash", 5, "p")]


def vault_of(store: Store, texts: Sequence[str]) -> tuple[int, list[int]]:
    """A vault with one file, whose document is D, and a section for each text; the first links to the others."""
    with store.write("n") as tx:
        tx.ensure(START_MS)
        tx.vaults.put("notes", "/notes", VaultOptions(scopes=("a",)), START_MS)
        (vault,) = tx.vaults.all()
        tx.documents.put(Document("D", "n", "notes:a.md", None, "hash", 5))
        tx.vaults.put_files(vault.id, [VaultFile("a.md", "D", "hash", Seen(1, 2, 3))])
        sections = [
            NewSection(row(at, text, document="D", position=at, citations=(FileCitation("a.md"),)), placed(at))
            for at, text in enumerate(texts)
        ]
        return vault.id, tx.vaults.insert_sections(vault.id, sections)


def test_a_vault_knows_its_files_and_sections(store: Store) -> None:
    vault, nums = vault_of(store, ["one text", "two texts"])
    with store.write("n") as tx:
        tx.vaults.mark_synced(vault, START_MS + 9)
        tx.vaults.put_files(vault, [VaultFile("b.md", "", "", Seen(0, 0, 0), "not text")])
    with store.write("n") as tx:
        (known,) = tx.vaults.all()
        assert (known.name, known.options, known.synced) == ("notes", VaultOptions(scopes=("a",)), START_MS + 9)
        assert [file.path for file in tx.vaults.files(vault)] == ["a.md", "b.md"]
        assert tx.vaults.counts() == {vault: (1, 2)}
        sections = tx.vaults.sections(vault, ["D"])["D"]
        assert [(section.num, section.placed) for section in sections] == [(nums[0], placed(0)), (nums[1], placed(1))]
        page = tx.vaults.page(vault, 1, 1)
        assert [(path, position, headings, chars) for _, path, position, headings, _, chars in page] == [
            ("a.md", 1, ("Head",), 9)
        ]
        assert tx.vaults.texts(["D", "x"]) == {"D": ["one text", "two texts"]}
        assert (tx.vaults.holds("notes:a.md"), tx.vaults.holds("notes:b.md")) == (True, False)
        tx.vaults.drop_files(vault, ["b.md"])
        assert [file.path for file in tx.vaults.files(vault)] == ["a.md"]
        tx.vaults.read_again(vault)
        assert [file.hash for file in tx.vaults.files(vault)] == [""]
        gone = tx.vaults.drop(vault)
        assert gone == nums
        tx.memories.delete(gone)
        assert (tx.vaults.all(), tx.documents.all(), tx.memories.numbers()) == ([], [], [])
    assert store.check(None).problems == []


def test_sections_are_replaced_moved_and_dropped(store: Store) -> None:
    vault, (first, second, third) = vault_of(store, ["one text", "two texts", "three"])
    with store.write("n") as tx:
        tx.vectors.put(ENCODER, [(first, 0, b"aaaa"), (second, 0, b"bbbb")])
        tx.relations.put(second, first, Relation("", "", RelationType.CAUSED, created=START_MS))
    link = Link("wiki", "b")
    fresh = row(0, "wholly new", document="D", position=0, citations=(FileCitation("a.md", 1, 2),))
    citation = citation_to_json(FileCitation("a.md", 7, 9))
    with store.write("n") as tx:
        ids = tx.memories.ids([first, second])
        (again,) = tx.vaults.replace_sections([ReplacedSection(first, fresh, placed(1, link), same_text=False)])
        tx.vaults.move_sections([MovedSection(second, placed(0), citation, {"x": 1}, None, START_MS + 9)])
        tx.vaults.drop_sections([third])
    with store.read("n") as reader:
        assert reader.memories.ids([again, second]) == {again: ids[first], second: ids[second]}
        replaced, moved = (reader.memories.get([again, second])[num] for num in (again, second))
        assert (replaced.content, replaced.version, replaced.citations) == (
            "wholly new", 2, (FileCitation("a.md", 1, 2),),
        )  # fmt: skip
        assert (moved.position, moved.attributes, moved.citations) == (0, {"x": 1}, (FileCitation("a.md", 7, 9),))
        assert list(reader.vectors.changes(ENCODER, 0)) == [(second, 0, b"bbbb")]
        assert len(reader.relations.of(again)) == 1
        assert reader.vaults.links(vault) == {"a.md": [(second, ("head",), ()), (again, ("head",), (link,))]}
        assert set(reader.terms.changes(1).removed) == {first, third}
    with store.write("n") as tx:
        tie = (again, second, "MENTIONS")
        tx.vaults.retie([], {tie: START_MS})
        assert tx.vaults.ties(vault) == {tie: START_MS}
        tx.vaults.retie([tie], {})
        assert tx.vaults.ties(vault) == {}


def test_the_last_of_those_that_took_its_place(store: Store) -> None:
    with store.write("n") as tx:
        tx.ensure(START_MS)
        first, second, third, other = tx.memories.insert([row(at, f"text {at}") for at in range(4)])
        tx.relations.supersede(first, second, START_MS + 1)
        tx.relations.supersede(second, third, START_MS + 2)
        assert tx.relations.heirs([first, second, other], START_MS + 9, 20) == {first: third, second: third}
        assert tx.relations.heirs([first, second], START_MS + 1, 20) == {first: second}
        assert tx.relations.heirs([first], START_MS + 9, 1) == {first: second}


def test_what_a_note_says_of_itself_is_kept_and_a_persons_decision_stands(store: Store) -> None:
    vault, (first, second, third) = vault_of(store, ["one text", "two texts", "three"])
    life = NoteLife(("A",), NoteEnding(START_MS, (Link("wiki", "b"),)), {1: NoteEnding()}, "draft", reinforcements=3)
    facts = SectionFacts(0.9, 0.7, START_MS, "draft", ("private",), "RFC 1")
    with store.write("n") as tx:
        (known,) = tx.vaults.files(vault)
        tx.vaults.put_files(vault, [structs.replace(known, warning="half", life=life)])
        tx.vaults.put_files(vault, [structs.replace(known, warning="half")])  # what it says of itself stays
        tx.vaults.settle({first: ("superseded", START_MS + 5)})
        tx.relations.supersede(second, third, START_MS + 1)
        citation = citation_to_json(FileCitation("a.md", 7, 9))
        tx.vaults.move_sections([MovedSection(third, placed(0), citation, {}, None, START_MS, facts)])
        tx.trail.record([Event("n", EventKind.STATED, START_MS, amount=0.2)], [third])
    with store.read("n") as reader:
        assert (reader.vaults.lives(vault), reader.vaults.files(vault)[0].warning) == ({"a.md": life}, "half")
        states = reader.vaults.states(vault)
        assert [(states[num].status, states[num].settled) for num in (first, second, third)] == [
            ("superseded", False), ("superseded", True), ("active", False),
        ]  # fmt: skip
        assert states[first].valid_until == START_MS + 5
        moved = reader.memories.get([third])[third]
        stored = (moved.importance, moved.confidence, moved.valid_from, moved.review, moved.scopes, moved.source_id)
        assert SectionFacts(*stored) == facts
        assert states[third].stated == (0.2, START_MS)
        assert reader.trail.usage_of([third]) == [(third, "stated", START_MS, 0.2)]
    with store.write("n") as tx:
        tx.trail.drop_stated([third])
        assert tx.vaults.states(vault)[third].stated is None
        for owner in ("ada", "bo"):
            tx.trail.record([Event("n", EventKind.CONFIRMED, START_MS, amount=0.1, owner=owner)], [third])
        tx.trail.drop_confirmations(third, "ada")
        assert tx.lineage.confirmers(third) == {"bo"}
    assert store.check(None).problems == []


def test_what_is_cited_and_what_was_found_out(store: Store) -> None:
    file, commit = FileCitation("a.py", 1, 2), CommitCitation("abc1234")
    (num,) = written(store, "a", citations=(file, commit), project="p")
    written(store, "cites nothing", first=1)
    with store.write("n") as tx:
        cited = tx.citations.of(None, None)
        assert [(citations, len(cited)) for _, citations in cited.values()] == [([file, commit], 1)]
        assert tx.citations.of([num], "other") == {}
        assert tx.citations.checks([num]) == {}
        check = CitationCheck(
            cited[num][0], 7, (Checked(file, Standing.STALE, "없다"), Checked(commit, Standing.VERIFIED))
        )
        tx.citations.put_checks({num: check})
        elsewhere = CitationCheck(check.memory, 5, (Checked(file, Standing.VERIFIED),), Worktree("/w", "fix", "f00"))
        tx.citations.put_checks({num: elsewhere})
        known = CitedLines("h", ("h1", "h2"), 1, "f00", "repo")
        tx.citations.put_lines({(num, file): CitedLines("before")})
        tx.citations.put_lines({(num, file): known})
    with store.read("n") as reader:
        assert reader.citations.checks([num]) == {num: check}
        assert reader.citations.checks([num], "fix") == {num: elsewhere}
        assert reader.citations.all_checks(num) == [check, elsewhere]
        assert reader.citations.lines([num]) == {(num, file): known}
        assert reader.citations.artifacts(["x"]) == {}
        assert reader.citations.files(["a.py"]) == []  # which the labels have
    (other,) = written(store, "b", first=2, citations=(SymbolCitation("s1", "load", "src/load.py"),))
    with store.write("n") as tx:
        (cited_by, _) = tx.citations.of([num], None)[num]
        moved = Checked(file, Standing.STALE, "renamed", Finding.MOVED, now="src/b.py:1-2")
        tx.citations.put_checks({num: CitationCheck(cited_by, 9, (moved,))})
    with store.read("n") as reader:
        assert reader.citations.files(["load.py"]) == [(other, "src/load.py")]
        assert reader.citations.files(["b.py"]) == [(num, "src/b.py")]
    with store.read("elsewhere") as reader:
        assert reader.citations.files(["load.py", "b.py"]) == []
        assert (reader.citations.all_checks(num), reader.citations.lines([num])) == ([], {})
    with store.write("n") as tx:
        tx.memories.delete([num])
    with store.read("n") as reader:
        assert reader.citations.checks([num]) == {}
        assert (reader.citations.all_checks(num), reader.citations.lines([num])) == ([], {})


def test_tokens_and_the_answers_that_are_given_again(store: Store) -> None:
    token = Token("t1", "mine", "digest", ("n", "m"), "read", 5)
    answer = KeptAnswer("request", 10, 200, "body")
    with store.write_all() as whole:
        whole.tokens.put(token)
        whole.tokens.put_answer("t1", "key", "n", answer)
        whole.tokens.put_answer("t1", "old", None, KeptAnswer("request", 1))
        whole.tokens.put_answer("t1", "unwanted", None, KeptAnswer("request", 20))
        whole.tokens.drop_answers_before(5)
        whole.tokens.drop_answer("t1", "unwanted")
    with store.read_all() as reading:
        assert reading.tokens.all() == [token]
        assert reading.tokens.answer("t1", "key") == answer
        assert reading.tokens.answer("t1", "old") is None
        assert reading.tokens.answer("t1", "unwanted") is None
    with store.write_all() as whole:
        whole.tokens.revoke("t1", 7)
        whole.tokens.revoke("t1", 8)
        assert [each.revoked for each in whole.tokens.all()] == [7]


# ── lineage and proposals ──


def test_what_a_text_was_made_of_is_followed_over_any_number_of_steps(store: Store) -> None:
    log, note, recap, edit = nums = written(store, "what was logged", "a note", "a recap of it", "an edit of the recap")
    with store.write("n") as tx:
        ids = tx.memories.ids(nums)
        made_of = [Input(InputKind.MEMORY, ids[note], Zone.WORKING), Input(InputKind.LOG, "L", Zone.WORKING)]
        tx.lineage.put(recap, made_of)
        tx.lineage.put(edit, [Input(InputKind.MEMORY, ids[recap], Zone.WORKING, replaced=True)])
        assert [(each.kind, each.id, each.num) for each in tx.lineage.of([recap, log])[recap]] == [
            ("log", "L", 0), ("memory", ids[note], note),
        ]  # fmt: skip
        assert tx.lineage.derived_from(InputKind.MEMORY, [ids[note]]) == [recap, edit]
        assert tx.lineage.derived_from(InputKind.MEMORY, [ids[note]], quoting=True) == [recap]
        assert tx.lineage.derived_from(InputKind.LOG, ["L"]) == [recap, edit]
    with store.read("m") as elsewhere:
        assert elsewhere.lineage.derived_from(InputKind.LOG, ["L"]) == []
    with store.write("n") as tx:
        tx.memories.delete([recap])
        assert (tx.lineage.of(nums), tx.lineage.derived_from(InputKind.MEMORY, list(ids.values()))) == ({}, [])


def test_a_proposal_stands_once_until_it_is_decided_and_goes_with_its_memory(store: Store) -> None:
    first, second = written(store, "a", "b")
    with store.write("n") as tx:
        ids = tx.memories.ids([first, second])
        number = tx.proposals.put(ProposedChange(Change.FORGET, num=first, owner="token", at=START_MS))
        assert tx.proposals.put(ProposedChange(Change.FORGET, num=first, owner="token", at=START_MS + 1)) == number
        other = tx.proposals.put(
            ProposedChange(Change.RELATE, num=first, other_num=second, at=START_MS, details={"relation": "CONTRADICTS"})
        )
        assert [(each.number, each.memory, each.other) for each in tx.proposals.open()] == [
            (number, ids[first], None), (other, ids[first], ids[second]),
        ]  # fmt: skip
        third = tx.proposals.put(ProposedChange(Change.SUPERSEDE, num=first, other_num=second, owner="token"))
        assert [each.number for each in tx.proposals.replacing(second)] == [third]
        assert [each.number for each in tx.proposals.replacements([first])] == [third]
        tx.proposals.decide(third, accepted=False, at=START_MS)
        assert (tx.proposals.replacing(second), tx.proposals.replacements([first])) == ([], [])
        tx.proposals.decide(number, accepted=False, at=START_MS + 2)
        known = tx.proposals.get(other)
        assert tx.proposals.get(number) is None
        assert known is not None
        assert known.details == {"relation": "CONTRADICTS"}
        assert tx.proposals.put(ProposedChange(Change.FORGET, num=first, owner="token", at=START_MS)) != number
        tx.memories.delete([first])
        assert tx.proposals.open() == []


def test_every_noun_goes_out_and_comes_back_with_its_numbers(store: Store) -> None:
    nums = written(store, "see src/a.py", "b", session="s")
    with store.write("n") as tx:
        tx.relations.put(nums[0], nums[1], Relation("", "", RelationType.CAUSED, created=START_MS))
        tx.whole.set_meta("encoder-spec", "none")
    with store.read("n") as reader:
        nouns = [noun.name for noun in NOUNS.values() if noun.of != "store"]
        rows = {noun: list(reader.portable.rows(noun)) for noun in nouns}
        assert {noun: reader.portable.count(noun) for noun in nouns} == {noun: len(own) for noun, own in rows.items()}
        assert (len(rows["memory"]), len(rows["relation"]), reader.portable.unreadable("memory")) == (2, 1, 0)
        numbers = reader.whole.portable.numbers()
        assert (numbers["memory"], reader.whole.portable.unreadable("setting")) == (nums[1], 0)
        assert list(reader.whole.portable.rows("setting")) == [("encoder-spec", "none")]
        assert reader.whole.portable.count("token") == 0
    with store.write("n") as tx:
        tx.remove()
        tx.portable.begin(rows.pop("namespace")[0])
        for noun, own in rows.items():
            tx.portable.load(noun, own)
        tx.portable.settle()
        tx.whole.portable.load("token", [("t", "name", "digest", "[]", "read", START_MS, None, None, "[]")])
        tx.whole.portable.keep_numbers({"memory": 1_000})
        assert tx.portable.after(0, 1) == nums[:1]
        assert tx.portable.after(nums[0], 9) == nums[1:]
    with store.read("n") as reader:
        assert {noun: list(reader.portable.rows(noun)) for noun in rows} == rows
        assert reader.whole.portable.numbers()["memory"] == 1_000
        assert [token.id for token in reader.whole.tokens.all()] == ["t"]
