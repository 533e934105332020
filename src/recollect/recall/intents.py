"""What kind of answer a question wants, read from how it is put; and how abstract it is."""

from __future__ import annotations

import re
from typing import Final

from recollect.model.plan import Intent, Level

_PHRASES: Final[tuple[tuple[Intent, str], ...]] = (
    (
        Intent.KNOWN_ISSUES,
        r"\b(?:gotchas?|pitfalls?|known (?:issues?|problems?|bugs?)|caveats?|watch out|fails?|failing|failed|failures?|"
        r"broken|breaks?|crash(?:es|ed|ing)?|errors?|exceptions?|bugs?|flaky|wrong with|problems? with|issues? with|"
        r"regress(?:ion|ed)|workarounds?|troubleshoot\w*)\b"
        r"|주의할|주의점|주의사항|함정|오류|에러|버그|장애|실패|문제점|알려진 문제|안 되는|안되는|깨지",
    ),
    (
        Intent.HOW_TO_DO,
        r"\bhow (?:do|to|can|should|would|could) (?:i|we|you|one|it)?\b|\bhow to\b"
        r"|\b(?:steps?|runbook|guide|procedure|recipe|walk me through|best way to|instructions? for|set ?up)\b"
        r"|어떻게 (?:하|해|만들|설정|배포|처리|고치|추가|쓰|사용|구현|돌리|실행)|방법|하려면|절차|순서|따라 하기"
        r"|가이드",
    ),
    (
        Intent.CODE_STRUCTURE,
        r"\b(?:which|what) (?:file|module|class|function|method|package|component)s?\b"
        r"|\bwhere (?:is|are|does|do) .{0,60}\b(?:defined|implemented|declared|live|lives|called|handled|located)\b"
        r"|\b(?:defined|implemented|declared) (?:in|by|where)\b|\bcode structure\b|\bcall(?:s|ers?) of\b"
        r"|\bsignature of\b|[어무][느떤슨] (?:파일|함수|클래스|모듈)|어디[에서] (?:정의|구현)|코드 구조|정의된|구현된",
    ),
    (
        Intent.ENVIRONMENT,
        r"\b(?:environment|env var\w*|installed|running on|which version|what version|versions? of|current(?:ly)? "
        r"(?:set|config\w*|deployed|running|using|version|state|status)|configured|config(?:uration)?|settings?|"
        r"credentials?|ports?|hosts?|endpoint)\b"
        r"|환경|환경변수|버전|설정값|설정은|설정이|현재 (?:상태|설정|버전|구성)|포트|호스트|설치된",
    ),
    (
        Intent.WHAT_HAPPENED,
        r"\bwhat happened\b|\bwhen did\b|\bhistory of\b|\bchange ?log\b|\btimeline\b|\blast time\b"
        r"|\bwhat (?:did|have|has|was|were) .{1,60}(?:do|done|decide\w*|change\w*|discuss\w*|say|said|happen\w*)\b"
        r"|\bwho (?:did|decided|changed|said)\b"
        r"|무슨 일|언제|이력|변경 이력|했었|했나|결정했|바뀌었|지난번|경과",
    ),
)  # fmt: skip
_INTENTS: Final = tuple((intent, re.compile(phrase, re.IGNORECASE)) for intent, phrase in _PHRASES)

_PRINCIPLE: Final = re.compile(
    r"\b(?:why|principles?|philosophy|rationale|trade-?offs?|values?|strategy|should we|guidelines?|policy|policies|"
    r"reasons?|goals?)\b|왜|원칙|철학|이유|전략|정책|기준|목표|가치",
    re.IGNORECASE,
)
_IMPLEMENTATION: Final = re.compile(
    r"\b(?:code|function|method|class|command|flag|snippet|syntax|script|stack ?trace|regex|parameter|argument|"
    r"line \d+|config(?:uration)? (?:key|file)|sql|api call|import)\b|`[^`]+`|\w\(\)|\.\w{1,4}\b(?=\s|$)"
    r"|코드|함수|메서드|클래스|명령어?|스크립트|옵션|인자|문법|구현",
    re.IGNORECASE,
)


def intent_of(text: str) -> Intent | None:
    """The first that fits; most questions want no kind of answer in particular."""
    return next((intent for intent, phrase in _INTENTS if phrase.search(text)), None)


def level_of(text: str) -> Level:
    """A concept unless the text says otherwise; code outweighs a reason, for one asks why of code too."""
    if _IMPLEMENTATION.search(text):
        return Level.IMPLEMENTATION
    return Level.PRINCIPLE if _PRINCIPLE.search(text) else Level.CONCEPT
