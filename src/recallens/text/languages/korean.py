"""Korean, without a dictionary: its words, and how a word is taken apart.

A word of a sentence (어절) is a noun and its particles, or a verb. Particles are a closed list, so that cutting the
longest one off gives the noun; many verbs are a noun and 하다 or 되다 (승인하나요), others carry none. It is a rule of
thumb for naming what is asked about; searching itself needs no such cut, because it goes by pairs of syllables, and so
do the stop words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from recallens.text.languages import pack
from recallens.text.languages.korean_answers import ANSWER_NAMES, ANSWER_TYPES, ANSWERS, GOES_ON, RECURRENT
from recallens.text.languages.korean_commands import COMMANDS
from recallens.text.languages.korean_forms import LONGEST_FIRST, carries, final_of, morpheme
from recallens.text.languages.korean_intents import INTENTS
from recallens.text.languages.korean_notes import NOTES
from recallens.text.languages.korean_secrets import SECRETS
from recallens.text.languages.korean_statements import STATEMENTS
from recallens.text.languages.korean_times import FINAL_L, PAST, TIMES
from recallens.text.languages.korean_words import is_listed
from recallens.text.languages.korean_work import AMOUNTS, WORK

_TOPIC: Final = ("은", "는", "이", "가")
_JOINING: Final = frozenset(("와", "과", "랑", "이랑", "하고", "이며", "이고"))
_SHORTEST_NOUN: Final = 2
_COMPOUND: Final = 3  # one is longer
_TITLES: Final = ("씨", "님", "쌤")  # what a name carries: 김민서씨
_BETWEEN: Final = "간"  # 부서간; 조식시간 ends in it too

# A verb by its ending, as it is written or said; 語, 面 and the like end nouns (검색어, 첫화면, 침수피해, 홈페이지).
_VERBAL: Final = re.compile(
    r"(?:습니다|습니까|입니다|입니까|합니다|합니까|됩니다|됩니까|하나요|되나요|인가요|인가|는가|은가|나요|까요|어요|아요|해요|예요|이에요|세요|"
    r"했다|한다|된다|이다|있다|없다|같다|았다|었다|였다|하는|되는|있는|없는|했던|하던|됐던|였던|했을|했는|하기|되기|하려면|하면|되면|하려고|하려|"
    r"해서|하여|되어|돼서|했나|했지|하지|할까|될까|해줘|해주|알려줘|려줘|주세요|했어|됐어|했고|됐고|되었나|하였나|했습니까|어떻게|"
    r"한|할|된|될|던|"
    rf"[{PAST}][가-힣]{{0,4}}|없[어나지니냐는고으][가-힣]{{0,2}}|[돼줘봐둬져켜꿔춰겨쳐펴](?:요|서|도)?|(?:쌓|놓|보|쓰|섞|붙|줄|높|모)여(?:요|서|도)?|(?<![피재이손방저공항오])해(?:도|야)?|"
    r"[이하되뀌쓰리지오우키시기]나|[하되이]니|(?<!페)이지|[이거]야|[와워]요|[어아]와(?:요)?|[내오가]면|나면|려면|려고|으러|(?<=[가-힣])(?<![화서도수지라측전국정후닥단노당])면|"
    r"[가-힣][아어와워려]서|[풀걸열밀들올내느]려(?:요|서)?|[뀌쉬튀뛰띄]어(?:요|서|도)?|[잠담]가(?:요|서|도)?)$"
)
_NOUN_DOING: Final = re.compile(
    r"([가-힣A-Za-z0-9]{2,}?(?<![어아]))(?:(?:하|되|했|됐|해|돼|한|할|된|될|시키|시켰|당하|당했)[가-힣]{0,5}|(?:나|났|내|냈)(?:면|을|으면|어|어요|나|는데|던|는))"
)
# 닫아, 열어도: after a syllable that ends in a consonant, and not 語 or a fish. No verb's stem ends in ㅇ, and of those
# in ㄴ two are common (안아, 신어).
_SAID: Final = re.compile(r".*([가-힣])(?<![단색국제등])[어아]도?")
_NO_STEM: Final = (0, 4, 21)  # no final consonant, ㄴ, ㅇ: its place among the finals
# A noun of one syllable and its particle, or a verb: neither can be named (책을, 치는).
_SHORT: Final = re.compile(r"(?!가을|마을|노을)[가-힣][은는을를]")
# What asks, with whatever it carries: 며칠이야, 어디로, 얼마예요.
_ASKING: Final = re.compile(
    r"(?:누구|누가|누굴|무엇|무슨|뭐|뭘|뭔가?|어떤|어떻게|어떡|어느|언제|어디|왜|어째서|얼마나?|며칠|몇)"
    r"(?:[이가을를은는에서로야지죠니냐나든쯤씩요래임도만해]|까지|부터|한테|에게|예요|이에요|인가요?|인지|마다|였[어지나던]|더라|짜리)*"
)
_LETTERS: Final = "가-힣"
_SYLLABLE: Final = re.compile(f"[{_LETTERS}]")
_CONNECTIVE: Final = re.compile(r"[가-힣](?:고|며|으며|이고)[,]?$")
_SPACED_WORD: Final = re.compile(r"\S+")
_WORD: Final = re.compile(r"(?:[^\s,.?!;:()\[\]{}\"'“”‘’「」『』·…~/]|(?<=\d),(?=\d{3}))+")

# Words that ask, point or count rather than name what is asked about.
_POINTING: Final = """
이 그 저 이것 그것 저것 우리 나 내 제 저희 너 누구 누가 무엇 뭐 무슨 어떤 어느 언제 어디 어디서 어디에 왜 어떻게
얼마 얼마나 몇 몇번 및 또는 그리고 그런데 하지만 혹은 등 것 수 때 때문 대해 대한 관해 관한 위해 위한 최근 지난
지난주 지난달 지난해 작년 올해 어제 오늘 그제 그저께 이번 저번 전체 모든 모두 다 다시 가장 더 안 못 잘 좀 꼭 아직
이미 방금 현재 지금 요즘 경우 이유 까닭 원인 방법 전 후 뒤 중 쓰고 있고 없고 하고 되고 주로 함께 따로
자꾸 나와 내야 해야 돼야 좋은 만한 가능 필요 해도 되나 가고 오고 한 두 세 네 첫 점 쪽 줄 번 개 명 권 살 시 분 법
자주 미리 일찍 오래 빨리 먼저 나중 직접 계속 항상 보통 매번 최대 최소 얼른 두고 놓고 들고 타고 받고 넣고 빼고 갖고
가지고 살고 알고 쓸 갈 올 볼 낼 탈 둘 켤 끌
"""
_NO_NOUN: Final = frozenset(_POINTING.split())
_IS: Final = "야"  # 무료야
_FIGURES: Final = "0123456789.,"
_INFINITIVE: Final = "다"  # which a verb has in the list
_COUNTING: Final = "몇"  # what follows is what is counted: 몇 시에, 몇시에
_COUNT: Final = re.compile(r"\d+\s*(?:년|개월|월|주|일|시간|분|초|번|개|명|회|건)(?:간|째|쯤|생)?(?:전|후)?")


def is_korean(text: str) -> bool:
    return _SYLLABLE.search(text) is not None


def is_verbal(word: str) -> bool:
    said = _SAID.fullmatch(word)
    if _VERBAL.search(word) is not None:
        return True
    return said is not None and (said[1] in "안신" or (ord(said[1]) - ord("가")) % 28 not in _NO_STEM)


def noun_of(word: str) -> tuple[str, str]:
    """The noun in a word and the particle that was cut off; ("", "") where the word carries none."""
    if word in _NO_NOUN or _COUNT.fullmatch(word) or _SHORT.fullmatch(word) or _ASKING.fullmatch(word):
        return "", ""
    if word.startswith(_COUNTING):
        return "", ""
    if is_listed(word.lstrip(_FIGURES)) and not word.endswith(_INFINITIVE):  # 민달팽이, 20킬로
        return word, ""
    if word.endswith(_IS) and len(word) > _SHORTEST_NOUN and word[-2] not in "이거" and not final_of(word[-2]):
        word = word.removesuffix(_IS)
    if is_verbal(word):
        doing = _NOUN_DOING.fullmatch(word)
        return (doing[1], "") if doing and doing[1] not in _NO_NOUN else ("", "")
    for particle in _particles_of(word):
        stem = word.removesuffix(particle)
        if stem != word and len(stem) >= _SHORTEST_NOUN and carries(stem, particle):
            if particle == _BETWEEN and not is_listed(stem):
                continue
            return ("" if stem in _NO_NOUN or _COUNT.fullmatch(stem) else _untitled(stem)), particle
    return (_untitled(word), "") if len(word) >= _SHORTEST_NOUN else ("", "")


def _particles_of(word: str) -> list[str]:
    """The particles that it may end in, first the one that leaves a word of the list: 카메라 of 카메라는, not 카메."""
    ends = [particle for particle in LONGEST_FIRST if word.endswith(particle)]
    listed = next((one for one in ends if len(word) - len(one) >= _SHORTEST_NOUN
                   and is_listed(word.removesuffix(one)) and carries(word.removesuffix(one), one)), None)  # fmt: skip
    return ends if listed is None else [listed]


def _ends_as_a_noun(word: str) -> bool:
    """Whether it is a word of the list, or a compound of two: 이야기, 결제주기. Neither ends as a verb does."""
    if word.endswith(_INFINITIVE):
        return False
    return is_listed(word) or (len(word) > _COMPOUND and is_listed(word[:-2]) and is_listed(word[-2:]))


def _untitled(noun: str) -> str:
    return noun[:-1] if noun.endswith(_TITLES) and len(noun) > _SHORTEST_NOUN and not is_listed(noun) else noun


def nouns(text: str) -> list[str]:
    """The distinct nouns of the Korean words of a text, in text order. A syllable that stands alone is one too, where
    it is not the last word, which is a verb then (꿀 언제 따).
    """
    words = _WORD.findall(text)
    named = [word for before, word in pairwise(["", *words]) if is_korean(word) and before != _COUNTING]
    named = [word for word, after in pairwise([*named, ""]) if not _is_able(word, after)]
    found = [noun_of(word)[0] or (word if len(word) == 1 and word not in _NO_NOUN else "") for word in named[:-1]]
    return list(dict.fromkeys(filter(None, [*found, *(noun_of(word)[0] for word in named[-1:])])))


def _is_able(word: str, after: str) -> bool:
    """Whether it is what can be done: 빌릴 수 있나요."""
    return after == "수" and (ord(word[-1]) - ord("가")) % 28 == FINAL_L and _NOUN_DOING.fullmatch(word) is None


def doings(text: str) -> list[str]:
    """The nouns that are done (신청해야, 갱신돼): an answer may tell of it by another verb."""
    words = [word for word in _WORD.findall(text) if is_korean(word) and is_verbal(word)]
    return list(dict.fromkeys(noun for word in words if (noun := noun_of(word)[0])))


def noun_phrases(text: str) -> list[str]:
    """Nouns that stand together without a particle between them, as one name each: 인증 시스템, 변경 이력."""
    phrases: list[list[str]] = [[]]
    for word in filter(is_korean, _WORD.findall(text)):
        noun, particle = noun_of(word)
        phrases[-1] += [noun] if noun else []
        if particle or (not noun and is_verbal(word)):
            phrases.append([])
    return list(dict.fromkeys(" ".join(phrase) for phrase in phrases if phrase))


def joins_two(text: str) -> bool:
    """Whether two nouns are asked about together: 아키텍처와 변경 이력."""
    return any(noun and particle in _JOINING for noun, particle in map(noun_of, _WORD.findall(text)[:-1]))


def clauses(text: str) -> list[str]:
    """데이터베이스는 무엇을 쓰고 | 배포는 누가 승인하나요."""
    parts, begin = list[str](), 0
    words = list(_SPACED_WORD.finditer(text))
    # The last word that is the topic of something: where none follows, no clause begins.
    topics = [at for at, word in enumerate(words) if _is_topic(word.group().strip(",?."))]
    for word in words[: topics[-1] if topics else 0]:
        if _CONNECTIVE.search(word.group()):
            parts.append(text[begin : word.end()].strip(" ,"))
            begin = word.end()
            if not is_korean(text[begin:]):
                break
    return [*parts, text[begin:].strip(" ,")] if parts else [text]


def _is_topic(word: str) -> bool:
    noun, particle = noun_of(word)
    return bool(noun) and particle in _TOPIC


def halves(text: str) -> list[str]:
    """인증 방식과 | 배포 절차."""
    for word in _SPACED_WORD.finditer(text):
        noun, particle = noun_of(word.group().strip(",?."))
        if noun and particle in ("와", "과") and text[word.end() :].strip():
            return [text[: word.end()].strip(), text[word.end() :].strip()]
    return [text]


# A noun that is done, however it ends: 갱신하기, 갱신했다, 갱신함, 갱신됨.
_DONE: Final = re.compile(
    r"([가-힣]{2,}?)(?:시키|시켰|하였|되었|하|되|했|됐|해|돼|한|할|함|된|될|됨|합|됩)[가-힣]{0,4}"
)
_ENDED: Final = re.compile(
    r"([가-힣]{2,}?)(?:이었다|였다|이다|입니다|이에요|예요|습니다|았다|었다|었음|았음|는다|으면|면서|이라|라서|기|다)"
)


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """The word without particles and endings: 인증서를 and 인증서의 are 인증서, 갱신하기 and 갱신했다 are 갱신."""
    if word in _NO_NOUN or word in LONGEST_FIRST or _VERBAL.fullmatch(word):
        return ""
    if not is_listed(word) or word.endswith(_INFINITIVE):
        for particle in _particles_of(word):
            bare = word.removesuffix(particle)
            if bare != word and len(bare) >= _SHORTEST_NOUN and carries(bare, particle):
                word = bare
                break
    if _ends_as_a_noun(word):
        return "" if word in _NO_NOUN else word
    done = _DONE.fullmatch(word) or _ENDED.fullmatch(word)
    word = done[1] if done else word
    return "" if word in _NO_NOUN or len(word) < _SHORTEST_NOUN else word


# What asks in the midst of a run of syllables, and what it cannot be told from there: 왜곡, 몇몇.
_ASKING_WITHIN: Final = re.compile(
    r"(?<=[가-힣]{2})(?:누구|누가|누굴|무엇|무슨|뭐|뭘|뭔|어떤|어떻게|어느|언제|어디|얼마|며칠|몇(?!몇)|왜(?!곡|건|소|인|적))"
)
# What asks and carries nothing: what follows is another word.
_ASKING_ALONE: Final = re.compile(r"(?<![가-힣])(누가|뭐가|어떻게|무슨|어떤|어느|왜)(안|못)?(?=[가-힣]{2})")
_RUN: Final = re.compile(r"[가-힣]{4,}")


def _apart(asking: re.Match[str]) -> str:
    return " ".join([*filter(None, asking.groups()), ""])


def spaced(text: str) -> str:
    """예약취소언제까지 as 예약취소 언제까지: in a run of syllables, what asks is a word of its own."""
    return _RUN.sub(lambda run: _ASKING_ALONE.sub(_apart, _ASKING_WITHIN.sub(r" \g<0>", run[0])), text)


_LATIN: Final = """
g kk n d tt r m b pp s ss - j jj ch k t p h
a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i
- k k k n n n t l k m l l l p l m p p t t ng t t k t p t
"""
_INITIALS, _VOWELS, _FINALS = map(str.split, _LATIN.strip().splitlines())


def latin(name: str) -> str:
    """By the Revised Romanization, syllable by syllable: 달빛 is dalbit."""
    written = []
    for syllable in name:
        code = ord(syllable) - ord("가")
        if not 0 <= code <= ord("힣") - ord("가"):
            written.append(syllable)
            continue
        written += [_INITIALS[code // 588], _VOWELS[code % 588 // 28], _FINALS[code % 28]]
    return "".join(written).replace("-", "")


# The bigrams of interrogatives and of sentence endings that form no noun: 무엇인가요 is 무엇 엇인 인가 가요.
_FUNCTION_WORDS: Final = """
무엇 엇인 엇을 엇이 무슨 어떤 어떻 떻게 언제 어디 디에 디서 누가 누구 구가 왜 몇 얼마
는가 은가 나요 까요 니까 니다 습니 합니 입니 됩니 했습 였습 있습 인지 는지 었나 았나 했나 있나 되나
예요 에요 있어 없어 했어 됐어 었어 았어 였어
그 이 저 것 수 및 등 을 를 은 는 가 의 에 도 와 과 로 해 돼 야 요 지 고 나 니 까 네 줘 봐 한 할 된 될 안 못 더 좀
"""

# 인가 is also authorisation and 가요 a song, so they lose only half, as do common verbs and cases.
_FRAME_WORDS: Final = """
인가 가요 하는 있는 되는 하기 하고 하여 해서 했던 했는 있었 였는 된다 한다 이다 에서 으로 에게 까지 부터 처럼
대한 대해 위한 위해 관한 관해 대하 그것 이것 저것 우리 내가 나의 제가 알려 려줘 려주 주세 세요 해줘 해주
설명 추천 방법 이유 경우 때문 최근 지난 관련 련해 무슨 일이
"""

_SYNONYMS: Final = """
authentication: 인증 로그인, authorization: 권한 인가, password: 비밀번호 암호 비번 패스워드,
wifi: 와이파이, token: 토큰, user: 사용자 계정, session: 세션, security: 보안, encryption: 암호화,
secret: 시크릿 비밀, database: 데이터베이스 디비, query: 쿼리 질의,
migration: 마이그레이션 이전, schema: 스키마, table: 테이블, index: 인덱스 색인, transaction: 트랜잭션, cache: 캐시,
queue: 큐 대기열, worker: 워커, job: 작업, schedule: 스케줄 일정, deploy: 배포, rollback: 롤백, environment: 환경,
configuration: 설정 구성, server: 서버, client: 클라이언트, container: 컨테이너 도커, cluster: 클러스터, node: 노드,
network: 네트워크, proxy: 프록시, request: 요청, response: 응답, error: 오류 에러, exception: 예외, bug: 버그 결함,
fix: 수정 해결, test: 테스트 시험, build: 빌드, performance: 성능 지연, timeout: 타임아웃 시간초과, retry: 재시도,
memory: 메모리, storage: 저장소 디스크, file: 파일, folder: 폴더 디렉터리, log: 로그, monitor: 모니터링,
alert: 알림 경보, metric: 지표 메트릭, incident: 장애 사고, backup: 백업, restore: 복구 복원, version: 버전,
upgrade: 업그레이드 갱신, install: 설치, dependency: 의존성, library: 라이브러리 패키지, module: 모듈, function: 함수,
method: 메서드, class: 클래스, component: 컴포넌트 구성요소, hook: 훅, state: 상태, event: 이벤트, render: 렌더링,
effect: 이펙트 효과, property: 속성, parameter: 매개변수 인자, variable: 변수, array: 배열 목록, object: 객체,
type: 타입 유형, interface: 인터페이스, api: 에이피아이, endpoint: 엔드포인트, webhook: 웹훅, payment: 결제,
invoice: 청구서 송장, price: 가격 비용, customer: 고객, order: 주문, search: 검색, ranking: 순위, filter: 필터,
document: 문서, page: 페이지, design: 설계 디자인, architecture: 아키텍처 구조, pattern: 패턴, decision: 결정,
plan: 계획, meeting: 회의, review: 검토 리뷰, approve: 승인, owner: 담당자 소유자, team: 팀, clientele: 고객,
deadline: 마감, priority: 우선순위, policy: 정책 규칙, principle: 원칙, lesson: 교훈, example: 예제 예시,
change: 변경, history: 이력 기록, limit: 제한 한도, rate: 속도 비율, size: 크기, count: 개수, create: 생성,
delete: 삭제 제거, start: 시작, stop: 종료 중지, enable: 활성화, disable: 비활성화, compare: 비교, validate: 검증,
input: 입력, output: 출력, screen: 화면, button: 버튼, form: 양식 폼, link: 링크, image: 이미지 사진, language: 언어,
translation: 번역, data: 데이터, model: 모델, training: 학습 훈련, purchase: 구매, trip: 여행, doctor: 의사,
movie: 영화, car: 자동차, house: 집, employment: 일 직장, child: 아이, food: 음식 식사, audit: 감사, hackathon: 해커톤,
launch: 출시, certificate: 인증서, app: 앱, store: 스토어, reject: 반려 거절, join: 합류, contract: 계약
"""

_QUESTIONS: Final = pack.QuestionWords(
    intents=INTENTS,
    reason=r"왜|이유|까닭|어째서",
    several=r"몇\s?(?:번|가지|개|명|곳|군데|건|회|차례|마리|권|편)(?!째)|얼마나 (?:자주|많)"
    r"|(?<![가-힣])총(?=\s|\d)|총(?:합|액|계)|합(?:쳐|해|계)|통틀어|모두|전부|각각|목록|순서(?:대로)?|나열"
    r"|뭐뭐|무엇무엇|누구누구|어디어디|또 (?:뭐|무엇|누구|어디)"
    r"|(?<=[가-힣])(?<![아만흔힘])들(?=[은을이도의]?(?:\s|[?.]|$))",
    cause="왜|이유|까닭|어째서|원인|때문",
    answer_types=ANSWER_TYPES,
    answer_names=ANSWER_NAMES,
    contrast=r"\S+ (?:대신|말고)\b",
    principle=r"왜|원칙|철학|이유|전략|정책|기준|목표|가치",
    implementation=r"코드|함수|메서드|클래스|명령어?|스크립트|옵션|인자|문법|구현",
    multi_hop=r"왜|비교|차이|관계|영향|원인|때문|결과|이력|변천|의존|그리고|및",
    temporal=r"언제|이전|이후|부터|까지|동안|이력|순서대로|처음|마지막",
    broad=r"전체|모든|모두|전반|개요|요약|아키텍처|총정리|목록",
    part_ends=r"\s+그리고\s+|,\s*(?:또|또한)\s+",
    statement=r"\A[^?]*다\.\s*\Z",
    conjunctions="및",
    activities=r"(?<![가-힣A-Za-z0-9])(?:"
    r"(?:뭐|뭘|뭔|무슨|무엇|어떤|우리|다들|지금|현재|좀|다시|다|새로|새로운|주요|중요한?|간단히|쪽|동안|사이|하루|모두|전부|까지|부터|이후|이전|전|후|뒤|다음)"
    r"(?:가|는|를|이|은|을|로|에|의|도|들|야|라도|지|에서|까지|부터)?"
    r"|(?:일|작업|거|것|게|건|문제|내용|사항|결정|변경|수정|정리|요약|기록|진행|소식|메모|이야기|얘기|현황|상황|업데이트|준비|완료"
    r"|처리|논의|추가|개선|점|이슈|버그|하는|하던)(?:들|가|는|를|이|은|을|로|에|의|도|만|야|지|였|인지|하|한|할|해|했|된|됐|되|던|나|어|요"
    r"|더라|줘|주|고|거|었|습니다|까|니|세요|좀|려|니까)*"
    r"|한|된|할|(?:했|됐|있|없|고친|고쳤|바뀐|바꾼|바꿨|바뀌|달라|생긴|생겼|나온|나왔|배운|배웠|만든|만들|끝난|끝냈|끝났|남긴|적은"
    r"|적어|벌어|알려|보여|말해|해줘|하고|줘|주세요|그랬|정한|정했|정해|알게|잘못|망가|고장|터진|터졌|어땠|어떻게|어떤|조심)[가-힣]{0,5}"
    r"|(?:결정|주의|변경|수정|요청|공지|유의|전달)\s?(?:사항|점|할)(?:들|이|은|을|도|만)?"
    r"|(?:주의|조심|유의)할|(?:장애|사고|사건|오류|에러|실수|실패|함정|교훈|출시|배포|발견|도입|반응|결과|영향|소감|팀|계획|예정|일정)"
    r"(?:들|가|는|를|이|은|을|로|에|의|도|만|하|한|할|해|했|된|됐|되|던|나|어|요|지|고|거|었|니)*)(?![가-힣])",
    places=r"(?<![가-힣])([가-힣]+?)(?:에서|쪽에서|에서는|에서의)(?![가-힣])",
    of_change=r"(?<![가-힣])(?:이|이번|내|제) ?(?:변경|수정|커밋|패치|pr|풀 ?리퀘|diff)|변경 ?사항"
    r"|(?:합쳐|합치|병합|머지|반영|커밋)[가-힣]{0,2}(?:도|면)(?![가-힣])",
    change_words=r"변경|수정|사항|변경 ?사항|커밋|패치|풀 ?리퀘(?:스트)?|머지|병합|반영|리뷰|검토|승인|이거|이것|문제"
    r"|(?:합치|합쳐|올려|안전|위험|괜찮)[가-힣]*",
    kinds={
        "decision": "결정|정하기로|하기로|정한|정했|정해",
        "lesson": "배운|배웠|교훈",
        "gotcha": "함정|주의|조심|유의",
        "skill": "절차",
    },
    trouble="문제|잘못|장애|사고|오류|에러|버그|고장|망가|터진|터졌|실패|실수|이슈|탈\\s?(?:난|났)",
)

_MEMORIES: Final = pack.MemoryWords(
    trouble="장애 사고 실패 반려 고장 오류 정전 만료 끊김 멈췄 깨졌 냉해 누락 유실 중단 거절 불만 항의 짓무"
    " 침수 잠겼 도난 훔쳐 서리 얼었 파손 부러 끊어 끊겼 터졌 터져 이받 부딪 충돌 화재 불이 누수 막혀 다쳤"
    " 부상 죽었 썩었 쓰러 무너 분실 지연 호우 태풍 멈춰 떨어",
    milestones="열었 개장 출시 합격 통과 계약 체결 방문 둘러 다녀 선출 수상 시작 인증 팔았",
    decision=r"결정|채택|(?:하|쓰|사용하)기로\s?(?:했|함|합|정)|(?:걸로|것으로) 정했|확정",
    gotcha=r"주의|함정|조심|유의|경고",
    preference=r"선호|좋아하|좋아해|좋아함|싫어하|싫어해|취향",
    lesson=r"교훈|배웠|깨달|회고|다음(?:에는|부터는)",
    principle=r"원칙|규칙|방침|모범 사례",
    pattern=r"패턴|반복적|할 때마다|때마다",
    summary=r"요약|정리",
    note=r"참고|메모",
    steps=r"방법|절차|순서|단계|(?:하|되)려면|실행하(?:세요|십시오|면|고)|설치하(?:세요|고|면)"
    r"|(?:한|된|한\s)?\s?다음(?:에)?\s.*(?:한다|하세요|합니다)",
    feeling=r"기쁘|기뻤|기뻐|슬프|슬펐|화가\s?(?:나|났)|짜증|답답|불안|걱정|신나|신났|뿌듯|실망|속상|행복|우울|스트레스|두렵|무서",
    event=r"어제|오늘|그저께|지난\s?(?:주|달|해|번|월)|아까|방금|(?:일|주|달|개월|년|시간|분)\s?전(?:에|부터)?|회의|장애가|발생했"
    r"|만났|갔다|했었",
    first_person=r"(?<![가-힣])(?:나[는도를의]|내[가게]?|저[는도를의]|제[가게]?|우리)(?![가-힣])",
    principle_signs=r"원칙|철학|이유|전략|정책|기준|목표|가치|항상|절대|해야|우선",
    negation=r"않|없|아니|아닌|아닙|아님|(?<![가-힣])안(?=\s|되|돼|됩|됐|된|될|됨|하|해|한|할|함|합)"
    r"|못(?=\s|하|해|한|할|함|합)|말(?=고|아|라|것)|지\s?(?=마세|마라|마십)",
    opposites="허용 금지, 가능 불가, 성공 실패, 이전 이후, 증가 감소, 시작 중지, 추가 삭제, 활성 비활",
    number_words=r"[월화수목금토일]요일",
    contradicts=r"모순|상충",
    deprecated=r"더 이상 (?:사용|쓰|지원)(?:하)?지|사용 중단|지원 중단|폐기",
    outdated=r"구버전|오래된 정보",
    traces=("모순", "상충", "더 이상", "사용 중단", "지원 중단", "폐기", "구버전", "오래된 정보"),
    others_end=r"(?:adr[- ]?\d+|\]\]|(?:이전|예전|기존|옛)\s[^.\n]{0,20})[은는이가]?\s?"
    r"(?:폐기|사용 중단|지원 중단|더 이상)",
    reasons=r"때문|이유|까닭|덕분|위해|[가-힣](?:려고|느라|므로|니까|[아어해여라워]서)(?:\b|$)",
    answers=ANSWERS,
    recurrent=RECURRENT,
    goes_on=GOES_ON,
)

KOREAN: Final = pack.LanguagePack(
    code="ko",
    letters=_LETTERS,
    script="hangul",
    whole_words=False,
    function_words=_FUNCTION_WORDS,
    frame_words=_FRAME_WORDS,
    synonyms=_SYNONYMS,
    sentence_end=r"(?<=[가-힣])[.!?]+(?=[가-힣])",
    recap_labels=("사용자 요청: ", "이전 답변 마지막 부분: "),
    lesson_names={"lesson": ("교훈",), "playbook": ("플레이북",)},
    lesson_parts={
        "prevention": r"예방|재발|방지|체크 ?리스트",
        "cause": r"원인",
        "mistake": r"실수|잘못",
        "fix": r"해결|수정|조치",
    },
    times=TIMES,
    questions=_QUESTIONS,
    memories=_MEMORIES,
    notes=NOTES,
    commands=COMMANDS,
    amounts=AMOUNTS,
    statements=STATEMENTS,
    work=WORK,
    names=pack.NameWords(
        # 민아가, 민아에게.
        particles=(
            "에게서", "한테서", "에게", "한테", "이가", "이는", "이의", "이랑",
            "가", "이", "는", "은", "를", "을", "의", "와", "과", "도", "랑", "께",
        ),
        # A short phrase that does not end as a sentence does.
        quoted=r"(?=.*[가-힣])[가-힣A-Za-z0-9]+(?: [가-힣A-Za-z0-9]+){0,3}(?<![다요까죠자라네])",
    ),
    secrets=SECRETS,
    grammar=pack.Grammar(nouns, doings, noun_phrases, joins_two, clauses, halves, stem, morpheme, latin, spaced),
)  # fmt: skip
