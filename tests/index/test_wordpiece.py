"""Our own WordPiece gives the ids of the tokenizer that the model was trained with, whatever the text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import bert_characters
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.index.encoders.minilm import CHARACTERS, MAX_TOKENS, VOCABULARY
from recallens.index.encoders.wordpiece import MOST_WORDS, SPECIAL, WordPiece

tokenizers = pytest.importorskip("tokenizers")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def own() -> WordPiece:
    return WordPiece(VOCABULARY, CHARACTERS, MAX_TOKENS)


@pytest.fixture(scope="module")
def theirs() -> object:
    words = VOCABULARY.read_text("utf-8").removesuffix("\n").split("\n")
    ids = {word: place for place, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True, strip_accents=None)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    ends = [(word, ids[word]) for word in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.add_special_tokens([tokenizers.AddedToken(word, normalized=False) for word in SPECIAL])
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def sample() -> Iterator[str]:
    """Prose, code, tables and Korean: every line of documents, sources and the sample, and lines put together."""
    files = [*ROOT.glob("docs/*.md"), *ROOT.glob("src/recallens/**/*.py"), *ROOT.glob("examples/**/*.md"),
             *ROOT.glob("examples/*.jsonl"), *ROOT.glob("tests/**/*.py"), ROOT / "CHANGELOG.md"]  # fmt: skip
    lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line.strip()]
    yield from lines
    chance = random.Random(7)
    for _ in range(2_000):
        yield "\n".join(chance.choices(lines, k=chance.choice((2, 5, 40))))


@pytest.mark.slow
def test_the_ids_of_a_large_sample_are_the_same(own: WordPiece, theirs: object) -> None:
    texts = list(sample())
    korean = sum(any("\uac00" <= character <= "\ud7a3" for character in text) for text in texts)
    assert len(texts) > 80_000
    assert korean > 2_000
    assert [text for text in texts if own.encode(text) != theirs.encode(text).ids] == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_has_the_same_ids(own: WordPiece, theirs: object, text: str) -> None:
    assert own.encode(text) == theirs.encode(text).ids


@pytest.mark.slow
def test_every_character_has_the_same_ids(own: WordPiece, theirs: object) -> None:
    known = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    wrong = [hex(code) for code in known if own.encode(f"a{chr(code)}b") != theirs.encode(f"a{chr(code)}b").ids]
    assert wrong == []


@pytest.mark.slow
def test_the_classes_of_characters_are_those_of_the_models_tokenizer() -> None:
    assert CHARACTERS.read_text("ascii") == bert_characters.written(), "run python tests/index/bert_characters.py"


@pytest.mark.parametrize(
    "text",
    ["", " ", "[SEP]", "a [MASK] b[CLS]", "[sep]", "[", "x" * 101, "x" * 100, "ΑΣ", "İstanbul", "\x00a\x0bb\u200bc"],
)
def test_edges(own: WordPiece, theirs: object, text: str) -> None:
    assert own.encode(text) == theirs.encode(text).ids


def test_what_it_remembers_is_bounded(own: WordPiece) -> None:
    for number in range(MOST_WORDS + 10):
        own.encode(f"w{number:x}q")
    assert len(own._pieces) <= MOST_WORDS
