"""The words by which a statement says what it says: relations, opposites, negations, in every language measured.

Patterns are for folded text (`hermes_state.text.fold`): lower case, no accents, punctuation beyond ASCII as spaces.
A pattern with a group `v` says where the value stands; without one, it is the term beside the relation.
"""

import re
from functools import cache, lru_cache

from hermes_state.text import segment
from memory.providers.holographic.spans import words

_CJK = re.compile("[\u3041-\u9fff\uac00-\ud7a3]")


class Wording:
    """Words to look for: all of them, or for a text without Chinese, Japanese and Korean only those without."""

    def __init__(self, pattern: str) -> None:
        self.every = re.compile(pattern)
        spaced = [each for each in _alternatives(pattern) if not _CJK.search(each)]
        self.spaced = re.compile("|".join(spaced) if spaced else "(?!)")

    def of(self, *, spaced: bool) -> re.Pattern[str]:
        """The pattern that is enough for a text with, or without, any of these three."""
        return self.spaced if spaced else self.every


def is_spaced(text: str) -> bool:
    """Whether a text has no Chinese, Japanese or Korean in it."""
    return not _CJK.search(text)


def _alternatives(pattern: str) -> list[str]:
    """A pattern cut at the bars that stand in no group."""
    found, depth = [""], 0
    for character in pattern:
        depth += (character in "([") - (character in ")]")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found


