"""Whether a person asks, in so many words, for something to be remembered.

The languages are those of `memory.trivial`. Only a request counts: "remember that I take tea" does, "do you remember
what I take?" and "I can't remember" don't.
"""

from __future__ import annotations

import re

# Each language: how a request begins, anywhere a clause may begin or, where word order is free, anywhere.
_REQUESTS = (
    # English
    (
        r"(?:^|[.!?;:,\n]\s*|\b(?:please|and|so|also|but|to)\s+|\b(?:can|could|would|will)\s+you\s+(?:please\s+)?)"
        r"(?:remember\b(?!\s+(?:when|how|what|where|who|why|if)\b)|memori[sz]e\b|(?:don['’]?t|do\s+not|never)\s+forget\b"
        r"|make\s+a\s+(?:mental\s+)?note\b|take\s+note\b|keep\s+in\s+mind\b|bear\s+in\s+mind\b"
        r"|(?:save|add|put|store|commit)\s+(?:this|that|it|to)\s+(?:to|in|into|your)?\s*(?:your\s+)?memory\b)"
    ),
    r"\bfor\s+future\s+reference\b",
    # Chinese
    r"(?<![没還还能不])(?:记住|記住|记下|記下|记得(?!.{0,20}[吗嗎?？])|記得(?!.{0,20}[吗嗎?？])|别忘|別忘|不要忘|牢记|牢記|存入记忆|存入記憶)",
    # Japanese
    r"(?:覚えて|おぼえて|憶えて)(?:おいて|おけ|ください|下さい|ね|よ|$|[。!！])|忘れないで|記憶して|メモして|メモっておいて",
    # Korean
    r"기억\s*해\s*(?:줘|주세요|둬|두세요|주라|$|[.!])|기억하(?:세요|십시오|도록)|잊지\s*(?:마|말)|메모해",
    # Spanish
    (
        r"(?:^|[.!¡;:,\n]\s*|\b(?:por\s+favor|y)\s+)(?:recuerda|recuerde|recu[eé]rdalo|acu[eé]rdate|acu[eé]rdese|memoriza|anota)\b(?!.{0,60}\?)"
        r"|\bno\s+(?:te\s+)?olvid(?:es|e)\b|\bten\s+en\s+cuenta\b"
    ),
    # French
    (
        r"\bsouviens[-\s]toi\b|\bsouvenez[-\s]vous\b|\brappelle[-\s]toi\b|\bn['’]oublie(?:z)?\s+pas\b"
        r"|(?:^|[.!;:,\n]\s*)(?:retiens|retenez|m[ée]morise|note)\b(?!.{0,60}\?)"
    ),
    # German
    (
        r"\bmerk(?:e)?\s+(?:es\s+|das\s+)?dir\b|\bmerken\s+sie\s+sich\b|\bdenk(?:e)?\s+daran\b|\bvergiss\s+(?:das\s+)?nicht\b"
        r"|\bvergessen\s+sie\s+nicht\b|\bnotier(?:e)?\s+dir\b|\bbehalte?\s+(?:das\s+)?im\s+ged[äa]chtnis\b"
    ),
    # Portuguese
    (
        r"\blembr(?:e|a)-(?:se|te)\b|(?:^|[.!;:,\n]\s*|\bpor\s+favor,?\s+)(?:lembre|lembra|memoriz[ae]|anot[ae]|guarde)\b(?!.{0,60}\?)"
        r"|\bn[ãa]o\s+(?:se\s+|te\s+)?esque[çc]a"
    ),
    # Russian
    r"\bзапомни(?:те)?\b|\bне\s+забудь(?:те)?\b|\bне\s+забывай(?:те)?\b|\bимей(?:те)?\s+в\s+виду\b|\bучти(?:те)?\b|\bзапиши(?:те)?\b",
    # Arabic
    r"(?:^|[\s،.!])(?:تذك[ّ]?ر(?:ي|وا)?|احفظ(?:ي)?|لا\s+تنس[َىي]?|سج[ّ]?ل(?:ي)?)(?=$|[\s،.!])(?!.{0,60}؟)",
    # Hindi
    r"याद\s+(?:रख|रखो|रखना|रखें|रखिए|रखिये)|मत\s+भूल|भूलना\s+मत|नोट\s+कर",
)
_ASKED = re.compile("|".join(_REQUESTS), re.IGNORECASE)
# Questions about what is remembered, and statements about oneself.
_NOT_ASKED = re.compile(
    r"\b(?:do|did|does|don['’]?t)\s+you\s+(?:still\s+)?remember\b|\bi\s+(?:can(?:['’]t|not)?|could(?:n['’]t)?|don['’]?t|do|will)\s+(?:not\s+)?remember\b"
    r"|还记得|還記得|记得.{0,20}[吗嗎]|記得.{0,20}[吗嗎]|覚えて(?:い)?(?:ますか|る[?？])|기억(?:나|하(?:니|나요|세요\?))",
    re.IGNORECASE,
)


def asks_to_remember(text: str) -> bool:
    """Whether a text asks for something to be kept in memory."""
    return bool(_ASKED.search(_NOT_ASKED.sub(" ", text)))
