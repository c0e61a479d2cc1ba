"""Numbers, dates and times in a statement, as values that can be compared across ways of writing them."""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Quantity(NamedTuple):
    """A number or a point in time.

    Attributes:
        kind: number, day (a date), month, weekday, clock.
        value: Equal for equal quantities of one kind.
        unit: What a number counts, empty if nothing is said; empty for times.
        start: Where it begins in the folded text.
        end: The offset behind it.
    """

    kind: str
    value: str
    unit: str
    start: int
    end: int


_MONTHS = (
    "january|jan|januar|janvier|enero|janeiro|января|январь",
    "february|feb|februar|fevrier|febrero|fevereiro|февраля|февраль",
    "march|mar|marz|mars|marzo|marco|марта|март", "april|apr|avril|abril|апреля|апрель", "may|mai|mayo|maio|мая|май",
    "june|jun|juni|juin|junio|junho|июня|июнь", "july|jul|juli|juillet|julio|julho|июля|июль",
    "august|aug|aout|agosto|августа|август", "september|sept|sep|septembre|septiembre|setembro|сентября|сентябрь",
    "october|oct|oktober|octobre|octubre|outubro|октября|октябрь",
    "november|nov|novembre|noviembre|novembro|ноября|ноябрь",
    "december|dec|dezember|decembre|diciembre|dezembro|декабря|декабрь",
)  # fmt: skip
_WEEKDAYS = (
    "mondays?|mon|montags?|lundi|lunes|segunda-feira|понедельник|周一|星期一|礼拜一|週一|月曜日?|월요일",
    "tuesdays?|tue|tues|dienstags?|mardi|martes|terca-feira|вторник|周二|星期二|礼拜二|週二|火曜日?|화요일",
    "wednesdays?|wed|mittwochs?|mercredi|miercoles|quarta-feira|среда|среду|周三|星期三|礼拜三|週三|水曜日?|수요일",
    "thursdays?|thu|thurs|donnerstags?|jeudi|jueves|quinta-feira|четверг|周四|星期四|礼拜四|週四|木曜日?|목요일",
    "fridays?|fri|freitags?|vendredi|viernes|sexta-feira|пятница|пятницу|周五|星期五|礼拜五|週五|金曜日?|금요일",
    "saturdays?|sat|samstags?|samedi|sabado|суббота|субботу|周六|星期六|礼拜六|週六|土曜日?|토요일",
    "sundays?|sun|sonntags?|dimanche|domingo|воскресенье|周日|周天|星期日|星期天|礼拜天|週日|日曜日?|일요일",
)
_CJK_DIGITS = "〇一二三四五六七八九"
_CJK_NUMBER = "[〇零一二两三四五六七八九十百千万\\d]"
_UNITS = (
    "gb|mb|tb|kb|ghz|mhz|km|cm|mm|kg|mg|g|m|%|percent|euros?|eur|dollars?|usd|pounds?|yen|yuan|seconds?|secs?|"
    "minutes?|mins?|hours?|days?"
    "|weeks?|months?|years?(?: old)?|people|members?|persons?|nodes?|cores?|users?|requests?|pages?|miles|"
    "degrees|jahren?|stunden|personen"
    "|ans|heures|personnes|anos|horas|personas|pessoas|лет|часов|человек|元|块|人|个人|个|岁|秒|分钟|小时|天|"
    "公斤|斤|台|名|个节点"
    "|円|歳|才|秒|分|時間|日間|人|台|個|名|匹|冊|回|원|명|살|세|초|분|시간|일|개|대|마리|권|번|점"
)
# "One" is more often a pronoun.
_SPELLED = dict(
    zip(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        range(2, 13),
        strict=True,
    )
)
_MONTH_NAMES = "|".join(f"(?P<m{n}>{names})" for n, names in enumerate(_MONTHS, 1))
_NAMED_MONTH = "|".join(_MONTHS)

