"""What kind of answer a question asks for, and whether a clause of a text holds one."""

from __future__ import annotations

import pytest

from recallens.text.answers import answer_types, answers_about

KINDS = {
    "when do we deploy": "time",
    "when was the server bought": "date",
    "how long is the cache kept": "duration",
    "how often are backups tested": "frequency",
    "which version of Postgres runs on the standby": "version",
    "which port does the gateway use": "port",
    "what is the phone number of the porter": "phone",
    "what is the door code": "value",
    "how old is the boiler": "age",
    "licence plate of the grey van": "plate",
    "what is the plumber's email": "email",
    "what does the tuner charge for a visit": "price",
    "how much does the room cost": "price",
    "how many seats are there": "number",
    "who approves refunds": "person",
    "where is the crash cart": "place",
    "배포는 언제 하나요": "time",
    "개편은 언제 끝났나요": "date",
    "캐시는 얼마나 유지하나요": "duration",
    "위치는 얼마나 자주 갱신돼": "frequency",
    "파이썬은 몇 버전을 쓰나요": "version",
    "대관료는 얼마예요": "price",
    "정류장이 몇 개야": "number",
    "요금표는 누가 고쳐요": "person",
    "우산은 어디에 반납하나요": "place",
    "고양이 이름이 뭐야": "name",
    "원장 선생님 성함이 뭐예요": "name",
    "손녀가 몇 살이지": "age",
    "기사님 휴대폰 번호": "phone",
    "회색 밴 차 번호가 뭐야": "plate",
}


@pytest.mark.parametrize("question", KINDS)
def test_the_narrowest_kind_comes_first(question: str) -> None:
    assert answer_types(question)[0] == KINDS[question]


@pytest.mark.parametrize(
    ("kind", "text", "own"),
    [
        ("time", "We deploy on Tuesdays only.", "deploy"),
        ("time", "The order goes out every morning.", "order"),
        ("time", "Reindex the archive while the clinic is closed.", "archive"),
        ("time", "배포는 평일 오전에만 나간다.", "배포"),
        ("time", "백업은 밤마다 돈다.", "백업"),
        ("time", "급여는 매월 말일에 입금된다.", "급여"),
        ("time", "시간표는 방학이 시작하면 바뀐다.", "시간표"),
        ("date", "We opened the second room in spring 2024.", "room"),
        ("duration", "노선 정보는 90초 동안 캐시한다.", "노선"),
        ("duration", "단말기는 완충하면 닷새를 버틴다.", "단말기"),
        ("duration", "Clippers go into the bath overnight.", "clippers"),
        ("frequency", "버스 위치는 10초마다 새로 받는다.", "위치"),
        ("number", "평일에는 버스 예순두 대가 다닌다.", "버스"),
        ("person", "Overtime needs a yes from Odile.", "overtime"),
        ("person", "The key is with the night porter.", "key"),
        ("person", "차고지 열쇠는 배차실장이 들고 다닌다.", "열쇠"),
        ("place", "Consent forms live in the grey cabinet.", "forms"),
        ("place", "택배는 경비실 앞에 놓인다.", "택배"),
        ("number", "The sterilizer is new. It draws four litres.", "sterilizer"),
        ("age", "The boiler turned 12 in May.", "boiler"),
        ("age", "손녀는 올해 아홉 살이다.", "손녀"),
        ("phone", "The porter answers at 020 7946 0018.", "porter"),
        ("phone", "기사님은 010-2233-4455로 받으신다.", "기사님"),
        ("email", "Write to the plumber at pipes@example.org.", "plumber"),
        ("plate", "The van is KX21 ABC.", "van"),
        ("plate", "밴은 12가 3456이다.", "밴"),
        ("frequency", "정산 주기는 D+2 이다. 가맹점 요구로 줄였다.", "정산"),
        ("frequency", "인증서 갱신 주기는 90일이다.", "갱신"),
        ("frequency", "백업은 3일 간격으로 돈다.", "백업"),
        ("frequency", "요금제 검토는 분기 단위로 한다.", "검토"),
    ],
)
def test_a_clause_about_it_that_holds_one_answers(kind: str, text: str, own: str) -> None:
    assert answers_about(kind, text, [own], lambda clause: own in clause.casefold())


@pytest.mark.parametrize(
    ("kind", "text", "own"),
    [
        ("time", "The contract with Zebra lies in the safe; the vendor was slow in 2023.", "contract"),
        ("date", "The generator is tested on the first Monday of each month.", "generator"),
        ("number", "The database runs on heron-stg-2.", "database"),
        ("port", "The database runs on heron-stg-2.", "database"),
        ("person", "The crash cart checklist hangs on its handle.", "cart"),
        ("person", "Overtime is paid twice.", "overtime"),
        ("place", "The generator is tested on Monday.", "generator"),
        ("price", "심야 택시 쿠폰을 준다.", "쿠폰"),
        ("date", "개발팀 자리는 4층 동쪽이다.", "개발팀"),
        ("name", "경비실 아저씨는 고양이 두 마리를 돌본다.", "고양이"),
        ("age", "The boiler heats the old house twice a day, and is seen again in six months.", "boiler"),
        ("age", "The boiler's pressure is 2.6, its flow is 12 litres.", "boiler"),
        ("phone", "The porter sits on floor 2 since 2026-03-12.", "porter"),
        ("plate", "The van is insured for three drivers.", "van"),
        ("frequency", "정산 주기가 너무 길다는 말이 나왔다.", "정산"),
        ("frequency", "정산을 이달 30일에 했다.", "정산"),
    ],
)
def test_what_only_looks_like_one_does_not(kind: str, text: str, own: str) -> None:
    assert not answers_about(kind, text, [own], lambda clause: own in clause.casefold())
