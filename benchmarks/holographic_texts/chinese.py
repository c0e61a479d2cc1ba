"""Chinese, simplified, with some traditional."""
# ruff: noqa: E501 - a sentence stays on its line

from benchmarks.holographic_texts import Part, Texts

OPENED = Part(
    names={
        "person": (
            "王小明",
            "李娜",
            "张伟",
            "欧阳锋",
            "陈思远",
            "刘洋",
            "赵敏",
            "周杰",
            "孙悦",
            "吴晓波",
            "林志玲",
            "郑凯",
            "司马光",
            "黄丽华",
            "凯聪",
            "马云飞",
            "王明",
            "王明远",
            "老张",
            "小李",
        ),
        "org": ("腾讯", "华为公司", "清华大学", "招商银行", "星河科技", "蓝海集团", "人民医院", "字节跳动"),
        "place": ("上海", "北京", "杭州市", "深圳", "成都", "南京路", "西湖区", "台北", "乌鲁木齐"),
        "tool": ("数据中台", "飞书", "钉钉", "鸿蒙系统", "支付宝", "微信"),
        "project": ("凤凰项目", "星辰计划", "订单系统", "支付网关", "净值平台", "云雀工程"),
    },
    facts="""
        {person}在{org}担任数据工程师。 => {person}在{org}做什么工作？
        {person}住在{place}，每天坐地铁上班。 => {person}住在哪里？
        {project}的存储层用的是{tool}。 => {project}的存储层用什么？
        {project}是{person}去年在{place}发起的。 => 谁发起了{project}？
        {org}上个月把{project}迁移到了{tool}。 => {project}迁移到了哪里？
        构建失败的时候要找{person}，脚本是他写的。 => 构建失败应该找谁？{person}写了什么？
        {person}对花生过敏，已经告诉{org}了。 => {person}对什么过敏？
        {org}和{person}的合同六月到期。 => {person}和{org}的合同什么时候到期？
        {person}喜欢喝美式咖啡，不加糖。 => {person}喜欢喝什么咖啡？
        客户抱怨{project}太慢，{person}正在排查。 => 客户为什么抱怨{project}？
        {person}认为{tool}应该先升级。 => {person}认为应该先升级什么？
        {person}和{person2}在{org}共用一张办公桌。 => {person}和谁共用办公桌？ <>
        我的经理{person}负责审批五百元以上的报销。 => 经理{person}审批多少钱以上的报销？
        周五{org}在{place}的办公室中午关门。 => {org}在{place}的办公室周五几点关门？
        听说{person}会拉大提琴。 => {person}会什么乐器？
        请把{project}的发票开给{person}。 => {project}的发票开给谁？
    """,
    pairs={
        "preference": """
            {p}早上喜欢喝{drink1}。 => {p}现在早上喜欢喝{drink2}了。
            {p}最喜欢的颜色是{color1}。 => {p}最喜欢的颜色是{color2}。
            我更喜欢用{editor1}写代码。 => 我现在改用{editor2}写代码了。
            用户希望用{language1}回答。 => 用户希望以后用{language2}回答。
            {p}偏好{theme1}主题。 => {p}偏好{theme2}主题。
            比起{pairA}，{p}更喜欢{pairB}。 => 比起{pairB}，{p}更喜欢{pairA}。
        """,
        "value": """
            {p}住在{city1}。 => {p}住在{city2}。
            {p}住在{city1}，养了两只猫。 => {p}三月份搬到{city2}了。
            {p}在{org1}工作。 => {p}现在在{org2}上班。
            {proj}的数据库是{db1}。 => {proj}的数据库是{db2}。
            {proj}使用{db1}作为数据库。 => {proj}现在改用{db2}作为数据库。
            {p}的经理是{q}。 => {p}的经理是{r}。
            {p}是{proj}的{role1}。 => {p}是{proj}的{role2}。
            {proj}的后端用{code1}写的。 => {proj}的后端改成用{code2}写了。
        """,
        "opposite": """
            {proj}的日志已开启。 => {proj}的日志已关闭。
            {proj}的代码仓库是公开的。 => {proj}的代码仓库是私有的。
            {p}批准了{proj}的预算。 => {p}否决了{proj}的预算。
            {proj}必须做代码评审。 => {proj}的代码评审是可选的。
            {p}很喜欢{food1}。 => {p}很讨厌{food1}。
            {proj}在线。 => {proj}离线了。
        """,
        "negation": """
            {p}对{food1}过敏。 => {p}对{food1}不过敏。
            {p}有车。 => {p}没有车。
            {p}周末可以加班。 => {p}周末不可以加班。
            {p}在{org1}工作。 => {p}不再在{org1}工作了。
            {proj}用{db1}。 => {proj}不用{db1}。
            {p}吃{food1}。 => {p}从来不吃{food1}。
            我喜欢{food1}。 => 我不喜欢{food1}了。
            {proj}支持{code1}。 => {proj}不支持{code1}。
        """,
        "number": """
            {proj}的端口是{n1}。 => {proj}的端口是{n2}。
            {p}的团队有{s1}个人。 => {p}的团队有{s2}个人。
            {proj}的预算是{n1}元。 => {proj}的预算提高到{n2}元。
            {p}今年{s1}岁。 => {p}今年{s2}岁。
            {proj}的超时时间是{s1}秒。 => {proj}的超时时间现在是{s2}秒。
            {proj}的服务器有{s1}GB内存。 => {proj}的服务器内存是{s2}GB。
            {p}每天工作{zn1}小时。 => {p}每天工作{zn2}小时。
        """,
        "date": """
            {proj}的截止日期是{date1}。 => {proj}的截止日期是{date2}。
            {p}的生日是{date1}。 => {p}的生日是{date2}。
            {proj}计划{month1}发布。 => {proj}计划{month2}发布。
            {proj}的例会在{day1}。 => {proj}的例会改到{day2}。
            {p}{iso1}开始休假。 => {p}{iso2}开始休假。
            {proj}的演示{time1}开始。 => {proj}的演示{time2}开始。
        """,
        "none": """
            {p}在{org1}工作。 => {p}管理{org1}的代码仓库。
            {p}管理{org1}的代码仓库。 => {p}住在{city1}。
            {p}住在{city1}。 => {q}住在{city2}。
            {p}喜欢{food1}。 => {p}喜欢{food2}。
            {p}早上喜欢喝{drink1}。 => {p}晚上喜欢喝{drink2}。
            {p}喜欢喝{drink1}。 => {p}偏好{theme1}主题。
            {p}住在{city1}。 => {p}住在{city1}，养了两只猫。
            {p}以前住在{city2}。 => {p}住在{city1}。
            {p}住在{city1}。 => {p}上周去{city2}出差。
            {proj}第{s1}次迭代很顺利。 => {proj}第{s2}次迭代很顺利。
            {proj}的端口是{n1}。 => {proj2}的端口是{n2}。
            {proj}的截止日期是{date1}。 => {p}的生日是{date2}。
            {p}对{food1}过敏。 => {p}对{food2}不过敏。
            {proj}支持{code1}。 => {proj}支持{code2}。
            {p}会{code1}。 => {p}会{code2}。
            {proj}的日志已开启。 => {proj}的缓存已关闭。
            {p}{month1}去过{city1}。 => {p}{month2}去过{city2}。
            {proj}的预算是{n1}元。 => {proj}的端口是{n2}。
            {p}的经理是{q}。 => {q}的经理是{r}。
            {p}有车。 => {q}没有车。
            {p}在{city1}认识了{q}。 => {p}在{city2}认识了{r}。
        """,
    },
)

