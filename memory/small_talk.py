"""The everyday words that are a whole message and say nothing to remember: by language, and by what they do.

`ANSWERS` can answer a question, `GO_ON` tell the agent to continue, `COURTESY` greet, thank and praise. Each text is a
list of phrases separated by `|`. A phrase that is also a usual one-word request in another language is left out.
"""

from __future__ import annotations

# The words of the peer's gate, no more and no fewer: providers that bring their own gate agree with it.
ENGLISH_ANSWERS = "yes|no|ok|okay|sure|y|n|yep|nope|yeah|nah|k|got it|cool|nice|great|done|lgtm"
ENGLISH_GO_ON = "continue|go ahead|do it|proceed|next"
ENGLISH_COURTESY = "thanks|thank you|hi|hey|hello|yo|sup"

ANSWERS = {
    "zh": "好|好的|好吧|好啊|好呀|好嘞|好哒|好滴|行|行吧|行啊|可以|可以的|没问题|沒問題|是|是的|是啊|对|"
    "对的|對|對的|没错|沒錯|嗯|嗯嗯|嗯哼|哦|噢|喔|不|不是|不是的|不行|不用|不用了|不要|不对|不對|"
    "没有|沒有|否|当然|當然|确定|確定|同意|收到|明白|明白了|知道了|了解|懂了|完成|完成了|搞定|搞定了|"
    "没事|沒事|随便|隨便|都行|都可以|很好|不错|不錯|太好了|太棒了|真棒|厉害|牛|棒|赞|讚|完美",
    "ja": "はい|はーい|ええ|うん|うんうん|いいえ|いや|ううん|そう|そうです|そうですね|そうだね|違います|"
    "違う|了解|了解です|了解しました|りょうかい|承知しました|かしこまりました|わかった|分かった|"
    "わかりました|分かりました|わかりません|オーケー|オッケー|おけ|おっけー|大丈夫|大丈夫です|"
    "いいです|いいよ|いいね|いいですね|よし|もちろん|完了|完了しました|できた|できました|終わった|"
    "終わりました|なるほど|素晴らしい|すごい|すばらしい|完璧|なし|ない|ありません",
    "ko": "네|넵|넹|네네|예|응|응응|어|웅|아니|아니요|아니오|아뇨|아니야|그래|그래요|그럼|그럼요|좋아|"
    "좋아요|좋습니다|좋네요|알겠어|알겠어요|알겠습니다|알았어|알았어요|오케이|오키|ㅇㅇ|ㅇㅋ|ㄴㄴ|"
    "괜찮아|괜찮아요|괜찮습니다|맞아|맞아요|맞습니다|됐어|됐어요|됐습니다|완료|했어|했어요|했습니다|"
    "확인|물론|물론이죠|멋져|멋져요|훌륭해|훌륭해요|최고|대박|없어|없어요|없습니다|ㅋ|ㅋㅋ|ㅋㅋㅋ|"
    "ㅎㅎ",
    "es": "sí|no|vale|claro|claro que sí|por supuesto|de acuerdo|bueno|bien|muy bien|está bien|perfecto|"
    "genial|listo|hecho|entendido|correcto|exacto|cierto|ya está|ya|tampoco|también|dale|estupendo|"
    "excelente|qué bien|ninguno|nada",
    "fr": "oui|ouais|ouaip|non|nan|d'accord|dac|ok d'accord|bien sûr|bien|très bien|parfait|génial|exact|"
    "exactement|entendu|compris|c'est bon|ça marche|ça va|pas de problème|c'est fait|fait|voilà|"
    "évidemment|nickel|rien|aucun",
    "de": "ja|jep|jo|jawohl|nein|nö|nee|klar|na klar|natürlich|gut|sehr gut|alles klar|in ordnung|"
    "einverstanden|okay|passt|perfekt|prima|genau|richtig|stimmt|verstanden|fertig|erledigt|gemacht|"
    "super|toll|schön|keine|nichts|geht klar",
    "pt": "sim|não|nao|claro|claro que sim|certo|tá|tá bom|tá certo|está bem|está bom|beleza|blz|bom|"
    "muito bem|perfeito|ótimo|feito|pronto|entendi|entendido|com certeza|pode ser|isso|isso mesmo|"
    "exato|combinado|nada",
    "ru": "да|ага|угу|нет|не|неа|ок|окей|хорошо|ладно|конечно|понятно|понял|поняла|ясно|верно|точно|"
    "правильно|отлично|супер|класс|круто|прекрасно|готово|сделано|согласен|согласна|не надо|не нужно|"
    "норм|нормально|давай|идет|ничего",
    "ar": "نعم|أجل|ايوه|أيوة|اه|لا|كلا|حسنا|تمام|طيب|ماشي|موافق|أوكي|أوك|اوكيه|صحيح|بالطبع|طبعا|أكيد|"
    "بالتأكيد|مفهوم|فهمت|تم|جيد|جيد جدا|ممتاز|رائع|عظيم|جميل|لا بأس|لا مشكلة|لا شيء|خلاص",
    "hi": "हाँ|हां|हा|जी|जी हाँ|जी हां|हाँ जी|हां जी|नहीं|नही|जी नहीं|ना|ठीक|ठीक है|सही|सही है|अच्छा|बढ़िया|बहुत बढ़िया|"
    "बहुत अच्छा|ज़रूर|जरूर|बिल्कुल|समझ गया|समझ गई|समझ गए|हो गया|शानदार|कोई बात नहीं|कुछ नहीं|haan|nahi|"
    "theek hai|thik hai|accha",
}

