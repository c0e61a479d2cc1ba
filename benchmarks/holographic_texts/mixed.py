"""Sentences in which scripts meet: Latin names in Chinese, Japanese and Korean text, and the reverse."""

from benchmarks.holographic_texts import Part, Texts

OPENED = Part(
    names={
        "person": ("Alice", "王小明", "Bob Chen", "田中さくら", "김민수", "José", "李娜", "Kevin"),
        "org": ("ByteDance", "清华大学", "IBM", "星河科技", "NTT", "Kakao"),
        "place": ("上海", "Singapore", "東京", "Bay Area", "台北"),
        "tool": ("PostgreSQL", "Redis", "GitHub", "C++", "K8s", "飞书", "VSCode", "FastAPI", "RabbitMQ"),
        "project": ("Apollo项目", "支付API", "DataHub", "Orion平台", "order-service"),
    },
    facts="""
        {person} 在 {org} 负责 {tool} 的升级。 => {person} 在 {org} 负责什么？
        {project}用的是{tool}，由{person}维护。 => {project}用的是什么？
        {person}上周把{project}的代码 push 到了 {tool}。 => {person}把{project}的代码 push 到哪里？
        {person} said that 凯聪 will review {project}. => Who will review {project}, said {person}?
        {org} 的 {person} 住在 {place}。 => {org} 的 {person} 住在哪里？
        {project} は {tool} で動いている。 => {project} は何で動いている？
        {person} prefers {tool} for {project} because 速度更快. => Why does {person} prefer {tool} for {project}?
        明天和 {person} 开会讨论 {project} 的 {tool} 迁移。 => 和 {person} 开会讨论什么？
        The {tool} cluster in {place} belongs to {org}. => Whom does the {tool} cluster in {place} belong to?
        {person} 님이 {tool} 서버를 {place} 리전에 배포했다. => {person} 님이 {tool} 서버를 어디에 배포했나요?
    """,
    pairs={
        "preference": """
            {p} 喜欢用 {editor1} 写代码。 => {p} 现在喜欢用 {editor2} 写代码。
            {p} prefers {drink1}. => {p} now prefers {drink2}.
        """,
        "value": """
            {p} 住在 {city1}。 => {p} 搬到了 {city2}。
            {p} 在 {org1} 工作。 => {p} 加入了 {org2}。
            {proj} 的数据库是 {db1}。 => {proj} 的数据库换成了 {db2}。
            {proj} のデータベースは {db1} です。 => {proj} のデータベースは {db2} です。
            {p} lives in {city1}. => {p} moved to {city2}.
        """,
        "opposite": """
            {proj} 的 debug 模式已开启。 => {proj} 的 debug 模式已关闭。
            The {proj} beta is open. => The {proj} beta is closed.
        """,
        "negation": """
            {proj} 支持 {code1}。 => {proj} 不支持 {code1}。
            {p} は {code1} が使える。 => {p} は {code1} が使えない。
            {p} eats {food1}. => {p} never eats {food1}.
        """,
        "number": """
            {proj} 的端口是 {n1}。 => {proj} 的端口改成 {n2}。
            {proj} サーバーのメモリは {s1}GB です。 => {proj} サーバーのメモリは {s2}GB です。
            {proj}의 timeout은 {s1}초이다. => {proj}의 timeout은 {s2}초이다.
        """,
        "date": """
            {proj} 的 deadline 是 {date1}。 => {proj} 的 deadline 是 {date2}。
            {proj} の release は {month1} です。 => {proj} の release は {month2} です。
            {proj} 的 demo 定在 {day1}。 => {proj} 的 demo 定在 {day2}。
        """,
        "none": """
            {p} 住在 {city1}。 => {q} 住在 {city2}。
            {p} 在 {org1} 工作。 => {p} 管理 {org1} 的 GitHub 仓库。
            {proj} 支持 {code1}。 => {proj} 支持 {code2}。
            {proj} 的端口是 {n1}。 => {proj2} 的端口是 {n2}。
            {proj} 的 debug 模式已开启。 => {proj} 的 cache 已关闭。
            {p} likes {food1}. => {p} likes {food2}.
            {p} 会 {code1}。 => {p} 会 {code2}。
            {proj} 的 deadline 是 {date1}。 => {proj} 的端口是 {n1}。
            {p} は {code1} が使える。 => {q} は {code1} が使えない。
            {p} lives in {city1}. => {p} flew to {city2}.
        """,
    },
)

