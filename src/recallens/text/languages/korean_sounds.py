"""Whether a word in Hangul and one in Latin letters sound alike: 스테이징 and staging, 다니엘 and Daniel.

Names and borrowed words are written by their sound. A Hangul word is read as its sounds, a Latin one as a pattern of
what those may be: spelling says little of a vowel, so that the consonants decide, and all vowels only where those are
few.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

# The sound of each initial, vowel and final in the order in which Unicode composes them. Hard consonants are upper
# case, soft ones lower case; a soft one may stand for a hard one in a name (박 is Park), and a final is always soft.
_INITIALS: Final = "kkNttLMppSS.jjJKTPH"
_VOWELS: Final = "aeaeoeoeoaeeouoeiu-ii"  # `-` is the vowel that only parts consonants: 스트
_FINALS: Final = ".kkkNNNtLLMLLLLLMppttNttktpt"
_FIRST_SYLLABLE, _SYLLABLES = ord("가"), 11_172

_SEVERAL: Final = re.compile(r"..[^Ss][sS]$")
_ANY: Final = "[aeiou-]"
# What the first letter of a run of vowels may sound like, and runs that are read as one.
_VOWEL: Final = {"a": "aeo", "e": "eio-", "i": "iae", "o": "oau", "u": "uoai", "y": "ia", "w": "uoaei"}
_RUNS: Final = {
    **dict.fromkeys(("oo", "ou", "ow", "oe", "ew", "eu", "au", "aw", "iew", "eau"), "uoae"),
    **dict.fromkeys(("ee", "ea", "ie", "ey", "ei"), "iea"),
}
_NO_VOWELS: Final = {ord(vowel): None for vowel in "aeiou-"}
# In what letters may sound like: one of several consonants, one, or a soft L, each of which may be silent.
_CONSONANT: Final = re.compile(r"(?:\[([A-Za-z]+)\]|([A-Zjkpt])|\(\?:(L)-\?\))(\?)?")
_HARD_T, _HARD_K, _HARD_P, _J = "[Tt]", "[Kk]", "[Pp]", "[Jj]"
# Letters and what they may sound like, the first that fits.
_CONSONANTS: Final = (
    ("tch|dg(?=[eiy])|dj", _J), ("[st]+i(?=on|al|ou|an)", "[SJj]i?"), ("t(?=ure)", "[JjTt]"),
    ("sch", "S-?[KSk]?"), ("sh", "S"), ("ch", "[JjKkS]"),
    ("cc(?=[eiy])", "[Kk]-?S"), ("ck|cq|q|kk|k", _HARD_K), ("cc?(?=[eiy])", "[Sj]"), ("cc?", _HARD_K),
    ("ph|ff?|pp?", _HARD_P), ("vv?|bb?", "p"),
    ("^kn|^gn|^pn", "N"), ("^ps", "S"), ("^rh", "L"), ("^x", "[jS]"), ("^h", "H"),
    ("gn$", "N"), ("mn$", "M"), ("mb$", "Mp?"),
    ("ght", _HARD_T), ("gh", "[kP]?"), ("ng(?=[eiy])", "N[jk]?"), ("ng", "Nk?"),
    ("gg?(?=[eiy])", "[jk]"), ("gg?", "k"),
    ("th", "[STt]"), ("t(?=u)", "[TtJj]"), ("d(?=u)", "[tj]"), ("tt?", _HARD_T), ("dd?", "t"),
    ("x", "[Kk]-?S"), ("ss|^s", "S"), ("s", "[Sj]"), ("zz?", "[jS]"), ("j", "[jJ]"),
    ("mm?", "M"), ("nn?", "N"), ("ll?", "L"), ("rr?(?=[aeiouyw])", "L"), ("rr?", "(?:L-?)?"), ("h", "H?"),
)  # fmt: skip
# Those that may fit where a letter stands, and what each may sound like as consonants, which may be silent.
_RULES: Final = {
    letter: tuple((re.compile(letters), sounds) for letters, sounds in _CONSONANTS if letter in letters)
    for letter in "bcdfghjklmnpqrstvxz"
}
_HEARD: Final = {
    sounds: tuple((several or one or soft, silent == "?") for several, one, soft, silent in _CONSONANT.findall(sounds))
    for _, sounds in _CONSONANTS
}
# The first consonants of two words tell nearly all pairs apart. They are a number of so many digits, 0 past the end.
OPENING: Final = 3
_PLACES: Final = {sound: digit for digit, sound in enumerate(" kKtTpPSjJNMLH")}
# What a word may sound like at first, by its first letter, which tells most pairs of words apart.
_BEGINNINGS: Final = {
    **dict.fromkeys("aeiouwy", "aeiou-L"), **dict.fromkeys("bv", "p"), **dict.fromkeys("pf", "PpNS"),
    **dict.fromkeys("qk", "KkN"), **dict.fromkeys("lr", "L"), **dict.fromkeys("xz", "jS"),
    "c": "KkSjJ", "d": "tjJ", "g": "kjNPK", "h": "H", "j": "jJ", "m": "M", "n": "N", "s": "SJj", "t": "TtSJj",
}  # fmt: skip
# So many letters a syllable stands for at most.
MOST_LETTERS: Final = 4
_OPTIONAL: Final = frozenset(("[kP]?", "(?:L-?)?", "H?"))
# Fewer consonants, or letters, are those of too many words.
LEAST_CONSONANTS: Final = 2
LEAST_LETTERS: Final = 3
# So few are told apart by all of their vowels.
FEW_CONSONANTS: Final = 2


@lru_cache(maxsize=16_384)
def hangul_sounds(word: str) -> str:
    sounds = list[str]()
    for syllable in word:
        place = ord(syllable) - _FIRST_SYLLABLE
        if not 0 <= place < _SYLLABLES:
            return ""
        initial, rest = divmod(place, len(_VOWELS) * len(_FINALS))
        vowel, final = divmod(rest, len(_FINALS))
        sounds += (_INITIALS[initial], _VOWELS[vowel], _FINALS[final])
    return "".join(sounds).replace(".", "").replace("LL", "L")


@lru_cache(maxsize=16_384)
def hangul_consonants(word: str) -> str:
    return hangul_sounds(word).translate(_NO_VOWELS)


@lru_cache(maxsize=16_384)
def latin_consonants(word: str) -> tuple[tuple[str, bool], ...]:
    """What each consonant of a Latin word may be, and whether it may be silent."""
    heard, at, word = list[tuple[str, bool]](), 0, word.lower()
    while at < len(word):
        sounds, at = _consonants_at(word, at) or ("", at + 1)
        heard += _HEARD.get(sounds, ())
    return tuple(heard)


def _consonants_at(word: str, at: int) -> tuple[str, int] | None:
    """What the consonants that stand there may sound like, and where they end; None at a vowel."""
    for rule, sounds in _RULES.get(word[at], ()):
        if (match := rule.match(word, at)) is not None:
            return sounds, match.end()
    return None


@lru_cache(maxsize=16_384)
def opening(hangul: str) -> int:
    """The bit of the word's first consonants: a Latin word whose `openings` lack it sounds otherwise."""
    place = 0
    for consonant in hangul_consonants(hangul)[:OPENING].ljust(OPENING):
        place = place * len(_PLACES) + _PLACES[consonant]
    return 1 << place


