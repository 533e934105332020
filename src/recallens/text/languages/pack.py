"""What a language pack holds: every word, phrase and rule that belongs to one language, and no code that reads a text
with them. Patterns are regular expressions without groups unless a comment names some; an empty one is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from recallens.text.scripts import Script

Reading = Literal[
    "date", "month", "day", "ago", "past", "period", "weekend", "weekday", "season", "quarter", "half", "year"
]


class TimeRule(Struct, frozen=True):
    """One way to speak of a time. The pattern's groups (year, month, day, weekday, season, quarter, half, count, unit)
    say which; `unit` and `count` stand in for groups that it does not have.
    """

    pattern: str
    reading: Reading
    back: int = 0  # so many periods before this one
    unit: str = "day"
    count: int = 1


class TimeWords(Struct, frozen=True, kw_only=True):
    # The first rule that reads a stretch of text keeps it, so the fuller reading of a phrase stands before the shorter.
    rules: tuple[TimeRule, ...] = ()
    around: tuple[str, str] = ("", "")  # what every rule's pattern stands between
    sign: str = ""  # a phrase: every rule needs one of these
    numbers: Mapping[str, int] = {}
    units: Mapping[str, str] = {}  # the language's word for day, week, month and year
    months: Mapping[str, int] = {}
    weekdays: tuple[str, ...] = ()  # from Monday
    seasons: Mapping[str, int] = {}  # the month in which one begins
    halves: Mapping[str, int] = {}  # the month in which a half of the year begins
    # What makes a span open, as the end of the text before it, its own beginning, or the beginning of what follows.
    since_before: str = ""
    since_within: tuple[str, ...] = ()
    since_after: str = ""
    until_before: str = ""  # the span itself is excluded
    until_after: str = ""  # the span itself is included
    dates: tuple[str, ...] = ()  # dates that are spelled out, with the groups year, month and (it may be missing) day


class QuestionWords(Struct, frozen=True, kw_only=True):
    """Phrases of questions."""

    intents: Mapping[str, str] = {}  # by the name of the intent; the first language's order is that of reading
    principle: str = ""
    implementation: str = ""
    multi_hop: str = ""
    temporal: str = ""
    broad: str = ""
    task_start: str = ""  # a pattern
    part_ends: str = ""  # a pattern: what stands between two questions
    conjunctions: str = ""  # a pattern: what stands between two things that are asked for
    reason: str = ""  # phrases that ask for one
    answer_types: Mapping[str, str] = {}  # phrases by what they ask for: time, number, person, place


class MemoryWords(Struct, frozen=True, kw_only=True):
    """Patterns by which a memory is classified and compared with others, in lower case."""

    decision: str = ""
    gotcha: str = ""
    preference: str = ""
    lesson: str = ""
    principle: str = ""
    pattern: str = ""
    summary: str = ""  # the first word of the text
    note: str = ""  # the first word of the text
    steps: str = ""
    feeling: str = ""
    event: str = ""
    principle_signs: str = ""  # words that are counted to tell a principle from a concept
    negation: str = ""
    plain_negation: str = ""  # negations that all mean the same: not
    opposites: str = ""  # pairs of words between commas
    number_words: str = ""
    contradicts: str = ""
    deprecated: str = ""
    outdated: str = ""
    # In lower case: no text that contradicts, deprecated or outdated describe is without one of these.
    traces: tuple[str, ...] = ()
    units: str = ""  # what a number can count
    reasons: str = ""  # a pattern: what gives one
    answers: Mapping[str, str] = {}  # patterns by what they answer: time, number, person, place; case counts


class NameWords(Struct, frozen=True, kw_only=True):
    joints: str = ""  # words in small letters within a name
    articles: tuple[str, ...] = ()
    openers: str = ""  # words that are capitalised because they open a sentence
    calendar: tuple[str, ...] = ()  # words that are capitalised and name a time
    possessives: tuple[str, ...] = ()
    particles: tuple[str, ...] = ()  # endings that a name carries, the longest first
    quoted: str = ""  # a quotation that is a name although it has no capitals


class SecretWords(Struct, frozen=True, kw_only=True):
    passwords: str = ""
    keys: str = ""
    particles: str = ""  # what may follow one of these names before the sign of assignment
    placeholder_openings: str = ""
    placeholders: str = ""
    descriptions: str = ""  # words that stand where a secret would and are none


class Grammar(Struct, frozen=True):
    """Functions of a language whose words must be taken apart before they can be named."""

    nouns: Callable[[str], list[str]]
    noun_phrases: Callable[[str], list[str]]
    joins_two: Callable[[str], bool]  # whether a text asks about two nouns together
    clauses: Callable[[str], list[str]]
    halves: Callable[[str], list[str]]  # the two things that a clause asks for


class LanguagePack(Struct, frozen=True, kw_only=True):
    code: str
    letters: str = ""  # its own letters, as the inside of a character class; none where ASCII can write it
    script: Script = "none"  # the script that it alone is written in
    # Whether its phrases are whole words, a pattern on a line or several between bars, each of which begins with a word
    # or with three letters of one. Otherwise they are one pattern that is looked for anywhere in a word.
    whole_words: bool = True
    function_words: str = ""
    frame_words: str = ""
    # Meanings between commas; a meaning is known in every pack by its name before the colon, or by its first word.
    synonyms: str = ""
    clitics: frozenset[str] = frozenset()
    negated_contraction: str = ""
    abbreviations: str = ""
    sentence_end: str = ""  # a stop that ends a sentence although no space follows
    recap_labels: tuple[str, str] = ("", "")  # what was asked first, what was said last
    lesson_names: Mapping[str, tuple[str, ...]] = {}
    lesson_parts: Mapping[str, str] = {}
    times: TimeWords = TimeWords()
    questions: QuestionWords = QuestionWords()
    memories: MemoryWords = MemoryWords()
    names: NameWords = NameWords()
    secrets: SecretWords = SecretWords()
    grammar: Grammar | None = None