_ISO = re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)")
_CJK_DAY = re.compile(
    rf"(?:(?P<y>\d{{4}}) ?[年년] ?)?(?P<m>{_CJK_NUMBER}{{1,3}}) ?[月월] ?(?P<d>{_CJK_NUMBER}{{1,3}}) ?[日号號일]"
)
_DAY_FIRST = re.compile(
    rf"(?<!\w)(?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of |"
    rf"de )?(?P<m>{_NAMED_MONTH})(?!\w)(?:,? (?P<y>\d{{4}}))?"
)
_MONTH_FIRST = re.compile(
    rf"(?<!\w)(?P<m>{_NAMED_MONTH})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\w)(?!:)(?:,? (?P<y>\d{{4}}))?"
)
_CJK_MONTH = re.compile(rf"(?<![\d年])(?P<m>{_CJK_NUMBER}{{1,3}}) ?(?:月份?|월)(?!曜|亮|球|간|日)")
_MONTH = re.compile(rf"(?<!\w)(?P<m>{_NAMED_MONTH})(?!\w)")
_WEEKDAY = re.compile("|".join(f"(?P<w{n}>(?<![a-zа-я])(?:{names})(?![a-zа-я]))" for n, names in enumerate(_WEEKDAYS)))
_CLOCK = re.compile(
    rf"(?<![\d:])(?P<h>\d{{1,2}}):(?P<min>\d{{2}})(?![\d:]) ?(?P<ap>[ap]\.?m\.?)?"
    rf"|(?<!\w)(?P<h2>\d{{1,2}}) ?(?P<ap2>[ap]\.?m\.?)(?!\w)"
    rf"|(?P<ap3>上午|下午|早上|晚上|午前|午後|오전|오후)? ?(?P<h3>{_CJK_NUMBER}{{1,3}}) ?(?:[点點時]|"
    rf"시(?!간))(?:(?P<half>半|반)| ?(?P<min3>{_CJK_NUMBER}{{1,3}}) ?[分분])?(?!间|間)"
)  # fmt: skip
_NUMBER = re.compile(
    rf"(?<![\w.,-])(?P<cur>[$€£¥])? ?(?P<n>\d+(?:[.,]\d+)*k?)(?: ?(?P<u>{_UNITS})(?![a-z]))?(?![a-z\d])"
    rf"|(?P<n4>(?<=[^\x00-\x7f])\d+(?:[.,]\d+)*)(?: ?(?P<u4>{_UNITS})(?![a-z]))?(?![a-z\d])"
    rf"|(?<!\w)(?P<word>{'|'.join(_SPELLED)})(?: (?P<u2>{_UNITS})(?![a-z])|(?= [a-z]))"
    rf"|(?P<n3>[一二两三四五六七八九十百千万]+)(?P<u3>元|块|人|个人|个(?!月)|只|条|位|辆|本|岁|秒|分钟|小时|天|公斤|台|名|円|歳|時間)"
)
_DIGIT = re.compile(f"{_CJK_NUMBER}")
# Units that are one.
_UNIT_NAMES = {
    "$": "dollar",
    "usd": "dollar",
    "€": "euro",
    "eur": "euro",
    "%": "percent",
    "members": "people",
    "persons": "people",
    "个人": "人",
    "名": "人",
    "才": "歳",
    "세": "살",
}
# What makes a number a name: sprint 12, room 4, 第3次, 4号会议室, 3번째.
_NAMED_BY = re.compile(
    r"(?:sprint|room|ticket|issue|version|chapter|phase|step|floor|gate|line|flight|bus|route|task|bug|pr|no\.?|"
    r"#|v|第|(?<!이)제|스프린트) ?$"
)
_NAMES = re.compile(" ?(?:号会|号楼|号线|號|号|番目|번째|次迭代|スプリント|회차|기 )")


def quantities(folded: str) -> list[Quantity]:
    """The numbers and times in a folded text, in order, none inside another. Numbers that are names are left out."""
    found: list[Quantity] = []
    readers = (
        (_days, _clocks, _weekdays, _months, _numbers) if _DIGIT.search(folded) else (_weekdays, _months, _numbers)
    )
    for reader in readers:
        for quantity in reader(folded):
            if not any(quantity.start < other.end and other.start < quantity.end for other in found):
                found.append(quantity)
    return sorted(found, key=lambda each: each.start)


