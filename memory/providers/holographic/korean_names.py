"""Names in Korean text: a word without its particle that is built like a name.

A Korean full name is a surname and two syllables that given names are made of. Words built like one by chance are
many, so a particle or title that people take must follow, and the commonest such words are known.
"""

import re
from collections.abc import Iterator

from memory.providers.holographic.spans import Span, words

_HANGUL_WORD = re.compile("[가-힣]+")
_COMPOUND = ("남궁", "선우", "황보", "제갈", "독고", "사공", "서문")
_SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류나진지엄채원천방공현함변염여추도석설마길연위표명기반왕금옥육인맹제모탁"
)
_GIVEN = frozenset(
    "가강건겸경고관광교구국권규균근금기길나남노누늘단달담대덕도동두라란람래량려련령로록롱루리린림마만명모목무묵문미민바반방배백범별병보복봄봉"
    "빈빛사산삼상새샘생서석선설섭성세소솔송수숙순술슬승시신실심아안애양언여연열영예오옥온완용우욱운웅원월유윤율으은을음의이익인일임자장재전정"
    "제조종주준중지진차찬창채천철청초춘충치칠태택판평표푸하학한해행향허혁현형혜호홍화환황효후훈휘흥희힘"
)
# Last syllables that are more often a particle or the end of a verb than the end of a name without either.
_LIKE_PARTICLES = frozenset("은는이가을를의도로에지고다며면서만한")
_ORDINARY = frozenset(
    words(
        """
    지하철 고양이 이야기 이유로 우리는 여러분 전화기 사무실 정보는 문서화 고객은 이번주 지난주 지난달 금요일
    월요일 화요일 수요일 목요일 토요일 일요일 강아지 한국어 일본어 영국인 미국인 한국인 주문서 주소록 신호등
    안내서 유리창 이용자 신청자 담당자 관리자 기술자 연구자 전문가 하나로 이전에 이후에 오전에 오후에 주말에
    이사회 정기적 장기적 단기적 정상적 기본적 전반적 개인적 공식적 이동식 고정식 서울시 대전시 인천시 부산시
    강원도 경기도 전라도 제주도 이상은 이하는 나머지 조용한 유명한 신선한 한가지 여기서 거기서 저기서 어디서
    언제나 원하는 구하는 전하는 정하는 고치는 지키는 이기는 남기는 우유를 주유소 전시회 송년회 신년회 정류장
    강의실 도서관 체육관 미술관 박물관 대사관 연구실 실험실 회의실 화장실 노래방 도자기 신발장 주차장 공장장
    이사장 양념장 서류함 임시로 정말로 진짜로 새로운 지은이 옮긴이 이것은 그것은 저것은 하지만 그리고 그러나
    이러한 그러한 조만간 한동안 오랫동안 오늘은 내일은 어제는 이제는 지금은 아침에 저녁에 점심에 오렌지 사용자
    책임자 설계자 개발자 배포자 기획자 구매자 소비자 제조사 여행사 방송사 신문사 변호사 회계사 간호사 요리사
    마법사 조종사 유지보수 자동차 연구소 회사는 은행은 병원은 학교는 대학교 이메일 인터넷 서비스 시스템 플랫폼
    프로젝트 데이터 고객들 친구들 사람들 아이들 우리들 문제들 이상한 안전한 정확한 성실한 유용한 중요한 필요한
    정직한 공정한 강력한 신속한 주요한 한심한 장소는 도시는 나라는 지역은 정원은 공원은 강물은 바다는 하늘은
    구름은 주인공 방문자 이웃집 고향집 초대장 진행자 지원자 신입생 졸업생 유학생 대학생 고등학생 이사를 전세를
    월세를 주식을 기차를 비행기 자전거 오토바이 지갑을 안경을
    """
    )
)
_PERSON_REST = re.compile(
    "(?:(?:은|는|이|가|을|를|과|와|의|도|만|씨|님|에게|에게서|한테|께서|께|이랑|랑|하고|보다|처럼|부터|까지|이다|이며|입니다|라고|이라고|으로|로|에|아|야)(?:는|은|도|만)?)?"
)
# Whatever may follow a noun within its word; also for `mentions`.
PARTICLES = re.compile(
    "(?:씨|님|군|양|선생님|부장|과장|팀장|대리|대표|교수|박사|사장|이사|들)?(?:님)?"
    "(?:은|는|이|가|을|를|과|와|의|도|만|나|이나|로|으로|에|에서|에게|에게서|한테|한테서|께서|께|이랑|랑|하고|보다|처럼|부터|까지|마다|조차|밖에|"
    "이다|다|이며|며|이고|고|이라|라|이라는|라는|라고|이라고|입니다|이었다|였다|이었고|였고|인|이라서|라서|이야|야|아|에는|에도|에선|에서는|에서도|"
    "에게는|으로는|로는|으로도|로도|까지는|부터는|이란|란|에만|와는|과는|와의|과의|에의|로의|으로의|로부터|으로부터|이면|면|이지만|지만|인데|이에요|예요)?"
)
_KNOWN = frozenset(
    words(
        """
    서울 부산 인천 대구 대전 광주 울산 세종 수원 성남 제주 강릉 춘천 전주 포항 창원 경기도 강원도 충청도 전라도
    경상도 제주도 판교 강남 홍대 명동 한국 일본 중국 미국 영국 독일 프랑스 뉴욕 런던 파리 도쿄 오사카 베이징
    상하이 싱가포르 삼성 현대 엘지 네이버 카카오 쿠팡 라인 배달의민족 토스 당근마켓 넥슨 엔씨소프트 구글 애플
    아마존 마이크로소프트 테슬라 페이스북
    """
    )
)
_ENDING = re.compile(
    "(?:[가-힣]{1,8}(?:대학교|은행|병원|전자|연구소|그룹|주식회사|증권|보험|자동차|건설|중공업|시스템|플랫폼|시청|구청|박물관|공항)|[가-힣]{2,3}(?:특별시|광역시|시|구))$"
)
_NO_ENDINGS = frozenset(
    words(
        """
    자동차 다시 혹시 역시 잠시 몇시 임시 표시 지시 전시 동시 즉시 감시 무시 택시 접시 도시 일시 속도 정도 제도
    온도 각도 지도 의도 태도 시도 용도 강도 밀도 농도 파도 기도 보도 포도 인도 철도 궤도 복도 습도 고도 진도
    친구 연구 도구 요구 기구 지구 가구 입구 출구 축구 야구 농구 배구 욕구 추구 청구 복구 운동 자동 활동 행동
    이동 작동 감동 아동 노동 변동 충동 협동 수동 진동 구동 연동 파동 화면 장면 측면 반면 방면 국면 표면 라면
    정면 전면 후면 하면 되면 가면 오면 그러면 이러면 단면 수면 냉면 단군 장군 해군 공군 육군 국군 아군 적군 제군
    담당 이전도 결과도 관계도 그래도 아마도 우리도 나라도 아무도 적어도 별도 한도 지도도 완성도 인지도 만족도
    """
    )
)
_PREFIXED = re.compile(
    "(?P<name>[가-힣A-Za-z0-9]{2,10}) (?P<noun>프로젝트|플랫폼|시스템|팀)(?=[가-힣]{0,3}(?![가-힣]))"
)
_FOREIGN = re.compile(
    "(?P<first>[가-힣]{1,5}) "
    "(?P<last>스미스|브라운|존슨|윌리엄스|존스|밀러|데이비스|리|킴|윌슨|테일러|앤더슨)(?![가-힣]{4})"
)


