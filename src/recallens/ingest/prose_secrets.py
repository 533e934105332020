"""Secrets that a sentence tells: an additive model over what names a secret, what joins a value to it and the value.

A value that no rule for a format knows is told from the words around it. Each cue has one weight, fitted by
`bench/secrets_fit.py` on the sentences of `bench/questions/secrets-build.tsv`; what sums to more than zero is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from recallens.ingest.secret_values import DIAL, GROUPS, SEED, is_own, is_placeholder, shape_of
from recallens.text.languages import PACKS, alternatives, each
from recallens.text.languages.pack import LanguagePack
from recallens.text.stopwords import query_stopwords

# How far a name reaches: what stands further behind it is another matter.
REACH: Final = 96
LOOK_BACK: Final = 48
LONGEST_VALUE: Final = 64
SHORTEST_VALUE: Final = 3
# The share of function words in a phrase; so many words are a wallet's, which has hardly any.
MOST_FUNCTION_WORDS: Final = 0.5
WALLET_WORDS: Final = 12
MOST_IN_A_WALLET: Final = 0.2
# What a value can be the secret of, and what it is made of then. Of several names the first here counts.
VALUES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "password": ("made", "numbered", "digits", "word", "words", "odd"),
    "code": ("made", "numbered", "digits", "short"),
    "key": ("made",),
    "answer": ("made", "numbered", "digits", "word", "words", "odd"),
    "pass": ("made", "numbered", "odd"),
    "opens": ("made", "numbered", "digits", "odd"),
    "login": ("made", "numbered", "odd"),
    "place": ("made", "numbered", "digits"),
    "typed": ("made", "numbered", "digits"),
    "prompted": ("made", "numbered", "digits"),
    "acting": (),
}
SORTS: Final = tuple(VALUES_OF)
# Which names a value may stand before, by how.
NAMED: Final = ("password", "code", "answer")
NAMES_BEHIND: Final[Mapping[str, tuple[str, ...]]] = {
    "typed": ("typed", "prompted"),
    "needed": ("login",),
    "serves": ("login", *NAMED),
    "acts": ("acting",),
}
# What is done with a value behind a plain word is done with a thing: only a number or what is made up is a secret.
NOT_WITH_A_WORD: Final = ("typed", "acting")
# What is quoted and acts is a name in code.
UNQUOTED: Final = ("acting",)

# A plain word is a secret only where something says so.
JOINS_A_WORD: Final = frozenset(
    ("join:is", "join:sign", "join:comma", "join:change", "join:of", "join:asked", "join:handed")
)
ENDS_A_WORD: Final = frozenset(("behind:end", "behind:more", "behind:copula", "behind:set"))
LABELS: Final = frozenset(("join:sign", "join:of"))
BIAS: Final = 3.1
WEIGHTS: Final[Mapping[str, float]] = {
    "answer×word": 0.5, "apart": -0.3, "around:code": -1.0, "around:general": -2.7, "before:acting": 1.0,
    "before:acts×digits": 0.8, "before:login": 0.4, "before:needed×numbered": 0.3,
    "before:serves×numbered": 0.2, "before:told×numbered": 0.4, "before:told×word": -1.8, "before:typed": 0.6,
    "before:typed×digits": 0.5, "before:typed×numbered": 0.2, "before:was×made": 0.8, "behind:copula": 0.7,
    "behind:end": -0.7, "behind:more": -1.2, "behind:other": -2.8, "behind:presses": 1.9, "behind:set": 1.6,
    "behind:used": 0.9, "code×digits": 0.3, "code×made": 0.1, "gap:0": 0.9, "gap:2": -0.9, "gap:3": -1.5,
    "gap:none": 2.0, "join:bracket": -1.7, "join:comma": -2.1, "join:direct": 0.2, "join:enter": 1.2,
    "join:handed": 0.8, "join:is": 2.8, "join:pair": 2.1, "join:sign": 0.1, "join:to": -2.2, "join:with": 0.3,
    "join:word": -2.4, "login×made": 0.7, "login×numbered": -0.6, "opens×made": 0.2, "password×digits": -0.3,
    "password×made": 2.2, "password×numbered": 0.6, "password×word": -1.2, "password×words": 0.6,
    "place×digits": -1.8, "place×made": -1.4, "quoted": -2.7, "shape:coined": 0.4, "shape:digits": 1.3,
    "shape:few digits": -0.4, "shape:mixed": -1.4, "shape:numbered": 1.1, "shape:odd": 0.3, "shape:own": -2.8,
    "shape:proper": 0.1, "shape:random": 3.3, "shape:signed": -0.5, "shape:strong": 1.1, "shape:word": 0.5,
    "shape:words": 0.8, "shape:year": -1.7,
}  # fmt: skip


class Candidate(Struct, frozen=True):
    """A value that may be a secret, and the cues that speak for and against it."""

    start: int
    end: int
    shape: str
    around: tuple[str, ...]

    @property
    def cues(self) -> tuple[str, ...]:
        return (f"shape:{self.shape}", *self.around)

    @property
    def score(self) -> float:
        return BIAS + sum(WEIGHTS.get(cue, 0.0) for cue in self.cues)


def _sorts(pick: Callable[[LanguagePack], Mapping[str, str]]) -> str:
    """The packs' patterns by sort as one, in which the group that matched says the sort."""
    sorts = dict.fromkeys(sort for pack in PACKS for sort in pick(pack))
    patterns = {sort: "|".join(pick(pack)[sort] for pack in PACKS if sort in pick(pack)) for sort in sorts}
    return "|".join(f"(?P<{sort}>{pattern})" for sort, pattern in patterns.items()) or "(?!)"


