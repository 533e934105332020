"""The tokenizer of all-MiniLM-L6-v2: BERT's WordPiece, lower case, without accents.

Devlin et al., 2019, arXiv:1810.04805. The ids equal those of the model's own tokenizer.json.
"""

from __future__ import annotations

from pathlib import Path

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

VOCABULARY = Path(__file__).with_name("data") / "bert-uncased-vocab.txt"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LONGEST_WORD = 100  # a longer one is [UNK]
MAX_TOKENS = 256  # [CLS] and [SEP] included; the length that the model was trained at


def open_tokenizer() -> Tokenizer:
    ids = {word: place for place, word in enumerate(VOCABULARY.read_text("utf-8").removesuffix("\n").split("\n"))}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=LONGEST_WORD))
    # Accents go because lowercase is on: that is BERT's rule where strip_accents is not set.
    tokenizer.normalizer = BertNormalizer(lowercase=True, strip_accents=None)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(word, ids[word]) for word in ("[CLS]", "[SEP]")]
    )
    tokenizer.add_special_tokens([AddedToken(word, normalized=False) for word in SPECIAL])
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