_TOPIC = re.compile("[가-힣]{2,8}(?=(?:은|는|이|가|의|을|를|에게|에서) )")
_ASKED = re.compile("(?<![가-힣])[가-힣]{3}(?=(?:의|을|를|에게|한테|이|가|은|는)(?![가-힣]))")


def korean_names(text: str) -> Iterator[Span]:
    """The names in the Korean words of a text."""
    taken: list[tuple[int, int]] = []
    for pattern in (_PREFIXED, _FOREIGN):
        for match in pattern.finditer(text):
            taken.append(match.span())
            yield Span(*match.span(), "name")
    for match in _HANGUL_WORD.finditer(text):
        if text[match.start() - 1 : match.start()].isdigit():
            continue  # the unit of a number, with its particle
        length = name_length(match.group())
        start, end = match.start(), match.start() + length
        if length and not any(start < high and low < end for low, high in taken):
            yield Span(start, end, "name")


def asked_names(text: str) -> Iterator[Span]:
    """What else a question may name: what it begins with, and a surname with any two syllables before a particle.

    In a fact this would take many a word for a name. In a question it only means that a fact without it is less of an
    answer.
    """
    topic = _TOPIC.match(text)
    if topic:
        yield Span(*topic.span(), "name")
    for match in _ASKED.finditer(text, topic.end() if topic else 0):
        if match.group() not in _ORDINARY and match.group()[0] in _SURNAMES:
            yield Span(*match.span(), "name")


def name_length(word: str) -> int:
    """How much of a word is a name; 0 when it holds none."""
    for stem in stems(word):
        if stem in _KNOWN or (_ENDING.fullmatch(stem) and stem not in _NO_ENDINGS):
            return len(stem)
    return _person_length(word)


def stems(word: str) -> Iterator[str]:
    """The word, and it without what may be a particle, longest first."""
    for length in range(len(word), 1, -1):
        if PARTICLES.fullmatch(word, length):
            yield word[:length]


def _person_length(word: str) -> int:
    if word in _ORDINARY or any(stem in _ORDINARY for stem in stems(word)):
        return 0
    compound = word.startswith(_COMPOUND)
    fitting = [length for length in ((3, 4) if compound else (3,)) if _is_person(word, length, 2 if compound else 1)]
    # 남궁민은 is 남궁민 with a particle rather than a longer name without one.
    particle_follows = next((length for length in fitting if length < len(word)), 0)
    if particle_follows or not fitting or word[-1] in _LIKE_PARTICLES:
        return particle_follows  # 고향은 is 고향 with a particle rather than a name
    return fitting[-1]


def _is_person(word: str, length: int, surname: int) -> bool:
    given = word[surname:length]
    known = surname > 1 or word[0] in _SURNAMES
    return len(word) >= length and known and set(given) <= _GIVEN and bool(_PERSON_REST.fullmatch(word, length))
