"""Names in Chinese text, which has neither capitals nor spaces.

A run of characters is first cut at words that are
never part of a name (verbs, particles, adverbs, times). What is left
is a name when it has the form of one: a
surname and one or two characters, something that ends as organisations, places
and systems do, or a well-known place or firm. A name of no such form is found by asking for it (`mentions`).
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest

from memory.providers.holographic.spans import Span, words

Piece = tuple[int, int]
"""Start and end within a run."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\u3007"
HAN_RUN = re.compile(f"[{_HAN}]+")
KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")

_COMPOUND_SURNAMES = words(
    """
    欧阳 歐陽 司马 司馬 诸葛 諸葛 上官 司徒 东方 慕容 公孙 令狐 皇甫 尉迟 长孙 宇文 夏侯 端木 百里 南宫 独孤
    轩辕
    """
)
_SURNAMES = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧"
    "蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万段雷钱錢汤尹黎"
    "易常武乔賀贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍韦申尤毕聂焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁时舒耿牟"
    "卜詹凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵解强柴华车冉房边辜吉饶刁瞿戚丘古米池滕晋苑邬臧"
    "畅宫来嵺苟全褚廉简娄盖符奚木穆党燕郎邸冀谈姬屠连郜晏栾郁商蒙计喻揭窦迟宇敖糜鄢冷卓花仇艾蓝都巩稽井练仲乐虞卞封竺冼原官衣楚佟栗匡宗应台巫鞠僧桑荆谌银扬明沙"
)
# Words of everyday that begin with a surname.
_ORDINARY = frozenset(
    words(
        """
    高兴 高级 高速 高度 高中 高效 高手 高峰 黄色 黄金 黄油 黄瓜 白色 白天 白菜 金额 金融 金属 金牌 金色 时间
    时候 时期 时区 时差 方案 方法 方便 方式 方向 方面 安全 安排 安装 安静 马上 马路 程序 程度 程序员 文件 文档
    文字 文章 文化 文本 文学 常见 常用 常常 于是 关于 任务 任何 任意 任命 平台 平时 钱包 石头 江湖 向量 向上
    向下 温度 温暖 单元 单位 单独 单词 单价 项目 项目组 计划 计算 计算机 严格 严重 全部 全体 全文 全球 全局 毛病
    明天 明年 明白 明确 成功 成本 成员 成绩 成为 成长 包括 包含 包装 宁可 左右 左边 花生 花园 花费 支持 支付
    应该 应用 应当 管理 管道 路由 路径 路线 车辆 车站 解决 解释 解析 强调 强制 古代 洪水 万一 冷静 沙发 查询
    查看 查找 相关 相信 房租 房子 房间 房东 牛奶 牛肉 海鲜 周末 周一 周二 周三 周四 周五 周六 周日 周期 周年
    周会 何时 何处 何况 胡椒 胡说 朱红 林业 郑重 谢谢 许多 许可 孔雀 孙子 孙女 史上 季节 季度 童年 童话 龙虾
    叶子 康复 乐器 乐队 乐观 司机 司法 台风 台式 台湾 台北 官方 官网 原因 原来 原理 原始 原则 商品 商业 商店
    商量 党员 简短 简洁 简约 简单 简历 简体 连接 连续 盖子 符号 符合 蓝色 蓝牙 都是 冷水 应付 明显 沙拉 练习
    银行 银色 封面 封装 边界 边缘 游戏 游客 游泳 席位 卫生 卫星
    屈服 司令 包子 景色 甘蔗 华丽 纪念 纪录 费用 费率 盛大 童鞋
    欧洲 欧元 项链 曲线 成果 阳台 阳光 梅花 庄园 辛苦 管家 祝福 祝贺 左侧 谷歌 谷物 时刻 时常 牟利 易用 易懂
    武器 武术 常规 贺卡 文明 施工 陶瓷 安心 安慰 颜色 严肃 牛排 温馨 季后 章节 伍佰 申请 尤其 毕业 毕竟 焦点
    焦虑 向来 柳树 路上 路口 齐全 莫非 金钱 白板 白名单 黑名单 高亮 余额 余下 江南 田地 石油 夏天 夏季 秦朝 唐朝
    宋朝 汉朝 元旦 魏晋 董事 董事会 程式 沈阳 温州 广州 杭州 苏州 兰州 柳州 郑州 徐州 常州 江苏 江西 云南 武汉
    成都 石家庄 马来西亚 宁波 宁夏 安徽 贺州 海口 石墨 范围 范例 汤圆 易错 钟头 钟表 雷达 雷电 万能 万元 段落
    段子 龙头 侯爵 史诗 毛巾 毛衣 白酒 崔嵬 孔子 孟子 庄子 老子 田野 任职 任期 游览 解雇 封闭 解锁 连锁 车票
    车间 全家 全年 全天 全程 明细 宗旨 原价 燕麦 米饭 米粉 古典 古董 池塘 房产 边上 费劲 景点 景区 鲍鱼 薄荷
    薄弱 纪律 曲目 游轮 阳性 华人 来自 来源 来访 强大 强烈 桂花 宁静 甘心 常驻 常委 童装 花朵 花钱 银河
    """
    )
)
_NICKNAME = re.compile(f"[老小阿][{''.join(sorted(_SURNAMES))}]")
_NO_NICKNAMES = frozenset(
    words(
        """
    小时 小米 小明 老路 小路 小包 小车 小花 小计 小白 小任 老都 阿里 小龙 小牛 小马 小房 小边 小古 小全
    """
    )
) - {
    "小明",
    "小白",
    "小马",
    "小龙",
}

