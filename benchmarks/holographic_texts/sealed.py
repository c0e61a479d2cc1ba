"""The last part of each language: written when recall had been mended by all others. Only the Chinese failures were looked at."""
# ruff: noqa: E501 - a sentence stays on its line

from benchmarks.holographic_texts import Part
from benchmarks.holographic_texts.fresh import Fresh

ENGLISH = Fresh(
    Part(
        names={
            "person": ("Radka Havlová", "Tunde", "Ciarán Walsh", "Mireille", "Bogdan Petrescu", "Saskia", "Omid Tehrani"),
            "org": ("Larkspur Media", "WWF", "Polaris Insurance", "Unilever", "Cobalt Studio"),
            "place": ("Tallinn", "Valencia", "Montréal", "Perth", "Ghent"),
            "tool": ("Prometheus", "Looker", "Ansible", "CockroachDB"),
            "project": ("Project Heron", "TaxEngine", "Nightjar", "photo-archive"),
        },
        facts="""
            {person} criticised {person2} in the {org} meeting. => Who criticised {person2} in the {org} meeting?
            {person} visited {person2} in {place} last winter. => Whom did {person} visit last winter?
            {project} was designed by {person} for {org}. => Who designed {project} for {org}?
            The alarms of {project} come from {tool}. => Where do the alarms of {project} come from?
            {person} collects stamps from {place}. => What does {person} collect?
            {org} closes its {place} branch in December. => When does {org} close its {place} branch?
            {person} wears hearing aids. => What kind of aids does {person} wear?
        """,
        pairs={},
    ),
    ("How do I tie a bow tie?", "Count the vowels in onomatopoeia", "What time is it in Tokyo?", "Suggest a title for my essay", "Who invented the telephone?", "Turn these notes into an email"),
    ("Philippa Thorne", "Barnaby", "Genevieve Okello", "Anatole", "Ulrich Sander"),
)  # fmt: skip

CHINESE = Fresh(
    Part(
        names={
            "person": ("胡歌", "倪妮", "上官婉儿", "王宝强", "黄渤", "佟丽娅", "沈腾"),
            "org": ("京东", "南京大学", "平安银行", "比亚迪", "友谊医院"),
            "place": ("哈尔滨", "宁波市", "珠海", "三亚", "解放路"),
            "tool": ("腾讯会议", "有道云笔记", "巨杉数据库", "蓝湖"),
            "project": ("玄武项目", "昆仑计划", "会员系统", "广告平台"),
        },
        facts="""
            {person}在{org}的会上批评了{person2}。 => 谁在{org}的会上批评了{person2}？
            {person}去年冬天在{place}看望了{person2}。 => {person}去年冬天看望了谁？
            {project}由{person}为{org}设计。 => 谁为{org}设计了{project}？
            {project}的告警来自{tool}。 => {project}的告警来自哪里？
            {person}收集{place}的邮票。 => {person}收集什么？
            {org}十二月关闭{place}分店。 => {org}什么时候关闭{place}分店？
            {person}戴助听器。 => {person}戴什么？
        """,
        pairs={},
    ),
    ("领结怎么打？", "数一数这个词有几个元音", "东京现在几点？", "给我的文章起个题目", "电话是谁发明的？", "把这些笔记改成邮件"),
    ("杨过", "苏东坡", "诸葛瑾", "薛宝钗", "白居易"),
)  # fmt: skip

JAPANESE = Fresh(
    Part(
        names={
            "person": ("大野", "長谷川博己", "桜井ひな", "菅原", "竹内結子", "ピーター・ヤング", "エレナ", "上野教授"),
            "org": ("東芝", "名古屋大学", "静岡銀行", "シャープ", "大学病院"),
            "place": ("金沢", "堺市", "千葉県", "ベルリン", "目黒区"),
            "tool": ("プロメテウス", "ルッカー", "アンシブル", "コックローチ"),
            "project": ("プロジェクト玄武", "オリオン計画", "会員システム", "フクロウ"),
        },
        facts="""
            {person}が{org}の会議で{person2}を批判した。 => {org}の会議で{person2}を批判したのは誰ですか？
            {person}は去年の冬に{place}で{person2}を見舞った。 => {person}は去年の冬に誰を見舞いましたか？
            {project}は{org}のために{person}によって設計された。 => {org}のために{project}を設計したのは誰ですか？
            {project}の警報は{tool}から来る。 => {project}の警報はどこから来ますか？
            {person}は{place}の切手を集めている。 => {person}は何を集めていますか？
            {org}は十二月に{place}の支店を閉める。 => {org}はいつ{place}の支店を閉めますか？
            {person}は補聴器をつけている。 => {person}は何をつけていますか？
        """,
        pairs={},
    ),
    ("蝶ネクタイの結び方は？", "この単語の母音を数えて", "ニューヨークは今何時？", "作文の題名を考えて", "電話を発明したのは誰？", "このメモをメールに直して"),
    ("太宰治", "武田信玄", "エジソン", "樋口一葉", "モーツァルト"),
)  # fmt: skip

