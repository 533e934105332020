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
    corrections=r"\b(?:we now|(?:is|are|has|have|do|does) now"
    r"|now (?:use|run|live|go|take|happen|need|cost|have|last|expire|deploy|store|send|keep)\w*"
    r"|no longer|any ?more|any longer|instead of|in place of|rather than|in favou?r of"
    r"|switch(?:ed|es|ing)? (?:over )?(?:from|to|off)|(?:moved?|moving|migrated?) (?:over )?(?:from|to|off|away)"
    r"|replac(?:ed|es|ing)|changed (?:from|to|it|this|our|the)|has changed|used to|from now on|as of (?:today|now)"
    r"|going forward|stopped using|dropped|retired"
    r"|(?:raised|lowered|reduced|increased|extended|shortened|cut|bumped) (?:it )?(?:from|to)|correction|turned out)\b",
    replaced=(
        r"\b(?:instead of|in place of|rather than|stopped using|retired|away from|off) (?P<old>[^,.;:()]{2,60})",
        r"\bno longer (?P<old>[^,.;:()]{2,60})",
        r"\bused to (?P<old>[^,.;:()]{2,60})",
        r"\bfrom (?P<old>[^,.;:()]{1,40}?) to\b",
        r"\breplac(?:ed|es|ing) (?P<old>[^,.;:()]{2,40}?) (?:with|by)\b",
        r"\b(?:do|does|is|are)(?: not|n't) (?P<old>[^,.;:()]{2,40}?) any ?(?:more|longer)\b",
    ),
    history="used to|before|previous(?:ly)?|originally|in the past|back then|at first|formerly|history|earlier|old",
)