HELD = Part(
    names={
        "person": ("Grace", "徐静蕾", "David Kim", "木村拓哉", "송강호", "François"),
        "org": ("Tencent", "北京大学", "ESA", "远景科技", "LINE"),
        "place": ("广州", "Berlin", "大阪", "Hong Kong"),
        "tool": ("MongoDB", "Kafka", "GitLab", "F#", "钉钉", "PyTorch", "DuckDB"),
        "project": ("Zeus项目", "会员API", "MapStitch", "Nova平台", "billing-core"),
    },
    facts="""
        {person} 把 {project} 部署到 {place} 的 {tool} 集群。 => {person} 把 {project} 部署到哪里？
        {org} 请 {person} 做了一次 {tool} 分享。 => {org} 请谁做 {tool} 分享？
        {person} さんは {org} で {tool} を教えている。 => {person} さんは {org} で何を教えている？
        {project} 的 owner 是 {person}。 => {project} 的 owner 是谁？
        {person} moved from {org} to {place} 因为孩子上学. => Why did {person} move to {place}?
    """,
    pairs={
        "preference": """
            {p} 更喜欢 {editor1}。 => {p} 现在更喜欢 {editor2}。
        """,
        "value": """
            {p} 在 {org1} 上班。 => {p} 跳槽到了 {org2}。
            {proj} 的 owner 是 {q}。 => {proj} 的 owner 换成了 {r}。
        """,
        "opposite": """
            {proj} 的 cache 已启用。 => {proj} 的 cache 已禁用。
        """,
        "negation": """
            {p} 会用 {code1}。 => {p} 不会用 {code1}。
            {proj} は {code1} に対応している。 => {proj} は {code1} に対応していない。
        """,
        "number": """
            {proj} 集群有 {s1} 个 node。 => {proj} 集群有 {s2} 个 node。
        """,
        "date": """
            {proj} 的 release 在 {month1}。 => {proj} 的 release 推迟到 {month2}。
        """,
        "none": """
            {p} 会用 {code1}。 => {q} 不会用 {code1}。
            {proj} 集群有 {s1} 个 node。 => {proj} 的 release 在 {month1}。
            {proj} 的 owner 是 {q}。 => {proj2} 的 owner 是 {r}。
            {p} 和 {q} 去了 {city1}。 => {p} 和 {r} 去了 {city2}。
        """,
    },
)

SEALED = {
    "preference": """
        {p} 更喜欢 {drink1}。 => {p} 更喜欢 {drink2}。
        I prefer {editor1}. => I now prefer {editor2}.
    """,
    "value": """
        {p} 在 {org1} 上班。 => {p} 加入了 {org2}。
        {proj} 的 tech lead 是 {q}。 => {proj} 的 tech lead 是 {r}。
        {proj} のオーナーは {q} です。 => {proj} のオーナーは {r} です。
    """,
    "opposite": """
        {proj} 的 wiki 是公开的。 => {proj} 的 wiki 是私有的。
        {proj} 알림은 켜져 있다. => {proj} 알림은 꺼져 있다.
    """,
    "negation": """
        {p} 喝 coffee。 => {p} 不喝 coffee。
        {proj} needs a VPN. => {proj} doesn't need a VPN.
    """,
    "number": """
        {proj} 有 {s1} 个 worker。 => {proj} 有 {s2} 个 worker。
        {proj} stores {n1} documents. => {proj} stores {n2} documents.
    """,
    "date": """
        {proj} 的 code freeze 从 {date1} 开始。 => {proj} 的 code freeze 从 {date2} 开始。
        {p} は {day1} に yoga に行く。 => {p} は {day2} に yoga に行く。
    """,
    "none": """
        {p} 喝 coffee。 => {p} 喝 juice。
        {proj} 的 tech lead 是 {q}。 => {proj} 的 tester 是 {r}。
        {proj} needs a VPN. => {proj2} doesn't need a VPN.
        {p} 读完了第{s1}章。 => {p} 读完了第{s2}章。
    """,
}

TEXTS = Texts(
    opened=OPENED,
    held=HELD,
    sealed=SEALED,
    values={
        "drink": ("coffee", "green tea", "juice"),
        "editor": ("Vim", "Emacs", "VSCode"),
        "city": ("上海", "Singapore", "東京", "Berlin"),
        "org": ("ByteDance", "IBM", "星河科技"),
        "db": ("PostgreSQL", "MySQL", "TiDB"),
        "code": ("Python", "Rust", "Go"),
        "food": ("peanuts", "sushi", "火锅"),
        "n": ("8080", "9090", "5432"),
        "s": ("4", "8", "16", "31"),
        "date": ("3月1日", "5月12日", "2026-06-21"),
        "month": ("三月", "5月", "10月"),
        "day": ("周一", "周四", "星期五"),
    },
    unrelated=(
        "写一个 Python 的 hello world", "帮我 debug 这个 loop", "What is 木星 in English?", "把这句话 translate 成法语",
        "tell me a 笑话 about 企鹅", "このコードを refactor して", "CSS で中央に寄せるには？", "JSON 파일을 정렬해 줘",
    ),
    strangers=("Zelda", "慕容复", "Quentin Li", "与謝野晶子"),
)  # fmt: skip
