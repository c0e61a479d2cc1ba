"""A fourth part of each language, written when recall had been mended by three; see `fresh`."""
# ruff: noqa: E501 - a sentence stays on its line

from benchmarks.holographic_texts import Part
from benchmarks.holographic_texts.fresh import Fresh

ENGLISH = Fresh(
    Part(
        names={
            "person": ("Mateusz Zielinski", "Farah", "Callum Drummond", "Noor", "Sunniva Dahl", "Everett", "Inès Garnier"),
            "org": ("Bluefin Capital", "Oxfam", "Kestrel Air", "DHL", "Meridian Labs"),
            "place": ("Porto", "Leipzig", "Auckland", "Cork", "Łódź"),
            "tool": ("Splunk", "Vault", "dbt", "RabbitMQ"),
            "project": ("Project Tundra", "PayrollX", "Silverbird", "asset-index"),
        },
        facts="""
            {person} invited {person2} to the wedding in {place}. => Who invited {person2} to the wedding in {place}?
            {person} owes {person2} forty dollars since the trip to {place}. => Whom does {person} owe forty dollars?
            {person} was promoted by {person2} at {org}. => Who promoted {person} at {org}?
            The license of {tool} at {org} expires in September. => When does the license of {tool} at {org} expire?
            {project} may only be deployed on Tuesdays. => On which days may {project} be deployed?
            {person} learns Portuguese with a teacher from {place}. => Which language does {person} learn?
            {person} repairs old radios in the cellar. => What does {person} repair in the cellar?
            The office of {org} in {place} has no elevator. => What does the office of {org} in {place} lack? Has it an elevator?
        """,
        pairs={},
    ),
    ("Plan a birthday party for twelve children", "What does the word ephemeral mean?", "Is zero an even number?", "Shorten this text to one sentence", "Who wrote Hamlet?", "Make a table of the planets", "Why do cats purr?"),
    ("Octavia Pembroke", "Zebulon", "Lucinda Hartwell", "Igor", "Caspian Wolfe"),
)  # fmt: skip

CHINESE = Fresh(
    Part(
        names={
            "person": ("汪涵", "宋佳", "司马光", "梁朝伟", "杜江", "范冰冰", "贾玲"),
            "org": ("网易", "武汉大学", "中信证券", "格力集团", "同仁医院"),
            "place": ("重庆", "大连市", "桂林", "拉萨", "人民路"),
            "tool": ("飞书", "石墨文档", "人大金仓数据库", "墨刀"),
            "project": ("朱雀项目", "泰山计划", "门禁系统", "招聘平台"),
        },
        facts="""
            {person}邀请{person2}参加在{place}的婚礼。 => 谁邀请{person2}参加在{place}的婚礼？
            {person}向{person2}借了四十块钱。 => 谁向{person2}借了四十块钱？
            {person}在{org}被{person2}提拔为主管。 => 谁在{org}提拔了{person}？
            {org}的{tool}许可九月到期。 => {org}的{tool}许可几月到期？
            {project}只能在星期二部署。 => {project}只能在星期几部署？
            {person}跟一位{place}的老师学葡萄牙语。 => {person}学什么语言？
            {person}在地下室修理旧收音机。 => {person}在地下室修理什么？
            {org}在{place}的办公楼没有电梯。 => {org}在{place}的办公楼没有什么？
        """,
        pairs={},
    ),
    ("给十二个孩子策划一场生日派对", "昙花一现是什么意思？", "零是偶数吗？", "把这段文字缩成一句", "红楼梦是谁写的？", "列一张行星的表格", "猫为什么会打呼噜？"),
    ("韦小宝", "李白", "王熙凤", "东方不败", "屈原"),
)  # fmt: skip

JAPANESE = Fresh(
    Part(
        names={
            "person": ("黒田", "三浦春馬", "永井さくら", "酒井", "星野源", "アントニオ・ロペス", "ハンナ", "横山教授"),
            "org": ("富士通", "大阪大学", "千葉銀行", "ダイキン", "赤十字病院"),
            "place": ("熊本", "川崎市", "奈良県", "リスボン", "中野区"),
            "tool": ("スプランク", "ボルト", "ミロ", "ラビット"),
            "project": ("プロジェクト朱雀", "サターン計画", "給与システム", "ハヤブサ"),
        },
        facts="""
            {person}が{person2}を{place}での結婚式に招待した。 => {person2}を{place}での結婚式に招待したのは誰ですか？
            {person}が{person2}に四万円を貸した。 => {person2}に四万円を貸したのは誰ですか？
            {person}は{org}で{person2}に推薦された。 => {org}で{person}を推薦したのは誰ですか？
            {org}の{tool}のライセンスは九月に切れる。 => {org}の{tool}のライセンスはいつ切れますか？
            {project}は火曜日にしかデプロイできない。 => {project}は何曜日にデプロイできますか？
            {person}は{place}出身の先生にポルトガル語を習っている。 => {person}は何語を習っていますか？
            {person}は地下室で古いラジオを修理している。 => {person}は地下室で何を修理していますか？
            {place}の{org}の建物にはエレベーターがない。 => {place}の{org}の建物には何がありませんか？
        """,
        pairs={},
    ),
    ("子ども十二人の誕生日会を計画して", "一期一会とはどういう意味ですか？", "ゼロは偶数ですか？", "この文章を一文に縮めて", "源氏物語を書いたのは誰？", "惑星の表を作って", "猫はなぜ喉を鳴らすの？"),
    ("宮沢賢治", "豊臣秀吉", "コロンブス", "清少納言", "ピカソ"),
)  # fmt: skip

