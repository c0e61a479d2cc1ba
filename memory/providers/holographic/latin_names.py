"""Names in scripts that have capital letters, and things whose form gives them away in any script.

Capital letters mark a name in the middle of a sentence. At its beginning every word has one, so a single word there
must also be no ordinary word.
"""

import re
from collections.abc import Iterator

from memory.providers.holographic.spans import Span, words

# What no capital letters are needed for.
_URL = re.compile(r"\b(?:https?|ftp|ssh|git)://[^\s<>\"'，。、）)」』]+[^\s<>\"'，。、）)」』.,;:!?]", re.I)
_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_PATH = re.compile(r"(?<![\w:/.~])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*[\w/]|\b[A-Z]:\\[\w\\.-]+\w")
_HANDLE = re.compile(r"(?<![A-Za-z0-9_@/.])@[A-Za-z0-9_][\w-]*")
_HASHTAG = re.compile(r"(?<![A-Za-z0-9_#&])#(?!\d+\b)\w[\w-]*")
_FILE = re.compile(r"\b[\w-]+\.(?:py|rs|js|ts|go|java|md|txt|json|ya?ml|toml|sql|db|csv|pdf|sh|html|css|c|h|cpp)\b")
_PAIRED = (
    ('"', '"'),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("「", "」"),
    ("『", "』"),
    ("《", "》"),
    ("〈", "〉"),
    ("`", "`"),
)
_MAX_QUOTED = 60
_QUOTED = re.compile(
    "|".join(f"{a}(?P<q{i}>[^{a}{b}\n]{{1,{_MAX_QUOTED}}}){b}" for i, (a, b) in enumerate(_PAIRED))
    + rf"|(?<![\w'’])['‘](?P<single>[^'‘’\n]{{2,{_MAX_QUOTED}}})['’](?!\w)"
)

# Identifiers: mixed capitals, digits or joiners inside one word; names with signs.
_WITH_SIGNS = re.compile(r"(?<![\w.])(?:\.NET\b|[A-Z](?:\+\+|#)(?![\w+#])|(?:Visual|Objective)-C\b)", re.ASCII)
_IDENTIFIER = re.compile(
    r"(?<![\w@#/.-])(?:"
    r"[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]+[A-Z]?\w*"  # gRPC, GitHub, DevOps, NUnit
    r"|[A-Za-z]\w*_\w+"  # snake_case
    r"|[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:api|app|backend|cli|client|core|db|frontend|lib|sdk|server|service|ui|web|worker)"
    r"|[A-Za-z]+[0-9]+[A-Za-z]+[0-9]*"  # K8s
    r"|[A-Z][A-Za-z]*\.(?:js|io|ai|py|rs)"  # Node.js
    r")(?![\w])",
    re.ASCII,
)
# A Latin name with the Chinese, Japanese or Korean word for what it is, and the reverse.
_MIXED = re.compile(
    r"[A-Z][A-Za-z0-9]+(?:项目|平台|系统|计划|工程|网关|集群|公司|集团|大学|银行|システム|プラットフォーム|計画|프로젝트|플랫폼|시스템)"
    r"|(?:支付|会员|订单|用户|登录|搜索|推送|报表|库存|物流|消息|数据)(?:API|SDK|APP|App|DB)(?![A-Za-z])"
)
_CODE = re.compile(r"(?<![\w-])(?:[A-Z]{2,5}-\d+|v\d+(?:\.\d+)+)(?!\w)")
_ACRONYM = re.compile(r"(?<![^\W\d_]|\d)[A-Z][A-Z0-9]{1,9}s?(?![^\W_]|[+#])", re.ASCII)
_NO_ACRONYMS = frozenset(
    words(
        """
    OK AM PM GB MB TB KB KG ID NO YES USD EUR PIN TODO FYI ASAP AKA
    """
    )
)