HELD = Part(
    names={
        "person": (
            "徐静蕾",
            "高圆圆",
            "诸葛亮",
            "何炅",
            "罗永浩",
            "谢娜",
            "韩梅梅",
            "冯小刚",
            "曹操",
            "许晴",
            "邓超",
            "蒋欣",
        ),
        "org": ("百度", "北京大学", "建设银行", "东风集团", "银河证券", "协和医院", "远景科技"),
        "place": ("广州", "武汉", "长沙市", "天津", "中山路", "高雄", "呼和浩特"),
        "tool": ("企业微信", "语雀", "达梦数据库", "石墨文档", "蓝信"),
        "project": ("天网项目", "长城计划", "报销系统", "风控平台", "雪豹工程"),
    },
    facts="""
        三年前{person}加入了{org}。 => {person}什么时候加入{org}的？
        {person}在{place}租了一套房子。 => {person}在哪里租房子？
        {project}的报表依赖{tool}。 => {project}的报表依赖什么？
        {org}聘请{person}来教{tool}。 => {org}聘请谁教{tool}？
        {person}讨厌十点以前开会。 => {person}讨厌什么时候开会？
        {project}的备份由{org}保管在{place}。 => {project}的备份保管在哪里？
        {person}在屋顶养蜜蜂。 => {person}在屋顶养什么？
        审计时{org}发现{tool}没有授权。 => {org}审计时发现了什么？
        {person}把{person2}介绍给了{org}。 => 谁把{person2}介绍给{org}？
    """,
    pairs={
        "preference": """
            {p}更爱喝{drink1}。 => {p}现在更爱喝{drink2}。
            我首选的编辑器是{editor1}。 => 我首选的编辑器是{editor2}。
            {p}习惯穿{color1}的衬衫。 => {p}习惯穿{color2}的衬衫。
        """,
        "value": """
            {p}定居在{city1}。 => {p}定居在{city2}。
            {p}任职于{org1}。 => {p}加入了{org2}。
            {org1}的总部在{city1}。 => {org1}的总部在{city2}。
            {proj}的负责人是{q}。 => {proj}的负责人换成了{r}。
        """,
        "opposite": """
            {proj}的投票通过了。 => {proj}的投票失败了。
            {proj}的测试是必需的。 => {proj}的测试是可选的。
            {proj}的缓存已启用。 => {proj}的缓存已禁用。
        """,
        "negation": """
            {p}会说{language1}。 => {p}不会说{language1}。
            {p}参加{proj}的启动会。 => {p}不参加{proj}的启动会。
            {p}养猫。 => {p}没养猫。
        """,
        "number": """
            {proj}的集群有{s1}个节点。 => {proj}的集群有{s2}个节点。
            {p}的体重是{s1}公斤。 => {p}的体重是{s2}公斤。
            {p}每月付{n1}元房租。 => {p}每月付{n2}元房租。
        """,
        "date": """
            {p}{date1}入职{org1}。 => {p}{date2}入职{org1}。
            {proj}的合同{month1}到期。 => {proj}的合同{month2}到期。
            {proj}的评审会是{day1}。 => {proj}的评审会是{day2}。
        """,
        "none": """
            {p}会说{language1}。 => {p}会说{language2}。
            {p}{date1}入职{org1}。 => {proj}的评审会是{day2}。
            {p}养猫。 => {p}养狗。
            {proj}的集群有{s1}个节点。 => {proj2}的集群有{s2}个节点。
            {p}定居在{city1}。 => {p}在{city2}长大。
            {p}想学{language1}。 => {p}想学{code1}。
            {s1}号会议室订给{proj}了。 => {s2}号会议室订给{proj}了。
            {p}和{q}去了{city1}。 => {p}和{r}去了{city2}。
            {p}参加{proj}的启动会。 => {q}不参加{proj}的启动会。
        """,
    },
)

