"""Korean words by what they mean: a noun without its particles, a verb without its endings, voice and tense.

비우고, 비운, 비웠습니다 are one; so are 끊겨, 끊겼다, 끊어져서. Without a dictionary a noun may lose something too:
it loses it in every text, and the rest is only ever compared.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_PARTICLES: Final = """
에서는 에서도 에서의 으로는 으로도 으로서 으로써 에게서 에게는 이라는 이라고 이라면 이란 이나마
까지는 부터는 까지의 부터의 한테서 한테는 한테도 짜리
에서 에게 한테 께서 에는 에도 에의 으로 까지 부터 처럼 보다 마다 조차 마저 이나 이랑 하고 라는 라고 라면 이며 이고 이든
은 는 이 가 을 를 의 에 와 과 로 도 만 나 랑 란 께 간 들
"""
LONGEST_FIRST: Final = tuple(sorted(_PARTICLES.split(), key=len, reverse=True))
# Particles that follow a consonant, or a vowel, and that nouns end in too: 와이파이, 전문가.
_SEVERAL: Final = "들"
_AFTER_CONSONANT, _AFTER_VOWEL = frozenset("이과"), frozenset("가")

# Words that only carry a sentence: what is done, become, there, given, tried or wanted, and what points or counts.
_CARRYING: Final = """
하 하다 되 되다 이다 있 없 않 아니 못 안 보 주 두 놓 버리 싶 이 그 저 것 수 때 등 및 더 또 잘 다 다시 새로 매 각 약
총 뒤 후 전 다음 중 탓 때문 위해 위하 대해 대하 통해 이제 지금 현재 우리 저희 자꾸 계속 함께 같이 바로 먼저 나중 모두
모든 전체 가능 경우 관련 정도 씩 번째
"""
_EMPTY: Final = frozenset(_CARRYING.split())
_FINALS: Final = 28
_N, _L, _SS = 4, 8, 20  # ㄴ, ㄹ, and ㅆ, which is the past
_DROPPED: Final = frozenset((_N, _L, 10, 16, 17, _SS))  # ㄴ ㄹ ㄻ ㅁ ㅂ ㅆ, which an ending puts under a stem
_B, _S = 17, 19  # ㅂ and ㅅ, which some stems lose before a vowel
_CHANGING: Final = frozenset("듣걷묻싣닫")
_VOWELS: Final = 21
_EU, _FOR_EU = 18, (0, 4)  # ㅡ, in whose place ㅏ or ㅓ stands
# A vowel that was drawn together with an ending, as it stands in the stem: 웠 우, 왔 오, 겼 기, 했 하, 됐 되.
_UNDRAWN: Final = {14: 13, 9: 8, 6: 20, 10: 11}
_DRAWN: Final = {"했": "하", "해": "하", "됐": "되", "돼": "되"}
_TENSE: Final = frozenset("었았였")
_VOICE: Final = "기리이히우구추지치"  # 끊기다, 늘리다, 비우다
_LONG_ENDING: Final = re.compile(
    r"(?:으면서|면서|지만|도록|는데|은데|어서|아서|여서|어도|아도|어야|아야|려고|으려|려면|더니|느라|므로|니까|거나|든지|습니다|습니까"
    r"|는다|은다|자마자|어져서|아져서|어지|아지|게|어짐|음)$"
)
_SHORT_ENDING: Final = re.compile(r"(?:고|며|면|지|기|다|서|던|자|러|네|니|요|어|아|여|라)$")
_DONE: Final = re.compile(
    r"([가-힣]{2,}?)(?:시키|시켰|하였|되었|받|하|되|했|됐|해|돼|한|할|함|된|될|됨|합|됩|시킴|시킨)[가-힣]{0,4}"
)
_COPULA: Final = re.compile(r"(?<=[가-힣]{2})(?:이었다|였다|이다|입니다|이에요|예요|이야|야|임|다)$")


def final_of(syllable: str) -> int:
    """The place of a syllable's last consonant among the finals; 0 where it has none."""
    return (ord(syllable) - ord("가")) % _FINALS if "가" <= syllable <= "힣" else 0


