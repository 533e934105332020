"""How English speaks of times, and of what happened as a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from recallens.text.languages import pack

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
    "first week": (1, 8), "second week": (8, 15), "third week": (15, 22), "fourth week": (22, 29),
    "last week": (24, None),
}  # fmt: skip
_PART: Final = r"(?P<part>" + "|".join(_PARTS) + r")"
_ALSO: Final = r"(?P<also>\d{1,2})(?:st|nd|rd|th)?"
_AND: Final = r"(?: and | & |, )(?:the )?"
_WEEK_OF: Final = (
    r"(?:in |during |on |over |at )?(?:the )?week(?:end)? (?:of|commencing|beginning|starting)(?: on)?(?: the)?"
)
_NO_LENGTH: Final = r"(?<!\btimes )(?<!\bonce )(?<!\btwice )(?<!\bdone )(?<!ed )"  # done in two weeks
# The words of an event, up to where its clause ends; a stop within a number ends nothing. Since when is a question.
_EVENT: Final = (
    r"(?P<event>(?!(?:when|what time|which|how)\b)(?:[^,;?!.\n]|\.(?=\w)){3,80}?)"
    r"(?=[,;?!\n]|\.(?!\w)|$|\s(?:what|which|who|where|why|how|did|about|regarding|concerning)\b)"
)

# The sorts of events and of things: words that stand for one another where somebody tells what happened.
SAME_EVENTS: Final = {
    # what befalls people
    "birth": r"born|births?|newborn|gave birth|had (?:a|her|their) baby",
    "marriage": r"weddings?|marr(?:y|ied|iage)|got engaged",
    "injury": r"injur\w+|hurt|fractur\w+|sprain\w*|broke (?:his|her|my|an?) (?:arm|leg|wrist|ankle|foot|hip)"
    r"|fell (?:off|down|from)",
    "illness": r"ill|illness|sick\w*|flu|infect\w+|outbreaks?|diseases?|fever|virus|poisoning|diagnos\w+|allerg\w+",
    "death": r"died|deaths?|passed away|funeral|killed",
    "treatment": r"surger(?:y|ies)|operated on|hospital\w*|operation on",
    # who comes, goes and leads
    "departure": r"resign\w*|retir\w*|quit|departure|left|farewell|handed in (?:his|her|their) notice"
    r"|stepp(?:ed|ing) down|last day (?:with|at)",
    "arrival": r"join(?:s|ed|ing)?|hir(?:e|ed|ing)|arriv\w+|(?:started|began) as|came on board"
    r"|took (?:over|command)|onboard\w*",
    "appointment": r"promot(?:ed|ion)|appoint\w+|elected|election|became|took (?:over|charge|command)|succeeded"
    r"|started as",
    "dismissal": r"fired|laid off|layoffs?|dismiss\w+|sacked|let go",
    "leave": r"on leave|leave of absence|(?:maternity|parental|sick) leave|sabbatical",
    "adoption": r"adopt\w+|brought home|took in|got (?:a|our) (?:cat|dog|puppy|kitten)",
    # what people do together
    "celebration": r"part(?:y|ies)|celebrat\w+|anniversar\w+|birthdays?|ceremon\w+|festivals?|fairs?",
    "meeting": r"meetings?|met|conferences?|workshops?|kick-?off",
    "performance": r"concerts?|lectures?|perform\w+|exhibitions?|recitals?|gave a (?:talk|reading)|read from",
    "travel": r"trips?|travel\w*|journeys?|excursions?|tours?|came (?:home|back) from|returned from|back from"
    r"|vacation|flew to",
    "contract": r"contracts?|agreements?|deals?|sign(?:ed|ing)|partnership",
    "cancellation": r"cancel\w*|called off|terminat\w+|revok\w+|withdr[ae]w\w*",
    "delay": r"delay\w*|postpon\w+|put off|pushed back",
    "dispute": r"sued|lawsuits?|court|disputes?|fined|penalt(?:y|ies)",
    "strike": r"strikes?|walkouts?|protest\w*",
    "notice": r"notif\w+|notices?|announc\w+|inform(?:ed|ing)|told us|let us know|received word",
    "complaint": r"complain\w*|grievances?",
    # what becomes of a business and its money
    "funding": r"fund-?rais\w+|donat\w+|donors?|grants?|invest(?:ed|ment|ors?)|raised",
    "bankruptcy": r"bankrupt\w*|insolv\w+|folded|went under|out of business",
    "merger": r"merg\w+|takeover|acqui(?:red|sition)|bought (?:up|out)",
    "rise": r"rais(?:e|ed|ing)|rises?|rose|increas\w+|hikes?|went up|higher",
    "fall": r"lower\w*|reduc\w+|discount\w*|dropped|went down in price",
    "purchase": r"bought|purchas\w+|acquir\w+|ordered",
    "sale": r"sold|sales?|selling",
    # what starts, ends and changes
    "launch": r"launch\w*|releas\w*|w[eo]nt live|go(?:es|ing)?[- ]live|live since|open(?:s|ed|ing)?|came out"
    r"|roll(?:ed|ing)?[- ]?out|introduc\w+|shipp(?:ed|ing)|publish\w*|deploy\w*|installed|became available"
    r"|(?:in the hands of|available to) \w+|welcomed (?:its|our|the) first",
    "closing": r"shut ?-?down|shut (?:us|it|them) down|retir\w*|decommission\w*|sunset|discontinu\w+|turned off"
    r"|switched off|abolish\w*|closed|closure|removed|removal",
    "move": r"mov(?:e|ed|ing)|migrat\w+|relocat\w+|cut-?over|switch(?:ed|ing|-?over)|transfer\w*|ported|taken from",
    "division": r"split(?:ting)?(?: up)?|br[eo]a?k(?:ing|en|e)? (?:it )?up|divid\w+|separat\w+|took apart|carved out",
    "replacement": r"replac\w+|swapp?\w*|exchang\w+",
    "rollback": r"roll(?:ed|ing)?[- ]?back|revert\w*|undid|undone",
    "repair": r"repair\w*|mend(?:ed|ing)|renovat\w+|refurbish\w*|overhaul\w*",
    "rejection": r"reject\w*|refus\w+|turned (?:us |it |\w+ )?down|declin\w+|den(?:ied|ial)"
    r"|sent (?:\w+ ){0,3}back|vetoed",
    "approval": r"approv\w+|pass(?:ed|ing)|accepted|granted|certif\w+|awarded",
    "audit": r"audit\w*|inspect\w*|assess\w+|visit(?:s|ed)?|examin\w+|checked on|rated|graded|evaluat\w+"
    r"|looked (?:over|around)",
    # what goes wrong
    "theft": r"thefts?|st[oe]al\w*|stole\w*|robb\w+|burgl\w+|break-?in|broke into",
    "flood": r"flood\w*|under water|inundat\w+|water (?:ran|came|poured|got|damage)|burst|soak\w+",
    "leak": r"leak\w*|expos(?:ed|ure)|disclos\w+|dripp\w*",
    "fire": r"fires?|burn(?:ed|t)|blaze|caught fire",
    "collision": r"collisions?|collid\w+|ran into|drove into|hit",
    "collapse": r"collaps\w+|caved in|gave way|fell down|toppl\w+|buckl\w+",
    "breakdown": r"break-?down|breaks?|broken?|snapp\w+|fail(?:ed|ures?)|gave (?:out|up)|stopped|died|crash\w*",
    "power": r"black-?outs?|power (?:cut|failure|outage)s?|(?:had no|lost|without) power",
    "outage": r"outages?|failures?|crash\w*|unreachable|unavailable|offline|downtime"
    r"|had no network|(?:was|were|went) down|(?:could|did) not (?:log ?in|connect|be reached|open)"
    r"|no(?:body| one) could (?:log ?in|connect|reach|open)",
    "fault": r"bugs?|errors?|glitch\w*|defects?|faults?|faulty|wrong(?:ly)?",
    "attack": r"attack\w*|hack\w*|ransomware|ddos|breach\w*|intrusion|intruders?|malware|phish\w*|got into|broke into"
    r"|security holes?|vulnerabilit\w+|penetration test\w*|pen-?tests?",
    "loss": r"lost|loss(?:es)?|losing|vanish\w*|disappear\w*|wiped|gone",
    "disposal": r"threw|thrown|discard\w*|dispos\w+|scrapp\w+|destroyed",
    "weather": r"storm\w*|typhoon|hurricane|snow\w*|hail\w*|heat ?wave",
}  # fmt: skip

SAME_THINGS: Final = {
    "office": r"offices?|studio|workplace|headquarters|hq|premises",
    "data centre": r"data ?-?cent(?:er|re)s?|coloc\w*|colo|server rooms?|racks?|hosting",
    "database": r"databases?|db|postgres\w*|mysql|oracle|mongo\w*|sqlite",
    "system": r"systems?|programs?|programmes?|software|computers?|it",
    "online": r"online|web ?sites?|internet|web ?shop|web",
    "demo": r"demos?|trial versions?|preview",
    "app store": r"app ?stores?|apple|google play|play store|app review",
    "saved data": r"sav(?:es?|ed games?)|saved (?:data|files?)|user data",
    "authority": r"authorit(?:y|ies)|regulators?|regulator's|inspectors?|supervisor\w*|commissioner|county"
    r"|council|ministry",
    "request": r"proposals?|requests?|applications?|bids?|submissions?",
    "site": r"web ?sites?|sites?|home ?pages?|portal|dashboards?",
    "staff": r"staff|employees?|colleagues?|engineers?|developers?",
    "customer": r"customers?|clients?|users?|guests?|patients?|passengers?",
    "supplier": r"suppliers?|vendors?|providers?|contractors?|sold us",
    "warehouse": r"warehouses?|depots?|stock ?rooms?|storage hall",
    "shop": r"shops?|stores?|branch(?:es)?|outlets?",
    "child": r"child(?:ren)?|kids?|sons?|daughters?|youngest|toddler|baby",
}  # fmt: skip

TIMES: Final = pack.TimeWords(
    rules=(
        pack.TimeRule(
            rf"(?:between |from )(?:the )?{_DAY} (?:and|to|through|until|till) (?:the )?(?P<until>\d{{1,2}})"
            rf"(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? {_YEAR})?",
            "date",
        ),
        pack.TimeRule(
            rf"{_WEEK_OF} {_DAY}"
            rf"(?: (?:of )?{_MONTH}(?:,? {_YEAR})?)?",
            "week",
        ),
        pack.TimeRule(
            rf"{_WEEK_OF} {_MONTH} {_DAY}"
            rf"(?:,? {_YEAR})?",
            "week",
        ),
        pack.TimeRule(
            rf"(?:on |the |from )*{_DAY}(?: ?[-–—~] ?| (?:to|through|until|till) )(?:the )?(?P<until>\d{{1,2}})"
            rf"(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? {_YEAR})?",
            "date",
        ),
        pack.TimeRule(rf"(?:on |the )*{_DAY}{_AND}{_ALSO} (?:of )?{_MONTH}(?:,? {_YEAR})?", "date"),
        pack.TimeRule(rf"(?:on |the )*{_MONTH} {_DAY}{_AND}{_ALSO}(?! ?(?:weeks|months|days))(?:,? {_YEAR})?", "date"),
        pack.TimeRule(rf"(?:on |the )*{_DAY} (?:of )?{_MONTH} (?:of )?last year", "date", back=1),
        pack.TimeRule(rf"(?:on |the )*{_DAY} (?:of )?{_MONTH} (?:of )?next year", "date", back=-1),
        pack.TimeRule(
            rf"(?:on |the )*{_MONTH} {_DAY}(?: ?[-–] ?(?P<until>\d{{1,2}})(?!\d))?(?:,? {_YEAR})?"
            r"(?! ?(?:weeks|months|days))",
            "date",
        ),
        pack.TimeRule(rf"(?:on |the )*{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", "date"),
        pack.TimeRule(rf"on the {_DAY}{_AND}{_ALSO}(?= *(?:[?.!,]|$))", "date"),
        pack.TimeRule(rf"on the {_DAY}(?= *(?:[?.!,]|$))", "date"),
        pack.TimeRule(rf"(?:in |at |during )?(?:the )?{_PART}[- ](?:of )?{_MONTH}(?:,? (?:of )?{_YEAR})?", "part"),
        pack.TimeRule(rf"(?:in |during )?(?:the )?(?P<half>first|second) half of {_YEAR}", "half"),
        pack.TimeRule(r"(?:in |during )?(?:the )?(?P<half>first|second) half of (?:the|this) year", "half"),
        pack.TimeRule(r"(?:in |during )?(?:the )?(?P<half>first|second) half of last year", "half", back=1),
        pack.TimeRule(rf"{_MONTH},? (?:of )?{_YEAR}", "month"),
        pack.TimeRule(rf"{_MONTH} (?:of )?last year", "month", back=1),
        pack.TimeRule(rf"{_MONTH} (?:of )?next year", "month", back=-1),
        pack.TimeRule(r"the day after tomorrow", "day", back=-2),
        pack.TimeRule(r"tomorrow", "day", back=-1),
        pack.TimeRule(r"the day before yesterday", "day", back=2),
        pack.TimeRule(r"yesterday|last night", "day", back=1),
        pack.TimeRule(r"today|tonight|this morning|this afternoon|this evening|earlier today|\w+ hours? ago", "day"),
        pack.TimeRule(rf"{_COUNT} {_UNIT} ago", "ago"),
        pack.TimeRule(
            rf"(?:over |in |during |within |for )?(?:the )?(?:past|last|previous|recent) {_COUNT} {_UNIT}", "past"
        ),
        pack.TimeRule(rf"(?:over |in |during |within |for )?(?:the )?(?:next|coming) {_COUNT} {_UNIT}", "coming"),
        pack.TimeRule(rf"{_COUNT} {_UNIT} from (?:now|today)", "ahead"),
        pack.TimeRule(rf"{_NO_LENGTH}in (?!an? ){_COUNT} {_UNIT}(?:['’]? time)?(?! (?:of|ago|old)\b)", "ahead"),
        pack.TimeRule(r"the (?P<unit>week|month|year) before last", "period", back=2),
        pack.TimeRule(r"the (?P<unit>week|month|year) after next", "period", back=-2),
        pack.TimeRule(r"(?<!\bthe )next weekend", "weekend", back=-1),
        pack.TimeRule(r"(?:last|(?:over |on |at )?the(?: past| previous)?) weekend", "weekend", back=1),
        pack.TimeRule(r"this weekend", "weekend"),
        pack.TimeRule(rf"(?:on )?{_WEEKDAY},? (?:of )?(?P<week>last|this|next) week", "weekday"),
        pack.TimeRule(rf"(?P<week>last|this|next) week'?s? (?:on )?{_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"(?:in |at )?(?:the )?{_PART} (?:of )?last month", "part", back=1),
        pack.TimeRule(rf"(?:in |at )?(?:the )?{_PART} (?:of )?this month", "part"),
        pack.TimeRule(rf"(?:in |at )?(?:the )?{_PART} (?:of )?next month", "part", back=-1),
        pack.TimeRule(r"(?:(?<!\bthe )next|the coming) (?P<unit>week|month|quarter|year)", "period", back=-1),
        pack.TimeRule(r"(?:last|the previous) (?P<unit>week|month|quarter|year)", "period", back=1),
        pack.TimeRule(r"this (?P<unit>week|month|quarter|year)", "period"),
        pack.TimeRule(r"(?:the past) (?P<unit>week|month|year)", "past"),
        pack.TimeRule(r"the other day", "past", count=7, vague=True),
        pack.TimeRule(rf"(?:on )?(?:this )?coming {_WEEKDAY}", "weekday", back=-1),
        pack.TimeRule(rf"(?:on )?(?P<week>this|next) {_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"(?:last|this past|past) {_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"on {_WEEKDAY}(?! (?:morning|afternoon|evening|night)s)", "weekday", any_such=True),
        pack.TimeRule(rf"{_WEEKDAY}(?=\W*$)", "weekday", any_such=True),
        pack.TimeRule(rf"(?:(?<=since )|(?<=until )|(?<=before )|(?<=after )){_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"(?:last|past) {_SEASON}(?:'s)?(?: of {_YEAR})?", "season"),
        pack.TimeRule(rf"this {_SEASON}(?:'s)?", "this season"),
        pack.TimeRule(rf"(?:(?<!\bthe )next|(?:the|this) coming) {_SEASON}(?:'s)?", "next season"),
        pack.TimeRule(rf"(?:in |during )?(?:the )?{_SEASON} (?:of )?{_YEAR}", "season"),
        pack.TimeRule(rf"Q(?P<quarter>[1-4])(?:,? (?:of )?{_YEAR})?", "quarter"),
        pack.TimeRule(
            rf"(?:in |during )?(?:the )?(?P<quarter>{'|'.join(_QUARTERS)}) quarter(?: of (?:{_YEAR}|th(?:e|is) year))?",
            "quarter",
        ),
        pack.TimeRule(
            rf"(?:in |during |since |last |this |next |back in |early |late |mid[- ]){{1,3}}{_MONTH}", "month"
        ),
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
    ago|yesterday|today|tonight|tomorrow|next|coming|in \w+|from now|from today
    last|this|past|previous|recent(?:ly)?|lately|before|q1|q2|q3|q4|weekend
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
    weeks={"last": 1, "this": 0, "next": -1},
    between=r"\b(?:between|from)\s+(?:the\s+)?$",
    joints=r",?\s+(?:and|to|until|till|through)\s+(?:the\s+)?",
    both=r"\s(?:and|&)\s(?:on\s)?(?:the\s)?|,\s",
    ranges=r"\s+(?:to|until|till|through)\s+(?:the\s+)?|\s?[-–~]\s?",
    clause_end=r"\s(?:but|so|because|while|which|who|and (?=(?:i|it|he|she|we|they|the|that|this)\b))\s?",
    ahead=r"\b(?:will|won['’]t|shall|going to|due|upcoming|planned|scheduled|booked|reserved|expected|deadline|must"
    r"|needs? to|let['’]s|plan(?:s|ning)? (?:to|for)|(?:is|are) (?:to|coming))\b|['’]ll\b"
    rf"|\b(?:next|coming) (?:{ANY_MONTH})\b",
    toward=r"\b(?:to|for|until|till|by) (?:the )?(?:\w+ week (?:of|in) |\d{1,2}(?:st|nd|rd|th)? (?:of )?)?"
    rf"(?:{ANY_MONTH})\b",
    behind=rf"\b(?:last|since|back in) (?:{ANY_MONTH})\b"
    r"|^(?!.*\b(?:is|are|am|does|do|comes?|begins?|starts?)\b).*(?<!\bbe )\b"
    r"(?:\w{2,}ed(?<!need)(?<!speed)(?<!feed)|was|were|had|did|went|took|died|left|got|broke|became|began|lost|found"
    r"|made|gave|sent|came|fell|won|met|built|quit|stole|held|ran|said|told|saw|bought|sold|wrote|brought)\b",
    this_year=r"\bthis year\b",
    yearly=r"\b(?:(?:every|each|a|per) year|every (?:\w+ )?(?:"
    + ANY_MONTH
    + r"|spring|summer|fall|autumn|winter)|yearly"
    r"|annually|usually|always|normally)\b"
    r"|^(?!.*\b(?:we|i|was|were|had|did|will)\b).*"
    rf"(?<!between )\b(?:{ANY_MONTH}),? (?:and|or) (?:in )?(?:{ANY_MONTH})\b",
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
    no_event=rf"^(?:(?:about|only|half|{_longest_first(_NUMBERS)}|\d+)\s)+(?:second|minute|hour|day|week|month|year)s?\b"
    r"|^(?:each|every|any|anything|everything|(?:it|they) (?:is|are|gets?)|an?(?= [\w-]+$))\b|^\w+ed$",
    asks=r"\b(?:what|which|who|whose|where|why|how|any\w*|everything|all|list|show|tell|give|summari[sz]e|recap)\b"
    r"|^\W*(?:(?:the|our|new|known|other) )*\w+s\b",
    present=r"\b(?:is|are|am|do|does|will|shall)\b",
    was=r"\b(?:did|was|were|had|went|broke|made|since|(?!planned|scheduled|closed|needed)\w+ed)\b",
    states=r"\b(?:what|which|where|who|whose|how)\b.*\b(?:was|were)\b(?! (?:decided|done|said|agreed|discussed|changed"
    r"|tried|learn\w+|found|made|built|fixed|shipped|released|happening|going|\w+ed)\b)"
    r"|\bhow (?:much|many|long|often|big|large|high)\b.*\b(?:did|was|were)\b"
    r"|\b(?:what|where|which|when)\b.*\bdid\b.*\b(?:costs?|run|stand|live|use|cover|hold|charge|close|open|keep|go"
    rf"|last(?! (?:night|weekend|week|month|quarter|year|spring|summer|fall|autumn|winter|{ANY_WEEKDAY}|{ANY_MONTH}|\d"
    r"|few|couple)))\b",
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
    plans=r"\b(?:plans?|planned|planning|preparations?|preparing for|agenda|minutes of|will|going to)\b",
    past=r"\b(?:did|was|were|had|have|has|happened|went|new|changed|broke|made|done|\w+ed)\b",
    standing=r"\b(?:is|are|gets?)\b",
    habit=r"\b(?:should|must|needs?|can|could|would|will|do (?:i|we|you)|does|how to|when to|always|usually|to do"
    r"|passed|how many (?:day|week|month|year|hour|minute)s?|how long (?:after|before|since|ago|until|has|have)"
    r"|prepar\w+|packing)\b",
    dates=(
        rf"\b{_DAY}\s+(?:of\s+)?(?P<month>(?:{ANY_MONTH})\.?),?\s+{_YEAR}\b",
        rf"\b(?P<month>(?:{ANY_MONTH})\.?)\s+(?:{_DAY},?\s+)?{_YEAR}\b",
    ),
)
