"""A third part of each language, written when the other two had been looked at, before recall was mended by them.

Its names, sentences, small talk and strangers are in neither of the others. Its failures were looked at when they had
been measured once; `later` was written then, and looked at in its turn, and then `sealed`, of which only the failures
in Chinese were looked at.
"""
# ruff: noqa: E501 - a sentence stays on its line

from typing import NamedTuple

from benchmarks.holographic_texts import Part


class Fresh(NamedTuple):
    """What `Texts` has for two parts, for the third."""

    part: Part
    unrelated: tuple[str, ...]
    strangers: tuple[str, ...]


ENGLISH = Fresh(
    Part(
        names={
            "person": ("Ingrid Solberg", "Tomás", "Aisha Rahman", "Declan", "Yuki Morimoto", "Bastien Leroy", "Wren"),
            "org": ("Northwind", "Stark Foundry", "UNESCO", "Halcyon Bank", "KPMG", "Redwood Clinic"),
            "place": ("Utrecht", "São Paulo", "Glasgow", "Wellington", "Gdańsk"),
            "tool": ("Snowflake", "Airflow", "OpenSearch", "Figma", "MinIO"),
            "project": ("Project Kestrel", "BillingHub", "Moonraker", "ledger-sync"),
        },
        facts="""
            {person} replaced {person2} as head of sales at {org}. => Who replaced {person2} at {org}?
            {person} taught {person2} how to use {tool}. => Who taught {person2} how to use {tool}?
            {person} sold a bicycle to {person2} in {place}. => To whom did {person} sell a bicycle in {place}?
            {org} pays for {tool} out of the {place} budget. => Which budget does {org} pay for {tool} out of?
            {project} was audited by {org} in spring. => When was {project} audited by {org}?
            {person} grows tomatoes on a balcony in {place}. => What does {person} grow on the balcony?
            The logs of {project} are shipped to {tool}. => Where are the logs of {project} shipped?
            {person} owns a sailing boat called Marlin. => What is the sailing boat of {person} called?
            {person} wants the weekly report of {project} before lunch. => When does {person} want the weekly report of {project}?
        """,
        pairs={},
    ),
    (
        "Write a limerick about a goat", "How tall is Mount Everest?", "Refactor this function into smaller ones", "What is the boiling point of water?",
        "Spell necessary for me", "Who won the world cup in 1998?", "Give me five names for a cat", "Rewrite this paragraph in a formal tone",
    ),
    ("Leopold Vance", "Saoirse", "Mirabel Quade", "Fyodor", "Cassius Bell"),
)  # fmt: skip

CHINESE = Fresh(
    Part(
        names={
            "person": ("孙俪", "郑恺", "欧阳娜娜", "马思纯", "董卿", "白敬亭", "吴磊"),
            "org": ("美团", "浙江大学", "交通银行", "海尔集团", "华西医院"),
            "place": ("苏州", "青岛市", "厦门", "昆明", "南京路"),
            "tool": ("钉钉", "金山文档", "神通数据库", "禅道"),
            "project": ("北斗项目", "黄河计划", "考勤系统", "物流平台"),
        },
        facts="""
            {person}接替{person2}担任{org}的销售主管。 => 谁接替了{person2}担任{org}的销售主管？
            {person}教{person2}使用{tool}。 => 谁教{person2}使用{tool}？
            {person}在{place}把自行车卖给了{person2}。 => {person}把自行车卖给了谁？
            {org}每年为{tool}支付两万元。 => {org}每年为{tool}支付多少钱？
            {project}春天通过了{org}的审计。 => {project}什么时候通过{org}的审计？
            {person}在阳台上种番茄。 => {person}在阳台上种什么？
            {project}的日志发送到{tool}。 => {project}的日志发送到哪里？
            {person}有一条叫旺财的狗。 => {person}的狗叫什么名字？
            {person}要求午饭前交{project}的周报。 => {person}要求什么时候交{project}的周报？
        """,
        pairs={},
    ),
    ("写一首关于山羊的打油诗", "珠穆朗玛峰有多高？", "把这个函数拆小一点", "水的沸点是多少度？", "给我的猫起五个名字", "用正式的语气改写这段话", "一九九八年世界杯谁赢了？", "这个成语是什么意思？"),
    ("林黛玉", "令狐冲", "鲁迅", "岳飞", "张无忌"),
)  # fmt: skip