@lru_cache(maxsize=16_384)
def openings(latin: str) -> int:
    """The bits of what the first consonants of a word may be, and of the one that it is several of."""
    several = _SEVERAL.search(latin) is not None
    return _openings(latin_consonants(latin)) | (_openings(latin_consonants(latin[:-1])) if several else 0)


def _openings(units: Sequence[tuple[str, bool]], left: int = OPENING) -> int:
    if not left:
        return 1
    bits, width = 0, len(_PLACES) ** (left - 1)
    for at, (sounds, silent) in enumerate(units, start=1):
        following = _openings(units[at:], left - 1)
        for sound in sounds:
            bits |= following << _PLACES[sound] * width
        if not silent:
            return bits
    return bits | 1  # all that is left may be silent


def _same_consonants(hangul: str, latin: str) -> bool:
    """Without a pattern, which takes a hundred times as long to make: it tells nearly all pairs apart."""
    units, places = latin_consonants(latin), {0}
    for sound in hangul_consonants(hangul):
        following = set[int]()
        for place in places:
            for at in range(place, len(units)):
                if sound in units[at][0]:
                    following.add(at + 1)
                if not units[at][1]:
                    break
        if not following:
            return False
        places = following
    return any(all(silent for _, silent in units[place:]) for place in places)


@lru_cache(maxsize=16_384)
def latin_sounds(word: str) -> re.Pattern[str] | None:
    """What a word may sound like; None where that would be like too much else."""
    word = word.lower()
    units = _units(word)
    firm = sum(vowels is None and sounds not in _OPTIONAL for sounds, vowels, _ in units)
    if len(word) < LEAST_LETTERS or firm < LEAST_CONSONANTS:
        return None
    parts, run = list[str](), 0
    for at, (sounds, vowels, begin) in enumerate(units):
        if vowels is None:
            parts.append(f"[-i]?{sounds}" if at and units[at - 1][1] is None else sounds)
        elif at and word[begin:] in ("e", "es"):  # not spoken, or hardly
            parts.append("[-ie]{0,2}")
        else:
            first = f"[{sounds}]" if not run or firm <= FEW_CONSONANTS else _ANY
            weak = at + 1 < len(units) and units[at + 1][0] == "(?:L-?)?"  # -er, -or
            ending = word[begin:] in ("age", "ages")  # 이미지, 패키지
            parts.append(f"(?:{first}{'|[o-]' if weak else ''}{'|i' if ending else ''}){_ANY}{{0,3}}")
            run += 1
    return re.compile("".join(parts) + "[-i]?")


def _units(word: str) -> list[tuple[str, str | None, int]]:
    """The word's consonants as what they may sound like, and its runs of vowels, each with where it begins."""
    units, at = list[tuple[str, str | None, int]](), 0
    while at < len(word):
        end = at
        while end < len(word) and word[end] in "aeiouyw":
            end += 1
        if end > at:
            run = word[at:end]
            spoken = run.lstrip("yw") or run
            glide = _VOWEL[run[0]] if spoken != run else ""
            units.append((_RUNS.get(run) or "".join(sorted({*glide, *_VOWEL[spoken[0]]})), run, at))
        else:
            consonants = _consonants_at(word, at)
            if consonants is None:
                return []
            sounds, end = consonants
            units.append((sounds, None, at))
        at = end
    return units


def sound_alike(hangul: str, latin: str) -> bool:
    """Several are borrowed as one: 체인 is chains too."""
    return _sounds_like(hangul, latin) or (_SEVERAL.search(latin) is not None and _sounds_like(hangul, latin[:-1]))


def _sounds_like(hangul: str, latin: str) -> bool:
    sounds = hangul_sounds(hangul)
    if not sounds or not len(hangul) <= len(latin) <= MOST_LETTERS * len(hangul):
        return False
    if sounds[0] not in _BEGINNINGS.get(latin[0].lower(), ""):
        return False
    if not _same_consonants(hangul, latin):
        return False
    pattern = latin_sounds(latin)
    return pattern is not None and pattern.fullmatch(sounds) is not None
