from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.errors import InvalidInput
from recallens.index.encoders import EncoderKey
from recallens.index.encoders.protocol import prefix_for

plain = st.text(st.sampled_from("abcXYZ019.-_:한"), min_size=1, max_size=12)
model = st.text(st.sampled_from("abcXYZ019.-_:/@한"), min_size=1, max_size=20)


def test_the_canonical_line() -> None:
    key = EncoderKey("all-MiniLM-L6-v2-int8", "1.0.0", 384)
    assert str(key) == "all-MiniLM-L6-v2-int8@1.0.0/384/none"


@given(st.builds(EncoderKey, model, plain, st.integers(1, 8192), plain))
def test_the_line_is_read_back(key: EncoderKey) -> None:
    assert EncoderKey.parse(str(key)) == key


@pytest.mark.parametrize(
    "line",
    [
        "",
        "minilm",
        "m@1/384",
        "m@1/384/none/more",
        "m@1/x/none",
        "m@1/0/none",
        "m@1/-3/none",
        "m@1/007/none",
        "@1/384/none",
        "m@/384/none",
        "m@1/384/",
        "a b@1/384/none",
        "m@1/384/none\n",
        "m@1/３/none",
    ],
)
def test_any_other_line_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput, match="MODEL@REVISION/DIMENSION/PREFIX"):
        EncoderKey.parse(line)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nomic-embed-text", "nomic"),
        ("nomic-embed-text:v1.5", "nomic"),
        ("nomic-ai/nomic-embed-text-v2-moe", "nomic"),
        ("intfloat/e5-small-v2", "e5"),
        ("intfloat/multilingual-e5-large", "e5"),
        ("jeffh/intfloat-multilingual-e5-large:f16", "e5"),
        ("intfloat/multilingual-e5-large-instruct", "e5-instruct"),
        ("intfloat/e5-mistral-7b-instruct", "e5-instruct"),
        ("E5_Mistral", "e5-instruct"),
        ("text-embedding-3-small", "none"),
        ("BAAI/bge-small-en-v1.5", "none"),
        ("base5-model", "none"),
        ("nomic-embed-code", "none"),
    ],
)
def test_the_prefix_follows_the_family(name: str, expected: str) -> None:
    assert prefix_for(name).name == expected


def test_the_prefixes_are_those_of_the_model_cards() -> None:
    e5, nomic, instruct = prefix_for("e5-base"), prefix_for("nomic-embed-text"), prefix_for("e5-mistral")
    assert (e5.query, e5.document) == ("query: ", "passage: ")
    assert (nomic.query, nomic.document) == ("search_query: ", "search_document: ")
    assert instruct.query.startswith("Instruct: ")
    assert instruct.query.endswith("\nQuery: ")
    assert instruct.document == ""
