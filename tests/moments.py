"""A team's autumn: 12 sessions and some 210 memories in English and Korean, and 60 questions about its times.

What each question's window holds is written down by hand, as are the days that a text speaks of: nothing here is read
off the code that is tested. `ASIDE` were written before the code and were looked at once, when it was done.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct

from recallens import Draft, Engine

# A Monday.
NOW = "2026-11-16"


def at(day: str, hour: int = 10, minute: int = 0) -> int:
    return int(datetime.fromisoformat(day).replace(hour=hour, minute=minute, tzinfo=UTC).timestamp() * 1000)


class Line(Struct, frozen=True):
    """`told` are the days that the text names; `key` is how a question's expectation calls it."""

    text: str
    told: tuple[str, ...] = ()
    key: str = ""
    kind: str | None = None


SESSIONS: dict[str, tuple[Line, ...]] = {
    "2026-09-07": (
        Line("We moved the billing database from MySQL to PostgreSQL. The migration ended at noon without data loss.",
             key="migration", kind="episode"),
        Line("Decided to keep the old MySQL replica for thirty days as a fallback.", kind="decision"),
        Line("결제 담당자는 이제 지훈이다. 온콜 순서도 바꿨다."),
        Line("Fixed the invoice totals that were rounded twice."),
        Line("주간 회의에서 하반기 목표를 세 가지로 줄이기로 했다.", kind="decision"),
    ),
    "2026-09-15": (
        Line("앱스토어 심사에서 1.8 버전이 반려됐다. 계정 삭제가 없다는 이유였다.", key="rejection", kind="episode"),
        Line("Added an account deletion screen under Settings > Privacy."),
        Line("푸시 알림 권한을 처음 실행할 때 묻지 않도록 고쳤다."),
        Line("Decided to ask for reviews only after the third purchase.", kind="decision"),
        Line("심사 메모에 테스트 계정과 영상을 붙이기로 했다.", kind="decision"),
    ),
    "2026-09-24": (
        Line("Version 1.9 went out to production after the review passed.", key="release19", kind="episode"),
        Line("Kickoff with the design agency happened on September 10, and they sent the first boards.",
             told=("2026-09-10",)),
        Line("검색 색인을 하루에 한 번이 아니라 한 시간마다 다시 만들기로 결정했다.", kind="decision"),
        Line("Crash reports halved once the image decoder was pinned to 3.2."),
        Line("고객지원 답변 템플릿을 열두 개에서 다섯 개로 합쳤다."),
    ),
    "2026-10-01": (
        Line("Payments outage: card payments were down for 40 minutes because the TLS certificate had expired.",
             key="outage", kind="episode"),
        Line("Set up alerts 30, 14 and 3 days before any certificate runs out."),
        Line("결제 실패 시 자동으로 두 번만 재시도하기로 결정했다.", kind="decision", key="ko-payment"),
        Line("Sent refunds to 212 customers by hand."),
        Line("장애 보고서를 고객사 세 곳에 보냈다."),
    ),
    "2026-10-08": (
        Line("The security audit by Hanul Labs took place; three findings, none of them critical.", key="audit",
             kind="episode"),
        Line("Decided that the search index is rebuilt behind a flag before it replaces the old one.", kind="decision",
             key="en-index"),
        Line("비밀번호 재설정 링크의 유효 시간을 24시간에서 1시간으로 줄였다."),
        Line("Rotated every API key older than a year."),
        Line("감사에서 지적된 로그 마스킹을 모두 반영했다."),
    ),
    "2026-10-15": (
        Line("민지가 플랫폼 팀에 합류했다. 첫 주에는 배포 파이프라인을 맡는다.", key="join", kind="episode"),
        Line("Split the on-call rotation into a day shift and a night shift."),
        Line("Decided to drop Internet Explorer from the checkout page for good.", kind="decision"),
        Line("캐시 만료 시간을 10분에서 3분으로 줄이기로 결정했다.", kind="decision", key="ko-cache"),
        Line("The staging cluster got two more nodes."),
    ),
    "2026-10-22": (
        Line("Released 2.0 to all users, at 10 a.m., in three waves.", key="release20", kind="episode"),
        Line("2.0 배포 직후 메모리 사용량이 30% 늘어 캐시 크기를 줄였다.", key="release20"),
        Line("Decided to freeze feature work for a week after 2.0.", kind="decision"),
        Line("Support tickets doubled for a day; most asked where the dark mode went."),
        Line("온보딩 화면을 네 장에서 두 장으로 줄였다."),
    ),
    "2026-10-29": (
        Line("서버 이전을 마쳤다. 데이터센터를 춘천에서 세종으로 옮겼다.", key="move", kind="episode"),
        Line("Latency from Busan rose by 12 ms since traffic goes through Sejong."),
        Line("Decided to keep object storage in Chuncheon until spring.", kind="decision"),
        Line("백업 스크립트의 경로를 새 서버에 맞게 고쳤다."),
        Line("The contract with the carrier was signed on 2026-10-05, and runs for two years.", told=("2026-10-05",),
             key="carrier"),
    ),
    "2026-11-04": (
        Line("Hackathon day: four teams, the offline mode for the map won.", key="hackathon", kind="episode"),
        Line("Postmortem of the October 1 payments failure: nobody owned the certificates.", told=("2026-10-01",)),
        Line("Decided to move feature flags out of the database into a file.", kind="decision"),
        Line("지도 화면이 오프라인에서도 열리도록 시제품을 만들었다."),
        Line("9월 18일 고객사 데모에서 나온 요청 일곱 건을 정리했다.", told=("2026-09-18",), key="demo"),
    ),
    "2026-11-10": (
        Line("로그인 장애: 세션 저장소가 가득 차서 25분 동안 아무도 로그인하지 못했다.", key="login", kind="episode"),
        Line("Login sessions now expire after 7 days, so the session store cannot fill up again."),
        Line("세션 저장소 용량 경보를 80%에 걸었다."),
        Line("Decided to cache user profiles at the edge for sixty seconds.", kind="decision", key="en-cache"),
        Line("Raised the connection pool of the API from 20 to 50."),
    ),
    "2026-11-13": (
        Line("CI moved from Jenkins to Buildkite; builds take 6 minutes instead of 19.", key="ci", kind="episode"),
        Line("플레이키 테스트 열한 개를 격리했다."),
        Line("Decided to require two approvals for anything under infra/.", kind="decision"),
        Line("The penetration test report of 2026-10-19 was filed in the wiki.", told=("2026-10-19",), key="pentest"),
        Line("배포 승인 봇이 슬랙에서 두 번 답하던 버그를 고쳤다."),
    ),
    "2026-11-15": (
        Line("Rolled back the feed ranking experiment: people scrolled less and reported more.", key="rollback",
             kind="episode"),
        Line("Fixed the time zone of the weekly digest."),
        Line("피드 순위 실험을 접고 시간순 정렬로 돌아가기로 결정했다.", kind="decision"),
        Line("이메일 수신 거부 링크가 404를 내던 문제를 고쳤다."),
        Line("The lease of the Pangyo office ends on 2026-12-20.", told=("2026-12-20",), key="lease"),
    ),
}  # fmt: skip

