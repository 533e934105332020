"""Korean: how a clause states something that holds."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack

_PAST: Final = (
    "".join(chr(code) for code in range(ord("가") + 20, ord("힣") + 1, 28)).replace("있", "").replace("겠", "")
)

STATEMENTS: Final = pack.StatementWords(
    values="""
    걸린다 든다 유효하다 보관한다 기간 시간 동안 한도 제한 최대 최소 까지 마다 비용 가격 요금 값 크기 개수 횟수 인원
    받는다 된다 맞춘다 정한다 전까지 부터 이내 이상 이하 미만 오전 오후 매번
    """,
    past=rf"[{_PAST}](?:다|음|습니다|어요?|고|지만|는데)\W*$|작년|지난",
    leaning=r"(?=.*[가-힣])(?!.*[가-힣][은는이가]\s)",
    negation=r"지?\s?(?:않|못하|못한|못함|못할|못합)[가-힣]*|없[가-힣]*|아[니닌닙님][가-힣]*|(?<![가-힣])[안못](?=\s)|불가능?[가-힣]*",
    carried="[가-힣]+",
    after_measured=r"(?:이다|다|입니다|이에요|예요|임|\s?(?:든다|걸린다|나간다|들어|걸려))",
    opposites="허용 금지, 가능 불가, 성공 실패, 무료 유료, 필수 선택, 공개 비공개, 자동 수동, 켠다 끈다, 연다 닫는다",
    one_name=(
        r"^(?P<said>.+[은는이가] )(?P<name>[가-힣A-Za-z0-9]{2,12}?)에(?:서)? "
        r"(?:있|위치|둔|놓|보관|선다|설치)[가-힣]*\W*$",
        r"^(?P<said>.*[은는을를] )(?P<name>[가-힣A-Za-z]{2,8}?)[이가] (?:맡|담당|관리|책임|이끈|진행)[가-힣]*\W*$",
        r"^(?P<said>.*(?:자|장|담당|책임|대표|업체|회사|도구|주소|이름|위치|장소|곳|언어|은행|거래처)[은는] )"
        r"(?P<name>[가-힣A-Za-z]{2,12}?)(?:이다|다|입니다|이에요|예요)\W*$",
    ),
)