# Letters of the scripts with capitals: Latin, Greek, Cyrillic, Armenian, Georgian.
_LETTER = "A-Za-z\u00aa-\u024f\u0370-\u058f\u1c80-\u1cbf\u1e00-\u1fff'’"
_WORD = re.compile(rf"[{_LETTER}][{_LETTER}0-9]*(?:-[{_LETTER}][{_LETTER}0-9]*)*")
_LINKS = frozenset(
    words(
        """
    van von der den de del della da di dos du la le bin ibn ben al el of y ter zu
    """
    )
)
_SENTENCE_END = re.compile("[.!?…:;。！？\n]\\s*[\"'“‘(\\[]*$|^\\s*[-*>\"'“‘(\\[]*\\s*\\Z")
_ABBREVIATION = re.compile(r"\b(?:Mrs?|Ms|Dr|Prof|St|Sr|Jr|No|vs)\.\s*$")
_GERMAN_PREPOSITIONS = frozenset(words("von der den zu"))
_HONORIFICS = frozenset(words("mr mrs ms dr prof sir herr frau señor señora monsieur madame"))

# Capitalised and yet no name: pronouns, days, months.
_CALENDAR = """
monday tuesday wednesday thursday friday saturday sunday
mondays tuesdays wednesdays thursdays fridays saturdays sundays
january february march april may june july august september october november december
montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember
"""
_ORDINARY = frozenset(
    words(_CALENDAR)
    + words(
        """
        wow yeah yep yup nope nah hey cool glad congrats
        definitely appreciate nice awesome talk bye life long love nature
        hope stay family looks sorry cheers gonna wanna gotta absolutely art guess way such super lately aww enjoy bet
        catch excited agreed feels lots music wish little totally exactly btw ugh ooh yay mine three four five sounds
        congratulations thankfully hopefully unfortunately fortunately honestly seriously anyway besides meanwhile
        """
    )
    + words("vivo vive trabajo trabaja prefiero prefiere j'habite j'aime moro mora trabalho prefiro wohne")
    + words("живу работаю woah oof anytime plus really well agree met change")
    + words(
        """
    i i'm i've i'd i'll a about above according actually after again all almost also although always
    am among an and another any anybody anyone anything apparently are as ask at backup backups be because
    before below beside best between bill both bring bug build but by call can check choose code come company
    could currently customer customers data day days default deploy deployment did do does don't done down due
    during each either else email even every everybody everyone everything except favorite file files first fix
    for from get give given go good great had has have having he hello her here hers hi him his how however if
    important in instead invoice invoices is it it's its just keep kindly last later least less let let's like
    likewise log logs look make management manager many maybe me meeting meetings more moreover most mostly much
    must my name need never new next no nobody none nor not note nothing now of off often oh ok okay old on once
    one only or order other others our ours out over password people perhaps please prefer problem project
    projects put question recently release remember remind rename review right room run said same say says
    second see send server set she should show since so some somebody someone something sometimes soon sprint
    stop sure system take task tasks team teams tell test tests thank thanks that that's the their them then
    there therefore these they thing things third this those though through thus time to today together tomorrow
    too try turn two under unfortunately unless until up update upon us use used user users usually very was we
    we're we've were what what's when whenever where wherever whether which while who whom whose why will with
    within without work would yes yesterday yet you you're your yours der die das den dem des ein eine einen
    einem einer und oder aber ich du er sie es wir ihr mein meine dein unser ist sind war hat haben nicht auch
    wenn weil dass bitte heute morgen gestern jetzt hier dort was wer wie wo warum im am zum zur bei mit von
    nach aus für merke merk vergiss el la los las un una unos unas y o pero yo tú él ella nosotros mi mis tu su
    es son está fue ha no sí que cuando donde como por para con sin en de al del recuerda hoy ayer mañana le les
    des une et ou mais je il elle nous vous ils mon ma mes ton ta notre votre est sont était pas oui que quand
    où comme pour avec sans dans au aux du ce cette souviens-toi retiens aujourd'hui hier demain o os uma um e
    mas eu ele ela nós meu minha seu sua foi não sim quando onde como com sem em no na lembre lembra hoje ontem
    ο η το οι τα τον την του της και στο στη στην σε με για από
я ты он она мы вы они мой моя мои твой наш ваш это то что как где когда если и или но а в на с к у о по за
    из для не да нет запомни помни сегодня вчера завтра сейчас также
    """
)
)  # fmt: skip
# Words by which a text shows that it is English, where a capital at the start of a sentence says nothing.
_ENGLISH = re.compile(
    r"\b(?:the|is|are|was|to|and|of|a|an|in|for|with|on|at|as|it|that|has|have|will|he|she|you|my|your|his|her|their|our"
    r"|from|by|not|so|just|but|who|does|can)\b|\bI\b"
)
_CONTRACTED = ("n't", "'re", "'ve", "'ll", "'d", "'m")
_LISTED = re.compile(r"(?: and|,) [A-Z]")
_WITH_DIGIT_OR_HUMP = re.compile("[a-z][A-Z]|[0-9]|^[A-Z]{2}")
_VERBS = frozenset(
    words(
        """
        is was has had will can does did and or may might
        must should would could says said told went took made got gave
        came met wrote ran saw knew left bought brought built
        sold taught thought put set lost won kept found began drove
        flew grew spoke ate drank slept felt paid sent
        spent stood understood wants also always never usually often now
        still just recently already only currently no isn't wasn't doesn't didn't hasn't can't won't cannot
        """
    )
)
_NO_VERBS = frozenset(
    words("this as his its us yours ours theirs less unless always perhaps plus across thus days times")
)
# Ordinary words with which a name of several may begin.
_HEADS = frozenset(
    words(
        """
    new old project operation san st el la los las le les great north south east west lake mount
    """
    )
)
# Ordinary words that at the beginning of a sentence are not part of the name behind them.
_OPENERS = _ORDINARY - _HEADS
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ich|mit|ein|eine|wohnt|arbeitet|wir)\b")
_BEFORE_NOUN = frozenset(
    words(
        """
        der die das den dem des ein eine einen einem einer mein meine meinen meinem dein seine ihre unser unsere kein
        keine im am zum zur vom beim
        """
    )
)