def differ(a: Quantity, b: Quantity) -> bool:
    """Whether two quantities of one kind can't both be right; a date without a year fits any year."""
    if a.unit and b.unit and a.unit != b.unit:
        return False
    return not (a.value == b.value or (a.kind == "day" and (a.value.endswith(b.value) or b.value.endswith(a.value))))


def _days(text: str) -> Iterator[Quantity]:
    for pattern in (_ISO, _CJK_DAY, _DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(text):
            month = _month_number(match.group("m"))
            value = f"{month:02}-{_whole(match.group('d')):02}"
            if year := match.groupdict().get("y"):
                value = f"{year}-{value}"
            yield Quantity("day", value, "", match.start(), match.end())


def _months(text: str) -> Iterator[Quantity]:
    for pattern in (_CJK_MONTH, _MONTH):
        for match in pattern.finditer(text):
            # "may" is a verb more often than a month, unless something says when.
            if match.group("m") in ("may", "mar", "mai") and not re.search(
                r"(?:in|by|since|until|this|next|last|im|for|of|from|to|before|after|during|every|is|on) $",
                text[: match.start()],
            ):
                continue
            yield Quantity("month", str(_month_number(match.group("m"))), "", match.start(), match.end())


def _weekdays(text: str) -> Iterator[Quantity]:
    for match in _WEEKDAY.finditer(text):
        yield Quantity("weekday", str(match.lastgroup), "", match.start(), match.end())


def _clocks(text: str) -> Iterator[Quantity]:
    for match in _CLOCK.finditer(text):
        parts = match.groupdict()
        hour = _whole(parts["h"] or parts["h2"] or parts["h3"])
        minute = 30 if parts["half"] else _whole(parts["min"] or parts["min3"] or "0")
        half_day = parts["ap"] or parts["ap2"] or parts["ap3"] or ""
        if half_day.startswith("p") or half_day in ("下午", "晚上", "午後", "오후"):
            hour = hour % 12 + 12
        yield Quantity("clock", f"{hour:02}:{minute:02}", "", match.start(), match.end())


def _numbers(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        parts = match.groupdict()
        digits_end = max(match.end(group) for group in ("n", "n3", "n4", "word"))
        if _NAMED_BY.search(text, 0, match.start()) or _NAMES.match(text, digits_end):
            continue
        if parts["word"]:
            value = str(_SPELLED[parts["word"]])
        elif parts["n3"]:
            value = str(_whole(parts["n3"]))
        else:
            value = _plain_number(parts["n"] or parts["n4"])
        unit = parts["u"] or parts["u2"] or parts["u3"] or parts["u4"] or parts["cur"] or ""
        yield Quantity("number", value, _UNIT_NAMES.get(unit, unit.removesuffix("s")), match.start(), match.end())


def _plain_number(digits: str) -> str:
    """12,000 and 12000 are one number; 7.2 keeps its point."""
    return re.sub(r"[.,](?=\d{3}(?:\D|$))", "", digits).replace(",", ".")


def _month_number(text: str) -> int:
    for number, names in enumerate(_MONTHS, 1):
        if text in names.split("|"):
            return number
    return _whole(text)


def _whole(text: str) -> int:
    """A whole number in ASCII or Chinese digits."""
    if text.isdigit() and text.isascii():
        return int(text)
    total, current = 0, 0
    for character in text.replace("两", "二").replace("零", "〇"):
        if character in _CJK_DIGITS:
            current = current * 10 + _CJK_DIGITS.index(character)
        elif character.isdigit():
            current = current * 10 + int(character)
        else:
            scale = {"十": 10, "百": 100, "千": 1000, "万": 10_000}[character]
            total, current = total + (current or 1) * scale, 0
    return total + current
