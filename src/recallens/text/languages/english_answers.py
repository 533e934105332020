"""English: how a question asks for a time, a number, a person …, what each is called, and what a text says instead."""

from __future__ import annotations

from typing import Final

_NUMBERS: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|half|dozens?|hundreds?|thousands?|millions?|couple|few|several)"
)
_UNITS: Final = r"(?:seconds?|minutes?|mins?|hours?|days?|nights?|weeks?|weekends?|months?|quarters?|years?|decades?)"
_WEEKDAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTHS: Final = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_SEASONS: Final = "(?:spring|summer|autumn|fall|winter)"
_DAILY: Final = r"(?:(?:half-?)?(?:hour|dai|night|bi-?week|week|fortnight|month|quarter|year|annual)ly)"
_OFTEN: Final = (
    rf"(?:every|each|once|twice|thrice|times|per|{_DAILY}|{_WEEKDAY}s|weekdays|weekends|always|never|rarely|seldom"
    r"|sometimes|whenever|continuously|constantly|regularly|on demand|mornings|evenings|nights"
    r"|an? (?:second|minute|hour|day|week|month|quarter|year|decade))"
)
_ROLES: Final = (
    r"(?:team|squad|crew|department|staff|office|committee|board|company|agency|vendor|supplier|contractor|manager"
    r"|lead"
    r"|leader|head|chief|director|boss|owner|admins?|administrator|engineers?|developers?|designers?|analysts?"
    r"|operators?"
    r"|maintainers?|reviewers?|editors?|authors?|writers?|teachers?|students?|interns?|nurses?|vets?|doctors?"
    r"|pharmacists?"
    r"|clerks?|porters?|guards?|drivers?|couriers?|lawyers?|accountants?|secretar(?:y|ies)|assistants?|coaches|coach"
    r"|colleagues?|volunteers?|technicians?|caretakers?|janitors?|chefs?|cooks?|captain|mayor|president|ceo|cto|cfo"
    r"|everyone|everybody|nobody|anyone|mom|dad|friends?|sister|brother|wife|husband|mother|father|daughter|son|uncle"
    r"|aunt|on-call|somebody|someone)"
)
_NOT_BY: Final = r"(?!\w+ing\b|hand\b|default\b|e?mail\b|then\b|now\b|the (?:end|time|way)\b|\w+day\b|itself\b|law\b)"

ANSWER_TYPES: Final = {
    "age": r"how old|what age|what (?:is|was) [^\n]{1,40}\bage(?=\W*$)",
    "phone": r"""
    phone numbers?(?=\W*$| (?:of|for)\b)|telephone numbers?(?=\W*$| (?:of|for)\b)
    mobile numbers?(?=\W*$| (?:of|for)\b)|what number (?:do|should|can|must) (?:i|we|you) (?:call|ring|dial)
    """,
    "email": r"""
    email address(?=\W*$| (?:of|for)\b)|mail address(?=\W*$| (?:of|for)\b)
    what (?:is|was) [^\n]{0,40}\be-?mail(?=\W*$| (?:of|for)\b)
    """,
    "plate": r"licen[cs]e plates?(?=\W*$| (?:number|of|for)\b)|number plates?(?=\W*$| (?:of|for)\b)",
    "frequency": "how (?:often|frequently|regularly)|what (?:interval|frequency)|at what intervals?",
    "duration": "how long|for how long|how many (?:seconds|minutes|hours|days|weeks|months|years)",
    "version": "what @|which @|version (?:of|do|does|is)".replace("@", r"(?:[\w.+#-]+ ){0,3}(?:version|release)"),
    "date": r"""
    when (?:was|were|did)|what (?:time|date|day|month|year) (?:was|were|did)
    which (?:date|day|month|year) (?:was|were|did)
    """,
    "time": r"""
    when|what (?:time|date|day|month|year|week)|which (?:date|day|month|year|week)|how (?:recently|soon|early|late)
    since when|until when|by when
    """,
    "port": "which port|what port|what (?:is|was) the port",
    "name": r"what (?:is|was|are|were) the names? of|what (?:is|was|are|were) [^\n]{1,40} (?:called|named)",
    "price": r"""
    how (?:much|expensive) [^\n]{0,80}\b(?:cost|costs|pay|charge)|what (?:does|do|did) [^\n]{1,80}\b(?:cost|charge)
    what (?:is|was|are) the (?:price|cost|fee|salary|wage|rent)|how much (?:is|are) the [^\n]{0,40}\b(?:fee|rent|salary)
    """,
    "value": r"""
    what (?:is|was) [^\n]{0,40}\b(?:password|passcode|pin|code|url|ip address)(?=\W*$| (?:of|for)\b)
    """,
    "number": r"""
    how (?:many|much|big|large|tall|far|high|fast|heavy|deep|wide)|what (?:number|percentage|share|price|cost)
    what (?:is|was|are|were) the (?:number|price|cost|limit|size|total|amount|budget|rate)\b
    """,
    "person": r"who|whom|whose|which (?:person|team|colleague|friend|company|vendor)",
    "place": r"""
    where|which (?:city|country|place|town|region|room|street|floor)|what (?:city|country|place|town|region)
    """,
}

ANSWER_NAMES: Final = {
    "age": "an age",
    "phone": "a phone number",
    "email": "an email address",
    "plate": "a licence plate",
    "frequency": "how often",
    "duration": "how long",
    "version": "a version",
    "port": "a port",
    "name": "a name",
    "date": "a time",
    "time": "a time",
    "price": "a price",
    "value": "the value itself",
    "number": "a number",
    "person": "a person",
    "place": "a place",
}

