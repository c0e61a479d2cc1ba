"""Names in Japanese text: katakana words, surnames with what follows them, and what ends as organisations do."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest

from memory.providers.holographic.spans import Span, words

_KANJI = "\u4e00-\u9fff々ヶ"
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_KATAKANA_RUN = re.compile("[\u30a1-\u30fa][\u30a1-\u30fa\u30fc]+(?:[・＝][\u30a1-\u30fa][\u30a1-\u30fa\u30fc]+)*")
_RUN = re.compile(f"[{_KANJI}\u30a1-\u30fa\u30fc]+")
_KANJI_RUN = re.compile(f"[{_KANJI}]+")
_COMMON_KATAKANA = frozenset(
    words(
        """
    データ エンジニア コーヒー ピーナッツ アレルギー ビルド レポート バックアップ システム サーバー サーバ
    ユーザー ユーザ チーム プロジェクト メール ファイル アパート オーケストラ チェロ バージョン リリース テスト
    コード エラー バグ ログ キャッシュ ポート タイムアウト メモリ ノード クラスタ デモ レビュー スプリント
    リポジトリ テーマ エディタ オンライン オフライン デザイナー マネージャー リーダー メンバー ミーティング
    スケジュール タスク アプリ サイト ページ ボタン パスワード アカウント ネットワーク インターネット
    コンピュータ コンピューター パソコン スマホ ソフト ソフトウェア ハードウェア プログラム プログラマー
    サービス ツール モデル テキスト ドキュメント フォルダ データベース プラットフォーム インストール
    アップデート アップグレード デプロイ セキュリティ ジュース ピザ パン ケーキ ビール ワイン レストラン ホテル
    バス タクシー エレベーター テレビ カメラ ゲーム スポーツ サッカー テニス ピアノ ギター コンサート イベント
    パーティー プレゼント グループ クラス スタイル タイプ レベル ダーク ライト モード アルバイト オフィス
    コンビニ スーパー マンション ペット トースト サラダ スープ オレンジジュース オレンジ バナナ リンゴ テスター
    ライブラリ フレームワーク フロントエンド バックエンド クライアント リモート ローカル メッセージ チャット
    カレンダー アイデア ルール ポイント メモ ノート エネルギー リズム プロ ケース チェック セット ルート ボール
    サンプル メディア インタビュー メーカー プライド ウェブ ウェブページ ウェブサイト
    デジタル パターン センター シリーズ ドラマ アニメ キャラクター ストーリー シーズン トップ スタート ゴール キロ
    メートル グラム リットル パーセント ドル ユーロ センチ
    ダークモード ライトモード アレルゲン エビ キノコ
    """
    )
)
_SURNAMES = words(
    """
    佐藤 鈴木 高橋 田中 渡辺 渡邊 伊藤 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 斎藤 斉藤
    清水 山崎 森 池田 橋本 阿部 石川 山下 中島 前田 藤田 後藤 小川 岡田 長谷川 村上 近藤 石井 坂本 遠藤 青木
    藤井 西村 福田 太田 三浦 藤原 岡本 松田 中川 中野 原田 小野 田村 竹内 金子 和田 中山 石田 上田 森田 原 柴田
    酒井 工藤 横山 宮崎 宮本 内田 高木 安藤 谷口 大野 丸山 今井 高田 藤本 村田 武田 上野 杉山 増田 平野 菅原
    大塚 千葉 久保 松井 小島 岩崎 桜井 野口 松尾 野村 木下 菊地 佐野 大西 杉本 新井 浜田 市川 古川 水野 小松
    島田 北村 大橋 夏目 織田 徳川 豊臣 与謝野 星野 黒田 堀 川口 永井 飯田
    """
)
_GIVEN_KANA = "[\u3041-\u3096]{2,4}?"
# Particles and words that may stand behind a surname and are no given name.
_NO_GIVEN = frozenset(
    words(
        """
    による にとって について としての からの までの から まで より など には では とは にも です だけ でも との
    への なら さん くん ちゃん さま たち らは とか って にて によ によると として でした ですが
    """
    )
)
_AFTER_NAME = "(?:さん|くん|ちゃん|さま|たち|[はがをにへとのもや、。！？」）)!?,.\\s]|から|まで|より|によ|です|だ|$)"
_HONORIFICS = "部長|課長|先生|社長|会長|店長|主任|教授|博士|氏|様|君|係長|専務"
_ENDING = re.compile(
    "株式会社|有限会社|大学院|大学|高校|銀行|病院|会社|計画|システム|プラットフォーム|サービス|工業|電機|電器|製作所|研究所|製薬|鉄道|新聞|放送"
    "|県|市|区|町|村|都|府|駅|空港|公園|神社|寺|省|庁"
)
_SHORT_ENDINGS = frozenset(words("県 市 区 町 村 都 府 駅 寺 省 庁"))
_TIMES = (
    "昔|一昨日|昨年|先月|今月|来月|昨日|今日|明日|毎朝|毎日|毎週|毎月|毎年|去年|今年|来年|先週|今週|来週|以前|現在|最近|今朝|今夜|今後|当時|今|朝|夜|昼"
    "|[一二三四五六七八九十\\d]+[年月日時]前?"
)
_TIME = re.compile(f"(?:{_TIMES})")
_NO_PLACES = frozenset(_SURNAMES) | frozenset(
    words(
        """
    政府 街区 特区 学区 都道府県 都市 地区 市区 町村 都道府 全国市 各県 各市 同市 同県 同区 首都 大都 旧市 新市
    区役 市役
    """
    )
)
_KNOWN = words(
    """
    北海道 東京 大阪 京都 札幌 福岡 名古屋 横浜 神戸 仙台 広島 川崎 千葉 埼玉 奈良 沖縄 那覇 長崎 熊本 鹿児島
    新潟 金沢 静岡 岡山 渋谷 新宿 品川 池袋 銀座 秋葉原 日本 中国 韓国 米国 英国 台湾 北京 上海 楽天 任天堂 日産
    三菱 三井 住友 富士通 東芝 日立 電通 博報堂 資生堂
    """
)


_TOPIC = re.compile(f"(?![何誰])[\u30a1-\u30fa\u30fc・{_KANJI}]{{2,12}}(?=[はのがをにで])")


@cache
def _person() -> re.Pattern[str]:
    surname = "|".join(sorted(_SURNAMES, key=len, reverse=True))
    given = f"(?P<given>[{_KANJI}]{{1,3}}?(?=(?:{_HONORIFICS})?(?![{_KANJI}]))|{_GIVEN_KANA}(?={_AFTER_NAME}))"
    return re.compile(f"(?P<surname>{surname}){given}?(?P<title>{_HONORIFICS})?")


@cache
def _known() -> re.Pattern[str]:
    return re.compile("|".join(sorted(_KNOWN, key=len, reverse=True)))


@cache
def _common_katakana() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(sorted(_COMMON_KATAKANA, key=len, reverse=True))}|・)+")


def japanese_names(text: str) -> Iterator[Span]:
    """The names in a text that has kana; nothing for a text that has none."""
    if not _KANA.search(text):
        return
    taken: list[tuple[int, int]] = []
    for finder in (_with_endings, _people, _places, _katakana):
        for start, end in finder(text):
            if not any(start < high and low < end for low, high in taken):
                taken.append((start, end))
                yield Span(start, end, "name")


def asked_name(text: str) -> Iterator[Span]:
    """What a question begins with, as far as it is written in kanji or katakana and a particle follows: its subject."""
    match = _TOPIC.match(text)
    if match and _KANA.search(text):
        yield Span(*match.span(), "name")


def _with_endings(text: str) -> Iterator[tuple[int, int]]:
    for run in _RUN.finditer(text):
        at = run.start()
        endings = list(_ENDING.finditer(text, run.start(), run.end()))
        for match, following in zip_longest(endings, endings[1:]):
            if following and _leads_to(match, following):
                continue  # 都 in 京都大学
            start = _after_time(text, at, match.start())
            body = text[start : match.start()]
            short = match.group() in _SHORT_ENDINGS
            least = 1 if short or match.group() in ("株式会社", "大学") else 2
            if least <= len(body) <= (4 if short else 12) and body + match.group() not in _NO_PLACES:
                yield start, match.end()
                at = match.end()
        opened = re.match("(?:株式会社|有限会社|プロジェクト)", run.group())
        if opened and run.end() - run.start() > opened.end():
            yield run.start(), run.end()


def _leads_to(ending: re.Match[str], following: re.Match[str]) -> bool:
    """Whether a short ending is a part of what ends further on as an organisation does."""
    near = following.start() - ending.end() <= 3
    return ending.group() in _SHORT_ENDINGS and following.group() not in _SHORT_ENDINGS and near


def _after_time(text: str, start: int, end: int) -> int:
    """Behind a word of time, which stands before a name without anything between."""
    while match := _TIME.match(text, start, end):
        start = match.end()
    return start


def _people(text: str) -> Iterator[tuple[int, int]]:
    for match in _person().finditer(text):
        start, end = match.span()
        given = match.group("given")
        if given in _NO_GIVEN:
            given, end = None, match.end("surname")
        before = text[start - 1 : start]
        if before and re.match(f"[{_KANJI}]", before) and not _time_ends(text, start):
            continue
        after = text[match.end("surname") : match.end("surname") + 1]
        single = not given and not match.group("title")
        if single and re.match(f"[{_KANJI}]", after):
            continue
        if single and end - start == 1 and not re.match(_AFTER_NAME, text[end:]):
            continue
        yield start, end - len(match.group("title") or "")


def _time_ends(text: str, at: int) -> bool:
    return any(match.end() == at for match in _TIME.finditer(text, max(0, at - 6), at))


def _places(text: str) -> Iterator[tuple[int, int]]:
    for match in _known().finditer(text):
        yield match.span()


def _katakana(text: str) -> Iterator[tuple[int, int]]:
    for match in _KATAKANA_RUN.finditer(text):
        if not _common_katakana().fullmatch(match.group()):
            yield match.span()
