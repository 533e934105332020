"""Scripts: the character ranges that decide how a run of text is cut, and which script a text is written in.

Each range is the inside of a regex character class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal

HANGUL: Final = r"\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
# Vowels and finals, which composition merges into the syllable before them.
HANGUL_JOINING: Final = ("\u1161", "\u11c2")
HAN: Final = r"\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA: Final = r"\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"

# Scripts written without spaces: Thai, Lao, Khmer, Myanmar. Vowel signs are inside the ranges, currency and
# punctuation are not.
UNSPACED: Final = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"
    r"\u1780-\u17d3\u17dc\u17dd\u17e0-\u17e9"
    r"\u1000-\u1049\u1050-\u109d\ua9e0-\ua9fe\uaa60-\uaa7f"
)

# Signs that continue a word although `\w` excludes them: without them हिन्दी falls apart into consonants.
# The Indic blocks are taken whole, less the danda, because letters and signs alternate there.
MARKS: Final = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    r"\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b\u08ca-\u0963\u0966-\u0dff"
    r"\u0f18\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f8d-\u0fbc\u135d-\u135f\u1712-\u1715\u18a9"
    r"\u1ab0-\u1ace\u1b00-\u1b04\u1b34-\u1b44\u1dc0-\u1dff"
)

Script = Literal["latin", "hangul", "han", "kana", "other", "none"]

# Japanese prose is about half Han, so that a fifth of kana already says it is not Chinese.
KANA_SHARE_OF_JAPANESE: Final = 0.2

_LETTER: Final = re.compile(r"[^\W\d_]")
_SCRIPTS: Final[dict[Script, str]] = {
    "latin": r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a",
    "hangul": HANGUL,
    "han": HAN,
    "kana": KANA,
}


@cache
def _letter_of(script: Script) -> re.Pattern[str]:
    """Compiled by the first text that is not ASCII."""
    return re.compile(f"[{_SCRIPTS[script]}]")


def script_share(text: str, script: Script) -> float:
    """The script's letters over all letters, 0 where there are none; ASCII has none of any but Latin."""
    if text.isascii():
        return 0.0
    letters = len(_LETTER.findall(text))
    return min(1.0, len(_letter_of(script).findall(text)) / letters) if letters else 0.0


def hangul_share(text: str) -> float:
    return script_share(text, "hangul")


# The letters that a language is written in, for those an encoder may name.
_WRITTEN: Final[dict[str, str]] = {
    "ko": HANGUL, "ja": KANA + HAN, "zh": HAN, "ru": r"\u0400-\u04ff", "ar": r"\u0600-\u06ff", "th": r"\u0e00-\u0e7f",
}  # fmt: skip
# A text with less than this share of letters that an encoder knows is one that it cannot read.
READABLE: Final = 0.8
# The language that a script stands for.
LANGUAGE_OF: Final[dict[Script, str]] = {"hangul": "ko", "kana": "ja", "han": "zh"}


def known_share(text: str, languages: Sequence[str]) -> float:
    """The share of a text's letters in scripts that these languages use; 1 where no language is named."""
    if not languages or text.isascii():
        return 1.0
    letters = _LETTER.findall(text)
    known = _letters_of(tuple(languages))
    return sum(known.match(letter) is not None for letter in letters) / len(letters) if letters else 1.0


def is_read(text: str, languages: Sequence[str]) -> bool:
    """Whether an encoder that knows these languages can read the text."""
    return known_share(text, languages) >= READABLE


@cache
def _letters_of(languages: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"[{''.join({_WRITTEN.get(language, _SCRIPTS['latin']) for language in languages})}]")


def script_of(text: str) -> Script:
    """The script with most letters; kana counts its Han neighbours, since Japanese mixes the two."""
    letters = len(_LETTER.findall(text))
    if not letters:
        return "none"
    if text.isascii():
        return "latin"
    counts: dict[Script, int] = {name: len(_letter_of(name).findall(text)) for name in _SCRIPTS}
    counts["other"] = letters - sum(counts.values())
    if counts["kana"] >= KANA_SHARE_OF_JAPANESE * (counts["kana"] + counts["han"]):
        counts["kana"] += counts["han"] if counts["kana"] else 0
    return max(counts, key=lambda name: (counts[name], name == "kana"))
