"""Words that carry no subject, in the form in which they are indexed.

They stay searchable ("to be or not to be"); a ranking gives them little weight beside a word that says something.
"""

from hermes_state.text.tokens import expand

_ENGLISH = """
a about after again all also am an and any are aren't as at be because been before being between both but by can can't
could couldn't did didn't do does doesn't doing don't done during each else ever every few for from further get got had
hadn't has hasn't have haven't having he her here hers herself him himself his how however i if in into is isn't it its
itself just let me more most my myself no nor not now of off on once only or other our ours ourselves out over own
please same she should shouldn't so some such tell than that the their theirs them themselves then there these they
this those through to too under until up us very was wasn't we were weren't what when where which while who whom whose
why will with won't would wouldn't yes yet you your yours yourself
"""

# Characters that only tie words together: a pair with one of them crosses a word's edge.
_CHINESE_PARTICLES = frozenset("的了着过吗呢吧啊呀嘛么哪谁啥之与及")
# Characters that often do, but also stand inside words; a pair of two of these says nothing.
_CHINESE_FUNCTION = frozenset(
    "是在有我你他她它们这那个些和就都也还不没很到把被给让从对为以而且或但如何怎样什多少几上下里中时会能要可用请何誰"
)
_CHINESE = """
什么 怎么 怎样 如何 为何 哪个 哪些 哪里 哪儿 多少 几个 我们 你们 他们 她们 它们 这个 那个 这些 那些
一个 一些 一下 可以 因为 所以 但是 如果 或者 以及 关于 进行 得到 已经 还是 没有 不是 就是 上次 之前
之后 时候 請問 请问 什麼 怎麼 哪個 這個 那個 我們
"""
_JAPANESE = """
です ます でした ました ません する して した している される いる ある なる から まで など
より だけ これ それ あれ ここ そこ どこ いつ なに だれ なぜ どう どの この その
あの どれ どんな もの こと ため という について ください 何か 何の 誰が
"""
_JAPANESE_PARTICLES = frozenset("のはがをにへとでもやかねよ")


def is_stopword(token: str) -> bool:
    """Whether a word, in its indexed form, or a single character or a pair of them carries no subject.

    A pair is judged as what it mostly is in running text: を餌 and 料と cross the edge of a word.
    """
    if token in STOPWORDS:
        return True
    if token.isascii() or len(token) > 2:
        return False
    characters = set(token)
    return bool(
        characters & _CHINESE_PARTICLES
        or characters <= _CHINESE_FUNCTION
        or all(map(_is_hiragana, token))
        or (len(token) == 2 and characters & _JAPANESE_PARTICLES)
    )


def _is_hiragana(character: str) -> bool:
    return "\u3041" <= character <= "\u309f"


STOPWORDS = frozenset(token for word in _ENGLISH.split() for token in expand(word)).union(
    (_CHINESE + _JAPANESE).split()
)
