"""What the store's encoder cannot read: the second encoder's vectors, made after the answer, and never mixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from recallens.engine import Engine
from recallens.engine.encoder import StoreEncoder
from recallens.index.encoders.hashing import HashingEncoder
from recallens.index.encoders.multilingual import FILES, MultilingualEncoder
from recallens.index.encoders.protocol import EncoderKey, Vectors

ENGLISH = (
    "The lookup cache keeps entries for ninety seconds",
    "Deploys happen every Tuesday at ten in the morning",
    "The payments service retries failed charges three times",
    "We moved the database to PostgreSQL in March",
)
KOREAN = "배포는 매주 화요일 오전 열 시에 한다"
ASKED = "조회 캐시는 얼마나 오래 유지되나요?"


class EnglishOnly(HashingEncoder):
    languages = ("en",)


class Counting(HashingEncoder):
    """A second encoder of another size, which knows how often it was asked."""

    def __init__(self) -> None:
        super().__init__(32)
        self.key = EncoderKey("counting-test", "1", 32)
        self.asked = 0

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += len(texts)
        return super().encode_documents(texts)


@pytest.fixture
def second() -> Counting:
    return Counting()


@pytest.fixture
def engine(tmp_path: Path, second: Counting) -> Iterator[Engine]:
    with Engine.open(tmp_path / "s.db", encoder=EnglishOnly(), second=second) as engine:
        for text in ENGLISH:
            engine.remember(text)
        yield engine


def finished(encoder: StoreEncoder) -> None:
    assert encoder._worker is not None
    encoder._worker.join()


def seconds_of(engine: Engine) -> int:
    with engine.core.read(None) as reader:
        return reader.vectors.count("counting-test@1/32/none")


def test_an_english_store_pays_nothing(engine: Engine, second: Counting) -> None:
    recall = engine.search("when do we deploy")
    assert (second.asked, seconds_of(engine), engine.encoder._worker, dict(recall.degraded)) == (0, 0, None, {})
    with engine.core.snapshot("default") as snapshot:
        assert snapshot is not None
        assert (snapshot[1].second, snapshot[1].unread, snapshot[2].second) == (None, False, None)


def test_a_question_that_it_cannot_read_makes_the_vectors_after_the_answer(engine: Engine, second: Counting) -> None:
    first = engine.search(ASKED)
    assert first.degraded["multilingual"] == "vectors incomplete: 0 of 4 memories have theirs"
    finished(engine.encoder)
    assert seconds_of(engine) == 4
    again = engine.search(ASKED)
    assert "multilingual" not in again.degraded
    snapshot = engine.xray(ASKED, cut=False)
    assert "multilingual" in [view.name for view in snapshot.views]
    assert "semantic" not in [view.name for view in snapshot.views]  # its own encoder was not asked
    assert {"multilingualCosine"} <= snapshot.results[0].rawScores.keys()
    assert engine.recall(engine.recalls.query(ASKED)).ledger.notes("encode")[-1] == {"encoder": str(second.key)}
    # From now on a new memory has one too, though the question that wanted it is long answered.
    engine.remember("Invoices are sent on Fridays")
    finished(engine.encoder)
    assert seconds_of(engine) == 5


def test_what_has_vectors_yet_does_not_stand_above_what_lacks_them(engine: Engine) -> None:
    for number in range(60):
        engine.remember(f"Invoice {number} went out on a Friday")
    engine.encoder.begin("default")
    assert engine.core.second is not None
    engine.encoder._drain(engine.core.second, lambda done: None, 20)
    snapshot = engine.xray(ASKED, cut=False)
    assert "multilingual" not in [view.name for view in snapshot.views]
    assert engine.search(ASKED, record=False).degraded["multilingual"].startswith("vectors incomplete: 20 of 64 ")
    engine.encoder.drain()
    assert "multilingual" in [view.name for view in engine.xray(ASKED, cut=False).views]


def test_a_recall_that_records_nothing_writes_nothing(engine: Engine) -> None:
    engine.recall(engine.recalls.query(ASKED))
    engine.xray(ASKED)
    assert engine.encoder._worker is None
    with engine.core.read(None) as reader:
        assert reader.state is not None
        assert (reader.state.second, reader.vectors.count("counting-test@1/32/none")) == (None, 0)


def test_a_text_that_it_cannot_read_lets_all_have_both(engine: Engine) -> None:
    engine.remember(KOREAN)
    engine.encoder.drain()
    assert seconds_of(engine) == 5
    snapshot = engine.xray("when do we deploy", cut=False)
    assert {"semantic", "multilingual"} <= {view.name for view in snapshot.views}  # an answer may be in either language
    with engine.core.snapshot("default") as found:
        assert found is not None
        version = found[2]
        assert version.vectors is not None
        assert version.second is not None
        assert (version.vectors.base.shape[1], version.second.base.shape[1]) == (64, 32)  # never in one matrix


def test_it_can_be_turned_off_and_is_left_alone_on_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "off.db", encoder=EnglishOnly(), second=Counting(), encoder_second="none") as engine:
        engine.remember(KOREAN)
        assert dict(engine.search(ASKED).degraded) == {}
        assert engine.encoder._worker is None
        assert seconds_of(engine) == 0


def test_a_long_text_has_a_vector_a_part_and_the_score_of_the_best(tmp_path: Path, second: Counting) -> None:
    filler = "\n\n".join(f"## Part {number}\n{'nothing of interest here. ' * 12}" for number in range(6))
    page = f"{filler}\n\n## 캐시\n조회 캐시는 구십 초 동안 유지된다."
    with Engine.open(tmp_path / "s.db", encoder=EnglishOnly(), second=second) as engine:
        engine.remember(page, title="설명서")
        engine.remember("점심은 열두 시에 먹는다")
        engine.encoder.drain()
        assert seconds_of(engine) > 8
        results = engine.xray("조회 캐시는 구십 초 동안 유지된다.", cut=False).results
        best = {each.memoryId: each.rawScores["multilingualCosine"] for each in results}[results[0].memoryId]
        assert best > 0.75  # the part, and not the page as a whole
        with engine.core.snapshot("default") as found:
            assert found is not None
            index = found[2].second
            assert index is not None
            assert index.parts is not None
            assert np.array_equal(index.compacted(2).where, [0, index.parts[0]])


def test_erasing_and_changing_the_encoder_take_the_second_vectors_along(engine: Engine) -> None:
    kept = engine.remember(KOREAN)
    engine.encoder.drain()
    assert engine.maintenance.doctor().facts["secondEncoder"] == "counting-test@1/32/none"
    engine.forget(kept.id, hard=True)
    assert seconds_of(engine) == 4
    engine.maintenance.reindex(vectors=True)
    engine.encoder.drain()
    assert seconds_of(engine) == 4
    engine.encoder.use("hashing:48")  # it reads everything
    engine.encoder.drain()
    assert seconds_of(engine) == 0
    assert engine.maintenance.doctor().problems == []


def test_a_backlog_that_was_left_is_finished_by_the_next_process(tmp_path: Path, engine: Engine) -> None:
    engine.remember(KOREAN)
    finished(engine.encoder)
    with engine.core.store.write_all() as whole:
        whole.drop_vectors("counting-test@1/32/none")
    with Engine.open(tmp_path / "s.db", encoder=EnglishOnly(), second=Counting()) as other:
        assert other.search(ASKED).degraded["multilingual"] == "vectors incomplete: 0 of 5 memories have theirs"
        finished(other.encoder)
        assert "multilingual" not in other.search(ASKED).degraded


# ── the packaged one ──


def test_the_packaged_encoder_reads_across_languages_and_gives_the_same_bytes_in_any_company() -> None:
    encoder = MultilingualEncoder()
    encoder.verify()
    assert encoder.key.dimension == 512 + 384
    assert len(FILES) == 2
    vectors = encoder.encode_documents([*ENGLISH, KOREAN, ""])
    question = encoder.encode_query("배포는 언제 하나요?")
    order = np.argsort(-(vectors @ question)).tolist()
    assert order[:2] in ([4, 1], [1, 4])
    assert not vectors[5].any()
    assert np.array_equal(vectors[1], encoder.encode_documents([ENGLISH[1]])[0])
    assert np.allclose(np.linalg.norm(vectors[:5], axis=1), 1.0)


def test_an_agent_that_asks_by_layers_or_retrieves_begins_the_second_vectors_too(engine: Engine) -> None:
    assert "The multilingual view is incomplete (0 of 4 memories have theirs)." in engine.layers.search(ASKED).to_text()
    finished(engine.encoder)
    assert seconds_of(engine) == 4


MIXED = (
    "The fire drill takes place in the courtyard behind building B",
    "Daniel prefers to be called in the afternoon",
    "The car park costs 80 euros a month",
    "여분 열쇠는 안내 데스크 옆 캐비닛에 보관한다",
    "스테이징 데이터베이스는 매주 월요일에 다시 만든다",
    "결제 서버의 관리자 비밀번호는 매월 1일에 교체한다",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("소방 훈련은 어디에서 하나요?", MIXED[0]),
        ("다니엘에게는 언제 전화하는 게 좋나요?", MIXED[1]),
        ("자동차 주차비는 얼마인가요?", MIXED[2]),
        ("Where are the spare keys?", MIXED[3]),
        ("When is the staging database made anew?", MIXED[4]),
        ("When do we rotate the admin password of the payment server?", MIXED[5]),
    ],
)
def test_words_in_translation_bring_the_answer_in_the_other_language(
    tmp_path: Path, question: str, answer: str
) -> None:
    with Engine.open(tmp_path / "mixed.db", encoder="minilm") as engine:
        for text in (*MIXED, *ENGLISH, KOREAN):
            engine.remember(text)
        engine.encoder.drain()
        recall = engine.search(question, record=False, certify=True)
        assert recall.results[0].memory.content == answer
        assert recall.results[0].parts["translation"] > 0
        certificate = recall.ledger.notes("certificate")[-1]
        assert certificate["missing"] == []
        assert certificate["verdict"] in ("answered", "doubtful")


def test_a_question_that_is_asked_again_encodes_nothing(engine: Engine, second: Counting) -> None:
    engine.search(ASKED)
    finished(engine.encoder)
    first, asked = engine.search(ASKED, record=False, cut=False), second.asked
    assert asked > 0
    assert engine.search(ASKED, record=False, cut=False).results[0].memory == first.results[0].memory
    assert second.asked == asked
    engine.search(f"{ASKED} 다시", record=False)
    assert second.asked == asked + 1
