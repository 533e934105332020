"""Which script a text is written in, by its share of the letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal

from recallens.text.scripts import HAN, HANGUL, KANA

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


def hangul_share(text: str) -> float:
    """Hangul letters over all letters, 0 where there are none."""
    if text.isascii():
        return 0.0
    letters = len(_LETTER.findall(text))
    return min(1.0, len(_letter_of("hangul").findall(text)) / letters) if letters else 0.0


# The scripts that a language is written in, for those an encoder may name.
_WRITTEN: Final[dict[str, tuple[Script, ...]]] = {"ko": ("hangul",), "ja": ("kana", "han"), "zh": ("han",)}


def known_share(text: str, languages: Sequence[str]) -> float:
    """The share of a text's letters in scripts that these languages use; 1 where no language is named."""
    if not languages or text.isascii():
        return 1.0
    letters = len(_LETTER.findall(text))
    if not letters:
        return 1.0
    scripts = {script for language in languages for script in _WRITTEN.get(language, ("latin",))}
    return min(1.0, sum(len(_letter_of(script).findall(text)) for script in scripts) / letters)


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