JAPANESE = Fresh(
    Part(
        names={
            "person": ("森", "岡田准一", "石原さとみ", "藤田", "遠藤美咲", "ソフィア・ロッシ", "ミゲル", "西村部長"),
            "org": ("日立", "早稲田大学", "横浜銀行", "キヤノン", "中央病院"),
            "place": ("仙台", "広島市", "長野県", "ロンドン", "品川区"),
            "tool": ("スノーフレーク", "レディス", "トレロ", "グラファナ"),
            "project": ("プロジェクト青龍", "アポロ計画", "勤怠システム", "ヒバリ"),
        },
        facts="""
            {person}が{person2}の後任として{org}の営業部長になった。 => {org}で{person2}の後任になったのは誰ですか？
            {person}が{person2}に{tool}の使い方を教えた。 => {person2}に{tool}の使い方を教えたのは誰ですか？
            {person}は{place}で{person2}を空港まで送った。 => {place}で{person2}を空港まで送ったのは誰ですか？
            {org}は{tool}に毎年二万円払っている。 => {org}は{tool}に毎年いくら払っていますか？
            {project}は春に{org}の監査を受けた。 => {project}はいつ{org}の監査を受けましたか？
            {person}はベランダでトマトを育てている。 => {person}はベランダで何を育てていますか？
            {project}のログは{tool}に送られる。 => {project}のログはどこに送られますか？
            {person}はポチという犬を飼っている。 => {person}の犬の名前は何ですか？
            {person}は昼食前に{project}の週報を欲しがっている。 => {person}は{project}の週報をいつ欲しがっていますか？
        """,
        pairs={},
    ),
    ("ヤギについての川柳を作って", "エベレストの高さは？", "この関数を小さく分けて", "水の沸点は何度ですか？", "猫の名前を五つ考えて", "この段落を丁寧な言葉に直して", "円周率を十桁教えて", "四字熟語の意味を説明して"),
    ("芥川龍之介", "徳川家康", "ナポレオン", "紫式部", "ガリレオ"),
)  # fmt: skip

KOREAN = Fresh(
    Part(
        names={
            "person": ("손예진", "이병헌", "공유", "김고은", "박보검", "황보라", "루카스 밀러", "조인성"),
            "org": ("기아자동차", "고려대학교", "하나은행", "토스", "중앙병원"),
            "place": ("대구", "성남시", "종로구", "강원도", "런던"),
            "tool": ("스노우플레이크", "레디스", "트렐로", "그라파나"),
            "project": ("청룡 프로젝트", "바람 프로젝트", "근태시스템", "종달새"),
        },
        facts="""
            {person:이} {person2}의 후임으로 {org} 영업부장이 되었다. => {org}에서 {person2}의 후임이 된 사람은 누구인가요?
            {person:이} {person2}에게 {tool} 사용법을 가르쳤다. => {person2}에게 {tool} 사용법을 가르친 사람은 누구인가요?
            {person:은} {place}에서 {person2:을} 공항까지 배웅했다. => {place}에서 {person2:을} 공항까지 배웅한 사람은 누구인가요?
            {org:은} {tool}에 매년 이만 원을 낸다. => {org:은} {tool}에 매년 얼마를 내나요?
            {project:은} 봄에 {org}의 감사를 받았다. => {project:은} 언제 {org}의 감사를 받았나요?
            {person:은} 베란다에서 토마토를 기른다. => {person:은} 베란다에서 무엇을 기르나요?
            {project}의 로그는 {tool}에 전송된다. => {project}의 로그는 어디에 전송되나요?
            {person:은} 초코라는 강아지를 키운다. => {person}의 강아지 이름은 무엇인가요?
            {person:은} 점심 전에 {project} 주간 보고를 원한다. => {person:은} {project} 주간 보고를 언제 원하나요?
        """,
        pairs={},
    ),
    ("염소에 대한 짧은 시를 써 줘", "에베레스트산은 얼마나 높나요?", "이 함수를 작게 나눠 줘", "물은 몇 도에서 끓나요?", "고양이 이름 다섯 개만 지어 줘", "이 문단을 정중하게 고쳐 줘", "원주율을 열 자리까지 알려 줘", "이 사자성어는 무슨 뜻인가요?"),
    ("세종대왕", "이순신", "나폴레옹", "신사임당", "윤동주"),
)  # fmt: skip

MIXED = Fresh(
    Part(
        names={
            "person": ("Priya", "周冬雨", "Hugo Weber", "木下ゆき", "최민식", "Renée", "Oskar"),
            "org": ("Shopee", "复旦大学", "SAP", "Naver", "KDDI"),
            "place": ("深圳", "Kuala Lumpur", "京都", "Berlin"),
            "tool": ("Kafka", "MongoDB", "GitLab", "企业微信", "Terraform"),
            "project": ("Titan项目", "订单API", "CoreSync", "Lyra平台"),
        },
        facts="""
            {person} 把 {project} 的日志接到了 {tool}。 => {person} 把 {project} 的日志接到哪里？
            {project} は春に {org} の audit を受けた。 => {project} はいつ {org} の audit を受けた？
            {person} 님은 {place} 오피스에서 {tool} 교육을 한다. => {person} 님은 {place} 오피스에서 무슨 교육을 하나요?
            {org} pays for {tool} out of the {place} budget. => Which budget does {org} pay for {tool} out of?
            {person} 周末在 {place} 教 {person2} 打网球。 => {person} 周末在 {place} 教谁打网球？
            {person} keeps the {project} runbook in {tool}, 密码问前台. => Where does {person} keep the {project} runbook?
        """,
        pairs={},
    ),
    ("Write a limerick about 山羊", "把这个 function 拆小", "この loop を直して", "cat 名字 five 个", "이 regex 설명해 줘", "translate 这段话 to French", "1 ドルは何円？", "what does 加油 mean?"),
    ("Leopold Vance", "令狐冲", "ナポレオン", "이순신", "Mirabel"),
)  # fmt: skip

FRESH = {"en": ENGLISH, "zh": CHINESE, "ja": JAPANESE, "ko": KOREAN, "mixed": MIXED}
