"""How an English note speaks of its own life."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack

_REPLACED: Final = r"superseded|replaced|supplanted|succeeded|obsoleted|overridden"
_TEXTS: Final = (
    "note|memo|document|doc|page|adr|rfc|decision|record|runbook|guide|policy|proposal|section|article|spec|specification"
    "|file|version"
)
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
NOTES: Final = pack.NoteWords(
    subject=rf"(?:this|the) (?:{_TEXTS})(?: (?:is|was|has been|have been))?(?: (?:now|since|currently))?"
    r"|(?:it|this) (?:is|was|has been)(?: now)?|has been|is now|now"
    r"|(?:note|warning|caution|important|update|attention|notice|deprecation notice) ?[:!]",
    itself=rf"this (?:{_TEXTS})",
    status_label="status|state",
    date_label="date|created",
    ended=rf"(?:{_REPLACED}|deprecated|obsolete|outdated|out of date|retired|withdrawn|archived|expired|revoked"
    r"|no longer (?:valid|current|true|used|in use|in force|in effect|maintained|applies|applicable|recommended))",
    draft=r"(?:draft|drafted|proposed|proposal|wip|work in progress|in review|under review|in draft|pending(?: review)?"
    r"|unreviewed|tentative|under discussion|rfc)",
    rejected=r"(?:rejected|declined|abandoned|cancell?ed|not accepted|turned down|won['’]t do)",
    replaced_by=rf"(?:(?:deprecated|obsolete|retired|withdrawn|archived|outdated)(?: and|,)? )?"
    rf"(?:(?:{_REPLACED}) (?:by|with)|in favou?r of|merged into|folded into|moved to)"
    r"|(?:deprecated|obsolete|retired|withdrawn|archived|outdated)[^\w\uffff]+(?:please )?use",
    joined_by="and",
    instead=r"\b(?:use|now) (?:the )?\uffff|\uffff (?:instead|now)|^\W*see (?:also )?\uffff\W*$",
    leads=r"(?:please )?(?:see|use|read|refer to|go to|now|moved to|replaced by|superseded by|in favou?r of)?(?: also)?"
    rf"(?: ?the| ?our)?(?: ?new| ?newer| ?current| ?updated| ?later)?(?: ?(?:{_TEXTS}))?",
    moment=rf"(?:(?:effective|since|as of|on|from|in)(?: the)? )?(?:{_DAY}(?: of)? {_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH}(?: {_DAY}\b)?(?:,? \d{{4}})?|\d{{4}}(?:[-./]\d{{1,2}}){{0,2}}|(?:v|version |release )\d[\d.]*"
    r"|q[1-4](?: \d{4})?)",
    goes_on=r"(?:do not|don['’]t|please|use|see|this|these|it|because|as|since|which|kept|retained|left|only|no longer"
    r"|for (?:history|the record|reference)|(?:everything|nothing) (?:below|here)|superseded|replaced)\b",
    of_texts=r"superseded|deprecated|obsolete|outdated|out of date|no longer (?!used|in use)",
    recurs=r"\b(?:every|each|daily|nightly|weekly|monthly|yearly|annually|hourly|once|twice|times|whenever|when|if"
    r"|while|during|demand|none|nothing|nobody|hand|events)\b",
    records=r"adr|rfc|rfd|dr|pep|kep|decision|record|proposal|policy|note|document|doc",
    traces="supersed|replac|supplant|succe|obsolet|overrid|deprecat|outdated|out of date|retired|withdrawn|archived"
    "|expired|revoked|no longer|favo|merged|folded|moved|draft|propos|wip|progress|review|pending|tentative"
    "|discussion|rfc|reject|declin|abandon|cancel|accepted|turned down|won",
    replaces=r"(?:supersedes|replaces|obsoletes|supplants|successor (?:to|of))",
    fields={
        "status": ("state",),
        "superseded_by": ("replaced_by", "obsoleted_by", "successor", "deprecated_by", "in_favour_of", "in_favor_of"),
        "supersedes": ("replaces", "obsoletes", "predecessor"),
        "ended_on": ("superseded_on", "superseded_at", "deprecated_on", "deprecated_at", "replaced_on", "retired_on"),
        "valid_from": ("effective_from", "effective_date", "effective"),
        "valid_until": ("valid_to", "valid_till", "expires", "expires_on", "expiry", "effective_until"),
        "updated": ("updated_at", "modified", "last_modified", "last_updated", "lastmod"),
        "importance": (),
        "reinforcement_count": ("confirmations",),
        "scope": ("visibility",),
        "scopes": ("context_scopes",),
        "aliases": ("alias",),
    },
    relations={
        "RELATED_TO": ("relatesto", "related", "relatedto", "seealso"),
        "DEPENDS_ON": ("dependson", "requires", "needs"),
        "BUILDS_ON": ("buildson", "extends", "basedon", "refines", "partof", "implements"),
        "CONTRADICTS": ("contradicts", "conflictswith", "disputes"),
        "CONFIRMS": ("confirms", "supports", "verifies"),
        "APPLIES_TO": ("appliesto",),
        "ALTERNATIVE_TO": ("alternativeto", "alternative"),
        "CAUSED": ("caused", "causes", "ledto", "leadsto"),
    },
    shares={"critical": 1.0, "very high": 0.95, "high": 0.9, "medium": 0.5, "normal": 0.5, "low": 0.2, "very low": 0.1},
)