# Relations with one value at a time. `change` is what a value of any relation is changed with.
_RELATIONS: dict[str, tuple[str, ...]] = {
    "residence": (
        r"\b(?:lives?|living|resides?|residing|is based|is located|settled) in\b",
        (r"\b(?:has |have )?(?:relocated|moved) to\b(?= [^ ]+(?: [^ ]+)?(?: in\b| last\b| this\b| with\b| for\b|"
        r"[.,]| *$))"),
        "(?<!以前)(?:住在|住(?![院宿在])|居住在|定居在|定居于|现居|搬到|搬去|搬家到|移居)了?",
        "在 ?(?P<v>[^ 在]+?) ?住(?![院宿在])",
        "(?P<v>[^ はがにへ]+?)(?:に住んで|へ引っ越|に引っ越|に移住|在住|に移り住)",
        "(?P<v>[^ ]+?)(?:에 산다|에 살고|에 살아|에 삽니다|에 거주|로 이사|으로 이사|에서 산다|에서 살고)",
        r"\bwohn(?:t|e) in\b|\b(?:vive|vivo) en\b|\bj?\W?habite a\b|\bmor[ao] em\b|\b(?:живу|живет|проживает) в\b",
    ),
    "employer": (
        r"\b(?:works?|working) (?:at|for)\b|\b(?:is|am) employed (?:by|at)\b|\bjoined\b",
        "在 ?(?P<v>[^ 在]+?) ?(?:工作|上班|任职|就职|供职)",
        "任职于|就职于|供职于|加入了?|跳槽到了?|跳槽去了?|入职了",
        "(?P<v>[^ はがでに]+?) ?(?:で働|に勤め|に勤務|で勤務|の社員|に転職)",
        "(?P<v>[^ ]+?)(?:에서 일한|에서 일하|에서 근무|에 근무|로 이직|으로 이직|에 다닌|에 다니)|(?P<v2>[^ ]+) 직원",
        r"\barbeitet (?:bei|fur)\b|\btrabaja en\b|\btravaille chez\b|\btrabalha na?\b|\bработает в\b",
    ),
    "birth": (
        r"\b(?:was )?born in\b",
        "出生在|出生于",
        "(?P<v>[^ はがにで]+?)(?:で生まれ|生まれ)",
        "(?P<v>[^ ]+?)에서 태어",
    ),
    "occupation": (r"\b(?:works?|working) as (?:an? )?",),
    "named": (r"\b(?:is|am) (?:called|named)\b", "(?<=[\ue000-\uf8ff我])叫(?:做|作)?(?!了)|名叫"),
    "prefer": (
        (r"\bprefer(?:s|red|ence is)?\b|\bwould rather(?: have| drink| use)?\b|\b(?:i|he|she|"
        r"they)'d rather(?: have| drink| use)?\b"),
        (r"\b(?:usually|always) (?:orders?|picks?|drinks?|wears?|chooses?|has|eats?)\b|\bwants answers in\b|"
        r"(?<!one of my )(?<!some of my )(?<!one of our )\bfavou?rite\b"),
        ("更喜欢[用喝吃穿看]?|更爱[用喝吃穿]?|最喜欢的?|最爱的?|偏好|偏爱|首选的?|希望以?后?用|习惯[用喝吃穿]|"
        "更倾向于?"),
        "の方が好き|を好[むみん]|お気に入りの?|(?P<v>[^ はがに]+)での回答を希望|の方がいい|好きな",
        "더 좋아하?|선호하?|좋아하는|(?P<v>[^ ]+) 답변을 원",
        r"\bbevorzugt?e?\b|\bprefiere\b|\bprefiero\b|\bprefere\b|\bprefiro\b|\bprefere?\b|\bпредпочитаю?е?т?\b",
    ),
    "like": (
        r"\b(?:likes?|loves?|enjoys?|adores?|hates?|dislikes?|detests?|can't stand)\b",
        "喜欢[用喝吃看听]?|喜爱|热爱|讨厌[用喝吃]?|不爱[用喝吃]?|爱[喝吃]",
        "(?:のが|が)好き|(?:のが|が)嫌い|が大好き|が大嫌い",
        "좋아한|좋아합|좋아해|싫어한|싫어합|싫어해",
    ),
    "written": (r"\b(?:is |was )?(?:re)?written in\b", "(?:改成|改)?用 ?(?P<v>[^ ]+?) ?(?:重?写的|写了|重写|编写)"),
    "use": (
        r"\buse[sd]?\b|\brelies on\b|\bruns on\b|\bis powered by\b",
        "使用|采用|用的是|用了|(?<![改换采使])用 ?(?=[\ue000-\uf8ffa-z])",
        "を使って(?:いる|います)|を使用し",
        "[을를] 쓴|[을를] 사용|[을를] 쓰",
    ),
    "leads": (r"\b(?:leads|heads|runs|manages)(?! on)\b",),
    "change": (
        r"\b(?:has |have )?(?:switched|moved|migrated|changed) from .+? to (?P<v>[^ ]+)",
        r"\b(?:has been |has |have |was |were )?(?:switched|migrated|changed|upgraded|moved) (?:over )?to\b",
        "改用|改成用?|换成了?|换用|换到了?|切换到|迁移到|改为|改到",
        "に変わ|に変更|に切り替え|に移行",
        "[으]?로 바뀌|[으]?로 변경|[으]?로 바꾸|[으]?로 전환",
    ),
}  # fmt: skip
# "X is Y", with the value behind it, or before it where the verb ends the sentence.
COPULA = r"\b(?:is|are|was|am|ends up at)\b|(?<![不但还就只也可总要])是(?!不是|否)|\b(?:ist|es|est|sao)\b"
# "X is in Y" says where, and counts as much as what.
PLACED = re.compile(r"位于|坐落在|在(?!线)(?=[^ ]{1,8}$)")
COPULA_LAST = (
    r"(?:にあります|にある|에 있다|에 있습니다|에 있어)(?= |$)|(?:です|である|でした|だった|だ)(?= |$)"
    r"|(?:이다|입니다|이었다|였다|이에요|예요|이야|야)(?= |$)"
)
SINGLE = frozenset({"residence", "employer", "birth", "occupation", "named", "prefer", "written", "change"})
# Kinds of things of which one is used, or liked best, at a time.
EXCLUSIVE = frozenset({"theme", "indent", "editor", "database", "bundler", "framework"})
# Roles that one holds at a time, and nouns that name an attribute without saying whose.
HOLDERS = frozenset(
    words(
        """
        ceo cto cfo owner lead leader captain president chair mayor director head maintain maintainer 负责人 所有者
        社长 总裁
        董事长 责任人 責任者 社長 担当者 오너 대표 책임자 소유자
        """
    )
)
ATTRIBUTES = frozenset(
    words(
        """
        password port name address email phone number color colour version deadlin budget timezon size price owner
        leader
        capit birthdai birthday editor databas framework host branch licens url domain path limit timeout 密码 端口
        名字 地址
        邮箱 电话 颜色 版本 预算 价格 截止日期 生日 パスワード ポート 名前 住所 色 予算 締切 비밀번호 포트 이름 주소
        색 예산
        """
    )
)

