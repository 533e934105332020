"""The classes of characters in data/bert-characters.txt, read off the tokenizer that the model was trained with.

python tests/index/bert_characters.py        writes the file anew; it needs the package `tokenizers`
"""

from __future__ import annotations

from collections.abc import Callable

from recallens.index.encoders.minilm import CHARACTERS

SURROGATES = range(0xD800, 0xE000)


def written() -> str:
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    clean = BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    plain = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    split = BertPreTokenizer()
    classes: dict[str, Callable[[str], bool]] = {
        "control": lambda character: clean.normalize_str(character) == "",
        "accent": lambda character: plain.normalize_str(character) == "",
        "punctuation": lambda character: len(split.pre_tokenize_str(f"a{character}b")) == 3,
    }
    return "".join(f"{name} {' '.join(_bounds(has))}\n" for name, has in classes.items())


def _bounds(has: Callable[[str], bool]) -> list[str]:
    """The first of every range and the one behind its last."""
    bounds, within = [], False
    for code in range(0x110000):
        held = code not in SURROGATES and has(chr(code))
        if held != within:
            bounds.append(f"{code:x}")
            within = held
    return [*bounds, "110000"] if within else bounds


if __name__ == "__main__":
    CHARACTERS.write_text(written(), encoding="ascii")