def shapes(text: str) -> Iterator[Span]:
    """What its form alone marks: quoted terms, addresses, paths, handles, identifiers, acronyms."""
    for kind, pattern in (
        ("url", _URL),
        ("email", _EMAIL),
        ("path", _PATH),
        ("handle", _HANDLE),
        ("hashtag", _HASHTAG),
    ):
        for match in pattern.finditer(text):
            yield Span(match.start(), match.end(), kind)
    for match in _QUOTED.finditer(text):
        group = match.lastgroup or "single"
        if len(match.group(group).split()) <= 6:
            yield Span(match.start(group), match.end(group), "quoted")
    for pattern in (_FILE, _WITH_SIGNS, _IDENTIFIER, _MIXED, _CODE):
        for match in pattern.finditer(text):
            yield Span(match.start(), match.end(), "identifier")


def acronyms(text: str) -> Iterator[Span]:
    """Words of capitals alone. They may be part of a longer name, which then counts."""
    if any(map(str.islower, text)) or not text.isascii():
        for match in _ACRONYM.finditer(text):
            if match.group().rstrip("s") not in _NO_ACRONYMS:
                yield Span(match.start(), match.end(), "acronym")


def capitalised(text: str) -> Iterator[Span]:
    """Names in capital letters: one word or several, with the small words that names have (van, de, of)."""
    words = list(_WORD.finditer(text))
    german = len(_GERMAN.findall(text)) >= 2
    at = 0
    while at < len(words):
        last = _name_end(text, words, at, _LINKS - _GERMAN_PREPOSITIONS if german else _LINKS)
        if last is None:
            at += 1
            continue
        first = at
        while first <= last and _is_no_part(text, words[first]):
            first += 1
        if first <= last and _is_name(text, words, first, last, german):
            yield Span(words[first].start(), _without_possessive(words[last]), "name")
        at = last + 1


