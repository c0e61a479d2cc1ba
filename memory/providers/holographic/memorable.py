"""The forms in which people say something that is worth keeping, in every language that is supported.

Patterns are tried on one sentence, after a lead-in ("by the way", 对了) has been taken off. They must match where the
sentence begins, or behind a short phrase and a comma ("For code, I prefer tabs"), so that what is only reported or
quoted is not taken for the speaker's own. A `keep` pattern has a group `fact`: what was asked to be remembered.
"""

import re
from typing import NamedTuple


class Form(NamedTuple):
    """One form: its pattern, and the category of facts said in it."""

    pattern: re.Pattern[str]
    category: str


def _form(category: str, *patterns: str) -> Form:
    return Form(re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE), category)


USER, PROJECT, GENERAL = "user_pref", "project", "general"

LEAD_IN = re.compile(
    r"^(?:(?:(?:by the way|btw|fyi|also|and|so|well|ok(?:ay)?|actually|just so you know|hi|hello|hey|thanks|"
    r"please|oh|yes|no|yeah|yep|yup|nope|cool|wow|great|nice|sure|haha|lol|right|honestly|sorry|of course"
    r"|for the record|übrigens|bitte|au fait|s'il te pla[iî]t|por cierto|por favor|ali[aá]s|кстати|пожалуйста)(?!\w)"
    r"|对了|另外|顺便说一下|还有|好的|你好|请你?|麻烦你?|ちなみに|あと|参考まで|참고로|그리고|कृपया|"
    r"من فضلك)[\s,，、:：!！-]*)+",
    re.IGNORECASE,
)

# "Remember that …": the fact is what follows, or what precedes where the verb ends the sentence.
KEEP = (
    (
        r"(?:remember|keep in mind|bear in mind|note|make a note|don'?t forget|never forget|memori[sz]e)(?: this|"
        r" it)?(?:\s+that\s+|\s*[:,—-]\s*|\s+)(?P<fact>(?!to\b|when\b|how\b|if\b|what\b|where\b|who\b|why\b|me\b|"
        r"us\b).+)"
    ),
    r"(?:remember|don'?t forget) to (?P<fact>(?:always|never) .+)",
    (
        r"(?:记住|記住|记着|记得|別忘了|别忘了|别忘记|牢记|请注意|帮我记(?:住|下)?)(?:了|"
        r"一下)?[\s，,：:]*(?P<fact>(?!.{0,6}吗).+)"
    ),
    (
        r"(?P<fact>.+?)(?:ということ|こと|と|のを|を)?(?:、)?\s*(?:覚えて(?:おいて|て)?|記憶して(?:おいて)?|"
        r"忘れないで|メモして(?:おいて)?)(?:ください|下さい|くれ|ね|よ)*[。!！]*$"
    ),
    r"(?:覚えて(?:おいて)?|メモ)(?:ください|ね)?[\s、:：]+(?P<fact>.+)",
    (
        r"(?P<fact>.+?)(?:(?:이)?라고|다고|라는 (?:것을|걸)|다는 (?:것을|걸)|는 (?:것을|걸)|을|를|고)?,?\s*(?:기억해|"
        r"잊지\s*마|메모해)(?:\s*(?:줘|주세요|둬|두세요|라|세요))*[.!]*$"
    ),
    r"(?:기억해(?:\s*(?:줘|주세요|둬))?|메모)[\s,:：]+(?P<fact>.+)",
    r"(?:recuerda|recuerde|ten en cuenta|no olvides|anota|acuérdate de)(?:\s+que\s+|\s*[:,]\s*)(?P<fact>.+)",
    r"(?:merk(?:e)? dir|denk daran|vergiss nicht|notier(?:e)?|behalte)(?:\s*,?\s*dass\s+|\s*[:,]\s*)(?P<fact>.+)",
    (
        r"(?:souviens[- ]toi|rappelle[- ]toi|retiens|n'oublie pas|note|notez|"
        r"souvenez[- ]vous)(?:\s+bien)?(?:\s+que\s+|\s+qu'|\s*[:,]\s*)(?P<fact>.+)"
    ),
    (
        r"(?:lembre(?:-se)?|lembra|não (?:se )?esque(?:ça|ças)|anote|tenha em mente)(?:\s+(?:de )?que\s+|"
        r"\s*[:,]\s*)(?P<fact>.+)"
    ),
    r"(?:ricorda(?:ti)?|tieni presente|non dimenticare)(?:\s+che\s+|\s*[:,]\s*)(?P<fact>.+)",
    r"(?:запомни(?:те)?|помни(?:те)?|не забудь(?:те)?|имей в виду|учти)(?:\s*,?\s*что\s+|\s*[:,]\s*)(?P<fact>.+)",
    r"(?:تذكري?|لا تنسى?|احفظي?|ضع في اعتبارك)\s+(?:أنني|أنّ|أن|بأن|:)?\s*(?P<fact>.+)",
    r"(?P<fact>.+?)[,،]?\s*(?:यह )?(?:याद रख(?:ो|ें|ना|िए|िएगा)|मत भूलना)[।.!]*$",
    r"(?:याद रख(?:ो|ें|ना|िए|िएगा)|मत भूलना|ध्यान रख(?:ो|ें|ना))\s*(?:कि|:|,)?\s*(?P<fact>.+)",
)