# Never inside a name; longer ones first, since the pattern takes the first that fits.
_BREAK_WORDS = words(
    """
    上个月 下个月 这个月 上星期 下星期 这星期 上周末 下周末 的时候 为什么 是不是 有没有 能不能 会不会 要不要
    越来越 一个月 一下子 不可以 不喜欢 不支持 不再是 是谁 什么 怎么 怎样 如何 哪里 哪儿 哪个 多少 几点 为何 因为
    所以 但是 如果 或者 以及 关于 已经 曾经 正在 现在 目前 将来 将要 以前 以后 之前 之后 今天 昨天 明天 前天
    后天 今年 去年 明年 前年 本周 上周 下周 这周 每周 每天 每年 每月 每晚 周一 周二 周三 周四 周五 周六 周日
    周末 早上 上午 中午 下午 晚上 凌晨 三月份 月份 负责 喜欢 讨厌 偏好 喜爱 热爱 最爱 更爱 习惯 希望 想要 需要
    应该 可以 必须 不能 不会 不要 没有 不是 不再 从来 从不 总是 经常 偶尔 一直 告诉 认为 觉得 以为 知道 认识
    听说 据说 发现 发起 介绍 推荐 抱怨 投诉 反馈 提到 提出 加入 离开 退出 入职 离职 跳槽 任职 担任 就职 供职
    上班 工作 住在 定居 居住 搬到 搬家 搬去 来自 出差 出生 毕业 结婚 迁移 升级 部署 维护 管理 使用 采用 改用
    换成 改成 改到 迁到 依赖 聘请 雇用 雇佣 保管 批准 否决 同意 拒绝 支持 反对 参加 参与 审批 排查 修复 编写
    写了 写的 用来 用于 用的 开票 共用 共享 过敏 截止 计划 到期 开始 结束 发布 上线 提高 降低 增加 减少 推迟
    提前 讨论 开会 拥有 养了 养着 构建 失败 审计 作为 位于 生于 产于 简称 俗称 史称 成立 成分 成熟 位置 客户 用户
    我们 你们 他们 她们 咱们 自己 大家 这个 那个 这些
    那些 一个 两个 一次 一些 一套 通过 根据 按照 对于 经过 并且 而且 然后 于是 记住 记得 请把 每个 所有 其中
    办公室 办公桌 合同 发票 备份 报表 团队 例会 脚本 端口 预算 后端 前端 经理 同事 老板 领导 负责人 生日 存储层
    代码 仓库 日志 缓存 截止日期 三年前 年前 年后 天前 天后 先生 女士 小姐 老师 教授 博士 医生 律师 主任 总监
    部长 处长 局长 校长 院长 队长 组长 总裁 董事长 工程师 师傅 同学
    一位 两位 几位 收集 收藏 修理 批评 看望 设计 邀请 提拔 学习 参观 访问 安装 购买 出售
    """
)
_BREAK_CHARACTERS = (
    "的了着过吗呢吧啊呀嘛么在是和与及或把被给让从到对为以而且但也都就还很太最更再又才只不没有我"
    "你他她它您这那哪谁请说会能要想去住吃喝用找问写做教跟叫将由向往"
)
# Verbs and adverbs of one character that given names do not end with. They are part of too many words to be breaks.
VERBS = frozenset(
    "来去教租买卖拿送带打看听读开关养穿坐站走跑说问答做干写唱跳玩办接收寄借还付交订退换签批改删减降调查测帮陪等替变像比按便很挺刚仅约每各另"
    "先再又曾已正将需必爱恨怕愿肯敢该得找选投赢输赚欠存取吃喝睡起到离回进出上下里前后时从向往把被让叫使令给对跟和同与及或吗呢吧啊的了着过是有无不没都也就才只"
) - frozenset("刚向和")
# What given names mostly end with; only these make 王明 + one more character another person for certain.
GIVEN_ENDS = frozenset(
    "伟芳秀敏静丽强磊军洋勇艳杰娟涛明超霞平刚桂玉英华玲文辉红宁燕建国志海鹏飞雪梅兰松柏波峰锋龙斌宇浩然轩涵怡佳琪瑶婷颖慧莹洁倩雯萍莉娜琳媛萱"
    "欣悦彤晨曦阳光亮健康宏博达远鸿瑞祥福贵荣昌盛林森木水山川江河云雨风雷电星辰月日天宝珍珠翠琴棋书画诗词德义仁礼智信忠孝诚正直中山东南西北"
    "春夏秋冬凯旋胜利民生和顺安定邦兴旺发财运鑫森淼焱垚炎煜烨炜灿熙铭钧锐锦铎凡帆梵樊航行舟恒衡横亨子孙儿女男俊君军均钧骏竣峻毅义艺益逸翼亦"
    "晶菁晴清青卿庆磬琼穹群裙蕾雷磊垒圆园源媛远愿元炅锡操亮超永晓小思嘉家雅梦若语紫艺凤莲荷菊蓉芬芷薇蔷岚峥嵘崇岳岩坤乾勤谦恭敬威武猛坚"
    "暄曜昊昕昱昆晔晗睿聪灵妙娇婉婵娥婧妍姝姗丹彬斐绍庭廷栋梁楠桐枫淑贤良善虹霖霏熠甫铮锴冠兆启迪宣瀚澜渊鹤麟骏驰"
) - frozenset("中水电运发财子山河")
# Breaks of one character before which a name ends for certain.
_CLOSING = frozenset("的在是和与把被让给将由会")
# Breaks behind which a question names somebody.
_BEFORE_A_NAME = frozenset("给把被和与跟找问由对向让教了过")
_TITLE = re.compile("(?:经理|老师|先生|女士|小姐|教授|博士|医生|总监|主任|工程师|部长|师傅|同学|总裁|校长|院长)")
_ENDINGS = words(
    """
    有限公司 公司 集团 大学 学院 中学 小学 银行 证券 保险 医院 科技 研究院 研究所 实验室 基金会 委员会 出版社
    报社 法院 项目 计划 系统 平台 中台 网关 工程 引擎 中台 框架 组件 数据库 文档 服务器 集群 应用 操作系统
    特别行政区 自治区 省 市 县 区 镇 乡 村 路 街 大道 大街 广场 机场 车站 公园 山 河 湖
    """
)
PLACE_ENDINGS = frozenset(words("省 市 县 区 路 街 镇 乡 村 山 河 湖"))
# 一条路, 两个系统: counted, not named.
_COUNTED = ("一", "二", "三", "两", "几", "个", "条", "线", "套", "道")
_ENDING = re.compile("|".join(sorted(_ENDINGS, key=len, reverse=True)))
_VAGUE = frozenset(
    words(
        """
    全 本 该 各 某 每 新 旧 大 小 老 此 其 整 多 单 这 那 一 两 几 我们 操作 文件 子 分 总 原 主 副 城 地 社 郊
    市 省 街 马 公 高速 铁 数据 信息 应用 管理 软件 硬件 工作 学习 年度 季度 月度 长期 短期 旅行 训练 国有 上市
    外资 跨国 初创 母 新建 开源 关系型 开发 道 思 套 出 网 陆 公 走 迷 山 爬 登 江 运 银 食 火 汽
    """
    )
)
_KNOWN = words(
    """
    中国 美国 英国 法国 德国 日本 韩国 印度 俄罗斯 加拿大 澳大利亚 新加坡 意大利 西班牙 巴西 泰国 越南 台湾 香港
    澳门 北京 上海 天津 重庆 广州 深圳 杭州 南京 苏州 成都 武汉 西安 长沙 青岛 大连 厦门 宁波 郑州 沈阳 济南
    合肥 福州 昆明 贵阳 南宁 海口 三亚 哈尔滨 长春 東京 臺北 廣州 蘇州 紐約 倫敦 大阪 京都 首爾 石家庄 太原 兰州
    银川 西宁 拉萨 乌鲁木齐 呼和浩特 南昌 无锡 东莞 佛山 珠海 温州 徐州 台北 高雄 台中 纽约 伦敦 巴黎 东京 首尔
    柏林 硅谷 旧金山 洛杉矶 江苏 浙江 广东 福建 四川 湖南 湖北 河南 河北 山东 山西 陕西 安徽 江西 云南 贵州 海南
    甘肃 青海 辽宁 吉林 黑龙江 内蒙古 新疆 西藏 宁夏 广西 腾讯 阿里巴巴 阿里云 阿里 百度 华为 小米 字节跳动 美团
    京东 网易 滴滴 拼多多 快手 联想 比亚迪 大疆 谷歌 微软 苹果公司 亚马逊 英伟达 特斯拉 微信 企业微信 支付宝
    淘宝 抖音 知乎 微博 飞书 钉钉 语雀 鸿蒙 豆瓣
    """
)


