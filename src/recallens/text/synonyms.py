"""Words that stand for each other, English and Korean, each way. General words of software work, not of any data set.

A query's word brings at most three others, at half its weight: they find what was written in other words or in the
other language, and a memory that holds the word itself stays ahead.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from recallens.text.korean import is_korean, nouns
from recallens.text.tokenizer import tokenize

MOST_PER_WORD: Final = 3
EXPANSION_WEIGHT: Final = 0.5

# A line is one meaning; the first words of a line are the likeliest.
_GROUPS: Final = """
authentication auth login 인증 로그인
authorization permission access 권한 인가
password credential 비밀번호 암호
token 토큰
user account 사용자 계정
session 세션
security 보안
encryption encrypt 암호화
secret 시크릿 비밀
database db 데이터베이스 디비
query 쿼리 질의
migration 마이그레이션 이전
schema 스키마
table 테이블
index 인덱스 색인
transaction 트랜잭션
cache caching 캐시
queue 큐 대기열
worker 워커
job 작업
schedule scheduler 스케줄 일정
deploy deployment release rollout 배포
rollback revert 롤백
environment env 환경
configuration config setting 설정 구성
server 서버
client 클라이언트
container docker 컨테이너 도커
cluster 클러스터
node 노드
network 네트워크
proxy 프록시
request 요청
response 응답
error failure 오류 에러
exception 예외
bug defect 버그 결함
fix repair 수정 해결
test testing 테스트 시험
build 빌드
performance latency speed 성능 지연
timeout 타임아웃 시간초과
retry 재시도
memory 메모리
storage disk 저장소 디스크
file 파일
folder directory 폴더 디렉터리
log logging 로그
monitor monitoring observability 모니터링
alert alarm 알림 경보
metric 지표 메트릭
incident outage 장애 사고
backup 백업
restore recovery 복구 복원
version 버전
upgrade update 업그레이드 갱신
install installation 설치
dependency 의존성
library package 라이브러리 패키지
module 모듈
function 함수
method 메서드
class 클래스
component 컴포넌트 구성요소
hook 훅
state 상태
event 이벤트
render rendering 렌더링
effect 이펙트 효과
property props 속성
parameter argument 매개변수 인자
variable 변수
array list 배열 목록
object 객체
type 타입 유형
interface 인터페이스
api 에이피아이
endpoint 엔드포인트
webhook 웹훅
payment billing 결제
invoice 청구서 송장
price cost 가격 비용
customer 고객
order 주문
search retrieval 검색
ranking 순위
filter 필터
document doc 문서
page 페이지
design 설계 디자인
architecture 아키텍처 구조
pattern 패턴
decision 결정
plan 계획
meeting 회의
review 검토 리뷰
approve approval 승인
owner ownership 담당자 소유자
team 팀
customer client 고객
deadline due 마감
priority 우선순위
policy rule 정책 규칙
principle 원칙
lesson 교훈
example sample 예제 예시
change modification 변경
history 이력 기록
limit quota 제한 한도
rate 속도 비율
size 크기
count number 개수
create creation 생성
delete remove 삭제 제거
start begin 시작
stop end 종료 중지
enable activate 활성화
disable deactivate 비활성화
compare comparison 비교
validate validation verify 검증
input 입력
output 출력
screen display 화면
button 버튼
form 양식 폼
link 링크
image picture photo 이미지 사진
language 언어
translation 번역
data 데이터
model 모델
training 학습 훈련
purchase buy 구매
trip travel 여행
doctor physician 의사
movie film 영화
car vehicle 자동차
house home 집
job work 일 직장
child kid 아이
food meal 음식 식사
"""


@cache
def _table() -> dict[str, tuple[str, ...]]:
    others: dict[str, list[str]] = {}
    for line in _GROUPS.strip().splitlines():
        keys = {word: " ".join(tokenize(word)) if word.isascii() else word for word in line.split()}
        for key in keys.values():
            kept = others.setdefault(key, [])
            kept.extend(other for other in keys if other not in kept and keys[other] != key)
    return {key: tuple(found) for key, found in others.items()}


def expansions(text: str, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For the query's English tokens and Korean nouns: the other words for each, those in the other script first."""
    found: dict[str, tuple[str, ...]] = {}
    english = [word for word in words if word.isascii()]
    for word in [*english, *(nouns(text) if is_korean(text) else ())]:
        others = _table().get(word)
        if others and word not in found:
            ranked = sorted(others, key=lambda other: other.isascii() == word.isascii())
            found[word] = tuple(ranked[:MOST_PER_WORD])
    return found