# Opposites: each side is one sign of an axis. Only words that say nothing else.
_AXES: tuple[tuple[str, str], ...] = (
    (
        (
            r"\bon$|\b(?:enabled|turned on|switched on|activated|activa|aktiviert)\b|已?开启了?|已?启用了?|打开了?|"
            "有効|(?<!비)활성화|켜져"
        ),
        (
            r"\boff$|\b(?:disabled|turned off|switched off|deactivated|deaktiviert)\b|已?关闭了?|已?禁用了?|"
            "已?停用了?|無効|비활성화|꺼져"
        ),
    ),
    (
        r"\bpublic\b|公开|(?<!非)公開|(?<!비)공개",
        r"\bprivate\b|私有|私密|非公开|非公開|비공개",
    ),
    (
        r"\b(?:approved?s?|accepted)\b|批准了?|同意了?|接受了?|承認|승인",
        r"\b(?:rejected|declined|denied|vetoed)\b|否决了?|驳回了?|拒绝了?|却下|否決|거절|반려",
    ),
    (
        r"\b(?:mandatory|required|obligatory|compulsory)\b|必须做?|必需|必填|强制|必須|필수",
        r"\boptional\b|可选|选填|任意(?!の)|선택(?=이|입|$)",
    ),
    (
        r"\bopen(?:ed)?\b|开放|营业|営業中",
        r"\bclosed\b|不开放|歇业|休業中",
    ),
    (
        r"\b(?:passed|succeeded|successful)\b|通过|成功|합격|성공",
        r"\b(?:failed|unsuccessful)\b|未通过|失败|失敗|불합격|실패",
    ),
    (
        r"\bonline\b|在线|上线了|オンライン|온라인",
        r"\boffline\b|离线|下线了|オフライン|오프라인",
    ),
    (
        (
            r"\b(?:likes?|loves?|enjoys?|adores?|mag|liebt)\b|喜欢[用喝吃看听]?|喜爱|热爱|が好き|が大好き|"
            "좋아한|좋아합|좋아해"
        ),
        (
            r"\b(?:hates?|dislikes?|detests?|can't stand|hasst)\b|讨厌|厌恶|が嫌い|が大嫌い|싫어한|싫어합|"
            "싫어해"
        ),
    ),
    (
        r"\b(?:agrees?|supports the)\b|赞成|賛成|찬성",
        r"\b(?:disagrees?|opposes?)\b|反对|反対|반대",
    ),
    (
        r"\b(?:increased|rising)\b|上升|増加",
        r"\b(?:decreased|falling)\b|下降|減少",
    ),
    (
        r"\bmarried\b|已婚|既婚|기혼",
        r"\b(?:single|unmarried|divorced)\b|未婚|单身|独身|미혼",
    ),
    (
        r"\bleft-handed\b|左撇子|左利き|왼손잡이",
        r"\bright-handed\b|右撇子|右利き|오른손잡이",
    ),
    (
        r"\blocked\b|上锁|已锁",
        r"\bunlocked\b|未锁|解锁",
    ),
    (
        r"\bactive\b",
        r"\binactive\b",
    ),
    (
        r"\b(?:concise|brief|short)\b|简短|簡潔な?|간결한",
        r"\b(?:detailed|verbose|long)\b|详细|詳しい|詳細な?|자세한",
    ),
    (
        r"\bavailable\b|有空|空いて",
        r"\b(?:unavailable|busy)\b|没空",
    ),
    (
        r"안다(?= |$)|알고 있",
        r"모른|모르",
    ),
)
# The axis of liking, counted from one, which preferences do not turn on.
LIKING = 8

