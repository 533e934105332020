"""A part that says it by itself: its own vector beside that of the whole, who has one, and who tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.engine.encoder import texts_of
from recallens.index.encoders.hashing import HashingEncoder
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.index.encoding import PART_HANDICAP
from recallens.ingest.encoded import MOST_PARTS, READ_CHARACTERS, SENTENCE_CHARACTERS, WINDOW_CHARACTERS, own_parts
from recallens.model.memory import Memory
from recallens.render import render
from recallens.store.records import META_PARTS

ASIDE = "By the way, I adopted a beagle puppy named Biscuit in May."
TURN = (
    "I need a plan for a week of cheap dinners, please without nuts or shellfish. "
    f"{ASIDE} Could you put the shopping list into a table with prices?"
)
ASKED = "Which dog did I adopt?"


def vectors_of(engine: Engine) -> int:
    with engine.core.read(None) as reader:
        return reader.vectors.count(str(engine.core.encoding.key))


def test_a_turn_is_as_near_as_its_nearest_sentence_and_the_xray_tells_which(real: Engine) -> None:
    turn = real.remember(TURN, author="user")
    real.remember("The plan for the dinners is in the shared folder.")
    result = next(row for row in real.xray(ASKED, cut=False).results if row.memoryId == turn.id)
    encoding = real.core.encoding
    query = encoding.available().encode_query(ASKED)
    whole, *sentences = encoding.documents([TURN, *own_parts("user", TURN)]) @ query
    assert max(sentences) > whole + 0.1
    assert result.rawScores is not None
    assert result.rawScores["cosine"] == pytest.approx(max(sentences) - PART_HANDICAP, abs=1e-3)
    assert result.sentence == ASIDE


@pytest.mark.parametrize("form", ["brief", "text", "markdown", "json", "html"])
def test_every_writer_tells_the_sentence(real: Engine, form: str) -> None:
    real.remember(TURN, author="user")
    assert "I adopted a beagle puppy named Biscuit" in render(real.xray(ASKED, cut=False), form)


def test_where_the_whole_is_nearest_no_sentence_is_told(real: Engine) -> None:
    real.remember("The gateway gives up after thirty seconds.")
    assert real.xray("when does the gateway give up", cut=False).results[0].sentence is None


def test_who_has_one_sentence_or_is_not_the_user_pays_nothing(real: Engine) -> None:
    real.remember("The gateway gives up after thirty seconds.", author="user")
    real.remember("Yes! The gateway gives up after sixty seconds.", author="user")
    real.remember(TURN.replace("I adopted", "you adopted"), author="assistant")
    real.remember(TURN.replace("I adopted", "Ann adopted"))
    assert vectors_of(real) == 4
    real.remember(TURN, author="user", dedupe=False)
    assert vectors_of(real) == 4 + 1 + 3


def test_sentences_are_pieces_that_say_something_and_no_more_than_twelve() -> None:
    assert own_parts("user", "Hi! Fine. The build broke on Monday.\nIt was the linter") == [
        "The build broke on Monday.",
        "It was the linter",
    ]
    assert own_parts("user", "One sentence alone says it") == []
    assert len(own_parts("user", "It rained the whole day. " * 30)) == 12
    assert [len(each) for each in own_parts("User", f"{'long ' * 100}. And a second one.")] == [300, 17]


def test_what_somebody_pastes_and_what_others_say_is_known_as_a_whole() -> None:
    two = "It rained the whole day. The gate stayed shut."
    assert len(own_parts("user", two)) == 2
    assert [own_parts(author, two) for author in ("assistant", "ann", None)] == [[], [], []]
    assert own_parts("user", f"{two} {'And on. ' * 100}") == []


PAGE = "".join(
    f"## Step {number}\n{'The valve is opened by hand, then the gauge is read twice. ' * 9}\n" for number in range(8)
)
FAR = "A wet dog in the engine room is dried before the shift begins."


@pytest.mark.parametrize("author", [None, "Ann"])
def test_of_a_text_that_is_longer_than_the_encoder_reads_each_window_is_read(author: str | None) -> None:
    windows = own_parts(author, PAGE)
    assert len(windows) == 8
    assert all(window.startswith("## Step") and len(window) <= WINDOW_CHARACTERS for window in windows)
    assert own_parts(author, PAGE[:READ_CHARACTERS]) == []
    assert len(own_parts(author, PAGE * 9)) == MOST_PARTS
    assert [own_parts(role, PAGE) for role in ("user", "assistant", "tool")] == [[], [], []]


def test_what_a_long_text_says_far_down_is_found_by_its_meaning(real: Engine) -> None:
    far = real.remember(f"{PAGE}{FAR}", title="Running the pumps")
    for number in range(30):
        real.remember(f"{PAGE}A bolt of size {number} fits.", title=f"Pump {number}", dedupe=False)
    asked = "what to do with a soaked puppy near the motors"
    result = real.recall(real.recalls.query(asked, cut=False)).results[0]
    assert result.memory.id == far.id
    assert result.sentence is not None
    assert result.sentence.endswith(FAR)
    told = real.xray(asked, cut=False).results[0].sentence
    assert told == result.sentence[:SENTENCE_CHARACTERS]


def test_another_encoder_reads_the_whole_alone(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "s.db", encoder=HashingEncoder()) as engine:
        kept = engine.get(engine.remember(TURN, author="user").id)
        assert texts_of(engine.core.encoding, kept) == [TURN]
        assert vectors_of(engine) == 1


def as_of_before(engine: Engine, minilm: MiniLMEncoder, texts: list[str], author: str | None = "user") -> list[Memory]:
    """Memories in a store that was written before parts had vectors."""
    key = str(engine.core.encoding.key)
    kept = [engine.get(engine.remember(text, author=author, dedupe=False).id) for text in texts]
    with engine.core.store.write_all() as whole:
        whole.drop_vectors(key)
        whole.drop_meta(META_PARTS)
        whole.at("default").vectors.put(
            key,
            [
                (memory.num, 0, vector.astype("<f2").tobytes())
                for memory, vector in zip(kept, minilm.encode_documents(texts), strict=True)
            ],
        )
    engine.core.resident(1).discard()
    return kept


def test_an_old_store_gets_them_by_the_backlog_step_by_step(real: Engine, minilm: MiniLMEncoder) -> None:
    texts = [TURN.replace("Biscuit", name) for name in ("Rex", "Waldi", "Laika")]
    as_of_before(real, minilm, [*texts, "A single sentence has nothing to wait for"])
    assert vectors_of(real) == 4
    assert real.encoder.drain(limit=1) == 1
    assert (vectors_of(real), real.encoder.waiting()) == (7, 2)
    assert real.encoder.drain() == 2
    assert (vectors_of(real), real.encoder.waiting()) == (13, 0)
    assert real.encoder.drain() == 0  # and never again
    told = {row.sentence for row in real.xray(ASKED, cut=False).results}
    assert {ASIDE.replace("Biscuit", name) for name in ("Rex", "Waldi", "Laika")} <= told


def test_what_is_written_now_does_not_wait_for_what_is_old(real: Engine, minilm: MiniLMEncoder) -> None:
    as_of_before(real, minilm, [f"Day {number} was quiet. Nobody called on day {number}." for number in range(40)])
    real.encoder._await_parts()
    with real.core.store.read_all() as reader:
        waiting = [memory.num for memory in reader.backlog(str(real.core.encoding.key), 3)]
    assert waiting == sorted(waiting, reverse=True)


def test_a_long_note_of_an_old_store_gets_its_windows(real: Engine, minilm: MiniLMEncoder) -> None:
    as_of_before(real, minilm, [f"{PAGE}{FAR}", "A short note"], author=None)
    assert real.encoder.drain() == 1
    assert vectors_of(real) == 2 + len(own_parts(None, f"{PAGE}{FAR}"))


def test_writing_in_an_old_store_makes_them_beside_the_work(real: Engine, minilm: MiniLMEncoder) -> None:
    as_of_before(real, minilm, ["Oslo is where we met. We spoke about the fjord for an hour."])
    real.remember("A new note")
    assert real.encoder._worker is not None
    real.encoder._worker.join()
    assert vectors_of(real) == 4


def test_a_store_that_was_exported_without_them_has_them_after_it_is_loaded(
    real: Engine, minilm: MiniLMEncoder, tmp_path: Path
) -> None:
    as_of_before(real, minilm, ["Oslo is where we met. We spoke about the fjord for an hour."])
    real.maintenance.transfer.export(tmp_path / "old.jsonl", vectors=True)
    with Engine.open(tmp_path / "new.db", encoder=minilm) as other:
        other.maintenance.transfer.load(tmp_path / "old.jsonl")
        other.encoder.drain()
        assert vectors_of(other) == 3


def test_of_a_text_that_is_withheld_no_sentence_is_told(real: Engine) -> None:
    real.remember(TURN, author="user", scopes=("family",))
    rows = real.recall(real.recalls.query(ASKED, cut=False, scopes=("family",))).ledger.notes("identity")[-1]["rows"]
    assert [row["sentence"] for row in rows.values()] == [ASIDE]
    told = real.recall(real.recalls.query(ASKED, cut=False)).ledger.notes("identity")
    assert not any("sentence" in row for note in told for row in note["rows"].values())
