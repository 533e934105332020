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
    "여덟": 8, "아홉": 9, "열": 10, "스무": 20, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "반": 0.5,
}  # fmt: skip
_NATIVE_WORD: Final = "|".join(sorted(_NATIVE, key=len, reverse=True))
_ALL_NATIVE: Final = re.compile(rf"(?:{_NATIVE_WORD})+")


def counted(words: str) -> float | None:
    """열다섯 is 15 and so is 십오; 삼백 is 300."""
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
    },
    numbers=rf"(?<![가-힣])(?:(?:{_NATIVE_WORD}){{1,3}}|[일이삼사오육칠팔구십백천만]{{1,7}})"
    r"(?=\s?(?:초|분|시간|일|주|개월|달|년|퍼센트|번|회|명|원|개|대|건))",
    value=counted,
    quantities="포트는?|한도는?|크기는?|최대|최소|개수는?|임계값은?|수는",
    versions="버전",
)

WORK: Final = pack.WorkWords(
    actions="""
    add: 추가 생성 신설 등록 만들, remove: 삭제 제거 청소, fix: 수정 해결 복구 조치 고침 고치,
    update: 업데이트 업그레이드, downgrade: 다운그레이드, deploy: 배포 출시 릴리스, revert: 롤백 원복,
    rotate: 갱신 교체 재발급 연장,
    migrate: 이전 이관 마이그레이션, refactor: 리팩터링 리팩토링 정리, test: 테스트 검증 확인, document: 문서화,
    investigate: 조사 분석 점검, configure: 설정 구성, install: 설치, restart: 재시작 재기동 재부팅, enable: 활성화,
    disable: 비활성화, increase: 증가 확장 상향 증설, decrease: 감소 축소 하향, merge: 병합 통합, split: 분리 분할,
    backup: 백업, restore: 복원, review: 리뷰 검토, write: 구현 작성 개발, monitor: 모니터링, start: 시작,
    stop: 중지 종료, send: 발송 전송, import: 가져오기, export: 내보내기
    """,
    generic="""
    테스트 시험 실패 오류 에러 버그 문제 이슈 빌드 코드 작업 업무 티켓 경고 오타 기능 문서 의존성 패키지 버전 변경 사항
    피드백 프로젝트 저장소 최신 개선 성능 완료 성공 정상 진행 처리 대응 관련 내용 새로 다시 결과 방식 하기 위해
    """,
    corrections=r"이제|더\s?이상|더는|대신|앞으로는|지금은|현재는|바꿨|바꾸었|바뀌|바뀜|변경했|변경됐|변경되|변경함|전환했|전환함|전환됐"
    r"|옮겼|옮김|교체했|교체함|이전했|늘렸|줄였|올렸|내렸|않게 되|정정|였는데|였으나|없앴",
    replaced=(
        r"(?P<old>[^,.;\s]+(?:\s[^,.;\s]+)?)\s대신",
        r"(?:더\s?이상|더는)\s(?P<old>[^,.;]{2,40}?)(?=\S?지\s?(?:않|말|못)|$|[,.;])",
        r"(?P<old>[^,.;\s]+)에서\s\S{1,20}(?:으로|로)\s?(?:\S+\s)?(?:바|변경|전환|옮|이전|교체|이동|늘|줄|올|내)",
    ),
    history="예전|이전에|원래|과거|당시|처음에|옛|이력",
)
