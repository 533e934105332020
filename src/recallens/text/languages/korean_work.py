"""Korean: amounts, and what people say of their work."""

from __future__ import annotations

import re
from typing import Final

from recallens.text.languages import pack

_SINO: Final = {digit: value for value, digit in enumerate("영일이삼사오육칠팔구")}
_PLACES: Final = {"십": 10, "백": 100, "천": 1_000}
_MYRIAD: Final = "만"
_NATIVE: Final = {
    "하나": 1, "한": 1, "두": 2, "둘": 2, "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7,
    "여덟": 8, "아홉": 9, "열": 10, "스무": 20, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70,
    "여든": 80, "아흔": 90, "석": 3, "넉": 4, "반": 0.5,
}  # fmt: skip
_NATIVE_WORD: Final = "|".join(sorted(_NATIVE, key=len, reverse=True))
_ALL_NATIVE: Final = re.compile(rf"(?:{_NATIVE_WORD})+")


_DAYS: Final = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "열흘": 10, "보름": 15}


def counted(words: str) -> float | None:
    """열다섯 is 15 and so is 십오; 삼백 is 300."""
    if words in _DAYS:
        return float(_DAYS[words])
    if _ALL_NATIVE.fullmatch(words):
        return float(sum(_NATIVE[part] for part in re.findall(_NATIVE_WORD, words)))
    total, digit = 0.0, 0
    for sign in words:
        if sign == _MYRIAD:
            total, digit = ((total + digit) or 1) * 10_000, 0
        elif sign in _PLACES:
            total, digit = total + (digit or 1) * _PLACES[sign], 0
        else:
            digit = _SINO[sign]
    return total + digit or None


_COUNTED: Final = "곡 장 권 통 편 잔 병 마리 점 쪽 부 석 칸 가지 단계 박 상자 그루 벌 판 줄 마디 인분"
_COUNTERS: Final = tuple(_COUNTED.split())

AMOUNTS: Final = pack.AmountWords(
    units={
        "밀리초": ("second", 0.001),
        "초": ("second", 1),
        "분(?!기|당|의|류|석|리|할)": ("second", 60),
        "시간": ("second", 3_600),
        "일(?!정|반)": ("second", 86_400),
        "주(?:일|간)?(?!소|기|문|요)": ("second", 604_800),
        "개월|달": ("month", 1),
        "년": ("month", 12),
        "퍼센트|프로": ("percent", 1),
        "번|회|차례": ("time", 1),
        "명": ("person", 1),
        "원": ("won", 1),
        "달러": ("dollar", 1),
        "개|대|건": ("item", 1),
        **{counter: (counter, 1.0) for counter in _COUNTERS},
        "도(?=[로가이씨를]|다|입|여|\\s|$|\\.)": ("degree", 1),
    },
    numbers=rf"(?<![가-힣])(?:(?:{_NATIVE_WORD}){{1,3}}|[일이삼사오육칠팔구십백천만]{{1,7}})"
    rf"(?=\s?(?:초|분|시간|일|주|개월|달|년|퍼센트|번|회|명|원|개|대|건|{'|'.join(_COUNTERS)}))",
    value=counted,
    quantities="포트는?|한도는?|크기는?|최대|최소|개수는?|임계값은?|수는",
    versions="버전",
    scales={"천만": 1e7, "백만": 1e6, "십만": 1e5, "천": 1e3, "만": 1e4, "억": 1e8},
    dates=r"(?:(?P<year>(?:19|20)\d\d)년\s?)?(?P<month>\d{1,2})월\s?(?P<day>\d{1,2})일",
    clocks=r"(?:오전|오후|새벽|아침|저녁|밤|낮)?\s?(?<![\d가-힣])(?P<hour>\d{1,2}|열두|열한|열|[한두세네]|다섯|여섯|일곱|여덟|아홉)\s?시"
    r"(?!간|작|스|장|설|민|험|도|각)(?:\s?(?P<minute>\d{1,2})분|\s?(?P<half>반))?",
    weekdays=r"(?P<weekday>[월화수목금토일])요일",
    days=rf"(?P<days>{'|'.join(_DAYS)})(?=\s?(?:전|뒤|후|동안|간|이내|안에|만에|까지|마다|걸|이다|다))",
)

