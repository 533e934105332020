"""English: amounts, and what people say of their work."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack

_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES: Final = {"dozen": 12.0, "hundred": 100.0, "thousand": 1_000.0}
_NUMERALS: Final[dict[str, float]] = {
    **{word: float(value) for value, word in enumerate(_SMALL.split())},
    **{word: 10.0 * tens for tens, word in enumerate(_TENS.split(), 2)},
    "a": 1.0,
    "an": 1.0,
    "half": 0.5,
    "couple": 2.0,
    **_SCALES,
}
_NUMERAL: Final = "|".join(sorted(_NUMERALS, key=len, reverse=True))


def counted(words: str) -> float | None:
    """The number that words say: twenty-five, half an hour, two hundred."""
    total = 0.0
    for word in words.replace("-", " ").split():
        if word in _SCALES:
            total = (total or 1.0) * _SCALES[word]
        elif word in _NUMERALS and not (total and word in ("a", "an")):
            total += _NUMERALS[word]
    return total or None


_MONTH_NAMES: Final = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS: Final = dict(zip(_MONTH_NAMES.split(), range(1, 13), strict=True))
_MONTH: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)

AMOUNTS: Final = pack.AmountWords(
    units={
        "ms|milliseconds?": ("second", 0.001),
        "s|secs?|seconds?": ("second", 1),
        "m|mins?|minutes?": ("second", 60),
        "h|hrs?|hours?": ("second", 3_600),
        "d|days?": ("second", 86_400),
        "w|wks?|weeks?": ("second", 604_800),
        "months?": ("month", 1),
        "quarters?": ("month", 3),
        "yrs?|years?": ("month", 12),
        "kb|kib|kilobytes?": ("byte", 1e3),
        "mb|mib|megabytes?": ("byte", 1e6),
        "gb|gib|gigabytes?": ("byte", 1e9),
        "tb|tib|terabytes?": ("byte", 1e12),
        "%|percent": ("percent", 1),
        "times|retries|attempts": ("time", 1),
        "people|persons?|users?|members?|seats?": ("person", 1),
        "dollars?|usd": ("dollar", 1),
        "won|krw": ("won", 1),
        "workers?|replicas?|pods?|nodes?|shards?|partitions?|instances?|connections?|threads?|items?|rows?": (
            "item",
            1,
        ),
    },
    numbers=rf"\b(?:{_NUMERAL})(?:[- ](?:and |of )?(?:{_NUMERAL}))*\b",
    value=counted,
    quantities="ports?|limit|size|timeout|max|maximum|min|minimum|count|total|threshold|quota|budget|rate|capacity",
    versions="versions?|ver|v|release",
    numbered="rooms?|halls?|steps?|sprints?|phases?|invoices?|tickets?|floors?|gates?|lines?|tables?|chapters?|pages?"
    "|cameras?|cases?|issues?|prs?|builds?|weeks?|levels?|grades?|zones?|units?|doors?|sections?|tasks?|no|numbers?"
    "|orders?|lots?|platforms?|routes?|rules?|articles?|figures?|slots?|shelf|shelves|rack|lockers?|stations?|terminals?",
    scales={"thousand": 1e3, "million": 1e6, "billion": 1e9},
    dates=rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH})|(?P<month_too>{_MONTH}) "
    r"(?P<day_too>\d{1,2})(?:st|nd|rd|th)?\b(?!:))(?:,? (?P<year>(?:19|20)\d\d))?",
    months=_MONTHS,
    clocks=r"(?<![\d:.])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?!\d|:)(?: ?[ap]m\b)?"
    r"|(?<![\d:.])(?P<hour_too>\d{1,2}) ?[ap]m\b"
    rf"|\b(?:at|until|till|from|by) (?P<hour_said>\d{{1,2}}|{'|'.join(_SMALL.split()[1:13])})"
    r"(?=\W*$| on\b| every\b| in the\b)",
    # A Monday tour is another than a Friday tour.
    weekdays=r"\b(?:(?:on|every|each|is|by|until|till|from) (?P<weekday>mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?P<weekday_too>mon|tues|wednes|thurs|fri|satur|sun)days)\b",
)

WORK: Final = pack.WorkWords(
    actions="""
    add create introduce insert, remove delete drop clean purge prune truncate,
    fix repair resolve debug solve mend correct, update bump upgrade,
    downgrade, deploy ship rollout publish, revert rollback undo, rotate renew reissue regenerate, migrate move port,
    rename, refactor restructure cleanup tidy, test verify check, document describe,
    investigate analyse analyze diagnose, configure setup, install, restart reboot, enable activate, disable deactivate,
    increase raise grow extend, decrease reduce lower shrink, merge join, split separate, backup, restore recover,
    review audit, write implement build, replace swap substitute, monitor watch, start launch,
    stop shutdown, open, close, send, import, export
    """,
    generic="""
    test tests testing failing failed fails failure broken flaky bug bugs issue issues problem problems error errors
    crash build builds ci pipeline code thing things stuff work task tasks job ticket tickets pr lint linter warning
    warnings typo typos minor small quick misc various some feature features docs documentation readme dependency
    dependencies package packages version versions change changes comment comments feedback todo project repo repository
    branch main master latest next again done finished completed successfully success well fine okay good went passed
    green everything finally now need unit integration regression suite type types style format formatting performance
    improve improvement
    """,
    corrections=r"\b(?:we now|now|no longer|any ?more|any longer|instead of|in place of|rather than|in favou?r of"
    r"|(?:switch(?:ed|es|ing)?|moved?|moving|migrated?|chang(?:ed|es|ing)|transferred|shifted)"
    r"(?=(?: \S+){0,4}? (?:from|to|over|off|away)\b|[^.;]{0,60}? from \d)"
    r"|replac(?:ed|es|ing)|changed(?= (?:it|this|our|the)\b|[:;,.])|has changed|used to|from now on|these days"
    r"|nowadays|(?:as of|starting(?: in| from| on)?|beginning(?: in| on)?|effective|since|from) "
    rf"(?:today|now|next|{_MONTH})"
    r"|going forward|stopped using|we (?:have )?(?:dropped|retired|left)|retired|(?:went|gone) (?:up|down)"
    r"|(?:rais|lower|reduc|increas|extend|shorten|bump)ed|cut(?= (?:it )?(?:from|to))|correction|turned out)\b"
    r"|\A(?:no|actually), (?=[^.;]{2,120}, not )",
    additions=r"\b(?:also|too|as well|in addition|additionally|another|an? (?:second|third)|faster|quicker|easier"
    r"|better|slower|cheaper|nicer|smoother|additional|extra|even)\b",
    reasons=r"\b(?:because|due to|so that|after it|as (?:it|they|he|she)) [^.;]*",
    moved=r" (?P<topic>[^.;]{2,60}?) (?:from|to|over|off|away)\b",
    replaced=(
        r"\b(?:instead of|in place of|rather than|stopped using|retired|away from|off) "
        r"(?P<old>[^,.;:()]{2,60}?)(?= for\b| and\b|[,.;:()]|$)",
        r"\A(?:no|actually), [^.;]{2,120}, not (?P<old>[^,.;:()]{1,40})",
        r"\bno longer (?P<old>[^,.;:()]{2,60})",
        r"\bused to (?P<old>[^,.;:()]{2,60})",
        r"\bfrom (?P<old>\d{1,3}(?:,\d{3})+|[^,.;:()]{1,40}?) to\b",
        r"\breplac(?:ed|es|ing) (?P<old>[^,.;:()]{2,40}?) (?:with|by)\b",
        r"\b(?:do|does|is|are)(?: not|n't) (?P<old>[^,.;:()]{2,40}?) any ?(?:more|longer)\b",
    ),
    rulings=r"\A(?:no|nope|actually|wrong|(?:that|this)(?:.s| is) (?:wrong|incorrect|not (?:right|true)))[,:.!;-]"
    r"(?!\s?(?:thanks?|never ?mind|wait|hold|let me|please|can|could|would|go|problem|worries|idea|i(?:.ll| will))\b)"
    r"|\A(?!.*\b(?:fail\w*|broke\w*|crash\w*|weird|seems?|looks?|maybe|think)\b)[^.;]{3,80}, not "
    r"(?:the |an? )?[\w./-]+(?: \w+){0,2}(?=[.!,;]|\Z)"
    r"|\b(?:don.t|do not|never|stop) us(?:e|ing)\b|\bstop (?:adding|putting|writing|committing|pushing|running)\b"
    r"|\bnever (?:edit|commit|push|run|touch|change|write|call|deploy|merge|add|put|log|store|delete|import)\b"
    r"|\b(?:don.t|do not) ever [a-z]+\b|(?:\A|[,:;] |\b(?:please|must|should|and) )always (?!been\b|the\b)[a-z]+\b"
    r"|\bi (?:told you|(?:already )?said)\b|\bremember(?: that\b| to\b|:)|\bkeep in mind\b|\bfor the record\b"
    r"|\b(?:let.s|we(?:.ll| will| should)) (?:just |all )?(?:go with|stick (?:to|with)|settle on|standardi[sz]e on"
    r"|keep using) (?!(?:it|that|this|option|plan|the (?:first|second|third|last|latter|former))\b)"
    r"|\blet.s use \S+(?: \S+)? (?:for|instead|everywhere|from)\b|\A(?:heads[- ]up|fyi|important|reminder|ps)[:,]"
    r"|\b\d+\S*(?: \w+)?,? not \d|\bfrom here on\b|\bwe(?:.re| are) (?:dropping|retiring|switching|standardi[sz]ing)\b"
    r"|\b(?:should|must|has to|have to|needs? to) (?:always |only |never )?(?:be|go|stay|live|use)\b[^.?]*"
    r"\b(?:everywhere|always|only|never|at all times|every time)\b",
    requests=r"\A(?:\w+[,.!] |(?:ok|okay|and|so|then) )?(?:please )?now,? "
    r"(?!(?:we|the|our|it|they|i|all|every|each|there|this|that|you)\b)|\bnow[.!]*\Z",
    passing=r"\b(?:for now|right now|not yet|just this once|for the moment|don.t worry|one more time)\b",
    acts=r"\b(?:we|i|you|they|he|she)"
    r"(?: (?:now|no longer|will|can|must|should|have|has|always|only|also|do|don't|not))* [a-z]+\b",
    places="in|of|at|for|on|to|from|with",
    unspecific="new old current former existing previous present whole entire same first usual",
    failed=r"\b(?:failed|fails|did(?: not|n['’]t) (?:work|help)|gave up|broke|crashed|went wrong|no luck"
    r"|without success|timed out|was rejected|rolled back|had to revert)\b",
    worked=r"\b(?:(?<!not )(?<!n['’]t )worked|works|succeeded|success(?:ful(?:ly)?)?|went (?:through|fine|well)"
    r"|all green|did the trick|solved)\b",
    history="used to|before|previous(?:ly)?|originally|in the past|back then|at first|formerly|history|earlier|old",
)
