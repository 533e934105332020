"""Korean without a dictionary: the noun that a word carries, and which words belong together.

A word of a sentence (어절) is a noun and its particles, or a verb. Particles are a closed list, so that cutting the
longest one off gives the noun; many verbs are a noun and 하다 or 되다 (승인하나요), others carry none. It is a rule of
thumb for naming what is asked about; searching itself needs no such cut, because it goes by syllable pairs.
"""

from __future__ import annotations

import re
from typing import Final

_PARTICLES: Final = """
에서는 에서도 에서의 으로는 으로도 으로서 으로써 에게서 에게는 이라는 이라고 이라면 이란 이나마
까지는 부터는 까지의 부터의
에서 에게 에는 에도 에의 으로 까지 부터 처럼 보다 마다 조차 마저 이나 이랑 하고 라는 라고 라면 이며 이고 이든
은 는 이 가 을 를 의 에 와 과 로 도 만 나 랑 란 께 간 들
"""
_LONGEST_FIRST: Final = tuple(sorted(_PARTICLES.split(), key=len, reverse=True))
_JOINING: Final = frozenset(("와", "과", "랑", "이랑", "하고", "이며", "이고"))
_SHORTEST_NOUN: Final = 2

_VERBAL: Final = re.compile(
    r"(?:습니다|습니까|입니다|입니까|합니다|합니까|됩니다|됩니까|하나요|되나요|인가요|인가|는가|은가|나요|까요|어요|아요|해요|예요|이에요|세요|"
    r"했다|한다|된다|이다|있다|없다|같다|았다|었다|였다|하는|되는|있는|없는|했던|하던|됐던|였던|했을|했는|하기|되기|하려면|하면|되면|하려고|하려|"
    r"해서|하여|되어|돼서|했나|했지|하지|할까|될까|해줘|해주|알려줘|려줘|주세요|했어|됐어|했고|됐고|되었나|하였나|했습니까|어떻게|"
    r"한|할|된|될|던)$"
)
_NOUN_DOING: Final = re.compile(r"([가-힣A-Za-z0-9]{2,}?)(?:하|되|했|됐|해|돼|한|할|된|될)[가-힣]{0,5}")
_HANGUL_WORD: Final = re.compile(r"[가-힣]")
_WORD: Final = re.compile(r"[^\s,.?!;:()\[\]{}\"'“”‘’「」『』·…~/]+")

# Words that ask, point or count rather than name what is asked about.
_POINTING: Final = """
이 그 저 이것 그것 저것 우리 나 내 제 저희 너 누구 누가 무엇 뭐 무슨 어떤 어느 언제 어디 어디서 어디에 왜 어떻게
얼마 얼마나 몇 몇번 및 또는 그리고 그런데 하지만 혹은 등 것 수 때 때문 대해 대한 관해 관한 위해 위한 최근 지난
지난주 지난달 지난해 작년 올해 어제 오늘 그제 그저께 이번 저번 전체 모든 모두 다 다시 가장 더 안 못 잘 좀 꼭 아직
이미 방금 현재 지금 요즘 경우 이유 방법 전 후 뒤 중 쓰고 있고 없고 하고 되고 주로 함께 따로
"""
_NO_NOUN: Final = frozenset(_POINTING.split())
_COUNT: Final = re.compile(r"\d+\s*(?:년|개월|월|주|일|시간|분|초|번|개|명|회|건)(?:간|째|쯤)?(?:전|후)?")


def is_korean(text: str) -> bool:
    return _HANGUL_WORD.search(text) is not None


def noun_of(word: str) -> tuple[str, str]:
    """The noun in a word and the particle that was cut off; ("", "") where the word carries none."""
    if word in _NO_NOUN or _COUNT.fullmatch(word):
        return "", ""
    if _VERBAL.search(word):
        doing = _NOUN_DOING.fullmatch(word)
        return (doing[1], "") if doing and doing[1] not in _NO_NOUN else ("", "")
    for particle in _LONGEST_FIRST:
        stem = word.removesuffix(particle)
        if stem == word or len(stem) < _SHORTEST_NOUN:
            continue
        if stem in _NO_NOUN or _COUNT.fullmatch(stem):
            return "", particle
        return stem, particle
    return (word, "") if len(word) >= _SHORTEST_NOUN else ("", "")


def nouns(text: str) -> list[str]:
    """The distinct nouns of the Korean words of a text, in text order."""
    found = [noun_of(word.group())[0] for word in _WORD.finditer(text) if is_korean(word.group())]
    return list(dict.fromkeys(noun for noun in found if noun))


def noun_phrases(text: str) -> list[str]:
    """Nouns that stand together without a particle between them, as one name each: 인증 시스템, 변경 이력."""
    phrases: list[str] = []
    current: list[str] = []
    for word in _WORD.finditer(text):
        if not is_korean(word.group()):
            continue
        noun, particle = noun_of(word.group())
        if noun:
            current.append(noun)
        if current and (particle or not noun) and (particle or _VERBAL.search(word.group())):
            phrases.append(" ".join(current))
            current = []
    if current:
        phrases.append(" ".join(current))
    return list(dict.fromkeys(phrases))


def joins_two(text: str) -> bool:
    """Whether two nouns are asked about together: 아키텍처와 변경 이력."""
    words = [word.group() for word in _WORD.finditer(text)]
    return any(noun and particle in _JOINING for noun, particle in map(noun_of, words[:-1]))
