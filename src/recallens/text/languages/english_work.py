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
    rulings=r"\A(?:no|nope|actually|wrong(?: again)?|(?:that|this)(?:.s| is) (?:wrong|incorrect|not (?:right"
    r"|true)))[,:.!;-](?!\s?(?:thanks?|never ?mind|wait|hold|let me|please|can|could|would|go|problem|worries|idea"
    r"|i(?:.ll| will))\b)|\A(?!.*\b(?:fail\w*|broke\w*|crash\w*|weird|seems?|looks?|maybe|think|expects?|returns?"
    r"|prints?|shows?|gives?|got|outputs?|reports?|throws?)\b)[^.;]{3,80}, (?:not|never) (?:in |on |from |with "
    r"|through )?(?:the |an? )?[\w./-]+(?: \w+){0,2}(?=[.!,;]|\Z)|\b(?:isn.t|is not|aren.t"
    r"|are not) [^.,]{1,40} but (?!(?:it|i|we|the|that|this|also|they|you|still|when|if)\b)|\b(?:don.t|do not|never"
    r"|stop) us(?:e|ing)\b|(?<!n.t )\bstop \w+ing (?!(?:it|this|that|the|now|at|for)\b)|\bnever (?:edit|commit|push"
    r"|run|touch|change|write|call|deploy|merge|add|put|log|store|delete|import)\b|\b(?:don.t|do not) ever [a-z]+\b"
    r"|(?:\A|[,:;] |\b(?:please|must|should|and) )always (?!been\b|the\b)[a-z]+\b|\bi (?:told you"
    r"|(?:already )?said)\b|\bremember(?: that\b| to\b|:)|\bkeep in mind\b|\bfor the record\b|\A(?:you (?:misread"
    r"|misunderstood|got (?:me|that|it) wrong)|(?:that.s )?not what i (?:meant|said|asked))\b|\b(?:don.t|do not"
    r"|never) (?:touch|edit|modify|commit|push|log|store|mock|hard-?code|rename|import)(?! (?:it|this|that|these"
    r"|those|anything|now|just)\b)|\bunless i (?:say|tell|ask)\b|\b(?:don.t|do not"
    r"|never) [a-z]+ [^.]*\bwithout (?:asking|telling|checking with) me\b|\bleave [^.,]{2,60} alone\b"
    r"|\bnot how we (?:do|work)\b|\bnot a (?:big |huge )?fan of (?!(?:it|this|that)\b)|\bwe (?:ended up (?:choosing"
    r"|using|going|picking)|voted|picked) |\bwe (?:always |only |never |don.t |do not )?(?:do|use|write|deploy|keep"
    r"|store|support|ship|run|test|name|call|put|log|follow)\b[^.?]*(?:\b(?:here|everywhere|only|any ?more"
    r"|in this (?:repo|project|codebase))\b|, (?:never|no) \w)|\b(?:every|each) [\w-]+(?: [\w-]+)? (?:needs"
    r"|gets) an? |\Ano [\w-]+ (?:in|for|on|inside) [^.]*(?:, (?:use|only|just)|\b(?:please|allowed|ever))\b|\b(?:make"
    r"|be) sure(?: that)? (?:every|all|each|no|any|nothing)\b|\bno exceptions\b|\b(?:the|our|my) (?:rule|convention"
    r"|policy|standard)s? (?:here|is|are)\b|\A(?:all|every|each|no)\b[^.?]*\b(?:must|needs? to|has to|have to"
    r"|shall)\b|\bi (?:always |only )?want (?:all|every|each|any|no|our|my)\b|\bshould be [^,.;]{1,40}, (?:not"
    r"|you (?:set|wrote|put|used|made|have))\b|\bi (?:don.t|do not|never|always) (?:ever )?want (?!(?:to (?!see\b)"
    r"|you\b|it\b|this\b|that\b))|\A(?!.*\b(?:fail|break|crash|hang)\w*)[^.?]*\b(?!(?:is|was|has|does|this"
    r"|its)\b)[a-z]+s always (?!been\b|the\b)[a-z]+(?<!s)(?<!ed)\b|\b(?:nobody|no one|only [a-z]+s) (?:may|can|must"
    r"|should|(?:is|are) allowed)\b|\b(?:it|that).s settled\b|\A(?:please )?use (?!(?:the|this|that|it|an?"
    r"|your)\b)[^.,]{2,40} (?:in|for|on) (?!(?:this|that|it|now|the|me)\b)[a-z]|\blet.s (?:skip|avoid"
    r"|get rid of) (?!(?:it|this|that|to)\b)|\bwe(?:.re| are) (?:on|using) [^.,]{2,30} now\b|\blet.s not (?:use|add"
    r"|mock|rely|introduce|support|store|log|put|write|depend|mix)\b|\bwe(?:.ll| will|.re"
    r"| are) keep(?:ing)? (?!(?:an eye|you|it|that|this|in mind|\w+ing)\b)|\A(?:please |ok,? )?(?:scrap|ditch) \S+"
    r"|\blet.s use \S+(?: \S+)? (?:for|instead|everywhere|from)\b|\A(?:heads[- ]up|fyi|important|reminder|ps)[:,]"
    r"|\b\d+\S*(?: \w+)?,? not \d|\bfrom (?:here|now) on\b|\bgoing forward\b"
    rf"|\b(?:as of|starting|effective|beginning)(?: in| from| on)? (?:today|now|next|{_MONTH})\b"
    r"|\bwe (?:now|no longer)\b|\bwe(?:.ve| have)? (?:now |just )?(?:moved|changed|switched|migrated|replaced|raised"
    r"|lowered|reduced|increased|extended|shortened|bumped|dropped|retired|stopped)\b|\b(?:should|must|has to|have to"
    r"|needs? to) (?:always |only |never )?(?:be|go|stay|live|use)\b[^.?]*\b(?:everywhere|always|only|never"
    r"|at all times|every time)\b",
    choices=r"\b(?:let.s|we(?:.ll| will| should)) (?:just |all )?(?:go with|stick (?:to|with)|settle on|stay (?:on"
    r"|with)|standardi[sz]e on|keep using) (?!(?:it|that|this|option|plan|the (?:first|second|third|last|latter"
    r"|former))\b)|\bwe(?:.re| are) (?:sticking (?:to|with)|staying (?:on|with)|dropping|retiring|switching"
    r"|standardi[sz]ing)\b",
    rebuttals=r"\A(?:no|nope|wrong|(?:no, )?(?:that|this|it)(?:.s| is) (?:wrong|incorrect|not (?:right|true"
    r"|correct)))[.!]*\Z",
    reported=r"\baccording to\b|\bi (?:saw|heard|read) that\b|\b(?!(?:we|i|you|and|just|already|finally|then|have|has"
    r"|had|ve|also|recently|now|so|team|everyone|all|was|were|been|is|are|be|us|both|but|or|to|not|n.t|never|that"
    r"|which|as|once|since|after|what|legal|t|s)\b)[a-z]+ (?:switched (?:from|to)|went with|decided|agreed|chose"
    r"|opted|settled)\b|\b(?!(?:i|we|you|ve|already|just|also|once|have|had|never|as)\b)[\w.]+ (?:also "
    r"|once )?(?:said|wrote|stated|claimed)\b|\b(?:says|claims that|thinks|argues|complains|suggests|recommends"
    r"|insists|wants|prefers)\b|\bstates? that\b|\b(?:they|he|she)(?: (?:all|also|have|had|has|just"
    r"|really))? (?:decided|agreed|chose|went|switched|moved|dropped|prefers?|likes?|loves?|hates?|use|plan|told"
    r"|asked)\b|\b(?:old|previous|former|other|their|another) (?:team|company|job|project|place)\b|\btells (?:you|us"
    r"|me)\b|\b(?:is|are|was|were) planning\b",
    unsettled=r"\A(?:(?:so|and|but|ok|well|hmm+),? )?(?:(?:why|what|which|how|who|when|where)(?: one)? (?:do|does|did"
    r"|should|would|could|can|will|is|are|was|if)|(?:should|shall|would|could|can|is|are|will) (?:we|you|i|it|this"
    r"|that|there|they|the|he|she|anyone)|(?:do|does|did) (?:we|you|i|they|he|she|anyone|anybody)|suppose|supposing"
    r"|imagine|pretend|assume|hypothetically|maybe|perhaps|not sure|(?:please )?(?:show|tell|give|remind|list|explain"
    r"|describe|summari[sz]e|compare|find|print)|ha(?:ha)+h?|lol|lmao)\b|\bmaybe (?:we|i|you)\b|\b(?:we|you"
    r"|i) (?:might|could|may)\b(?! not\b)|\bif (?:only )?(?:we|i|you) (?:had |ever )?(?:decided|agreed|switched"
    r"|chosen?|went|dropped|used|moved)\b|\b(?:not|n.t|never|yet to|nobody|nothing)(?: (?:really|fully|quite|been|yet"
    r"|even))? (?:decided|agreed|settled|chosen)\b|\A(?!.*\bdecided\b).*\b(?:decide|deciding)\b|\bma(?:ke|kes"
    r"|king) \w+ decision\b|\bdecision on\b|\b(?:undecided|tbd|just this once|this one time|was rejected"
    r"|turned down)\b|\bi.m (?:considering|thinking)\b|\b(?:can|could) imagine\b|(?:,|\bi.m) not (?:really "
    r"|quite )?sure\b|\b(?:tests?|it|assertion|function|call|command|script|build) (?:expects?|returns?|prints?"
    r"|shows?|gives?|got|throws?)\b|\bi don.t know\b|\bpros and cons\b|\b(?:kidding|joking)\b|\bnot that (?:i|we)\b"
    r"|\b(?:no|any)(?: strong)? preferences?\b|n.t (?:really )?prefer\b|\bused to\b|\bi (?:really |just |do "
    r"|also )?(?:like|love) (?:it|this|that|these|those|the (?:idea|look|sound|way|new)|how|your|what)\b",
    requests=r"\A(?:please |can you )?(?:look|try)\b|\A(?:\w+[,.!] |(?:ok|okay|and|so"
    r"|then) )?(?:please )?now,? (?!(?:we|the|our|it|they|i|all|every|each|there|this|that|you)\b)|\bnow[.!]*\Z",
    passing=r"\b(?:for now|right now|yet|for the moment|don.t worry|one more time)\b",
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