KOREAN = Fresh(
    Part(
        names={
            "person": ("유재석", "한효주", "강동원", "서현진", "남주혁", "제갈량", "안토니오 테일러", "신민아"),
            "org": ("포스코", "부산대학교", "우리은행", "당근마켓", "적십자병원"),
            "place": ("여수", "천안시", "서초구", "충청도", "리스본"),
            "tool": ("스플렁크", "볼트", "미로", "래빗"),
            "project": ("주작 프로젝트", "파도 프로젝트", "급여시스템", "딱따구리"),
        },
        facts="""
            {person:이} {person2:을} {place} 결혼식에 초대했다. => {person2:을} {place} 결혼식에 초대한 사람은 누구인가요?
            {person:이} {person2}에게 사만 원을 빌려주었다. => {person2}에게 사만 원을 빌려준 사람은 누구인가요?
            {person:은} {org}에서 {person2}에게 추천을 받았다. => {person:은} {org}에서 누구에게 추천을 받았나요?
            {org}의 {tool} 라이선스는 구월에 만료된다. => {org}의 {tool} 라이선스는 언제 만료되나요?
            {project:은} 화요일에만 배포할 수 있다. => {project:은} 무슨 요일에 배포할 수 있나요?
            {person:은} {place} 출신 선생님에게 포르투갈어를 배운다. => {person:은} 어느 나라 말을 배우나요?
            {person:은} 지하실에서 낡은 라디오를 고친다. => {person:은} 지하실에서 무엇을 고치나요?
            {place} {org} 건물에는 승강기가 없다. => {place} {org} 건물에는 무엇이 없나요?
        """,
        pairs={},
    ),
    ("아이 열두 명의 생일 파티를 계획해 줘", "새옹지마는 무슨 뜻인가요?", "영은 짝수인가요?", "이 글을 한 문장으로 줄여 줘", "햄릿은 누가 썼나요?", "행성 표를 만들어 줘", "고양이는 왜 골골거리나요?"),
    ("홍길동", "김유신", "콜럼버스", "허난설헌", "안중근"),
)  # fmt: skip

MIXED = Fresh(
    Part(
        names={
            "person": ("Anjali", "宋佳", "Pierre Duval", "星野ゆり", "유재석", "Zoé", "Mehmet"),
            "org": ("Lazada", "同济大学", "Bosch", "LINE", "Rakuten"),
            "place": ("成都", "Jakarta", "福岡", "Munich"),
            "tool": ("Splunk", "ClickHouse", "Jenkins", "石墨文档", "Ansible"),
            "project": ("Nova项目", "库存API", "EdgeSync", "Vega平台"),
        },
        facts="""
            {person} 在 {place} 请 {person2} 吃火锅。 => {person} 在 {place} 请谁吃火锅？
            {project} の dashboard は {tool} にある。 => {project} の dashboard はどこにある？
            {person} 님이 {project} 장애를 {tool} 로그에서 찾았다. => {person} 님이 {project} 장애를 어디에서 찾았나요?
            {org} 的 {tool} license 九月到期。 => {org} 的 {tool} license 几月到期？
            The {project} oncall phone is with {person} in {place}. => With whom is the {project} oncall phone?
            {person} introduced {person2} to {org} 的 HR。 => Who introduced {person2} to {org} 的 HR?
        """,
        pairs={},
    ),
    ("plan 一个 birthday party", "零 is 偶数吗?", "この text を短くして", "table of 行星", "고양이 meme 추천해 줘", "Hamlet 谁写的?", "explain 一期一会"),
    ("Octavia Pembroke", "韦小宝", "コロンブス", "홍길동", "Lucinda"),
)  # fmt: skip

LATER = {"en": ENGLISH, "zh": CHINESE, "ja": JAPANESE, "ko": KOREAN, "mixed": MIXED}