# What is liked or avoided, and is no request or remark about what was just said.
_NO_REMARK = (
    r"(?!(?:this|that|these|those|it|the (?:idea|plan|way|approach|look)|your?|how|what|where|to see|them|him|her)\b"
    r"|to\W*$)"
)
_NO_REMARK_ZH = "(?!这|那|你|您|它|吗)"

FORMS = (
    _form(
        USER,
        rf"(?:i|we) (?:(?:really|much|strongly|still|generally|usually|always|now|also) )*(?:prefer|love|hate|"
        rf"dislike|like|enjoy|can'?t stand) {_NO_REMARK}\S.*",
        rf"i (?:do not|don'?t|never|no longer) (?:like|use|eat|drink|work|enjoy) {_NO_REMARK}\S.*",
        r"i (?:always|never|usually|mostly|only) (?!mind|said|thought|see|saw|get\b)\S.*",
        r"i(?:'m| am) (?:allergic|vegetarian|vegan|based|left-handed|right-handed|colou?r[- ]?blind|a |an |from |"
        r"in the |lactose)\b.*",
        r"i (?:live|work|grew up|study|was born) (?:in|at|for|as|on|with|from|near) .+",
        r"my (?:favou?rite |preferred |default )?[\w' -]{2,40} (?:is|are) (?!not (?:working|sure)|broken|failing|"
        r"stuck|down|wrong)\S.*",
        r"call me \w+.*",
        r"(?:from now on|in future|in the future),? .+",
        r"(?:always|never) (?:use|answer|reply|write|format|add|include|put|commit|push|call|run|show|address) .+",
    ),
    _form(
        PROJECT,
        r"we(?:'ve| have)? (?:decided|agreed|chose|chosen|settled) (?:to |on |that )?.+",
        r"(?:the|our|this) (?:project|team|repo|repository|app|service|code ?base|company|backend|frontend|"
        r"database|api) (?:uses|needs|requires|runs on|is written in|depends on|targets|lives in|supports) .+",
        r"we (?:use|deploy|host|test|release|ship|store|run) (?!it\b|this\b|that\b)\S.*",
        r"(?:the|our) (?:deadline|release|launch|budget|stand-?up|staging server|production server) (?:is|are|"
        r"was) .+",
    ),
    _form(
        USER,
        f"我(?:现在|一直|通常|平时|真的|非常|很|也)*(?:更?喜欢|更喜歡|喜歡|偏好|偏爱|热爱|讨厌|討厭|不喜欢|"
        f"不喜歡|不爱|不吃|不喝|不用|习惯){_NO_REMARK_ZH}.+",
        "我(?:总是|總是|从不|從不|从来不|經常|经常|每天|通常|一般都?).+",
        "我(?:对|對).+过敏.*|我(?:住在|来自|來自|出生在|老家在).+|我在.+(?:工作|上班|任职|读书|上学)了?$|我(?:叫|"
        "姓).+|我是(?!说|不是|想|觉得).+",
        "我的(?!意思|问题|代码|电脑|天|错).{1,20}(?:是|为).+",
        "(?:以后|今后|从现在起|从今以后)[，,]?(?:请|都|要|用|不要|别).+",
    ),
    _form(
        PROJECT,
        "(?:我们|咱们|团队|大家)(?:已经)?(?:决定|同意|选择了?|商定|约定|说好).+",
        "(?:这个|我们的?|本)?(?:项目|团队|系统|服务|后端|前端|数据库)(?:使用|用的是|采用|需要|依赖|运行在|部署在|"
        "要求).+",
        "我们(?:的)?(?:截止日期|发布日期|预算|例会).{0,4}(?:是|在).+|我们(?:使用|用的是|采用).+",
    ),
    _form(
        USER,
        "(?:私|僕|俺|わたし)(?:は|って)(?!.*(?:思|たい|ください|ですか)).*(?:好き|嫌い|苦手|好み|派)(?:です|だ|"
        "なんです|なの|である)?[ねよ]?$",
        "(?:私|僕|俺|わたし)の(?!質問|コード|意味).{1,20}は.+(?:です|だ|ます)$",
        "(?:私|僕|俺|わたし)は.+(?:に住んでい(?:ます|る)|で働いてい(?:ます|る)|に勤めてい(?:ます|る)|"
        "アレルギーです|アレルギーがあ(?:ります|る)|と申します|といいます|出身です)$",
        "(?:私|僕|俺|わたし)は(?:いつも|毎日|普段|決して|絶対に?|必ず).+",
        "(?:今後|これから)は.+",
    ),
    _form(
        PROJECT,
        "(?:私たち|我々|チーム)(?:は|で).+(?:決めました|決めた|ことにしました|ことにした|合意しました)$",
        "(?:この|うちの|我々の)?(?:プロジェクト|チーム|システム|サービス)(?:は|では).+(?:を使(?:います|"
        "っています|う|っている)|が必要(?:です|だ)|を使用してい(?:ます|る))$",
    ),
    _form(
        USER,
        "(?:나는|난|저는|전) .*(?:좋아해|좋아한다|좋아합니다|좋아해요|싫어해|싫어한다|싫어합니다|싫어해요|선호해|"
        "선호한다|선호합니다|선호해요)$",
        "(?:나는|난|저는|전) (?:항상|늘|절대|보통|매일|주로) .+",
        "(?:나는|난|저는|전) .*(?:에 살아|에 산다|에 삽니다|에 살아요|에서 일해|에서 일한다|에서 일합니다|"
        "에서 일해요|알레르기가 있어|알레르기가 있다|알레르기가 있습니다|알레르기가 있어요)$",
        "(?:내|제|나의|저의) (?!질문|코드|말).{1,20}(?:은|는|이|가) .+(?:이야|야|이다|다|입니다|이에요|예요)$",
        "(?:앞으로|이제부터)(?:는)? .+",
    ),
    _form(
        PROJECT,
        "(?:우리는|우리|저희는|팀은) .+(?:기로 했다|기로 했어|기로 했습니다|기로 결정했다|기로 결정했습니다|"
        "결정했다|합의했다)$",
        "(?:이 |우리 )?(?:프로젝트|팀|시스템|서비스)(?:는|은|에서는) .+(?:사용한다|사용합니다|사용해|쓴다|씁니다|"
        "필요하다|필요합니다)$",
    ),
    _form(
        USER,
        r"(?:yo )?(?:prefiero|odio|detesto|adoro|nunca|siempre|uso|vivo en|trabajo en|trabajo como|trabajo para|"
        r"soy alérgic[oa]|me llamo|soy de|no como|no bebo) .+",
        r"(?:no )?me (?:gustan?|encantan?|molestan?) (?!est[eao]|es[eao]\b|tu\b|la idea|el plan).+",
        r"mi (?!pregunta|código|problema)[\w' -]{2,40} (?:es|son|está) .+",
        r"ich (?:\w+ )?(?:bevorzuge|mag|liebe|hasse|benutze|verwende|nutze|wohne|lebe|arbeite|heiße|esse|trinke|"
        r"programmiere) (?!das\b|dies|deine?|es\b).+",
        r"ich (?:bin (?:allergisch|vegetarier|veganer|aus)|habe eine allergie).*",
        r"mein(?:e)? (?!frage|problem|code|fehler)[\w' -]{2,40} (?:ist|sind|heißt) .+",
        r"je (?:préfère|déteste|n'aime pas|ne mange pas|ne bois pas|travaille|vis|m'appelle|suis allergique|"
        r"suis végétarien(?:ne)?) .*",
        r"j'(?:aime|adore|habite|utilise) (?!ça|cela|cette|ce\b|ton|ta\b|l'idée).+",
        r"(?:mon|ma|mes) (?!question|problème|code)[\w' -]{2,40} (?:est|sont|s'appelle) .+",
        r"(?:eu )?(?:prefiro|odeio|detesto|adoro|uso|moro em|moro no|moro na|trabalho|sou alérgic[oa]|me chamo|"
        r"nunca|sempre) .+",
        r"(?:eu )?(?:não )?gosto (?:muito |mais )?d[eao]s? (?!sse|ste|sta|ssa).+",
        r"(?:o )?meu (?!código|problema)[\w' -]{2,40} (?:é|são) .+|(?:a )?minha (?!pergunta|"
        r"dúvida)[\w' -]{2,40} (?:é|são) .+",
        r"я (?:\w+ )?(?:предпочитаю|люблю|ненавижу|не люблю|использую|живу|работаю|не ем|не пью|всегда|никогда|"
        r"обычно) (?!это|эт[оу]т?\b|твой).+",
        r"мне (?:\w+ )?(?:не )?нрав(?:ится|ятся) (?!это|эта|этот|твой|идея).+|меня зовут .+|у меня аллергия .+",
        r"(?:мой|моя|моё|мое|мои) (?!вопрос|код|проблема)[\w' -]{2,40}\s*(?:—|-|–|это|находится|называется|в|"
        r"живёт)\s*.+",
        r"(?:أنا )?(?:أفضّ?ل|أحب|أكره|أعيش في|أسكن في|أعمل في|لا أحب|لا آكل|أستخدم) (?!هذا|هذه|ذلك).+|اسمي .+|"
        r"(?:عندي|لدي) حساسية .+",
        r"मुझे .+ (?:पसंद (?:है|हैं|नहीं|नहीं है)|नापसंद है|से एलर्जी है|अच्छा लगता है)[।.]?$|मैं (?:हमेशा|"
        r"कभी नहीं|आमतौर पर) .+",
        r"मैं .+ (?:में रहता हूँ|में रहती हूँ|में काम करता हूँ|में काम करती हूँ|पसंद करता हूँ|"
        r"पसंद करती हूँ)[।.]?$|मे(?:रा|री|रे) (?!सवाल|कोड).{2,40} (?:है|हैं)[।.]?$",
    ),
    _form(
        PROJECT,
        r"(?:nosotros )?(?:decidimos|acordamos|hemos decidido|elegimos) .+|(?:el|nuestro) proyecto (?:usa|"
        r"necesita|requiere) .+",
        r"wir haben (?:uns )?.*(?:beschlossen|entschieden|geeinigt).*|(?:das|unser) projekt (?:verwendet|nutzt|"
        r"benutzt|braucht|benötigt) .+",
        r"(?:nous avons|on a) (?:décidé|choisi|convenu) .+|(?:le|notre) projet (?:utilise|nécessite|exige) .+",
        r"(?:nós )?(?:decidimos|concordamos|escolhemos) .+|(?:o|nosso) projeto (?:usa|precisa|requer) .+",
        r"мы (?:решили|договорились|выбрали) .+|(?:наш )?проект (?:использует|требует) .+",
        r"(?:قررنا|اتفقنا|اخترنا) .+|(?:المشروع|مشروعنا) (?:يستخدم|يحتاج|يتطلب) .+|हमने .*(?:तय किया|फैसला किया|"
        r"चुना).*",
    ),
)  # fmt: skip

