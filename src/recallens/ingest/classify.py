"""Sector and kind by rule, where the writer names none. The first rule that matches decides.

Sector, in order:
1. reflective: a decision, a lesson or a principle, whatever else the text tells
2. emotional: a feeling is stated
3. procedural: steps, commands, how-to
4. episodic: something that happened at a time
5. semantic: everything else

Kind: the words of the text first (summary, gotcha, decision, preference, lesson, principle, pattern, how-to),
then the sector's own kind.
"""

from __future__ import annotations

import re
from typing import Final

from recallens.model.memory import Kind, Sector

# A text says what it is near its beginning; reading further would let one word in a long log decide.
HEAD: Final = 2_000


def _cues(pattern: str) -> re.Pattern[str]:
    # Matched against lower-cased text, since ignoring case in the pattern is several times slower.
    return re.compile(pattern, re.MULTILINE)


_DECISION: Final = _cues(
    r"\b(?:decid(?:e|ed|es|ing)|decision|agreed (?:to|on|that)|settled on|we chose|i chose|chose to"
    r"|opted (?:for|to)"
    r"|going with|went with|we(?:'ll| will) use|switch(?:ed|ing) (?:from|to)|ruled out)\b"
    r"|결정|채택|(?:하|쓰|사용하)기로\s?(?:했|함|합|정)|확정"
)
_GOTCHA: Final = _cues(
    r"\b(?:gotcha|caveat|pitfall|beware|be careful|careful(?:ly)? (?:with|of|not)|careful|watch out|warning"
    r"|don['’]t forget|make sure (?:not|never)|trap|foot-?gun|known issue|breaks? (?:if|when)"
    r"|fails? (?:if|when))\b"
    r"|주의|함정|조심|유의|경고"
)
_PREFERENCE: Final = _cues(
    r"\b(?:prefer(?:s|red|ence|ences)?|favou?rite|(?:i|user|he|she|they) (?:really )?(?:likes?|loves?"
    r"|hates?|dislikes?)"
    r"|would rather|my go-to)\b|선호|좋아하|좋아해|좋아함|싫어하|싫어해|취향"
)
_LESSON: Final = _cues(
    r"\b(?:lessons?(?: learned)?|learn(?:ed|t) that|in hindsight|takeaway|next time|should have|realis?z?ed"
    r"|retrospective|root cause was|mistake was)\b|교훈|배웠|깨달|회고|다음(?:에는|부터는)"
)
_PRINCIPLE: Final = _cues(
    r"\b(?:principle|rule of thumb|as a rule|best practices?)\b|^\s*(?:always|never)\b|원칙|규칙|방침"
    r"|모범 사례"
)
_PATTERN: Final = _cues(r"\b(?:pattern|recurring|every time|tends? to|whenever)\b|패턴|반복적|할 때마다|때마다")
_SUMMARY: Final = _cues(r"\A\s*(?:#+\s*)?(?:summary|tl;?dr|recap|session summary|요약|정리)\b")
_NOTE: Final = _cues(r"\A\s*(?:#+\s*)?(?:note|todo|fyi|memo|참고|메모)\b")

_STEPS: Final = _cues(
    r"\bhow to\b|\bsteps?(?: \d|:)|^\s*(?:step )?1[.)]\s"
    r"|\bto \w+(?: [\w./-]+){0,6}, (?:first )?(?:run|use|open|go|call|click"
    r"|set|add|install|create|execute|type|start|edit|copy|press|do)\b|\b(?:first|then"
    r"|finally),? (?:run|open|click|install"
    r"|execute|upload|restart|commit|push|copy|build|deploy)\b|^\s*(?:run|execute|install"
    r"|use) [`$]?[\w./-]+"
    r"|\brunbook\b|\binstructions?\b|\bprocedure\b|^\s*\$ \w"
    r"|방법|절차|순서|단계|(?:하|되)려면|실행하(?:세요|십시오|면|고)|설치하(?:세요|고|면)|(?:한|된"
    r"|한\s)?\s?다음(?:에)?\s.*(?:한다|하세요|합니다)"
)
_FEELING: Final = _cues(
    r"\b(?:i|we|he|she|they|user|team|\w+)(?:['’]m|['’]re|['’]s| am| is| are| was| were| feels?"
    r"| felt| seems?| seemed| got)"
    r" (?:\w+ ){0,2}(?:happy|sad|angry|frustrat(?:ed|ing)|excited|anxious|worried|afraid|upset|proud"
    r"|disappointed|annoyed"
    r"|thrilled|delighted|stressed|overwhelmed|grateful|nervous|scared|lonely|relieved|ashamed"
    r"|embarrassed|depressed)\b"
    r"|\bi (?:really )?(?:love|hate|enjoy)\b|\b(?:frustrating|heartbroken)\b"
    r"|기쁘|기뻤|기뻐|슬프|슬펐|화가\s?(?:나|났)|짜증|답답|불안|걱정|신나|신났|뿌듯|실망|속상|행복"
    r"|우울|스트레스|두렵|무서"
)
_EVENT: Final = _cues(
    r"\b(?:yesterday|today|tonight|this (?:morning|afternoon|evening|week)|last (?:night|week|month"
    r"|year|time|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday)|\w+ (?:minutes?|hours?|days?|weeks?|months?"
    r"|years?) ago"
    r"|earlier today|just now|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|at \d{1,2}(?::\d\d)? ?(?:am|pm))\b"
    r"|\b(?:i|we|he|she|they|user|team) (?:just )?(?:went|met|visited|fixed|deployed|merged|released"
    r"|attended|called|saw"
    r"|tried|found|debugged|shipped|finished|started|had|bought|moved|talked|discussed|ran)\b"
    r"|\b(?:incident|outage|meeting|happened|occurred)\b"
    r"|어제|오늘|그저께|지난\s?(?:주|달|해|번|월)|아까|방금|(?:일|주|달|개월|년|시간|분)\s?전(?:에"
    r"|부터)?|회의|장애가|발생했|만났|갔다|했었"
)

_SECTOR_RULES: Final = (
    (_DECISION, Sector.REFLECTIVE),
    (_LESSON, Sector.REFLECTIVE),
    (_PRINCIPLE, Sector.REFLECTIVE),
    (_FEELING, Sector.EMOTIONAL),
    (_STEPS, Sector.PROCEDURAL),
    (_EVENT, Sector.EPISODIC),
)

_KIND_RULES: Final = (
    (_SUMMARY, Kind.SUMMARY),
    (_NOTE, Kind.NOTE),
    (_GOTCHA, Kind.GOTCHA),
    (_DECISION, Kind.DECISION),
    (_PREFERENCE, Kind.PREFERENCE),
    (_LESSON, Kind.LESSON),
    (_PRINCIPLE, Kind.PRINCIPLE),
    (_STEPS, Kind.SKILL),
    (_PATTERN, Kind.PATTERN),
)

_KIND_OF_SECTOR: Final = {
    Sector.EPISODIC: Kind.EPISODE,
    Sector.SEMANTIC: Kind.FACT,
    Sector.PROCEDURAL: Kind.SKILL,
    Sector.EMOTIONAL: Kind.OBSERVATION,
    Sector.REFLECTIVE: Kind.LESSON,
}


def classify_sector(text: str) -> Sector:
    head = text[:HEAD].lower()
    for cues, sector in _SECTOR_RULES:
        if cues.search(head):
            return sector
    return Sector.SEMANTIC


def classify_kind(text: str, sector: Sector) -> Kind:
    head = text[:HEAD].lower()
    for cues, kind in _KIND_RULES:
        if cues.search(head):
            return kind
    return _KIND_OF_SECTOR[sector]