KOREAN = Fresh(
    Part(
        names={
            "person": ("이정재", "전도연", "하정우", "김태리", "박해일", "선우재덕", "피터 앤더슨", "문소리"),
            "org": ("롯데건설", "전남대학교", "기업은행", "토스증권", "성모병원"),
            "place": ("속초", "안양시", "송파구", "전라도", "베를린"),
            "tool": ("프로메테우스", "루커", "앤서블", "젠데스크"),
            "project": ("현무 프로젝트", "은하 프로젝트", "회원시스템", "부엉이"),
        },
        facts="""
            {person:이} {org} 회의에서 {person2:을} 비판했다. => {org} 회의에서 {person2:을} 비판한 사람은 누구인가요?
            {person:은} 작년 겨울에 {place}에서 {person2:을} 병문안했다. => {person:은} 작년 겨울에 누구를 병문안했나요?
            {project:은} {person:이} {org:을} 위해 설계했다. => {org:을} 위해 {project:을} 설계한 사람은 누구인가요?
            {project}의 경보는 {tool}에서 온다. => {project}의 경보는 어디에서 오나요?
            {person:은} {place} 우표를 모은다. => {person:은} 무엇을 모으나요?
            {org:은} 십이월에 {place} 지점을 닫는다. => {org:은} 언제 {place} 지점을 닫나요?
            {person:은} 보청기를 낀다. => {person:은} 무엇을 끼나요?
        """,
        pairs={},
    ),
    ("나비넥타이는 어떻게 매나요?", "이 낱말의 모음을 세어 줘", "뉴욕은 지금 몇 시인가요?", "내 글의 제목을 지어 줘", "전화기는 누가 발명했나요?", "이 메모를 메일로 바꿔 줘"),
    ("정약용", "강감찬", "에디슨", "황진이", "모차르트"),
)  # fmt: skip

MIXED = Fresh(
    Part(
        names={
            "person": ("Deepak", "倪妮", "Lena Fischer", "大野ゆか", "하정우", "Chloé", "Tariq"),
            "org": ("Tokopedia", "南京大学", "Bosch", "Kakao", "Mercari"),
            "place": ("西安", "Bangkok", "仙台", "Vienna"),
            "tool": ("Prometheus", "Cassandra", "Bitbucket", "蓝湖", "Pulumi"),
            "project": ("Atlas项目", "会员API", "PhotoSync", "Mira平台"),
        },
        facts="""
            {person} 把 {project} 的 API key 给了 {person2}。 => {person} 把 {project} 的 API key 给了谁？
            {project} の alert は {tool} から来る。 => {project} の alert はどこから来る？
            {person} 님이 {place} 지점에서 {tool} 를 설치했다. => {person} 님이 {place} 지점에서 무엇을 설치했나요?
            {org} closes its {place} branch 在十二月。 => When does {org} close its {place} branch?
            {person} visited {person2} in {place} 去年冬天. => Whom did {person} visit in {place}?
            {person} 收集 {place} 的 stamps。 => {person} 收集什么？
        """,
        pairs={},
    ),
    ("bow tie 怎么打?", "count 母音 in this word", "東京 time now?", "essay 题目 suggestion", "전화 inventor 누구?", "notes を email に"),
    ("Philippa Thorne", "苏东坡", "エジソン", "강감찬", "Barnaby"),
)  # fmt: skip

SEALED = {"en": ENGLISH, "zh": CHINESE, "ja": JAPANESE, "ko": KOREAN, "mixed": MIXED}
