"""What kind of answer a question wants, read from how it is put; and how abstract it is."""

from __future__ import annotations

from typing import Final

from recallens.model.plan import Intent, Level
from recallens.text.phrases import Phrases

_INTENTS: Final = (
    (
        Intent.KNOWN_ISSUES,
        Phrases(
            r"""
            gotchas?|pitfalls?|known (?:issues?|problems?|bugs?)|caveats?|watch out|fails?|failing|failed|failures?
            broken|breaks?|crash(?:es|ed|ing)?|errors?|exceptions?|bugs?|flaky|wrong with|problems? with|issues? with
            regress(?:ion|ed)|workarounds?|troubleshoot\w*
            """,
            r"주의할|주의점|주의사항|함정|오류|에러|버그|장애|실패|문제점|알려진 문제|안 되는|안되는|깨지",
        ),
    ),
    (
        Intent.HOW_TO_DO,
        Phrases(
            r"""
            how (?:do|to|can|should|would|could) (?:i|we|you|one|it)?|how to
            steps?|runbook|guide|procedure|recipe|walk me through|best way to|instructions? for|set ?up
            """,
            r"어떻게 (?:하|해|만들|설정|배포|처리|고치|추가|쓰|사용|구현|돌리|실행)|방법|하려면|절차|순서"
            r"|따라 하기|가이드",
        ),
    ),
    (
        Intent.CODE_STRUCTURE,
        Phrases(
            r"""
            which (?:file|module|class|function|method|package|component)s?
            what (?:file|module|class|function|method|package|component)s?
            where (?:is|are|does|do) [^\n]{0,60}\b(?:defined|implemented|declared|live|lives|called|handled|located)
            defined (?:in|by|where)|implemented (?:in|by|where)|declared (?:in|by|where)
            code structure|call(?:s|ers?) of|signature of
            """,
            r"[어무][느떤슨] (?:파일|함수|클래스|모듈)|어디[에서] (?:정의|구현)|코드 구조|정의된|구현된",
        ),
    ),
    (
        Intent.ENVIRONMENT,
        Phrases(
            r"""
            environment|env var\w*|installed|running on|which version|what version|versions? of
            current(?:ly)? (?:set|config\w*|deployed|running|using|version|state|status)
            configured|config(?:uration)?|settings?|credentials?|ports?|hosts?|endpoint
            """,
            r"환경|환경변수|버전|설정값|설정은|설정이|현재 (?:상태|설정|버전|구성)|포트|호스트|설치된",
        ),
    ),
    (
        Intent.WHAT_HAPPENED,
        Phrases(
            r"""
            what happened|when did|history of|change ?log|timeline|last time
            what (?:did|have|has|was|were) [^\n]{1,60}(?:do|done|decide\w*|change\w*|discuss\w*|say|said|happen\w*)
            who (?:did|decided|changed|said)
            """,
            r"무슨 일|언제|이력|변경 이력|했었|했나|결정했|바뀌었|지난번|경과",
        ),
    ),
)

_PRINCIPLE: Final = Phrases(
    r"""
    why|principles?|philosophy|rationale|trade-?offs?|values?|strategy|should we|guidelines?|policy|policies|reasons?
    goals?
    """,
    r"왜|원칙|철학|이유|전략|정책|기준|목표|가치",
)
_IMPLEMENTATION: Final = Phrases(
    r"""
    code|function|method|class|command|flag|snippet|syntax|script|stack ?trace|regex|parameter|argument|line \d+
    config(?:uration)? (?:key|file)|sql|api call|import
    """,
    r"코드|함수|메서드|클래스|명령어?|스크립트|옵션|인자|문법|구현",
    anywhere=r"`[^`]+`|\w\(\)|\.\w{1,4}\b(?=\s|$)",
)


def intent_of(text: str) -> Intent | None:
    """The first that fits; most questions want no kind of answer in particular."""
    return next((intent for intent, phrases in _INTENTS if phrases.within(text)), None)


def level_of(text: str) -> Level:
    """A concept unless the text says otherwise; code outweighs a reason, for one asks why of code too."""
    if _IMPLEMENTATION.within(text):
        return Level.IMPLEMENTATION
    return Level.PRINCIPLE if _PRINCIPLE.within(text) else Level.CONCEPT
