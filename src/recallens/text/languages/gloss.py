"""A Korean text word by word in English, so that an encoder which knows English alone can read it.

Every word is looked up in the list of common words, without what it carries; what the list does not hold is spelt out
by its sound. The order of the words and what they carry are lost, which matters little to a mean over words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from operator import eq
from typing import Final

from recallens.text.languages.korean import latin, spaced
from recallens.text.languages.korean_forms import LONGEST_FIRST, carries, morpheme
from recallens.text.languages.korean_words import korean_english
from recallens.text.languages.translation import verbs_by_stem
from recallens.text.wordforms import letters

# How many of a word's translations are told: one alone is often the wrong one.
TOLD: Final = 2
# So many syllables are a name.
SHORTEST_NAME: Final = 2


def _table(text: str) -> dict[str, str]:
    """Korean words, each with what it is in English."""
    entries = (entry.split(maxsplit=1) for entry in re.split(r"[;\n]", text) if entry.strip())
    return {korean: " ".join(english) for korean, *english in entries}


# Words that ask, point, count or join, which no list of names and doings holds, or holds as another word.
_GRAMMAR: Final = _table("""
언제 when; 어디 where; 누구 who; 누가 who; 누굴 whom; 왜 why; 어떻게 how; 얼마나 how long; 얼마 how much; 몇 how many
며칠 how many days; 무엇 what; 뭐 what; 뭘 what; 뭔 what; 무슨 what; 어느 which; 어떤 which; 때 when; 중 during
때문 because; 먼저 first; 반드시 must; 꼭 must; 않 not; 없 no; 못 not; 안 not; 아니 not; 말고 instead of; 대신 instead
까지 until; 부터 from; 전 before; 후 after; 뒤 after; 더 more; 매 every; 그날 that day; 당일 same day; 새 new; 말 end
우리 our; 저희 our; 내 my; 제 my; 한 one; 두 two; 세 three; 네 four; 백 hundred; 천 thousand; 만 ten thousand
억 hundred million; 원 won; 번 times; 년 year; 해 year; 월 month; 달 month; 주 week; 일 day; 시 hour; 아침 morning
밤 night; 문 door; 차 car; 배 ship; 씨; 님; 수; 것; 거; 게; 등
""")
_ASKING: Final = tuple(sorted((word for word in _GRAMMAR if len(word) > 1 or word in "왜몇"), key=len, reverse=True))
# What a word of several ends in, and a list of words does not hold by itself.
_ENDINGS: Final = _table("""
날 day; 값 price; 비 cost; 금 money; 료 fee; 실 room; 장 place; 기 machine; 원 member; 자 person; 팀 team; 부 department
용 for; 형 type; 집 house; 법 method; 증 certificate; 률 rate; 율 rate; 량 amount; 소 office; 관 hall; 점 shop; 품 goods
일 day; 시 city; 구 district; 동 neighbourhood; 쪽 side; 별 each; 당 per; 씨; 님; 측
""")
_MONTHS: Final = _table("""
1 January; 2 February; 3 March; 4 April; 5 May; 6 June; 7 July; 8 August; 9 September; 10 October; 11 November
12 December
""")
_COUNTERS: Final = _table("""
개월 months; 시간 hours; 년 year; 월 month; 일 day; 시 o'clock; 분 minutes; 초 seconds; 원 won; 명 people; 개 items
대 units; 번 times; 회 times; 층 floor; 주 weeks; 장 sheets; 권 copies; 석 seats; 칸 spaces; 살 years old; 건 cases
퍼센트 percent
""")
_WORD: Final = re.compile(r"[가-힣]+")
_COUNTED: Final = re.compile(
    rf"(\d[\d.,]*)\s?({'|'.join(_COUNTERS)})(?![가-힣])|(\d[\d.,]*)\s?({'|'.join(_COUNTERS)})(?=[은는이가을를에도만까부마씩쯤간전후째])"
)
# A noun that is done, a noun that something is, and a verb of a syllable or two whose ending takes nothing from it.
_DONE: Final = re.compile(
    r"([가-힣]{2,}?)(?:시키|시켰|시킨|하였|되었|받|하|되|했|됐|해|돼|한|할|함|된|될|됨|합|됩)[가-힣]{0,5}"
)
_IS: Final = re.compile(
    r"([가-힣]{2,}?)(?:이었|였|이야|입니|이다|인가|인지|예요|이에요|이면|이라|라서|인데)[가-힣]{0,3}"
)
_INFLECTED: Final = re.compile(
    r"([가-힣]{1,2}?)(?:으면|으니|으려|려면|아야|어야|아도|어도|[면고야지는은을기나니네자던게며서도요려러])[가-힣]{0,2}"
)
# Words that only carry a sentence, in whatever form: 되나요, 있나, 해야.
_CARRYING: Final = re.compile(
    r"[하되있했됐해돼된될한할합됩](?:다|는데?|는지|고|면|지만?|나요?|니까?|니다|며|서|도|대|거|기|던|게|려고?|려면|었다|습니다|을까?"
    r"|까요?|야(?:지|하지|돼|해)?|어요?|요|줘야?|주세요|봐)?"
)


def gloss(text: str) -> str:
    """The text with each of its Korean words in English."""
    if _WORD.search(text) is None:
        return text
    counted = _COUNTED.sub(_count, spaced(text))
    return " ".join(_WORD.sub(lambda word: f" {_in_english(word[0])} ", counted).split())


def _count(match: re.Match[str]) -> str:
    number, counter = match[1] or match[3], match[2] or match[4]
    told = _MONTHS.get(number) if counter == "월" else None
    return f"{told or f'{number} {_COUNTERS[counter]}'} "


@lru_cache(maxsize=16_384)
def _in_english(word: str) -> str:
    if word in _GRAMMAR:
        return _GRAMMAR[word]
    asking = next(filter(word.startswith, _ASKING), None)
    if asking is not None and word not in korean_english():
        return _GRAMMAR[asking]
    known = next(_known(word), None)
    if known is not None:
        return known
    return "" if _CARRYING.fullmatch(word) or not morpheme(word) else _spelt(_bare(word))


def _known(word: str) -> Iterator[str]:
    """What is known of the word, the surest first: as it stands, without its particle, as something that is done, as
    a verb, in parts, as the name of something.
    """
    listed, nouns = korean_english(), [word, *_without_particles(word)]
    yield from (_GRAMMAR.get(noun) or _english(noun) for noun in nouns if noun in listed or _GRAMMAR.get(noun))
    nouns += [match[1] for ending in (_DONE, _IS) if (match := ending.fullmatch(word)) is not None]
    yield from (_english(noun) for noun in nouns if noun in listed)
    stem = morpheme(word)
    if verbs := [verb for each in dict.fromkeys((stem, morpheme(stem))) for verb in verbs_by_stem().get(each, ())]:
        yield _nearest(word, verbs)
    yield from (" ".join(parts) for noun in nouns if (parts := _parts(noun)))
    begun = _INFLECTED.fullmatch(word)
    if begun is not None and (verbs := [*verbs_by_stem().get(begun[1], ())]):
        yield _nearest(word, verbs)
    yield from (named for noun in reversed(nouns) if (named := _named(noun)))


def _english(korean: str) -> str:
    return " ".join(korean_english()[korean][:TOLD])


def _nearest(word: str, verbs: list[str]) -> str:
    """Of verbs with a stem in common, the one whose letters the word begins with: 걸려 is of 걸리다, not of 걷다."""
    spoken = letters(word)
    return _english(max(verbs, key=lambda verb: sum(takewhile(bool, map(eq, letters(verb[:-1]), spoken)))))


@lru_cache(maxsize=16_384)
def _parts(word: str) -> tuple[str, ...]:
    """The words that it is made of, the longest first; empty where they do not make up all of it."""
    listed = korean_english()
    for at in range(len(word) - 1, 1, -1):
        head, rest = word[:at], word[at:]
        if head not in listed:
            continue
        if len(rest) == 1:  # what is not known of it says little: 건축사
            return tuple(filter(None, (listed[head][0], _ENDINGS.get(rest))))
        if rest in listed:
            return listed[head][0], listed[rest][0]
        if more := _parts(rest):
            return listed[head][0], *more
    return ()


def _named(word: str) -> str:
    """A name and what it is the name of: 성림교회 is the church of that name."""
    listed = korean_english()
    for at in range(SHORTEST_NAME, len(word) - 1):
        if word[at:] in listed:
            return f"{_spelt(word[:at])} {_english(word[at:])}"
    return f"{_spelt(word[:-1])} {_ENDINGS[word[-1]]}" if len(word) > SHORTEST_NAME and word[-1] in _ENDINGS else ""


def _without_particles(word: str) -> list[str]:
    """The word without its particle, and without the one before that: 목요일에만. The longest comes first."""
    once = list(_without_particle(word))
    twice = [noun for bare in once for noun in _without_particle(bare)]
    return sorted(dict.fromkeys((*once, *twice)), key=len, reverse=True)


def _without_particle(word: str) -> Iterator[str]:
    for particle in LONGEST_FIRST:
        noun = word.removesuffix(particle)
        if noun not in ("", word) and carries(noun, particle):
            yield noun


def _bare(word: str) -> str:
    return next((noun for noun in _without_particle(word) if len(noun) > 1), word)


def _spelt(word: str) -> str:
    """As it sounds, in Latin letters: a name is the same in every text."""
    return latin(word).capitalize()