_OWN: Final = "".join(pack.letters for pack in PACKS)
_QUOTES: Final = "\"'“”‘’`"
# What every name holds one of, and how much of a text around it is searched for the name.
_SIGNS: Final = tuple(dict.fromkeys(",".join(each(lambda pack: pack.secrets.told_signs)).split(",")))
_PHRASE_SIGNS: Final = tuple(",".join(each(lambda pack: pack.secrets.phrase_signs)).split(","))
BEFORE_SIGN: Final = 28
BEHIND_SIGN: Final = 64
_NAME: Final = re.compile(_sorts(lambda pack: pack.secrets.told))
_COPULAS: Final = alternatives(lambda pack: pack.secrets.copulas)
_ENDINGS: Final = rf"(?:{_COPULAS}|{alternatives(lambda pack: pack.secrets.endings)})"
_ENDING: Final = re.compile(rf"(?:{_ENDINGS})+")
_COPULA: Final = re.compile(rf"[{_QUOTES}]?\s?(?:{_COPULAS})(?![{_OWN}])")
_ENDS_IN_ENDING: Final = re.compile(rf"(?:{alternatives(lambda pack: pack.secrets.endings)})\Z")
_SEVERAL_CAPITALS: Final = re.compile(r"(?:(?:Mrs?|Ms|Dr|St)\.?|[A-Z][\w'’]+)(?: [A-Z][\w'’]+){1,3}")
_ENDS_IN_COPULA: Final = re.compile(rf"(?:{_COPULAS})\Z")
_UNIT: Final = re.compile(alternatives(lambda pack: pack.secrets.units))
_KEPT_IN: Final = re.compile(alternatives(lambda pack: pack.secrets.kept_in))
_STATE: Final = re.compile(alternatives(lambda pack: pack.secrets.states))
_AROUND: Final = re.compile(_sorts(lambda pack: pack.secrets.around))
_BEHIND: Final = re.compile(
    rf"[{_QUOTES})]?(?:{_sorts(lambda pack: pack.secrets.behind)}|(?P<end>\s*(?:[.,;!)\n]|\Z)))"
)
_JOIN: Final = re.compile(
    rf"(?:{_sorts(lambda pack: pack.secrets.joins)}|(?P<sign>(?:[:=]|->|→|=>|\s[-–—])\s*)|(?P<pair>\s?/\s?)"
    rf"|(?P<comma>,\s)|(?P<asked>\?\s)|(?P<bracket>\())[{_QUOTES}([]{{0,3}}\Z"
)
_VALUE: Final = rf"(?:[{_QUOTES}](?P<quoted>[^{_QUOTES}\n]{{3,40}})[{_QUOTES}]|(?P<value>[^\s{_QUOTES}]{{3,40}}?))"
_BEFORE: Final = tuple(
    (sort, re.compile(pattern.replace("$", "\ufffe").replace("\uffff", _VALUE)))
    for pack in PACKS
    for sort, pattern in pack.secrets.named_before.items()
)
_TOKEN: Final = re.compile(
    rf"(?<!\w)[{_QUOTES}](?P<quoted>[^{_QUOTES}\n]{{3,64}})[{_QUOTES}]"
    rf"|\d{{2,6}}(?: \d{{2,6}})+(?!\w)|\d(?: \d){{3,9}}(?![a-zA-Z\d])|{SEED}|{DIAL}|[^\s{_QUOTES}]+"
)
_LINK: Final = re.compile(
    rf"[{_QUOTES}]?(?:,? ?(?:{alternatives(lambda pack: pack.secrets.links)}),? ?|, ?)[{_QUOTES}]?"
)
_QUESTION: Final = re.compile(r"[^.!?;\n]{0,48}\?")
# Of a program: a call, a comparison, a block.
_CODE: Final = re.compile(r"\w\(|[{};]|==|=>|\)\)|\(\)|\);|[\"']\)")
CODE_BEHIND: Final = 4
_HANDED: Final = re.compile(rf"(?:{alternatives(lambda pack: pack.secrets.handed)})\Z")
_ASIDE: Final = re.compile(r"\([^()]{1,40}\)")
_SENTENCE_END: Final = re.compile(r"[.!?]\s")
_OWN_TAIL: Final = re.compile(rf"[{_OWN}]+\Z")
_STATUS_CODE: Final = re.compile(r"20[0-6]|30[1-8]|4(?:0\d|1[0-8]|2[2-9])|50[0-5]")  # of HTTP, which answers with them
_NUMBER: Final = re.compile(r"\d[\d.,:/-]*")
LONGEST_UNIT: Final = 16
_OPENING: Final = "([{<,;/:="
_CLOSING: Final = ")]}>.,;:?"
_PAIR: Final = re.compile(r"[a-zA-Z][\w.@-]{1,32}:(?=[^/:\s]{3,64}\Z)")
# A phrase of words without quotes is told up to the end of its sentence.
_PHRASE: Final = re.compile(
    rf"(?:(?:{alternatives(lambda pack: pack.secrets.phrases)})"
    rf"|(?P<wallet>{alternatives(lambda pack: pack.secrets.wallets)}))"
    rf"(?:\s?[:=]| (?:is|are|was|were)|{alternatives(lambda pack: pack.secrets.particles)}|(?P<bare>))\s{{1,3}}"
    rf"(?P<words>[a-z{_OWN}]++(?:[ -][a-z0-9{_OWN}]++){{2,23}}+)(?=[.\n]|\Z)"
)