@cache
def _known() -> re.Pattern[str]:
    return re.compile("|".join(sorted(_KNOWN, key=len, reverse=True)))


@cache
def breaks() -> re.Pattern[str]:
    """Words that no name contains; they cut a run of characters into pieces."""
    words = "|".join(sorted(_BREAK_WORDS, key=len, reverse=True))
    return re.compile(f"(?:{words})(?:时候|[时時后後前中完])?|[{_BREAK_CHARACTERS}]")


def chinese_names(text: str) -> Iterator[Span]:
    """The names in the Chinese parts of a text; nothing for Japanese."""
    if KANA.search(text):
        return
    for match in HAN_RUN.finditer(text):
        yield from _in_run(match.group(), match.start())


def asked_names(text: str) -> Iterator[Span]:
    """What else a question may name: a surname with one or two characters before what can't be a name.

    Given names are made of any characters, so in a fact this would take many a word for a name. In a question it only
    means that a fact without it is less of an answer.
    """
    if KANA.search(text):
        return
    for match in HAN_RUN.finditer(text):
        run = match.group()
        cuts = [found.span() for found in breaks().finditer(run)]
        for start in sorted({0} | {end for _, end in cuts if run[end - 1] in _BEFORE_A_NAME}):
            for length in _lengths(run[start : start + 2]):
                name = run[start : start + length]
                closed = start + length == len(run) or any(
                    low == start + length and (high - low > 1 or run[low] in _CLOSING) for low, high in cuts
                )
                if (
                    len(name) == length
                    and closed
                    and name[-1] not in _CLOSING
                    and not any(map(name.startswith, _ORDINARY))
                ):
                    yield Span(match.start() + start, match.start() + start + length, "name")
                    break


