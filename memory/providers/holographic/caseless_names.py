"""Names in scripts without capitals but with words that announce one: Arabic, Hebrew, Devanagari, Thai."""

import re
from collections.abc import Iterator

from memory.providers.holographic.spans import Span

_ARABIC = "\u0620-\u065f\u066e-\u06d3\u06fa-\u06ff"
_HEBREW = "\u0590-\u05f4"
_DEVANAGARI = "\u0900-\u0963"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_ARABIC_VERBS = (
    "يعيش|تعيش|يعمل|تعمل|يسكن|تسكن|يحب|تحب|يفضل|تفضل|يكره|تكره|انتقل|انتقلت|يدير|تدير|كتب|كتبت|قال|قالت|هو|هي"
)
_HEBREW_VERBS = "גר|גרה|עובד|עובדת|אוהב|אוהבת|מעדיף|מעדיפה|שונא|שונאת|עבר|עברה|אמר|אמרה|כתב|כתבה|מנהל|מנהלת|הוא|היא"

_CUES = (
    re.compile(
        rf"(?:السيدة?|الدكتورة?|المهندسة?|الأستاذة?|شركة|مدينة|مشروع|جامعة|اسمه|اسمها|آقای|خانم|شرکت|شهر|جناب)\s+(?P<name>[{_ARABIC}]+(?:\s(?:بن|ابن|عبد|أبو|آل)\s[{_ARABIC}]+)?)"
    ),
    re.compile(rf"(?:^|[.!؟]\s*)(?P<name>[{_ARABIC}]{{3,}}(?:\s[{_ARABIC}]{{3,}})?)\s+(?:{_ARABIC_VERBS})(?![{_ARABIC}])"),
    re.compile(rf"(?:^|[.!؟]\s*)(?:{_ARABIC_VERBS})\s+(?P<name>(?!في|على|من|إلى|مع)[{_ARABIC}]{{3,}})"),
    re.compile(rf"(?:^|\s)(?:מר|גברת|גב'|ד\"ר|פרופ'|חברת|העיר|פרויקט|שמו|שמה)\s+(?P<name>[{_HEBREW}]+)"),
    re.compile(rf"(?:^|[.!?]\s*)(?P<name>[{_HEBREW}]{{2,}}(?:\s[{_HEBREW}]{{2,}})?)\s+(?:{_HEBREW_VERBS})(?![{_HEBREW}])"),
    re.compile(rf"(?:श्रीमती|श्री|डॉ\.?|कंपनी|शहर|सुश्री)\s+(?P<name>[{_DEVANAGARI}]+)"),
    re.compile(rf"(?P<name>[{_DEVANAGARI}]+(?:\s[{_DEVANAGARI}]+)?)\s+(?:जी|शहर|कंपनी)(?![{_DEVANAGARI}])"),
    re.compile(rf"(?:^|[।.!?]\s*)(?P<name>(?!मैं|मुझे|वह|हम|यह|आप)[{_DEVANAGARI}]+)\s+(?:ने|को|का|की|के)(?![{_DEVANAGARI}])"),
    re.compile(rf"(?:คุณ|นางสาว|นาง|นาย|บริษัท|จังหวัด|โครงการ|ดร\.)\s?(?P<name>[{_THAI}]+)"),
)  # fmt: skip


def announced_names(text: str) -> Iterator[Span]:
    """The names behind a title or the word for a company, town or project, and before a verb that people do."""
    if text.isascii():
        return
    for pattern in _CUES:
        for match in pattern.finditer(text):
            yield Span(*match.span("name"), "name")
