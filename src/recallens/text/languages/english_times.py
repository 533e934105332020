"""How English speaks of times, and of what happened as a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from recallens.text.languages import pack
from recallens.text.languages.english_events import SAME_EVENTS, SAME_THINGS

MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_SHORT_MONTHS: Final = tuple(name[:3] for name in MONTH_NAMES)
_MONTHS: Final = {name: at % 12 + 1 for at, name in enumerate(MONTH_NAMES + _SHORT_MONTHS)} | {"sept": 9}
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS: Final = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_FEW: Final = 3
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "a couple of": 2, "couple of": 2, "few": _FEW,
    "a few": _FEW, "several": _FEW,
}  # fmt: skip


def _longest_first(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


ANY_MONTH: Final = _longest_first(_MONTHS)
LONG_MONTHS: Final = _longest_first(name for name in _MONTHS if len(name) > 3 and name != "march")  # not a verb too
ANY_WEEKDAY: Final = "|".join(WEEKDAYS)
_MONTH: Final = rf"(?P<month>{ANY_MONTH})\.?"
_WEEKDAY: Final = rf"(?P<weekday>{ANY_WEEKDAY})"
_SEASON: Final = r"(?P<season>" + "|".join(_SEASONS) + r")"
_COUNT: Final = r"(?P<count>\d{1,3}|" + _longest_first(_NUMBERS) + r")"
_UNIT: Final = r"(?P<unit>day|week|month|year)s?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
# The days of a month from the first up to and without the last; of a third that reaches its end, None.
_PARTS: Final = {
    **dict.fromkeys(("early", "start", "beginning"), (1, 11)), **dict.fromkeys(("mid", "middle"), (11, 21)),
    **dict.fromkeys(("late", "end"), (21, None)), "first half": (1, 16), "second half": (16, None),
}  # fmt: skip
_PART: Final = r"(?P<part>" + "|".join(_PARTS) + r")"
# The words of an event, up to where its clause ends; a stop within a number ends nothing. Since when is a question.
_EVENT: Final = (
    r"(?P<event>(?!(?:when|what time|which|how)\b)(?:[^,;?!.\n]|\.(?=\w)){3,80}?)"
    r"(?=[,;?!\n]|\.(?!\w)|$|\s(?:what|which|who|where|why|how|did|about|regarding|concerning)\b)"
)

TIMES: Final = pack.TimeWords(
    rules=(
        pack.TimeRule(
            rf"(?:between |from )(?:the )?{_DAY} (?:and|to|through|until|till) (?:the )?(?P<until>\d{{1,2}})"
            rf"(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? {_YEAR})?",
            "date",
        ),
        pack.TimeRule(
            rf"(?:on |the )*{_MONTH} {_DAY}(?: ?[-–] ?(?P<until>\d{{1,2}})(?!\d))?(?:,? {_YEAR})?"
            r"(?! ?(?:weeks|months|days))",
            "date",
        ),
        pack.TimeRule(rf"(?:on |the )*{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", "date"),
        pack.TimeRule(rf"on the {_DAY}(?= *(?:[?.!,]|$))", "date"),
        pack.TimeRule(rf"(?:in |at |during )?(?:the )?{_PART}[- ](?:of )?{_MONTH}(?:,? (?:of )?{_YEAR})?", "part"),
        pack.TimeRule(rf"(?:in |during )?(?:the )?(?P<half>first|second) half of {_YEAR}", "half"),
        pack.TimeRule(r"(?:in |during )?(?:the )?(?P<half>first|second) half of (?:the|this) year", "half"),
        pack.TimeRule(r"(?:in |during )?(?:the )?(?P<half>first|second) half of last year", "half", back=1),
        pack.TimeRule(rf"{_MONTH},? (?:of )?{_YEAR}", "month"),
        pack.TimeRule(r"the day before yesterday", "day", back=2),
        pack.TimeRule(r"yesterday|last night", "day", back=1),
        pack.TimeRule(r"today|tonight|this morning|this afternoon|this evening|earlier today|\w+ hours? ago", "day"),
        pack.TimeRule(rf"{_COUNT} {_UNIT} ago", "ago"),
        pack.TimeRule(
            rf"(?:over |in |during |within |for )?(?:the )?(?:past|last|previous|recent) {_COUNT} {_UNIT}", "past"
        ),
        pack.TimeRule(r"the (?P<unit>week|month|year) before last", "period", back=2),
        pack.TimeRule(r"(?:last|(?:over |on |at )?the(?: past| previous)?) weekend", "weekend", back=1),
        pack.TimeRule(r"this weekend", "weekend"),
        pack.TimeRule(rf"(?:on )?{_WEEKDAY},? (?:of )?(?P<week>last|this) week", "weekday"),
        pack.TimeRule(rf"(?P<week>last|this) week'?s? (?:on )?{_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"(?:in |at )?(?:the )?{_PART} (?:of )?last month", "part", back=1),
        pack.TimeRule(rf"(?:in |at )?(?:the )?{_PART} (?:of )?this month", "part"),
        pack.TimeRule(r"(?:last|the previous) (?P<unit>week|month|quarter|year)", "period", back=1),
        pack.TimeRule(r"this (?P<unit>week|month|quarter|year)", "period"),
        pack.TimeRule(r"(?:the past) (?P<unit>week|month|year)", "past"),
        pack.TimeRule(r"the other day", "past", count=7, vague=True),
        pack.TimeRule(rf"(?:last|this past|this|past) {_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"on {_WEEKDAY}", "weekday", any_such=True),
        pack.TimeRule(rf"{_WEEKDAY}(?=\W*$)", "weekday", any_such=True),
        pack.TimeRule(rf"(?:(?<=since )|(?<=until )|(?<=before )|(?<=after )){_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"(?:last|this|past) {_SEASON}(?:'s)?(?: of {_YEAR})?", "season"),
        pack.TimeRule(rf"(?:in |during )?(?:the )?{_SEASON} (?:of )?{_YEAR}", "season"),
        pack.TimeRule(rf"Q(?P<quarter>[1-4])(?:,? (?:of )?{_YEAR})?", "quarter"),
        pack.TimeRule(
            rf"(?:in |during )?(?:the )?(?P<quarter>{'|'.join(_QUARTERS)}) quarter(?: of (?:{_YEAR}|th(?:e|is) year))?",
            "quarter",
        ),
        pack.TimeRule(rf"(?:in |during |since |last |this |back in |early |late |mid[- ]){{1,3}}{_MONTH}", "month"),
        pack.TimeRule(
            rf"(?:(?<=before )|(?<=until )|(?<=after )|(?<=prior to )|(?<=between )|(?<=from )|(?<=by )){_MONTH}",
            "month",
        ),
        pack.TimeRule(rf"(?:(?<=and )|(?<=to )|(?<=of ))(?P<month>{LONG_MONTHS})", "month"),
        pack.TimeRule(rf"(?:in|during|since|back in|of) {_YEAR}", "year"),
        pack.TimeRule(r"recently|lately", "past", count=30, vague=True),
    ),
    around=(r"(?i:\b(?:", r")\b)"),
    sign=r"""
    ago|yesterday|today|tonight|last|this|past|previous|recent(?:ly)?|lately|before|q1|q2|q3|q4|weekend
    the other day|on the|first half|second half|first quarter|second quarter|third quarter|fourth quarter
    monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|fall|autumn|winter
    jan\w*|feb\w*|mar(?:ch)?|apr(?:il)?|may|jun|june|jul|july|aug(?:ust)?|sep\w*|oct(?:ober)?|nov\w*|dec(?:ember)?
    """,
    numbers=_NUMBERS,
    months=_MONTHS,
    weekdays=WEEKDAYS,
    seasons=_SEASONS,
    halves={"first": 1, "second": 7},
    quarters=_QUARTERS,
    since_before=r"\b(?:since|after|following)\s+(?:the\s+)?$",
    since_within=("since",),
    until_before=r"\b(?:before|until|prior to|by)\s+(?:the\s+)?$",
    parts=_PARTS,
    weeks={"last": 1, "this": 0},
    between=r"\b(?:between|from)\s+(?:the\s+)?$",
    joints=r",?\s+(?:and|to|until|till|through)\s+(?:the\s+)?",
    ranges=r"\s+(?:to|until|till|through)\s+(?:the\s+)?|\s?[-–~]\s?",
    event_sign="since|after|follow(?:ing|ed)|before|until|prior to|leading up to|ahead of|during|on the day",
    events=(
        pack.EventRule(rf"\b(?:the\s+)?(?:next\s+)?(?:day|morning)\s+after\s+{_EVENT}", 1, 2, ("after",)),
        pack.EventRule(rf"\b(?:(?:in|during)\s+)?(?:the\s+)?week\s+after\s+{_EVENT}", 0, 8, ("after",)),
        pack.EventRule(rf"\b(?:(?:in|during)\s+)?(?:the\s+)?month\s+after\s+{_EVENT}", 0, 32, ("after",)),
        pack.EventRule(rf"\b(?:the\s+)?day\s+before\s+{_EVENT}", -1, 0, ("before",)),
        pack.EventRule(rf"\b(?:(?:in|during)\s+)?(?:the\s+)?week\s+before\s+{_EVENT}", -7, 0, ("before",)),
        pack.EventRule(rf"\bon\s+the\s+day\s+(?:of|that|when)\s+{_EVENT}", 0, 1, ("day",)),
        pack.EventRule(
            r"\bduring\s+(?P<event>(?:the|our)\s+(?:[\w.-]+\s+){0,4}?(?:outages?|incident|storm|crash|downtime|migration"
            r"|release|launch|rollout|deploy(?:ment)?|inspection|audit|attack|strike|power cut|blackout))\b",
            0,
            1,
            ("during",),
        ),
        pack.EventRule(
            r"(?:\b(?:right|just|shortly|soon|ever)\s+)?\b(?<!named )(?<!look )(?<!looked )(?<!looking )(?<!called )"
            rf"(?:since|after(?!\s+all\b)|following the|followed(?=\s+(?:the|our)\b))\s+{_EVENT}",
            signs=("since", "after", "follow"),
        ),
        pack.EventRule(
            r"(?:\b(?:right|just|shortly)\s+)?\b(?:before(?!\s+long\b)|(?<!how long )until(?! when\b)|prior to"
            r"|leading up to|ahead of)"
            rf"\s+{_EVENT}",
            None,
            0,
            ("before", "until", "prior to", "leading up to", "ahead of"),
        ),
    ),
    present=r"\b(?:is|are|am|do|does|will|shall)\b",
    was=r"\b(?:did|was|were|had|went|broke|made|since|(?!planned|scheduled|closed|needed)\w+ed)\b",
    states=r"\b(?:what|which|where|who|whose|how)\b.*\b(?:was|were)\b(?! (?:decided|done|said|agreed|discussed|changed"
    r"|tried|learn\w+|found|made|built|fixed|shipped|released|happening|going|\w+ed)\b)"
    r"|\bhow (?:much|many|long|often|big|large|high)\b.*\b(?:did|was|were)\b"
    r"|\b(?:what|where|which|when)\b.*\bdid\b.*\b(?:costs?|run|stand|live|use|cover|hold|charge|close|open|last|keep|go)\b",
    changes=r"rais\w+|rises?|increas\w+|chang\w+|switch\w*|mov(?:e|ed|ing)|migrat\w+|replac\w+|upgrad\w+|cut",
    done=r"\w+(?:ed|ing)|found|made|took|came|gave|got|sent|fell|went|began|became|had",
    particles=r"up|down|away|back|along",
    same_events=SAME_EVENTS,
    same_things=SAME_THINGS,
    reports=r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bgets )\b\w{2,}ed\b(?<!need)(?<!speed)(?<!feed)(?<!limited)"
    r"|\b(?:was|were|had|went|took|died|left|got|broke|became|began|lost|found|made|gave|sent|came|fell|won|met|built"
    r"|cut|shut|quit|stole|hit|taken)\b",
    concludes=r"\b(?:finish\w*|complet\w+|ended|end of|pass(?:ed|ing)|approv\w+|got|receiv\w+|succe\w+|final\w*)\b",
    happenings=r"incidents?|outages?|accidents?|events?|problems?|issues?|failures?|cris[ie]s|troubles?",
    recounts=r"\bpost-?mortems?\b|\bretro(?:spective)?s?\b|\b(?:held|wrote|had) (?:the|a) review\b|\breviewed\b"
    r"|\blessons?\b|\bshould have\b",
    failed=r"\b(?:tried|attempted|failed|failure|rolled back|gave up|did not work|didn['’]t work|aborted|reverted)\b",
    past=r"\b(?:did|was|were|had|have|has|happened|went|new|changed|broke|made|done|\w+ed)\b",
    habit=r"\b(?:should|must|needs?|can|could|would|will|do (?:i|we|you)|does|how to|when to|always|usually|to do"
    r"|passed|how many (?:day|week|month|year|hour|minute)s?|how long (?:after|before|since|ago|until|has|have))\b",
    dates=(
        rf"\b{_DAY}\s+(?:of\s+)?(?P<month>(?:{ANY_MONTH})\.?),?\s+{_YEAR}\b",
        rf"\b(?P<month>(?:{ANY_MONTH})\.?)\s+(?:{_DAY},?\s+)?{_YEAR}\b",
    ),
)