def _in_run(run: str, offset: int) -> Iterator[Span]:
    known = [match.span() for match in _known().finditer(run)]
    cuts = [match.span() for match in breaks().finditer(run) if not _overlaps(match.span(), known)]
    taken = list(_with_endings(run, cuts))
    taken += [span for span in known if not _overlaps(span, taken)]
    taken += list(_people(run, cuts, taken))
    for start, end in sorted(taken):
        yield Span(offset + start, offset + end, "name")


def _overlaps(span: Piece, others: list[Piece]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _with_endings(run: str, cuts: list[Piece]) -> Iterator[Piece]:
    """Organisations, places, systems: what stands between the last break and the ending."""
    floor = 0
    endings = [match for match in _ENDING.finditer(run) if _is_ending(run, match, cuts)]
    for match, following in zip_longest(endings, endings[1:]):
        start = max(floor, _opening(match.start(), cuts))
        small = match.group() in PLACE_ENDINGS
        if small and following and following.start() - match.end() <= 3 and not _between(cuts, match, following):
            continue  # 河 in 星河科技 is a part of what ends further on
        if run[start : start + 2] in _COMPOUND_SURNAMES and match.start() - start >= 6:
            start += 4
        if start and run[start] in "于至":
            start += 1
        body = run[start : match.start()]
        least = 1 if match.group() in "省县山河湖" else 2
        fits = least <= len(body) <= (4 if small else 8) and body[0] not in "该本各某此其首"
        if fits and body not in _VAGUE and not body.endswith(_COUNTED):
            yield start, match.end()
            floor = match.end()


def _opening(at: int, cuts: list[Piece]) -> int:
    """Where the piece begins that ends here. A break of one character with one beside it is none: 协和 in 协和医院."""
    ended = [(start, end) for start, end in cuts if end <= at]
    if not ended:
        return 0
    start, end = ended[-1]
    before = ended[-2][1] if len(ended) > 1 else 0
    return before if end == at and end - start == 1 and start - before == 1 else end


def _is_ending(run: str, match: re.Match[str], cuts: list[Piece]) -> bool:
    """Whether this is an ending here: 计划 is one in 星辰计划, and a verb in 王小明计划."""
    if match.group() != "计划":
        return not _overlaps(match.span(), cuts)
    start = _opening(match.start(), cuts)
    return match.start() - start >= 2 and run[start] not in _SURNAMES


def _between(cuts: list[Piece], before: re.Match[str], after: re.Match[str]) -> bool:
    return any(before.end() <= start < after.start() for start, _ in cuts)


def _people(run: str, cuts: list[Piece], taken: list[Piece]) -> Iterator[Piece]:
    """A surname and what follows it up to a break, an end or a title, three characters in all or four."""
    # Where a name may begin and end: the edges of the run and of what is no name, or another one.
    begins = {0} | {end for _, end in cuts + taken}
    ends = {len(run)} | {start for start, _ in cuts + taken}
    ends |= {match.start() for match in _TITLE.finditer(run)}
    for start in sorted(begins):
        for length in _lengths(run[start : start + 2]):
            name = run[start : start + length]
            closed = start + length in ends or run[start + length : start + length + 1] in VERBS
            if not closed or len(name) < length or name[-1] in VERBS:
                continue
            if _overlaps((start, start + length), cuts + taken) or any(map(name.startswith, _ORDINARY)):
                continue
            given = GIVEN_ENDS.intersection(name[1:]) or _NICKNAME.fullmatch(name) or _TITLE.match(run, start + length)
            if not given:
                continue
            yield start, start + length
            break


def _lengths(opening: str) -> tuple[int, ...]:
    """How many characters a name with this opening may have, the likelier first."""
    if opening in _COMPOUND_SURNAMES:
        return 4, 3
    if opening[:1] in _SURNAMES:
        return 3, 2
    return (2,) if _NICKNAME.fullmatch(opening) and opening not in _NO_NICKNAMES else ()