def carries(noun: str, particle: str) -> bool:
    """Whether a word that ends in this particle can be this noun with it."""
    if particle in _AFTER_CONSONANT or particle in _AFTER_VOWEL:
        return (final_of(noun[-1]) > 0) == (particle in _AFTER_CONSONANT)
    return True


@lru_cache(maxsize=8_192)
def morpheme(word: str) -> str:
    """What a word means without what it carries; empty where that is nothing."""
    past = next((at for at, syllable in enumerate(word) if final_of(syllable) == _SS), None)
    if past is not None:
        return _said(_undrawn(word[: past + 1]))
    if word in _EMPTY or word in LONGEST_FIRST:
        return ""
    for particle in LONGEST_FIRST:
        bare = word.removesuffix(particle)
        if bare in ("", word) or not carries(bare, particle):
            continue
        if len(bare) > 1 or particle in "은는을를":
            word = bare
            break
    word = word.removesuffix(_SEVERAL) if len(word) > len(_SEVERAL) + 1 else word
    done = _DONE.fullmatch(word)
    if done is not None:
        return _said(done[1])
    if len(word) == 2 and word[1] == "다" and final_of(word[0]) == _N:  # 둔다
        return _said(chr(ord(word[0]) - _N))
    bare = _LONG_ENDING.sub("", word)
    if bare == word and (noun := _COPULA.sub("", word)) != word:
        return _said(noun)
    if bare == word and (len(word) > 2 or (len(word) == 2 and word[1] in "어아" and final_of(word[0]))):
        bare = _SHORT_ENDING.sub("", word)
    return _said(bare or word)


def stems_of(verb: str) -> set[str]:
    """What the forms of a verb of a dictionary have in common, as `morpheme` gives it: more than one where the stem
    changes before a vowel (듣다 들어, 춥다 추워, 모르다 몰라, 쓰다 써, 낫다 나아).
    """
    stem = verb.removesuffix("다")
    stems = {_said(stem), stem}
    code = ord(stem[-1]) - ord("가")
    final, vowel, first = code % _FINALS, code // _FINALS % _VOWELS, code // _FINALS // _VOWELS
    if final in (_B, _S):
        stems.add(stem[:-1] + chr(ord(stem[-1]) - final))
    elif stem[-1] in _CHANGING:
        stems.add(stem[:-1] + chr(ord(stem[-1]) - final + _L))
    elif stem[-1] == "르" and len(stem) > 1 and not final_of(stem[-2]):
        stems |= {f"{stem[:-2]}{chr(ord(stem[-2]) + _L)}{drawn}" for drawn in "라러"}
    elif not final and vowel == _EU:
        stems |= {stem[:-1] + chr(ord("가") + (first * _VOWELS + drawn) * _FINALS) for drawn in _FOR_EU}
    return stems - {""} - _EMPTY


def _undrawn(stem: str) -> str:
    """A verb's stem without tense, and its last syllable as it was before an ending was drawn into it."""
    if stem[-1] in _TENSE:
        stem = stem[:-1]
        stem = stem[:-1] if len(stem) > 1 and stem[-1] in "어아" else stem
        if not stem:
            return stem
    if stem[-1] in _DRAWN:
        return stem[:-1] + _DRAWN[stem[-1]]
    code = ord(stem[-1]) - ord("가")
    final, rest = code % _FINALS, code // _FINALS
    vowel, first = rest % _VOWELS, rest // _VOWELS
    if len(stem) == 1 and final != _SS:
        return stem
    final = 0 if final in _DROPPED else final
    vowel = _UNDRAWN.get(vowel, vowel) if not final else vowel
    return stem[:-1] + chr(ord("가") + (first * _VOWELS + vowel) * _FINALS + final)


def _said(stem: str) -> str:
    if not stem or stem in _EMPTY:
        return ""
    stem = stem[:-1] if len(stem) > 2 and stem[-1] in "하되" else stem
    stem = _undrawn(stem)
    if not stem or stem in _EMPTY:
        return ""
    return stem[:-1] if len(stem) > 1 and stem[-1] in _VOICE else stem
