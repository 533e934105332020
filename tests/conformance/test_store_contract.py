"""What every engine's store promises. A new engine adds itself to `STORES` and passes as it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import postgres
from recallens.errors import StoreMissing
from recallens.ingest.draft import Draft
from recallens.ingest.prepare import prepare
from recallens.model.memory import Event, EventKind, Relation, RelationType, Session, Status, Usage, encode_id
from recallens.store.postgres.store import PostgresStore
from recallens.store.protocols import Store, Writer
from recallens.store.records import Listing, Prepared
from recallens.store.sqlite.store import SqliteStore
from standing import START_MS

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "store.db", create=True),
    "postgres": lambda folder: PostgresStore(postgres.fresh_store(), create=True),
}
ENCODER = "hashing-test@1/4/none"


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


def row(number: int, content: str, **attributes: Any) -> Prepared:
    draft = Draft(content, **attributes)
    return prepare(draft, id=encode_id(START_MS, number), namespace="n", now=START_MS + number)


def written(store: Store, *contents: str, namespace: str = "n", first: int = 0, **attributes: Any) -> list[int]:
    with store.write(namespace) as tx:
        tx.ensure(START_MS)
        return tx.memories.insert([row(first + at, text, **attributes) for at, text in enumerate(contents)])


def number(store: Store, namespace: str = "n") -> int:
    with store.read(namespace) as reader:
        assert reader.state is not None
        return reader.state.number


class Halted(Exception):
    pass


def test_a_transaction_that_fails_has_not_happened(store: Store) -> None:
    written(store, "first thing")
    before = number(store)

    def fail() -> None:
        with store.write("n") as tx:
            tx.memories.insert([row(1, "second thing altogether")])
            tx.whole.set_meta("colour", "red")
            raise Halted

    with pytest.raises(Halted):
        fail()
    assert number(store) == before
    assert store.meta("colour") is None
    # Words that were given numbers in it are given them again.
    written(store, "altogether different", first=2)
    with store.read("n") as reader:
        numbers = reader.terms.numbers(["altogeth", "altogether", "first", "thing", "differ", "second"])
        assert "second" not in numbers
        assert len(set(numbers.values())) == len(numbers)


def test_a_reader_that_writes_is_an_error(store: Store) -> None:
    written(store, "a")
    with pytest.raises((AttributeError, RuntimeError)), store.read("n") as reader:
        reader.sessions.own("s", "somebody")  # type: ignore[attr-defined]
    with pytest.raises((AttributeError, RuntimeError)), store.read_all() as whole:
        whole.set_meta("key", "value")  # type: ignore[attr-defined]
    with store.read("n") as reader:
        assert reader.sessions.owner("s") == (False, None)
    assert store.meta("key") is None


def test_each_transaction_takes_one_number_of_its_namespace(store: Store) -> None:
    written(store, "a", "b", "c")
    written(store, "x", namespace="m", first=10)
    assert (number(store), number(store, "m")) == (1, 1)
    with store.write("n") as tx:
        tx.memories.insert([row(3, "d")])
        tx.memories.update(1, {"status": Status.FORGOTTEN})
        tx.sessions.link("s", [1, 2], Usage.RECALLED, START_MS)
    assert (number(store), number(store, "m")) == (2, 1)


def test_a_reader_sees_one_state_while_others_write(store: Store) -> None:
    written(store, "before")
    with store.read("n") as reader:
        assert len(reader.memories.numbers()) == 1
        writer = threading.Thread(target=lambda: written(store, "after", first=1))
        writer.start()
        writer.join()
        assert len(reader.memories.numbers()) == 1
    with store.read("n") as reader:
        assert len(reader.memories.numbers()) == 2


def test_a_store_has_a_size_and_a_name_that_can_be_shown(store: Store) -> None:
    written(store, "a")
    assert store.size() > 0
    assert store.location in repr(store.location)
    assert store.path is None or store.path == store.beside


def test_changes_since_a_number_are_exactly_those(store: Store) -> None:
    nums = written(store, "a", "b", "c")
    seen = number(store)
    with store.read("n") as reader:
        changes = reader.terms.changes(seen)
        assert (list(changes.changed), list(changes.removed)) == ([], [])
        assert list(reader.terms.changes(0).changed) == nums
        for wanted in (nums, nums[::2], [*nums, 10**9], []):  # close together, with gaps, with one that is not there
            assert [each[0] for each in reader.terms.columns(wanted)] == [num for num in wanted if num in nums]
    with store.write("n") as tx:
        tx.memories.update(nums[1], {"importance": 0.9})
        tx.memories.delete([nums[2]])
    (fresh,) = written(store, "d", first=3)
    with store.read("n") as reader:
        changes = reader.terms.changes(seen)
        assert list(changes.changed) == [nums[1], fresh]
        assert list(changes.removed) == [nums[2]]
        assert [num for num, _ in reader.terms.entries([nums[1], fresh])] == [nums[1], fresh]
        assert [num for num, _ in reader.terms.entries([fresh])] == [fresh]


def test_a_number_is_never_given_twice(store: Store) -> None:
    nums = written(store, "a", "b")
    with store.write("n") as tx:
        tx.memories.delete(nums)
        tx.remove()
        assert tx.state is None
        first = tx.ensure(START_MS).key
    again = written(store, "c", first=5)
    assert min(again) > max(nums)
    with store.write("n") as tx:
        tx.remove()
        assert tx.ensure(START_MS).key > first


def test_words_are_found_by_themselves_and_by_their_beginnings(store: Store) -> None:
    written(store, "cache caching cacti", "사용자 인증을")
    written(store, "cachet", namespace="m", first=9)
    with store.read("n") as reader:
        assert set(reader.terms.numbers(["cach", "cacti", "인증", "absent"])) == {"cach", "cacti", "인증"}
        assert reader.whole.at("m").terms.numbers(["cacti"]) == {}
        found = reader.terms.with_prefix(["cac", "인", "zz", "%", "_"], 10)
        assert {word: len(numbers) for word, numbers in found.items()} == {"cac": 2, "인": 1}
        assert len(reader.terms.with_prefix(["cac"], 1)["cac"]) == 1


def test_labels_are_exact(store: Store) -> None:
    one, two = written(store, "see src/app.py", "see SRC/APP.PY and lib/app.py")
    with store.read("n") as reader:
        assert [(v, n) for v, _, n in reader.terms.labelled([("src/app.py", "path")])] == [
            ("src/app.py", one), ("src/app.py", two),
        ]  # fmt: skip
        assert {n for _, _, n in reader.terms.labelled([("app.py", "")])} == {one, two}
        assert reader.terms.labelled([("src/app.py", "symbol"), ("src/%", "path")]) == []


def test_vectors_leave_the_backlog_and_follow_their_memory(store: Store) -> None:
    one, two, three = written(store, "a", "b", "c")
    with store.write("n") as tx:
        tx.vectors.enqueue_missing(ENCODER, [one, two, three, one])
        assert tx.whole.backlog_size(ENCODER) == 3
        tx.vectors.put(ENCODER, [(one, 0, b"12345678")])
    seen = number(store)
    with store.write("n") as tx:
        tx.memories.delete([two])
        tx.vectors.put(ENCODER, [(two, 0, b"12345678"), (three, 0, b"abcdefgh")])
    with store.read("n") as reader:
        assert reader.whole.backlog_size(ENCODER) == 0
        assert list(reader.vectors.changes(ENCODER, 0)) == [(one, 0, b"12345678"), (three, 0, b"abcdefgh")]
        assert list(reader.vectors.changes(ENCODER, seen)) == [(three, 0, b"abcdefgh")]
        assert list(reader.vectors.of(ENCODER, [one, three])) == [(one, b"12345678"), (three, b"abcdefgh")]
        assert list(reader.vectors.changes("other@1/4/none", 0)) == []
    with store.write("n") as tx:
        assert tx.whole.enqueue_missing("other@1/4/none") == 2
        assert tx.whole.enqueue_missing(ENCODER) == 0


def test_relations_sessions_and_events_are_looked_up_at_once(store: Store) -> None:
    nums = written(store, "a", "b", "c", session="s1")
    with store.write("n") as tx:
        tx.sessions.put(Session("s1", "n", START_MS, project="p"))
        tx.sessions.put(Session("s1", "n", START_MS + 9, summary="told"))  # what it did not have, it takes
        tx.relations.supersede(nums[0], nums[1], START_MS + 5)
        tx.relations.put(nums[1], nums[2], Relation("", "", RelationType.CAUSED, 0.5, created=START_MS))
        tx.sessions.link("s1", [nums[2]], Usage.RECALLED, START_MS + 50)
        tx.trail.record([Event("n", EventKind.USED, START_MS + 7, amount=0.25)], [nums[2]])
    with store.read("n") as reader:
        assert {num: len(found) for num, found in reader.relations.find(nums).items()} == {
            nums[0]: 1,
            nums[1]: 2,
            nums[2]: 1,
        }
        assert {n: s.content for n, s in reader.relations.successors(nums, START_MS + 5).items()} == {nums[0]: "b"}
        assert reader.relations.successors(nums, START_MS + 4) == {}
        assert {s.id for s in reader.sessions.sources(nums).values()} == {"s1"}
        session = reader.sessions.get("s1")
        assert session is not None
        assert (session.started, session.project, session.summary) == (START_MS, "p", "told")
        contexts = reader.sessions.contexts(nums)
        assert [(contexts[n].usage, contexts[n].memories_in_session) for n in nums] == [
            (Usage.CREATED, 3), (Usage.CREATED, 3), (Usage.RECALLED, 3),
        ]  # fmt: skip
        assert sorted(reader.sessions.numbers("s1")) == nums
        assert reader.trail.usage_until(START_MS + 7) == [(nums[2], "used", START_MS + 7, 0.25)]
        assert reader.trail.usage_until(START_MS + 6) == []


def test_pages_count_everything_that_fits(store: Store) -> None:
    written(store, "a", "b", "c", "d", project="p")
    written(store, "e", first=9, project="q")
    with store.read("n") as reader:
        page = reader.memories.page(Listing(project="p", limit=3, offset=2))
        assert ([memory.content for memory in page.memories], page.total) == (["b", "a"], 4)


def test_a_deleted_memory_takes_everything_with_it(store: Store) -> None:
    nums = written(store, "zyzzyva lives in src/zoo.py #zoo", "a dog", session="s")
    with store.write("n") as tx:
        tx.vectors.enqueue_missing(ENCODER, nums)
        tx.relations.put(nums[1], nums[0], Relation("", "", RelationType.MENTIONS))
        tx.memories.delete([nums[0]])
    with store.read("n") as reader:
        assert reader.memories.get(nums).keys() == {nums[1]}
        assert reader.terms.numbers(["zyzzyva", "dog"]).keys() == {"dog"}
        assert reader.terms.labelled([("zoo", ""), ("src/zoo.py", "")]) == []
        assert reader.relations.find([nums[1]]) == {}
        assert reader.whole.backlog_size(ENCODER) == 1
        assert reader.sessions.numbers("s") == [nums[1]]
    assert store.check(None).problems == []


def test_a_lease_has_one_holder(store: Store) -> None:
    assert store.lease("work", "me", 60) is True
    assert store.lease("work", "me", 60) is True
    assert store.lease("work", "you", 60) is False
    store.release("work", "you")
    assert store.lease("work", "you", 60) is False
    store.release("work", "me")
    assert store.lease("work", "you", -1) is True
    assert store.lease("work", "me", 60) is True  # it had run out


def test_what_waits_is_encoded_by_one(store: Store) -> None:
    nums = written(store, "a", "b", "c")
    with store.write("n") as tx:
        tx.vectors.enqueue_missing(ENCODER, nums)
    mine = store.take_backlog(ENCODER, 10, "me", 60)
    assert mine is not None
    assert [(text.namespace, text.num, text.content) for text in mine] == [
        ("n", num, content) for num, content in zip(reversed(nums), "cba", strict=True)
    ]
    assert not store.take_backlog(ENCODER, 10, "you", 60)
    with store.write("n") as tx:
        tx.vectors.put(ENCODER, [(nums[0], 0, b"12345678")])
    store.give_back("me")
    yours = store.take_backlog(ENCODER, 1, "you", -1)
    assert yours is not None
    assert [text.num for text in yours] == [nums[2]]
    assert store.take_backlog(ENCODER, 10, "me", 60)  # the time of the other was over
    store.give_back("me")


def test_what_has_several_parts_waits_for_their_vectors(store: Store) -> None:
    texts = ("one sentence", "two. sentences", "a line\nand another", "so? yes, " + "and " * 20)
    nums = written(store, *texts, author="User")
    of_a_role = written(store, "two. sentences", "a long answer " * 9, first=len(texts), author="assistant")
    of_none = written(store, "two. sentences", "a long note " * 9, first=len(texts) + len(of_a_role))
    wanted: dict[str, Any] = {"users": ("user", "human"), "short": 40, "roles": ("user", "assistant"), "long": 100}
    with store.write("n") as tx:
        tx.vectors.put(ENCODER, [(num, 0, b"12345678") for num in (*nums, *of_a_role, *of_none)])
        tx.vectors.await_parts(ENCODER, **wanted)
    with store.read_all() as reader:
        assert [text.num for text in reader.backlog(ENCODER, 10)] == [of_none[1], nums[2], nums[1]]
    with store.write("n") as tx:
        tx.vectors.put(ENCODER, [(nums[1], 1, b"12345678"), (of_none[1], 1, b"12345678")])
        tx.vectors.await_parts(ENCODER, **wanted)
    with store.read_all() as reader:
        assert [text.num for text in reader.backlog(ENCODER, 10)] == [nums[2]]


def test_threads_queue_for_the_one_writer(store: Store) -> None:
    written(store, "first")

    def write(tx: Writer) -> None:
        tx.memories.update(1, {"uses": tx.memories.get([1])[1].uses + 1})

    def work() -> None:
        for _ in range(20):
            with store.write("n") as tx:
                write(tx)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read("n") as reader:
        assert reader.memories.get([1])[1].uses == 100


def test_a_store_that_is_not_there_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing, match="no store at"):
        SqliteStore(tmp_path / "absent.db")
    assert list(tmp_path.iterdir()) == []