# What else was noted in each session: of twelve parts of the product, one fact each, never the same twice.
_PARTS = (
    ("checkout page", "결제 화면"), ("image resizer", "이미지 변환기"), ("search index", "검색 색인"),
    ("mail queue", "메일 대기열"), ("admin console", "관리자 화면"), ("map tiles", "지도 타일"),
    ("coupon service", "쿠폰 서비스"), ("report builder", "보고서 생성기"), ("webhook sender", "웹훅 발송기"),
    ("chat widget", "채팅 위젯"), ("audit log", "감사 로그"), ("device registry", "기기 등록부"),
)  # fmt: skip
_NOTES = (
    ("The {} answers in {} ms at the median now.", "{} 응답 시간의 중앙값은 이제 {}ms다."),
    ("Wrote {1} new tests for the {0}.", "{}에 테스트를 {}개 더 썼다."),
    ("The {} keeps its data for {} days.", "{} 데이터는 {}일 동안 보관한다."),
    ("Renamed {1} confusing options of the {0}.", "{}에서 헷갈리는 옵션 {}개의 이름을 바꿨다."),
    ("The {} needs about {} MB of memory under load.", "{}는 부하 중에 메모리를 {}MB쯤 쓴다."),
    ("Someone asked for an export in the {}; ticket {}.", "{}에 내보내기를 넣어 달라는 요청이 있었다. 티켓 {}."),
    ("Removed {1} dead code paths from the {0}.", "{}에서 죽은 코드 {}곳을 지웠다."),
    ("The {} logs {} lines a minute, which is too many.", "{}가 1분에 로그를 {}줄이나 남긴다."),
    ("Wrote the runbook of the {}, page {} of the handbook.", "{} 운영 문서를 핸드북 {}쪽에 썼다."),
    ("The {} now retries {} times before it gives up.", "{}는 이제 {}번까지 다시 시도한다."),
    ("Half of the {} was translated; {} strings are left.", "{} 번역이 절반 끝났고 문구 {}개가 남았다."),
    ("Reviewed the {} with the security team: {} remarks.", "보안 팀과 {}를 검토했고 의견은 {}건이었다."),
)