NEGATION = Wording(
    r"\b(?:not|never|no longer|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|hasn't|"
    r"haven't|couldn't"
    r"|shouldn't|wouldn't|without|stopped|quit|no more|has no|have no|nicht|kein\w*|nie|jamais|pas|nunca|nao|не|"
    r"больше не)\b"
    r"|不再是?|不可以|不能|不会|不(?=用(?!户))|不(?![同仅但错久断少只如然论管止满]|过(?!敏)|得不)|没有|"
    r"没(?=[养有吃来])|从来不|从不|未(?=[婚授])|無い|ではない|じゃない"
    r"|(?:てい|でい)?ません(?:でした)?|(?<=[\u4e00-\u9fff\u3041-\u3096])ない(?=$| |で|の)|(?<=が)ない|なかった|"
    r"なくなった"
    r"|지 않\w*|(?<= )안 |(?<= )못 |없\w*|(?:[이가] )?아니(?:다|야|에요|라)?|아닙니다"
)
# Says that things were otherwise once, or that this was one event: neither can be contradicted by what is now.
PAST = Wording(
    r"\b(?:used to|formerly|previously|once|originally|grew up|ran|happened|occurred|took place|crashed|"
    r"visited|went to|flew to|met|bought|"
    r"was in|travell?ed to|ago)\b"
    r"|以前(?!は?使)|曾经|曾在|原来|从前|去过|出差|认识了|长大|买了|旅行|去了"
    r"|以前は?|かつて|昔|を訪れた|で育った|出張|へ行った|に行った|で出会"
    r"|예전|이전에는|한때|방문했|자랐|출장|갔다|만났"
)
# Says when something began or happened, seen from now.
RECENT = Wording(
    r"\b(?:last|this|next) (?:week|month|year|spring|summer|autumn|fall|winter|night)\b"
    r"|\b(?:yesterday|today|tomorrow)\b"
    r"|上个?月|上个?星期|上周|昨天|今天|明天|前天|去年|今年|明年|下个?月|下周|本周|本月"
    r"|先月|先週|昨日|今日|明日|昨年|去年|今年|来年|来月|来週"
    r"|지난달|지난주|어제|오늘|내일|작년|올해|내년|다음 ?달|다음 ?주"
)
# Only says that nothing changed.
STILL = Wording(r"\b(?:still|already|yet)\b|仍然?|依然|まだ|依然|여전히|아직")
# Only says since when a statement holds.
NOW = Wording(
    r"\b(?:now|nowadays|these days|currently|any ?more|from now on|recently|meanwhile|lately|"
    r"at present|instead)\b"
    r"|现在|目前|如今|已经|已(?![婚])|以后|今后|最近|今は|今では|今後|現在|最近|もう|今(?![年月日週朝夜回])|이제|"
    r"지금|앞으로|요즘|현재|더 이상"
)
# Only says that a number or a time is no longer what it was.
CHANGED = Wording(
    r"\b(?:was |were |got |has been |have been )?(?:raised|lowered|increased|reduced|moved|changed|postponed|"
    r"cut|extended)(?: to)?\b"
    r"|提高到|降低到|增加到|减少到|改到|推迟到|提前到|改成|改为|换成了?|涨到|降到|定在|推迟|提前"
    r"|に増え\w*|に減っ\w*|に変わりました|に変わった|になりました|になった|ようになりました|[으]?로 늘었다|"
    r"[으]?로 줄었다|[으]?로 바뀌었다|으로 변경됐다"
)
TIMES_OF_DAY = Wording(
    r"\b(?:in the |at |every )?(?P<m>mornings?|breakfast)\b|\b(?:in the |at |every )?(?P<e>evenings?|nights?|"
    r"dinner)\b|\b(?:after |at |in the )?(?P<n>lunch|noon|afternoons?)\b"
    r"|(?P<m2>早上|早晨|上午|每天早上|毎朝|朝|아침에?|매일 아침)|(?P<e2>晚上|夜里|夜|毎晩|晩|저녁에?|밤에)|"
    r"(?P<n2>中午|午饭后|下午|昼|午後|점심에?)"
)
USER = Wording(
    r"\b(?:i'm|i'd|i've|i'll|i|me|my|mine|(?:the )?user(?:'s)?)\b|我的?(?!们)|本人|用户|使用者|(?:私|僕|俺|"
    r"ユーザー)(?:の|は)?|(?<![가-힣])(?:나는|나의|내가|내|저는|제|사용자[는가의]?)(?![가-힣])|\bich\b|"
    r"\bmein\w*\b|\byo\b|\bmi\b|\bje\b|\bmon\b|\bma\b|\beu\b|\bmeu\b|(?<!\w)(?:я|мой|моя|мне)(?!\w)"
)
_DOMAINS: dict[str, str] = {
    "drink": """
        tea coffee juice water chocolate espresso milk wine beer cola 茶 咖啡 汁 豆浆 牛奶 水 酒 巧克力
        コーヒー 緑茶 紅茶 ジュース 牛乳 녹차 커피 주스 우유 홍차 drink
    """,
    "color": """
        blue green red orange purple yellow black white pink brown grey gray color colour 蓝 绿 红 紫 黄 黑 白
        色 青 緑 赤 파란 초록 빨간 보라 노란 검은 흰
    """,
    "editor": """
        vim emacs vscode helix neovim sublime nano editor 编辑器 エディタ 편집기
    """,
    "language": """
        english spanish german korean french japanese chinese italian russian 英语 法语 中文 日语 德语 英語
        フランス語 日本語 中国語 영어 프랑스어 한국어 일본어 language
    """,
    "theme": """
        dark light theme mode 深色 浅色 主题 ダーク ライト テーマ 다크 라이트 테마
    """,
    "food": """
        peanut sushi pizza mushroom olive pasta rice noodle cheese fish meat 花生 寿司 香菜 蘑菇 榴莲 面条
        米饭 納豆 えび きのこ ピザ うどん そば 땅콩 초밥 새우 버섯 피자 국수 밥
    """,
    "bundler": """
        webpack vite rollup parcel esbuild
    """,
    "framework": """
        react vue svelte angular django flask rails spring
    """,
    "job": """
        nurse teacher doctor engineer lawyer designer manager student developer programmer chef pilot farmer 护士
        老师 医生
        工程师 律师 设计师 学生 程序员 看護師 教師 医者 エンジニア 弁護士 学生 간호사 교사 의사 변호사 학생
    """,
    "indent": """
        tab tabs space spaces
    """,
    "pet": """
        cat dog cats dogs 猫 狗 犬 고양이 강아지
    """,
    "database": """
        postgresql mysql sqlite mongodb duckdb oracle mariadb tidb redis cassandra 达梦 database 数据库
        データベース 데이터베이스
    """,
}