WORK: Final = pack.WorkWords(
    actions="""
    add: 추가 생성 신설 등록 만들 증설 늘리 띄우 붙이, remove: 삭제 제거 청소, fix: 수정 해결 복구 조치 고침 고치,
    update: 업데이트 업그레이드, downgrade: 다운그레이드, deploy: 배포 출시 릴리스, revert: 롤백 원복,
    rotate: 갱신 교체 재발급 연장 갈고 갈았다 바꿨다, print: 인쇄 인쇄하고 출력 찍고 찍었다,
    migrate: 이전 이관 마이그레이션, refactor: 리팩터링 리팩토링 정리, test: 테스트 검증 확인, document: 문서화,
    investigate: 조사 분석 점검, configure: 설정 구성, install: 설치, restart: 재시작 재기동 재부팅, enable: 활성화,
    disable: 비활성화, increase: 증가 확장 상향, decrease: 감소 축소 하향, merge: 병합 통합, split: 분리 분할,
    backup: 백업, restore: 복원, review: 리뷰 검토, write: 구현 작성 개발, monitor: 모니터링, start: 시작,
    stop: 중지 종료, send: 발송 전송 제출 제출함 전달 전달했다 보냈다, import: 가져오기, export: 내보내기
    """,
    generic="""
    테스트 시험 실패 오류 에러 버그 문제 이슈 빌드 코드 작업 업무 티켓 경고 오타 기능 문서 의존성 패키지 버전 변경 사항
    피드백 프로젝트 저장소 최신 개선 성능 완료 성공 정상 진행 처리 대응 관련 내용 새로 다시 결과 방식 하기 위해
    """,
    corrections=r"이제|더\s?이상|더는|대신|앞으로는|지금은|현재는|바꿨|바꾸었|바뀌|바뀜|바뀐|변경했|변경됐|변경되|변경함|전환했|전환함|전환됐"
    r"|옮겼|옮김|교체했|교체함|이전했|늘렸|줄였|올렸|내렸|올랐|늘었|줄었|늘어났|줄어들었|낮아졌|높아졌|낮췄|낮추었|높였|깎았|길어졌|짧아졌"
    r"|미뤄졌|미뤘|미루었|연기됐|연기했|연기되었|늦춰졌|늦췄|앞당겨졌|앞당겼|당겨졌|인상됐|인상했|인하됐|인하했|연장됐|단축됐"
    r"|않게 되|정정|였는데|였으나|없앴|던 것[을이]|[이가]\s?아니라\s|\S\s말고\s(?!다른)"
    r"|(?:\d{1,2}월|내년|올해|오늘|다음\s?[주달]|이번\s?[주달]|지난\s?[주달])\s?(?:\d{1,2}일)?부터",
    additions=r"[가-힣]도(?=\s)|더\s?(?!이상|는)(?=[가-힣])|추가로|또한|더욱|쉽게|빨리|편하게|하나 더",
    reasons=r"[^.,;]*때문에\s",
    replaced=(
        r"(?P<old>[^,.;\s]+)(?:[이가]\s?아니라|\s말고)\s",
        r"(?P<old>[^,.;\s]+(?:\s[^,.;\s]+)?)\s대신",
        r"(?:더\s?이상|더는)\s(?P<old>[^,.;]{2,40}?)(?=\S?지\s?(?:않|말|못)|$|[,.;])",
        r"(?P<old>[^,.;]{2,30}?)(?:하던|던) 것[을이]",
        r"(?P<old>[^,.;\s]+)에서\s\S{1,20}(?:으로|로)\s?(?:\S+\s)?(?:바|변경|전환|옮|이전|교체|이동|늘|줄|올|내|낮|높)",
    ),
    rulings=r"\A아니(?:요|야|에요|예요)?[,.!]?\s(?!괜찮|됐|그냥)|[이가]\s?아니라\s|\S\s말고\s(?!다른)|\S\s아니고\s|지\s?말고\s"
    r"|[가-힣]지\s?(?:마|말)(?:세요|아요|라|자|도록|아\s?줘|아\s?주세요)?[.!]*\Z|[가-힣]지\s?않기로|금지|면\s?안\s?(?:돼|되|됩|된)"
    r"|(?:앞으로|다음부터)(?:는|도)?\s|(?:항상|반드시|절대로?)\s|(?:으로|로)\s?(?:가자|하자|갑시다|합시다|가기로|정하자|통일)"
    r"|(?:걸로|것으로|기로)\s?(?:정|했|함|합|결정|확정)|(?:쓰자|씁시다|사용하자|사용합시다)|기억해|[라다]고\s?(?:했잖|말했)",
    requests=r"(?:줘|줘요|주세요|줄래|줄래요|부탁해|부탁드려요|부탁합니다|보자|넘어가자|진행하자)[.!~]*\Z",
    passing=r"\A잠깐|잠시만|아직|일단|지금은|이번만|이번에만|걱정\s?(?:마|말|하지)",
    topical="[은는이가]$",
    apart="[가-힣](?:에서|으로|부터|까지|에게|한테|마다|[은는을를에로])$",
    unspecific="새 새로운 기존 현재 전체 모든 우리 이번 지난 매주 매일 매월",
    failed=r"실패|안 됐|안 되|안 된|되지 않|못했|못 했|깨졌|막혔|멈췄|(?:오류|에러)가 [났나]|포기",
    worked=r"성공|잘 됐|잘 되|잘 돌|(?<![안가-힣] )됐다|해결|통과했|통과함|문제없이|무사히|제대로 [됐나돌]",
    history="예전|이전에|원래|과거|당시|처음에|옛|이력",
)