GO_ON = {
    "zh": "继续|繼續|继续吧|繼續吧|请继续|請繼續|接着来|接着|接着说|接着做|往下|下一个|下一個|下一步|开始|"
    "開始|开始吧|開始吧|做吧|去吧|来吧|來吧|就这样|就這樣|执行|執行|动手吧",
    "ja": "続けて|つづけて|続けてください|続けて下さい|続き|続きを|続行|続行して|次|次へ|次に|次は|"
    "次お願いします|どうぞ|進めて|進めてください|お願い|お願いします|おねがいします|やって|"
    "やってください|始めて|始めてください",
    "ko": "계속|계속해|계속해요|계속해줘|계속해주세요|계속하세요|계속 해줘|계속 해주세요|계속 진행해줘|"
    "다음|다음으로|진행|진행해|진행해줘|진행해주세요|해줘|해주세요|시작|시작해|시작해줘|ㄱㄱ|고고|"
    "부탁해|부탁해요|부탁합니다",
    "es": "continúa|continua|continúe|continuar|sigue|siga|seguir|adelante|siguiente|hazlo|hágalo|procede|"
    "proceda|sigue por favor|vamos",
    "fr": "continue|continuez|continuer|vas-y|allez-y|vas y|allez y|suivant|suivante|poursuis|poursuivez|"
    "fais-le|faites-le|allons-y|continue s'il te plaît",
    "de": "weiter|mach weiter|bitte weiter|weitermachen|fortfahren|fahr fort|fahre fort|nächste|nächster|"
    "nächstes|der nächste|das nächste|los|leg los|mach das|mach es|tu es|nur zu",
    "pt": "continua|continue|continuar|prossiga|prossegue|segue|siga|próximo|próxima|vai|pode ir|"
    "pode continuar|faça|faz|faça isso|vá em frente|manda ver|avance|avança|bora",
    "ru": "продолжай|продолжайте|продолжить|дальше|далее|давай дальше|вперед|поехали|следующий|следующая|"
    "следующее|делай|сделай|сделай это|действуй|начинай|приступай",
    "ar": "استمر|استمري|أكمل|أكملي|كمل|تابع|تابعي|واصل|التالي|تفضل|تقدم|افعلها|افعل ذلك|ابدأ|نفذ|يلا|هيا",
    "hi": "जारी रखें|जारी रखो|जारी रखिए|आगे|आगे बढ़ें|आगे बढ़ो|आगे बढ़िए|अगला|अगली|चलो|चलिए|कर दो|करो|करें|कीजिए|"
    "कर दीजिए|शुरू करो|शुरू करें",
}