def _name_end(text: str, words: list[re.Match[str]], first: int, links: frozenset[str]) -> int | None:
    """The last word of the run of capitalised words that begins here; None if none does."""
    if not _is_capitalised(words[first].group()):
        return None
    last, at = first, first + 1
    while (
        at < len(words)
        and text[words[at - 1].end() : words[at].start()] in (" ", ". ")
        and not _possessive(words[at - 1])
    ):
        if text[words[at - 1].end() : words[at].start()] == ". " and _plain(words[at - 1]) not in _HONORIFICS:
            break
        if words[at].group() == "I" or words[at].group().startswith(("I'", "I’")):
            break
        if _is_capitalised(words[at].group()):
            last = at
        elif words[at].group() == "of" and words[at - 1].group().isupper():
            break  # CEO of Acme is a role of Acme
        elif words[at].group() == "the" and words[at - 1].group() == "of":
            pass
        elif words[at].group() not in links or at - last > 2:
            break
        at += 1
    return last


def _is_no_part(text: str, word: re.Match[str]) -> bool:
    """Whether a word does not belong to the name behind it: a title, the first of a sentence, a link after these."""
    plain = _plain(word)
    return (
        not _is_capitalised(word.group()) or plain in _HONORIFICS or (plain in _OPENERS and _opens(text, word.start()))
    )


def _opens(text: str, start: int) -> bool:
    """Whether a sentence begins here."""
    before = text[max(0, start - 16) : start]
    return bool(_SENTENCE_END.search(before if start > 16 else text[:start])) and not _ABBREVIATION.search(before)


def _is_name(text: str, words: list[re.Match[str]], first: int, last: int, german: bool) -> bool:
    opens = _opens(text, words[first].start())
    if first == last and _plain(words[first]) in _ORDINARY:
        return False
    if first < last:
        return True
    word = _plain(words[first])
    if len(word) < 2 or word.endswith(_CONTRACTED):
        return False
    if german and not opens and first and _plain(words[first - 1]) in _BEFORE_NOUN:
        return False
    if german and word.endswith(("ung", "heit", "keit", "schaft", "tion", "tät")):
        return False
    if not opens or not word.isascii():
        return True
    if _WITH_DIGIT_OR_HUMP.search(words[first].group()):
        return True
    return not word.endswith("ing") and (not _ENGLISH.search(text) or _does_something(text, words, first))


def _does_something(text: str, words: list[re.Match[str]], at: int) -> bool:
    """Whether an English word that opens a sentence is followed as a subject is: "Dana lives", not "Glad to"."""
    if _possessive(words[at]):
        return True
    rest = text[words[at].end() :]
    if rest[:1] == "'" or not rest.strip():
        return False
    if rest[:2] == " (" or _LISTED.match(rest):
        return True
    behind = words[at + 1].group().lower() if at + 1 < len(words) and rest.startswith(" ") else ""
    return behind in _VERBS or (len(behind) > 3 and behind.endswith(("s", "ed")) and behind not in _NO_VERBS)


def _is_capitalised(word: str) -> bool:
    return (
        word not in _NO_ACRONYMS
        and word[0].isupper()
        and (len(word) == 1 or any(map(str.islower, word)) or word.isupper())
    )


def _plain(match: re.Match[str]) -> str:
    word = match.group().lower().replace("’", "'")
    return word.removesuffix("'s")


def _possessive(match: re.Match[str]) -> bool:
    return match.group().lower().endswith(("'s", "’s"))


def _without_possessive(match: re.Match[str]) -> int:
    word = match.group()
    return match.end() - 2 if _possessive(match) else match.end() - (len(word) - len(word.rstrip("'’")))