QUESTION = re.compile(
    r"[?？؟]\s*$|(?:吗|呢|么|ですか|ますか|でしょうか|나요|까요|을까|ㄹ까)[。.!！]*$"
    r"|^(?:do|does|did|can|could|would|will|should|is|are|what|why|how|when|where|who|which|怎么|为什么|什么|谁|"
    r"哪|如何|なぜ|どう|何|왜|어떻게|무엇)\b",
    re.IGNORECASE,
)
# A request that follows a statement in the same sentence, and is no part of it.
REQUEST = re.compile(
    r"\s*[,;，；、—-]+\s*(?:and |but |so |then )*(?:could you|can you|would you|will you|please|let'?s|bitte|"
    r"kannst du|s'il te|peux-tu|por favor|puedes|"
    r"pode|можешь|пожалуйста|你能|能不能|请|麻烦|可以帮|やって|してくれ|お願い|해 줘|부탁).*$"
    r"|\s+(?:so|and) (?:please|could you|can you)\b.*$",
    re.IGNORECASE,
)
# Somebody else's words, or words about words.
REPORTED = re.compile(
    r"\b(?:said|says|say|wrote|writes|asked|told|claims?|quote|translate|sentence|example|e\.g\.|if|suppose|"
    r"imagine|whether)\b|说[:：,，]|翻译|例如|比如|如果|假如|と言|もし|例えば|라고|예를|만약",
    re.IGNORECASE,
)
