"""How Korean speaks of times, and of what happened as a time."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack

# Every syllable that ends in ㅆ stands in a verb's past (바꿨지), or in 있 and 겠.
PAST: Final = "".join(chr(code) for code in range(ord("가") + 20, ord("힣") + 1, 28))
_WAS_SAID: Final = PAST.replace("있", "").replace("겠", "")
FINAL_L: Final = 8  # ㄹ among the finals

_FEW: Final = 3
_COUNTED: Final = r"(?P<count>\d{1,3}|[한두세네몇수일이삼])\s?"
_DAYS: Final = {
    "하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "이레": 7, "여드레": 8, "아흐레": 9, "열흘": 10,
    "보름": 15,
}  # fmt: skip
_IN_DAYS: Final = f"(?P<count>{'|'.join(_DAYS)})"
_WEEKDAY: Final = r"(?P<weekday>[월화수목금토일])요일"
# What comes again and again: the next one is no time after what stands before.
_NEXT: Final = (
    "진료|회의|예약|약속|수업|시험|검사|검진|접종|방문|모임|면담|상담|버전|릴리스|배포|단계|차례|회차|정기|정산|공연"
    "|연습|일정|휴가|생일|페이지|작업|점검|교체"
)
_WEEKS: Final = {"지지난": 2, "저저번": 2, "지난": 1, "저번": 1, "이번": 0, "다다음": -2, "다음": -1}
_NTH_WEEKS: Final = {
    **dict.fromkeys(("첫째 주", "첫째주", "첫 주", "첫주", "1주차"), (1, 8)),
    **dict.fromkeys(("둘째 주", "둘째주", "2주차"), (8, 15)), **dict.fromkeys(("셋째 주", "셋째주", "3주차"), (15, 22)),
    **dict.fromkeys(("넷째 주", "넷째주", "4주차"), (22, 29)), **dict.fromkeys(("마지막 주", "마지막주"), (24, None)),
}  # fmt: skip
_PARTS: Final = {
    **dict.fromkeys(("초", "초순", "상순", "초반"), (1, 11)), **dict.fromkeys(("중순", "중반"), (11, 21)),
    **dict.fromkeys(("말", "하순"), (21, None)), "전반": (1, 16), "후반": (16, None),
    **_NTH_WEEKS,
}  # fmt: skip
_PART: Final = rf"(?P<part>{'|'.join(_NTH_WEEKS)}|" r"초순|초반|초|상순|중순|중반|말|하순|전반|후반)"
_SEASONS: Final = {"봄": 3, "여름": 6, "가을": 9, "겨울": 12}
# A question about what was: how many days before is no time.
_WAS: Final = rf"(?=[^?]*(?:[{_WAS_SAID}]|[한된난던긴]\s?(?:거|것|게|일)))"
_UNIT: Final = r"(?P<unit>개월|주일|일|주|달|년|해)"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)년"
_OR_THIS_YEAR: Final = rf"(?:{_YEAR}\s?|지난\s?|올해\s?)?"
_MONTH: Final = r"(?P<month>\d{1,2})월"
# Up to five words; a topic before them is what is asked about, and ends at its particle.
_EVENT: Final = r"(?P<event>(?:[^\s,?!]+(?<![은는])\s){0,4}[^\s,?!]+?)"
_DAY: Final = r"(?P<day>\d{1,2})일"
_ALSO: Final = r"(?:\s?(?:과|와|이랑|하고|및|,|·)\s?)(?P<also>\d{1,2})일"
_WEEK_ENDS: Final = r"(?=[에의는엔]|까지|부터|쯤|중|안|\s|[?.!,]|$)"
_AHEAD_ENDS: Final = r"(?=[에의엔면쯤]|까지|\s|[?.!,]|$)"
_AT_WHICH: Final = r"(?=에\s?(?:뭐|뭘|무슨|무엇|어떤|했|한\s(?!번)|있))"
# Every syllable that ends in ㄴ: a verb before what it belongs to (바꾼, 올린), or a noun.
_ADNOMINAL: Final = "".join(chr(code) for code in range(ord("가") + 4, ord("힣") + 1, 28))
_ENDS: Final = r"(?=\s|[?,.!]|$)"
# 전 within another word: 버전, 오전, 예전, 리전, 사전.
_NO_OTHER_WORD: Final = r"(?<![버오예])(?<!\s[리사안완])"
# Every syllable that ends in ㄹ: what comes at such times, and not what came (할 때).
_FUTURE: Final = "".join(chr(code) for code in range(ord("가") + FINAL_L, ord("힣") + 1, 28))

# The sorts of events and of things: words that stand for one another where somebody tells what happened.
SAME_EVENTS: Final = {
    "birth": r"출산|출생|태어[나났난]|낳[았은아]",
    "marriage": r"결혼|혼인|약혼|식을\s?올",
    "injury": r"다[쳤친치쳐]|부상|골절|금이\s?[가간갔]|부러[졌진져]|삐[었끗]|넘어[졌진져]",
    "illness": r"독감|감염|확진|식중독|배탈|알레르기|몸살|병[에이]\s?(?:걸|났|나)|열이?\s?(?:나|났)|진단|앓",
    "death": r"사망|별세|돌아가[셨신]|죽[었은]|장례|부고",
    "treatment": "수술|입원|시술|응급실|퇴원",
    "departure": r"사임|퇴[직사]|은퇴|그만[둔두뒀]|떠[났난나]|사표",
    "arrival": "합류|입사|채용|영입|부임|들어[온왔]|뽑[은았]",
    "appointment": r"승진|임명|선출|취임|부임|새로\s?맡|이어받|물려받",
    "dismissal": "해고|권고사직|잘[렸린]",
    "leave": r"휴직|육아|휴가|병가|자리를\s?비[운웠우]|쉬[기었는]",
    "adoption": r"입양|데려[왔온오]|분양\s?받|키우기",
    "celebration": "잔치|생신|생일|기념|축제|돌잔치|환갑|칠순|팔순|파티|예식|행사",
    "meeting": "회의|모임|만[났난나]|면담|간담회|워크숍",
    "performance": r"공연|강연|낭독|낭송|전시|연주|읽어\s?[주줬]|행사|북토크|강의",
    "travel": r"여행|출장|소풍|견학|다녀[왔온오]|캠프|답사",
    "contract": "계약|체결|서명|협약|도장",
    "cancellation": "취소|해지|파기|철회|무산|해약",
    "delay": r"연기[됐된되]|미뤄[졌진지]|미[뤘룬]|지연",
    "dispute": "소송|재판|고소|벌금|과태료|분쟁",
    "strike": "파업|시위|집회",
    "notice": r"통보|통지|알려\s?[왔온]|공지|연락",
    "complaint": "항의|민원|불만|불평",
    "funding": "모금|후원|투자|기부|지원금",
    "bankruptcy": "파산|부도|폐업|도산|망[했한]",
    "merger": "합병|인수",
    "rise": r"인상|오[른르]|올[랐린렸라려리]|상승",
    "fall": "인하|내[렸린려]|할인|낮[췄춘]",
    "purchase": r"구입|구매|사\s?왔|샀|장만|들[였인여]",
    "sale": "팔[았린렸]|판매|매각",
    "launch": r"개[장점업]|오픈|열[었린]|문을\s?연|출시|발매|공개|개시|내놓|배포|론칭|런칭|나왔|선보[였인]|도입|시작"
    r"|오늘부터|처음으로",
    "closing": r"종료|폐지|폐쇄|접[었은]|닫[았은]|문\s?닫",
    "move": r"이전|이관|이사|옮[겼긴기]|전환|갈아[탔탄타]|마이그레이션|넘어[갔간]|입주",
    "division": "분리|분할|쪼[갰갠개]|나[눴눈누]",
    "replacement": "교체|바[꿨꾼뀐꿔]|갈[았아]",
    "rollback": "롤백|되돌[렸린려]|원복",
    "repair": r"수리|고[쳤친쳐]|보수\s?공사|공사|리모델링|손[봤본]|확장",
    "rejection": r"반려|거절|거부|퇴짜|탈락|불합격|떨어[졌진]|돌려\s?보[냈낸내]|부결",
    "approval": "합격|통과|승인|허가|선정|인증",
    "audit": r"감사|실사|점검|검사|살펴보|둘러보|조사|평가|단속|방문",
    "theft": "도난|도둑|훔[쳐친]|절도|털[렸린]|없어[졌진]",
    "flood": r"침수|잠[겼긴기]|물난리|홍수|범람|물이\s?(?:찼|들|넘)",
    "leak": r"유출|누출|누수|새어\s?나[갔간]|새[나]?[갔간]|샜|물이?\s?(?:샌|새|뚝|떨어)",
    "fire": r"화재|불이?\s?(?:났|나|붙|난)",
    "collision": r"충돌|들이받|부딪|추돌|접촉\s?사고",
    "collapse": "붕괴|무너[졌진져]|주저앉|내려앉|쓰러[졌진져]",
    "breakdown": r"고장|멈[췄춰춘]|끊[어겼긴]|망가|부러|나갔|안\s?[켜되돼]",
    "outage": r"장애|먹통|다운[됐된]|중단[됐된]|접속(?:이|도)?\s?(?:안|되지|불가|못)|마비"
    r"|(?:열리|켜지|되)지\s?않|안\s?열",
    "fault": "오류|버그|결함|오작동|잘못",
    "attack": "공격|해킹|침입|디도스|랜섬|뚫[렸린]",
    "loss": "유실|소실|사라[졌진]|날아[갔간]|날[렸린]|지워[졌진]|없어[졌진]|분실|잃어버[렸린]",
    "disposal": r"폐기|버[렸린려]|처분|못\s?쓰게",
    "power": r"정전|전기가\s?(?:나|끊)",
    "frost": "냉해|서리|얼[었어고]",
    "damage": "파손|깨[졌진지]|상[했한해]",
    "weather": "태풍|폭우|폭설|장마|폭염|우박|한파",
}  # fmt: skip

SAME_THINGS: Final = {
    "office": "사무실|작업실|오피스|사옥|본사|스튜디오",
    "data centre": r"데이터\s?센터|전산실|서버실|IDC|코로케이션",
    "database": "데이터베이스|디비",
    "system": "시스템|전산|프로그램|소프트웨어|컴퓨터",
    "online": r"온라인|인터넷|누리집|홈페이지|웹",
    "demo": "데모|체험판|시연판|맛보기판",
    "app store": r"앱\s?스토어|애플|구글\s?플레이|플레이\s?스토어|앱\s?심사|앱\s?마켓",
    "saved data": r"세이브|저장\s?(?:데이터|파일|자료)|이용자\s?데이터",
    "authority": r"당국|감독\s?기관|규제\s?기관|위원회|보건소|구청|시청",
    "request": "신청|제안서?|요청|건의",
    "site": r"홈페이지|웹\s?사이트|누리집",
    "staff": "직원|사원|동료",
    "customer": "고객|이용자|사용자|손님|환자|승객",
    "supplier": r"공급사|납품\s?업체|협력사|거래처",
    "warehouse": r"창고|물류\s?센터",
    "shop": "가게|매장|상점|점포|지점|책방|서점",
    "child": "아이|아들|딸|막내|첫째|둘째|아기",
}  # fmt: skip

TIMES: Final = pack.TimeWords(
    rules=(
        pack.TimeRule(
            rf"(?:{_YEAR}\s?)?{_MONTH}\s?{_DAY}[이가]?\s?(?:있는|낀|든|포함된|속한|시작하는)?\s?주(?:간)?{_WEEK_ENDS}",
            "week",
        ),
        pack.TimeRule(rf"{_YEAR}\s?{_MONTH}\s?{_DAY}{_ALSO}", "date"),
        pack.TimeRule(rf"{_YEAR}\s?{_MONTH}\s?{_DAY}", "date"),
        pack.TimeRule(rf"(?:작년|지난해)\s?{_MONTH}\s?{_DAY}", "date", back=1),
        pack.TimeRule(rf"내년\s?{_MONTH}\s?{_DAY}", "date", back=-1),
        pack.TimeRule(
            rf"{_OR_THIS_YEAR}{_MONTH}\s?(?P<day>\d{{1,2}})일?(?:\s?[~-]|부터|에서)\s?(?P<until>\d{{1,2}})일(?:까지)?",
            "date",
        ),
        pack.TimeRule(rf"{_OR_THIS_YEAR}{_MONTH}\s?(?P<day>\d{{1,2}})일?{_ALSO}", "date"),
        pack.TimeRule(rf"{_OR_THIS_YEAR}{_MONTH}\s?{_DAY}", "date"),
        pack.TimeRule(
            r"(?P<day>\d{1,2})일?(?:\s?[~-]\s?|부터\s?)(?P<until>\d{1,2})일(?=까지|에(?!\s?[한두]\s?번)|\s?(?:일정|예정|행사|휴무))",
            "date",
        ),
        pack.TimeRule(rf"{_DAY}{_ALSO}{_AT_WHICH}", "date"),
        pack.TimeRule(rf"{_DAY}{_AT_WHICH}", "date"),
        pack.TimeRule(rf"{_OR_THIS_YEAR}{_MONTH}\s?{_PART}(?![가-힣]{{2}})", "part"),
        pack.TimeRule(rf"(?:작년|지난해)\s?{_MONTH}", "month", back=1),
        pack.TimeRule(rf"내년\s?{_MONTH}", "month", back=-1),
        pack.TimeRule(rf"{_OR_THIS_YEAR}{_MONTH}(?!\s?\d)", "month"),
        pack.TimeRule(rf"(?:최근|지난|근래)\s?{_COUNTED}{_UNIT}(?:간|동안|사이)?", "past"),
        pack.TimeRule(rf"(?:최근|지난|근래)\s?{_IN_DAYS}(?:간|동안|사이)?", "past"),
        pack.TimeRule(rf"(?!몇){_COUNTED}{_UNIT}\s?전", "ago"),
        pack.TimeRule(rf"(?=몇){_COUNTED}{_UNIT}\s?전(?![이인]){_WAS}", "ago"),
        pack.TimeRule(rf"{_IN_DAYS}\s?전", "ago"),
        pack.TimeRule(rf"(?:앞으로|향후)\s?{_COUNTED}{_UNIT}(?:간|동안|사이|안에)?", "coming"),
        pack.TimeRule(rf"(?!몇){_COUNTED}{_UNIT}\s?[뒤후]{_AHEAD_ENDS}", "ahead"),
        pack.TimeRule(rf"{_IN_DAYS}\s?[뒤후]{_AHEAD_ENDS}", "ahead"),
        pack.TimeRule(rf"(?!몇){_COUNTED}(?:시간|분)\s?전|방금|아까", "day"),
        pack.TimeRule(
            rf"(?:지난|요|최근)\s?며칠(?:간|동안)?|며칠\s?(?:전(?![이인]){_WAS}|동안|사이|간)",
            "past", count=7, vague=True,
        ),
        pack.TimeRule(r"그끄저께|그끄제", "day", back=3),
        pack.TimeRule(r"엊그제|엊그저께", "past", count=2, vague=True),
        pack.TimeRule(r"그저께|그제", "day", back=2),
        pack.TimeRule(r"어제|어저께|어젯밤|(?<![가-힣]\s)(?<![가-힣])전날", "day", back=1),
        pack.TimeRule(r"오늘|오늘날(?!짜)", "day"),
        pack.TimeRule(r"글피", "day", back=-3),
        pack.TimeRule(r"내일\s?모레|모레", "day", back=-2),
        pack.TimeRule(r"내일", "day", back=-1),
        pack.TimeRule(rf"(?P<week>{'|'.join(_WEEKS)})\s?주\s?{_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"(?P<week>이번|다음)\s?{_WEEKDAY}", "weekday"),
        pack.TimeRule(rf"(?:오는|돌아오는)\s?{_WEEKDAY}", "weekday", back=-1),
        pack.TimeRule(r"이번\s?주말", "weekend"),
        pack.TimeRule(r"(?:다음\s?|담)주말", "weekend", back=-1),
        pack.TimeRule(rf"다다음\s?주{_WEEK_ENDS}", "period", unit="week", back=-2),
        pack.TimeRule(rf"(?:다음\s?주|담주|내주|차주){_WEEK_ENDS}", "period", unit="week", back=-1),
        pack.TimeRule(r"지지난\s?주|저저번\s?주", "period", unit="week", back=2),
        pack.TimeRule(r"(?:지난|저번)\s?주말|주말(?=에|\s?동안|\s?사이|\s?뭐)", "weekend", back=1),
        pack.TimeRule(rf"(?:지난|저번)\s?{_WEEKDAY}", "weekday"),
        pack.TimeRule(
            rf"(?<!매주 )(?<!마다 ){_WEEKDAY}(?=에|날|부터|이후|까지|\s?뭐|\s?뭘|\W*$)", "weekday", any_such=True
        ),
        pack.TimeRule(r"(?:지난|저번)\s?주", "period", unit="week", back=1),
        pack.TimeRule(r"이번\s?주|금주", "period", unit="week"),
        pack.TimeRule(rf"(?:지난|저번)\s?달\s?{_PART}", "part", back=1),
        pack.TimeRule(rf"(?:이번\s?달|이달)\s?{_PART}", "part"),
        pack.TimeRule(rf"(?:다음\s?달|내달)\s?{_PART}", "part", back=-1),
        pack.TimeRule(r"다음\s?달|내달", "period", unit="month", back=-1),
        pack.TimeRule(r"다음\s?분기", "period", unit="quarter", back=-1),
        pack.TimeRule(r"지지난\s?달", "period", unit="month", back=2),
        pack.TimeRule(r"(?:지난|저번)\s?달|전월", "period", unit="month", back=1),
        pack.TimeRule(r"이번\s?달|이달|당월", "period", unit="month"),
        pack.TimeRule(r"(?:지난|저번|직전)\s?분기", "period", unit="quarter", back=1),
        pack.TimeRule(r"이번\s?분기", "period", unit="quarter"),
        pack.TimeRule(rf"(?:작년|지난해)\s?(?P<season>{'|'.join(_SEASONS)})(?=[에의은엔]|\s|$)", "season", back=1),
        pack.TimeRule(
            rf"(?:{_YEAR}|지난)\s?(?P<season>{'|'.join(_SEASONS)})(?=[에의은엔]|\s|$)", "season"
        ),
        pack.TimeRule(rf"(?:올해|올|이번)\s?(?P<season>{'|'.join(_SEASONS)})(?=[에의은엔]|\s|$)", "this season"),
        pack.TimeRule(
            rf"(?:다음|다가오는|오는|돌아오는)\s?(?P<season>{'|'.join(_SEASONS)})(?=[에의은엔]|\s|$)",
            "next season",
        ),
        pack.TimeRule(rf"내년\s?(?P<season>{'|'.join(_SEASONS)})(?=[에의은엔]|\s|$)", "season", back=-1),
        pack.TimeRule(r"(?:작년|지난해)\s?(?P<half>[상하])반기", "half", back=1),
        pack.TimeRule(r"(?:작년|지난해)\s?(?P<quarter>[1-4])분기", "quarter", back=1),
        pack.TimeRule(rf"{_OR_THIS_YEAR}(?P<half>[상하])반기", "half"),
        pack.TimeRule(rf"{_OR_THIS_YEAR}(?P<quarter>[1-4])분기", "quarter"),
        pack.TimeRule(r"재작년", "period", unit="year", back=2),
        pack.TimeRule(r"작년|지난해|전년", "period", unit="year", back=1),
        pack.TimeRule(r"내년", "period", unit="year", back=-1),
        pack.TimeRule(r"올해|금년", "period", unit="year"),
        pack.TimeRule(rf"{_YEAR}(?!\s?\d)", "year"),
        pack.TimeRule(r"최근|요즘|요새|근래", "past", count=30, vague=True),
    ),
    around=(r"(?<![가-힣\d])(?:", ")"),
    sign=r"분기|\d\s?[월일주달년개시분]|[한두세네몇수일이삼]\s?(?:개월|주|달|해|년|시간|분)|최근|지난|저번|이번|어제|오늘|작년"
    r"|올해|올\s?[봄여가겨]|재작년|그제|그저께|며칠|어젯|어저께|전날|이달|금[주년]|전[월년]|당월|반기|요즘|요새|근래|요일|주말|방금|아까|그끄"
    r"|내일|모레|글피|다음|내[년달주]|담주|차주|앞으로|향후|오는"
    rf"|(?:{'|'.join(_DAYS)})",
    numbers={"한": 1, "두": 2, "세": 3, "네": 4, "몇": _FEW, "수": _FEW, "일": 1, "이": 2, "삼": 3, **_DAYS},
    units={
        "일": "day", "날": "day", "주": "week", "주일": "week", "개월": "month", "달": "month", "년": "year",
        "해": "year",
    },
    weekdays=("월", "화", "수", "목", "금", "토", "일"),
    seasons=_SEASONS,
    halves={"상": 1, "하": 7},
    parts=_PARTS,
    weeks=_WEEKS,
    since_after=r"\s?(?:이후|부터|이래|(?:지나고|넘어서)|(?:다음(?!\s?(?:주|달|해|분기|[월화수목금토일]요일))|뒤|후)(?:에|로|$|\s))",
    until_after=r"\s?까지",
    ended_after=r"\s?(?:이전|전(?:에|까지))",
    ranges=r"\s?(?:부터|에서|~|-|[와과](?=.{0,20}사이))\s?",
    both=r"\s?(?:과|와|이랑|하고|및|,|·)\s?",
    clause_end=r"(?<=[가-힣][고며])\s|(?<=지만|는데|으니|므로)\s",
    ahead=r"예정|계획|[할될올갈]\s?(?:것|거|게)|(?:[할둘길낼]|(?<!가)을)\s(?:일|서류|물건|짐|준비)|[아어해둬야]\s?(?:둘|할|줄)\s|겠|기로\s?(?:했|하|정|결정)|려고|하자|기한|마감|잡[았혔]|예약|내년",
    toward=r"월(?:\s?\d{1,2}일)?(?:로|으로|까지)(?=\s|$)",
    behind=rf"[{_WAS_SAID}](?=[다음습어지고으는던네나니])|지난\s?\d{{1,2}}월",
    this_year="올해|금년",
    yearly=r"매년|해마다|매해|매번|항상|늘\s|\d월마다"
    rf"|^(?!.*[{_WAS_SAID}]다).*\d월(?:과|와|,|하고|\s및|·)\s?\d{{1,2}}월(?!\s?\d)",
    event_sign="후|이래|다음|이튿|뒤|나서|끝나고|터지고|생기고|전|당일|때",
    events=(
        pack.EventRule(
            rf"{_EVENT}(?:\s?(?:이?후|한|된|난))?\s?(?:다음\s?날|이튿날)(?:에|에는)?{_ENDS}", 1, 2, ("다음", "이튿날")
        ),
        pack.EventRule(
            rf"{_EVENT}\s?(?:이후|직후|후|뒤)\s?(?:일주일|한\s?주|1주일?)\s?(?:간|동안|안에)?{_ENDS}",
            0, 8, ("후", "뒤"),
        ),
        pack.EventRule(rf"{_EVENT}\s(?:전날|하루\s?전)(?:에|에는)?{_ENDS}", -1, 0, ("전",)),
        pack.EventRule(rf"{_EVENT}\s당일(?:에|에는|은)?{_ENDS}", 0, 1, ("당일",)),
        pack.EventRule(rf"{_EVENT}(?<![{_FUTURE}그이])\s때(?:에|에는|는)?{_ENDS}", 0, 2, ("때",)),
        pack.EventRule(
            rf"{_EVENT}(?:\s?(?:이후|이래|직후|(?<!이)후)|\s(?:다음(?!\s?(?:주|달|해|분기|{_NEXT}))|뒤)|(?:고|하고)\s?(?:나서|난\s?(?:뒤|후|다음))"
            rf"|\s(?:끝나고|터지고|생기고))(?:로|에|부터|에는|로는|의)*{_ENDS}",
            signs=("후", "이래", "다음", "뒤", "나서", "끝나고", "터지고", "생기고"),
        ),
        pack.EventRule(
            rf"{_EVENT}(?:\s?(?:직전|이전|{_NO_OTHER_WORD}전)(?:에|까지|에는|까지는|엔|의)+|\s(?:직전|전)(?!\s(?:직원|세계|과정|기간|국)))"
            rf"{_ENDS}", None, 0, ("전",),
        ),
    ),
    event_reach=(130, 20),
    no_event=r"(?:며칠|몇\s?\S*|\d+\s?(?:일|주|주일|달|개월|시간|분|초|년))$",
    present=r"(?:나요|인가요?|[하되]나|[해돼와가줘써나내]|[한된간난]다|는지|[할될]지|다|어|아|지|니|는\s?(?:이유|방법|현상|경우|문제|오류|에러))\s*[?.!]*$",
    states=rf"(?:얼마|몇|며칠|어디|누구|어느|어떤|무슨\s?(?:요일|날|색|맛))[^?]*[{PAST}]|(?:이름|주소|값|가격|버전|한도|기간|주기)[^?]{{0,6}}뭐였",
    changes=r"(?:인상|인하|변경|교체|이전|전환|바꾸|바꾼|바뀐|올리|올린|내린|옮기|옮긴|늘린|줄인)[가-힣]{0,3}",
    done=rf"[가-힣]*[{_ADNOMINAL}]",
    same_events=SAME_EVENTS,
    same_things=SAME_THINGS,
    reports=rf"[{_WAS_SAID}](?:다|음|습니다|어요|지만|고|으나)",
    concludes=r"끝|마[친치]|완료|통과|합격|받[은고]|성공|승인|다\s[가-힣]",
    happenings="사고|장애|사건|일|문제|사태|이슈",
    recounts=r"회고|돌아보|되짚|재발\s?방지|교훈",
    failed=r"실패|해\s?보았으나|해\s?봤지만|보았지만|되돌렸|되돌림|포기|안\s?됐",
    plans=rf"준비|계획|예정|회의록|[{_FUTURE}]\s(?:집|곳|동네|날|것|거)(?![가-힣]{{2}})",
    past=rf"[{_WAS_SAID}]|(?:한|된|뀐|친|진|던|난|생긴)\s?(?:거|것|게|일|사항|점|결정)|새로",
    was=rf"[{_WAS_SAID}]|[한된뀐친진던난긴]\s?(?:거|것|게|일|사항|점|결정)|결정|줘|주세요|부터|이후",
    habit=r"해야|하면|하려면|할까|할\s?(?:것|거|일|때)|확인할|체크할|되나요|하나요|합니까|해도"
    r"|(?:확인|점검|준비)\s?(?:사항|목록|표|물)|체크\s?리스트|준비\s*[?.!]*$",
    dates=(rf"(?<!\d){_YEAR}\s?{_MONTH}(?:\s?{_DAY})?",),
)  # fmt: skip