def lines() -> Iterator[tuple[str, int, Line]]:
    """The day, the minute of it and the line, in the order of writing."""
    for number, (day, written) in enumerate(SESSIONS.items()):
        noted = []
        for part, (english, korean) in enumerate(_PARTS):
            form = _NOTES[(number + part) % len(_NOTES)]
            count = 11 + 13 * number + 3 * part
            noted.append(Line(form[0].format(english, count) if (number + part) % 2 else form[1].format(korean, count)))
        mixed = [*noted[:4], *written[:2], *noted[4:9], *written[2:], *noted[9:]]
        yield from ((day, minute, line) for minute, line in enumerate(mixed))


def fill(engine: Engine) -> dict[str, Line]:
    """Put everything into a store; each memory's line by its id."""
    known = {}
    for day, minute, line in lines():
        draft = Draft(
            line.text, created=at(day, 9 + minute // 4, 13 * (minute % 4)), session=f"s-{day}", kind=line.kind
        )
        known[engine.remember(draft).id] = line
    return known


class Asked(Struct, frozen=True):
    """`since` up to and without `until`; `event` is the key of the line that the question means by its event, and
    `first` the key of what has to come first.
    """

    question: str
    since: str = "2020-01-01"
    until: str = "2027-01-01"
    event: str = ""
    first: str = ""
    sort: Literal["time", "words", "event"] = "time"


def _event(question: str, event: str, **window: str) -> Asked:
    return Asked(question, event=event, sort="event", **window)


def _words(question: str, since: str, until: str, first: str = "") -> Asked:
    return Asked(question, since, until, first=first, sort="words")


ASIDE = (
    Asked("what happened last week", "2026-11-09", "2026-11-16"),
    Asked("어제 뭐 고쳤어", "2026-11-15", "2026-11-16"),
    Asked("3일 전에 뭐 했지?", "2026-11-13", "2026-11-14"),
    Asked("what did we do on Friday?", "2026-11-13", "2026-11-14"),
    _words("what did we decide about the search index last month", "2026-10-01", "2026-11-01", "en-index"),
    _words("지난달에 결제 쪽에서 뭐 결정했지?", "2026-10-01", "2026-11-01", "ko-payment"),
    _event("what changed before the 2.0 release?", "release20", until="2026-10-22"),
    _event("심사 반려 이후에 뭘 바꿨어?", "rejection", since="2026-09-15"),
    _event("anything new since the login outage?", "login", since="2026-11-10"),
    _event("서버 이전 후에 문제 있었어?", "move", since="2026-10-29"),
    Asked("what happened on October 5?", "2026-10-05", "2026-10-06", first="carrier"),
    Asked("9월 18일에 무슨 일 있었지?", "2026-09-18", "2026-09-19", first="demo"),
    Asked("give me a rundown of the past three days", "2026-11-13", "2026-11-17"),
    Asked("이번 달에 한 일 정리해줘", "2026-11-01", "2026-12-01"),
    Asked("What was done on 4 November?", "2026-11-04", "2026-11-05"),
    Asked("지난주 금요일에 뭐 했더라", "2026-11-13", "2026-11-14"),
    Asked("what went on between October 1 and October 10", "2026-10-01", "2026-10-11"),
    Asked("10월 초에 무슨 작업 했어?", "2026-10-01", "2026-10-11"),
    _event("what were we working on right before the payments outage?", "outage", until="2026-10-01"),
    _event("민지 합류하고 나서 뭐가 달라졌어?", "join", since="2026-10-15"),
)

QUESTIONS = (
    Asked("what did we get done yesterday", "2026-11-15", "2026-11-16"),
    Asked("What's new this month?", "2026-11-01", "2026-12-01"),
    Asked("summarize last week for me", "2026-11-09", "2026-11-16"),
    Asked("catch me up on the last 7 days", "2026-11-09", "2026-11-17"),
    Asked("what was going on in September", "2026-09-01", "2026-10-01"),
    Asked("what did we ship in October?", "2026-10-01", "2026-11-01"),
    Asked("which decisions did we make last month?", "2026-10-01", "2026-11-01"),
    Asked("what happened on 2026-10-19?", "2026-10-19", "2026-10-20", first="pentest"),
    Asked("what did we do on Tuesday", "2026-11-10", "2026-11-11"),
    Asked("did anything break last Friday?", "2026-11-13", "2026-11-14"),
    Asked("what happened two weeks ago", "2026-10-30", "2026-11-06"),
    Asked("what happened on September 10?", "2026-09-10", "2026-09-11"),
    Asked("over the weekend, what changed?", "2026-11-14", "2026-11-16"),
    _words("what did we decide about caching last week", "2026-11-09", "2026-11-16", "en-cache"),
    _words("anything about certificates in October?", "2026-10-01", "2026-11-01", "outage"),
    _words("who joined the team in October", "2026-10-01", "2026-11-01", "join"),
    _words("which outages did we have this month", "2026-11-01", "2026-12-01", "login"),
    _event("what did we do after the security audit?", "audit", since="2026-10-08"),
    _event("what happened between the migration and now? I mean after the database migration", "migration",
           since="2026-09-07"),
    _event("what have we changed since CI moved to Buildkite?", "ci", since="2026-11-13"),
    Asked("어제 한 일 알려줘", "2026-11-15", "2026-11-16"),
    Asked("지난주에 무슨 일이 있었어?", "2026-11-09", "2026-11-16"),
    Asked("저번 주에 뭐 했는지 요약해줘", "2026-11-09", "2026-11-16"),
    Asked("지난달에 뭐 했지", "2026-10-01", "2026-11-01"),
    Asked("10월 29일에 뭐 했어?", "2026-10-29", "2026-10-30"),
    Asked("최근 일주일 동안 바뀐 거 있어?", "2026-11-09", "2026-11-17"),
    Asked("9월에 뭐 했더라", "2026-09-01", "2026-10-01"),
    Asked("화요일에 뭐 고쳤지?", "2026-11-10", "2026-11-11"),
    Asked("이틀 전부터 지금까지 뭐 했어", "2026-11-14", "2026-11-17"),
    Asked("2026년 10월 5일에 무슨 일이 있었나요?", "2026-10-05", "2026-10-06", first="carrier"),
    Asked("지난달 결정 사항 정리해 줘", "2026-10-01", "2026-11-01"),
    Asked("10월 1일부터 10월 10일까지 뭐 했는지 보여줘", "2026-10-01", "2026-10-11"),
    Asked("일주일 전에 뭐 했지", "2026-11-06", "2026-11-13"),
    Asked("12월 20일에 뭐 있어?", "2026-12-20", "2026-12-21", first="lease"),
    _words("지난주 로그인 쪽에 무슨 일 있었어?", "2026-11-09", "2026-11-16", "login"),
    _words("10월에 캐시 관련해서 뭘 결정했지?", "2026-10-01", "2026-11-01", "ko-cache"),
    _event("2.0 배포 전에 뭘 준비했지?", "release20", until="2026-10-22"),
    _event("로그인 장애 이후로 뭐 바꿨어?", "login", since="2026-11-10"),
    _event("보안 감사 끝나고 뭐 했어?", "audit", since="2026-10-08"),
    _event("해커톤 이후에 결정한 거 있어?", "hackathon", since="2026-11-04"),
)  # fmt: skip
