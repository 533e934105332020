"""Secrets planted in every string that is stored: what is found of them, and what is taken for one that is none."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import os
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.ingest.draft import Draft
from recallens.ingest.redact import redact
from recallens.model.citation import FileCitation, LogCitation
from recallens.operations import OPERATIONS, Caller, perform

HEX, DIGITS, LETTERS = "0123456789abcdef", string.digits, string.ascii_letters
ALNUM = LETTERS + DIGITS
Make = Callable[[random.Random], str]


def of(alphabet: str, size: int) -> Make:
    return lambda chance: "".join(chance.choices(alphabet, k=size))


def joined(*parts: str | Make) -> Make:
    return lambda chance: "".join(part if isinstance(part, str) else part(chance) for part in parts)


def random_word(chance: random.Random) -> str:
    return "".join(chance.choices(LETTERS, k=7)) + chance.choice("!@#$%") + "".join(chance.choices(DIGITS, k=3))


TOKENS: dict[str, Make] = {
    "aws key": joined("AKIA", of(string.ascii_uppercase + "234567", 16)),
    "github": joined("ghp_", of(ALNUM, 36)),
    "github fine": joined("github_pat_", of(ALNUM, 22), "_", of(ALNUM, 59)),
    "gitlab": joined("glpat-", of(ALNUM, 20)),
    "slack bot": joined("xoxb-", of(DIGITS, 12), "-", of(DIGITS, 12), "-", of(ALNUM, 24)),
    "slack webhook": joined("https://hooks.slack.com/services/T", of(string.ascii_uppercase + DIGITS, 8), "/B",
                            of(string.ascii_uppercase + DIGITS, 8), "/", of(ALNUM, 24)),
    "stripe": joined("sk_live_", of(ALNUM, 24)),
    "anthropic": joined("sk-ant-api03-", of(ALNUM + "_-", 93), "AA"),
    "openai": joined("sk-proj-", of(ALNUM, 48)),
    "google": joined("AIza", of(ALNUM + "_-", 35)),
    "npm": joined("npm_", of(ALNUM, 36)),
    "pypi": joined("pypi-AgEIcHlwaS5vcmc", of(ALNUM + "_-", 80)),
    "hugging face": joined("hf_", of(LETTERS, 34)),
    "sendgrid": joined("SG.", of(ALNUM, 22), ".", of(ALNUM, 43)),
    "vault": joined("hvs.", of(ALNUM + "_-", 95)),
    "databricks": joined("dapi", of(HEX, 32)),
    "digitalocean": joined("dop_v1_", of(HEX, 64)),
    "notion": joined("ntn_", of(DIGITS, 11), of(ALNUM, 35)),
    "linear": joined("lin_api_", of(ALNUM, 40)),
    "shopify": joined("shpat_", of(HEX, 32)),
    "discord": joined("M", of(ALNUM, 23), ".", of(ALNUM, 6), ".", of(ALNUM, 30)),
    "doppler": joined("dp.pt.", of(ALNUM, 43)),
    "pulumi": joined("pul-", of(HEX, 40)),
    "postman": joined("PMAK-", of(HEX, 24), "-", of(HEX, 34)),
    "age": joined("AGE-SECRET-KEY-1", of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "our own": joined("rcl_", of(ALNUM, 43)),
    "jwt": lambda chance: ".".join(
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")
        for part in ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{chance.random()}"}}', random_word(chance) * 3)
    ),
}  # fmt: skip
SENTENCES: dict[str, str] = {
    "assignment": "DB_PASSWORD={}",
    "yaml": 'password: "{}"',
    "json": '{{"client_secret": "{}"}}',
    "english": "The password is {} until we rotate it",
    "for": "the admin password for staging is {}",
    "korean": "관리자 비밀번호는 {} 입니다",
    "korean colon": "비밀번호: {}",
    "korean token": "새 토큰은 {} 이다",
    "url": "postgres://app:{}@db.internal/app",
    "curl": "curl -u admin:{} https://internal/api",
    "netrc": "machine db login app password {}",
    "header": "Authorization: Bearer {}",
    "aws secret": "aws_secret_access_key = {}",
}


def planted(count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """The kind, the secret and a text that holds it."""
    chance = random.Random(seed)
    for number, kind in zip(range(count), itertools.cycle([*TOKENS, *SENTENCES]), strict=False):
        if kind in TOKENS:
            secret = TOKENS[kind](chance)
            frame = chance.choice(
                ("we rotated {} yesterday", "키는 {} 로 바꿨다", "use `{}` there", "{}", "({}), then")
            )
        else:
            size = chance.choice((4, 30))
            plain = kind in ("aws secret", "header")  # which have an alphabet of their own
            secret = of(ALNUM, 40)(chance) if plain else random_word(chance) + of(ALNUM, size)(chance)
            frame = SENTENCES[kind]
        yield f"{kind} {number}", secret, frame.format(secret)


# As people write them; the secret stands in braces.
WRITTEN = r"""
pw for the NAS: {Falcon_2291}
the router pw is {bluewhale88}
username admin, password {Zebra$Crossing4}
our VPN passphrase: {seven purple otters 19}
mysqldump -u backup -p{B4ckup!now} shop > shop.sql
mariadb -uroot -p{xK29dkwQ} -e 'show tables'
run sshpass -p {Grotto77} scp a b:
sshpass -p "{rain or shine 5}" ssh ops@edge
redis-cli -h cache -a {Qw9kkLmZ} info
docker login -u ci -p {Doc4Ker!Pull} registry.local
DB_PASS="{two words 77}"
export ADMIN_PW={k1tten-mitt3ns}
Set '{Marble-Arch-19}' as the new password
we use {coffee4ever} as our wifi password
The admin password was rotated from Spring#24 to {Autumn#25}
password changed to {Limestone_04x} yesterday
log in as deploy:{Gr4nite!Peak}
Grafana account: viewer / {Look4Only!}
the client secret (Auth0) is {kd83_QwErTy-11zz}
signing secret => {otter-river-902}
비번: {hodu1234}
와이파이 비번 {gamja-2020!}
NAS 비밀번호는 {sundubu99} 이에요
관리자 비밀번호가 {Dokdo#815} 로 바뀌었다
암호: {고양이발바닥3}
패스워드는 {파란하늘77} 입니다
운영 DB 계정 ops_ro, 암호 {Ro!prod_31}
VPN 계정: kim / {Hanok!2031}
로그인 정보는 root / {qP7-tR2-vv8}
시크릿 키: {Mn28xkqLp0s7Td}
인증키는 {Kr93-mm20-Qz} 이다
{Tlfqj!7722} 를 비밀번호로 쓴다
비밀번호를 {Busan-1950x} 로 정했다
도어락 비밀번호는 {482913} 입니다
the passcode is {770134}.
Jenkins pw = {buildM3faster}
password: '{Tea At 5 With Bo}'
The password that the vendor gave us: "{copper kettle 61}"
ID: guest / PW: {Gu3st-Pass}
totp secret for the shared login: {KRSXG5CTMVRXEZLU}
"""
HONEST = """
the password policy requires 12 characters
비밀번호는 90일마다 바꾼다
pw reset page
The password must be at least 12 characters and contain 1 digit
password: at least 8 characters, 1 symbol
We hash each password with PBKDF2-SHA256 and 310000 rounds
비밀번호는 8자 이상이고 숫자를 포함한다
암호화는 AES256-GCM 으로 한다
passwordless login shipped in v2.4.1
The password field is 64 characters wide
비밀번호 정책은 2026년 3월 1일부터 바뀐다
비번을 잊으면 보안팀에 문의한다
password reset emails expire after 30 minutes
The token is short-lived and refreshed by OAuth2Client
Log in with SSO / SAML2 on staging
The account page lists invoices / receipts from 2024
로그인 페이지는 /login 이고 3초 안에 뜬다
계정은 팀마다 1개 / 서버마다 2개까지 만든다
docker run -p 8080:80 nginx:1.27
mysql -u root -p harbor asks for it
mysql -h db -P 3306 -p
ssh -p 2222 deploy@edge
The secret of good coffee is freshly ground beans
The password manager is 1Password for all 40 people
비밀번호 초기화는 관리자 페이지에서 한다
패스워드 해시는 argon2id 를 쓴다
Password rotation moved from 90 to 180 days in RFC-2231
The password check rejects the 10,000 most common ones
암호는 소금을 쳐서 bcrypt 로 저장한다
비밀번호: 영문, 숫자 조합 10자리
password error ERR-4031 comes from the LDAP bridge
The wifi password hangs on the door of room B2-114
The passphrase is kept in the safe, never in chat
pass: 12 of 14 checks, fail: 2
We pass 4096 tokens to the model
The PW column was renamed to password_hash in migration 0042
로그인 실패가 5회면 계정이 잠긴다
토큰은 15분 뒤 만료된다
API 키는 볼트 경로 kv/prod/api 에 있다
The API key lives in config/secrets.yaml, see ADR-021
"""
# Four families that a stranger found: the value right behind the name, behind a bracket, a pair with a tight slash, and
# a pass that was set to something.
FAMILIES = r"""
와이파이 비번 {seoulcoffee88} (게스트용 아님)
회의실 와이파이 비번 {gangnam2021} 이고 5G만 됨
NAS 비밀번호 {bibimbap99} 로 접속
비번 {hangang1988}
공유기 암호 {jejudo777}, 바꾸지 말 것
창고 CCTV 패스워드 {tokki-4tiger} 입니다
프린터 비번(관리자) {dalgona365}
게스트 비밀번호 {mugunghwa7} 라고 적혀 있음
엑셀 암호 {kimchi2030}로 풀면 됨
스테이징 비번 {x7qpl93k} 임
비밀 번호 {norae4bang} 확인함
wifi pw {bluewhale88} on the 3rd floor
the printer pw (2nd floor) {granite77}
결제 API 키(토스) {live_sk_7XZYkKL4MrjPq9a2vNBm30zJwlEW} 만료는 내년
결제 API 키(토스 테스트) {test_gsk_docs9OaPz8L5KdmQXkzRz3y47} 로 테스트
지도 API 키(카카오) {4f9c1b7e2a6d8035c1f4e9b27a60d3f8} 사용
문자 발송 인증키(알리고) {q8Zt3vKx7LmN2pRwYb5D} 입니다
번역 API 키 (파파고) {kZ3vQm9xTw1bY7cR5nLp} 갱신함
푸시 토큰(운영) {Zt3vKx7LmN2pRwYb5Dc9GhJ1} 교체
날씨 API 키 {9b27a60d3f84f9c1b7e2a6d8035c1f4e} 무료 요금제
시크릿 키(결제) {Gh1sFa8EuT4oXiVk2Mq7} 노출 주의
the API key (Mapbox) {a7Kd02LsPq91mZx7Vn4TbYcR} expires in May
the access token (billing) {Lp9Kd7QmZ2vLr4TnB8sW} was rotated
signing key (webhooks) {w3E9rT5yU7iO1pA4sD6f} moved to the vault
api key {8f3a2b7c9d1e4f5a6b7c8d9e0f1a2b3c} goes into the CI
client secret (Auth0) {Jx82LmQ0pZ7tRw4vNc1b} is for staging
젠킨스 로그인 deploy/{Jk92hs!ab} 로 들어가서 재시작
그라파나 로그인 viewer/{Look4me!} 로 보면 됨
로그인은 admin/{qwer1234!} 입니다
접속 계정 ops/{Han0k!2031}
계정: backup/{pa55@night}로 접속
DB 접속 app_rw/{gK!8vQ2mPz} 사용
아이디 kim.ms/{summer#Sea24} 임
소나큐브 계정 ci-bot/{Sq$98ubes}
log in with deploy/{Gr4nite!Peak} on the bastion
Nexus login: puller/{w0mbat!Lagoon}
the shared account is guest/{Tea@5oclock}
Kibana credentials elastic/{N0t*Secure} until Monday
creds: root/{T00r^busan}
the Grafana admin pass got reset to {copper-Finch-22} last night
the root pass was changed to {Gravel-Moon-6}
db pass got set to {walnut_Bridge8!} by Kim
the wifi pass is {teapot4sale}
vpn pass: {Harbor-2209x}
The router pass was reset to {k1tten-mitt3ns} again
our ftp pass is now {Sleet_9_Harbor!}
admin pass = {thistle9Quay}
the ssh pass has been rotated to {pine-Cone-77}
The Kafka password got reset to {otter-River-902}
the passcode was set back to {Lantern-5x-oak}
the login pass is still {mossy-Otter-41}
The keystore pass got changed to {tangerine-Dream-9}
"""
TOLD_IN_KOREAN = r"""
비번은 {hodu1234}이야
비번은 {hodu1234} 이야
와이파이 비번은 {감자튀김77}이야
암호를 {Ktx!2031}으로 바꿨어
암호를 {Ktx!2031} 으로 바꿨어
비밀번호를 {oldpass12}에서 {newpass34}로 바꿨어
비밀번호 {spring2025}에서 {summer2026}으로 변경했습니다
비번이 {tomato99}였는데 {potato88}로 바뀌었어
DB 비밀번호 바꿨어, {qwer!2345} 이걸로
새 비밀번호는 {vhtmxm99!}입니다
비번 {dkssud123}로 들어가면 돼
관리자 암호는 그냥 {admin1234} 써
서버 비번 알려줄게 {tjqj#9981}
패스워드는 {letmein55}예요
VPN 암호가 {vpn-home-77}라서 외우기 쉬워
비밀번호는 '{한글암호123}'이야
비밀번호를 {dragon2024}로 설정해 놨어
비번은 {correcthorse1}인데 곧 바꿀 거야
루트 비밀번호: {rnrals2011}
테스트 계정 비번은 {test!1234}이고 운영은 달라
암호는 {20310412}이야
비번을 {0000x9k2}에서 {8s7d6f5g}으로 변경
금고 비밀번호는 {739184}야
압축 파일 암호는 {zip_2027}이에요
와이파이 비번 {cafe1234!}래
우리 집 와이파이 비번 {dongtan-0412!} 이거야
젠킨스 비번 {wpszlstm77}으로 맞춰놨어
비밀번호는 아마 {rlaclWl3!}일 거야
노션 암호 {mint&choco9}로 걸어놨음
DB 암호를 어제 {winter24!}에서 {spring25!}으로 교체했어
비번이 {hello-kitty7}에서 {bye-kitty8}로 바뀜
계정은 admin이고 비번은 {sksmsrhwkd1}
비밀번호 까먹지 마: {Zkvp-1004}
맥북 로그인 암호는 {990412}입니다
공용 계정 패스워드 {team!blue42} 쓰세요
비번 {a1b2c3d4}야 까먹지 마
비밀번호는 대문자로 {HWASEONG2030!} 이라고 쳐
암호는 {별이빛나는밤7}이에요
새 비번은 {tkfkdgo486}고 옛날 건 지웠어
SSH 패스프레이즈는 {gangaji-goyangi-77}이야
라우터 비번을 {tp-link99}에서 {Fhdnxj!55}로 변경 완료
"""
SAID_OF_THEM_IN_KOREAN = """
비밀번호는 8자 이상이어야 해
비번을 90일에서 60일로 바꿨어
비밀번호 최소 길이를 8자에서 12자로 변경했어
암호 알고리즘을 SHA1에서 SHA256으로 바꿨어
암호를 bcrypt로 해시해서 저장한다
비밀번호 정책 v2.1에서 v3.0으로 바꿨어
비밀번호 재설정 메일은 10분 뒤에 만료된다
비번은 1Password에 있어
비밀번호는 .env 파일에 둔다
비밀번호를 argon2id로 바꿨습니다
비번을 잊어버려서 초기화했어
비밀번호 필드를 password_hash로 이름을 바꿨어
비밀번호 입력 화면을 React18로 다시 만들었어
비밀번호는 2026-03-01에 바꿨어
암호는 KMS에서 받아와
비번은 Vault의 kv/prod/db 에 있어
암호화폐 지갑은 쓰지 않는다
비밀번호를 DB_PASSWORD로 바꿨어
비번 찾기는 /api/v1/reset 으로 보낸다
비밀번호 검증은 auth.py의 check2 함수가 한다
비밀번호는 3번 틀리면 잠겨
암호는 AES256이야
비밀번호 오류 코드를 E1001에서 E2001로 바꿨어
비밀번호 규칙은 RFC7617을 따라
비번 관리 툴을 bitwarden2로 옮겼어
비밀번호 해시를 md5에서 sha512로 바꿨어
비번은 매달 1일에 바꿔
비밀번호는 12자에서 16자로 늘렸어
암호는 TLS1.3으로만 보낸다
비밀번호 화면은 v2.3.1에서 고쳤어
비번은 LastPass에 저장했어
비밀번호는 users 테이블의 pw_hash2 컬럼에 있어
패스워드는 base64로 인코딩하지 마
비밀번호 변경 API는 PUT /v2/me 야
암호 모듈을 openssl3으로 올렸어
비번을 5번 틀리면 30분 잠긴다
비밀번호를 env1에서 vault2로 옮겼어
비밀번호 정규식은 utils.ts 120번째 줄이야
비밀번호는 Ubuntu22에서 초기화해야 해
비번 로직은 PR1234에서 바뀌었어
비밀번호는 2단계 인증이랑 같이 써
"""
NEAR_THE_LINE = """
postgres://user:password@host/db is the shape of the URL.
비번 규칙은 12자 이상
pass rate got reset to 0
로그인/로그아웃 버튼을 합친다
비번 찾기 화면은 다음 주에 배포한다
비밀번호 sha256sum 값을 비교한다
비밀번호 argon2id 해시로 바꾼다
암호 AES-256-GCM 으로 통일
패스워드 base64 인코딩은 암호화가 아니다
비밀번호 v2.10.11 버전부터 길이를 검사한다
비번 OPS-12345 티켓 참고
API 키(토스) 발급은 재무팀이 한다
API 키(카카오) payment-gateway-v2 설정에 넣는다
토큰(JWT) RS256 서명만 받는다
API 키 config/secrets.yaml 에서 읽는다
the API key (Mapbox) belongs to the design team
the access token OAuth2AuthorizedClientManager is a bean
refresh token (v2) rotation is on since 2026-11-01
the token RefreshTokenHandlerV2 was renamed
로그인 auth/login-v2 경로를 쓴다
로그인 페이지는 web/Login2Page.tsx 이다
계정 설정은 settings/account#step2 에 있다
로그인 이슈는 shop/issues#1234 참고
login pages/SignIn_v2 was split
account billing/2026-11 was closed
the second pass was reset to zero
the linter pass was changed to ruff-0.14
The compiler pass is loop-unroll-2
the admin pass rate is 98.7%
the test pass got reset to build-1234
the password got reset to the default by IT
mysql://username:pass@hostname:3306/db is what the docs show
"""


def test_200_secrets_of_40_kinds_are_taken_out() -> None:
    missed = [kind for kind, secret, text in planted(200, seed=1) if secret in redact(text)[0]]
    assert len({*TOKENS, *SENTENCES}) == 40
    assert len(missed) <= 10, missed


def in_braces(written: str) -> list[tuple[str, str]]:
    """Each line, and the secret in it."""
    return [(line.replace("{", "").replace("}", ""), line[line.index("{") + 1 :].split("}")[0])
            for line in written.strip().splitlines()]  # fmt: skip


def test_passwords_as_people_write_them_are_taken_out() -> None:
    texts = in_braces(WRITTEN)
    missed = [text for text, secret in texts if secret in redact(text)[0]]
    assert len(texts) == 40
    assert len(missed) <= 2, missed


def test_a_value_beside_its_name_a_tight_pair_and_a_pass_are_taken_out() -> None:
    texts = in_braces(FAMILIES)
    missed = [text for text, secret in texts if secret in redact(text)[0]]
    assert len(texts) == 52
    assert missed == []


def test_passwords_as_people_tell_them_in_korean_are_taken_out() -> None:
    for line in TOLD_IN_KOREAN.strip().splitlines():
        left = redact(line.replace("{", "").replace("}", ""))[0]
        assert [secret for secret in re.findall(r"{(.+?)}", line) if secret in left] == [], line
    for line in SAID_OF_THEM_IN_KOREAN.strip().splitlines():
        assert redact(line)[0] == line


def test_what_is_near_the_line_stays() -> None:
    touched = [redact(text)[0] for text in NEAR_THE_LINE.strip().splitlines() if redact(text)[1]]
    assert touched == []


def test_a_namespace_that_holds_a_secret_is_refused(tmp_path: Path) -> None:
    secret = TOKENS["github"](random.Random(6))
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        agent = Caller(home="default")
        for refused in (
            lambda: perform(OPERATIONS["remember"], engine, agent, {"content": "words", "namespace": secret}),
            lambda: perform(OPERATIONS["search"], engine, agent, {"query": "words", "namespace": f"n-{secret}"}),
            lambda: engine.remember("words", namespace=secret),
            lambda: engine.tokens.create([secret]),
        ):
            with pytest.raises(InvalidInput, match="the namespace holds what looks like a secret"):
                refused()
        assert engine.remember("words", namespace="team-7/shop:prod@eu").id
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("s.db*") if path.is_file())


@pytest.mark.parametrize(("text", "secrets"), [
    ("We changed the password from winter22 to spring23.", ("winter22", "spring23")),
    ("2FA secret: JBSW Y3DP EHPK 3PXP", ("JBSW", "3PXP")),
    ("The SNMP community string is harb0rRO", ("harb0rRO",)),
    ("The PIN is 4821", ("4821",)), ("My PIN for the safe is 482199.", ("482199",)), ("PIN 번호는 4821이야", ("4821",)),
    ("recovery codes: 8f3k-22mq 9d1x-77pl", ("8f3k-22mq", "9d1x-77pl")), ("복구 코드는 8f3k-22mq야", ("8f3k-22mq",)),
    ("backup codes are 12345678 and 87654321", ("12345678", "87654321")),
])  # fmt: skip
def test_short_secrets_are_taken_by_what_they_are_called(text: str, secrets: tuple[str, ...]) -> None:
    redacted = redact(text)[0]
    assert not [secret for secret in secrets if secret in redacted]
    assert redact(redacted)[0] == redacted


@pytest.mark.parametrize("text", [
    "The pin is bent on connector 2.", "Pin: the GPIO header has 40 of them", "Recovery codes are shown once.",
    "The community is 1200 people strong", "We moved the password page from version 2 to version 3.",
    "The status code is 4040 here", "The backup code is in src/backup.py",
])  # fmt: skip
def test_what_is_only_called_alike_stays(text: str) -> None:
    assert redact(text) == (text, ())


def test_honest_sentences_about_passwords_stay() -> None:
    touched = [redact(text)[0] for text in HONEST.strip().splitlines() if redact(text)[1]]
    assert touched == []


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("RECALLENS_EVAL_DATA"), reason="RECALLENS_EVAL_DATA names no evaluation data")
def test_real_texts_are_left_alone() -> None:
    texts: list[str] = []
    for units in sorted(Path(os.environ["RECALLENS_EVAL_DATA"]).glob("*/units.jsonl.gz")):
        with gzip.open(units, "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in itertools.islice(lines, 0, 2_500, 10)]
    texts = texts[:2_000]
    taken = [redact(text)[1] for text in texts if redact(text)[1]]
    assert len(texts) == 2_000
    assert len(taken) <= 20, taken


def test_no_stored_string_holds_a_secret(tmp_path: Path) -> None:
    """Text, title, summary, tags, author, ids, scopes, a vault's headings, the query of a recorded search."""
    secrets = [(secret, text) for kind, secret, text in planted(27, seed=3)]
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        for number, (secret, text) in enumerate(secrets):
            engine.remember(Draft(
                f"Memory {number} says {text}", title=f"About {text}", summary=f"It is {text}", tags=(secret,),
                author=f"robot {secret}", source_id=f"file {secret}", scopes=(secret,), session=f"session {secret}",
                attributes={"note": text},
            ), dedupe=False)  # fmt: skip
            engine.search(f"where is {text}", session=f"asks {secret}")
        vault = tmp_path / "vault"
        vault.mkdir()
        for number, (_, text) in enumerate(secrets):
            (vault / f"note {number}.md").write_text(f"# {text}\n\n## {text}\n\nwords {number}\n", encoding="utf-8")
        engine.vaults.add(str(vault))
        assert len(engine.vaults.sync().vaults[0].added) == len(secrets)
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("s.db*") if path.is_file())
    missed = [secret for secret, _ in secrets if secret.encode() in stored]
    assert missed == []


def test_ids_and_paths_with_a_secret_are_refused_and_citations_lose_it(tmp_path: Path) -> None:
    secret = TOKENS["github"](random.Random(5))
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        for refused in (
            lambda: engine.sessions.start(f"s{secret}"),
            lambda: engine.tasks.start("deploy", id=f"t-{secret}"),
            lambda: engine.memories.add_document("# Deploy\n\nwords", path=f"docs/{secret}.md"),
        ):
            with pytest.raises(InvalidInput, match="holds what looks like a secret"):
                refused()
        engine.remember(Draft("See the log", citations=(LogCitation(secret), FileCitation(f"src/{secret}.py", 1, 2))))
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("s.db*") if path.is_file())


# A plain word that is stated to be the password, what it was before, and SNMP's.
STATED = (
    ("sunflower", "The password is sunflower."),
    ("sunflower", "the password is sunflower"),
    ("sunflower", "Our wifi password is sunflower, ask Dana if it fails."),
    ("dragonfly", "The router's password was dragonfly until May."),
    ("swordfish", "The admin password for the printer is swordfish."),
    ("butterfly", "Password for the lab is butterfly"),
    ("marmalade", "the vpn passphrase is marmalade and the user is ops"),
    ("hunter", 'The password is now "hunter".'),
    ("winter22", "The password is kX9!vv2. It was winter22, and nobody may use that one."),
    ("summer2021", "The password changed in May; previously it was summer2021."),
    ("green8sky", "The wifi password is blue7sky (before that it was green8sky)."),
    ("n0rthgate", "snmpwalk -v2c -c n0rthgate 10.0.0.1"),
    ("northgate", "snmpwalk -v 2c -c northgate 10.0.0.1 system"),
    ("northgate", "snmp-server community northgate RO"),
    ("northgate", "The community string is northgate."),
    ("harbourlight", "The SNMP community string for the switches is harbourlight."),
)
TOLD_OF = """
The password is required.
The password is wrong
If the password is incorrect, the account is locked.
The password is stored in Vault.
The password is case sensitive.
The password is weak, so change it.
The password is hashed with bcrypt.
The password was reset on Friday.
The password is too short.
The password is never logged.
I forgot what my password was.
The password is in 1Password.
Make sure the password is unique.
The password is temporary and the user must change it.
The password is missing.
The password is unknown to us.
The password is rotated monthly.
The password is known only to Dana.
The password is secret.
The password is optional for guests.
The password was leaked in 2019.
The password is yours.
The password manager is Bitwarden.
The password field is hidden.
The password is expired.
The password is valid for 90 days.
The password policy is strict.
snmpwalk -v2c -c public 10.0.0.1
snmp-server community public RO
The community string is public.
The PIN is required.
The door code is broken.
The recovery code is lost.
The default password is printed on the back.
Tell me when the password is ready.
We moved the password file. It was 2021 when we did.
The password reset page. It was python3 that failed.
My password is long enough.
the password is good for the whole month
"""


@pytest.mark.parametrize(("secret", "text"), STATED)
def test_a_plain_word_that_is_stated_to_be_the_password_is_taken_out(secret: str, text: str) -> None:
    assert secret not in redact(text)[0]


def test_what_is_told_of_a_password_is_no_password() -> None:
    assert [redact(text)[0] for text in TOLD_OF.strip().splitlines() if redact(text)[1]] == []