# Words that say how the answer is to be measured.
ASKING: Final = (
    r"\bhow (?:big|large|tall|far|high|fast|deep|wide|heavy|old|soon|early|late)\b|\bwhat (?:time|date|kind|sort)\b"
    r"|\b(?:take|takes|took|taken|taking) place\b|\b(?:up|out|off|down|over|away)\b"
    r"|\bthe names? of\b"
)

_POINTS: Final = (
    r"\b(?:19|20)\d\d\b|\d{1,2}(?::\d\d| ?[ap]\.?m\b|(?:st|nd|rd|th)\b)|\d[-/.]\d{1,2}[-/.]\d|(?i:\b(?:at|by|around"
    r"|from|day) \d)"
    rf"|(?i:\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|weekends?|mornings?|afternoons?|evenings?"
    rf"|nights?"
    rf"|{_UNITS}|{_SEASONS}|recently|now|first|once|{_WEEKDAY}s?|{_MONTHS}|noon|midnight|midday|dawn|dusk|sunrise"
    rf"|sunset"
    r"|lunch|breakfast|dinner|easter|christmas|holidays?|before|after|during|while|until|till|when|upon|immediately"
    r"|as soon as|at the (?:end|start|beginning|same time)|by the end)\b)"
)

ANSWERS: Final = {
    "age": rf"(?i:\b(?:\d{{1,4}}|{_NUMBERS})(?: and a half)?[ -](?:years?|yrs?|(?:months?|weeks?|days?)[ -]old)\b"
    r"|\b(?:aged?|turn(?:s|ed|ing)?|is|was|be) \d{1,3}(?![.,:]?\d|\w|%| [a-z]+s\b)"
    r"|\b(?:born|birth|birthday)\b)|\b(?:1[89]|20)\d\d\b",
    "phone": r"(?<![\d-])(?!(?:19|20)\d\d-)\+?\(?\d[\d ()./-]{5,20}\d|(?i:\bext(?:ension|\.)? ?\d{2,5}\b)",
    "email": r"\w@[\w-]{1,64}\.\w",
    "plate": r"\b(?=[A-Z -]*\d)[A-Z]{1,3}[ -]?[A-Z0-9]{1,4}(?:[ -][A-Z0-9]{1,4})?\b",
    "frequency": rf"(?i:\b{_OFTEN}\b)|\d ?(?:x|times|hz)\b|after (?:each|every|any)",
    "duration": rf"(?i:\b(?:{_UNITS}|overnight|until|till|forever|indefinitely|permanently|immediately|instantly"
    rf"|at once"
    r"|all (?:day|night))\b)|\d ?(?:ms|[smhd]|min|sec|hrs?|yrs?)\b",
    "version": r"\d",
    "date": _POINTS,
    "time": rf"{_POINTS}|(?i:\b(?:{_OFTEN}|whenever|if)\b)",
    "price": r"[€$£¥₩]|(?i:\b(?:euros?|dollars?|pounds?|won|yen|cents?|eur|usd|krw|gbp|free|percent|nothing"
    r"|gratis)\b)|%",
    "value": r"\d|[\"'`“‘][^\"'`”’\s]+[\"'`”’]|\w[@._/:-]\w",
    "port": r"(?<![\w.-])\d{2,5}(?![\w.-]*\w)|:\d{2,5}\b",
    "name": r"(?i:\b(?:called|named?|names)\b)|[\"'`“‘]\w|(?<=[a-z,;:] )[A-Z][a-z]+",
    "number": rf"(?<![A-Za-z_])(?<![A-Za-z]-)\d|(?i:\b(?:{_NUMBERS}|first|second|third|fourth|fifth|sixth|seventh"
    rf"|eighth|ninth|tenth|quarters?|twice"
    r"|once|both|single|pair|double|triple|unlimited|free|none|no|nothing|all|zero)\b)",
    "person": r"(?<=[a-z,;:] )[A-Z][a-z]+\b|^[A-Z][a-z]+ (?:and [A-Z][a-z]+ )?(?:\w+(?:es|[^su]s|ed)|did|wrote|made"
    r"|will|has|was|is)\b"
    rf"|@\w|\b(?:I|[Ww]e|[Mm]y|[Oo]ur|us|[Hh]e|[Ss]he)\b|(?i:\b{_ROLES}\b)"
    rf"|(?i:\b(?:by|ask|call|ring|belongs to) (?:the |our |an? )?{_NOT_BY}[a-z]{{3,}})",
    "place": r"(?i:\b(?:in|at|from|to|near|under|inside|on|onto|into|behind|beside|between|above|below|beneath"
    r"|outside"
    r"|opposite|next to|around|through|via|over) (?:the |our |my |an? |each |its |their )?"
    rf"(?!(?:first|second|last|next|end|start|beginning|same|half|case|order|general|fact|time|least|most|all"
    rf"|{_WEEKDAY}s?"
    rf"|{_MONTHS}|{_SEASONS}|{_UNITS}|morning|evening|noon|midnight|be|do|get|make|use|it|that|this|them"
    rf"|which)\b)[a-z`/.])"
    r"|(?:^|[\s(\"'`])[~/]?[\w.-]+/\w|\w\.\w|\b(?:room|floor|building|street|shelf|cabinet|drawer|channel)\b",
}  # fmt: skip

# What happens again and again is no answer to when something was.
RECURRENT: Final = rf"(?i:\b(?:every|each|{_DAILY}|{_WEEKDAY}s)\b)"
# A sentence that goes on about the one before it.
GOES_ON: Final = r"(?i:(?:it|its|they|their|this|that|these|those|he|she|his|her|there|then|so|also|but|and|which)\b)"