COURTESY = {
    "zh": "谢谢|谢谢你|谢谢您|謝謝|謝謝你|謝謝您|谢了|謝了|多谢|多謝|谢谢啦|感谢|感謝|非常感谢|非常感謝|"
    "辛苦了|你好|您好|嗨|哈喽|哈囉|嘿|早|早上好|早安|下午好|晚上好|晚安|再见|再見|拜拜|在吗|在嗎|"
    "哈哈|哈哈哈|呵呵|嘻嘻",
    "ja": "ありがとう|ありがとうございます|ありがとうございました|どうもありがとう|"
    "どうもありがとうございます|有難うございます|サンキュー|どうも|助かります|助かりました|お疲れ様|"
    "お疲れ様です|お疲れ様でした|おつかれ|こんにちは|こんばんは|おはよう|おはようございます|やあ|"
    "もしもし|おやすみ|おやすみなさい|さようなら|バイバイ|またね|すみません|笑|草",
    "ko": "감사|감사해요|감사합니다|감사드립니다|고마워|고마워요|고맙습니다|땡큐|ㄱㅅ|수고|수고했어|"
    "수고했어요|수고하셨습니다|안녕|안녕하세요|안녕하십니까|하이|여보세요|잘가|잘 자|좋은 아침|ㅎㅇ|"
    "ㅂㅇ",
    "es": "gracias|muchas gracias|mil gracias|gracias a ti|de nada|hola|buenas|buenos días|buenas tardes|"
    "buenas noches|adiós|chao|hasta luego|por favor|jaja|jajaja",
    "fr": "merci|merci beaucoup|merci bien|mille mercis|de rien|salut|bonjour|bonsoir|coucou|bonne nuit|"
    "au revoir|à bientôt|s'il te plaît|s'il vous plaît|svp|stp",
    "de": "danke|danke schön|dankeschön|danke sehr|vielen dank|besten dank|tausend dank|danke dir|"
    "danke ihnen|bitte|bitte schön|hallo|guten tag|guten morgen|guten abend|gute nacht|moin|servus|"
    "grüß gott|tschüss|auf wiedersehen|bis dann",
    "pt": "obrigado|obrigada|muito obrigado|muito obrigada|obg|valeu|vlw|de nada|olá|oi|bom dia|boa tarde|"
    "boa noite|tchau|até logo|por favor|kkk|kkkk",
    "ru": "спасибо|спасибо большое|большое спасибо|огромное спасибо|спс|благодарю|пожалуйста|привет|"
    "приветик|здравствуй|здравствуйте|добрый день|добрый вечер|доброе утро|доброй ночи|пока|"
    "до свидания|хай",
    "ar": "شكرا|شكرا لك|شكرا جزيلا|شكرا لكم|ألف شكر|مشكور|جزاك الله خيرا|عفوا|مرحبا|أهلا|أهلا وسهلا|هلا|"
    "السلام عليكم|وعليكم السلام|سلام|صباح الخير|مساء الخير|تصبح على خير|مع السلامة|من فضلك|لو سمحت",
    "hi": "धन्यवाद|बहुत धन्यवाद|बहुत बहुत धन्यवाद|आपका धन्यवाद|शुक्रिया|बहुत शुक्रिया|बहुत बहुत शुक्रिया|थैंक्स|थैंक यू|नमस्ते|"
    "नमस्कार|हेलो|हैलो|हाय|राम राम|सुप्रभात|शुभ प्रभात|शुभ रात्रि|अलविदा|कृपया|dhanyavaad|dhanyavad|shukriya|"
    "namaste",
}
