"""What a language pack holds: every word, phrase and rule that belongs to one language, and no code that reads a text
with them. Patterns are regular expressions without groups unless a comment names some; an empty one is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from recallens.text.scripts import Script

Reading = Literal[
    "date", "week", "part", "month", "day", "ago", "ahead", "past", "coming", "period", "weekend", "weekday", "season",
    "this season", "next season", "quarter", "half", "year",
]  # fmt: skip


class TimeRule(Struct, frozen=True):
    """One way to speak of a time. The pattern's groups (year, month, day, until, also, part, weekday, week, season,
    quarter, half, count, unit) say which; `unit` and `count` stand in for groups that it does not have. `also` is a
    second day of the same month.
    """

    pattern: str
    reading: Reading
    back: int = 0  # so many periods before this one; below 0, after it
    unit: str = "day"
    count: int = 1
    vague: bool = False  # it means about then, and nobody would miss a day
    any_such: bool = False  # in a question about what is, it means every such day


class EventRule(Struct, frozen=True):
    """One way to tell a time by what happened: a pattern with the group `event`, the words that say what. The days are
    counted from the event's own, from `first` up to and without `end`; None is open.
    """

    pattern: str
    first: int | None = 0
    end: int | None = None
    signs: tuple[str, ...] = ()  # in small letters: what it matches holds one of these


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
    quarters: Mapping[str, int] = {}  # of a year, in words
    parts: Mapping[str, tuple[int, int | None]] = {}  # of a month: its first day, and the one after its last
    weeks: Mapping[str, int] = {}  # how many weeks back a weekday's week is
    # What makes a span open, as the end of the text before it, its own beginning, or the beginning of what follows.
    since_before: str = ""
    since_within: tuple[str, ...] = ()
    since_after: str = ""
    until_before: str = ""  # the span itself is excluded
    until_after: str = ""  # the span itself is included
    ended_after: str = ""  # the span itself is excluded
    # What stands between the two ends of one span: by itself, or where `between` ends the text before them.
    ranges: str = ""
    both: str = ""  # what stands between two days that follow one another
    between: str = ""
    joints: str = ""
    clause_end: str = r"(?!)"  # a pattern, beside the signs between clauses
    ahead: str = r"(?!)"  # a pattern of a clause that looks ahead; the case of letters is disregarded
    behind: str = r"(?!)"  # a pattern of a clause that tells what was
    toward: str = r"(?!)"  # of a month to which something was put, in a clause that tells what was
    this_year: str = r"(?!)"  # a pattern of a sentence whose days are of the year in which it was said
    yearly: str = r"(?!)"  # a pattern of a sentence about what comes every year
    # A time told by what happened. The first rule that reads a question is taken.
    event_sign: str = ""  # phrases: every rule needs one of these
    events: tuple[EventRule, ...] = ()
    event_reach: tuple[int, int] = (45, 130)  # how many letters before and after its sign a rule reads
    no_event: str = ""  # a pattern of the words of an event that are none: how many days
    past: str = ""  # a pattern: the question is about what was, and not about what one does at such times
    present: str = ""  # a pattern: it is about what is; a question without a verb is about neither
    asks: str = ""  # a pattern: without a verb it is a question all the same, and not what somebody is told to do
    habit: str = ""  # a pattern: it is about what one does
    standing: str = r"(?!)"  # a pattern of an event that is no single one: before the dough is rolled
    states: str = ""  # a pattern: the question asks how something was at a time, and not what happened then
    changes: str = ""  # a pattern of words that only say that something changed, as any text may that tells of a change
    done: str = ""  # a pattern of words that may be a verb's form, and say what was done
    # Patterns: the words in which a sort of event is told, by the sort's name, which is the same in every language.
    same_events: Mapping[str, str] = {}
    same_things: Mapping[str, str] = {}  # likewise: the words for what events befall
    particles: str = r"(?!)"  # a pattern of words that only go with a verb
    reports: str = ""  # a pattern of a memory that tells what was done or came about, whatever its kind
    concludes: str = ""  # a pattern of an event that ends a course of others
    was: str = r"(?!)"  # a pattern of a question about what was, whatever else it holds
    happenings: str = ""  # a pattern of words that only say that something happened
    # Patterns of memories: one that looks back on an event, and one that tells of an attempt that failed.
    recounts: str = ""
    failed: str = ""
    plans: str = r"(?!)"  # a pattern of memories: one that says what is to be done
    dates: tuple[str, ...] = ()  # dates that are spelled out, with the groups year, month and (it may be missing) day


class QuestionWords(Struct, frozen=True, kw_only=True):
    """Phrases of questions."""

    intents: Mapping[str, str] = {}  # cues: phrases by the intent that they speak for ("other": for none) and a word
    principle: str = ""
    implementation: str = ""
    multi_hop: str = ""
    temporal: str = ""
    broad: str = ""
    part_ends: str = ""  # a pattern: what stands between two questions
    statement: str = ""  # a pattern: a whole text that states something, and asks nothing
    conjunctions: str = ""  # a pattern: what stands between two things that are asked for
    reason: str = ""  # phrases that ask for one
    several: str = ""  # a pattern: a list or a count is asked for, which several occasions add up to
    single: str = ""  # a pattern: it only sounds so, as a stretch of time
    cause: str = ""  # a pattern: what led to something is asked for, or why, and not what happened in turn
    activities: str = ""  # a pattern: words that a question about a time alone may hold, for they name nothing
    places: str = r"(?!)"  # a pattern: where something happened; its group is the place's name
    kinds: Mapping[str, str] = {}  # patterns by the kind of memory that is asked for
    trouble: str = ""  # a pattern: what went wrong is asked for
    # Phrases by what they ask for (a time, a price, a person …), the narrowest first; and what each is called.
    answer_types: Mapping[str, str] = {}
    answer_names: Mapping[str, str] = {}
    asking: str = ""  # a pattern: words that say how an answer is to be measured, and not what it is about
    of_change: str = ""  # a pattern: whether a change may be made is asked
    change_words: str = ""  # a pattern: words of such a question that say nothing of what the change touches
    contrast: str = ""  # a pattern: what is only mentioned to say that it is not meant


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
    first_person: str = ""  # words by which a speaker tells of themselves
    trouble: str = ""  # words by which a memory tells of something that went wrong
    milestones: str = ""  # words by which a memory tells of something that will be asked for: an opening, a visit
    principle_signs: str = ""  # words that are counted to tell a principle from a concept
    negation: str = ""
    plain_negation: str = ""  # negations that all mean the same: not
    opposites: str = ""  # pairs of words between commas
    number_words: str = ""
    contradicts: str = ""
    deprecated: str = ""
    outdated: str = ""
    # A pattern: where the text says of another that it is deprecated or outdated, which is no mark of its own.
    others_end: str = ""
    # In lower case: no text that contradicts, deprecated or outdated describe is without one of these.
    traces: tuple[str, ...] = ()
    reasons: str = ""  # a pattern: what gives one
    answers: Mapping[str, str] = {}  # patterns by what they answer, by its type; case counts
    recurrent: str = ""  # a pattern: what happens again and again, which is no answer to when something was
    goes_on: str = ""  # a pattern at the beginning of a sentence that goes on about the one before it


class NoteWords(Struct, frozen=True, kw_only=True):
    """How a note speaks of its own life. Patterns in lower case, in which `\uffff` stands for a link."""

    subject: str = ""  # what may stand before a mark at the beginning of a line
    itself: str = ""  # what of it names the note
    status_label: str = ""
    date_label: str = ""
    ended: str = ""  # words that end a note by themselves, where nothing but a reason follows
    draft: str = ""
    rejected: str = ""
    replaced_by: str = ""  # stands before the successor
    replaced_after: str = ""  # stands after the successor, with the link in it
    joined_by: str = ""  # what stands between the links of one list, beside commas
    instead: str = ""  # what leads from a word that ends a note to its successor, with the link in it
    leads: str = ""  # what may stand between a mark and the link to the successor
    moment: str = ""  # when: with the words before and after it
    goes_on: str = ""  # how a mark goes on where no successor is named
    of_texts: str = ""  # words that end a note, and are said of texts and rules, not of things
    recurs: str = ""  # what is done again and again, or under a condition, which no end is
    records: str = ""  # what is numbered: ADR 12
    replaces: str = ""  # stands before what the note replaces
    replaces_after: str = ""  # stands after it, with the link in it
    traces: str = ""  # no line of the patterns above is without one of these
    fields: Mapping[str, tuple[str, ...]] = {}  # other names of frontmatter's fields
    relations: Mapping[str, tuple[str, ...]] = {}  # by its type: how a note names one, without blanks and signs
    shares: Mapping[str, float] = {}  # words for an importance or a confidence


class AmountWords(Struct, frozen=True, kw_only=True):
    """Numbers in words, and what numbers count."""

    # By the pattern of its words: what a unit measures, and how many of that it is. Two units of one measure compare.
    units: Mapping[str, tuple[str, float]] = {}
    numbers: str = ""  # a pattern: a number in words, which counts as one only before a unit
    value: Callable[[str], float | None] = lambda words: None  # of what `numbers` matched
    quantities: str = ""  # a pattern: words after which a bare number is a value; after others it is a name
    versions: str = ""  # a pattern: words between a thing and its version, as in Node version 18
    numbered: str = ""  # a pattern: things that are called by a number, as in room 3
    scales: Mapping[str, float] = {}  # words behind a number that multiply it
    dates: str = ""  # a pattern with the groups year, month and day, one of them in figures
    months: Mapping[str, int] = {}  # by their first three letters
    clocks: str = ""  # a pattern with the groups hour and minute
    weekdays: str = ""  # a pattern with the group weekday
    days: str = ""  # a pattern with the group days: so many in one word


class StatementWords(Struct, frozen=True, kw_only=True):
    """How a clause says something of something: by it two that state the same are told from two that are alike."""

    # Words that say no more than that there is a value, as lasts and costs do: others differ in what they speak of.
    values: str = ""
    past: str = ""  # a pattern: what was so at some time, and is not said to be so
    leaning: str = ""  # a pattern at the beginning of a clause that says nothing of what it speaks of
    negation: str = ""  # a pattern: negation of a whole clause
    carried: str = ""  # a pattern: what stands at the end of an amount's last word
    before_measured: str = ""  # a pattern: what stands before an amount that is all that is said
    after_measured: str = ""  # a pattern: what follows such an amount, up to the end of the clause
    opposites: str = ""  # pairs between commas, beside those that memories have
    aside: str = ""  # a pattern: what begins a reason or an aside, up to the end of the clause
    # Patterns with the groups `said` and `name`: one thing has one such name at a time, as it has one place.
    one_name: tuple[str, ...] = ()


class WorkWords(Struct, frozen=True, kw_only=True):
    """What people say of their work: by it attempts at one task are told from attempts at another."""

    # Meanings between commas, as of synonyms: what is done. Two tasks with no action in common are two tasks.
    actions: str = ""
    generic: str = ""  # words that any task may have: a title of these and an action names no task
    corrections: str = ""  # a pattern: signs that a text says what holds instead of something
    additions: str = ""  # a pattern: signs that something is so too, or only better than it was
    reasons: str = ""  # a pattern: why something was changed, up to the end of the sentence
    moved: str = ""  # a pattern with a group `topic`, right behind a sign: what was moved or switched
    replaced: tuple[str, ...] = ()  # patterns with a group `old`: what holds no longer
    rulings: str = ""  # a pattern in small letters: how a person at work puts somebody right or lays down what holds
    choices: str = ""  # a pattern in small letters: how they choose, which counts though it be for the moment only
    rebuttals: str = ""  # a pattern in small letters of a sentence that says no more than that something is wrong
    reported: str = ""  # a pattern in small letters: that somebody or something else says so
    unsettled: str = (
        ""  # a pattern in small letters: that it is undecided, asked, supposed, in jest, for once or praise
    )
    requests: str = ""  # a pattern in small letters: how a person asks for the next step, which changes nothing
    passing: str = ""  # a pattern in small letters: how they say that something holds for the moment only
    acts: str = ""  # a pattern: who does something and what they do, before what they do it to
    topical: str = ""  # a pattern: how a word ends that a clause is about
    apart: str = ""  # a pattern: how a word ends that says nothing of the word behind it
    places: str = ""  # a pattern: what joins a thing and the name behind it that says which it is
    unspecific: str = ""  # words before a thing that do not say which it is
    failed: str = ""  # a pattern: that an attempt failed, as people tell it
    worked: str = ""  # a pattern: that it worked
    history: str = ""  # a pattern: what asks for how it was and not for how it is


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
    pins: str = ""  # names of a number that opens something, where it is all that a cell or a line says
    label_signs: str = ""  # words of which each name in `passwords`, `keys` and `pins` holds one
    value_heads: str = ""  # what a table calls the column in which the values of its rows stand
    signs: str = ""  # words of which each name of a secret holds one
    says: str = ""  # what stands between a name and the secret in a sentence
    particles: str = ""  # what may follow one of these names before the sign of assignment
    phrases: str = ""  # names of secrets that are made of words
    wallets: str = ""  # what else names a phrase that has as many words as a wallet's
    states: str = ""  # words that tell in what state a secret is, and are none
    changes: str = ""  # a pattern with the groups `was` and `becomes`: how two passwords are told
    ends: str = ""  # what may follow a secret without a space: a verb that says that it is one
    kept_in: str = ""  # what follows the name of the place that a secret is kept in
    logins: str = ""  # what a name and its password are told with
    cards: str = ""  # names of a payment card
    general: str = ""  # what is told of passwords in general: a rule, a state, a page
    placeholder_openings: str = ""
    placeholders: str = ""
    descriptions: str = ""  # words that stand where a secret would and are none
    # Patterns for the model of secrets told in prose, by the sort that they speak for.
    told: Mapping[str, str] = {}  # names of what a value can be the secret of
    # Of a value (\uffff) that stands before its name (\ufffe, or the end): the text up to the name.
    named_before: Mapping[str, str] = {}
    joins: Mapping[str, str] = {}  # what the text right before a value ends with
    behind: Mapping[str, str] = {}  # what the text right behind a value begins with
    around: Mapping[str, str] = {}  # what stands anywhere near it and speaks against it
    handed: str = ""  # what ends the text before a name that a value follows with nothing between
    turns: str = ""  # which way a dial is turned
    links: str = ""  # what stands between a secret and the next
    endings: str = ""  # particles and endings that follow a value without a space
    copulas: str = ""  # of these, the ones that say that it is one
    units: str = ""  # behind a number: it is an amount
    phrase_signs: str = ""  # what each name in `phrases` and `wallets` holds one of, between commas
    told_signs: str = ""  # what each name in `told` holds one of, between commas


class CommandWords(Struct, frozen=True, kw_only=True):
    """How a text speaks to the agent that reads it: patterns in small letters by what they give away."""

    patterns: Mapping[str, tuple[str, ...]] = {}
    instead: str = ""  # a pattern: one thing is to be taken for another
    numbered: str = ""  # a pattern: what may stand between a thing and its number


class Grammar(Struct, frozen=True):
    """Functions of a language whose words must be taken apart before they can be named."""

    nouns: Callable[[str], list[str]]
    doings: Callable[[str], list[str]]  # those of its nouns that its verbs are made of
    noun_phrases: Callable[[str], list[str]]
    joins_two: Callable[[str], bool]  # whether a text asks about two nouns together
    clauses: Callable[[str], list[str]]
    halves: Callable[[str], list[str]]  # the two things that a clause asks for
    stem: Callable[[str], str]  # a word without particles and endings; empty where it says nothing by itself
    morpheme: Callable[[str], str]  # what a noun or a verb means, whatever its form; only to be compared
    latin: Callable[[str], str]  # a name in Latin letters
    spaced: Callable[[str], str]  # a question with spaces around what asks, where it has none


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
    notes: NoteWords = NoteWords()
    amounts: AmountWords = AmountWords()
    statements: StatementWords = StatementWords()
    work: WorkWords = WorkWords()
    names: NameWords = NameWords()
    secrets: SecretWords = SecretWords()
    commands: CommandWords = CommandWords()
    grammar: Grammar | None = None
