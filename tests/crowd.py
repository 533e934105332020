"""A store with a crowd in it: some 220 memories of one company, English and Korean, to find something among."""

from __future__ import annotations

from itertools import product

from recallens.engine import Engine
from recallens.ingest.draft import Draft

SERVICES = ("billing", "catalog", "courier", "gateway", "inventory", "ledger", "mailer", "orders", "pricing", "search",
            "tracking", "warehouse")  # fmt: skip
SAID = (
    "The {0} service keeps its state in a Postgres database of its own",
    "Alerts of the {0} service go to the channel #{0}-oncall",
    "The {0} service is written in Go and was rewritten from Ruby two springs ago",
    "Staging of the {0} service runs on the shared cluster and is wiped every Sunday",
    "A deploy of the {0} service needs the approval of its owner",
    "The {0} service reads its feature flags from the config repository at startup",
    "Load tests of the {0} service use recorded traffic of a Black Friday",
    "The {0} service writes structured logs that are shipped to the log cluster",
    "The {0} team decided to pin its base image by digest",
    "The {0} service retries calls to its neighbours with jitter",
)
KOREAN_SERVICES = ("결제", "재고", "배송", "회원", "쿠폰", "검색", "정산", "알림", "상품", "리뷰")
KOREAN_SAID = (
    "{0} 서비스의 담당자는 {0}팀이고 문의는 슬랙으로 받는다",
    "{0} 서비스의 로그는 중앙 로그 저장소로 모은다",
    "{0} 서비스는 매주 화요일에 배포한다",
    "{0} 서비스의 대시보드는 그라파나에 있다",
    "{0} 서비스 장애는 당직자가 먼저 확인한다",
    "{0} 서비스의 테스트 데이터는 매일 새벽에 초기화한다",
    "{0} 화면 문구는 번역 파일에서 가져온다",
    "{0} 서비스는 설정을 시작할 때 한 번만 읽는다",
    "{0} 서비스의 데이터베이스는 매일 밤 백업한다",
    "{0} 담당자가 바뀌면 인수인계 문서를 고친다",
)


def fill(engine: Engine) -> int:
    """Fill a store with the crowd; gives its size."""
    english = [said.format(name) for name, said in product(SERVICES, SAID)]
    korean = [said.format(name) for name, said in product(KOREAN_SERVICES, KOREAN_SAID)]
    drafts = [Draft(text) for text in (*english, *korean)]
    for _ in engine.memories.remember_many(drafts, dedupe=False):
        pass
    return len(drafts)
