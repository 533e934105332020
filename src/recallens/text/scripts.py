"""The character ranges that decide how a run of text is cut, shared by the tokenizer and the script counts.

Each constant is the inside of a regex character class.
"""

from __future__ import annotations

from typing import Final

HANGUL: Final = r"\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
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