SEALED = {
    "preference": """
        写代码时{p}偏好{editor1}。 => 写代码时{p}偏好{editor2}。
        {p}最喜欢的食物是{food1}。 => {p}现在最喜欢的食物是{food2}。
        我更喜欢{theme1}模式。 => 我更喜欢{theme2}模式。
    """,
    "value": """
        {p}现居{city1}。 => {p}搬去{city2}了。
        {p}在{org1}上班，是护士。 => {p}上个月加入了{org2}。
        {proj}的产品经理是{q}。 => {proj}的产品经理是{r}。
        {p}的老家是{city1}。 => {p}的老家是{city2}。
        {proj}的标志是{color1}。 => {proj}的标志是{color2}。
    """,
    "opposite": """
        {proj}的通知已打开。 => {proj}的通知已关闭。
        {proj}的文档是公开的。 => {proj}的文档是私密的。
        {p}接受了{org1}的邀请。 => {p}拒绝了{org1}的邀请。
        {p}已婚。 => {p}单身。
    """,
    "negation": """
        {p}喝{drink1}。 => {p}不喝{drink1}。
        {p}是素食者。 => {p}不再是素食者了。
        {proj}需要VPN。 => {proj}不需要VPN。
        {p}知道{proj}的密码。 => {p}不知道{proj}的密码。
    """,
    "number": """
        {p}有{s1}条未读消息。 => {p}有{s2}条未读消息。
        {proj}存了{n1}份文档。 => {proj}现在存了{n2}份文档。
        {proj}的许可证允许{s1}个用户。 => {proj}的许可证允许{s2}个用户。
    """,
    "date": """
        {p}{date1}结婚。 => {p}{date2}结婚。
        {proj}从{iso1}开始冻结。 => {proj}从{iso2}开始冻结。
        {p}{day1}上瑜伽课。 => {p}{day2}上瑜伽课。
        {p}的航班{time1}起飞。 => {p}的航班{time2}起飞。
    """,
    "none": """
        {p}喝{drink1}。 => {p}喝{drink2}。
        {p}养了一只叫旺财的狗。 => {p}养了一只叫咪咪的猫。
        {p}接受了{org1}的邀请。 => {p}拒绝了{org2}的邀请。
        {proj}的产品经理是{q}。 => {proj}的测试员是{r}。
        {p}{date1}结婚。 => {q}{date2}结婚。
        {p}曾经在{org1}工作。 => {p}在{org2}工作。
        {p}{day1}上瑜伽课。 => {p}{day2}上象棋课。
        {p}读完了第{s1}章。 => {p}读完了第{s2}章。
        {proj}需要VPN。 => {proj2}不需要VPN。
    """,
}

