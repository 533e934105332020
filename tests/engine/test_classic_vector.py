"""Vector Search as specified: its test specification with the packaged encoder."""

from __future__ import annotations

import numpy as np
import pytest

from recallens.engine import Engine
from recallens.errors import EncoderMissing
from recallens.index.encoders.minilm import MiniLMEncoder

JWT = "User authentication with JWT tokens and OAuth2"
SCHEMA = "Database schema design with foreign keys"


@pytest.fixture
def stored(real: Engine) -> dict[str, str]:
    return {text: real.remember(text, project="proj1").id for text in (JWT, SCHEMA)}


def similarity(encoder: MiniLMEncoder, query: str, text: str) -> float:
    """The cosine as stored vectors give it: half precision in the store, double in the sum."""
    vector = encoder.encode_documents([text])[0].astype(np.float16).astype(np.float64)
    return float(vector @ encoder.encode_query(query).astype(np.float64))


def semantic(engine: Engine, text: str, **options: object) -> dict[str, float]:
    recall = engine.search(text, mode="semantic", preset="classic", project="proj1", record=False, **options)
    return {result.memory.content: result.parts["vector"] / 0.4 for result in recall.results}


def test_finds_semantically_similar_memories(real: Engine, stored: dict[str, str]) -> None:
    assert list(semantic(real, "login system security")) == [JWT, SCHEMA]
    assert list(semantic(real, "tables and columns of SQL")) == [SCHEMA, JWT]


def test_shares_no_word_with_the_query(real: Engine, stored: dict[str, str]) -> None:
    recall = real.search("login system security", mode="semantic", record=False, cut=False)
    assert recall.results[0].memory.id == stored[JWT]
    assert {str(result.match_type) for result in recall.results} == {"semantic"}
    assert all(result.highlights == () for result in recall.results)


def test_returns_similarity_scores(real: Engine, stored: dict[str, str], minilm: MiniLMEncoder) -> None:
    found = semantic(real, "authentication")
    assert 0 < found[JWT] <= 1
    for text, score in found.items():
        assert score == pytest.approx(similarity(minilm, "authentication", text), abs=1e-12)


def test_a_text_is_most_similar_to_itself(real: Engine, stored: dict[str, str]) -> None:
    assert semantic(real, JWT)[JWT] == pytest.approx(1.0, abs=1e-3)


def test_limit_and_project_hold(real: Engine, stored: dict[str, str]) -> None:
    real.remember("OAuth2 tokens in another project", project="proj2")
    assert list(semantic(real, "login system security", limit=1)) == [JWT]
    assert set(semantic(real, "OAuth2 tokens")) == {JWT, SCHEMA}


def test_only_searches_current_model_vectors(real: Engine, stored: dict[str, str]) -> None:
    """Vectors of another model lie in the same store, as they do while a model is being changed."""
    (num,) = real.core.store.connection.execute("SELECT num FROM memories WHERE content = ?", (SCHEMA,)).fetchone()
    other = np.full(8, 9.0, dtype=np.float16).tobytes()
    with real.core.store.write("default") as tx:
        tx.vectors.put("other-model@1/8/none", [(num, 0, other)])
    before = semantic(real, "login system security")
    assert list(before) == [JWT, SCHEMA]
    real.core.store.connection.execute("DELETE FROM vectors WHERE encoder LIKE 'other%'")
    assert semantic(real, "login system security") == before


def test_a_memory_without_a_vector_yet_is_not_proposed(real: Engine, stored: dict[str, str]) -> None:
    from recallens.ingest.draft import Draft

    (batch,) = real.memories.remember_many([Draft("OAuth2 login by device code", project="proj1")])
    assert set(semantic(real, "login system security")) == {JWT, SCHEMA}
    assert real.encoder.drain() == 1
    assert set(semantic(real, "login system security")) == {JWT, SCHEMA, "OAuth2 login by device code"}
    assert batch[0].embedded is False


def test_without_an_encoder_there_is_no_semantic_search(opened) -> None:
    engine = opened("words.db", encoder="none")
    engine.remember(JWT)
    with pytest.raises(EncoderMissing, match="this store has no encoder"):
        engine.search("login", mode="semantic")
    assert [r.memory.content for r in engine.search("tokens").results] == [JWT]