@cache
def relations() -> tuple[tuple[str, Wording], ...]:
    """The relations and their words, in the order in which they are tried."""
    return tuple((name, Wording("|".join(_numbered(patterns)))) for name, patterns in _RELATIONS.items())


def _numbered(patterns: tuple[str, ...]) -> list[str]:
    """The patterns with groups v and v2 renamed, so that they can stand in one."""
    renamed = []
    for number, pattern in enumerate(patterns):
        renamed.append(pattern.replace("(?P<v>", f"(?P<v_{number}>").replace("(?P<v2>", f"(?P<w_{number}>"))
    return renamed


@cache
def axes() -> tuple[tuple[int, Wording], ...]:
    """The words of each side of each axis under its signed number; the negative first, as it may contain the other."""
    sides = []
    for number, (positive, negative) in enumerate(_AXES, 1):
        sides += [(-number, Wording(negative)), (number, Wording(positive))]
    return tuple(sides)


@cache
def _domains() -> dict[str, str]:
    """Each word, and each as its stem, with its kind."""
    return {
        form: domain
        for domain, block in _DOMAINS.items()
        for word in block.split()
        for form in (word, *segment(word).words)
    }


def domains(terms: frozenset[str]) -> frozenset[str]:
    """What kinds of things these terms name, as far as that is known: a drink and a drink exclude each other."""
    kinds = frozenset(kind for term in terms for kind in _kinds(term))
    return kinds - {"color"} if len(kinds) > 1 else kinds  # green tea is no colour


@lru_cache(maxsize=8192)
def _kinds(term: str) -> frozenset[str]:
    """What a term names: the word that it is, or in a script without spaces one that it begins or ends with."""
    known = _domains()
    words = {term} | {term[at:] for at in range(1, len(term))} | {term[:at] for at in range(2, len(term))}
    return frozenset(known[word] for word in words if word in known and (word == term or not word.isascii()))