TEXTS = Texts(
    opened=OPENED,
    held=HELD,
    sealed=SEALED,
    values={
        "drink": ("绿茶", "美式咖啡", "橙汁", "热巧克力", "豆浆"),
        "color": ("蓝色", "绿色", "红色", "紫色"),
        "editor": ("Vim", "Emacs", "VSCode"),
        "language": ("英语", "法语", "中文", "日语"),
        "theme": ("深色", "浅色"),
        "city": ("上海", "北京", "杭州", "成都", "广州"),
        "org": ("腾讯", "华为", "招商银行", "星河科技"),
        "db": ("PostgreSQL", "MySQL", "SQLite", "达梦"),
        "role": ("负责人", "测试员", "架构师"),
        "code": ("Python", "Rust", "Go"),
        "food": ("花生", "寿司", "香菜", "蘑菇", "榴莲"),
        "n": ("8080", "9090", "5432", "12000", "2500"),
        "s": ("4", "8", "16", "31", "42"),
        "zn": ("八", "十", "六", "十二"),
        "date": ("3月1日", "5月12日", "十月五号", "2026年6月21日"),
        "month": ("三月", "五月", "8月", "十月"),
        "day": ("周一", "周二", "星期四", "礼拜五"),
        "iso": ("2026-03-01", "2026-04-15", "2026-09-30"),
        "time": ("9:30", "14:00", "下午四点", "上午十点"),
        "pair": ("猫", "狗", "面条", "米饭"),
    },
    unrelated=(
        "写一首关于大海的诗", "帮我修复这个循环里的错误", "法国的首都是哪里？", "把这句话翻译成拉丁文", "天空为什么是蓝色的？",
        "给我一个香蕉面包的食谱", "木星有几颗卫星？", "把变量 foo 改名为 bar", "讲一个企鹅的笑话", "三十英里等于多少公里？",
        "蒙娜丽莎是谁画的？", "疫苗是怎么起作用的？", "生成一个随机密码", "按字母顺序排序这个列表", "用三句话总结附件",
    ),
    strangers=("慕容复", "钱钟书", "段誉", "沈从文", "杜甫", "唐伯虎"),
)  # fmt: skip