def told(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Where a sentence tells a secret. `lowered` is the text in small letters."""
    taken: Candidate | None = None
    for candidate in candidates(text, lowered):
        if candidate.score > 0 or (taken and _goes_on(lowered, taken, candidate)):
            taken = candidate
            yield candidate.start, candidate.end


def _goes_on(lowered: str, taken: Candidate, following: Candidate) -> bool:
    """Whether a value stands in one list with a secret: `… and …`, `from … to …`."""
    if "word" in {GROUPS[taken.shape], GROUPS[following.shape]}:
        return False
    if lowered[taken.end : following.start] == " ":
        return taken.shape == following.shape
    return _LINK.fullmatch(lowered, taken.end, following.start) is not None


def phrases(lowered: str) -> Iterator[tuple[int, int]]:
    """Secrets made of words: those of a wallet, and those that tell nothing as a sentence does."""
    for match in _PHRASE.finditer(lowered) if any(map(lowered.__contains__, _PHRASE_SIGNS)) else ():
        words = _ENDS_IN_COPULA.sub("", match["words"])
        each_word = words.split()
        plain = sum(word in query_stopwords() for word in each_word) / len(each_word)
        if len(each_word) < WALLET_WORDS and (match["wallet"] or match["bare"] is not None):
            continue
        is_long = len(each_word) >= WALLET_WORDS
        is_general = is_placeholder(words) or _STATE.fullmatch(each_word[0]) or (not is_long and _NAME.search(words))
        if plain < (MOST_IN_A_WALLET if is_long else MOST_FUNCTION_WORDS) and not is_general:
            yield match.start("words"), match.start("words") + len(words)


def candidates(text: str, lowered: str) -> Iterator[Candidate]:
    """Every value near the name of a secret. Each stretch of text is read once, for the name that it stands behind."""
    names = list(_names(lowered))
    for place, name in enumerate(names):
        line_end = lowered.find("\n", name.end(), name.end() + REACH)
        end = min(name.end() + REACH if line_end < 0 else line_end, len(text))
        following = names[place + 1].start() if place + 1 < len(names) else end
        if following < end and text[following - 1].isalnum():  # a name within a value
            following = end
        sorts = {str(name.lastgroup)}
        for earlier in names[max(0, place - 3) : place]:
            if name.start() - earlier.end() < LOOK_BACK and "\n" not in lowered[earlier.end() : name.start()]:
                sorts.add(str(earlier.lastgroup))
        if "pass" in sorts and sorts & {"login", "place"}:
            sorts.add("password")
        sort = min(sorts, key=SORTS.index)
        yield from _before(text, lowered, name)
        for token in _TOKEN.finditer(text, name.end(), min(end, following)):
            yield from _behind(text, lowered, name, sort, token)


def _names(lowered: str) -> Iterator[re.Match[str]]:
    """The names of secrets. Their pattern is slow, and is only tried around what each of them holds."""
    spots: list[int] = []
    for sign in _SIGNS:
        at = lowered.find(sign) if sign else -1
        while at >= 0:
            spots.append(at)
            at = lowered.find(sign, at + len(sign))
    searched = 0
    for spot in sorted(spots):
        for name in _NAME.finditer(lowered, max(searched, spot - BEFORE_SIGN), spot + BEHIND_SIGN):
            if name.start() > spot:
                break
            searched = name.end()
            yield name
        searched = max(searched, spot)


def _before(text: str, lowered: str, name: re.Match[str]) -> Iterator[Candidate]:
    """`… is the password`, `type … to unlock it`."""
    before = lowered[max(0, name.start() - LOOK_BACK) : name.start()]
    named = f"{before}\ufffe{lowered[name.end() : name.end() + 2]}"
    for sort, pattern in _BEFORE:
        goes_with = NAMES_BEHIND.get(sort, NAMED)
        if name.lastgroup in goes_with and (match := pattern.search(named)):
            quoted = match["quoted"] is not None
            start, end = (at + name.start() - len(before) for at in match.span("quoted" if quoted else "value"))
            found = (start, end) if quoted else _value(text, start, end)
            shape = _shape(text, *found, quoted=quoted) if found else None
            is_word = shape and GROUPS[shape] == "word"
            if found and shape and name.lastgroup not in (UNQUOTED if quoted else NOT_WITH_A_WORD if is_word else ()):
                yield Candidate(*found, shape, (f"before:{sort}×{GROUPS[shape]}", f"before:{name.lastgroup}"))


def _behind(text: str, lowered: str, name: re.Match[str], sort: str, token: re.Match[str]) -> Iterator[Candidate]:
    quoted = token["quoted"] is not None
    start, end = token.span("quoted" if quoted else 0)
    pair = None if quoted else _PAIR.match(text, start, end)
    found = (start, end) if quoted else _value(text, pair.end() if pair else start, end)
    if found and sort == "answer" and not quoted:
        found = _answer(text, lowered, *found)
    # What touches the name is a part of it: `user.password2`.
    touches = token.start() == name.end() and text[token.start()].isalnum() | (text[token.start()] in "._-")
    shape = _shape(text, *found, quoted=quoted) if found and not touches else None
    if not found or not shape or GROUPS[shape] not in VALUES_OF[sort]:
        return
    if name.group() == "code" and _STATUS_CODE.fullmatch(text, *found):
        return
    around = (*_cues(lowered, name, *found, "pair" if pair else None), *(["quoted"] if quoted else []))
    if _may_be_told(sort, shape, frozenset(around)):
        yield Candidate(*found, shape, (f"{sort}×{GROUPS[shape]}", *around))


def _may_be_told(sort: str, shape: str, cues: frozenset[str]) -> bool:
    """Whether a value of this shape can be what is told at all: most words near a name are words of the sentence."""
    is_assigned, is_quoted = "join:sign" in cues, "quoted" in cues
    if "join:named" in cues and sort != "answer":
        return False
    if sort in ("typed", "prompted"):
        return "join:enter" in cues
    if sort == "pass":
        return is_assigned or "join:handed" in cues
    if shape == "dotted":
        return not is_assigned
    if sort == "answer" and "apart" in cues:
        return False
    if shape == "own" and not is_quoted:
        is_answer = sort == "answer" and bool({"behind:end", "behind:set"} & cues)
        return is_answer or "behind:copula" in cues or bool("behind:end" in cues and LABELS & cues)
    return GROUPS[shape] != "word" or bool(JOINS_A_WORD & cues and (is_quoted or ENDS_A_WORD & cues))


def _cues(lowered: str, name: re.Match[str], start: int, end: int, joined: str | None) -> Iterator[str]:
    """How a value is joined to the name before it, and what stands around the two."""
    join = _JOIN.search(lowered, max(name.end() - 1, start - LOOK_BACK), start)
    between = _ASIDE.sub("", lowered[name.end() : max(name.end(), join.start() if join else start)])
    words = len(between.split())
    sort = joined or (join and join.lastgroup) or ("word" if words else "direct")
    if sort == "direct" and _HANDED.search(lowered, max(0, name.start() - LOOK_BACK), name.start()):
        sort = "handed"
    yield f"join:{sort}"
    yield f"gap:{min(words, 6) // 2 if words else 'none'}"
    if _SENTENCE_END.search(between):
        yield "apart"
    behind = _BEHIND.match(lowered, end)
    yield "behind:copula" if _COPULA.match(lowered, end) else f"behind:{behind.lastgroup if behind else 'other'}"
    before = max(0, name.start() - LOOK_BACK)
    around = _AROUND.search(lowered, before, end + LOOK_BACK)
    if around:
        yield f"around:{around.lastgroup}"
    if _QUESTION.match(lowered, end):
        yield "around:question"
    if _CODE.search(lowered, name.end() - 1, min(end + CODE_BEHIND, len(lowered))):
        yield "around:code"


def _value(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The value in a word: without the signs around it and the ending behind it."""
    word = text[start:end].removeprefix("**")
    start = end - len(word)
    end -= len(word) - len(word.rstrip(_CLOSING).removesuffix("**"))
    word = text[start:end]
    start += len(word) - len(word.lstrip(_OPENING))
    end = start + len(text[start:end].rstrip(_CLOSING))
    tail = _OWN_TAIL.search(text, start, end)
    if tail and tail.start() > start and _ENDING.fullmatch(tail.group()):
        end = start + len(text[start : tail.start()].rstrip(_CLOSING))
    elif tail and (ending := _ENDS_IN_COPULA.search(text, start + 2, end)):
        end = ending.start()
    return (start, end) if SHORTEST_VALUE - 1 <= end - start <= LONGEST_VALUE else None


def _answer(text: str, lowered: str, start: int, end: int) -> tuple[int, int]:
    """An answer is a name: of several words with capitals, or with the ending behind which it is set."""
    if name := _SEVERAL_CAPITALS.match(text, start):
        return name.span()
    ending = _ENDS_IN_ENDING.search(text, start + 2, end)
    behind = _BEHIND.match(lowered, ending.start()) if ending else None
    return (start, ending.start()) if ending and behind and behind.lastgroup == "set" else (start, end)


def _shape(text: str, start: int, end: int, *, quoted: bool) -> str | None:
    """What a value is made of; None is no secret: an amount, a state, a placeholder, a path, a version."""
    value = text[start:end]
    number = _NUMBER.match(value)
    if number and not quoted and (number.end() == len(value) or is_own(value[number.end()])):
        after = text[start + number.end() : start + number.end() + LONGEST_UNIT].lower()
        if _UNIT.match(after):
            return None
    if _KEPT_IN.match(text, end) or _STATE.fullmatch(value.lower()) or value.lower() in query_stopwords():
        return None
    return shape_of(value, quoted=quoted)
